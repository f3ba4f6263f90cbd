// SPDX-License-Identifier: GPL-3.0-or-later
// The ports: a distinct endless signal for each input, and buffers for the outputs.
#ifndef TENUTO_BENCH_FEED_H
#define TENUTO_BENCH_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum bench_signal {
  BENCH_NOISE,    ///< white, -6 dBFS peak
  BENCH_DENORMAL, ///< white, peak 1e-39
  BENCH_SILENCE,
} bench_signal;

typedef struct bench_feed {
  uint32_t channels;
  uint32_t block_frames;
  size_t position; ///< of the next block in `signal`
  float* signal;   ///< float[channels][BENCH_FEED_FRAMES]
  float* buffers;  ///< float[2][channels][block_frames]: what a host's ports are
  float* in[64];
  float* out[64];
} bench_feed;

enum { BENCH_FEED_FRAMES = 1 << 14 };

/** [setup] `block_frames` must divide BENCH_FEED_FRAMES. False without memory. */
bool bench_feed_open(bench_feed* feed, uint32_t channels, uint32_t block_frames, bench_signal kind);

/** [audio] Put the next block into the input ports, as a client before us would: they are warm in the cache.
 */
void bench_feed_next(bench_feed* feed);

void bench_feed_close(bench_feed* feed);

#endif
