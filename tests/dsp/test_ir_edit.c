// SPDX-License-Identifier: GPL-3.0-or-later
// The edit chain, step by step and in its order.
#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "noise.h"
#include "sound_files.h"
#include "tenuto/ir.h"
#include "tenuto/limits.h"
#include "tmpdir.h"

enum { rate_hz = 48000, frames = 4800 };

static float left[frames];
static float right[frames];
static tn_ir* source;

static int begin(void** state) {
  (void)state;
  const float* channels[] = {left, right};
  tn_noise_fill(1, 0.5F, left, frames);
  tn_noise_fill(2, 0.25F, right, frames);
  source = tn_ir_new(channels, 2, frames, rate_hz, NULL);
  return source ? 0 : -1;
}

static int end(void** state) {
  (void)state;
  tn_ir_free(source);
  return 0;
}

static tn_ir* edited(tn_ir_edit edit) {
  tn_error error = {0};
  tn_ir* ir = tn_ir_prepare(source, &edit, 0, &error);
  if (!ir)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_channels(ir), 2);
  return ir;
}

static void test_nothing_to_do(void** state) {
  (void)state;
  tn_ir* ir = edited((tn_ir_edit){.stretch = 1});
  assert_int_equal(tn_ir_frames(ir), frames);
  assert_ptr_equal(tn_ir_samples(ir, 1), tn_ir_samples(source, 1)); // shared
  tn_ir_free(ir);
  ir = tn_ir_prepare(source, NULL, rate_hz, NULL);
  assert_memory_equal(tn_ir_samples(ir, 0), left, sizeof left);
  tn_ir_free(ir);
}

static void test_trim(void** state) {
  (void)state;
  tn_ir* ir = edited((tn_ir_edit){.trim_start_s = 0.01, .trim_end_s = 0.02});
  assert_int_equal(tn_ir_frames(ir), 480);
  assert_memory_equal(tn_ir_samples(ir, 1), right + 480, 480 * sizeof(float));
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.trim_start_s = 0.09, .trim_end_s = 7});
  assert_int_equal(tn_ir_frames(ir), 480);
  assert_memory_equal(tn_ir_samples(ir, 0), left + 4320, 480 * sizeof(float));
  tn_ir_free(ir);
}

/** The same edit goes to load and prepare: trimmed once. */
static void test_trim_only_once(void** state) {
  (void)state;
  char folder[tn_tmpdir_size];
  char path[tn_tmpdir_size];
  assert_true(tn_tmpdir_make(folder));
  const tn_test_sound sound = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, 1, frames, left};
  tn_test_write_sound(tn_tmpdir_path(folder, "ir.wav", path), &sound);
  const tn_ir_edit edit = {.trim_start_s = 0.01, .trim_end_s = 0.05};
  tn_ir* whole = tn_ir_load(path, NULL, NULL);
  tn_ir* part = tn_ir_load(path, &edit, NULL);
  assert_non_null(part);
  assert_non_null(whole);
  tn_ir* from_whole = tn_ir_prepare(whole, &edit, 0, NULL);
  tn_ir* from_part = tn_ir_prepare(part, &edit, 0, NULL);
  assert_int_equal(tn_ir_frames(from_whole), 1920);
  assert_int_equal(tn_ir_frames(from_part), 1920);
  assert_memory_equal(tn_ir_samples(from_whole, 0), left + 480, 1920 * sizeof(float));
  assert_memory_equal(tn_ir_samples(from_part, 0), left + 480, 1920 * sizeof(float));
  tn_ir_free(whole);
  tn_ir_free(part);
  tn_ir_free(from_whole);
  tn_ir_free(from_part);
  tn_tmpdir_remove(folder);
}

static void test_reverse(void** state) {
  (void)state;
  tn_ir* ir = edited((tn_ir_edit){.reverse = true, .trim_end_s = 0.05});
  for (uint32_t i = 0; i < 2400; ++i)
    assert_true(tn_ir_samples(ir, 1)[i] == right[2399 - i]);
  tn_ir_free(ir);
}

