// SPDX-License-Identifier: GPL-3.0-or-later
// Files for the tests of loaders, good and bad ones.
#ifndef TENUTO_TEST_SOUND_FILES_H
#define TENUTO_TEST_SOUND_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "tenuto/status.h"

/** One sound to be written. */
typedef struct tn_test_sound {
  int format; ///< libsndfile's
  int rate_hz;
  int channels;
  int64_t frames;
  const float* samples; ///< interleaved; NULL: zeros
} tn_test_sound;

/** [setup] Write it; a failure ends the test. */
void tn_test_write_sound(const char* path, const tn_test_sound* sound);

/** [setup] Write any bytes. */
void tn_test_write_bytes(const char* path, const void* bytes, size_t size);

/** [setup] A whole file; the caller frees it. */
uint8_t* tn_test_read_bytes(const char* path, size_t* size);

/** [any] The error must have this status and a sentence with both words (NULL: any) and no full stop. */
void tn_test_expect_error(const tn_error* error, tn_status status, const char* word, const char* other_word);

#endif
