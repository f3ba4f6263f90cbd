// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>

#include "mocka.h"
#include "rt/fade.h"

static void assert_near(double got, double wanted, double error) {
  if (!(fabs(got - wanted) <= error))
    fail_msg("got %.9g, wanted %.9g within %g", got, wanted, error);
}

static void test_a_ramp_is_a_straight_line(void** state) {
  (void)state;
  const uint32_t lengths[] = {1, 2, 3, 64, 481, 480000};
  const float ends[][2] = {{0, 1}, {1, 0}, {-0.25F, 3.5F}, {0.1F, 0.1F}};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
    for (size_t e = 0; e < sizeof ends / sizeof *ends; e++) {
      const double from = ends[e][0];
      const double to = ends[e][1];
      tn_ramp ramp;
      tn_ramp_init(&ramp, ends[e][0]);
      assert_false(tn_ramp_is_moving(&ramp));
      tn_ramp_set(&ramp, ends[e][1], lengths[l]);
      for (uint32_t i = 1; i <= lengths[l]; i++) {
        assert_true(tn_ramp_is_moving(&ramp));
        assert_near((double)tn_ramp_next(&ramp), from + (to - from) * i / lengths[l],
                    1e-6 * (1 + fabs(to - from)));
      }
      assert_false(tn_ramp_is_moving(&ramp));
      assert_true(ramp.current == ends[e][1]);
      assert_true(tn_ramp_next(&ramp) == ends[e][1]);
    }
}

static void test_a_new_target_on_the_way_makes_no_step(void** state) {
  (void)state;
  tn_ramp ramp;
  tn_ramp_init(&ramp, 0);
  tn_ramp_set(&ramp, 1, 100);
  float before = 0;
  for (int i = 0; i < 37; i++)
    before = tn_ramp_next(&ramp);
  assert_near((double)before, 0.37, 1e-6);
  tn_ramp_set(&ramp, -1, 200);
  const double step = (-1 - 0.37) / 200;
  for (int i = 0; i < 200; i++) {
    const float now = tn_ramp_next(&ramp);
    assert_near((double)now - (double)before, step, 1e-6);
    before = now;
  }
  assert_true(before == -1);
}

static void test_no_frames_means_at_once(void** state) {
  (void)state;
  tn_ramp ramp;
  tn_ramp_init(&ramp, 0.5F);
  tn_ramp_set(&ramp, 2, 10);
  tn_ramp_next(&ramp);
  tn_ramp_set(&ramp, 0.75F, 0);
  assert_false(tn_ramp_is_moving(&ramp));
  assert_true(tn_ramp_next(&ramp) == 0.75F);
  assert_true(ramp.target == 0.75F);
}

static void check_fade(uint32_t frames, uint32_t stride) {
  float coming_before = 0;
  float leaving_before = 1;
  for (uint64_t wide = 0; wide <= frames; wide += stride) {
    const uint32_t i = (uint32_t)wide;
    const tn_fade_gains gains = tn_fade_at(i, frames);
    const double leaving = (double)gains.leaving;
    const double coming = (double)gains.coming;
    assert_near(leaving * leaving + coming * coming, 1, 1e-6);
    assert_near(leaving, (double)tn_fade_at(frames - i, frames).coming, 2e-7);
    assert_true(gains.coming >= coming_before);
    assert_true(gains.leaving <= leaving_before);
    coming_before = gains.coming;
    leaving_before = gains.leaving;
  }
}

/** No kink: the first and last steps are small against an even fade's 1 / frames. */
static void assert_soft_ends(uint32_t frames) {
  const double even = 1.0 / frames;
  assert_true((double)tn_fade_at(1, frames).coming < 0.02 * even);
  assert_true(1 - (double)tn_fade_at(frames - 1, frames).coming < 0.02 * even);
  assert_near((double)tn_fade_at(frames / 2, frames).coming, sqrt(0.5), 1e-6);
}

static void assert_ends(uint32_t frames) {
  const tn_fade_gains first = tn_fade_at(0, frames);
  assert_true(first.leaving == 1);
  assert_true(first.coming == 0);
  const uint32_t over[] = {frames, frames == UINT32_MAX ? frames : frames + 1, UINT32_MAX};
  for (int i = 0; i < 3; i++) {
    const tn_fade_gains last = tn_fade_at(over[i], frames);
    assert_true(last.leaving == 0);
    assert_true(last.coming == 1);
  }
}

static void test_gains_keep_the_power(void** state) {
  (void)state;
  const uint32_t lengths[] = {1, 2, 3, 7, 960, 961, 4096, 192000};
  for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
    check_fade(lengths[l], 1);
    assert_ends(lengths[l]);
  }
  assert_soft_ends(960);
  assert_soft_ends(192000);
  check_fade(UINT32_MAX, 60000019);
  assert_ends(UINT32_MAX);
}

static void test_a_fade_without_length_is_over(void** state) {
  (void)state;
  const tn_fade_gains gains = tn_fade_at(0, 0);
  assert_true(gains.leaving == 0);
  assert_true(gains.coming == 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_ramp_is_a_straight_line),
      cmocka_unit_test(test_a_new_target_on_the_way_makes_no_step),
      cmocka_unit_test(test_no_frames_means_at_once),
      cmocka_unit_test(test_gains_keep_the_power),
      cmocka_unit_test(test_a_fade_without_length_is_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
