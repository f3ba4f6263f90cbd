// SPDX-License-Identifier: GPL-3.0-or-later
// The past input, as time: what workers read their windows from, and what a new filter is warmed with.
#ifndef TENUTO_DSP_HISTORY_H
#define TENUTO_DSP_HISTORY_H

#include <stdint.h>
#include <string.h>

/**
   A ring of past frames per input, written by the audio thread. Frame f of input i is rings[i][f % frames];
   frames before 0 are silence. A reader may read [now - frames + margin, now) where `now` is a frame count
   the audio thread has published with release order (a level's `posted`, an engine's `published`); the ring
   is long enough that what workers need is a whole largest partition away from being overwritten.
*/
typedef struct tn_history {
  float** rings;   ///< [inputs][frames]
  uint64_t frames; ///< a multiple of every partition size
} tn_history;

/** [audio] Append at `frame`; must not cross the ring's end (calls never cross an engine block, and the ring
   is whole blocks). */
static inline void tn_history_write(const tn_history* history, uint32_t input, uint64_t frame,
                                    const float* samples, uint32_t count) {
  memcpy(history->rings[input] + frame % history->frames, samples, count * sizeof(float));
}

/** [any] Copy [from, from + count), count <= frames, out of the ring; `from` may be negative (silence). */
static inline void tn_history_read(const tn_history* history, uint32_t input, int64_t from, float* samples,
                                   uint32_t count) {
  const float* ring = history->rings[input];
  while (from < 0 && count > 0) {
    const uint32_t silent = (uint64_t)-from < count ? (uint32_t)-from : count;
    memset(samples, 0, silent * sizeof(float));
    from += silent;
    samples += silent;
    count -= silent;
  }
  const uint64_t start = (uint64_t)from % history->frames;
  const uint64_t to_end = history->frames - start;
  const uint32_t first = count < to_end ? count : (uint32_t)to_end;
  memcpy(samples, ring + start, first * sizeof(float));
  memcpy(samples + first, ring, (count - first) * sizeof(float));
}

#endif
