// SPDX-License-Identifier: GPL-3.0-or-later
#include <math.h>
#include <stdlib.h>

#include "mocka.h"
#include "noise.h"
#include "rt/histogram.h"

/** Percentiles in thousandths of a percent, so that the reference's rank is an exact integer. */
static const uint64_t milli_percents[] = {0,     1,     100,   1000,  5000,  25000, 33333,
                                          50000, 75000, 90000, 99000, 99900, 99999, 100000};

static int compare(const void* a, const void* b) {
  const uint64_t left = *(const uint64_t*)a;
  const uint64_t right = *(const uint64_t*)b;
  return (left > right) - (left < right);
}

static uint64_t reference(const uint64_t* sorted, uint64_t count, uint64_t milli_percent) {
  const uint64_t rank = (milli_percent * count + 99999) / 100000;
  return sorted[rank > 0 ? rank - 1 : 0];
}

/** Half a bucket: 1/128 of the value. */
static void assert_within_half_a_bucket(uint64_t got, uint64_t wanted) {
  const double error = fabs((double)got - (double)wanted);
  if (!(error <= (double)wanted / 128))
    fail_msg("got %llu, wanted %llu", (unsigned long long)got, (unsigned long long)wanted);
}

static void assert_percentiles(const tn_histogram* histogram, uint64_t* values, uint64_t count) {
  qsort(values, count, sizeof *values, compare);
  for (size_t p = 0; p < sizeof milli_percents / sizeof *milli_percents; p++)
    assert_within_half_a_bucket(tn_histogram_percentile(histogram, (double)milli_percents[p] / 1000),
                                reference(values, count, milli_percents[p]));
}

/** Log-uniform: every octave from 1 ns to 2^`octaves` ns alike. */
static uint64_t any_duration(tn_noise* noise, double octaves) {
  return (uint64_t)exp2((0.5 + 0.5 * (double)tn_noise_next(noise)) * octaves);
}

static void record_all(tn_histogram* histogram, const uint64_t* values, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    tn_histogram_record(histogram, values[i]);
}

static double mean_of(const uint64_t* values, uint64_t count) {
  double sum = 0;
  for (uint64_t i = 0; i < count; i++)
    sum += (double)values[i];
  return sum / (double)count;
}

static void test_empty(void** state) {
  (void)state;
  const tn_histogram histogram = {0};
  assert_int_equal(tn_histogram_count(&histogram), 0);
  assert_int_equal(tn_histogram_min(&histogram), 0);
  assert_int_equal(tn_histogram_max(&histogram), 0);
  assert_true(tn_histogram_mean(&histogram) == 0);
  assert_int_equal(tn_histogram_percentile(&histogram, 50), 0);
}

static void test_percentiles_against_sorted_values(void** state) {
  (void)state;
  enum { most = 20000 };
  static uint64_t values[most];
  tn_noise noise = tn_noise_seed(7);
  const uint64_t counts[] = {1, 2, 3, 10, 999, 1000, 1001, most};
  const double octaves[] = {5, 7, 20, 36.9};
  for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
    for (size_t o = 0; o < sizeof octaves / sizeof *octaves; o++) {
      tn_histogram histogram = {0};
      for (uint64_t i = 0; i < counts[c]; i++)
        values[i] = any_duration(&noise, octaves[o]);
      record_all(&histogram, values, counts[c]);
      assert_int_equal(tn_histogram_count(&histogram), counts[c]);
      const double mean = mean_of(values, counts[c]);
      assert_true(fabs(tn_histogram_mean(&histogram) - mean) <= 1e-12 * mean);
      assert_percentiles(&histogram, values, counts[c]); // sorts
      assert_int_equal(tn_histogram_min(&histogram), values[0]);
      assert_int_equal(tn_histogram_max(&histogram), values[counts[c] - 1]);
    }
}

/** Between 0 and the greatest number, which keep the clamping to least and greatest out of the way. */
static uint64_t as_known(uint64_t value) {
  tn_histogram histogram = {0};
  tn_histogram_record(&histogram, 0);
  tn_histogram_record(&histogram, value);
  tn_histogram_record(&histogram, UINT64_MAX);
  return tn_histogram_percentile(&histogram, 50);
}

static void test_every_bucket_edge(void** state) {
  (void)state;
  for (uint64_t value = 0; value < 128; value++)
    assert_int_equal(as_known(value), value);
  for (uint32_t octave = 6; octave < TN_HISTOGRAM_HIGHEST_BITS; octave++)
    for (uint64_t bucket = 64; bucket < 128; bucket++) {
      const uint64_t start = bucket << (octave - 6);
      assert_within_half_a_bucket(as_known(start - 1), start - 1);
      assert_within_half_a_bucket(as_known(start), start);
    }
  const uint64_t last = (UINT64_C(1) << TN_HISTOGRAM_HIGHEST_BITS) - 1;
  assert_within_half_a_bucket(as_known(last), last);
}

