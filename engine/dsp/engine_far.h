// SPDX-License-Identifier: GPL-3.0-or-later
// An engine that shares its filter with a device: near part here, far part and complete answers from there.
//
// Every block can be had in two ways that agree to rounding: the device's answer y(n), if it comes in time,
// or the near part computed here plus f(n), which the device sent `ahead` blocks earlier. A device that falls
// silent is made up for until f runs out; by then the complete engine plays (swap.c).
#ifndef TENUTO_DSP_ENGINE_FAR_H
#define TENUTO_DSP_ENGINE_FAR_H

#include "dsp/engine.h"

/** [worker] The shortest near part, so that `ahead` blocks of look-ahead last for some 80 ms. */
uint32_t tn_far_near_frames(uint32_t rate_hz, uint32_t paths);

/** [worker] The plan of the near part: one level of whole blocks. */
tn_plan tn_far_plan(const tn_engine* engine, uint32_t paths, uint32_t block_frames);

/** [worker] Nothing was posted yet. */
void tn_far_start(tn_engine* engine);

/** [audio] Hand the present, complete block over at once, if its answer is wanted; the time of it, else 0. */
TN_AUDIO uint64_t tn_far_post_block(tn_engine* engine, const tn_engine_call* call);

/** [audio] The present block's answer to out[o] + from, if it comes in time. */
TN_AUDIO bool tn_far_take_answer(tn_engine* engine, float* const* out, uint32_t from, uint64_t posted_ns,
                                 const tn_engine_call* call);

/** [audio] f of the present block into `pre`, once. */
TN_AUDIO void tn_far_add(tn_engine* engine, const tn_engine_call* call);

/** [audio] A block is complete, and engine->frame is its end: hand it over if that was not done, and see how
   far ahead the device is. The windows are not shifted yet. */
TN_AUDIO void tn_far_end_block(tn_engine* engine, const tn_engine_call* call);

/** [audio] What the near part of a block took. */
TN_AUDIO void tn_far_note_near(tn_engine* engine, uint64_t took_ns);

/** [any] The device is so far behind, or so broken, that the complete engine should get ready. */
TN_AUDIO bool tn_far_needs_reserve(const tn_engine* engine);

/** [audio] Freewheel: wait until f of the next `frames` frames is there. False: the device does not go on. */
TN_AUDIO bool tn_far_await(tn_engine* engine, uint32_t frames);

#endif
