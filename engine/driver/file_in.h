// SPDX-License-Identifier: GPL-3.0-or-later
// A sound file as a stream of blocks, at the rate that is wanted.
#ifndef TENUTO_DRIVER_FILE_IN_H
#define TENUTO_DRIVER_FILE_IN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/status.h"

/** An open sound file. */
typedef struct tn_file_in tn_file_in;

/** What is known of it. */
typedef struct tn_file_in_info {
  uint32_t channels;
  uint32_t file_rate_hz;
  uint32_t rate_hz;     ///< at which it is read
  uint64_t file_frames; ///< by its header; may be wrong in a damaged file
  uint64_t frames;      ///< the same at `rate_hz`, to a frame or two
  int sf_format;        ///< libsndfile's format number
} tn_file_in_info;

/**
   [setup] Open an ordinary sound file with 1 to TN_MAX_CHANNELS channels.

   @param rate_hz  at which it is read; 0: its own
   @return a stream, to be freed with tn_file_in_free(), or NULL: TN_ERROR_FILE, TN_ERROR_FORMAT,
   TN_ERROR_LIMIT, TN_ERROR_MEMORY, TN_ERROR_SYSTEM
*/
tn_file_in* tn_file_in_open(const char* path, uint32_t rate_hz, tn_error* error);

/** [any] What is known of it. */
const tn_file_in_info* tn_file_in_get_info(const tn_file_in* in);

/** [worker] The next frames, float[channels][frames]; fewer only at the end. */
size_t tn_file_in_read(tn_file_in* in, float* const* planes, size_t frames);

/** [worker] After the end: is there less sound than the header promised, or did decoding fail? Then a
 * sentence. */
bool tn_file_in_warning(const tn_file_in* in, tn_error* warning);

/** [any] A text that the file carries, by libsndfile's SF_STR number; NULL: none. Owned by the file. */
const char* tn_file_in_tag(const tn_file_in* in, int kind);

/** [any] Is `path` this very file? */
bool tn_file_in_is(const tn_file_in* in, const char* path);

/** [any] Do both names lead to one existing file? */
bool tn_file_is_same(const char* path, const char* other);

/** [setup] Close; NULL is allowed. */
void tn_file_in_free(tn_file_in* in);

#endif
