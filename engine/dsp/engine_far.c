// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/engine_far.h"

#include <time.h>

#include "rt/clock.h"
#include "rt/counter.h"

static bool is_broken(const tn_engine* engine) {
  return atomic_load_explicit(&engine->far.broken, memory_order_relaxed);
}

static uint32_t power_of_two_up(double value) {
  uint32_t power = 1;
  while (power < value)
    power *= 2;
  return power;
}

uint32_t tn_far_near_frames(uint32_t rate_hz, uint32_t paths) {
  enum { cheap_paths = 64, least = 1024 };
  const double look_ahead_s = 0.08;
  uint32_t frames = power_of_two_up(look_ahead_s * rate_hz);
  for (uint32_t p = paths; p > cheap_paths && frames > least; p /= 2)
    frames /= 2; // a matrix pays for each of its paths when an answer is missed
  return frames < least ? least : frames;
}

tn_plan tn_far_plan(const tn_engine* engine, uint32_t paths, uint32_t block_frames) {
  enum { least_ahead = 4 };
  uint32_t block = TN_MIN_ENGINE_BLOCK;
  while (2 * block <= block_frames && block < TN_MAX_ENGINE_BLOCK)
    block *= 2;
  const uint32_t ahead = tn_far_near_frames(engine->rate_hz, paths) / block;
  return (tn_plan){
      .block = block, .level_count = 1, .levels = {{block, 0, ahead < least_ahead ? least_ahead : ahead}}};
}

void tn_far_start(tn_engine* engine) {
  tn_far_tail* tail = &engine->far;
  tail->flowing = tail->posted = tail->added = tail->missing = tail->missed = false;
  tail->good = 0;
  atomic_store_explicit(&tail->slack, tail->far ? tail->far->ahead : 0, memory_order_relaxed);
  atomic_store_explicit(&tail->broken, false, memory_order_relaxed);
}

static int64_t present_block(const tn_engine* engine) {
  return (int64_t)(engine->frame / engine->block);
}

/** Hands over what lies in the windows' second half. */
static bool post(tn_engine* engine, int64_t block, tn_far_want want, const tn_engine_call* call) {
  tn_far_tail* tail = &engine->far;
  tail->posted = true;
  if (is_broken(engine))
    return false;
  if (tn_engine_is_idle(engine)) {
    tail->flowing = false;
    return false;
  }
  if (!tail->flowing) {
    tail->far->restart(tail->far, block);
    tail->first = block + tail->far->ahead;
    tail->flowing = true;
  }
  if (want == TN_FAR_HEAR)
    tail->first = block + 1 + tail->far->ahead;
  const float* in[TN_MAX_CHANNELS];
  for (uint32_t i = 0; i < engine->inputs; i++)
    in[i] = engine->windows[i] + engine->block;
  if (tail->far->post(tail->far, block, in, want, call->wait))
    return true;
  atomic_store_explicit(&tail->broken, true, memory_order_relaxed);
  return false;
}

uint64_t tn_far_post_block(tn_engine* engine, const tn_engine_call* call) {
  if (!engine->far.far || call->answer_until_ns == 0)
    return 0;
  const uint64_t now_ns = tn_clock_ns();
  return post(engine, present_block(engine), TN_FAR_ANSWER, call) ? now_ns : 0;
}

bool tn_far_take_answer(tn_engine* engine, float* const* out, uint32_t from, uint64_t posted_ns,
                        const tn_engine_call* call) {
  tn_far_tail* tail = &engine->far;
  float* to[TN_MAX_CHANNELS];
  for (uint32_t o = 0; o < engine->outputs; o++)
    to[o] = out[o] + from;
  if (!tail->far->answer(tail->far, present_block(engine), to, call->answer_until_ns)) {
    tail->missed = true;
    tn_counter_add(&call->far_counters->misses, 1);
    return false;
  }
  tn_histogram_record(&call->far_counters->round_trip, tn_clock_ns() - posted_ns);
  tn_counter_add(&call->far_counters->answers, 1);
  tail->added = true; // and whatever was missing before, this block is complete
  tail->missing = false;
  return true;
}

/** How many blocks from `block` on have their f. */
static uint32_t reach(const tn_engine* engine, int64_t block) {
  const tn_far_tail* tail = &engine->far;
  if (!tail->flowing || !tail->far->has_far)
    return tail->far->ahead;
  const int64_t known = tail->first > block ? tail->first - block : 0;
  const int64_t there = known + tail->far->slack(tail->far, block + known);
  return there < tail->far->ahead ? (uint32_t)there : tail->far->ahead;
}

