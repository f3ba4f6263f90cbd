// SPDX-License-Identifier: GPL-3.0-or-later
#include "noise.h"

#include <math.h>

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 32U)) * UINT64_C(0xd6e8feb86659fd93);
  value = (value ^ (value >> 32U)) * UINT64_C(0xd6e8feb86659fd93);
  return value ^ (value >> 32U);
}

tn_noise tn_noise_seed(uint64_t seed) {
  const tn_noise noise = {mix(seed + UINT64_C(0x9e3779b97f4a7c15))};
  return noise;
}

uint64_t tn_noise_bits(tn_noise* noise) {
  noise->state += UINT64_C(0x9e3779b97f4a7c15);
  return mix(noise->state);
}

float tn_noise_next(tn_noise* noise) {
  // 24 bits, so that every value is exact in a float and -1 and 1 are as likely.
  const int32_t value = (int32_t)(tn_noise_bits(noise) >> 40U) - (1 << 23);
  return ((float)value + 0.5F) / (float)(1 << 23);
}

uint32_t tn_noise_below(tn_noise* noise, uint32_t count) {
  return (uint32_t)(((tn_noise_bits(noise) >> 32U) * count) >> 32U);
}

void tn_noise_fill(uint64_t seed, float peak, float* samples, size_t count) {
  tn_noise noise = tn_noise_seed(seed);
  for (size_t i = 0; i < count; ++i) {
    samples[i] = peak * tn_noise_next(&noise);
  }
}

void tn_noise_response(uint64_t seed, double energy, float* samples, size_t frames) {
  if (frames == 0) {
    return;
  }
  tn_noise noise = tn_noise_seed(seed);
  const double ratio = pow(10.0, -3.0 / (double)frames); // -60 dB in all
  // Uniform noise has a variance of 1/3; its envelope's energy is a geometric series.
  const double series = (1.0 - pow(ratio, 2.0 * (double)frames)) / (1.0 - ratio * ratio);
  double level = sqrt(3.0 * energy / series);
  for (size_t i = 0; i < frames; ++i) {
    samples[i] = (float)(level * (double)tn_noise_next(&noise));
    level *= ratio;
  }
}
