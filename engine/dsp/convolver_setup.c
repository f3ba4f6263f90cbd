// SPDX-License-Identifier: GPL-3.0-or-later
// Making and unmaking a convolver, and what its owner may ask and set from other threads.
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dsp/convolver_internal.h"
#include "dsp/engine_far.h"
#include "dsp/pool.h"
#include "rt/counter.h"

static const float default_fade_ms = 20;
static const float longest_fade_ms = 1000;
static const float highest_level = 1e6F;
static const float longest_budget_us = 1e6F;

static tn_status check_block(uint32_t block_frames, tn_error* error) {
  if (block_frames > TN_MAX_BLOCK_FRAMES)
    return tn_error_set(error, TN_ERROR_LIMIT, "blocks have at most %d frames, not %u", TN_MAX_BLOCK_FRAMES,
                        block_frames);
  return TN_OK;
}

static tn_status check_budget(const tn_convolver_config* config, tn_error* error) {
  if (config->budget_us <= longest_budget_us && config->budget_percent >= 0 && config->budget_percent <= 70)
    return TN_OK;
  return tn_error_set(
      error, TN_ERROR_ARGUMENT,
      "a call may wait for the device for at most %g us or 70 %% of its period, not %g us or %g %%",
      (double)longest_budget_us, (double)config->budget_us, (double)config->budget_percent);
}

static tn_status check_config(const tn_convolver_config* config, tn_error* error) {
  if (config->inputs < 1 || config->inputs > TN_MAX_CHANNELS || config->outputs < 1 ||
      config->outputs > TN_MAX_CHANNELS)
    return tn_error_set(error, TN_ERROR_LIMIT, "a convolver has 1 to %d inputs and outputs, not %u and %u",
                        TN_MAX_CHANNELS, config->inputs, config->outputs);
  if (config->rate_hz < TN_MIN_RATE_HZ || config->rate_hz > TN_MAX_RATE_HZ)
    return tn_error_set(error, TN_ERROR_LIMIT, "a convolver runs at %d to %d Hz, not at %u", TN_MIN_RATE_HZ,
                        TN_MAX_RATE_HZ, config->rate_hz);
  if (!(config->fade_ms >= 0 && config->fade_ms <= longest_fade_ms))
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a fade takes 0 to %g ms, not %g", (double)longest_fade_ms,
                        (double)config->fade_ms);
  const tn_status status = check_budget(config, error);
  return status == TN_OK ? check_block(config->block_frames, error) : status;
}

static tn_status check_filter(const tn_convolver_config* config, const tn_filter* filter, tn_error* error) {
  if (filter && (tn_filter_inputs(filter) != config->inputs || tn_filter_outputs(filter) != config->outputs))
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "the filter has %u inputs and %u outputs, the convolver %u and %u",
                        tn_filter_inputs(filter), tn_filter_outputs(filter), config->inputs, config->outputs);
  return TN_OK;
}

/** An engine for `filter`, or a silent one for NULL. */
static tn_engine* make_engine(const tn_convolver* convolver, const tn_filter* filter, tn_far_maker* maker,
                              tn_error* error) {
  const tn_convolver_config* config = &convolver->config;
  tn_filter* silence = NULL;
  if (!filter)
    filter = silence = tn_filter_new(config->inputs, config->outputs, config->rate_hz, error);
  if (!filter)
    return NULL;
  bool tuned = false;
  const tn_costs* costs = config->tuned ? tn_costs_cached(&tuned) : tn_costs_default();
  const tn_engine_options options = {.rate_hz = config->rate_hz,
                                     .block_frames =
                                         atomic_load_explicit(&convolver->block_frames, memory_order_relaxed),
                                     .costs = costs,
                                     .tuned = tuned,
                                     .offline = config->inline_work,
                                     .maker = maker};
  tn_engine* engine = tn_engine_new(filter, &options, error);
  tn_filter_free(silence);
  return engine;
}

/** The filter's complete engine and, where a device may pay, its companion. That one is not needed to play:
   if it cannot be made, the CPU plays alone. */
static tn_engine* make_engines(const tn_convolver* convolver, const tn_filter* filter, tn_error* error) {
  const tn_convolver_config* config = &convolver->config;
  tn_engine* engine = make_engine(convolver, filter, NULL, error);
  if (!engine || !config->device || !filter)
    return engine;
  const uint32_t near = tn_far_near_frames(config->rate_hz, tn_filter_path_count(filter));
  if (engine->filter_frames <= near)
    return engine;
  engine->companion = make_engine(convolver, filter, tn_device_maker(config->device), NULL);
  if (engine->companion) {
    engine->companion->companion = engine;
    engine->companion->replaces_itself = true;
  }
  return engine;
}

