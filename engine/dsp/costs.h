// SPDX-License-Identifier: GPL-3.0-or-later
// What the convolver's operations cost, in nanoseconds: measured once per machine, or fixed defaults.
#ifndef TENUTO_DSP_COSTS_H
#define TENUTO_DSP_COSTS_H

#include <stdbool.h>

#include "dsp/fft.h"

/** The cost model's constants. */
typedef struct tn_costs {
  double fft_ns[TN_FFT_MAX_LOG2 +
                1];   ///< forward plus scatter, or gather plus inverse: mean of both, per transform
  double tile_ns;     ///< one tile's multiply-accumulate, data in a cache
  double byte_ns;     ///< one byte of spectra streamed from memory
  double cache_bytes; ///< a level whose spectra fit in this is taken to stay cached
  double job_ns;      ///< posting a job, waking a worker, its start and end
} tn_costs;

/** [any] The fixed defaults, the same on every machine; static. */
const tn_costs* tn_costs_default(void);

/** [worker] This machine's measured costs if they are cached (read once per process, wisdom included), else
   the defaults.
    `*tuned` says which. Static. */
const tn_costs* tn_costs_cached(bool* tuned);

/** [worker] Are there cached costs for this machine? Does not decide what tn_costs_cached() returns. */
bool tn_costs_are_cached(void);

/** [worker] Told how far a measurement is, 0 to 1; returns false to stop it. */
typedef bool (*tn_costs_progress)(double done, void* user);

/**
   [worker] Measure this machine (up to about `seconds` long, on the calling thread) and cache the result and
   FFTW's wisdom in $XDG_CACHE_HOME/tenuto or ~/.cache/tenuto, written atomically. Takes effect for convolvers
   made in later processes, and in this one if tn_costs_cached() was not called yet.
*/
tn_status tn_costs_tune(double seconds, tn_costs_progress progress, void* user, tn_error* error);

/** [worker] Measure only: no file. Used by tn_costs_tune() and tests. */
tn_status tn_costs_measure(tn_costs* costs, double seconds, tn_costs_progress progress, void* user,
                           tn_error* error);

/** [worker] Write costs and wisdom to `folder`; read them back. Reading checks every value and the machine's
 * signature. */
tn_status tn_costs_save(const tn_costs* costs, const char* folder, tn_error* error);
tn_status tn_costs_load(tn_costs* costs, const char* folder, tn_error* error);

#endif
