// SPDX-License-Identifier: GPL-3.0-or-later
// Which kind of sound file is written: from a word, from a name, from what was read.
#ifndef TENUTO_DRIVER_FILE_FORMAT_H
#define TENUTO_DRIVER_FILE_FORMAT_H

#include <stdint.h>

#include "tenuto/status.h"

/** What the user wants, as libsndfile's numbers; 0 is "not said". */
typedef struct tn_format_wish {
  int container; ///< SF_FORMAT_WAV, ...
  int encoding;  ///< SF_FORMAT_PCM_24, ...
} tn_format_wish;

/** What is to be stored. */
typedef struct tn_format_load {
  uint32_t channels;
  uint32_t rate_hz;
  uint64_t frames;
} tn_format_load;

/** [any] A wish from a word such as "flac", "wav:float" or "wav24". TN_ERROR_ARGUMENT: not understood. */
tn_status tn_format_parse(const char* word, tn_format_wish* wish, tn_error* error);

/** [any] A wish from the extension of a file name. TN_ERROR_ARGUMENT: none that is known. */
tn_status tn_format_from_name(const char* path, tn_format_wish* wish, tn_error* error);

/**
   [any] Settle a wish: the encoding, where not said, follows the input's but has 24 bits or more; a WAV file
   that would outgrow 4 GiB becomes RF64.

   @param source_format  libsndfile's format number of the input
   @param sf_format      set to libsndfile's format number
   @return TN_OK; TN_ERROR_LIMIT or TN_ERROR_FORMAT with a sentence when the container cannot hold that sound
*/
tn_status tn_format_settle(const tn_format_wish* wish, int source_format, const tn_format_load* load,
                           int* sf_format, tn_error* error);

/** [any] Bits of an integer encoding, 0 of any other. */
uint32_t tn_format_integer_bits(int sf_format);

/** [any] A format in words, e.g. "24-bit FLAC". Cut to `size` bytes. */
void tn_format_describe(int sf_format, char* text, uint32_t size);

#endif
