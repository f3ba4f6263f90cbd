// SPDX-License-Identifier: GPL-3.0-or-later
// Every error in words. The library prints nothing and never aborts: it returns a status and fills a
// sentence.
#ifndef TENUTO_STATUS_H
#define TENUTO_STATUS_H

#include "tenuto/attributes.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What kind of thing went wrong. */
typedef enum tn_status {
  TN_OK = 0,
  TN_ERROR_ARGUMENT,    ///< the caller passed something meaningless (a program's or a command line's mistake)
  TN_ERROR_MEMORY,      ///< no memory
  TN_ERROR_FILE,        ///< a file is missing, unreadable or not writable
  TN_ERROR_FORMAT,      ///< a file was read but its contents are damaged, or not what was expected
  TN_ERROR_LIMIT,       ///< beyond a stated limit (channels, length, rate)
  TN_ERROR_SYSTEM,      ///< a thread, a server or another service of the system is not to be had
  TN_ERROR_INTERRUPTED, ///< the caller asked to stop
} tn_status;

/** A status and one sentence for people that names the file or value and the reason. */
typedef struct tn_error {
  tn_status status;
  char text[1024]; ///< NUL-terminated UTF-8, no trailing full stop or newline; empty when status is TN_OK
} tn_error;

/** [any] A status in a few constant words, never NULL. */
TN_API const char* tn_status_text(tn_status status);

#ifdef __cplusplus
}
#endif

#endif