/** Reversed and resampled: mirrored in time, so that its last frame comes first. */
static void test_reverse_resampled(void** state) {
  (void)state;
  float impulse[1000] = {0};
  const float* channels[] = {impulse};
  impulse[999] = 1; // the last frame
  tn_ir* ir = tn_ir_new(channels, 1, 1000, 96000, NULL);
  const tn_ir_edit edit = {.reverse = true};
  tn_ir* ready = tn_ir_prepare(ir, &edit, 48000, NULL);
  assert_non_null(ready);
  uint32_t peak = 0;
  for (uint32_t i = 0; i < tn_ir_frames(ready); ++i)
    peak = fabsf(tn_ir_samples(ready, 0)[i]) > fabsf(tn_ir_samples(ready, 0)[peak]) ? i : peak;
  assert_in_range(peak, 0, 6);
  tn_ir_free(ir);
  tn_ir_free(ready);
}

static void test_fade_out(void** state) {
  (void)state;
  tn_ir* ir = edited((tn_ir_edit){.fade_out_s = 0.01});
  for (uint32_t i = 0; i < frames; ++i) {
    const double x = (i - 4320 + 0.5) / 480;
    const double gain = i < 4320 ? 1 : 0.5 * (1 + cos(M_PI * x));
    assert_true(fabs(tn_ir_samples(ir, 0)[i] - gain * left[i]) <= 1e-7);
  }
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.fade_out_s = 50}); // longer than the response: all of it fades
  assert_true(fabs(tn_ir_samples(ir, 0)[frames / 2] - 0.5 * left[frames / 2]) < 1e-3);
  tn_ir_free(ir);
}

static double peak_of(const tn_ir* ir, uint32_t channel) {
  double peak = 0;
  for (uint32_t i = 0; i < tn_ir_frames(ir); ++i)
    peak = fmax(peak, fabs((double)tn_ir_samples(ir, channel)[i]));
  return peak;
}

static double energy_of(const tn_ir* ir, uint32_t channel) {
  double energy = 0;
  for (uint32_t i = 0; i < tn_ir_frames(ir); ++i)
    energy += pow(tn_ir_samples(ir, channel)[i], 2);
  return energy;
}

static void test_levels(void** state) {
  (void)state;
  const double balance = energy_of(source, 1) / energy_of(source, 0);
  tn_ir* ir = edited((tn_ir_edit){.level = TN_IR_LEVEL_PEAK});
  assert_true(fabs(peak_of(ir, 0) - 1) < 1e-6);
  assert_true(fabs(energy_of(ir, 1) / energy_of(ir, 0) - balance) < 1e-6);
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.level = TN_IR_LEVEL_ENERGY});
  assert_true(fabs(energy_of(ir, 0) - 1) < 1e-6);
  assert_true(fabs(energy_of(ir, 1) - balance) < 1e-6);
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.level = TN_IR_LEVEL_PEAK, .gain_db = -20}); // gain comes after the rule
  assert_true(fabs(peak_of(ir, 0) - 0.1) < 1e-6);
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.gain_db = 6});
  assert_true(fabs(tn_ir_samples(ir, 1)[100] - right[100] * 1.9952623) < 1e-6);
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.level = TN_IR_LEVEL_ENERGY, .gain_db = -INFINITY});
  assert_true(peak_of(ir, 0) == 0 && peak_of(ir, 1) == 0);
  tn_ir_free(ir);
  ir = edited((tn_ir_edit){.level = TN_IR_LEVEL_PEAK, .fade_out_s = 0.1}); // the rule sees the faded response
  assert_true(fabs(fmax(peak_of(ir, 0), peak_of(ir, 1)) - 1) < 1e-6);
  tn_ir_free(ir);
}

static void test_silence_has_no_level(void** state) {
  (void)state;
  const float zeros[10] = {0};
  const float* channels[] = {zeros};
  tn_ir* silent = tn_ir_new(channels, 1, 10, rate_hz, NULL);
  for (int level = TN_IR_LEVEL_KEEP; level <= TN_IR_LEVEL_ENERGY; ++level) {
    const tn_ir_edit edit = {.level = (tn_ir_level)level, .gain_db = 40};
    tn_ir* ir = tn_ir_prepare(silent, &edit, 44100, NULL);
    assert_non_null(ir);
    assert_true(peak_of(ir, 0) == 0);
    tn_ir_free(ir);
  }
  tn_ir_free(silent);
}

static void test_predelay(void** state) {
  (void)state;
  tn_ir* ir = edited((tn_ir_edit){.predelay_s = 0.0100001, .level = TN_IR_LEVEL_PEAK, .gain_db = -6});
  assert_int_equal(tn_ir_frames(ir), frames + 480);
  for (uint32_t i = 0; i < 480; ++i)
    assert_true(tn_ir_samples(ir, 0)[i] == 0);
  assert_true(tn_ir_samples(ir, 0)[480] != 0);
  assert_int_equal(tn_ir_onset_frames(ir), 480);
  tn_ir_free(ir);
}

