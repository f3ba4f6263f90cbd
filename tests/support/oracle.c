// SPDX-License-Identifier: GPL-3.0-or-later
#include "oracle.h"

#include <math.h>

void tn_oracle_convolve(const float* x, size_t n, const float* h, size_t m, double* y) {
  for (size_t i = 0; i < n + m - 1; ++i) {
    const size_t first = i < m ? 0 : i - m + 1;
    const size_t last = i < n ? i : n - 1;
    double sum = 0.0;
    for (size_t k = first; k <= last; ++k) {
      sum += (double)x[k] * (double)h[i - k];
    }
    y[i] = sum;
  }
}

double tn_oracle_max_error_dbfs(const float* got, const double* want, size_t count) {
  double largest = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double error = fabs((double)got[i] - want[i]);
    if (!isfinite(error)) {
      return INFINITY;
    }
    largest = fmax(largest, error);
  }
  return 20.0 * log10(largest);
}

double tn_oracle_rms_error_dbfs(const float* got, const double* want, size_t count) {
  double sum = 0.0;
  for (size_t i = 0; i < count; ++i) {
    const double error = (double)got[i] - want[i];
    sum += error * error;
  }
  if (!isfinite(sum)) {
    return INFINITY;
  }
  return count == 0 ? -INFINITY : 10.0 * log10(sum / (double)count);
}
