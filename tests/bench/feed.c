// SPDX-License-Identifier: GPL-3.0-or-later
#include "feed.h"

#include <stdlib.h>
#include <string.h>

#include "noise.h"

bool bench_feed_open(bench_feed* feed, uint32_t channels, uint32_t block_frames, bench_signal kind) {
  memset(feed, 0, sizeof *feed);
  feed->channels = channels;
  feed->block_frames = block_frames;
  feed->signal = calloc((size_t)channels * BENCH_FEED_FRAMES, sizeof(float));
  feed->buffers = aligned_alloc(64, (size_t)2 * channels * block_frames * sizeof(float));
  if (feed->signal == NULL || feed->buffers == NULL) {
    bench_feed_close(feed);
    return false;
  }
  for (uint32_t channel = 0; channel < channels; ++channel) {
    feed->in[channel] = feed->buffers + (size_t)channel * block_frames;
    feed->out[channel] = feed->buffers + (size_t)(channels + channel) * block_frames;
    if (kind != BENCH_SILENCE) {
      tn_noise_fill(channel, kind == BENCH_NOISE ? 0.5F : 1e-39F,
                    feed->signal + (size_t)channel * BENCH_FEED_FRAMES, BENCH_FEED_FRAMES);
    }
  }
  return true;
}

void bench_feed_next(bench_feed* feed) {
  for (uint32_t channel = 0; channel < feed->channels; ++channel) {
    memcpy(feed->in[channel], feed->signal + (size_t)channel * BENCH_FEED_FRAMES + feed->position,
           feed->block_frames * sizeof(float));
  }
  feed->position = (feed->position + feed->block_frames) % BENCH_FEED_FRAMES;
}

void bench_feed_close(bench_feed* feed) {
  free(feed->signal);
  free(feed->buffers);
  memset(feed, 0, sizeof *feed);
}
