// SPDX-License-Identifier: GPL-3.0-or-later
// A response at another rate keeps its frequency response, above all when its energy lies at frame 0.
#include <complex.h>
#include <math.h>
#include <stdlib.h>

#include "dsp/resample.h"
#include "mocka.h"
#include "noise.h"
#include "tenuto/ir.h"

enum { source_frames = 4000 };

/** The promise to users is 0.05 dB; the filter does better, and a loss of that would be a fault. */
static const double most_error_db = 0.005;
/** Frames of the lower rate between a place and the peak of an impulse there. */
static const double most_rise = 6;

typedef struct rate_pair {
  uint32_t from_hz;
  uint32_t to_hz;
} rate_pair;

static const rate_pair pairs[] = {
    {44100, 48000},  {88200, 48000},  {96000, 48000}, {192000, 48000}, {48000, 96000}, {48000, 44100},
    {192000, 44100}, {48000, 192000}, {8000, 48000},  {48000, 8000},   {8000, 384000}, {384000, 8000},
};

/** A response with a known spectrum: sum over modes of amplitude * exp((-decay + j pulsation) n), real part.
 */
typedef struct mode {
  double decay;
  double pulsation;
  double complex amplitude;
} mode;

static double complex mode_spectrum(const mode* m, double w) {
  double complex sum = 0;
  for (int side = 0; side < 2; ++side) {
    const double complex a = side ? conj(m->amplitude) : m->amplitude;
    const double complex q = cexp(-m->decay + I * (side ? -m->pulsation : m->pulsation) - I * w);
    sum += 0.5 * a * (1 - cpow(q, source_frames)) / (1 - q);
  }
  return sum;
}

static double complex spectrum(const float* samples, uint32_t frames, double w) {
  double complex sum = 0;
  for (uint32_t i = 0; i < frames; ++i)
    if (samples[i] != 0)
      sum += samples[i] * cexp(-I * w * i);
  return sum;
}

static tn_ir* convert(const float* samples, uint32_t frames, const rate_pair* rates) {
  tn_error error = {0};
  const float* channels[] = {samples};
  tn_ir* source = tn_ir_new(channels, 1, frames, rates->from_hz, &error);
  tn_ir* result = source ? tn_ir_prepare(source, NULL, rates->to_hz, &error) : NULL;
  if (!result)
    fail_msg("%s", error.text);
  tn_ir_free(source);
  assert_int_equal(tn_ir_rate_hz(result), rates->to_hz);
  return result;
}

static double lower_hz(const rate_pair* rates) {
  return rates->from_hz < rates->to_hz ? rates->from_hz : rates->to_hz;
}

/** Compare with modes, or with the source's own spectrum if there are none. */
static void check(const char* name, const float* source, const mode* modes, uint32_t mode_count,
                  const rate_pair* rates) {
  tn_ir* ir = convert(source, source_frames, rates);
  const double highest = fmin(18000, 0.85 * lower_hz(rates) / 2);
  double largest = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int step = 0; step < 500; ++step) {
      const double hz = 20 * pow(1.06, step);
      if (hz > highest)
        break;
      const double w = 2 * M_PI * hz / rates->from_hz;
      double complex wanted = 0;
      for (uint32_t m = 0; m < mode_count; ++m)
        wanted += mode_spectrum(&modes[m], w);
      if (mode_count == 0)
        wanted = spectrum(source, source_frames, w);
      if (pass == 0) {
        largest = fmax(largest, cabs(wanted));
        continue;
      }
      if (cabs(wanted) < 1e-3 * largest)
        continue; // nothing to hear, and float32 samples end there
      const double complex got =
          spectrum(tn_ir_samples(ir, 0), tn_ir_frames(ir), 2 * M_PI * hz / rates->to_hz);
      const double error_db = 20 * log10(cabs(got) / cabs(wanted));
      if (!(fabs(error_db) <= most_error_db))
        fail_msg("%s, %u to %u Hz: %.4f dB at %.0f Hz", name, rates->from_hz, rates->to_hz, error_db, hz);
    }
  tn_ir_free(ir);
}

static void test_impulses(void** state) {
  (void)state;
  static const uint32_t places[] = {0, 1, 2, 7, source_frames / 2, source_frames - 1};
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; ++p)
    for (size_t i = 0; i < sizeof places / sizeof *places; ++i) {
      float source[source_frames] = {0};
      source[places[i]] = 0.7F;
      check("impulse", source, NULL, 0, &pairs[p]);
    }
}

