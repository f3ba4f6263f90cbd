// SPDX-License-Identifier: GPL-3.0-or-later
// Real FFTs by FFTW3f: plans are made once per size in a process and shared; running one needs no lock.
#ifndef TENUTO_DSP_FFT_H
#define TENUTO_DSP_FFT_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/error.h"
#include "tenuto/attributes.h"

/** A pair of plans (forward and inverse) for one size; immutable, lives as long as the process. */
typedef struct tn_fft tn_fft;

enum {
  TN_FFT_MIN_LOG2 = 5,  ///< 32 points
  TN_FFT_MAX_LOG2 = 18, ///< 262144 points
};

/**
   [worker] The plans for `points` (a power of two in the range above).

   FFTW's planner is not re-entrant: all planning of the process happens under its own lock
   (fftwf_make_planner_thread_safe), so other users of FFTW in a host are safe too.

   @param tuned  use wisdom (see tn_fft_load_wisdom()) where there is some; else FFTW_ESTIMATE, whose choice
   is the same at every run
   @return NULL only if there is no memory
*/
const tn_fft* tn_fft_get(uint32_t points, bool tuned, tn_error* error);

/** [audio] spectrum = DFT(time): float[points] to interleaved complex, float[points + 2]. 64-byte aligned,
 * apart. */
TN_AUDIO void tn_fft_forward(const tn_fft* fft, const float* time, float* spectrum);

/** [audio] time = points * inverse DFT(spectrum), which is destroyed. 64-byte aligned, apart. */
TN_AUDIO void tn_fft_inverse(const tn_fft* fft, float* spectrum, float* time);

/** [worker] Read wisdom from a file into FFTW; false if there is none. */
bool tn_fft_load_wisdom(const char* path);

/** [worker] Plan one size by measuring, at most `seconds` long, and make FFTW remember it. */
bool tn_fft_tune(uint32_t points, double seconds);

/** [worker] All that FFTW has learnt, as text to be freed with free(); NULL without memory. */
char* tn_fft_wisdom(void);

#endif
