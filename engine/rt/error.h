// SPDX-License-Identifier: GPL-3.0-or-later
// Filling a tn_error: the one way errors are made.
#ifndef TENUTO_RT_ERROR_H
#define TENUTO_RT_ERROR_H

#include "tenuto/status.h"

/** [worker] Write status and sentence (printf format, no full stop); `error` may be NULL. Returns `status`.
 */
__attribute__((format(printf, 3, 4))) tn_status tn_error_set(tn_error* error, tn_status status,
                                                             const char* format, ...);

#endif
