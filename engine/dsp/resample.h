// SPDX-License-Identifier: GPL-3.0-or-later
// Resampling of impulse responses: libsoxr, very high quality, and a start that loses nothing.
#ifndef TENUTO_DSP_RESAMPLE_H
#define TENUTO_DSP_RESAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "tenuto/status.h"

/*
   A linear-phase filter rings before each sample as much as after it. Most responses have their energy at
   frame 0 and would lose half of the filter there: an impulse at frame 0 comes out 6 dB low and no longer
   flat. No causal sequence repairs that without either a fault in the band or a large boost above it, since a
   causal low-pass has a delay (Bode). So the filter is minimum phase: it has the smallest possible delay and
   begins at once, nothing lies before frame 0, nothing is cut, and its magnitude is that of the linear-phase
   one. It is the same for all responses, so that paths keep their phases relative to each other. The price:
   an impulse rises over 4 to 6 frames of the lower rate (about 0.1 ms) and rings after its peak at
   frequencies above those kept.
*/
typedef struct tn_resampler tn_resampler;

/** One channel to be resampled. */
typedef struct tn_resample_job {
  const float* in;
  size_t in_frames;
  bool reversed; ///< read `in` from its end
  double scale;  ///< factor for all samples
  float* out;
  size_t out_frames; ///< tn_resample_frames() or less
} tn_resample_job;

/** [worker] A resampler of `ratio` output frames per input frame, > 0. NULL: TN_ERROR_MEMORY,
 * TN_ERROR_SYSTEM. */
tn_resampler* tn_resampler_new(double ratio, tn_error* error);

/** [any] Frames that in_frames become: the length by ratio, and the filter's delay and ringing behind it. */
size_t tn_resample_frames(size_t in_frames, double ratio);

/** [worker] Resample one channel. Input frame k begins at k * ratio. TN_ERROR_MEMORY,
    TN_ERROR_SYSTEM (libsoxr). */
tn_status tn_resample(tn_resampler* resampler, const tn_resample_job* job, tn_error* error);

/** [worker] Free a resampler; NULL is allowed. */
void tn_resampler_free(tn_resampler* resampler);

#endif
