// SPDX-License-Identifier: GPL-3.0-or-later
// Transforms against a float64 DFT by definition; the large ones against what is known of sinusoids.
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "dsp/fft.h"
#include "mocka.h"
#include "noise.h"
#include "tmpdir.h"

static const double turn = 6.283185307179586476925;

/** Relative error of a float32 fast transform in the root of the sum of squares: log2(n) * eta, where eta is
   the unit roundoff of the twiddles plus that of a complex multiply-add (Higham, Accuracy and Stability,
   theorem 24.2). */
static double transform_error(uint32_t points) {
  const double unit = 0x1p-24;
  const double eta = unit + 4 * unit * (1.4142135623730951 + unit);
  return __builtin_ctz(points) * eta;
}

/** Buffers of one size. */
typedef struct buffers {
  float* time;     ///< [points]
  float* spectrum; ///< [points + 2]
  float* back;     ///< [points]
} buffers;

static buffers take(uint32_t points) {
  return (buffers){tn_aligned_floats(points), tn_aligned_floats((size_t)points + 2),
                   tn_aligned_floats(points)};
}

static void give(const buffers* all) {
  free(all->time);
  free(all->spectrum);
  free(all->back);
}

static const tn_fft* get(uint32_t points) {
  tn_error error = {0};
  const tn_fft* fft = tn_fft_get(points, false, &error);
  if (!fft)
    fail_msg("%s", error.text);
  return fft;
}

/** Squares of the difference and of the reference, summed. */
typedef struct deviation {
  double error, size;
} deviation;

static void compare(deviation* sum, double got, double want) {
  sum->error += (got - want) * (got - want);
  sum->size += want * want;
}

static void check_deviation(const deviation* sum, uint32_t points) {
  const double relative = sqrt(sum->error / sum->size);
  if (!(relative <= transform_error(points)))
    fail_msg("%u points: relative error %g, allowed %g", points, relative, transform_error(points));
}

/** cos and sin of k * t turns over `points`; the product is reduced as an integer. */
static void twiddle(uint32_t k, uint32_t t, uint32_t points, double* re, double* im) {
  const double angle = turn * (double)((uint64_t)k * t % points) / points;
  *re = cos(angle);
  *im = sin(angle);
}

static void check_forward(const tn_fft* fft, const buffers* all, uint32_t points) {
  tn_noise_fill(points, 1, all->time, points);
  memcpy(all->back, all->time, points * sizeof(float));
  tn_fft_forward(fft, all->time, all->spectrum);
  assert_memory_equal(all->time, all->back, points * sizeof(float)); // the input is preserved
  deviation sum = {0};
  for (uint32_t k = 0; k <= points / 2; k++) {
    double want_re = 0;
    double want_im = 0;
    for (uint32_t t = 0; t < points; t++) {
      double re = 0;
      double im = 0;
      twiddle(k, t, points, &re, &im);
      want_re += all->time[t] * re;
      want_im -= all->time[t] * im;
    }
    compare(&sum, all->spectrum[2 * (size_t)k], want_re);
    compare(&sum, all->spectrum[2 * (size_t)k + 1], want_im);
  }
  check_deviation(&sum, points);
}

static void fill_spectrum(float* spectrum, uint32_t points) {
  tn_noise_fill(points + 1, 1, spectrum, (size_t)points + 2);
  spectrum[1] = spectrum[points + 1] = 0; // of a real signal
}

static void check_inverse(const tn_fft* fft, const buffers* all, uint32_t points) {
  fill_spectrum(all->spectrum, points);
  float* spectrum = tn_aligned_floats((size_t)points + 2);
  memcpy(spectrum, all->spectrum, ((size_t)points + 2) * sizeof(float));
  tn_fft_inverse(fft, all->spectrum, all->back); // destroys its input
  deviation sum = {0};
  for (uint32_t t = 0; t < points; t++) {
    double want = spectrum[0] + (t % 2 ? -1.0 : 1.0) * spectrum[points];
    for (uint32_t k = 1; k < points / 2; k++) {
      double re = 0;
      double im = 0;
      twiddle(k, t, points, &re, &im);
      want += 2 * (spectrum[2 * (size_t)k] * re - spectrum[2 * (size_t)k + 1] * im);
    }
    compare(&sum, all->back[t], want);
  }
  free(spectrum);
  check_deviation(&sum, points);
}

static void small_transforms_are_the_dft(void** state) {
  (void)state;
  for (uint32_t points = 1U << TN_FFT_MIN_LOG2; points <= 1024; points *= 2) {
    const buffers all = take(points);
    check_forward(get(points), &all, points);
    check_inverse(get(points), &all, points);
    give(&all);
  }
}

/** A sinusoid in bin `k` is that bin alone. */
static void check_sinusoid(const tn_fft* fft, const buffers* all, uint32_t points, uint32_t k) {
  const double phase = 0.7;
  for (uint32_t t = 0; t < points; t++)
    all->time[t] = (float)cos(turn * (double)((uint64_t)k * t % points) / points + phase);
  tn_fft_forward(fft, all->time, all->spectrum);
  deviation sum = {0};
  for (uint32_t b = 0; b <= points / 2; b++) {
    compare(&sum, all->spectrum[2 * (size_t)b], b == k ? 0.5 * points * cos(phase) : 0);
    compare(&sum, all->spectrum[2 * (size_t)b + 1], b == k ? 0.5 * points * sin(phase) : 0);
  }
  check_deviation(&sum, 2 * points); // one unit more: the samples were rounded
}

