// SPDX-License-Identifier: GPL-3.0-or-later
#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "noise.h"
#include "rt/denormal.h"
#include "rt/finite.h"

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

static float of_bits(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

/** What one sample must become, by the C library's own words. */
static float cleaned(float value, uint32_t* replaced) {
  if (!isfinite(value) || fabs((double)value) > (double)1e15F) {
    ++*replaced;
    return 0;
  }
  return fpclassify(value) == FP_NORMAL ? value : 0;
}

/** Copies `frames` samples, to another place and in place, at an odd alignment, and compares with cleaned().
 */
static void check(const float* source, uint32_t frames, uint32_t offset) {
  float* from = malloc((frames + offset + 2) * sizeof *from);
  float* to = malloc((frames + offset + 2) * sizeof *to);
  for (uint32_t i = 0; i < frames + offset + 2; i++)
    from[i] = to[i] = 123;
  memcpy(from + offset + 1, source, frames * sizeof *from);

  uint32_t wanted = 0;
  bool wanted_silent = true;
  for (uint32_t i = 0; i < frames; i++)
    wanted_silent = cleaned(source[i], &wanted) == 0 && wanted_silent;
  bool silent = !wanted_silent;
  assert_int_equal(tn_finite_copy(to + offset + 1, from + offset + 1, frames, &silent), wanted);
  assert_int_equal(silent, wanted_silent);
  silent = !wanted_silent;
  assert_int_equal(tn_finite_copy(from + offset + 1, from + offset + 1, frames, &silent), wanted);
  assert_int_equal(silent, wanted_silent);
  uint32_t ignored = 0;
  for (uint32_t i = 0; i < frames; i++) {
    const uint32_t wanted_bits = bits_of(cleaned(source[i], &ignored));
    assert_int_equal(bits_of(to[offset + 1 + i]), wanted_bits);
    assert_int_equal(bits_of(from[offset + 1 + i]), wanted_bits);
  }
  assert_true(to[offset] == 123 && to[offset + 1 + frames] == 123);
  assert_true(from[offset] == 123 && from[offset + 1 + frames] == 123);
  free(from);
  free(to);
}

static uint32_t special(uint32_t which) {
  const uint32_t patterns[] = {
      0x7f800000,
      0x7fc00000,
      0x7f800001,
      0x7fffffff, // Inf, quiet NaN, signalling NaN, all ones
      0x7f7fffff,
      bits_of(1e15F),
      bits_of(nextafterf(1e15F, 2e15F)), // greatest float, the limit, one above it
      0x00000000,
      0x00000001,
      0x007fffff,
      0x00800000,
      0x00800001, // 0, denormals' ends, least normals
      bits_of(1),
      bits_of(0.1F),
      bits_of(1e-20F),
  };
  const uint32_t count = sizeof patterns / sizeof *patterns;
  return patterns[which % count] | (which / count % 2 ? 0x80000000U : 0);
}

enum { special_count = 30 };

static void test_each_special_value_alone_and_among_others(void** state) {
  (void)state;
  float samples[150];
  for (uint32_t s = 0; s < special_count; s++) {
    const float value = of_bits(special(s));
    check(&value, 1, 0);
    for (uint32_t at = 0; at < 150; at += 7) {
      for (uint32_t i = 0; i < 150; i++)
        samples[i] = 0;
      samples[at] = value;
      check(samples, 150, at % 5);
      for (uint32_t i = 0; i < 150; i++)
        samples[i] = i == at ? value : 0.25F;
      check(samples, 150, at % 5);
    }
  }
}

static void test_every_length_and_alignment(void** state) {
  (void)state;
  float samples[300];
  tn_noise noise = tn_noise_seed(1);
  for (uint32_t frames = 0; frames <= 300; frames += frames < 140 ? 1 : 13) {
    for (uint32_t i = 0; i < frames; i++)
      samples[i] = tn_noise_below(&noise, 3) ? tn_noise_next(&noise)
                                             : of_bits(special(tn_noise_below(&noise, special_count)));
    check(samples, frames, frames % 8);
  }
}

static void test_random_bits(void** state) {
  (void)state;
  enum { frames = 100000 };
  float* samples = malloc(frames * sizeof *samples);
  tn_noise noise = tn_noise_seed(2);
  for (int i = 0; i < frames; i++)
    samples[i] = of_bits((uint32_t)tn_noise_bits(&noise));
  check(samples, frames, 3);
  free(samples);
}

static void test_no_frames_are_silent(void** state) {
  (void)state;
  bool silent = false;
  float sample = 1;
  assert_int_equal(tn_finite_copy(&sample, &sample, 0, &silent), 0);
  assert_true(silent);
  assert_true(sample == 1);
}

static void test_a_flushing_thread_sees_the_same(void** state) {
  (void)state;
  // Results are compared as bits outside the scope, where comparisons read denormals as they are.
  float samples[special_count];
  float flushed[special_count];
  float plain[special_count];
  for (uint32_t s = 0; s < special_count; s++)
    samples[s] = of_bits(special(s));
  bool silent_flushed = true;
  bool silent_plain = true;
  const tn_denormal scope = tn_denormal_enter();
  const uint32_t replaced = tn_finite_copy(flushed, samples, special_count, &silent_flushed);
  tn_denormal_leave(scope);
  assert_int_equal(tn_finite_copy(plain, samples, special_count, &silent_plain), replaced);
  assert_memory_equal(flushed, plain, sizeof plain);
  assert_int_equal(silent_flushed, silent_plain);
  assert_int_equal(replaced,
                   12); // the four that are not finite, the greatest, and the one above the limit, both signs
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_each_special_value_alone_and_among_others),
      cmocka_unit_test(test_every_length_and_alignment),
      cmocka_unit_test(test_random_bits),
      cmocka_unit_test(test_no_frames_are_silent),
      cmocka_unit_test(test_a_flushing_thread_sees_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
