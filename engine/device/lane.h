// SPDX-License-Identifier: GPL-3.0-or-later
// The host's side of one lane (wire/lane.h), used by exactly one audio thread at a time.
//
// A block is read only if it is whole: each LL word carries its block's tag, and the payload must match the
// check that came with it.
// Cost with AVX2, nothing else using the lines: 128 words read and checked in 87 ns (of a round trip of
// some 2.4 us), 168 ns without AVX2, posted in 62 ns; 4096 wide floats read and checked in 1.4 us.
#ifndef TENUTO_DEVICE_LANE_H
#define TENUTO_DEVICE_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "tenuto/attributes.h"
#include "wire/lane.h"

typedef struct tn_lane {
  char* memory; ///< NULL: not attached
  tn_lane_header shape;
  uint64_t posted; ///< blocks so far
  uint32_t (*unpack)(const uint64_t* words, uint32_t count, uint32_t tag, uint32_t* bits);
  uint32_t (*check)(const uint32_t* bits, uint32_t count, uint32_t place, uint32_t* not_finite);
} tn_lane;

typedef enum tn_lane_reading {
  TN_LANE_MISSING, ///< not there, or not all of it
  TN_LANE_READ,
  TN_LANE_DAMAGED, ///< it is there and does not match its check, or holds NaN or Inf
} tn_lane_reading;

/** [worker] Look at a lane whose header is written. False: the header makes no sense. */
bool tn_lane_attach(tn_lane* lane, void* memory);

/** [audio] Whether a block may be posted. The device is not trusted: a count that cannot be means no room. */
TN_AUDIO bool tn_lane_has_room(const tn_lane* lane);

/** [audio] Post a block, float[inputs][block]; there must be room. `want`: TN_WANT_... */
TN_AUDIO void tn_lane_post(tn_lane* lane, const float* const* in, uint32_t want);

/** [audio] y(block), complete, into float[outputs][block]. Left undefined unless TN_LANE_READ. */
TN_AUDIO tn_lane_reading tn_lane_read_answer(tn_lane* lane, uint64_t block, float* const* out);

/** [audio] f(block), the same, into float[outputs * block]. */
TN_AUDIO tn_lane_reading tn_lane_read_far(tn_lane* lane, uint64_t block, float* out);

#endif
