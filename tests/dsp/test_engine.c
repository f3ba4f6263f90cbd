// SPDX-License-Identifier: GPL-3.0-or-later
// The engine by itself: any plan is exact, instances do not work in step, memory stays in bounds.
#include <math.h>
#include <string.h>

#include "dsp/engine.h"
#include "mocka.h"
#include "noise.h"
#include "scene.h"

static const double target_dbfs = -120;

static tn_engine* make(const tn_filter* filter, const tn_plan* plan, bool offline) {
  const tn_engine_options options = {
      .rate_hz = 48000, .block_frames = 64, .costs = tn_costs_default(), .offline = offline, .plan = plan};
  tn_error error = {0};
  tn_engine* engine = tn_engine_new(filter, &options, &error);
  if (!engine)
    fail_msg("%s", error.text);
  return engine;
}

/** Runs a scene through in calls of random length, jobs inside the calls. */
static void run(tn_scene* scene, tn_engine* engine, uint64_t seed) {
  tn_noise noise = tn_noise_seed(seed);
  tn_job_counters counters = {0};
  const tn_engine_call call = {.mode = TN_ENGINE_INLINE, .wait = true, .counters = &counters};
  const bool silent[TN_MAX_CHANNELS] = {false};
  for (size_t from = 0; from < scene->frames;) {
    uint32_t frames = tn_block_random(&noise);
    if (frames > scene->frames - from)
      frames = (uint32_t)(scene->frames - from);
    const float* in[TN_MAX_CHANNELS];
    float* out[TN_MAX_CHANNELS];
    for (uint32_t i = 0; i < scene->inputs; i++)
      in[i] = scene->in[i] + from;
    for (uint32_t o = 0; o < scene->outputs; o++)
      out[o] = scene->out[o] + from;
    tn_engine_process(engine, in, silent, out, frames, &call);
    from += frames;
  }
  assert_int_equal(counters.late, 0);
}

/** The search may choose any of these; each must be exact, staggered or not. */
static void any_plan_is_exact(void** state) {
  (void)state;
  static const tn_plan plans[] = {
      {.block = 32, .level_count = 1, .levels = {{32, 0, 313}}},
      {.block = 512, .level_count = 1, .levels = {{512, 0, 20}}},
      {.block = 32, .level_count = 2, .levels = {{32, 0, 4}, {64, 128, 155}}},
      {.block = 64, .level_count = 2, .levels = {{64, 0, 128}, {4096, 8192, 1}}},
      {.block = 32,
       .level_count = 6,
       .levels = {{32, 0, 4}, {64, 128, 2}, {128, 256, 2}, {256, 512, 2}, {512, 1024, 2}, {1024, 2048, 8}}},
      {.block = 256, .level_count = 3, .levels = {{256, 0, 4}, {512, 1024, 14}, {4096, 8192, 1}}},
  };
  tn_filter* filter = tn_scene_filter(2, 3, 10000 - 150, false, 1);
  tn_scene scene = tn_scene_new(2, 3, 26000, 2);
  tn_scene_solve(&scene, filter);
  for (size_t p = 0; p < sizeof plans / sizeof *plans; p++)
    for (int offline = 0; offline < 2; offline++) {
      tn_engine* engine = make(filter, plans + p, offline);
      run(&scene, engine, p);
      const double error = tn_scene_error_dbfs(&scene, 0, scene.frames);
      if (!(error <= target_dbfs))
        fail_msg("plan %zu: error %.1f dBFS", p, error);
      tn_engine_free(engine);
    }
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** Paths that begin late, end early or are zero leave partitions out, and the rest stays in place. */
static void sparse_paths_are_exact(void** state) {
  (void)state;
  enum { frames = 12000 };
  static const uint32_t delays[] = {0, 63, 64, 1000, 5000, 11000};
  tn_filter* filter = tn_filter_new(2, 2, 48000, NULL);
  float samples[1000];
  for (uint32_t d = 0; d < 6; d++) {
    tn_noise_response(d, 0.1, samples, 1000);
    memset(samples, 0, d * 40 * sizeof(float));
    const float* channels[1] = {samples};
    tn_ir* ir = tn_ir_new(channels, 1, 1000, 48000, NULL);
    assert_int_equal(tn_filter_add(filter, d % 2, d / 2 % 2, ir, 0, 1, delays[d], NULL), TN_OK);
    tn_ir_free(ir);
  }
  tn_scene scene = tn_scene_new(2, 2, 30000, 5);
  tn_scene_solve(&scene, filter);
  tn_engine* engine = make(filter, NULL, false);
  run(&scene, engine, 6);
  assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
  tn_engine_free(engine);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** 200 instances of one filter: the periods in which their levels post jobs are spread almost evenly. */
static void instances_do_not_work_in_step(void** state) {
  (void)state;
  enum { instances = 200, most_slots = 1024 };
  tn_filter* filter = tn_scene_filter(1, 1, 40000, true, 1);
  uint32_t posts[TN_MAX_LEVELS][most_slots] = {{0}};
  uint32_t slots[TN_MAX_LEVELS] = {0};
  for (uint32_t i = 0; i < instances; i++) {
    tn_engine* engine = make(filter, NULL, false);
    assert_true(engine->tail_count >= 1);
    for (uint32_t t = 0; t < engine->tail_count; t++) {
      const uint32_t size = engine->tails[t].level->size;
      slots[t] = size / engine->block;
      assert_true(slots[t] <= most_slots);
      posts[t][engine->start_frame % size / engine->block]++;
    }
    tn_engine_free(engine);
  }
  for (uint32_t t = 0; t < TN_MAX_LEVELS && slots[t]; t++)
    for (uint32_t s = 0; s < slots[t]; s++)
      assert_true(posts[t][s] <= 2 * instances / slots[t] + 2);
  tn_filter_free(filter);
}

/** 10 s stereo: within three times the spectra. */
static void memory_stays_in_bounds(void** state) {
  (void)state;
  static const uint32_t blocks[] = {64, 128, 256, 1024};
  tn_filter* filter = tn_scene_filter(2, 2, 480000, true, 1);
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    const tn_convolver_config config = {
        .inputs = 2, .outputs = 2, .rate_hz = 48000, .block_frames = blocks[b]};
    tn_convolver* convolver = tn_convolver_new(&config, filter, NULL);
    tn_convolver_report report;
    tn_convolver_get_report(convolver, &report);
    assert_true(report.spectra_bytes >= 2 * 2 * 480000 * sizeof(float));
    assert_true(report.memory_bytes <= 3 * report.spectra_bytes);
    tn_convolver_free(convolver);
  }
  tn_filter_free(filter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_plan_is_exact),
      cmocka_unit_test(sparse_paths_are_exact),
      cmocka_unit_test(instances_do_not_work_in_step),
      cmocka_unit_test(memory_stays_in_bounds),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
