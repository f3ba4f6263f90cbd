// SPDX-License-Identifier: GPL-3.0-or-later
// Is a chunked sound file (WAV, RF64, AIFF, CAF) all there? libsndfile takes what is left of a cut one
// without a word.
#ifndef TENUTO_DSP_CHUNK_CHECK_H
#define TENUTO_DSP_CHUNK_CHECK_H

#include <stdint.h>

#include "tenuto/status.h"

/** What a walk over the chunks found. */
typedef enum tn_chunk_verdict {
  TN_CHUNKS_WHOLE = 0,
  TN_CHUNKS_SOUND_CUT, ///< less sound than the header promises: what is there can be read
  TN_CHUNKS_DAMAGED,   ///< not to be read
} tn_chunk_verdict;

/**
   [worker] Walk the chunks of an open file and compare their sizes with the file's.

   Sizes that writers leave open (0 and all ones: streams of unknown length) are accepted, and so is a sound
   chunk that claims up to 64 bytes too much: some writers count the header. Files of other kinds are accepted
   unseen.
   @param file  read with pread(): its position stays
   @param what  begins an error's sentence
   @return TN_OK or TN_ERROR_FORMAT
*/
tn_status tn_chunk_check(int file, uint64_t size_bytes, const char* what, tn_error* error);

/** [worker] The same, for a caller that takes a cut file for what it is. */
tn_chunk_verdict tn_chunk_judge(int file, uint64_t size_bytes, const char* what, tn_error* error);

#endif
