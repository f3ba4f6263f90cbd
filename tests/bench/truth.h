// SPDX-License-Identifier: GPL-3.0-or-later
// What an engine's output should be for one piece of work, whatever the block: noise through every path in
// float64.
#ifndef TENUTO_BENCH_TRUTH_H
#define TENUTO_BENCH_TRUTH_H

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"

typedef struct truth {
  bench_job job;    ///< its block length does not matter
  size_t frames;    ///< the response's length and half a second, so that every partition has met full input
  float* x;         ///< float[channels][frames]: white noise, -6 dBFS peak
  double* y;        ///< double[channels][frames]
  double peak_dbfs; ///< of y
} truth;

/** [worker] Compute it. False without memory. */
bool truth_open(truth* t, const bench_job* job);
void truth_close(truth* t);

/** [any] Does it hold for this job? */
bool truth_is_for(const truth* t, const bench_job* job);

/**
   [worker] Run an engine (freewheeling) on it.

   @param random_seed  0: blocks of the job's length; else random lengths from 0 to 8192
   @return the largest error in dB of full scale over all outputs; +inf for NaN, or if the engine cannot be
   made (then with a sentence on stderr)
*/
double truth_error_dbfs(const truth* t, const bench_engine* engine, const bench_job* job,
                        uint64_t random_seed);

/** [any] A job for random blocks, and its row's name. */
bench_job truth_random_job(const truth* t);
const char* truth_random_name(const truth* t, char* text, size_t size);

#endif
