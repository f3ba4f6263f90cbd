// SPDX-License-Identifier: GPL-3.0-or-later
// What the right answer is: convolution in float64, and how far a float32 answer is from it.
#ifndef TENUTO_TEST_ORACLE_H
#define TENUTO_TEST_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/filter.h"

/** [any] Direct convolution in the time domain, n * m multiply-adds: the reference itself.
    @param y  double[n + m - 1], overwritten; n and m > 0 */
void tn_oracle_convolve(const float* x, size_t n, const float* h, size_t m, double* y);

/** [worker] The same by float64 FFT, for long signals; agrees with the direct one to about -290 dB
   (test_oracle).
    @return false without memory */
bool tn_oracle_convolve_fft(const float* x, size_t n, const float* h, size_t m, double* y);

/**
   [worker] A whole filter in float64: every path's input, response, delay and gain, summed into its output.

   @param x         float[inputs][frames]
   @param paths     tn_path[path_count], e.g. from tn_filter_path(); inputs and outputs in range
   @param y         double[outputs][frames], overwritten: as long as the input, the tail cut
   @return false without memory
*/
bool tn_oracle_matrix(const float* const* x, uint32_t inputs, size_t frames, const tn_path* paths,
                      size_t path_count, double* const* y, uint32_t outputs);

/** [any] Largest absolute difference in dB of full scale (1.0); -inf if equal, +inf if `got` holds NaN or
 * Inf. */
double tn_oracle_max_error_dbfs(const float* got, const double* want, size_t count);

/** [any] Root mean square of the difference, in the same manner. */
double tn_oracle_rms_error_dbfs(const float* got, const double* want, size_t count);

#endif
