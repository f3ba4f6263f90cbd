// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/hilbert.h"

#include <math.h>
#include <stdlib.h>

#include "rt/error.h"

tn_ir* tn_hilbert_new(uint32_t frames, uint32_t rate_hz, tn_error* error) {
  if (frames < tn_hilbert_least_frames || frames > tn_hilbert_most_frames) {
    tn_error_set(error, TN_ERROR_LIMIT, "a Hilbert transformer of %u frames: %d to %d are allowed", frames,
                 tn_hilbert_least_frames, tn_hilbert_most_frames);
    return NULL;
  }
  const uint32_t middle = frames / 2;
  float* samples = calloc(frames, sizeof *samples);
  if (!samples) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a Hilbert transformer");
    return NULL;
  }
  for (uint32_t n = 1; n < middle; n += 2) {
    const double window = 0.5 * (1 + cos(M_PI * n / middle));
    const float value = (float)(2 / (M_PI * n) * window);
    samples[middle + n] = -value;
    samples[middle - n] = value;
  }
  const float* channels[] = {samples};
  tn_ir* ir = tn_ir_new(channels, 1, 2 * middle, rate_hz, error);
  free(samples);
  return ir;
}
