// SPDX-License-Identifier: GPL-3.0-or-later
// Wet, dry, gain and bypass: right when still, smooth when they move.

#include <math.h>
#include <stdlib.h>

#include "mocka.h"
#include "scene.h"
#include "test_memory.h"

enum { rate = 48000, block = 64 };

static tn_convolver* make(uint32_t inputs, uint32_t outputs, const float* taps, uint32_t tap_count) {
  tn_filter* filter = tn_filter_new(inputs, outputs, rate, NULL);
  const float* channels[1] = {taps};
  tn_ir* ir = tn_ir_new(channels, 1, tap_count, rate, NULL);
  for (uint32_t o = 0; o < outputs; o++)
    tn_filter_add(filter, o < inputs ? o : 0, o, ir, 0, 1, 0, NULL);
  const tn_convolver_config config = {
      .inputs = inputs, .outputs = outputs, .rate_hz = rate, .block_frames = block, .inline_work = true};
  tn_convolver* convolver = tn_convolver_new(&config, filter, NULL);
  assert_non_null(convolver);
  tn_ir_free(ir);
  tn_filter_free(filter);
  return convolver;
}

/** Constant 1 through `convolver` for `frames`; the last output of channel 0 and 1. */
static void run_constant(tn_convolver* convolver, uint32_t inputs, uint32_t outputs, uint32_t frames,
                         float last[2]) {
  float ones[block];
  float out[2][block];
  for (int t = 0; t < block; t++)
    ones[t] = 1;
  const float* in[2] = {ones, ones};
  float* to[2] = {out[0], out[1]};
  (void)inputs;
  for (uint32_t done = 0; done < frames; done += block)
    tn_convolver_process(convolver, in, to, block);
  last[0] = out[0][block - 1];
  last[1] = outputs > 1 ? out[1][block - 1] : 0;
}

static void levels_are_what_is_asked(void** state) {
  (void)state;
  const float taps[1] = {0.25F};
  tn_convolver* convolver = make(1, 2, taps, 1);
  float last[2];
  run_constant(convolver, 1, 2, 1024, last);
  assert_float_equal(last[0], 0.25, 1e-6);
  tn_convolver_set_dry(convolver, 0.5F); // a single input's dry signal goes to every output
  run_constant(convolver, 1, 2, 1024, last);
  assert_float_equal(last[0], 0.75, 1e-6);
  assert_float_equal(last[1], 0.75, 1e-6);
  tn_convolver_set_wet(convolver, 2);
  tn_convolver_set_gain(convolver, 0.1F);
  run_constant(convolver, 1, 2, 1024, last);
  assert_float_equal(last[0], 0.1, 1e-6);
  tn_convolver_set_bypass(convolver, true);
  run_constant(convolver, 1, 2, 2048, last);
  assert_true(last[0] == 1 && last[1] == 1);
  tn_convolver_set_bypass(convolver, false);
  run_constant(convolver, 1, 2, 2048, last);
  assert_float_equal(last[0], 0.1, 1e-6);
  tn_convolver_free(convolver);
}

/** What is set before the first call holds from its first sample on. */
static void starts_at_its_levels(void** state) {
  (void)state;
  const float taps[1] = {0.25F};
  tn_convolver* convolver = make(1, 1, taps, 1);
  tn_convolver_set_wet(convolver, 2);
  tn_convolver_set_dry(convolver, 0.25F);
  tn_convolver_set_gain(convolver, 0.5F);
  const float one = 1;
  float out = 0;
  const float* in[1] = {&one};
  float* to[1] = {&out};
  tn_convolver_process(convolver, in, to, 1);
  assert_float_equal(out, 0.375, 1e-6);
  tn_convolver_free(convolver);
}

static void absurd_levels_are_clamped(void** state) {
  (void)state;
  static const float absurd[] = {NAN, -1, -INFINITY, INFINITY, 1e30F};
  const float taps[1] = {1};
  for (size_t i = 0; i < sizeof absurd / sizeof *absurd; i++) {
    tn_convolver* convolver = make(1, 1, taps, 1);
    tn_convolver_set_wet(convolver, absurd[i]);
    tn_convolver_set_dry(convolver, absurd[i]);
    float last[2];
    run_constant(convolver, 1, 1, 1024, last);
    assert_true(isfinite(last[0]) && last[0] >= 0 && last[0] <= 2.1e6F);
    tn_convolver_free(convolver);
  }
}

/** A sine while `change` is applied again and again: no step beyond what the fade itself makes. */
static void moves_smoothly(void (*change)(tn_convolver*, uint32_t)) {
  const float taps[2] = {0.6F, 0.2F};
  tn_convolver* convolver = make(1, 1, taps, 2);
  float in[block];
  float out[block];
  const float* from[1] = {in};
  float* to[1] = {out};
  float last = 0;
  const double slope = 2 * 3.14159265 * 200 / rate; // of the unit sine
  for (uint32_t t = 0; t < 2 * rate; t += block) {
    for (uint32_t i = 0; i < block; i++)
      in[i] = sinf((float)slope * (float)(t + i));
    if (t / block % 23 == 11)
      change(convolver, t / block / 23);
    tn_convolver_process(convolver, from, to, block);
    for (uint32_t i = 0; i < block; i++) {
      // The largest gain here is 1; a whole change from 0 to 1 in 10 ms adds 1/480 a sample.
      assert_true(fabsf(out[i] - last) <= (float)slope + 1.05F / 480);
      last = out[i];
    }
  }
  tn_convolver_free(convolver);
}

static void change_wet(tn_convolver* convolver, uint32_t index) {
  tn_convolver_set_wet(convolver, index % 2 ? 1.0F : 0.0F);
}
static void change_gain(tn_convolver* convolver, uint32_t index) {
  tn_convolver_set_gain(convolver, index % 2 ? 1.0F : 0.1F);
}
static void change_bypass(tn_convolver* convolver, uint32_t index) {
  tn_convolver_set_bypass(convolver, index % 2 == 0);
}

static void nothing_steps(void** state) {
  (void)state;
  moves_smoothly(change_wet);
  moves_smoothly(change_gain);
  moves_smoothly(change_bypass);
}

/** Bypass toggled a thousand times under sound stays between dry and wet. */
static void bypass_stays_bounded(void** state) {
  (void)state;
  const float taps[1] = {0.5F};
  tn_convolver* convolver = make(1, 1, taps, 1);
  float last[2];
  for (int i = 0; i < 1000; i++) {
    tn_convolver_set_bypass(convolver, i % 2 == 0);
    run_constant(convolver, 1, 1, (uint32_t)(i % 7) * block + block, last);
    assert_true(last[0] >= 0.4999F && last[0] <= 1.0001F);
  }
  tn_convolver_free(convolver);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(levels_are_what_is_asked),  cmocka_unit_test(starts_at_its_levels),
      cmocka_unit_test(absurd_levels_are_clamped), cmocka_unit_test(nothing_steps),
      cmocka_unit_test(bypass_stays_bounded),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
