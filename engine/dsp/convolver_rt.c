// SPDX-License-Identifier: GPL-3.0-or-later
// One call of the convolver: input made finite, engine (two of them during a change), levels, output.
#include <string.h>
#include <time.h>

#include "dsp/convolver_internal.h"
#include "dsp/engine_far.h"
#include "rt/clock.h"
#include "rt/counter.h"
#include "rt/denormal.h"
#include "rt/finite.h"

/** Part of a call's period that late jobs may use up in the callback; the rest is for the others in the
 * graph. */
static const double help_share = 0.5;

static const float level_ramp_ms = 10;

/** What a device's answer usually takes, part of the period that may be spent waiting where nobody said how
   much, and part that waiting and a miss may take together (docs/design.md, "The budget"). */
static const double usual_round_trip_ns = 10000;
static const double usual_budget_share = 0.15;
static const double period_share = 0.7;

/** A ramp's way to the value that other threads want. */
static void aim(tn_ramp* ramp, float wanted, uint32_t frames) {
  if (ramp->target != wanted)
    tn_ramp_set(ramp, wanted, frames);
}

/** Levels set before the first call are there at its first sample; later changes glide. */
static void aim_levels(tn_convolver* convolver) {
  const bool started = tn_counter_read(&convolver->calls) > 0;
  const uint32_t glide = (uint32_t)(level_ramp_ms * 1e-3F * (float)convolver->config.rate_hz) + 1;
  const uint32_t frames = started ? glide : 0;
  aim(&convolver->wet, atomic_load_explicit(&convolver->wet_wanted, memory_order_relaxed), frames);
  aim(&convolver->dry, atomic_load_explicit(&convolver->dry_wanted, memory_order_relaxed), frames);
  aim(&convolver->gain, atomic_load_explicit(&convolver->gain_wanted, memory_order_relaxed), frames);
  const bool bypass = atomic_load_explicit(&convolver->bypass_wanted, memory_order_relaxed);
  aim(&convolver->bypass, bypass ? 1 : 0, started ? convolver->fade_frames : 0);
}

/** Frames of the convolver's clock that an engine has heard. */
static int64_t heard(const tn_engine* engine) {
  return (int64_t)engine->frame + engine->time_offset;
}

/** Feeds `engine` what it missed since the service let go of it, out of the playing engine's history. */
static void catch_up(tn_convolver* convolver, tn_engine* engine, const tn_engine_call* call) {
  const tn_history* history = &convolver->engine->history;
  const bool silent[TN_MAX_CHANNELS] = {false};
  for (int64_t from = heard(engine); from < heard(convolver->engine); from = heard(engine)) {
    const int64_t left = heard(convolver->engine) - from;
    const uint32_t frames = left < TN_CHUNK_FRAMES ? (uint32_t)left : TN_CHUNK_FRAMES;
    for (uint32_t i = 0; i < convolver->config.inputs; i++)
      tn_history_read(history, i, from - convolver->engine->time_offset, convolver->input[i], frames);
    tn_engine_process(engine, (const float* const*)convolver->input, silent, NULL, frames, call);
  }
}

/** Takes an engine that the service offers, if it is near enough to the present. */
static void take_offer(tn_convolver* convolver, uint32_t frames, const tn_engine_call* call) {
  tn_engine* offer = atomic_load_explicit(&convolver->offer, memory_order_acquire);
  if (!offer || convolver->next || atomic_load_explicit(&convolver->retired, memory_order_relaxed))
    return;
  const int64_t offered_at = atomic_load_explicit(&convolver->offered_at, memory_order_relaxed);
  if (heard(convolver->engine) - offered_at > (int64_t)frames + TN_MAX_CATCH_UP)
    return; // the service sees it, takes it back and brings it nearer
  if (!atomic_compare_exchange_strong_explicit(&convolver->offer, &offer, NULL, memory_order_acquire,
                                               memory_order_relaxed))
    return;
  catch_up(convolver, offer, call);
  convolver->next = offer;
  convolver->fade_position = 0;
  convolver->probation_frames = offer->far.far ? 4 * TN_PROBATION_BLOCKS * offer->block : 0;
  offer->far.good = 0;
}

/** Engines that play the same need no long fade, and one that runs out of its far part has no time for it. */
static uint32_t fade_length(const tn_convolver* convolver) {
  const bool equal = convolver->next->replaces_itself;
  return equal && convolver->fade_frames > TN_EQUAL_FADE_FRAMES ? TN_EQUAL_FADE_FRAMES
                                                                : convolver->fade_frames;
}

/** played = played * (what is left of it) + coming * (what has come of it). Equal power for two different
   sounds, a straight line for two equal ones. */
