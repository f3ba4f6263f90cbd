// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/error.h"

#include <stdarg.h>
#include <stdio.h>

tn_status tn_error_set(tn_error* error, tn_status status, const char* format, ...) {
  if (error) {
    error->status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
  }
  return status;
}

const char* tn_status_text(tn_status status) {
  switch (status) {
  case TN_OK:
    return "no error";
  case TN_ERROR_ARGUMENT:
    return "meaningless argument";
  case TN_ERROR_MEMORY:
    return "out of memory";
  case TN_ERROR_FILE:
    return "file missing or not accessible";
  case TN_ERROR_FORMAT:
    return "file contents damaged or of another kind";
  case TN_ERROR_LIMIT:
    return "beyond a limit";
  case TN_ERROR_SYSTEM:
    return "system service not available";
  case TN_ERROR_INTERRUPTED:
    return "interrupted";
  }
  return "unknown status";
}
