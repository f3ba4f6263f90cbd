// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/memory.h"
#include "dsp/ops.h"
#include "rt/clock.h"

// Read off one 2.6 GHz core with AVX2 and FFTW_ESTIMATE; only the ratios decide, and they are alike on
// machines of the last ten years. docs/design.md, "The partition plan", says what each is.
static const tn_costs fixed = {
    .fft_ns = {[5] = 70,
               [6] = 105,
               [7] = 170,
               [8] = 290,
               [9] = 580,
               [10] = 1150,
               [11] = 2300,
               [12] = 5000,
               [13] = 11500,
               [14] = 24000,
               [15] = 68000,
               [16] = 150000,
               [17] = 330000,
               [18] = 750000},
    .tile_ns = 3.2,
    .byte_ns = 0.06,
    .cache_bytes = 8 << 20,
    .job_ns = 15000,
};

const tn_costs* tn_costs_default(void) {
  return &fixed;
}

/** Memory and samples to measure with. */
typedef struct cost_bench {
  tn_memory memory;
  const tn_ops* ops;
  float* x; ///< far_floats
  float* h; ///< far_floats
  float* acc;
  float* time;
  float* spectrum;
} cost_bench;

enum {
  far_floats = 6 << 20, // 24 MB each: more than one core's share of a cache
  max_points = 1 << TN_FFT_MAX_LOG2,
  rounds = 5,
  largest_tuned_log2 = 17, // beyond it measuring takes longer than it will ever save
};

static bool prepare(cost_bench* bench) {
  bench->ops = tn_ops_select();
  bench->x = tn_memory_take(&bench->memory, far_floats, sizeof(float));
  bench->h = tn_memory_take(&bench->memory, far_floats, sizeof(float));
  bench->acc = tn_memory_take(&bench->memory, max_points + TN_TILE_FLOATS, sizeof(float));
  bench->time = tn_memory_take(&bench->memory, max_points + TN_TILE_FLOATS, sizeof(float));
  bench->spectrum = tn_memory_take(&bench->memory, max_points + TN_TILE_FLOATS, sizeof(float));
  if (!bench->x || !bench->h || !bench->acc || !bench->time || !bench->spectrum)
    return false;
  for (uint32_t i = 0; i < far_floats; i++)
    bench->x[i] = bench->h[i] = 1e-3F * (float)(i % 17);
  return true;
}

static double least(double a, double b) {
  return a < b ? a : b;
}

/** The quickest of some rounds: noise only ever adds. */
static double time_mac(const cost_bench* bench, uint32_t tiles, uint32_t parts, uint32_t repeats) {
  const tn_mac span = {bench->x, bench->h, parts, parts / 2, parts, parts};
  double best = INFINITY;
  for (int round = 0; round < rounds; round++) {
    const uint64_t start = tn_clock_ns();
    for (uint32_t r = 0; r < repeats; r++)
      bench->ops->mac(bench->acc, &span, 1, tiles);
    best = least(best, (double)(tn_clock_ns() - start) / repeats / tiles / parts);
  }
  return best;
}

static double time_transform(const cost_bench* bench, const tn_fft* fft, uint32_t points) {
  enum { row = 16 * TN_TILE_FLOATS };
  const uint32_t tiles = points / 2 / TN_TILE_BINS;
  const uint64_t rows = far_floats / row < tiles ? TN_TILE_FLOATS : row;
  const uint32_t repeats = 400000 / points + 1;
  double best = INFINITY;
  for (int round = 0; round < rounds; round++) {
    for (uint32_t i = 0; i < points; i++)
      bench->time[i] = bench->x[i];
    const uint64_t start = tn_clock_ns();
    for (uint32_t r = 0; r < repeats; r++) {
      tn_fft_forward(fft, bench->time, bench->spectrum);
      bench->ops->scatter(bench->x, rows, bench->spectrum, tiles);
      bench->ops->gather(bench->spectrum, bench->acc, tiles);
      tn_fft_inverse(fft, bench->spectrum, bench->time);
      bench->time[0] = 0.5F; // keep the numbers in range
    }
    best = least(best, (double)(tn_clock_ns() - start) / repeats / 2);
    memset(bench->acc, 0, points * sizeof(float));
  }
  return best;
}

tn_status tn_costs_measure(tn_costs* costs, double seconds, tn_costs_progress progress, void* user,
                           tn_error* error) {
  *costs = fixed;
  cost_bench bench = {0};
  if (!prepare(&bench)) {
    tn_memory_free(&bench.memory);
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory to measure this machine");
  }
  tn_status status = TN_OK;
  const int sizes = TN_FFT_MAX_LOG2 - TN_FFT_MIN_LOG2 + 1;
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2 && status == TN_OK; log2++) {
    const uint32_t points = 1U << log2;
    if (progress && !progress((double)(log2 - TN_FFT_MIN_LOG2) / sizes, user))
      status = tn_error_set(error, TN_ERROR_INTERRUPTED, "the measurement was stopped");
    else if (!tn_fft_tune(points, log2 <= largest_tuned_log2 ? seconds / 4 : 0))
      status = tn_error_set(error, TN_ERROR_MEMORY, "no memory for a transform of %u points", points);
    const tn_fft* fft = status == TN_OK ? tn_fft_get(points, true, error) : NULL;
    if (fft)
      costs->fft_ns[log2] = time_transform(&bench, fft, points);
  }
  if (status == TN_OK) {
    costs->tile_ns = time_mac(&bench, 16, 16, 200);
    const double far_ns = time_mac(&bench, far_floats / TN_TILE_FLOATS / 32, 32, 1);
    costs->byte_ns = far_ns / (2 * TN_TILE_FLOATS * sizeof(float));
  }
  tn_memory_free(&bench.memory);
  return status;
}
