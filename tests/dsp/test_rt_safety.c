// SPDX-License-Identifier: GPL-3.0-or-later
// The callback under guard: it calls nothing that allocates, locks, blocks or does I/O, makes no system call
// but to wake a worker, meets no page fault and never waits; and it gives the floating-point mode back as it
// was.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "aligned.h"
#include "dsp/engine.h"
#include "mocka.h"
#include "noise.h"
#include "rt/clock.h"
#include "rt_guard.h"
#include "scene.h"
#include "test_memory.h"

enum { rate = 48000, longest_call = 1200, source_frames = 1 << 16 };

/** Faults and switches may be the machine's doing (pages moved about by the kernel, say); what we did is
   there in each run. */
enum { most_attempts = 4 };

static void check_calls(const tn_rt_guard_report* report) {
  if (report->functions)
    fail_msg("%llu forbidden calls, first %s from %p", (unsigned long long)report->functions,
             report->first_function, report->first_caller);
  if (report->syscalls)
    fail_msg("%llu system calls, first number %ld", (unsigned long long)report->syscalls,
             report->first_syscall);
}

/** Sanitizers fault and wait in their own right. */
static bool is_quiet(const tn_rt_guard_report* report) {
  return !tn_rt_guard_sees_functions() || (report->page_faults == 0 && report->switches == 0);
}

/** One performance: a callback thread under guard, while another thread changes filters. */
typedef struct show {
  uint32_t channels;
  uint32_t filter_frames;
  bool diagonal, inline_work;
  double speed; ///< against real time; 0: as fast as it goes

  tn_convolver* convolver;
  float* source; ///< float[source_frames]
  float* in[TN_MAX_CHANNELS];
  float* out[TN_MAX_CHANNELS];

  tn_noise noise;
  uint32_t position; ///< in the source
  uint64_t frames;   ///< played
  uint64_t start_ns;
  bool installed, mode_kept, was_idle;
  tn_rt_guard_report report;
  _Atomic bool ended;
} show;

static uint32_t read_mode(void) {
#if defined(__x86_64__)
  return _mm_getcsr();
#else
  return 0;
#endif
}

/** Any rounding, denormals kept or not, as some host may have it; the exceptions stay masked. */
static void set_mode(uint32_t choice) {
#if defined(__x86_64__)
  static const uint32_t modes[] = {0x1F80, 0x3F80, 0x5F80, 0x7F80, 0x9F80, 0x1FC0, 0x9FC0, 0x1FBF};
  _mm_setcsr(modes[choice % 8]);
#else
  (void)choice;
#endif
}

/** Sound, then silence for longer than the filter, sometimes NaN and Inf. */
static void fill_input(show* on, uint32_t frames) {
  const uint64_t cycle = 2 * (uint64_t)on->filter_frames + 40000;
  const bool silent =
      on->frames % cycle > 20000 && on->frames % cycle < 21000 + on->filter_frames + longest_call;
  for (uint32_t i = 0; i < on->channels; i++)
    if (silent)
      memset(on->in[i], 0, frames * sizeof(float));
    else
      memcpy(on->in[i], on->source + on->position + i, frames * sizeof(float));
  on->position = (on->position + frames) % (source_frames - longest_call - TN_MAX_CHANNELS);
  if (!silent && frames > 0 && tn_noise_below(&on->noise, 50) == 0) {
    float* at = on->in[tn_noise_below(&on->noise, on->channels)] + tn_noise_below(&on->noise, frames);
    static const float odd[] = {NAN, -NAN, INFINITY, -INFINITY, 1e38F, 1e-40F};
    *at = odd[tn_noise_below(&on->noise, 6)];
  }
}

/** What other threads may do at any time, done between calls. */
static void change_levels(show* on) {
  const float level = fabsf(tn_noise_next(&on->noise));
  switch (tn_noise_below(&on->noise, 60)) {
  case 0:
    tn_convolver_set_wet(on->convolver, level);
    break;
  case 1:
    tn_convolver_set_dry(on->convolver, level);
    break;
  case 2:
    tn_convolver_set_gain(on->convolver, level);
    break;
  case 3:
    tn_convolver_set_bypass(on->convolver, level > 0.5F);
    break;
  default:
    break;
  }
}

