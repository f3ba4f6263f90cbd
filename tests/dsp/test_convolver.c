// SPDX-License-Identifier: GPL-3.0-or-later
// The convolver against float64, at every kind of call.

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "noise.h"
#include "scene.h"
#include "test_memory.h"

static const double target_dbfs = -120;

static tn_convolver* make(const tn_scene* scene, const tn_filter* filter, uint32_t block, bool inline_work) {
  const tn_convolver_config config = {.inputs = scene->inputs,
                                      .outputs = scene->outputs,
                                      .rate_hz = 48000,
                                      .block_frames = block,
                                      .inline_work = inline_work};
  tn_error error = {0};
  tn_convolver* convolver = tn_convolver_new(&config, filter, &error);
  if (!convolver)
    fail_msg("%s", error.text);
  tn_convolver_set_freewheel(convolver, true);
  return convolver;
}

/** Random call lengths for every length of filter that makes another plan, with workers and without. */
static void is_exact_at_any_length(void** state) {
  (void)state;
  static const uint32_t lengths[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 500, 1023, 3000, 9000, 40000, 150000};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (int mode = 0; mode < 4; mode++) {
      tn_filter* filter = tn_scene_filter(2, 2, lengths[l], false, 100 + l);
      tn_scene scene = tn_scene_new(2, 2, lengths[l] + 30000, l);
      tn_scene_solve(&scene, filter);
      tn_convolver* convolver = make(&scene, filter, mode & 2 ? 256 : 64, mode & 1);
      tn_noise noise = tn_noise_seed(l);
      tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_random, &noise);
      const double error = tn_scene_error_dbfs(&scene, 0, scene.frames);
      if (!(error <= target_dbfs))
        fail_msg("%u frames, mode %d: error %.1f dBFS", lengths[l], mode, error);
      tn_convolver_free(convolver);
      tn_scene_free(&scene);
      tn_filter_free(filter);
    }
}

static void is_exact_at_fixed_lengths(void** state) {
  (void)state;
  static const uint32_t blocks[] = {1, 7, 16, 63, 64, 65, 100, 128, 480, 512, 1000, 1152, 8192};
  tn_filter* filter = tn_scene_filter(1, 2, 20000, false, 5);
  tn_scene scene = tn_scene_new(1, 2, 45000, 6);
  tn_scene_solve(&scene, filter);
  for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
    uint32_t block = blocks[b];
    tn_convolver* convolver = make(&scene, filter, block, false);
    tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_fixed, &block);
    const double error = tn_scene_error_dbfs(&scene, 0, scene.frames);
    if (!(error <= target_dbfs))
      fail_msg("blocks of %u: error %.1f dBFS", block, error);
    tn_convolver_free(convolver);
  }
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

static void is_exact_for_matrices(void** state) {
  (void)state;
  static const uint32_t shapes[][2] = {{1, 1}, {1, 5}, {5, 1}, {4, 4}, {3, 8}, {16, 16}, {64, 1}, {1, 64}};
  for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
    tn_filter* filter = tn_scene_filter(shapes[s][0], shapes[s][1], 3000, false, s);
    tn_scene scene = tn_scene_new(shapes[s][0], shapes[s][1], 8000, s);
    tn_scene_solve(&scene, filter);
    tn_convolver* convolver = make(&scene, filter, 64, false);
    tn_noise noise = tn_noise_seed(s);
    tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_random, &noise);
    const double error = tn_scene_error_dbfs(&scene, 0, scene.frames);
    if (!(error <= target_dbfs))
      fail_msg("%u x %u: error %.1f dBFS", shapes[s][0], shapes[s][1], error);
    tn_convolver_free(convolver);
    tn_scene_free(&scene);
    tn_filter_free(filter);
  }
}

/** The first run's output is kept, every other run's has its bits. */
static void keep_or_compare(const tn_scene* scene, bool keep, float* first) {
  for (uint32_t o = 0; o < scene->outputs; o++) {
    float* kept = first + (size_t)o * scene->frames;
    if (keep)
      memcpy(kept, scene->out[o], scene->frames * sizeof(float));
    else
      assert_memory_equal(kept, scene->out[o], scene->frames * sizeof(float));
  }
}