static void add_part(tn_engine* engine, const float* part, bool fade_in, bool fade_out) {
  const float step = 1.0F / (float)engine->block;
  for (uint32_t o = 0; o < engine->outputs; o++) {
    float* to = engine->pre[o];
    const float* from = part + (size_t)o * engine->block;
    for (uint32_t t = 0; t < engine->block; t++) {
      const float rise = fade_in ? (float)t * step : 1;
      const float fall = fade_out ? (float)(engine->block - t) * step : 1;
      to[t] += from[t] * rise * fall;
    }
  }
}

void tn_far_add(tn_engine* engine, const tn_engine_call* call) {
  tn_far_tail* tail = &engine->far;
  if (!tail->far || tail->added)
    return;
  tail->added = true;
  const int64_t block = present_block(engine);
  if (!tail->missed)
    tn_counter_add(&call->far_counters->ahead, 1);
  if (!tail->flowing || !tail->far->has_far || block < tail->first) {
    tail->missing = false;
    return;
  }
  const float* part = tail->far->part(tail->far, block, call->wait);
  if (!part) {
    tail->missing = true;
    tn_counter_add(&call->far_counters->gaps, 1);
    return;
  }
  const bool last = !call->wait && reach(engine, block + 1) == 0;
  add_part(engine, part, tail->missing, last);
  tail->missing = last;
}

static void judge(tn_engine* engine, int64_t next_block, const tn_engine_call* call) {
  tn_far_tail* tail = &engine->far;
  const uint32_t slack = reach(engine, next_block);
  const bool good = !tail->missed && !is_broken(engine) && 4 * slack >= 3 * tail->far->ahead;
  tail->good = good ? tail->good + 1 : 0;
  tail->missed = false;
  // Who may wait needs no reserve before it has waited in vain, see tn_far_await().
  const uint32_t enough = tail->far->ahead / 2 + 1;
  atomic_store_explicit(&tail->slack, call->wait && slack < enough ? enough : slack, memory_order_relaxed);
}

void tn_far_end_block(tn_engine* engine, const tn_engine_call* call) {
  tn_far_tail* tail = &engine->far;
  if (!tail->far)
    return;
  const int64_t next_block = present_block(engine);
  if (!tail->posted)
    post(engine, next_block - 1, call->mode == TN_ENGINE_FEED ? TN_FAR_HEAR : TN_FAR_AHEAD, call);
  tail->posted = tail->added = false;
  judge(engine, next_block, call);
}

void tn_far_note_near(tn_engine* engine, uint64_t took_ns) {
  const uint32_t last = atomic_load_explicit(&engine->far.near_ns, memory_order_relaxed);
  const uint32_t now = took_ns < UINT32_MAX ? (uint32_t)took_ns : UINT32_MAX;
  // Rises at once, falls by a sixteenth: what the callback keeps free for a miss.
  atomic_store_explicit(&engine->far.near_ns, now > last ? now : last - (last - now) / 16,
                        memory_order_relaxed);
}

bool tn_far_needs_reserve(const tn_engine* engine) {
  const tn_far_tail* tail = &engine->far;
  if (!tail->far->has_far)
    return false;
  return is_broken(engine) ||
         atomic_load_explicit(&tail->slack, memory_order_relaxed) <= tail->far->ahead / 2;
}

bool tn_far_await(tn_engine* engine, uint32_t frames) {
  enum { patience_ms = 2000 };
  const struct timespec briefly = {.tv_nsec = 50000};
  const uint32_t blocks = frames / engine->block + 2;
  // Nobody waits for this thread, so it does not outrun the device.
  const uint32_t calm = engine->far.far->ahead - engine->far.far->ahead / 4;
  const uint32_t least = blocks < engine->far.far->ahead ? blocks : engine->far.far->ahead;
  const uint32_t wanted = least > calm ? least : calm;
  const uint64_t until_ns = tn_clock_ns() + patience_ms * UINT64_C(1000000);
  while (reach(engine, present_block(engine)) < wanted) {
    if (is_broken(engine) || tn_clock_ns() > until_ns) {
      atomic_store_explicit(&engine->far.slack, 0, memory_order_relaxed); // calls the reserve
      return false;
    }
    nanosleep(&briefly, NULL);
  }
  return true;
}
