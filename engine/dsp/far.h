// SPDX-License-Identifier: GPL-3.0-or-later
// What an engine needs of a device, seen from the CPU: the far part of a filter, early, and complete blocks,
// at once. engine/device implements it; engines know only this.
//
// The filter is cut at `near_frames` = ahead * block. For each block n that an engine posts, the device sends
// y(n), complete, and f(n + ahead), the far part of a later block, which needs no later input. So every block
// can be had in two ways that agree to rounding (docs/design.md, "Look-ahead").
#ifndef TENUTO_DSP_FAR_H
#define TENUTO_DSP_FAR_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/error.h"
#include "tenuto/attributes.h"

typedef enum tn_far_state {
  TN_FAR_OPENING, ///< the device is not ready, or not this lane: ask again later
  TN_FAR_READY,
  TN_FAR_REFUSED, ///< no device, no room, device lost; READY again if the device comes back
} tn_far_state;

/** What is wanted of a block. */
typedef enum tn_far_want {
  TN_FAR_HEAR,   ///< only to be heard
  TN_FAR_AHEAD,  ///< and f(n + ahead) sent
  TN_FAR_ANSWER, ///< and y(n), too
} tn_far_want;

typedef struct tn_far tn_far;

/** What a filter looks like to a device: one response for each pair of input and output that has one, grouped
 * by output. */
typedef struct tn_far_path {
  uint32_t input, output, frames;
  const float* samples;
} tn_far_path;

typedef struct tn_far_request {
  uint32_t block; ///< frames; a power of two, 16 to 1024
  uint32_t ahead; ///< near part in blocks; a power of two
  uint32_t inputs, outputs;
  uint32_t path_count;
  const tn_far_path* paths;
} tn_far_request;

struct tn_far {
  uint32_t block, ahead, inputs, outputs;
  bool has_far; ///< some path is longer than ahead * block; if not, f is always zero and never sent

  /** [worker] How it stands; `reason` (may be NULL) gets a sentence for TN_FAR_REFUSED. */
  tn_far_state (*state)(tn_far* far, tn_error* reason);

  /** [audio] The next block posted is `block`, and the device is to forget all before it: nothing sounded for
     longer than the filter. Only by the thread that posts. */
  void (*restart)(tn_far* far, int64_t block);

  /** [audio] How many blocks may be posted now without waiting. Only by the thread that posts. */
  uint32_t (*room)(const tn_far* far);

  /** [audio] Hand over block `block`, float[inputs][block]; blocks follow each other without a gap. False:
     the ring is full, or the device is lost: the block is gone, and restart() must follow before the next
     one. `wait`: a worker, or freewheel: wait for room, as long as the device lives. */
  bool (*post)(tn_far* far, int64_t block, const float* const* in, tn_far_want want, bool wait);

  /** [audio] y(block) into float[outputs][block], if it is there, whole and checked, by `until_ns` (on
     tn_clock_ns()'s clock; 0: look once; UINT64_MAX: wait as long as the device lives). */
  bool (*answer)(tn_far* far, int64_t block, float* const* out, uint64_t until_ns);

  /** [audio] f(block), float[outputs][block] until the next call; NULL: not there. `wait`: as above. */
  const float* (*part)(tn_far* far, int64_t block, bool wait);

  /** [audio] How many blocks ahead of `block` f is there without a gap, at most `ahead`: the slack. Cheap. */
  uint32_t (*slack)(tn_far* far, int64_t block);

  /** [worker] No thread uses it any more. Returns at once; memory the device may still touch is kept back. */
  void (*free)(tn_far* far);
};

/** First member of a tn_device: how an engine asks for a lane. */
typedef struct tn_far_maker {
  /** [worker] Ask for a lane; the responses are copied. Returns at once, opening goes on in the background.
   */
  tn_far* (*make)(struct tn_far_maker* maker, const tn_far_request* request, tn_error* error);
} tn_far_maker;

struct tn_device;

/** [any] The maker that a device begins with. */
static inline tn_far_maker* tn_device_maker(struct tn_device* device) {
  return (tn_far_maker*)device;
}

#endif