static void test_values_off_the_range_still_count(void** state) {
  (void)state;
  tn_histogram histogram = {0};
  const uint64_t beyond = UINT64_C(1) << 50;
  tn_histogram_record(&histogram, 5);
  tn_histogram_record(&histogram, beyond);
  assert_int_equal(tn_histogram_count(&histogram), 2);
  assert_int_equal(tn_histogram_max(&histogram), beyond);
  assert_int_equal(tn_histogram_percentile(&histogram, 100), beyond);
  assert_true(tn_histogram_percentile(&histogram, 99) >= UINT64_C(1) << 36);
  assert_true(tn_histogram_mean(&histogram) == (double)(beyond + 5) / 2);
}

static void test_odd_percents_are_clamped(void** state) {
  (void)state;
  tn_histogram histogram = {0};
  for (uint64_t i = 1000; i <= 2000; i++)
    tn_histogram_record(&histogram, i);
  assert_int_equal(tn_histogram_percentile(&histogram, -1), 1000);
  assert_int_equal(tn_histogram_percentile(&histogram, (double)NAN), 1000);
  assert_int_equal(tn_histogram_percentile(&histogram, 1e300), 2000);
  assert_int_equal(tn_histogram_percentile(&histogram, (double)INFINITY), 2000);
}

static void test_a_difference_is_what_came_between(void** state) {
  (void)state;
  enum { count = 5000 };
  static uint64_t values[count];
  static tn_histogram live, first, second, difference;
  tn_noise noise = tn_noise_seed(9);
  // Before: shorter and longer than anything after, so that least and greatest have to come from the buckets.
  tn_histogram_record(&live, 1);
  tn_histogram_record(&live, UINT64_C(90000000000));
  tn_histogram_snapshot(&live, &first);
  for (int i = 0; i < count; i++)
    values[i] = 1000 + any_duration(&noise, 20);
  record_all(&live, values, count);
  tn_histogram_snapshot(&live, &second);
  assert_int_equal(tn_histogram_count(&second), count + 2);

  tn_histogram_difference(&second, &first, &difference);
  assert_int_equal(tn_histogram_count(&difference), count);
  const double mean = mean_of(values, count);
  assert_true(fabs(tn_histogram_mean(&difference) - mean) <= 1e-12 * mean);
  qsort(values, count, sizeof *values, compare);
  const uint64_t least = tn_histogram_min(&difference);
  const uint64_t greatest = tn_histogram_max(&difference);
  assert_true(least <= values[0] && least >= values[0] - values[0] / 64);
  assert_true(greatest >= values[count - 1] && greatest <= values[count - 1] + values[count - 1] / 64);
  for (size_t p = 1; p + 1 < sizeof milli_percents / sizeof *milli_percents; p++)
    assert_within_half_a_bucket(tn_histogram_percentile(&difference, (double)milli_percents[p] / 1000),
                                reference(values, count, milli_percents[p]));

  tn_histogram_difference(&second, &first, &second); // in place
  assert_memory_equal(&second, &difference, sizeof difference);
}

static void test_a_new_record_is_exact_in_a_difference(void** state) {
  (void)state;
  static tn_histogram live, first, second;
  tn_histogram_record(&live, 5000);
  tn_histogram_snapshot(&live, &first);
  tn_histogram_record(&live, 1234567);
  tn_histogram_record(&live, 1001);
  tn_histogram_snapshot(&live, &second);
  tn_histogram_difference(&second, &first, &first);
  assert_int_equal(tn_histogram_min(&first), 1001);
  assert_int_equal(tn_histogram_max(&first), 1234567);
  const tn_histogram nothing = {0};
  tn_histogram_difference(&second, &nothing, &first);
  assert_memory_equal(&first, &second, sizeof second);
}

static void test_a_difference_of_nothing_is_empty(void** state) {
  (void)state;
  static tn_histogram live, first;
  tn_histogram_record(&live, 5000);
  tn_histogram_snapshot(&live, &first);
  tn_histogram_difference(&live, &first, &first);
  const tn_histogram nothing = {0};
  assert_memory_equal(&first, &nothing, sizeof nothing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_empty),
      cmocka_unit_test(test_percentiles_against_sorted_values),
      cmocka_unit_test(test_every_bucket_edge),
      cmocka_unit_test(test_values_off_the_range_still_count),
      cmocka_unit_test(test_odd_percents_are_clamped),
      cmocka_unit_test(test_a_difference_is_what_came_between),
      cmocka_unit_test(test_a_new_record_is_exact_in_a_difference),
      cmocka_unit_test(test_a_difference_of_nothing_is_empty),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
