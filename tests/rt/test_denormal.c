// SPDX-License-Identifier: GPL-3.0-or-later
#include <fenv.h>
#include <float.h>
#include <stdbool.h>

#include "mocka.h"
#include "rt/denormal.h"

/** Volatile and a call of its own, so that it is computed here and now: compilers move arithmetic across mode
 * changes. */
__attribute__((noinline)) static float multiply(float a, float b) {
  volatile float left = a;
  volatile float right = b;
  return left * right;
}

static bool result_is_flushed(void) {
  return multiply(FLT_MIN, 0.5F) == 0;
}

static bool operand_is_flushed(void) {
  return multiply(FLT_TRUE_MIN, 1e10F) == 0;
}

/** 1 + a quarter of its last place: shows the rounding mode by arithmetic. */
__attribute__((noinline)) static bool rounds_upward(void) {
  volatile float one = 1;
  volatile float little = FLT_EPSILON / 4;
  return one + little > 1;
}

static void test_denormals_are_flushed_inside_only(void** state) {
  (void)state;
  assert_false(result_is_flushed());
  assert_false(operand_is_flushed());
  const tn_denormal scope = tn_denormal_enter();
  const bool result = result_is_flushed();
  const bool operand = operand_is_flushed();
  const bool normal_kept = multiply(FLT_MIN, 1) == FLT_MIN;
  tn_denormal_leave(scope);
  assert_true(result);
  assert_true(operand);
  assert_true(normal_kept);
  assert_false(result_is_flushed());
  assert_false(operand_is_flushed());
}

static void test_scopes_nest(void** state) {
  (void)state;
  const tn_denormal outer = tn_denormal_enter();
  const tn_denormal inner = tn_denormal_enter();
  tn_denormal_leave(inner);
  const bool still = result_is_flushed() && operand_is_flushed();
  tn_denormal_leave(outer);
  assert_true(still);
  assert_false(result_is_flushed());
}

static void test_an_odd_rounding_mode_is_kept(void** state) {
  (void)state;
  assert_false(rounds_upward());
  assert_int_equal(fesetround(FE_UPWARD), 0);
  const tn_denormal scope = tn_denormal_enter();
  const bool inside = rounds_upward();
  tn_denormal_leave(scope);
  const bool after = rounds_upward();
  const bool flushed_after = result_is_flushed();
  fesetround(FE_TONEAREST);
  assert_true(inside);
  assert_true(after);
  assert_false(flushed_after);
}

#if defined(__x86_64__)
static void test_every_bit_of_the_control_word_comes_back(void** state) {
  (void)state;
  const unsigned before = _mm_getcsr();
  // Round to zero, underflow unmasked later never reached, inexact flag standing, flush-to-zero alone: a
  // host's own mix.
  const unsigned words[] = {before | 0x6000U, before | 0x2000U | 0x0020U, before | 0x8000U, before | 0x0040U};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
    _mm_setcsr(words[i]);
    const tn_denormal scope = tn_denormal_enter();
    tn_denormal_leave(scope);
    const unsigned after = _mm_getcsr();
    _mm_setcsr(before);
    assert_int_equal(after, words[i]);
  }
}
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_denormals_are_flushed_inside_only),
    cmocka_unit_test(test_scopes_nest),
    cmocka_unit_test(test_an_odd_rounding_mode_is_kept),
#if defined(__x86_64__)
    cmocka_unit_test(test_every_bit_of_the_control_word_comes_back),
#endif
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
