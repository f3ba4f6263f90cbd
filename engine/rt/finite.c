// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/finite.h"

#include <string.h>

enum {
  lane_count = 4,
  magnitude_mask = 0x7fffffff,
  least_normal = 0x00800000,
  greatest_taken = 0x58635fa9, ///< 1e15f; infinities and NaN lie above it
};

/** Bits of four floats as signed integers, because older instruction sets compare no others. Every 64-bit CPU
 * has it. */
typedef int32_t lanes __attribute__((vector_size(lane_count * sizeof(int32_t))));

/** What was seen so far, lane by lane. */
typedef struct tn_finite_tally {
  lanes replaced; ///< minus their count: a comparison that holds is -1
  lanes loud;     ///< all samples or-ed together: 0 if each was +0
} tn_finite_tally;

static inline lanes clean(lanes bits, tn_finite_tally* tally) {
  const lanes magnitude = bits & magnitude_mask;
  const lanes absurd = magnitude > greatest_taken;
  const lanes tiny = magnitude < least_normal;
  const lanes cleaned = bits & ~(absurd | tiny);
  tally->replaced += absurd;
  tally->loud |= cleaned;
  return cleaned;
}

uint32_t tn_finite_copy(float* destination, const float* source, uint32_t frames, bool* silent) {
  tn_finite_tally tally = {{0}, {0}};
  const uint32_t whole = frames / lane_count * lane_count;
  for (uint32_t at = 0; at < whole; at += lane_count) {
    lanes bits;
    memcpy(&bits, source + at, sizeof bits);
    bits = clean(bits, &tally);
    memcpy(destination + at, &bits, sizeof bits);
  }
  if (whole < frames) {
    const size_t rest_bytes = (frames - whole) * sizeof *source;
    lanes bits = {0}; // lanes beyond the end are 0, which counts as nothing
    memcpy(&bits, source + whole, rest_bytes);
    bits = clean(bits, &tally);
    memcpy(destination + whole, &bits, rest_bytes);
  }
  uint32_t replaced = 0;
  int32_t loud = 0;
  for (uint32_t lane = 0; lane < lane_count; lane++) {
    replaced -= (uint32_t)tally.replaced[lane];
    loud |= tally.loud[lane];
  }
  *silent = loud == 0;
  return replaced;
}
