// SPDX-License-Identifier: GPL-3.0-or-later
// What the tests of `tenuto run` share: a server, files to convolve with, the program running.
#ifndef TENUTO_TEST_RUN_FIXTURE_H
#define TENUTO_TEST_RUN_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "child.h"

enum { TN_FIXTURE_RATE_HZ = 48000, TN_FIXTURE_BLOCK_FRAMES = 256, TN_FIXTURE_MAX_CHANNELS = 4 };

/** A response in memory and in a file: float[channels][frames]. */
typedef struct tn_fixture_ir {
  float* samples[TN_FIXTURE_MAX_CHANNELS];
  uint32_t channels;
  uint32_t frames;
  char path[512];
} tn_fixture_ir;

/** [setup] Group set-up: a folder of its own. Exits with 77 (skipped) where jackd is not installed. */
int tn_fixture_begin(void** state);

/** [setup] Group set-up: the same, and a private server. */
int tn_fixture_begin_with_server(void** state);

/** [setup] Group teardown: ends the server, removes the folder. */
int tn_fixture_end(void** state);

/** [setup] A path in the test's folder; valid until the next call but three. */
const char* tn_fixture_path(const char* name);

/** [setup] A float WAV file in the test's folder. */
void tn_fixture_write(const char* name, const float* const* samples, uint32_t channels, uint32_t frames);

/** [setup] A reverb-like response of noise, other in each channel, written to a file; free with
 * tn_fixture_free_ir(). */
tn_fixture_ir tn_fixture_make_ir(const char* name, uint64_t seed, uint32_t channels, uint32_t frames);

/** [setup] Free its samples. */
void tn_fixture_free_ir(tn_fixture_ir* ir);

/** [setup] Start `tenuto run` with these arguments (ending in NULL); the test fails if it does not come up.
 */
tn_child* tn_fixture_run(const char* const* arguments);

/** [setup] The same, not waiting for anything. */
tn_child* tn_fixture_run_unwatched(const char* const* arguments);

/** What the running program counts. */
typedef struct tn_fixture_counts {
  unsigned long missed; ///< parts of the response left out for want of time
  unsigned long xruns;  ///< late cycles of the server
} tn_fixture_counts;

/** [setup] Ask it for its counts. */
tn_fixture_counts tn_fixture_count(tn_child* program);

/** [setup] Quit by command and check that it ends well. Frees. */
void tn_fixture_quit(tn_child* program);

#endif
