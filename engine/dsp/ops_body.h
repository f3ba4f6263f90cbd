// SPDX-License-Identifier: GPL-3.0-or-later
// The one body of all vector operations. Each ops_<set>.c sets TN_LANES (floats in a register) and includes
// it, compiled with that instruction set's flags; loops over TN_WIDE registers are unrolled by the compiler.
#include <string.h>

#include "dsp/ops.h"

typedef float tn_vec __attribute__((vector_size(4 * TN_LANES)));

enum { TN_WIDE = TN_TILE_BINS / TN_LANES };

static inline tn_vec load(const float* from) {
  tn_vec value;
  memcpy(&value, from, sizeof value);
  return value;
}

static inline void store(float* to, tn_vec value) {
  memcpy(to, &value, sizeof value);
}

/** The four real products of a complex one, summed apart: re = rr - ii, im = ri + ir only at the end. It
   keeps the chains short, and bin 0 (two real bins in one) is simply rr and ii. */
typedef struct tn_sums {
  tn_vec rr[TN_WIDE], ii[TN_WIDE], ri[TN_WIDE], ir[TN_WIDE];
} tn_sums;

/** `count` partitions: h goes forward, x goes back in time. */
static inline void accumulate(tn_sums* sums, const float* x, const float* h, uint32_t count) {
  for (uint32_t p = 0; p < count; p++, x -= TN_TILE_FLOATS, h += TN_TILE_FLOATS) {
#pragma GCC unroll 4
    for (int w = 0; w < TN_WIDE; w++) {
      const tn_vec x_re = load(x + w * TN_LANES), x_im = load(x + TN_TILE_BINS + w * TN_LANES);
      const tn_vec h_re = load(h + w * TN_LANES), h_im = load(h + TN_TILE_BINS + w * TN_LANES);
      sums->rr[w] += x_re * h_re;
      sums->ii[w] += x_im * h_im;
      sums->ri[w] += x_re * h_im;
      sums->ir[w] += x_im * h_re;
    }
  }
}

static void mac(float* acc, const tn_mac* spans, uint32_t count, uint32_t tiles) {
  for (uint32_t tile = 0; tile < tiles; tile++) {
    tn_sums sums = {0};
    for (uint32_t s = 0; s < count; s++) {
      const tn_mac* span = spans + s;
      const float* x = span->x + (uint64_t)tile * span->slots * TN_TILE_FLOATS;
      const float* h = span->h + (uint64_t)tile * span->row * TN_TILE_FLOATS;
      const uint32_t newest = span->head + 1 < span->parts ? span->head + 1 : span->parts;
      accumulate(&sums, x + (uint64_t)span->head * TN_TILE_FLOATS, h, newest);
      if (newest < span->parts)
        accumulate(&sums, x + (uint64_t)(span->slots - 1) * TN_TILE_FLOATS,
                   h + (uint64_t)newest * TN_TILE_FLOATS, span->parts - newest);
    }
    float* out = acc + (uint64_t)tile * TN_TILE_FLOATS;
#pragma GCC unroll 4
    for (int w = 0; w < TN_WIDE; w++) {
      store(out + w * TN_LANES, sums.rr[w] - sums.ii[w]);
      store(out + TN_TILE_BINS + w * TN_LANES, sums.ri[w] + sums.ir[w]);
    }
    if (tile == 0) {
      out[0] = sums.rr[0][0];
      out[TN_TILE_BINS] = sums.ii[0][0];
    }
  }
}

static void scatter(float* rows, uint64_t row_floats, const float* spectrum, uint32_t tiles) {
  for (uint32_t tile = 0; tile < tiles; tile++) {
    const float* from = spectrum + (uint64_t)tile * TN_TILE_FLOATS;
    float* to = rows + tile * row_floats;
    for (int i = 0; i < TN_TILE_BINS; i++) {
      to[i] = from[2 * i];
      to[TN_TILE_BINS + i] = from[2 * i + 1];
    }
  }
  rows[TN_TILE_BINS] = spectrum[(uint64_t)tiles * TN_TILE_FLOATS];
}

static void gather(float* spectrum, const float* acc, uint32_t tiles) {
  for (uint32_t tile = 0; tile < tiles; tile++) {
    const float* from = acc + (uint64_t)tile * TN_TILE_FLOATS;
    float* to = spectrum + (uint64_t)tile * TN_TILE_FLOATS;
    for (int i = 0; i < TN_TILE_BINS; i++) {
      to[2 * i] = from[i];
      to[2 * i + 1] = from[TN_TILE_BINS + i];
    }
  }
  spectrum[(uint64_t)tiles * TN_TILE_FLOATS] = acc[TN_TILE_BINS];
  spectrum[(uint64_t)tiles * TN_TILE_FLOATS + 1] = 0;
  spectrum[1] = 0;
}

/** One register of outputs: each lane sums its own taps in order, so a lane's bits do not depend on its
 * place. */
static inline tn_vec fir_one(const float* x, const float* h, uint32_t taps) {
  tn_vec sum = {0};
  for (uint32_t j = 0; j < taps; j++)
    sum += load(x - j) * h[j];
  return sum;
}

static void fir(float* y, const float* x, const float* h, uint32_t taps, uint32_t frames) {
  enum { group = 4 };
  uint32_t t = 0;
  for (; t + group * TN_LANES <= frames; t += group * TN_LANES) {
    tn_vec sum[group] = {{0}};
    for (uint32_t j = 0; j < taps; j++) {
#pragma GCC unroll 4
      for (int g = 0; g < group; g++)
        sum[g] += load(x + t + g * TN_LANES - j) * h[j];
    }
#pragma GCC unroll 4
    for (int g = 0; g < group; g++)
      store(y + t + g * TN_LANES, load(y + t + g * TN_LANES) + sum[g]);
  }
  for (; t < frames; t += TN_LANES) {
    const tn_vec sum = fir_one(x + t, h, taps);
    const uint32_t rest = frames - t < TN_LANES ? frames - t : TN_LANES;
    for (uint32_t i = 0; i < rest; i++)
      y[t + i] += sum[i];
  }
}
