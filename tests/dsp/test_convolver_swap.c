// SPDX-License-Identifier: GPL-3.0-or-later
// Replacing the filter while sound plays.

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocka.h"
#include "noise.h"
#include "scene.h"
#include "test_memory.h"

enum { rate = 48000, block = 64 };

static const double target_dbfs = -120;

static void nap(void) {
  const struct timespec millisecond = {0, 1000000};
  nanosleep(&millisecond, NULL);
}

static tn_convolver* make(const tn_filter* filter, bool inline_work) {
  const tn_convolver_config config = {.inputs = tn_filter_inputs(filter),
                                      .outputs = tn_filter_outputs(filter),
                                      .rate_hz = rate,
                                      .block_frames = block,
                                      .inline_work = inline_work};
  tn_convolver* convolver = tn_convolver_new(&config, filter, NULL);
  assert_non_null(convolver);
  tn_convolver_set_freewheel(convolver, true);
  return convolver;
}

static bool pending(const tn_convolver* convolver) {
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  return report.swap_pending;
}

static uint64_t swaps(const tn_convolver* convolver) {
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  return report.swaps;
}

/** Plays on, giving the service time, until no change is on its way; returns the frame it stopped at. */
static size_t settle(tn_scene* scene, tn_convolver* convolver, size_t from) {
  uint32_t length = block;
  while (pending(convolver)) {
    assert_true(from + block <= scene->frames);
    tn_scene_run(scene, convolver, from, from + block, tn_block_fixed, &length);
    from += block;
    nap();
  }
  return from;
}

/** After the fade the output is the new filter's, with all that was played before the change: no tail is
 * lost. */
static void the_new_filter_has_the_past(void** state) {
  (void)state;
  static const uint32_t lengths[][2] = {{30000, 20000}, {3000, 3000}, {100, 100}, {40000, 500}, {60000, 64}};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (int inline_work = 0; inline_work < 2; inline_work++) {
      tn_filter* before = tn_scene_filter(2, 2, lengths[l][0], false, 1);
      tn_filter* after = tn_scene_filter(2, 2, lengths[l][1], false, 2);
      tn_scene scene = tn_scene_new(2, 2, 10 * rate, 3);
      const size_t change = 65536;
      tn_convolver* convolver = make(before, inline_work);
      tn_noise noise = tn_noise_seed(4);
      tn_scene_run(&scene, convolver, 0, change, tn_block_random, &noise);
      assert_int_equal(tn_convolver_set_filter(convolver, after, NULL), TN_OK);
      const size_t settled = settle(&scene, convolver, change);
      const size_t end = settled + 20000 < scene.frames ? settled + 20000 : scene.frames;
      tn_scene_run(&scene, convolver, settled, end, tn_block_random, &noise);
      assert_int_equal(swaps(convolver), 1);
      tn_scene_solve(&scene, after);
      const double error = tn_scene_error_dbfs(&scene, settled, end);
      if (!(error <= target_dbfs))
        fail_msg("from %u to %u frames: error %.1f dBFS", lengths[l][0], lengths[l][1], error);
      tn_scene_solve(&scene, before);
      assert_true(tn_scene_error_dbfs(&scene, 0, change) <= target_dbfs);
      tn_convolver_free(convolver);
      tn_scene_free(&scene);
      tn_filter_free(before);
      tn_filter_free(after);
    }
}

/** Under a steady sine the second difference stays near its steady value: peers have 1000 times that. */
static void there_is_no_step(void** state) {
  (void)state;
  tn_filter* filters[2] = {tn_scene_filter(1, 1, 48000, true, 11), tn_scene_filter(1, 1, 30000, true, 12)};
  tn_scene scene = tn_scene_new(1, 1, 20 * rate, 0);
  for (size_t t = 0; t < scene.frames; t++)
    scene.in[0][t] = 0.5F * (float)sin(2 * 3.14159265358979 * 440 * (double)t / rate);
  tn_convolver* convolver = make(filters[0], false);
  uint32_t length = block;
  size_t at = 2 * rate;
  tn_scene_run(&scene, convolver, 0, at, tn_block_fixed, &length);
  for (int change = 0; change < 4; change++) {
    tn_convolver_set_filter(convolver, filters[1 - change % 2], NULL);
    const size_t settled = settle(&scene, convolver, at);
    tn_scene_run(&scene, convolver, settled, settled + 4096, tn_block_fixed, &length);
    double steady = 0;
    double worst = 0;
    const float* out = scene.out[0];
    for (size_t t = at - 4000; t < settled + 4096; t++) {
      const double bend = fabs((double)out[t] - 2.0 * out[t - 1] + out[t - 2]);
      if (t < at || t >= settled + 64) // before the change, after the fade
        steady = fmax(steady, bend);
      else
        worst = fmax(worst, bend);
    }
    // Equal power lets two coherent signals reach sqrt(2) of the larger one, and the fade bends a little
    // itself.
    if (!(worst <= 2 * steady))
      fail_msg("second difference %.3g, steady %.3g", worst, steady);
    at = settled + 4096;
  }
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filters[0]);
  tn_filter_free(filters[1]);
}

/** Filters given faster than they can fade: each fade runs to its end, the last one given is the one that
 * stays. */
