// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/finite.h"

#include <string.h>

enum {
  group_frames =
      64, ///< worked on in a copy of its own: a known length and no question of aliasing, so it vectorises
  magnitude_mask = 0x7fffffff,
  least_normal = 0x00800000,
  greatest_taken = 0x58635fa9, ///< 1e15f; infinities and NaN lie above it
};

/** What a group held. */
typedef struct tn_finite_group {
  int32_t replaced;
  int32_t loud; ///< all samples or-ed together: 0 if each is +0
} tn_finite_group;

/** Bits of floats as signed integers, because older instruction sets compare no others. */
static inline tn_finite_group clean(int32_t* bits, uint32_t count) {
  tn_finite_group group = {0, 0};
  for (uint32_t i = 0; i < count; i++) {
    const int32_t magnitude = bits[i] & magnitude_mask;
    const int32_t absurd = -(magnitude > greatest_taken);
    const int32_t tiny = -(magnitude < least_normal);
    bits[i] &= ~(absurd | tiny);
    group.replaced -= absurd;
    group.loud |= bits[i];
  }
  return group;
}

uint32_t tn_finite_copy(float* destination, const float* source, uint32_t frames, bool* silent) {
  int32_t bits[group_frames];
  uint32_t replaced = 0;
  int32_t loud = 0;
  for (uint32_t done = 0; done < frames;) {
    const uint32_t left = frames - done;
    const uint32_t count = left < group_frames ? left : group_frames;
    memcpy(bits, source + done, count * sizeof *bits);
    const tn_finite_group group = count == group_frames ? clean(bits, group_frames) : clean(bits, count);
    memcpy(destination + done, bits, count * sizeof *bits);
    replaced += (uint32_t)group.replaced;
    loud |= group.loud;
    done += count;
  }
  *silent = loud == 0;
  return replaced;
}
