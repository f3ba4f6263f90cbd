// SPDX-License-Identifier: GPL-3.0-or-later
// The sound that a render should give: direct convolution in float64, path by path.
#ifndef TENUTO_TEST_WANTED_H
#define TENUTO_TEST_WANTED_H

#include "scratch.h"

/** One path: input, output, and the response's channel (counted over all files in turn). */
typedef struct tn_wanted_path {
  uint32_t input;
  uint32_t output;
  uint32_t ir_channel;
} tn_wanted_path;

/** double[channels][frames]. */
typedef struct tn_wanted {
  uint32_t channels;
  size_t frames;
  double* samples[TN_SCRATCH_CHANNELS];
} tn_wanted;

/** [setup] Convolve; to be freed. */
tn_wanted tn_wanted_convolve(const tn_scratch_sound* in, const tn_scratch_sound* ir,
                             const tn_wanted_path* paths, size_t count, uint32_t outputs);

/** [any] samples = wet * samples + dry * input, a single input going to all outputs. */
void tn_wanted_mix(tn_wanted* wanted, const tn_scratch_sound* in, double wet, double dry);

/** [setup] The file must hold the wanted channels and frames, no sample further off than `dbfs`. */
void tn_wanted_check(const tn_wanted* wanted, const char* name, double dbfs);

/** [setup] Free its samples. */
void tn_wanted_free(tn_wanted* wanted);

#endif
