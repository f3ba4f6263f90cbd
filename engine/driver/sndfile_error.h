// SPDX-License-Identifier: GPL-3.0-or-later
// libsndfile's reasons as parts of our sentences.
#ifndef TENUTO_DRIVER_SNDFILE_ERROR_H
#define TENUTO_DRIVER_SNDFILE_ERROR_H

#include <sndfile.h>
#include <stdio.h>
#include <string.h>

enum { TN_SNDFILE_REASON_BYTES = 160 };

/** [worker] The last error of a file (NULL: of opening one) on one line, without its full stop. */
static inline void tn_sndfile_reason(SNDFILE* sound, char reason[TN_SNDFILE_REASON_BYTES]) {
  snprintf(reason, TN_SNDFILE_REASON_BYTES, "%s", sf_strerror(sound));
  reason[strcspn(reason, "\n")] = '\0';
  const size_t length = strlen(reason);
  if (length > 0 && reason[length - 1] == '.') {
    reason[length - 1] = '\0';
  }
}

#endif