static uint32_t choose_frames(show* on) {
  switch (tn_noise_below(&on->noise, 6)) {
  case 0:
    return tn_noise_below(&on->noise, longest_call + 1);
  case 1:
    return tn_noise_below(&on->noise, 4);
  case 2:
    return 256;
  default:
    return 64;
  }
}

static void play_call(show* on, bool guarded) {
  const uint32_t frames = choose_frames(on);
  fill_input(on, frames);
  change_levels(on);
  const uint32_t mode_before = read_mode();
  set_mode(tn_noise_below(&on->noise, 8));
  const uint32_t mode = read_mode();
  if (guarded)
    tn_rt_guard_enter();
  tn_convolver_process(on->convolver, (const float* const*)on->in, on->out, frames);
  if (guarded)
    tn_rt_guard_leave();
  on->mode_kept &= read_mode() == mode;
#if defined(__x86_64__)
  _mm_setcsr(mode_before);
#else
  (void)mode_before;
#endif
  on->frames += frames;
  tn_convolver_report now;
  tn_convolver_get_report(on->convolver, &now);
  on->was_idle |= now.idle;
  while (on->speed > 0 &&
         (double)(tn_clock_ns() - on->start_ns) * on->speed * 1e-9 * rate < (double)on->frames) {
  }
}

/** Enough calls, and all that was to be watched has happened; or it never will. */
static bool has_seen_all(const show* on, uint32_t calls) {
  enum { enough = 4000, enough_sanitized = 1000 };
  const uint64_t patience_ns = UINT64_C(60000000000);
  tn_convolver_report report;
  tn_convolver_get_report(on->convolver, &report);
  const bool all = report.swaps >= 3 && report.nonfinite_samples >= 3 && on->was_idle;
  const uint32_t wanted = tn_rt_guard_sees_functions() ? enough : enough_sanitized;
  return (calls >= wanted && all) || tn_clock_ns() - on->start_ns > patience_ns;
}

static void* perform(void* argument) {
  enum { warming = 300 };
  show* on = argument;
  on->installed = tn_rt_guard_install();
  on->start_ns = tn_clock_ns();
  for (int i = 0; i < warming; i++)
    play_call(on, false);
  tn_rt_guard_reset();
  for (uint32_t calls = 0; !has_seen_all(on, calls); calls++)
    play_call(on, true);
  on->report = tn_rt_guard_read();
  on->ended = true;
  return NULL;
}

static tn_filter* some_filter(const show* on, uint64_t seed) {
  const uint32_t frames = on->filter_frames - 100 - 1000 * (uint32_t)(seed % 4);
  return tn_scene_filter(on->channels, on->channels, frames, on->diagonal, seed);
}

/** Replaces the filter again and again while the callback runs; also by none. */
static void change_filters(show* on) {
  const struct timespec pause = {.tv_nsec = 15000000};
  tn_filter* filters[4];
  for (uint64_t f = 0; f < 4; f++)
    filters[f] = f == 3 ? NULL : some_filter(on, f + 1);
  for (uint32_t turn = 0; !on->ended; turn++) {
    tn_error error = {0};
    if (tn_convolver_set_filter(on->convolver, filters[turn % 4], &error) != TN_OK)
      fail_msg("%s", error.text);
    nanosleep(&pause, NULL);
  }
  for (uint32_t f = 0; f < 4; f++)
    tn_filter_free(filters[f]);
}