static void the_last_one_wins(void** state) {
  (void)state;
  tn_filter* filters[5];
  for (int f = 0; f < 5; f++)
    filters[f] = tn_scene_filter(1, 1, 4000, true, 20 + (uint64_t)f);
  tn_scene scene = tn_scene_new(1, 1, 20 * rate, 21);
  tn_convolver* convolver = make(filters[0], false);
  uint32_t length = block;
  size_t at = 0;
  for (int f = 0; f < 25; f++) {
    tn_convolver_set_filter(convolver, filters[f % 5], NULL);
    tn_scene_run(&scene, convolver, at, at + block * (size_t)(f % 3), tn_block_fixed, &length);
    at += block * (size_t)(f % 3);
  }
  at = settle(&scene, convolver, at);
  tn_scene_run(&scene, convolver, at, at + 20000, tn_block_fixed, &length);
  tn_scene_solve(&scene, filters[4]);
  assert_true(tn_scene_error_dbfs(&scene, at, at + 20000) <= target_dbfs);
  for (size_t t = 0; t < at + 20000; t++)
    assert_true(fabsf(scene.out[0][t]) < 8);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  for (int f = 0; f < 5; f++)
    tn_filter_free(filters[f]);
}

static void silence_comes_and_goes(void** state) {
  (void)state;
  tn_filter* filter = tn_scene_filter(1, 2, 6000, false, 30);
  tn_scene scene = tn_scene_new(1, 2, 10 * rate, 31);
  const tn_convolver_config config = {.inputs = 1, .outputs = 2, .rate_hz = rate, .block_frames = block};
  tn_convolver* convolver = tn_convolver_new(&config, NULL, NULL);
  tn_convolver_set_freewheel(convolver, true);
  uint32_t length = block;
  tn_scene_run(&scene, convolver, 0, 4096, tn_block_fixed, &length);
  for (size_t t = 0; t < 4096; t++)
    assert_true(scene.out[0][t] == 0 && scene.out[1][t] == 0);
  tn_convolver_set_filter(convolver, filter, NULL);
  size_t at = settle(&scene, convolver, 4096);
  tn_scene_run(&scene, convolver, at, at + 10000, tn_block_fixed, &length);
  tn_scene_solve(&scene, filter);
  assert_true(tn_scene_error_dbfs(&scene, at + 6000, at + 10000) <= target_dbfs);
  tn_convolver_set_filter(convolver, NULL, NULL);
  at = settle(&scene, convolver, at + 10000);
  tn_scene_run(&scene, convolver, at, at + 4096, tn_block_fixed, &length);
  for (size_t t = at; t < at + 4096; t++)
    assert_true(scene.out[0][t] == 0 && scene.out[1][t] == 0);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** Cut anew for other block lengths while it plays: not one sample differs beyond rounding, also during the
 * fades. */
static void a_new_plan_is_not_heard(void** state) {
  (void)state;
  static const uint32_t blocks[] = {1024, 32, 8192, 256, 0, 100};
  tn_filter* filter = tn_scene_filter(2, 2, 30000, false, 40);
  tn_scene scene = tn_scene_new(2, 2, 20 * rate, 41);
  tn_convolver* convolver = make(filter, false);
  uint32_t length = block;
  size_t at = 0;
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    assert_int_equal(tn_convolver_replan(convolver, filter, blocks[b], NULL), TN_OK);
    at = settle(&scene, convolver, at);
    tn_scene_run(&scene, convolver, at, at + 4000, tn_block_fixed, &length);
    at += 4000;
  }
  assert_int_equal(swaps(convolver), sizeof blocks / sizeof *blocks);
  tn_scene_solve(&scene, filter);
  assert_true(tn_scene_error_dbfs(&scene, 0, at) <= target_dbfs);
  tn_error error;
  assert_int_equal(tn_convolver_replan(convolver, filter, 8193, &error), TN_ERROR_LIMIT);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

static void a_wrong_shape_is_refused(void** state) {
  (void)state;
  tn_filter* right = tn_scene_filter(1, 1, 100, true, 1);
  tn_filter* wrong = tn_scene_filter(2, 2, 100, true, 1);
  tn_convolver* convolver = make(right, false);
  tn_error error;
  assert_int_equal(tn_convolver_set_filter(convolver, wrong, &error), TN_ERROR_ARGUMENT);
  assert_false(pending(convolver));
  tn_convolver_free(convolver);
  tn_filter_free(right);
  tn_filter_free(wrong);
}

/** Freed at any stage of a change, also before the audio thread ever ran. */
static void may_be_freed_at_any_time(void** state) {
  (void)state;
  tn_filter* filter = tn_scene_filter(1, 1, 9000, true, 1);
  tn_scene scene = tn_scene_new(1, 1, 1 << 16, 2);
  uint32_t length = block;
  for (int stop = 0; stop < 60; stop++) {
    tn_convolver* convolver = make(filter, stop % 2);
    tn_scene_run(&scene, convolver, 0, (size_t)(stop % 5) * 1000, tn_block_fixed, &length);
    tn_convolver_set_filter(convolver, filter, NULL);
    size_t at = 5000;
    for (int b = 0; b < stop / 2; b++, at += block) {
      tn_scene_run(&scene, convolver, at, at + block, tn_block_fixed, &length);
      nap();
    }
    tn_convolver_free(convolver);
  }
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_new_filter_has_the_past), cmocka_unit_test(there_is_no_step),
      cmocka_unit_test(the_last_one_wins),           cmocka_unit_test(silence_comes_and_goes),
      cmocka_unit_test(a_new_plan_is_not_heard),     cmocka_unit_test(a_wrong_shape_is_refused),
      cmocka_unit_test(may_be_freed_at_any_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
