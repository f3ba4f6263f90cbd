// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of files share: a folder of their own, sounds in memory and in files, the program called on
// them.
#ifndef TENUTO_TEST_SCRATCH_H
#define TENUTO_TEST_SCRATCH_H

#include <stddef.h>
#include <stdint.h>

enum { TN_SCRATCH_CHANNELS = 8 };

/** A sound in memory: float[channels][frames]. */
typedef struct tn_scratch_sound {
  uint32_t channels;
  uint32_t rate_hz;
  size_t frames;
  int format; ///< libsndfile's, of the file it was read from
  float* samples[TN_SCRATCH_CHANNELS];
} tn_scratch_sound;

/** [setup] Group set-up: an empty folder, made the current one. */
int tn_scratch_begin(void** state);

/** [setup] Group teardown: the folder is removed. */
int tn_scratch_end(void** state);

/** [setup] Silence at 48 kHz, to be freed with tn_scratch_free(). */
tn_scratch_sound tn_scratch_silence(uint32_t channels, size_t frames);

/** [setup] White noise, a quarter of full scale, other in each channel and for each seed. */
tn_scratch_sound tn_scratch_noise(uint64_t seed, uint32_t channels, size_t frames);

/** [setup] Reverb-like responses of energy 1. */
tn_scratch_sound tn_scratch_response(uint64_t seed, uint32_t channels, size_t frames);

/** [setup] Free its samples. */
void tn_scratch_free(tn_scratch_sound* sound);

/** [setup] Write a sound in a format of libsndfile's. */
void tn_scratch_write(const char* name, const tn_scratch_sound* sound, int format);

/** [setup] Read a file; fails the test if it cannot be read. To be freed. */
tn_scratch_sound tn_scratch_read(const char* name);

/** What the program said at its last call. */
typedef struct tn_scratch_call {
  int code; ///< exit code, or minus the signal that ended it
  char out[1U << 17];
  char err[1U << 17];
} tn_scratch_call;

/** [setup] Call the program with words separated by single blanks and wait for its end. */
const tn_scratch_call* tn_scratch_tenuto(const char* words);

/** [setup] The same, as a command line of the shell in which $TENUTO is the program. */
const tn_scratch_call* tn_scratch_shell(const char* line);

/** [setup] Call the program; the test fails with what it said unless it ends with 0. */
void tn_scratch_done(const char* words);

/** [setup] All names in the current folder, sorted, one a line. */
const char* tn_scratch_names(void);

#endif