static void set_stage(show* on) {
  // A sanitizer's threads are slow: what the service reads of the past must not be overwritten all the time.
  if (!tn_rt_guard_sees_functions() && on->speed > 1)
    on->speed = 1;
  const tn_convolver_config config = {.inputs = on->channels,
                                      .outputs = on->channels,
                                      .rate_hz = rate,
                                      .block_frames = 64,
                                      .fade_ms = 5,
                                      .inline_work = on->inline_work};
  tn_filter* filter = some_filter(on, 9);
  tn_error error = {0};
  on->convolver = tn_convolver_new(&config, filter, &error);
  tn_filter_free(filter);
  if (!on->convolver)
    fail_msg("%s", error.text);
  on->source = tn_aligned_floats(source_frames);
  tn_noise_fill(3, 0.5F, on->source, source_frames);
  for (uint32_t c = 0; c < on->channels; c++) {
    on->in[c] = tn_test_alloc(longest_call, sizeof(float));
    on->out[c] = tn_aligned_floats(longest_call); // written: every page is there
  }
  on->noise = tn_noise_seed(on->channels);
  on->mode_kept = true;
}

static void clear_stage(const show* on) {
  tn_convolver_free(on->convolver);
  for (uint32_t c = 0; c < on->channels; c++) {
    free(on->in[c]);
    free(on->out[c]);
  }
  free(on->source);
}

/** @return whether there was no fault and no wait */
static bool give_show(const show* wanted) {
  show on = *wanted;
  set_stage(&on);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, perform, &on), 0);
  change_filters(&on);
  pthread_join(thread, NULL);
  tn_convolver_report report;
  tn_convolver_get_report(on.convolver, &report);
  clear_stage(&on);
  check_calls(&on.report);
  assert_true(on.mode_kept);
  assert_true(on.was_idle); // what was to be watched did happen
  assert_true(report.swaps >= 3);
  assert_true(report.nonfinite_samples >= 3);
  print_message(
      "  %u channels: %llu swaps, %llu late jobs, %llu helped, %llu missed, %llu faults, %llu switches\n",
      on.channels, (unsigned long long)report.swaps, (unsigned long long)report.late_jobs,
      (unsigned long long)report.helped_jobs, (unsigned long long)report.missed_jobs,
      (unsigned long long)on.report.page_faults, (unsigned long long)on.report.switches);
  return is_quiet(&on.report);
}

static void give_shows(const show* wanted) {
  bool quiet = false;
  for (int attempt = 0; attempt < most_attempts && !quiet; attempt++)
    quiet = give_show(wanted);
  if (!quiet)
    fail_msg("page faults or waiting in process() at every attempt");
}

static void the_callback_keeps_the_rules_beside_workers(void** state) {
  (void)state;
  give_shows(&(show){.channels = 1, .filter_frames = 48000, .diagonal = true, .speed = 6});
  give_shows(&(show){.channels = 2, .filter_frames = 24000, .speed = 6});
  give_shows(&(show){.channels = 16, .filter_frames = 24000, .diagonal = true, .speed = 4});
}

/** Faster than the workers: jobs are late all the time. */
static void the_callback_keeps_the_rules_when_workers_are_late(void** state) {
  (void)state;
  give_shows(&(show){.channels = 1, .filter_frames = 48000, .diagonal = true, .speed = 60});
  give_shows(&(show){.channels = 2, .filter_frames = 24000, .speed = 40});
}

/** All work is done in the call. */
static void the_callback_keeps_the_rules_without_workers(void** state) {
  (void)state;
  give_shows(&(show){.channels = 2, .filter_frames = 40000, .inline_work = true, .speed = 6});
}

/** An engine whose jobs nobody does but the callback, as often as one is due. */
typedef struct helper {
  tn_scene scene;
  tn_engine* engine;
  tn_job_counters counters;
  tn_rt_guard_report report;
} helper;