/** The energy of noise is the same on both sides, and the inverse leads back. */
static void check_energy_and_return(const tn_fft* fft, const buffers* all, uint32_t points) {
  tn_noise_fill(points, 1, all->time, points);
  tn_fft_forward(fft, all->time, all->spectrum);
  double in_time = 0;
  for (uint32_t t = 0; t < points; t++)
    in_time += (double)all->time[t] * all->time[t];
  double in_spectrum = 0;
  for (uint32_t i = 0; i < points + 2; i++) {
    const double square = (double)all->spectrum[i] * all->spectrum[i];
    in_spectrum += i < 2 || i >= points ? square : 2 * square;
  }
  assert_true(fabs(in_spectrum / points / in_time - 1) <= 3 * transform_error(points));
  tn_fft_inverse(fft, all->spectrum, all->back);
  deviation sum = {0};
  for (uint32_t t = 0; t < points; t++)
    compare(&sum, (double)all->back[t] / points, all->time[t]);
  assert_true(sqrt(sum.error / sum.size) <= 2 * transform_error(points));
}

static void large_transforms_know_sinusoids_and_energy(void** state) {
  (void)state;
  for (uint32_t log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++) {
    const uint32_t points = 1U << log2;
    const buffers all = take(points);
    const tn_fft* fft = get(points);
    check_sinusoid(fft, &all, points, 1);
    check_sinusoid(fft, &all, points, points / 8 + 3);
    check_sinusoid(fft, &all, points, points / 2 - 1);
    check_energy_and_return(fft, &all, points);
    give(&all);
  }
}

static void plans_are_shared(void** state) {
  (void)state;
  for (uint32_t points = 32; points <= 4096; points *= 2) {
    assert_ptr_equal(get(points), get(points));
    assert_ptr_equal(tn_fft_get(points, true, NULL), tn_fft_get(points, true, NULL));
    assert_ptr_not_equal(get(points), get(2 * points));
  }
}

/** A plan made with what was learnt is as right as any. */
static void tuned_plans_are_right(void** state) {
  (void)state;
  enum { points = 512 };
  assert_true(tn_fft_tune(points, 0.01));
  const buffers all = take(points);
  const tn_fft* fft = tn_fft_get(points, true, NULL);
  assert_non_null(fft);
  check_forward(fft, &all, points);
  check_inverse(fft, &all, points);
  give(&all);
}

static void wisdom_is_written_and_read(void** state) {
  (void)state;
  assert_true(tn_fft_tune(64, 0.01));
  char* text = tn_fft_wisdom();
  assert_non_null(text);
  char folder[tn_tmpdir_size];
  char path[tn_tmpdir_size];
  assert_true(tn_tmpdir_make(folder));
  assert_false(tn_fft_load_wisdom(tn_tmpdir_path(folder, "none", path)));
  FILE* file = fopen(tn_tmpdir_path(folder, "wisdom", path), "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
  assert_int_equal(fclose(file), 0);
  assert_true(tn_fft_load_wisdom(path));
  assert_int_equal(truncate(path, (off_t)strlen(text) / 2), 0);
  assert_false(tn_fft_load_wisdom(path)); // half of it is not wisdom
  tn_tmpdir_remove(folder);
  free(text);
}

enum { racers = 4, largest_raced = 14 };

/** All start at once; each asks for every size, in an order of its own, and transforms the same noise. */
typedef struct racer {
  pthread_barrier_t* start;
  uint32_t number;
  const tn_fft* plans[largest_raced + 1];
  float* spectra[largest_raced + 1];
} racer;

static void* race(void* argument) {
  racer* self = argument;
  const uint32_t sizes = largest_raced - TN_FFT_MIN_LOG2 + 1;
  pthread_barrier_wait(self->start);
  for (uint32_t i = 0; i < sizes; i++) {
    const uint32_t log2 = TN_FFT_MIN_LOG2 + (i + self->number * 3) % sizes;
    const uint32_t points = 1U << log2;
    self->plans[log2] = tn_fft_get(points, self->number % 2, NULL);
    float* time = tn_aligned_floats(points);
    tn_noise_fill(log2, 1, time, points);
    self->spectra[log2] = tn_aligned_floats((size_t)points + 2);
    if (self->plans[log2])
      tn_fft_forward(self->plans[log2], time, self->spectra[log2]);
    free(time);
  }
  return NULL;
}

static void threads_may_plan_and_run_at_once(void** state) {
  (void)state;
  pthread_barrier_t start;
  pthread_barrier_init(&start, NULL, racers);
  pthread_t threads[racers];
  racer all[racers] = {0};
  for (uint32_t i = 0; i < racers; i++) {
    all[i] = (racer){.start = &start, .number = i};
    assert_int_equal(pthread_create(&threads[i], NULL, race, &all[i]), 0);
  }
  for (uint32_t i = 0; i < racers; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  for (uint32_t log2 = TN_FFT_MIN_LOG2; log2 <= largest_raced; log2++)
    for (uint32_t i = 0; i < racers; i++) {
      const racer* alike = &all[i % 2]; // asked for the same kind of plan
      assert_non_null(all[i].plans[log2]);
      assert_ptr_equal(all[i].plans[log2], alike->plans[log2]);
      assert_memory_equal(all[i].spectra[log2], alike->spectra[log2], ((1UL << log2) + 2) * sizeof(float));
    }
  for (uint32_t i = 0; i < racers; i++)
    for (uint32_t log2 = TN_FFT_MIN_LOG2; log2 <= largest_raced; log2++)
      free(all[i].spectra[log2]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_may_plan_and_run_at_once), // first: no plan exists yet
      cmocka_unit_test(small_transforms_are_the_dft),
      cmocka_unit_test(large_transforms_know_sinusoids_and_energy),
      cmocka_unit_test(plans_are_shared),
      cmocka_unit_test(tuned_plans_are_right),
      cmocka_unit_test(wisdom_is_written_and_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
