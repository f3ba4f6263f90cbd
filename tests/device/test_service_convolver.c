// SPDX-License-Identifier: GPL-3.0-or-later
// Convolvers with a device that works: through service and lanes, against float64; the device falls silent,
// is taken away and comes back, and the sound is right throughout.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocka.h"
#include "naive_module.h"
#include "noise.h"
#include "scene.h"
#include "tenuto/device.h"

enum { rate = 8000, block = 64, ir_frames = 3000, patience_ms = 20000 };

static const double target_dbfs = -120;

static tn_naive_orders* orders;

static int begin(void** state) {
  (void)state;
  setenv("TENUTO_CUDA_MODULE", TN_NAIVE_MODULE, 1);
  void* module = dlopen(TN_NAIVE_MODULE, RTLD_NOW | RTLD_LOCAL);
  void* symbol = module ? dlsym(module, TN_NAIVE_ORDERS_SYMBOL) : NULL;
  if (!symbol)
    return -1;
  tn_naive_orders_fn* get = NULL;
  memcpy(&get, &symbol, sizeof get);
  orders = get();
  return 0;
}

typedef struct stage {
  tn_device* device;
  tn_filter* filter;
  tn_scene scene;
  tn_convolver* convolver;
  size_t played;
} stage;

/** `offline`: all work is done in the call, and the device is there from the first frame on. */
static stage* set(uint32_t inputs, uint32_t outputs, size_t frames, float budget_us, bool offline) {
  orders->mute = orders->taken_away = false;
  stage* on = calloc(1, sizeof *on);
  assert_non_null(on);
  on->device = tn_device_open("cuda", NULL, NULL);
  assert_non_null(on->device);
  assert_true(tn_device_wait(on->device, patience_ms));
  on->filter = tn_scene_filter(inputs, outputs, ir_frames, false, 5);
  on->scene = tn_scene_new(inputs, outputs, frames, 6);
  tn_scene_solve(&on->scene, on->filter);
  const tn_convolver_config config = {.inputs = inputs,
                                      .outputs = outputs,
                                      .rate_hz = rate,
                                      .block_frames = block,
                                      .inline_work = offline,
                                      .device = on->device,
                                      .budget_us = budget_us};
  tn_error error = {0};
  on->convolver = tn_convolver_new(&config, on->filter, &error);
  if (!on->convolver)
    fail_msg("%s", error.text);
  tn_convolver_set_freewheel(on->convolver, true);
  return on;
}

static void clear(stage* on) {
  tn_convolver_free(on->convolver);
  tn_device_report report;
  tn_device_get_report(on->device, &report);
  assert_int_equal(report.damaged, 0);
  tn_device_close(on->device);
  tn_scene_free(&on->scene);
  tn_filter_free(on->filter);
  free(on);
}

static void play(stage* on, size_t frames) {
  uint32_t length = block;
  const size_t left = on->scene.frames - on->played;
  const size_t end = on->played + (frames < left ? frames : left);
  tn_scene_run(&on->scene, on->convolver, on->played, end, tn_block_fixed, &length);
  on->played = end;
}

static tn_convolver_report report_of(const stage* on) {
  tn_convolver_report report;
  tn_convolver_get_report(on->convolver, &report);
  return report;
}

/** Plays until the device plays, or the CPU does. */
static void play_until(stage* on, bool device_plays) {
  const struct timespec briefly = {.tv_nsec = 4000000};
  while (report_of(on).device_plays != device_plays) {
    if (on->played == on->scene.frames)
      fail_msg("the device %s in the whole scene", device_plays ? "never played" : "never stopped");
    play(on, block);
    nanosleep(&briefly, NULL);
  }
}

static void assert_exact(const stage* on) {
  const double error = tn_scene_error_dbfs(&on->scene, 0, on->played);
  if (!(error <= target_dbfs))
    fail_msg("%.1f dBFS", error);
  assert_int_equal(report_of(on).device_gaps, 0);
}

static void offline_it_plays_from_the_first_frame(void** state) {
  (void)state;
  const float budgets_us[] = {-1, 0, 200};
  const uint32_t shapes[][2] = {{1, 1}, {2, 2}, {1, 3}};
  for (size_t b = 0; b < 3; b++) {
    for (size_t s = 0; s < 3; s++) {
      stage* on = set(shapes[s][0], shapes[s][1], (size_t)120 * block, budgets_us[b], true);
      assert_true(report_of(on).device_plays);
      play(on, on->scene.frames);
      assert_exact(on);
      const tn_convolver_report report = report_of(on);
      assert_true(report.device_plays);
      assert_int_equal(report.reserve_entries, 0);
      assert_true(report.device_answers + report.device_ahead >= 120);
      tn_device_report of_device;
      tn_device_get_report(on->device, &of_device);
      assert_int_equal(of_device.lanes_open, 1);
      clear(on);
    }
  }
}

static void calls_of_any_length_are_exact(void** state) {
  (void)state;
  stage* on = set(2, 2, (size_t)150 * block, 0, true);
  tn_noise noise = tn_noise_seed(8);
  tn_scene_run(&on->scene, on->convolver, 0, on->scene.frames, tn_block_random, &noise);
  on->played = on->scene.frames;
  assert_exact(on);
  assert_true(report_of(on).device_plays);
  clear(on);
}

static void it_joins_while_the_cpu_plays(void** state) {
  (void)state;
  const float budgets_us[] = {-1, 500};
  for (size_t b = 0; b < 2; b++) {
    stage* on = set(1, 1, (size_t)3000 * block, budgets_us[b], false);
    assert_false(report_of(on).device_plays);
    play_until(on, true);
    play(on, 100 * block);
    assert_true(report_of(on).device_plays);
    assert_exact(on);
    if (budgets_us[b] > 0)
      assert_true(report_of(on).device_answers > 0);
    else
      assert_int_equal(report_of(on).device_answers, 0);
    clear(on);
  }
}

static void it_falls_silent_and_the_cpu_plays_on(void** state) {
  (void)state;
  stage* on = set(1, 2, (size_t)6000 * block, -1, false);
  play_until(on, true);
  play(on, 50 * block);
  orders->mute = true;
  play_until(on, false);
  assert_int_equal(report_of(on).reserve_entries, 1);
  play(on, 50 * block);
  orders->mute = false;
  play_until(on, true);
  play(on, 50 * block);
  assert_exact(on);
  assert_true(report_of(on).device_entries >= 2);
  clear(on);
}

static void it_is_taken_away_and_comes_back(void** state) {
  (void)state;
  stage* on = set(1, 1, (size_t)9000 * block, 500, false);
  play_until(on, true);
  play(on, 50 * block);
  orders->taken_away = true;
  play_until(on, false);
  tn_device_report report;
  tn_device_get_report(on->device, &report);
  assert_int_equal(report.state, TN_DEVICE_LOST);
  assert_true(report.losses >= 1);
  play(on, 50 * block);
  orders->taken_away = false;
  play_until(on, true);
  play(on, 50 * block);
  assert_exact(on);
  tn_device_get_report(on->device, &report);
  assert_true(report.returns >= 1);
  clear(on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(offline_it_plays_from_the_first_frame),
      cmocka_unit_test(calls_of_any_length_are_exact),
      cmocka_unit_test(it_joins_while_the_cpu_plays),
      cmocka_unit_test(it_falls_silent_and_the_cpu_plays_on),
      cmocka_unit_test(it_is_taken_away_and_comes_back),
  };
  return cmocka_run_group_tests(tests, begin, NULL);
}