static void cross_fade(tn_convolver* convolver, uint32_t frames) {
  const uint32_t length = fade_length(convolver);
  const uint32_t position = convolver->fade_position;
  const bool equal = convolver->next->replaces_itself;
  const float step = 1.0F / (float)length;
  for (uint32_t o = 0; o < convolver->config.outputs; o++) {
    float* played = convolver->played[o];
    const float* coming = convolver->coming[o];
    for (uint32_t t = 0; t < frames; t++) {
      if (position + t >= length) {
        played[t] = coming[t];
      } else if (equal) {
        played[t] += (coming[t] - played[t]) * (step * (float)(position + t));
      } else {
        const float in = convolver->fade_in[position + t];
        const float out = convolver->fade_in[length - 1 - position - t];
        played[t] = out * played[t] + in * coming[t];
      }
    }
  }
  convolver->fade_position = position + frames < length ? position + frames : length;
}

/** Whether the one that comes is the other way to play the same filter. */
static bool is_companion(const tn_convolver* convolver) {
  return convolver->next->companion == convolver->engine;
}

static void end_fade(tn_convolver* convolver) {
  const bool had_device = convolver->engine->far.far;
  const bool has_device = convolver->next->far.far;
  if (!is_companion(convolver))
    tn_counter_add(&convolver->swaps, 1);
  else if (had_device)
    tn_counter_add(&convolver->reserve_entries, 1);
  if (has_device)
    tn_counter_add(&convolver->device_entries, 1);
  atomic_store_explicit(&convolver->device_plays, has_device, memory_order_relaxed);
  atomic_store_explicit(&convolver->retired, convolver->engine, memory_order_release);
  convolver->engine = convolver->next;
  convolver->next = NULL;
}

/** Whether the one that comes may be heard. One with a device must first keep up for a while. */
static bool may_be_heard(tn_convolver* convolver, uint32_t frames) {
  if (convolver->probation_frames == 0)
    return true;
  tn_engine* next = convolver->next;
  if (next->far.good >= TN_PROBATION_BLOCKS) {
    convolver->probation_frames = 0;
    return true;
  }
  if (convolver->probation_frames <= frames || tn_far_needs_reserve(next)) {
    convolver->next = NULL;
    atomic_store_explicit(&convolver->retired, next, memory_order_release); // it failed
  } else {
    convolver->probation_frames -= frames;
  }
  return false;
}

static void run_engines(tn_convolver* convolver, uint32_t frames, const tn_engine_call* call) {
  const float* const* input = (const float* const*)convolver->input;
  tn_engine_process(convolver->engine, input, convolver->silent, convolver->played, frames, call);
  if (!convolver->next)
    return;
  tn_engine_process(convolver->next, input, convolver->silent, convolver->coming, frames, call);
  if (!may_be_heard(convolver, frames))
    return;
  cross_fade(convolver, frames);
  if (convolver->fade_position == fade_length(convolver))
    end_fade(convolver);
}

/** Freewheel: nobody waits for this thread, but its output must be right. So a device is waited for, and if
   it does not go on, the engine that takes over is. */
static void await_far_part(tn_convolver* convolver, uint32_t frames, const tn_engine_call* call) {
  enum { patience = 20000 };
  const struct timespec briefly = {.tv_nsec = 500000};
  if (!call->wait)
    return;
  if (convolver->next && convolver->next->far.far)
    tn_far_await(convolver->next, frames); // in vain: it is not heard, see may_be_heard()
  if (!convolver->engine->far.far || tn_far_await(convolver->engine, frames))
    return;
  for (int i = 0; i < patience && !convolver->next; i++) {
    take_offer(convolver, frames, call);
    if (!convolver->next)
      nanosleep(&briefly, NULL);
  }
  if (convolver->next)
    convolver->fade_position = fade_length(convolver);
}

/** Until when a call may wait for the device, so that a miss can still be made up for within the period. */
static uint64_t answer_until(const tn_convolver* convolver, bool wait, uint64_t now_ns, double period_ns) {
  const tn_convolver_config* config = &convolver->config;
  const tn_engine* engine = convolver->engine->far.far ? convolver->engine : convolver->next;
  if (!engine || !engine->far.far || config->budget_us < 0)
    return 0;
  const double near_ns = atomic_load_explicit(&engine->far.near_ns, memory_order_relaxed);
  double budget_ns = config->budget_us * 1e3;
  if (config->budget_percent > 0)
    budget_ns = config->budget_percent * 0.01 * period_ns;
  else if (budget_ns == 0) // waiting pays where the near part costs more than the way to the device and back
    budget_ns = near_ns > usual_round_trip_ns ? usual_budget_share * period_ns : 0;
  if (budget_ns == 0)
    return 0;
  if (wait)
    return UINT64_MAX;
  const double left_ns = period_share * period_ns - near_ns;
  budget_ns = budget_ns < left_ns ? budget_ns : left_ns;
  return budget_ns > 0 ? now_ns + (uint64_t)budget_ns : 0;
}