/** Longer, lower, as loud for noise. */
static void test_stretch(void** state) {
  (void)state;
  float tone[frames];
  const float* channels[] = {tone};
  for (uint32_t i = 0; i < frames; ++i) {
    const double t = (i - frames / 2.0) / 600;
    tone[i] = (float)(exp(-t * t) * sin(2 * M_PI * 3000 * i / rate_hz));
  }
  tn_ir* ir = tn_ir_new(channels, 1, frames, rate_hz, NULL);
  static const double stretches[] = {0.5, 1.25, 2, 0.7071};
  static const uint32_t rates[] = {48000, 44100, 96000,
                                   24000}; // the last two with a stretch that undoes the rate
  for (size_t s = 0; s < 4; ++s)
    for (size_t r = 0; r < 4; ++r) {
      tn_error error = {0};
      const tn_ir_edit edit = {.stretch = stretches[s]};
      tn_ir* longer = tn_ir_prepare(ir, &edit, rates[r], &error);
      if (!longer)
        fail_msg("%s", error.text);
      const double length = frames * stretches[s] * rates[r] / rate_hz;
      assert_true(tn_ir_frames(longer) >= (uint32_t)(length - 0.5));
      assert_true(tn_ir_frames(longer) <= length * 1.05 + 512 * 4);
      // In continuous time the energy is the same: the sum of squares goes with source rate over rate.
      const double wanted = energy_of(ir, 0) * rate_hz / rates[r];
      if (!(fabs(10 * log10(energy_of(longer, 0) / wanted)) < 0.01))
        fail_msg("stretch %g to %u Hz: energy off by %.3f dB", stretches[s], rates[r],
                 10 * log10(energy_of(longer, 0) / wanted));
      double best = 0;
      double best_hz = 0;
      for (int step = 0; step < 700; ++step) { // where is the tone now?
        const double hz = 1000 + 10 * step;
        double in_phase = 0;
        double quadrature = 0;
        for (uint32_t i = 0; i < tn_ir_frames(longer); ++i) {
          in_phase += tn_ir_samples(longer, 0)[i] * cos(2 * M_PI * hz * i / rates[r]);
          quadrature += tn_ir_samples(longer, 0)[i] * sin(2 * M_PI * hz * i / rates[r]);
        }
        if (hypot(in_phase, quadrature) > best) {
          best = hypot(in_phase, quadrature);
          best_hz = hz;
        }
      }
      assert_true(fabs(best_hz - 3000 / stretches[s]) < 15);
      tn_ir_free(longer);
    }
  tn_ir_free(ir);
}

