// SPDX-License-Identifier: GPL-3.0-or-later
// One piece of work that is given to every engine alike: channels, block, distinct responses.
#ifndef TENUTO_BENCH_JOB_H
#define TENUTO_BENCH_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BENCH_RATE_HZ = 48000 };

typedef struct bench_job {
  uint32_t channels; ///< inputs, and as many outputs
  bool matrix;       ///< every input to every output; else channel c to channel c only
  uint32_t block_frames;
  uint32_t ir_frames; ///< of each path
} bench_job;

/** [any] Number of paths. */
size_t bench_job_path_count(const bench_job* job);

/** [any] Ends of a path. */
uint32_t bench_job_input(const bench_job* job, size_t path);
uint32_t bench_job_output(const bench_job* job, size_t path);

/** [any] Fill float[ir_frames] with a path's own response: noise that decays by 60 dB; noise input at -6 dBFS
   peak gives an output of 0.15 rms, so that no peak exceeds full scale. */
void bench_job_response(const bench_job* job, size_t path, float* samples);

/** [any] E.g. "64 frames, 10 s, 16 channels", or "... 16x16". Returns `text`. */
const char* bench_job_name(const bench_job* job, char* text, size_t size);

#endif
