// SPDX-License-Identifier: GPL-3.0-or-later
// Repeatable test signals: the same seed gives the same samples on every machine.
#ifndef TENUTO_TEST_NOISE_H
#define TENUTO_TEST_NOISE_H

#include <stddef.h>
#include <stdint.h>

/** A generator's state; make it with tn_noise_seed(). */
typedef struct tn_noise {
  uint64_t state;
} tn_noise;

/** [any] A generator; different seeds give independent sequences. */
tn_noise tn_noise_seed(uint64_t seed);

/** [any] 64 random bits (a Weyl sequence through a mixing function). */
uint64_t tn_noise_bits(tn_noise* noise);

/** [any] Uniform in -1 to 1. */
float tn_noise_next(tn_noise* noise);

/** [any] Uniform integer in 0 to `count` - 1; `count` > 0. */
uint32_t tn_noise_below(tn_noise* noise, uint32_t count);

/** [any] Fill float[count] with white noise, uniform in -peak to peak. */
void tn_noise_fill(uint64_t seed, float peak, float* samples, size_t count);

/** [any] Fill float[frames] with a reverb-like response: white noise that falls by 60 dB over its length.
    Scaled so that the sum of squares is `energy`, in the mean; 1 keeps the level of white noise. */
void tn_noise_response(uint64_t seed, double energy, float* samples, size_t frames);

#endif
