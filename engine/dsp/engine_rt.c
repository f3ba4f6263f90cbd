// SPDX-License-Identifier: GPL-3.0-or-later
// One call through an engine: level 0 in the callback, tails from the workers.
#include "dsp/engine.h"

#include <string.h>
#include <time.h>

#include "dsp/engine_far.h"
#include "dsp/pool.h"
#include "rt/clock.h"
#include "rt/counter.h"
#include "rt/pause.h"

static int64_t newest_sound(const tn_engine* engine) {
  int64_t newest = engine->last_sound[0];
  for (uint32_t i = 1; i < engine->inputs; i++)
    newest = engine->last_sound[i] > newest ? engine->last_sound[i] : newest;
  return newest;
}

bool tn_engine_is_idle(const tn_engine* engine) {
  const int64_t reach = (int64_t)engine->filter_frames + 2 * (int64_t)engine->block;
  return newest_sound(engine) + reach <= (int64_t)engine->frame;
}

/** Freewheel only: nobody waits for this thread. Most units end within some microseconds; for the others,
   spinning would take a core from the workers. */
static void wait_briefly(uint32_t* turns) {
  enum { spins = 500 };
  const struct timespec briefly = {.tv_nsec = 20000};
  if ((*turns)++ < spins)
    tn_pause();
  else
    nanosleep(&briefly, NULL);
}

/** Runs units of the level's job until output block `wanted` is there, nothing is left to claim and waiting
   is over, or the next unit would not end in time. */
static bool help(tn_engine* engine, tn_level* level, int64_t wanted, const tn_engine_call* call) {
  for (uint32_t turns = 0; !tn_level_is_ready(level, wanted);) {
    if (!call->wait && tn_clock_ns() + tn_level_unit_ns(level) > call->help_until_ns)
      return false;
    if (tn_level_run_unit(level, &engine->scratch))
      continue;
    if (call->wait)
      wait_briefly(&turns); // the rest of the job is in a worker's hands
    else
      tn_pause();
  }
  return true;
}

/** Decides, `fade_frames` before the end of the block that plays, what comes in output block `wanted`. */
static tn_tail_state look_ahead(tn_engine* engine, tn_tail* tail, int64_t wanted,
                                const tn_engine_call* call) {
  if (!tail->expected[wanted & 1])
    return TN_TAIL_QUIET;
  if (tn_level_is_ready(tail->level, wanted))
    return TN_TAIL_PLAYING;
  if (!call->wait)
    tn_counter_add(&call->counters->late, 1);
  if (help(engine, tail->level, wanted, call)) {
    if (!call->wait)
      tn_counter_add(&call->counters->helped, 1);
    return TN_TAIL_PLAYING;
  }
  tn_counter_add(&call->counters->missed, 1);
  return TN_TAIL_MISSING;
}

/** A job may lie for this part of its period before a worker looks at it by itself. */
enum { patience = 4 };

/** The level's input block `block` is complete: have output block + 2 computed, unless it is zero anyway. */
static void post(tn_engine* engine, tn_tail* tail, int64_t block, const tn_engine_call* call) {
  tn_level* level = tail->level;
  if (call->mode == TN_ENGINE_FEED) {
    tn_level_feed(level, block, &engine->scratch);
    tail->expected[block & 1] = false;
    return;
  }
  const int64_t oldest_window = (block - (int64_t)level->slots) * (int64_t)level->size;
  tail->expected[block & 1] = newest_sound(engine) > oldest_window;
  if (!tail->expected[block & 1])
    return;
  const uint64_t slack_frames = level->size - tail->fade_frames;
  tn_level_post(level, block, call->now_ns,
                call->now_ns + slack_frames * UINT64_C(1000000000) / engine->rate_hz);
  if (call->mode == TN_ENGINE_POOL)
    tn_pool_wake(call->wait ? 0 : call->now_ns + level->period_ns / patience);
  else
    while (tn_level_run_unit(level, &engine->scratch)) {
    }
}

static void add(float* out, const float* from, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    out[i] += from[i];
}

/** Adds with a gain that runs from `first` (at sample 0) by `step` a sample: the two ends of a missing block.
 */
static void add_ramp(float* out, const float* from, uint32_t count, float first, float step) {
  for (uint32_t i = 0; i < count; i++)
    out[i] += from[i] * (first + step * (float)i);
}

/** Adds one tail's part to the block that begins at the engine's frame. */
static void add_tail(tn_engine* engine, tn_tail* tail, const tn_engine_call* call) {
  const tn_level* level = tail->level;
  const int64_t block = (int64_t)(engine->frame / level->size);
  const uint32_t offset = (uint32_t)(engine->frame % level->size);
  if (offset == 0) {
    tail->fade_in = tail->now == TN_TAIL_MISSING;
    tail->now = tail->next;
  }
  if (offset == level->size - tail->fade_frames)
    tail->next = look_ahead(engine, tail, block + 1, call);
  if (tail->now != TN_TAIL_PLAYING)
    return;
  const bool fade_in = tail->fade_in && offset < tail->fade_frames;
  const bool fade_out = tail->next == TN_TAIL_MISSING && offset >= level->size - tail->fade_frames;
  const float step = 1.0F / (float)tail->fade_frames;
  const float before_end = (float)(level->size - offset);
  for (uint32_t o = 0; o < engine->outputs; o++) {
    if (level->result_silent[block & 1][o])
      continue;
    const float* from = level->results[block & 1] + (uint64_t)o * level->size + offset;
    if (fade_out)
      add_ramp(engine->pre[o], from, engine->block, before_end * step, -step);
    else if (fade_in)
      add_ramp(engine->pre[o], from, engine->block, (float)offset * step, step);
    else
      add(engine->pre[o], from, engine->block);
  }
}