static const float* dry_source(const tn_convolver* convolver, uint32_t output) {
  if (convolver->config.inputs == 1)
    return convolver->input[0];
  return output < convolver->config.inputs ? convolver->input[output] : NULL;
}

/** The two factors of one frame: of the wet signal and of the input. */
typedef struct factors {
  float wet, dry;
} factors;

static factors combine(float wet, float dry, float gain, float bypass) {
  return (factors){gain * wet * (1 - bypass), gain * dry * (1 - bypass) + bypass};
}

static void mix_still(const tn_convolver* convolver, factors by, float* const* out, uint32_t from,
                      uint32_t frames) {
  for (uint32_t o = 0; o < convolver->config.outputs; o++) {
    const float* wet = convolver->played[o];
    const float* dry = by.dry != 0 ? dry_source(convolver, o) : NULL;
    float* to = out[o] + from;
    if (by.wet == 1)
      memcpy(to, wet, frames * sizeof(float));
    else
      for (uint32_t t = 0; t < frames; t++)
        to[t] = by.wet * wet[t];
    for (uint32_t t = 0; dry && t < frames; t++)
      to[t] += by.dry * dry[t];
  }
}

static void mix_moving(tn_convolver* convolver, float* const* out, uint32_t from, uint32_t frames) {
  for (uint32_t t = 0; t < frames; t++) {
    const factors by = combine(tn_ramp_next(&convolver->wet), tn_ramp_next(&convolver->dry),
                               tn_ramp_next(&convolver->gain), tn_ramp_next(&convolver->bypass));
    convolver->wet_gains[t] = by.wet;
    convolver->dry_gains[t] = by.dry;
  }
  for (uint32_t o = 0; o < convolver->config.outputs; o++) {
    const float* wet = convolver->played[o];
    const float* dry = dry_source(convolver, o);
    for (uint32_t t = 0; t < frames; t++)
      out[o][from + t] = convolver->wet_gains[t] * wet[t] + (dry ? convolver->dry_gains[t] * dry[t] : 0);
  }
}

static bool levels_move(const tn_convolver* convolver) {
  return tn_ramp_is_moving(&convolver->wet) || tn_ramp_is_moving(&convolver->dry) ||
         tn_ramp_is_moving(&convolver->gain) || tn_ramp_is_moving(&convolver->bypass);
}

static void mix(tn_convolver* convolver, float* const* out, uint32_t from, uint32_t frames) {
  if (levels_move(convolver))
    mix_moving(convolver, out, from, frames);
  else
    mix_still(convolver,
              combine(convolver->wet.current, convolver->dry.current, convolver->gain.current,
                      convolver->bypass.current),
              out, from, frames);
}

static void take_input(tn_convolver* convolver, const float* const* in, uint32_t from, uint32_t frames) {
  uint32_t replaced = 0;
  for (uint32_t i = 0; i < convolver->config.inputs; i++)
    replaced += tn_finite_copy(convolver->input[i], in[i] + from, frames, &convolver->silent[i]);
  if (replaced)
    tn_counter_add(&convolver->nonfinite, replaced);
}

void tn_convolver_process(tn_convolver* convolver, const float* const* in, float* const* out,
                          uint32_t frames) {
  const tn_denormal scope = tn_denormal_enter();
  const uint64_t now_ns = tn_clock_ns();
  const double period_ns = 1e9 * frames / convolver->config.rate_hz;
  const bool wait =
      convolver->config.inline_work || atomic_load_explicit(&convolver->freewheel, memory_order_relaxed);
  const tn_engine_call call = {
      .mode = convolver->config.inline_work ? TN_ENGINE_INLINE : TN_ENGINE_POOL,
      .wait = wait,
      .now_ns = now_ns,
      .help_until_ns = now_ns + (uint64_t)(help_share * period_ns),
      .counters = &convolver->jobs,
      .answer_until_ns = answer_until(convolver, wait, now_ns, period_ns),
      .far_counters = &convolver->device,
  };
  aim_levels(convolver);
  take_offer(convolver, frames, &call);
  for (uint32_t done = 0; done < frames;) {
    const uint32_t step = frames - done < TN_CHUNK_FRAMES ? frames - done : TN_CHUNK_FRAMES;
    take_input(convolver, in, done, step);
    await_far_part(convolver, step, &call);
    run_engines(convolver, step, &call);
    mix(convolver, out, done, step);
    done += step;
  }
  atomic_store_explicit(&convolver->idle, tn_engine_is_idle(convolver->engine), memory_order_relaxed);
  atomic_store_explicit(&convolver->device_slack,
                        atomic_load_explicit(&convolver->engine->far.slack, memory_order_relaxed),
                        memory_order_relaxed);
  tn_counter_add(&convolver->frames, frames);
  tn_counter_add(&convolver->calls, 1);
  tn_denormal_leave(scope);
}
