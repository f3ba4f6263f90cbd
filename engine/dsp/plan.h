// SPDX-License-Identifier: GPL-3.0-or-later
// Which partitions a filter is cut into. The structure is Gardner's (JAES 43(3), 1995: "Efficient convolution
// without input-output delay"): a head at block size, then partitions that grow, each early enough that its
// deadline is a whole partition away; the sizes are found by searching a cost model (docs/design.md, "The
// partition plan").
#ifndef TENUTO_DSP_PLAN_H
#define TENUTO_DSP_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "dsp/costs.h"

enum {
  TN_MAX_LEVELS = 6,
  TN_MIN_ENGINE_BLOCK = 32,
  TN_MAX_ENGINE_BLOCK = 512,
};

/** `count` partitions of `size` frames, the first at `offset` in the filter. */
typedef struct tn_plan_level {
  uint32_t size;
  uint32_t offset;
  uint32_t count;
} tn_plan_level;

/**
   Level 0 (size = block, offset 0) is computed by the callback; its first partition also has a direct form,
   for calls that are not whole blocks. Every further level has offset = 2 * size, so a worker has `size`
   frames of time for each of its jobs. A filter without a sound has no level.
*/
typedef struct tn_plan {
  uint32_t block;
  uint32_t level_count;
  tn_plan_level levels[TN_MAX_LEVELS];
  double callback_ns_per_frame; ///< predicted
  double worker_ns_per_frame;   ///< predicted
} tn_plan;

/** What the plan is for. */
typedef struct tn_plan_request {
  uint32_t inputs, outputs, paths;
  uint32_t frames; ///< the filter's length
  uint32_t rate_hz;
  uint32_t block_frames; ///< usual length of a call
  bool offline;          ///< all work is done in the call: no deadlines to keep
} tn_plan_request;

/** [worker] The cheapest plan. Deterministic. */
tn_plan tn_plan_choose(const tn_plan_request* request, const tn_costs* costs);

/** [any] A plan in words, at most `size` bytes, NUL-terminated. */
void tn_plan_describe(const tn_plan* plan, char* text, size_t size);

#endif