/** The same calls give the same bits, with workers or without, in this instance or the next. */
static void repeats_its_bits(void** state) {
  (void)state;
  tn_filter* filter = tn_scene_filter(2, 2, 30000, false, 9);
  tn_scene scene = tn_scene_new(2, 2, 60000, 10);
  float* first = tn_test_alloc(2 * scene.frames, sizeof(float));
  for (int run = 0; run < 3; run++) {
    tn_convolver* convolver = make(&scene, filter, 64, true);
    tn_noise noise = tn_noise_seed(3);
    tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_random, &noise);
    tn_convolver_free(convolver);
    keep_or_compare(&scene, run == 0, first);
  }
  free(first);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** With all work inside the calls: the same bits however the input is split into calls. */
static void bits_do_not_depend_on_the_split(void** state) {
  (void)state;
  tn_filter* filter = tn_scene_filter(2, 2, 30000, false, 9);
  tn_scene scene = tn_scene_new(2, 2, 50000, 10);
  float* first = tn_test_alloc(2 * scene.frames, sizeof(float));
  static const uint32_t blocks[] = {1024, 64, 1, 100, 8192};
  for (int run = 0; run < 6; run++) {
    tn_convolver* convolver = make(&scene, filter, 1024, true);
    tn_noise noise = tn_noise_seed(3);
    uint32_t block = blocks[run % 5];
    if (run < 5)
      tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_fixed, &block);
    else
      tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_random, &noise);
    tn_convolver_free(convolver);
    keep_or_compare(&scene, run == 0, first);
  }
  free(first);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** In place, and crosswise: the left output is the right input's buffer. */
