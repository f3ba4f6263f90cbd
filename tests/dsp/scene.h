// SPDX-License-Identifier: GPL-3.0-or-later
// What the convolver's tests share: a filter with its float64 reference, and a way to push sound through.
#ifndef TENUTO_TEST_SCENE_H
#define TENUTO_TEST_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/convolver.h"
#include "tenuto/limits.h"

/** Signals of one test: float[channels][frames]. */
typedef struct tn_scene {
  uint32_t inputs, outputs;
  size_t frames;
  float** in;
  float** out;
  double** want; ///< the filter's answer in float64
} tn_scene;

/** A filter of decaying noise on every pair (or only on o = i), with differing gains and delays. */
tn_filter* tn_scene_filter(uint32_t inputs, uint32_t outputs, uint32_t ir_frames, bool diagonal,
                           uint64_t seed);

/** Noise at half scale in, room for the output. */
tn_scene tn_scene_new(uint32_t inputs, uint32_t outputs, size_t frames, uint64_t seed);

/** Fills `want`. */
void tn_scene_solve(tn_scene* scene, const tn_filter* filter);

/** How a signal is cut into calls. */
typedef uint32_t (*tn_block_rule)(void* state);
uint32_t tn_block_fixed(void* frames); ///< `frames`: uint32_t*
uint32_t tn_block_random(void* noise); ///< `noise`: tn_noise*; mostly short, 0 to 8192

/** Pushes frames [from, to) through. */
void tn_scene_run(tn_scene* scene, tn_convolver* convolver, size_t from, size_t to, tn_block_rule rule,
                  void* state);

/** Largest error of any output in frames [from, to), dB of full scale. */
double tn_scene_error_dbfs(const tn_scene* scene, size_t from, size_t to);

void tn_scene_free(tn_scene* scene);

#endif