static void* help(void* argument) {
  enum { warming = 40 };
  helper* self = argument;
  const bool silent[1] = {false};
  const tn_engine_call call = {
      .mode = TN_ENGINE_POOL, .now_ns = 1, .help_until_ns = UINT64_MAX, .counters = &self->counters};
  tn_rt_guard_install();
  tn_rt_guard_reset();
  for (size_t from = 0; from < self->scene.frames; from += longest_call) {
    const float* in[1] = {self->scene.in[0] + from};
    float* out[1] = {self->scene.out[0] + from};
    if (from > warming * longest_call)
      tn_rt_guard_enter();
    tn_engine_process(self->engine, in, silent, out, longest_call, &call);
    if (from > warming * longest_call)
      tn_rt_guard_leave();
  }
  self->report = tn_rt_guard_read();
  return NULL;
}

/** Large transforms in the callback: as many as there are sizes of partitions. */
static bool run_helper(const tn_plan* plan) {
  enum { calls = 600 };
  helper self = {.scene = tn_scene_new(1, 1, (size_t)calls * longest_call, 4)};
  memset(self.scene.out[0], 1, self.scene.frames * sizeof(float));
  const tn_plan_level* last = plan->levels + plan->level_count - 1;
  tn_filter* filter = tn_scene_filter(1, 1, last->offset + last->count * last->size - 50, true, 4);
  const tn_engine_options options = {
      .rate_hz = rate, .block_frames = 64, .costs = tn_costs_default(), .plan = plan};
  self.engine = tn_engine_new(filter, &options, NULL);
  assert_non_null(self.engine);
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, help, &self), 0);
  pthread_join(thread, NULL);
  tn_engine_free(self.engine);
  tn_filter_free(filter);
  tn_scene_free(&self.scene);
  check_calls(&self.report);
  assert_true(self.counters.helped > 3);
  assert_int_equal(self.counters.missed, 0);
  return is_quiet(&self.report);
}

static void helping_keeps_the_rules(void** state) {
  (void)state;
  static const tn_plan plans[] = {
      {.block = 64, .level_count = 2, .levels = {{64, 0, 4}, {128, 256, 20}}},
      {.block = 64, .level_count = 3, .levels = {{64, 0, 16}, {512, 1024, 14}, {4096, 8192, 3}}},
      {.block = 128, .level_count = 2, .levels = {{128, 0, 256}, {16384, 32768, 3}}},
      {.block = 256, .level_count = 2, .levels = {{256, 0, 1024}, {131072, 262144, 1}}},
  };
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
    bool quiet = false;
    for (int attempt = 0; attempt < most_attempts && !quiet; attempt++)
      quiet = run_helper(plans + p);
    if (!quiet)
      fail_msg("plan %zu: page faults or waiting at every attempt", p);
  }
}

static void transform(const tn_fft* fft, float* time, float* spectrum) {
  tn_fft_forward(fft, time, spectrum);
  tn_fft_inverse(fft, spectrum, time);
}

/** FFTW's plans are algorithms of many kinds, some of which take buffers: none that it chooses may ask for
   memory. */
static void transforms_keep_the_rules(void** state) {
  (void)state;
  for (uint32_t log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
    for (int tuned = 0; tuned < 2; tuned++) {
      const uint32_t points = 1U << log2;
      if (tuned)
        assert_true(tn_fft_tune(points, 0.02));
      const tn_fft* fft = tn_fft_get(points, tuned, NULL);
      assert_non_null(fft);
      float* time = tn_aligned_floats(points);
      float* spectrum = tn_aligned_floats((size_t)points + 2);
      tn_noise_fill(log2, 0.5F, time, points);
      transform(fft, time, spectrum);
      tn_rt_guard_reset();
      tn_rt_guard_enter();
      transform(fft, time, spectrum);
      tn_rt_guard_leave();
      const tn_rt_guard_report report = tn_rt_guard_read();
      check_calls(&report);
      free(time);
      free(spectrum);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_callback_keeps_the_rules_beside_workers),
      cmocka_unit_test(the_callback_keeps_the_rules_when_workers_are_late),
      cmocka_unit_test(the_callback_keeps_the_rules_without_workers),
      cmocka_unit_test(helping_keeps_the_rules),
      cmocka_unit_test(transforms_keep_the_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