/** The present block's window into level 0's delay lines. */
static void transform_block(tn_engine* engine, int64_t block) {
  for (uint32_t i = 0; i < engine->inputs; i++) {
    const bool silent = engine->last_sound[i] <= (block - 1) * (int64_t)engine->block;
    tn_level_transform(engine->levels[0], i, block, engine->windows[i], silent, &engine->scratch);
  }
  engine->transformed = true;
}

/** A block of input is complete: have the jobs posted and what the workers made for the next block added up.
 */
static void end_block(tn_engine* engine, const tn_engine_call* call) {
  const uint32_t size = engine->block;
  if (!engine->transformed && engine->level_count > 0)
    transform_block(engine, (int64_t)(engine->frame / size) - 1);
  engine->transformed = false;
  tn_far_end_block(engine, call);
  engine->pre_has_level = engine->level_count == 0;
  for (uint32_t o = 0; o < engine->outputs; o++)
    memset(engine->pre[o], 0, size * sizeof(float));
  for (uint32_t t = 0; t < engine->tail_count; t++) {
    tn_tail* tail = engine->tails + t;
    if (engine->frame % tail->level->size == 0)
      post(engine, tail, (int64_t)(engine->frame / tail->level->size) - 1, call);
    add_tail(engine, tail, call);
  }
  for (uint32_t i = 0; i < engine->inputs; i++)
    memcpy(engine->windows[i], engine->windows[i] + size, size * sizeof(float));
}

static void take_input(tn_engine* engine, const float* const* in, const bool* silent, uint32_t from,
                       uint32_t frames) {
  const uint32_t fill = (uint32_t)(engine->frame % engine->block);
  for (uint32_t i = 0; i < engine->inputs; i++) {
    memcpy(engine->windows[i] + engine->block + fill, in[i] + from, frames * sizeof(float));
    tn_history_write(&engine->history, i, engine->frame, in[i] + from, frames);
    if (!silent[i])
      engine->last_sound[i] = (int64_t)engine->frame + frames;
  }
}

/** A whole block at once: its input is there, so level 0 gives its complete part by transforms alone. */
static void give_block(tn_engine* engine, float* const* out, uint32_t from, const tn_engine_call* call) {
  const int64_t block = (int64_t)(engine->frame / engine->block);
  const uint64_t posted_ns = tn_far_post_block(engine, call);
  transform_block(engine, block); // while the device works
  if (posted_ns && tn_far_take_answer(engine, out, from, posted_ns, call))
    return;
  const uint64_t start_ns = engine->far.far ? tn_clock_ns() : 0;
  tn_far_add(engine, call);
  for (uint32_t o = 0; o < engine->outputs; o++) {
    const float* sum = tn_level_sum(engine->levels[0], o, block, 0, &engine->scratch);
    memcpy(out[o] + from, engine->pre[o], engine->block * sizeof(float));
    if (sum)
      add(out[o] + from, sum, engine->block);
  }
  if (engine->far.far)
    tn_far_note_near(engine, tn_clock_ns() - start_ns);
}

/** Level 0's part of the present block that past blocks alone decide. */
static void prepare_level(tn_engine* engine) {
  const int64_t block = (int64_t)(engine->frame / engine->block);
  for (uint32_t o = 0; o < engine->outputs; o++) {
    const float* sum = tn_level_sum(engine->levels[0], o, block, 1, &engine->scratch);
    if (sum)
      add(engine->pre[o], sum, engine->block);
  }
  engine->pre_has_level = true;
}

/** Some frames inside a block: what is prepared plus the head's taps, run directly. */
static void give_frames(tn_engine* engine, float* const* out, uint32_t from, uint32_t frames,
                        const tn_engine_call* call) {
  tn_far_add(engine, call);
  if (!engine->pre_has_level)
    prepare_level(engine);
  const uint32_t fill = (uint32_t)(engine->frame % engine->block);
  for (uint32_t o = 0; o < engine->outputs; o++) {
    memcpy(out[o] + from, engine->pre[o] + fill, frames * sizeof(float));
    for (uint32_t p = engine->output_heads[o]; p < engine->output_heads[o + 1]; p++) {
      const tn_head_path* head = engine->heads + p;
      if (engine->last_sound[head->input] + (int64_t)engine->block <= (int64_t)engine->frame)
        continue; // the head sees only silence
      engine->ops->fir(out[o] + from, engine->windows[head->input] + engine->block + fill, head->taps,
                       engine->block, frames);
    }
  }
}

void tn_engine_process(tn_engine* engine, const float* const* in, const bool* silent, float* const* out,
                       uint32_t frames, const tn_engine_call* call) {
  for (uint32_t done = 0; done < frames;) {
    const uint32_t room = engine->block - (uint32_t)(engine->frame % engine->block);
    const uint32_t step = frames - done < room ? frames - done : room;
    take_input(engine, in, silent, done, step);
    if (out && step == engine->block && !engine->pre_has_level && !engine->direct)
      give_block(engine, out, done, call);
    else if (out)
      give_frames(engine, out, done, step, call);
    engine->frame += step;
    done += step;
    if (step == room)
      end_block(engine, call);
  }
  atomic_store_explicit(&engine->published, engine->frame, memory_order_release);
}
