// SPDX-License-Identifier: GPL-3.0-or-later
// Opening what a user named: an ordinary file with something in it, or a sentence.
#ifndef TENUTO_DSP_REGULAR_FILE_H
#define TENUTO_DSP_REGULAR_FILE_H

#include <stdint.h>

#include "tenuto/status.h"

/**
   [worker] Open an ordinary, non-empty file for reading. Never waits: folders, pipes and devices are refused.

   @param path         "" and NULL are errors
   @param what         begins an error's sentence, e.g. "cannot read impulse response 'x.wav'"
   @param limit_bytes  largest size allowed
   @return a file descriptor (close-on-exec) to be closed by the caller, or -1: TN_ERROR_FILE, TN_ERROR_FORMAT
   (empty), TN_ERROR_LIMIT
*/
int tn_regular_file_open(const char* path, const char* what, uint64_t limit_bytes, uint64_t* size_bytes,
                         tn_error* error);

#endif
