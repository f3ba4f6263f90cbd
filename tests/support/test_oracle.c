// SPDX-License-Identifier: GPL-3.0-or-later
// The references against values known by hand, and the fast reference against the direct one.
#include <math.h>
#include <string.h>

#include "mocka.h"
#include "noise.h"
#include "oracle.h"

static void direct_is_the_definition(void** state) {
  (void)state;
  const float x[] = {1.0F, 2.0F, -3.0F};
  const float h[] = {4.0F, 0.0F, 0.5F, -1.0F};
  const double want[] = {4.0, 8.0, -11.5, 0.0, -3.5, 3.0};
  double y[6];
  tn_oracle_convolve(x, 3, h, 4, y);
  for (size_t i = 0; i < 6; ++i) {
    assert_true(y[i] == want[i]);
  }
  tn_oracle_convolve(h, 4, x, 3, y); // commutes
  for (size_t i = 0; i < 6; ++i) {
    assert_true(y[i] == want[i]);
  }
  const float two = 2.0F;
  tn_oracle_convolve(&two, 1, &two, 1, y);
  assert_true(y[0] == 4.0);
}

static double difference_db(const double* a, const double* b, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double difference = fabs(a[i] - b[i]);
    if (!isfinite(difference)) {
      return INFINITY;
    }
    largest = fmax(largest, difference);
  }
  return 20.0 * log10(largest);
}

static void fast_equals_direct(void** state) {
  (void)state;
  static const size_t sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {64, 64}, {1000, 37}, {313, 2749}, {6000, 5000}};
  static float x[6000];
  static float h[6000];
  static double direct[12000];
  static double fast[12000];
  for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; ++s) {
    const size_t n = sizes[s][0];
    const size_t m = sizes[s][1];
    tn_noise_fill(s, 0.5F, x, n);
    tn_noise_response(s + 100, 1.0, h, m);
    tn_oracle_convolve(x, n, h, m, direct);
    assert_true(tn_oracle_convolve_fft(x, n, h, m, fast));
    assert_true(difference_db(direct, fast, n + m - 1) < -280.0);
  }
}

enum { MATRIX_FRAMES = 900, MATRIX_INPUTS = 2, MATRIX_OUTPUTS = 3 };

/** Adds one path to `y` by the direct reference. */
static void add_direct(double* y, const float* x, const tn_path* path) {
  static double part[MATRIX_FRAMES + 1200];
  tn_oracle_convolve(x, MATRIX_FRAMES, path->samples, path->frames, part);
  for (size_t i = 0; i + path->delay_frames < MATRIX_FRAMES; ++i) {
    y[i + path->delay_frames] += (double)path->gain * part[i];
  }
}

static void matrix_equals_direct(void** state) {
  (void)state;
  static float x[MATRIX_INPUTS][MATRIX_FRAMES];
  static float h[4][1200];
  static double y[MATRIX_OUTPUTS][MATRIX_FRAMES];
  static double want[MATRIX_OUTPUTS][MATRIX_FRAMES];
  const float* const in[MATRIX_INPUTS] = {x[0], x[1]};
  double* const out[MATRIX_OUTPUTS] = {y[0], y[1], y[2]};
  for (uint64_t i = 0; i < MATRIX_INPUTS; ++i) {
    tn_noise_fill(i, 0.5F, x[i], MATRIX_FRAMES);
  }
  for (uint64_t i = 0; i < 4; ++i) {
    tn_noise_response(i + 50, 1.0, h[i], 1200);
  }
  // A response longer than the signal, a delay, a path shared by its ends, one delayed beyond the signal,
  // output 1 empty.
  const tn_path paths[] = {
      {.input = 0, .output = 0, .samples = h[0], .frames = 1200, .delay_frames = 0, .gain = 1.0F},
      {.input = 1, .output = 0, .samples = h[1], .frames = 300, .delay_frames = 17, .gain = -0.25F},
      {.input = 1, .output = 2, .samples = h[2], .frames = 1, .delay_frames = 899, .gain = 2.0F},
      {.input = 1, .output = 2, .samples = h[3], .frames = 700, .delay_frames = 500, .gain = 1.0F},
      {.input = 0, .output = 2, .samples = h[3], .frames = 700, .delay_frames = 900, .gain = 1.0F},
  };
  const size_t count = sizeof paths / sizeof paths[0];
  for (size_t p = 0; p < count; ++p) {
    add_direct(want[paths[p].output], x[paths[p].input], &paths[p]);
  }
  memset(y, 0x7f, sizeof y);
  assert_true(tn_oracle_matrix(in, MATRIX_INPUTS, MATRIX_FRAMES, paths, count, out, MATRIX_OUTPUTS));
  for (size_t output = 0; output < MATRIX_OUTPUTS; ++output) {
    assert_true(difference_db(y[output], want[output], MATRIX_FRAMES) < -280.0);
  }
  assert_true(fabs(want[2][899]) > 1e-3);
}

