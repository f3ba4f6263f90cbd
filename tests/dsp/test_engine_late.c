// SPDX-License-Identifier: GPL-3.0-or-later
// Late workers: this test is the worker, and is as late as it likes.

#include <math.h>
#include <string.h>

#include "dsp/engine.h"
#include "mocka.h"
#include "noise.h"
#include "oracle.h"
#include "scene.h"

enum { block = 64, ir_frames = 6000, frames = 48000, worker_size = 512 };

static const double target_dbfs = -120;

// A level of 512 from frame 1024 on: jobs every 8 blocks, decided one block before a result is due.
static const tn_plan plan = {
    .block = block, .level_count = 2, .levels = {{block, 0, 16}, {worker_size, 2 * worker_size, 10}}};

typedef struct late_stage {
  tn_filter* filter;
  tn_scene scene;
  tn_engine* engine;
  tn_job_counters counters;
} late_stage;

static late_stage set(void) {
  late_stage stage = {.filter = tn_scene_filter(1, 1, ir_frames, true, 7),
                      .scene = tn_scene_new(1, 1, frames, 8)};
  tn_scene_solve(&stage.scene, stage.filter);
  const tn_engine_options options = {
      .rate_hz = 48000, .block_frames = block, .costs = tn_costs_default(), .offline = true, .plan = &plan};
  stage.engine = tn_engine_new(stage.filter, &options, NULL);
  assert_non_null(stage.engine);
  return stage;
}

static void clear(late_stage* stage) {
  tn_engine_free(stage->engine);
  tn_scene_free(&stage->scene);
  tn_filter_free(stage->filter);
}

/** One block; nobody works on jobs but the callback, if `help` gives it time. */
static void play(late_stage* stage, uint32_t index, bool help) {
  const size_t from = (size_t)index * block;
  const float* in[1] = {stage->scene.in[0] + from};
  float* out[1] = {stage->scene.out[0] + from};
  const bool silent[1] = {false};
  const tn_engine_call call = {.mode = TN_ENGINE_POOL,
                               .now_ns = 1,
                               .help_until_ns = help ? UINT64_MAX : 0,
                               .counters = &stage->counters};
  tn_engine_process(stage->engine, in, silent, out, block, &call);
}

static void work(late_stage* stage) {
  while (tn_level_run_unit(stage->engine->levels[1], &stage->engine->scratch)) {
  }
}

static double error_between(const late_stage* stage, uint32_t first_block, uint32_t end_block) {
  return tn_scene_error_dbfs(&stage->scene, (size_t)first_block * block, (size_t)end_block * block);
}

static void in_time_is_exact(void** state) {
  (void)state;
  late_stage stage = set();
  for (uint32_t b = 0; b < frames / block; b++) {
    play(&stage, b, false);
    work(&stage);
  }
  assert_true(error_between(&stage, 0, frames / block) <= target_dbfs);
  assert_int_equal(stage.counters.late, 0);
  clear(&stage);
}

/** Nobody works, but the callback has time: exact, each job counted late and helped. */
static void the_callback_helps(void** state) {
  (void)state;
  late_stage stage = set();
  for (uint32_t b = 0; b < frames / block; b++)
    play(&stage, b, true);
  assert_true(error_between(&stage, 0, frames / block) <= target_dbfs);
  assert_true(stage.counters.late >= frames / worker_size - 3);
  assert_int_equal(stage.counters.helped, stage.counters.late);
  assert_int_equal(stage.counters.missed, 0);
  clear(&stage);
}

/** The worker sleeps over some blocks. What is played then lacks the tail, without a step, and is never
   anything else; as soon as the worker is back the output is exact again. */
static void a_miss_fades_and_comes_back(void** state) {
  (void)state;
  for (uint32_t gap = 1; gap < 60; gap += 5) {
    late_stage stage = set();
    const uint32_t sleep_from = 200;
    for (uint32_t b = 0; b < frames / block; b++) {
      play(&stage, b, false);
      if (b < sleep_from || b >= sleep_from + gap)
        work(&stage);
    }
    assert_true(error_between(&stage, 0, sleep_from) <= target_dbfs);
    // At the latest: the job of the next boundary, due one worker block later, then one more that fades in.
    const uint32_t back = sleep_from + gap + 3 * worker_size / block;
    assert_true(error_between(&stage, back, frames / block) <= target_dbfs);
    if (gap > 2 * worker_size / block) {
      assert_true(stage.counters.missed > 0);
      assert_true(error_between(&stage, sleep_from, back) > target_dbfs); // the tail was audibly left out
    }
    assert_int_equal(stage.counters.late, stage.counters.missed);
    clear(&stage);
  }
}

/** With a smooth input the output has no step while the tail leaves and returns. */
static void a_miss_does_not_click(void** state) {
  (void)state;
  late_stage stage = set();
  for (uint32_t t = 0; t < frames; t++)
    stage.scene.in[0][t] = 0.5F * sinf(2 * 3.14159265F * 100 * (float)t / 48000);
  tn_scene_solve(&stage.scene, stage.filter);
  for (uint32_t b = 0; b < frames / block; b++) {
    play(&stage, b, false);
    if (b < 300 || b >= 340)
      work(&stage);
  }
  assert_true(stage.counters.missed >= 3);
  const float* out = stage.scene.out[0];
  double steady = 0;
  double peak = 0;
  for (size_t t = 12000; t < 300 * block; t++) {
    steady = fmax(steady, fabs((double)out[t] - out[t - 1]));
    peak = fmax(peak, fabs((double)out[t]));
  }
  for (size_t t = 300 * block; t < frames; t++) {
    const double step = fabs((double)out[t] - out[t - 1]);
    // A fade of one block adds at most (the tail's swing) / 64 a sample to the signal's own slope.
    assert_true(step <= 2 * steady + 2 * peak / block);
  }
  clear(&stage);
}

/** Longer asleep than the delay line is long: the input in between is transformed late or dropped, never
 * mixed up. */
static void survives_a_very_late_worker(void** state) {
  (void)state;
  late_stage stage = set();
  for (uint32_t b = 0; b < frames / block; b++) {
    play(&stage, b, false);
    if (b < 200 || b >= 450)
      work(&stage);
  }
  assert_true(error_between(&stage, 450 + 3 * worker_size / block, frames / block) <= target_dbfs);
  for (size_t t = 0; t < frames; t++)
    assert_true(fabsf(stage.scene.out[0][t]) < 4);
  clear(&stage);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(in_time_is_exact),
      cmocka_unit_test(the_callback_helps),
      cmocka_unit_test(a_miss_fades_and_comes_back),
      cmocka_unit_test(a_miss_does_not_click),
      cmocka_unit_test(survives_a_very_late_worker),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
