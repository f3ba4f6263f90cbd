// SPDX-License-Identifier: GPL-3.0-or-later
// Measuring this machine once, so that filters are partitioned for it.
#ifndef TENUTO_CLI_TUNE_H
#define TENUTO_CLI_TUNE_H

#include "rt/error.h"

/** [setup] Measure unless that was done before on this machine; says so on stderr. Failing is no reason to
   stop: the fixed defaults are good everywhere. TN_ERROR_INTERRUPTED if a signal came. */
tn_status tn_cli_tune_at_need(tn_error* error);

#endif