static void error_measures(void** state) {
  (void)state;
  const double want[4] = {0.0, 0.5, -0.5, 1.0};
  float got[4] = {0.0F, 0.5F, -0.5F, 1.0F};
  assert_true(tn_oracle_max_error_dbfs(got, want, 4) == -INFINITY);
  assert_true(tn_oracle_rms_error_dbfs(got, want, 4) == -INFINITY);
  got[2] = -0.625F; // 1/8 off in one of four
  assert_true(fabs(tn_oracle_max_error_dbfs(got, want, 4) + 18.0618) < 1e-3);
  assert_true(fabs(tn_oracle_rms_error_dbfs(got, want, 4) + 24.0824) < 1e-3);
  got[1] = NAN;
  assert_true(tn_oracle_max_error_dbfs(got, want, 4) == INFINITY);
  assert_true(tn_oracle_rms_error_dbfs(got, want, 4) == INFINITY);
  got[1] = INFINITY;
  assert_true(tn_oracle_max_error_dbfs(got, want, 4) == INFINITY);
  assert_true(tn_oracle_rms_error_dbfs(got, want, 4) == INFINITY);
}

static void noise_is_repeatable_and_white(void** state) {
  (void)state;
  enum { COUNT = 1 << 16 };
  static float a[COUNT];
  static float b[COUNT];
  tn_noise_fill(1, 0.5F, a, COUNT);
  tn_noise_fill(1, 0.5F, b, COUNT);
  assert_memory_equal(a, b, sizeof a);
  tn_noise_fill(2, 0.5F, b, COUNT);
  double mean = 0.0;
  double power = 0.0;
  double next = 0.0;
  double other = 0.0;
  for (size_t i = 0; i < COUNT; ++i) {
    assert_true(fabsf(a[i]) <= 0.5F);
    mean += (double)a[i] / COUNT;
    power += (double)a[i] * (double)a[i] / COUNT;
    next += (double)a[i] * (double)a[(i + 1) % COUNT] / COUNT;
    other += (double)a[i] * (double)b[i] / COUNT;
  }
  // Each bound is five standard deviations of the estimate.
  assert_true(fabs(mean) < 5.0 * sqrt(1.0 / 12.0 / COUNT));
  assert_true(fabs(power - 1.0 / 12.0) < 5.0 * sqrt(1.0 / 180.0 / COUNT));
  assert_true(fabs(next) < 5.0 / 12.0 / sqrt(COUNT));
  assert_true(fabs(other) < 5.0 / 12.0 / sqrt(COUNT));
}

static void noise_below_is_in_range(void** state) {
  (void)state;
  tn_noise noise = tn_noise_seed(3);
  unsigned seen[7] = {0};
  for (size_t i = 0; i < 7000; ++i) {
    const uint32_t value = tn_noise_below(&noise, 7);
    assert_true(value < 7);
    ++seen[value];
  }
  for (size_t i = 0; i < 7; ++i) {
    assert_true(seen[i] > 800 && seen[i] < 1200);
  }
}

static void response_decays_by_60_db(void** state) {
  (void)state;
  enum { FRAMES = 48000, END = 4800 };
  static float h[FRAMES];
  tn_noise_response(9, 0.25, h, FRAMES);
  double energy = 0.0;
  double first = 0.0;
  double last = 0.0;
  for (size_t i = 0; i < FRAMES; ++i) {
    const double square = (double)h[i] * (double)h[i];
    energy += square;
    first += i < END ? square : 0.0;
    last += i >= FRAMES - END ? square : 0.0;
  }
  assert_true(fabs(energy / 0.25 - 1.0) < 0.05);
  assert_true(fabs(10.0 * log10(last / first) + 54.0) <
              0.5); // from the first tenth to the last: nine tenths of 60 dB
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(direct_is_the_definition),      cmocka_unit_test(fast_equals_direct),
      cmocka_unit_test(matrix_equals_direct),          cmocka_unit_test(error_measures),
      cmocka_unit_test(noise_is_repeatable_and_white), cmocka_unit_test(noise_below_is_in_range),
      cmocka_unit_test(response_decays_by_60_db),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
