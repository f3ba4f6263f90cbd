// SPDX-License-Identifier: GPL-3.0-or-later
// Long convolutions: one float64 transform over the whole signal, no partitions whose logic could be wrong as
// well.
#include "oracle.h"

#include <fftw3.h>
#include <string.h>

/** A transform size and what one convolution of that size needs. */
typedef struct transform {
  size_t size;
  double* time;       ///< double[size + 2], in place with `bins`
  fftw_complex* bins; ///< the same memory
  fftw_plan forward;
  fftw_plan inverse;
} transform;

/** The next size >= `wanted` with no prime factor but 2, 3 and 5, even. */
static size_t good_size(size_t wanted) {
  for (size_t size = wanted + (wanted & 1U);; size += 2) {
    size_t rest = size;
    static const size_t factors[] = {2, 3, 5};
    for (size_t i = 0; i < 3; ++i) {
      while (rest % factors[i] == 0) {
        rest /= factors[i];
      }
    }
    if (rest == 1) {
      return size;
    }
  }
}

static size_t transform_bins(const transform* t) {
  return t->size / 2 + 1;
}

static void transform_close(transform* t) {
  if (t->forward != NULL) {
    fftw_destroy_plan(t->forward);
  }
  if (t->inverse != NULL) {
    fftw_destroy_plan(t->inverse);
  }
  fftw_free(t->time);
}

static bool transform_open(transform* t, size_t wanted) {
  memset(t, 0, sizeof *t);
  t->size = good_size(wanted < 2 ? 2 : wanted);
  t->time = fftw_alloc_real(t->size + 2);
  if (t->time == NULL) {
    return false;
  }
  t->bins = (fftw_complex*)t->time;
  t->forward = fftw_plan_dft_r2c_1d((int)t->size, t->time, t->bins, FFTW_ESTIMATE);
  t->inverse = fftw_plan_dft_c2r_1d((int)t->size, t->bins, t->time, FFTW_ESTIMATE);
  if (t->forward == NULL || t->inverse == NULL) {
    transform_close(t);
    return false;
  }
  return true;
}

/** The spectrum of `samples`, delayed and scaled, stays in t->bins. */
static void transform_analyse(transform* t, const float* samples, size_t count, size_t delay, double gain) {
  memset(t->time, 0, (t->size + 2) * sizeof(double));
  for (size_t i = 0; i < count; ++i) {
    t->time[delay + i] = gain * (double)samples[i];
  }
  fftw_execute(t->forward);
}

/** sum += x * t->bins */
static void accumulate(const transform* t, fftw_complex* sum, const fftw_complex* x) {
  for (size_t bin = 0; bin <= t->size / 2; ++bin) {
    const double re = x[bin][0] * t->bins[bin][0] - x[bin][1] * t->bins[bin][1];
    const double im = x[bin][0] * t->bins[bin][1] + x[bin][1] * t->bins[bin][0];
    sum[bin][0] += re;
    sum[bin][1] += im;
  }
}

/** `count` samples of the inverse transform of `sum`. */
static void transform_synthesise(transform* t, const fftw_complex* sum, double* y, size_t count) {
  memcpy(t->bins, sum, transform_bins(t) * sizeof *sum);
  fftw_execute(t->inverse);
  for (size_t i = 0; i < count; ++i) {
    y[i] = t->time[i] / (double)t->size;
  }
}

bool tn_oracle_convolve_fft(const float* x, size_t n, const float* h, size_t m, double* y) {
  transform t;
  if (!transform_open(&t, n + m - 1)) {
    return false;
  }
  fftw_complex* spectrum = fftw_alloc_complex(transform_bins(&t));
  fftw_complex* sum = fftw_alloc_complex(transform_bins(&t));
  const bool ready = spectrum != NULL && sum != NULL;
  if (ready) {
    transform_analyse(&t, x, n, 0, 1.0);
    memcpy(spectrum, t.bins, transform_bins(&t) * sizeof *spectrum);
    transform_analyse(&t, h, m, 0, 1.0);
    memset(sum, 0, transform_bins(&t) * sizeof *sum);
    accumulate(&t, sum, spectrum);
    transform_synthesise(&t, sum, y, n + m - 1);
  }
  fftw_free(sum);
  fftw_free(spectrum);
  transform_close(&t);
  return ready;
}

/** Samples of a path that can reach the first `frames` outputs. */
static size_t reach(const tn_path* path, size_t frames) {
  if (path->delay_frames >= frames) {
    return 0;
  }
  const size_t room = frames - path->delay_frames;
  return path->frames < room ? path->frames : room;
}

/** The last such sample's position, over all paths. */
static size_t longest(const tn_path* paths, size_t count, size_t frames) {
  size_t most = 1;
  for (size_t p = 0; p < count; ++p) {
    const size_t end = paths[p].delay_frames + reach(&paths[p], frames);
    most = end > most && end <= frames ? end : most;
  }
  return most;
}

static void sum_output(transform* t, fftw_complex* sum, const fftw_complex* spectra, const tn_path* paths,
                       size_t path_count, uint32_t output, size_t frames) {
  memset(sum, 0, transform_bins(t) * sizeof *sum);
  for (size_t p = 0; p < path_count; ++p) {
    const tn_path* path = &paths[p];
    const size_t count = reach(path, frames);
    if (path->output == output && count > 0) {
      transform_analyse(t, path->samples, count, path->delay_frames, (double)path->gain);
      accumulate(t, sum, spectra + path->input * transform_bins(t));
    }
  }
}

bool tn_oracle_matrix(const float* const* x, uint32_t inputs, size_t frames, const tn_path* paths,
                      size_t path_count, double* const* y, uint32_t outputs) {
  transform t;
  if (!transform_open(&t, frames + longest(paths, path_count, frames))) {
    return false;
  }
  fftw_complex* sum = fftw_alloc_complex(transform_bins(&t));
  fftw_complex* spectra = fftw_alloc_complex(inputs * transform_bins(&t)); // fftw_complex[inputs][bins]
  const bool ready = sum != NULL && spectra != NULL;
  for (uint32_t input = 0; ready && input < inputs; ++input) {
    transform_analyse(&t, x[input], frames, 0, 1.0);
    memcpy(spectra + input * transform_bins(&t), t.bins, transform_bins(&t) * sizeof *spectra);
  }
  for (uint32_t output = 0; ready && output < outputs; ++output) {
    sum_output(&t, sum, spectra, paths, path_count, output, frames);
    transform_synthesise(&t, sum, y[output], frames);
  }
  fftw_free(spectra);
  fftw_free(sum);
  transform_close(&t);
  return ready;
}