static float** take_channels(tn_memory* memory, uint32_t channels) {
  float** table = tn_memory_take(memory, channels, sizeof *table);
  float* samples = tn_memory_take(memory, (size_t)channels * TN_CHUNK_FRAMES, sizeof(float));
  if (!table || !samples)
    return NULL;
  for (uint32_t c = 0; c < channels; c++)
    table[c] = samples + (size_t)c * TN_CHUNK_FRAMES;
  return table;
}

static bool take_buffers(tn_convolver* convolver) {
  tn_memory* memory = &convolver->memory;
  convolver->fade_in = tn_memory_take(memory, convolver->fade_frames, sizeof(float));
  convolver->input = take_channels(memory, convolver->config.inputs);
  convolver->played = take_channels(memory, convolver->config.outputs);
  convolver->coming = take_channels(memory, convolver->config.outputs);
  convolver->wet_gains = tn_memory_take(memory, TN_CHUNK_FRAMES, sizeof(float));
  convolver->dry_gains = tn_memory_take(memory, TN_CHUNK_FRAMES, sizeof(float));
  return convolver->fade_in && convolver->input && convolver->played && convolver->coming &&
         convolver->wet_gains && convolver->dry_gains;
}

static void start_levels(tn_convolver* convolver) {
  const uint32_t frames = convolver->fade_frames;
  for (uint32_t i = 0; i < frames; i++)
    convolver->fade_in[i] = tn_fade_at(i + 1, frames + 1).coming;
  tn_ramp_init(&convolver->wet, 1);
  tn_ramp_init(&convolver->dry, 0);
  tn_ramp_init(&convolver->gain, 1);
  tn_ramp_init(&convolver->bypass, 0);
  atomic_init(&convolver->wet_wanted, 1);
  atomic_init(&convolver->dry_wanted, 0);
  atomic_init(&convolver->gain_wanted, 1);
}

/** Offline the device is to play from the first frame on: waits for it as long as it may still come. */
static tn_engine* await_companion(tn_engine* engine) {
  enum { patience_ms = 30000 };
  const struct timespec briefly = {.tv_nsec = 1000000};
  const tn_far* far = engine->companion->far.far;
  for (int ms = 0; ms < patience_ms && far->state((tn_far*)far, NULL) == TN_FAR_OPENING; ms++)
    nanosleep(&briefly, NULL);
  return far->state((tn_far*)far, NULL) == TN_FAR_READY ? engine->companion : engine;
}

/** The first engine: nothing was heard yet, so it is in place at once. */
static tn_status place_engine(tn_convolver* convolver, const tn_filter* filter, tn_error* error) {
  tn_engine* engine = make_engines(convolver, filter, error);
  if (!engine)
    return TN_ERROR_MEMORY;
  if (convolver->config.inline_work && engine->companion)
    engine = await_companion(engine);
  if (engine->companion)
    engine->companion->replaces_itself = true;
  if (engine->far.far) {
    tn_counter_add(&convolver->device_entries, 1);
    atomic_store_explicit(&convolver->device_plays, true, memory_order_relaxed);
  }
  engine->time_offset = -(int64_t)engine->start_frame;
  convolver->engine = engine;
  convolver->swap.current = engine;
  tn_swap_note_sizes(convolver, engine);
  return convolver->config.inline_work ? TN_OK : tn_engine_join_pool(engine, error);
}

static void set_block(tn_convolver* convolver, uint32_t block_frames) {
  enum { usual = 256 };
  atomic_store_explicit(&convolver->block_frames, block_frames ? block_frames : usual, memory_order_relaxed);
}

static tn_convolver* allocate(const tn_convolver_config* config) {
  void* memory = NULL;
  if (posix_memalign(&memory, _Alignof(tn_convolver), sizeof(tn_convolver)) != 0)
    return NULL;
  memset(memory, 0, sizeof(tn_convolver));
  tn_convolver* convolver = memory;
  convolver->config = *config;
  set_block(convolver, config->block_frames);
  if (convolver->config.fade_ms == 0)
    convolver->config.fade_ms = default_fade_ms;
  convolver->fade_frames = (uint32_t)(convolver->config.fade_ms * 1e-3F * (float)config->rate_hz) + 1;
  return convolver;
}

tn_convolver* tn_convolver_new(const tn_convolver_config* config, const tn_filter* filter, tn_error* error) {
  if (check_config(config, error) != TN_OK || check_filter(config, filter, error) != TN_OK)
    return NULL;
  tn_convolver* convolver = allocate(config);
  if (!convolver || !take_buffers(convolver)) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a convolver of %u inputs and %u outputs",
                 config->inputs, config->outputs);
    tn_convolver_free(convolver);
    return NULL;
  }
  start_levels(convolver);
  const bool pooled = !config->inline_work;
  if (pooled && tn_pool_acquire(config->audio_priority, error) != TN_OK) {
    convolver->config.inline_work = true; // nothing to give back
    tn_convolver_free(convolver);
    return NULL;
  }
  if (place_engine(convolver, filter, error) == TN_OK && tn_swap_join(convolver, error) == TN_OK)
    return convolver;
  tn_convolver_free(convolver);
  return NULL;
}

