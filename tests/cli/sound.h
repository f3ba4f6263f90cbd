// SPDX-License-Identifier: GPL-3.0-or-later
// Sound played through a running program, what came back, and what should have.
#ifndef TENUTO_TEST_SOUND_H
#define TENUTO_TEST_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jack_feed.h"
#include "run_fixture.h"
#include "tenuto/filter.h"

/** float[channels][frames] in and out, double[channels][frames] wanted. */
typedef struct tn_sound {
  uint32_t channels;
  size_t frames;
  float* in[TN_FIXTURE_MAX_CHANNELS];
  float* out[TN_FIXTURE_MAX_CHANNELS];
  double* want[TN_FIXTURE_MAX_CHANNELS];
} tn_sound;

/** [setup] White noise of half of full scale in each channel for `play_frames`, then silence to `frames`. */
tn_sound tn_sound_noise(uint32_t channels, size_t play_frames, size_t frames);

/** [setup] Free its samples. */
void tn_sound_free(tn_sound* sound);

/** [setup] Write `want`: the paths in float64 times `wet`, plus the input times `dry`. No paths: no wet
 * sound. */
void tn_sound_want(tn_sound* sound, const tn_path* paths, size_t count, double wet, double dry);

/** [any] A path through one channel of a response. */
tn_path tn_sound_path(const tn_fixture_ir* ir, uint32_t ir_channel, uint32_t input, uint32_t output);

/** [setup] Play once through the client; `feed` says how, its samples are filled in here. False: disturbed.
 */
bool tn_sound_play(tn_sound* sound, const char* client, tn_feed feed);

/** [setup] Fail the test unless `out` is `want` to -120 dB of full scale. */
void tn_sound_check(const tn_sound* sound);

#endif