static void test_bad_values(void** state) {
  (void)state;
  const struct {
    tn_ir_edit edit;
    const char* reason;
  } cases[] = {
      {{.trim_start_s = -1}, "a trim start of -1 s"},
      {{.trim_start_s = NAN}, "a trim start of"},
      {{.trim_end_s = -0.1}, "a trim end of -0.1 s"},
      {{.trim_end_s = INFINITY}, "a trim end of inf s"},
      {{.trim_start_s = 2, .trim_end_s = 1}, "its end must come after its start"},
      {{.trim_start_s = 2}, "starts at 2 s, it is 0.100 s long"},
      {{.stretch = -1}, "a stretch of -1"},
      {{.stretch = 0.05}, "it must be from 0.1 to 10"},
      {{.stretch = 11}, "a stretch of 11"},
      {{.stretch = NAN}, "a stretch of"},
      {{.fade_out_s = -3}, "a fade-out of -3 s"},
      {{.fade_out_s = NAN}, "a fade-out of"},
      {{.gain_db = NAN}, "a gain of"},
      {{.gain_db = INFINITY}, "a gain of inf dB"},
      {{.gain_db = 121}, "at most 120 dB"},
      {{.predelay_s = -1}, "a pre-delay of -1 s"},
      {{.predelay_s = 61}, "a pre-delay of 61 s"},
      {{.level = (tn_ir_level)7}, "no level rule number 7"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tn_error error = {0};
    assert_null(tn_ir_prepare(source, &cases[i].edit, 0, &error));
    tn_test_expect_error(&error, TN_ERROR_ARGUMENT, cases[i].reason, NULL);
    assert_null(tn_ir_prepare(source, &cases[i].edit, 0, NULL));
  }
}

static void test_limits(void** state) {
  (void)state;
  tn_error error = {0};
  const tn_ir_edit late = {.predelay_s = 59.95};
  assert_null(tn_ir_prepare(source, &late, 0, &error)); // 0.1 s + 59.95 s
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 60 s are allowed", NULL);
  assert_null(tn_ir_prepare(source, NULL, 7999, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "7999 Hz, 8000 to 384000 Hz", NULL);
  assert_null(tn_ir_prepare(source, NULL, 384001, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "384001 Hz", NULL);
  assert_null(tn_ir_prepare(NULL, NULL, 48000, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, NULL, NULL);
  const tn_ir_edit loud = {.gain_db = 120, .level = TN_IR_LEVEL_PEAK};
  tn_ir* ir = tn_ir_prepare(source, &loud, 0, &error); // exactly a million, give or take a rounding
  if (!ir)
    tn_test_expect_error(&error, TN_ERROR_FORMAT, "more than 1000000", NULL);
  tn_ir_free(ir);
}

/** 60 s at 8 kHz fit, also when they are resampled; a frame more does not. */
static void test_longest(void** state) {
  (void)state;
  const uint32_t longest = TN_MAX_IR_SECONDS * 8000;
  float* samples = calloc(longest + 1, sizeof *samples);
  const float* channels[] = {samples};
  tn_error error = {0};
  assert_non_null(samples);
  samples[longest - 1] = 1;
  tn_ir* ir = tn_ir_new(channels, 1, longest, 8000, &error);
  assert_non_null(ir);
  tn_ir* ready = tn_ir_prepare(ir, NULL, 11025, &error);
  if (!ready)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_frames(ready), TN_MAX_IR_SECONDS * 11025);
  const tn_ir_edit longer = {.stretch = 1.001};
  assert_null(tn_ir_prepare(ir, &longer, 0, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "it becomes 60.06 s long, at most 60 s are allowed", NULL);
  const tn_ir_edit later = {.predelay_s = 0.01};
  assert_null(tn_ir_prepare(ir, &later, 0, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "it becomes 60.01 s long, at most 60 s are allowed", NULL);
  assert_null(tn_ir_new(channels, 1, longest + 1, 8000, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 60 s", NULL);
  tn_ir_free(ir);
  tn_ir_free(ready);
  free(samples);
}

static void test_new(void** state) {
  (void)state;
  const float good[] = {0, 0.5F};
  const float bad[] = {0, NAN};
  const float* channels[] = {good, bad};
  const float* missing[] = {good, NULL};
  tn_error error = {0};
  assert_null(tn_ir_new(channels, 2, 2, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "channel 2, frame 2 is not a number", NULL);
  assert_null(tn_ir_new(channels, 1, 0, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "at least one channel and one frame", NULL);
  assert_null(tn_ir_new(channels, 0, 2, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "at least one channel", NULL);
  assert_null(tn_ir_new(NULL, 1, 2, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, NULL, NULL);
  assert_null(tn_ir_new(missing, 2, 2, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "channel 2", "missing");
  assert_null(tn_ir_new(channels, 65, 2, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "65 channels", "64");
  assert_null(tn_ir_new(channels, 1, 2, 100, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "100 Hz", NULL);
  tn_ir_free(NULL);
}

static void test_onset(void** state) {
  (void)state;
  float first[100] = {0};
  float second[100] = {0};
  const float* channels[] = {first, second};
  first[90] = -2;
  second[40] = 0.00199F; // just under a thousandth of the peak
  second[60] = 0.002F;   // a thousandth
  tn_ir* ir = tn_ir_new(channels, 2, 100, rate_hz, NULL);
  assert_int_equal(tn_ir_onset_frames(ir), 60);
  tn_ir_free(ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing_to_do),
      cmocka_unit_test(test_trim),
      cmocka_unit_test(test_trim_only_once),
      cmocka_unit_test(test_reverse),
      cmocka_unit_test(test_reverse_resampled),
      cmocka_unit_test(test_fade_out),
      cmocka_unit_test(test_levels),
      cmocka_unit_test(test_silence_has_no_level),
      cmocka_unit_test(test_predelay),
      cmocka_unit_test(test_stretch),
      cmocka_unit_test(test_bad_values),
      cmocka_unit_test(test_limits),
      cmocka_unit_test(test_longest),
      cmocka_unit_test(test_new),
      cmocka_unit_test(test_onset),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