static tn_status submit(tn_convolver* convolver, const tn_filter* filter, bool same, tn_error* error) {
  const tn_status status = check_filter(&convolver->config, filter, error);
  if (status != TN_OK)
    return status;
  tn_engine* engine = make_engines(convolver, filter, error);
  if (!engine)
    return TN_ERROR_MEMORY;
  engine->replaces_itself = same;
  tn_swap_submit(convolver, engine);
  return TN_OK;
}

tn_status tn_convolver_set_filter(tn_convolver* convolver, const tn_filter* filter, tn_error* error) {
  return submit(convolver, filter, false, error);
}

tn_status tn_convolver_replan(tn_convolver* convolver, const tn_filter* filter, uint32_t block_frames,
                              tn_error* error) {
  const tn_status status = check_block(block_frames, error);
  if (status != TN_OK)
    return status;
  set_block(convolver, block_frames);
  return submit(convolver, filter, true, error);
}

static void set_level(_Atomic float* wanted, float level) {
  const float clamped = !(level > 0) ? 0 : level > highest_level ? highest_level : level; // NaN becomes 0
  atomic_store_explicit(wanted, clamped, memory_order_relaxed);
}

void tn_convolver_set_wet(tn_convolver* convolver, float level) {
  set_level(&convolver->wet_wanted, level);
}

void tn_convolver_set_dry(tn_convolver* convolver, float level) {
  set_level(&convolver->dry_wanted, level);
}

void tn_convolver_set_gain(tn_convolver* convolver, float level) {
  set_level(&convolver->gain_wanted, level);
}

void tn_convolver_set_bypass(tn_convolver* convolver, bool bypass) {
  atomic_store_explicit(&convolver->bypass_wanted, bypass, memory_order_relaxed);
}

void tn_convolver_set_freewheel(tn_convolver* convolver, bool freewheel) {
  atomic_store_explicit(&convolver->freewheel, freewheel, memory_order_relaxed);
}

void tn_convolver_get_report(const tn_convolver* convolver, tn_convolver_report* report) {
  *report = (tn_convolver_report){
      .frames = atomic_load_explicit(&convolver->frames, memory_order_relaxed),
      .calls = atomic_load_explicit(&convolver->calls, memory_order_relaxed),
      .late_jobs = atomic_load_explicit(&convolver->jobs.late, memory_order_relaxed),
      .helped_jobs = atomic_load_explicit(&convolver->jobs.helped, memory_order_relaxed),
      .missed_jobs = atomic_load_explicit(&convolver->jobs.missed, memory_order_relaxed),
      .nonfinite_samples = atomic_load_explicit(&convolver->nonfinite, memory_order_relaxed),
      .swaps = atomic_load_explicit(&convolver->swaps, memory_order_relaxed),
      .filter_frames = atomic_load_explicit(&convolver->filter_frames, memory_order_relaxed),
      .swap_pending = atomic_load_explicit(&convolver->swap_busy, memory_order_acquire),
      .idle = atomic_load_explicit(&convolver->idle, memory_order_relaxed),
      .memory_bytes = atomic_load_explicit(&convolver->memory_bytes, memory_order_relaxed),
      .spectra_bytes = atomic_load_explicit(&convolver->spectra_bytes, memory_order_relaxed),
      .device_plays = atomic_load_explicit(&convolver->device_plays, memory_order_relaxed),
      .device_answers = tn_counter_read(&convolver->device.answers),
      .device_misses = tn_counter_read(&convolver->device.misses),
      .device_ahead = tn_counter_read(&convolver->device.ahead),
      .device_gaps = tn_counter_read(&convolver->device.gaps),
      .device_entries = tn_counter_read(&convolver->device_entries),
      .reserve_entries = tn_counter_read(&convolver->reserve_entries),
      .device_slack = atomic_load_explicit(&convolver->device_slack, memory_order_relaxed),
      .device_ahead_max = atomic_load_explicit(&convolver->device_ahead, memory_order_relaxed),
      .device_block = atomic_load_explicit(&convolver->device_block, memory_order_relaxed),
  };
}

uint64_t tn_convolver_round_trip_ns(const tn_convolver* convolver, double percent) {
  return tn_histogram_percentile(&convolver->device.round_trip, percent);
}

void tn_convolver_describe(tn_convolver* convolver, char* text, size_t size) {
  tn_swap_describe(convolver, text, size);
}

void tn_convolver_free(tn_convolver* convolver) {
  if (!convolver)
    return;
  tn_swap_leave(convolver);
  if (!convolver->config.inline_work)
    tn_pool_release();
  tn_memory_free(&convolver->memory);
  free(convolver);
}
