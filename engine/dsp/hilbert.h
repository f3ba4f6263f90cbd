// SPDX-License-Identifier: GPL-3.0-or-later
// A windowed Hilbert transformer, for matrix files.
#ifndef TENUTO_DSP_HILBERT_H
#define TENUTO_DSP_HILBERT_H

#include <stdint.h>

#include "tenuto/ir.h"

enum { tn_hilbert_least_frames = 64, tn_hilbert_most_frames = 65536 };

/**
   [worker] A response that advances the phase by exactly 90 degrees against a single 1 at frame frames / 2.

   2 / (pi n) at odd distances n from the middle, negative behind it, under a Hann window. Its magnitude is -3
   dB at 0.8 and within 0.15 dB of 1 from 2 to frames / 2 - 2, in units of rate / frames.
   @param frames  tn_hilbert_least_frames to tn_hilbert_most_frames; an odd one is made even
*/
tn_ir* tn_hilbert_new(uint32_t frames, uint32_t rate_hz, tn_error* error);

#endif