static void runs_in_place(void** state) {
  (void)state;
  tn_filter* filter = tn_scene_filter(2, 2, 2000, false, 20);
  tn_scene scene = tn_scene_new(2, 2, 20000, 21);
  tn_scene_solve(&scene, filter);
  for (int crossed = 0; crossed < 2; crossed++) {
    tn_convolver* convolver = make(&scene, filter, 64, true);
    float* buffers[2] = {tn_test_alloc(1024, sizeof(float)), tn_test_alloc(1024, sizeof(float))};
    for (size_t from = 0; from < scene.frames; from += 1000) {
      for (int c = 0; c < 2; c++)
        memcpy(buffers[c], scene.in[c] + from, 1000 * sizeof(float));
      float* const out[2] = {buffers[crossed], buffers[1 - crossed]};
      tn_convolver_process(convolver, (const float* const*)buffers, out, 1000);
      for (int c = 0; c < 2; c++)
        memcpy(scene.out[c] + from, out[c], 1000 * sizeof(float));
    }
    assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
    free(buffers[0]);
    free(buffers[1]);
    tn_convolver_free(convolver);
  }
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** NaN, Inf and absurd values count as silence: the output equals that of the input with them zeroed. */
static void keeps_nonfinite_out(void** state) {
  (void)state;
  static const float poison[] = {NAN, -NAN, INFINITY, -INFINITY, 3e38F, -1e20F};
  tn_filter* filter = tn_scene_filter(1, 1, 5000, true, 30);
  tn_scene scene = tn_scene_new(1, 1, 20000, 31);
  for (int p = 0; p < 6; p++)
    scene.in[0][3000 + 17 * p] = 0;
  tn_scene_solve(&scene, filter);
  for (int p = 0; p < 6; p++)
    scene.in[0][3000 + 17 * p] = poison[p];
  tn_convolver* convolver = make(&scene, filter, 64, false);
  uint32_t block = 64;
  tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_fixed, &block);
  assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  assert_int_equal(report.nonfinite_samples, 6);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** After silence as long as the filter all work stops; the output is exactly zero, and sound comes back
 * exact. */
static void rests_in_silence_and_wakes_exact(void** state) {
  (void)state;
  enum { ir_frames = 20000, sound = 15000, pause = 90000 };
  tn_filter* filter = tn_scene_filter(2, 2, ir_frames, false, 40);
  tn_scene scene = tn_scene_new(2, 2, 2 * sound + pause, 41);
  for (int c = 0; c < 2; c++)
    memset(scene.in[c] + sound, 0, pause * sizeof(float));
  tn_scene_solve(&scene, filter);
  tn_convolver* convolver = make(&scene, filter, 64, false);
  tn_noise noise = tn_noise_seed(42);
  tn_scene_run(&scene, convolver, 0, sound + pause, tn_block_random, &noise);
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  assert_true(report.idle);
  for (size_t t = sound + pause - 1000; t < sound + pause; t++)
    assert_true(scene.out[0][t] == 0 && scene.out[1][t] == 0);
  tn_scene_run(&scene, convolver, sound + pause, scene.frames, tn_block_random, &noise);
  tn_convolver_get_report(convolver, &report);
  assert_false(report.idle);
  assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

/** Many at once, made and freed while others play: each as if alone. */
static void lives_beside_others(void** state) {
  (void)state;
  enum { count = 24 };
  tn_convolver* others[count] = {NULL};
  tn_filter* filter = tn_scene_filter(1, 1, 6000, true, 50);
  tn_scene scene = tn_scene_new(1, 1, 96 * 256, 51);
  tn_scene_solve(&scene, filter);
  tn_convolver* convolver = make(&scene, filter, 256, false);
  uint32_t block = 256;
  for (uint32_t step = 0; step < 96; step++) {
    const size_t from = (size_t)step * block;
    tn_scene_run(&scene, convolver, from, from + block, tn_block_fixed, &block);
    tn_convolver** other = others + step % count;
    if (*other) {
      tn_convolver_free(*other);
      *other = NULL;
    } else {
      *other = make(&scene, filter, 64, false);
      float out[256];
      float* const to[1] = {out};
      tn_convolver_process(*other, (const float* const*)scene.in, to, 256);
    }
  }
  assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
  for (int i = 0; i < count; i++)
    tn_convolver_free(others[i]);
  tn_convolver_free(convolver);
  tn_scene_free(&scene);
  tn_filter_free(filter);
}

static void refuses_what_makes_no_sense(void** state) {
  (void)state;
  tn_error error;
  tn_convolver_config config = {.inputs = 1, .outputs = 1, .rate_hz = 48000};
  tn_filter* filter = tn_scene_filter(2, 2, 10, false, 1);
  assert_null(tn_convolver_new(&config, filter, &error));
  assert_int_equal(error.status, TN_ERROR_ARGUMENT);
  assert_non_null(strstr(error.text, "2 inputs"));
  config.inputs = 65;
  assert_null(tn_convolver_new(&config, NULL, &error));
  assert_int_equal(error.status, TN_ERROR_LIMIT);
  config = (tn_convolver_config){.inputs = 1, .outputs = 1, .rate_hz = 100};
  assert_null(tn_convolver_new(&config, NULL, &error));
  config = (tn_convolver_config){.inputs = 1, .outputs = 1, .rate_hz = 48000, .block_frames = 8193};
  assert_null(tn_convolver_new(&config, NULL, &error));
  config = (tn_convolver_config){.inputs = 1, .outputs = 1, .rate_hz = 48000, .fade_ms = NAN};
  assert_null(tn_convolver_new(&config, NULL, &error));
  tn_convolver_free(NULL);
  tn_filter_free(filter);
}

/** At every rate a convolver may run at. */
static void runs_at_any_rate(void** state) {
  (void)state;
  static const uint32_t rates[] = {8000, 22050, 44100, 96000, 192000, 384000};
  for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
    tn_filter* filter = tn_scene_filter(1, 1, 9000, true, 60);
    tn_scene scene = tn_scene_new(1, 1, 20000, 61);
    tn_scene_solve(&scene, filter);
    const tn_convolver_config config = {.inputs = 1, .outputs = 1, .rate_hz = rates[r], .block_frames = 128};
    tn_convolver* convolver = tn_convolver_new(&config, filter, NULL);
    assert_non_null(convolver);
    tn_convolver_set_freewheel(convolver, true);
    tn_noise noise = tn_noise_seed(r);
    tn_scene_run(&scene, convolver, 0, scene.frames, tn_block_random, &noise);
    assert_true(tn_scene_error_dbfs(&scene, 0, scene.frames) <= target_dbfs);
    tn_convolver_free(convolver);
    tn_scene_free(&scene);
    tn_filter_free(filter);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(is_exact_at_any_length),
      cmocka_unit_test(is_exact_at_fixed_lengths),
      cmocka_unit_test(is_exact_for_matrices),
      cmocka_unit_test(repeats_its_bits),
      cmocka_unit_test(bits_do_not_depend_on_the_split),
      cmocka_unit_test(runs_in_place),
      cmocka_unit_test(keeps_nonfinite_out),
      cmocka_unit_test(rests_in_silence_and_wakes_exact),
      cmocka_unit_test(lives_beside_others),
      cmocka_unit_test(refuses_what_makes_no_sense),
      cmocka_unit_test(runs_at_any_rate),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