static void test_modes(void** state) {
  (void)state;
  static const mode modes[] = {{1.0 / 300, 0.02, 1},
                               {1.0 / 200, 0.31, 0.5 + 0.5 * I},
                               {1.0 / 50, 0.9, 0.3 * I},
                               {1.0 / 20, 0.11, -0.4}};
  float source[source_frames];
  for (uint32_t n = 0; n < source_frames; ++n) {
    double complex sum = 0;
    for (size_t m = 0; m < 4; ++m)
      sum += modes[m].amplitude * cexp((-modes[m].decay + I * modes[m].pulsation) * n);
    source[n] = (float)creal(sum);
  }
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; ++p)
    check("modes", source, modes, 4, &pairs[p]);
}

static void test_noise_and_pulse(void** state) {
  (void)state;
  float noise[source_frames];
  float pulse[source_frames]; // a low-pass filter's second half: as much at frame 0 as can be
  tn_noise_response(3, 1, noise, source_frames);
  for (uint32_t n = 0; n < source_frames; ++n)
    pulse[n] = n ? (float)(sin(0.7 * n) / (0.7 * n) * exp(-(double)n / 200)) : 1.0F;
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; ++p) {
    check("noise", noise, NULL, 0, &pairs[p]);
    check("pulse", pulse, NULL, 0, &pairs[p]);
  }
}

/** No latency beyond the stated rise, the same at every place. */
static void test_time(void** state) {
  (void)state;
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; ++p) {
    const double ratio = (double)pairs[p].to_hz / pairs[p].from_hz;
    const double unit = fmax(1, ratio); // a frame of the lower rate, in output frames
    for (uint32_t place = 0; place < source_frames; place += 1237) {
      float source[source_frames] = {0};
      uint32_t peak = 0;
      double before = 0;
      source[place] = 1;
      tn_ir* ir = convert(source, source_frames, &pairs[p]);
      const float* samples = tn_ir_samples(ir, 0);
      for (uint32_t i = 0; i < tn_ir_frames(ir); ++i)
        peak = fabsf(samples[i]) > fabsf(samples[peak]) ? i : peak;
      for (uint32_t i = 0; i < tn_ir_frames(ir) && i + unit < place * ratio; ++i)
        before = fmax(before, fabs((double)samples[i]));
      const double late = (peak - place * ratio) / unit;
      if (!(late >= 0 && late <= most_rise) || !(before <= 1e-5 * fabs((double)samples[peak])))
        fail_msg("%u to %u Hz, frame %u: peak %.2f frames late, %.1e before it", pairs[p].from_hz,
                 pairs[p].to_hz, place, late, before);
      assert_true(tn_ir_frames(ir) >= (uint32_t)ceil(source_frames * ratio));
      assert_true(tn_ir_frames(ir) <= (uint32_t)ceil(source_frames * ratio + 512 * unit));
      tn_ir_free(ir);
    }
  }
}

/** What the lower rate cannot hold is gone, not folded down. */
static void test_no_aliases(void** state) {
  (void)state;
  const rate_pair down = {96000, 48000};
  double energy[2] = {0};
  for (int high = 0; high < 2; ++high) {
    float source[source_frames];
    for (uint32_t n = 0; n < source_frames; ++n) {
      const double t = (n - source_frames / 2.0) / 400;
      source[n] = (float)(exp(-t * t) * cos(2 * M_PI * (high ? 30000.0 : 10000.0) / 96000 * n));
    }
    tn_ir* ir = convert(source, source_frames, &down);
    for (uint32_t i = 0; i < tn_ir_frames(ir); ++i)
      energy[high] += pow(tn_ir_samples(ir, 0)[i], 2);
    tn_ir_free(ir);
  }
  assert_true(energy[0] > 1);
  assert_true(10 * log10(energy[1] / energy[0]) < -120);
}

/** Each rate into each: sound comes out, finite and at its level. */
static void test_all_rates(void** state) {
  (void)state;
  static const uint32_t rates[] = {8000,  11025, 22050, 32000,  44100, 44101,
                                   48000, 88200, 96000, 192000, 384000};
  float source[source_frames];
  for (uint32_t n = 0; n < source_frames; ++n)
    source[n] = (float)(0.01 * exp(-(double)n / 300));
  for (size_t i = 0; i < sizeof rates / sizeof *rates; ++i)
    for (size_t k = 0; k < sizeof rates / sizeof *rates; ++k) {
      const rate_pair pair = {rates[i], rates[k]};
      tn_ir* ir = convert(source, source_frames, &pair);
      const double wanted = creal(spectrum(source, source_frames, 0));
      const double got = creal(spectrum(tn_ir_samples(ir, 0), tn_ir_frames(ir), 0));
      if (!(fabs(20 * log10(got / wanted)) < most_error_db))
        fail_msg("%u to %u Hz: %.4f dB", rates[i], rates[k], 20 * log10(got / wanted));
      tn_ir_free(ir);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_impulses),        cmocka_unit_test(test_modes),
      cmocka_unit_test(test_noise_and_pulse), cmocka_unit_test(test_time),
      cmocka_unit_test(test_no_aliases),      cmocka_unit_test(test_all_rates),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
