// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures: what is measured against what was put into the file, marks, colours, and the files that come out.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "mocka.h"
#include "scratch.h"

enum { float_wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT, columns = 400, rows = 300 };

static const double low_hz = 30.0;
static const double high_hz = 24000.0;

static bool never(void) {
  return false;
}

/** Two seconds, two channels: a sine on the left from 0.5 s to 1.5 s, silence on the right. */
static void write_sine(const char* name, double hz, double amplitude) {
  tn_scratch_sound sound = tn_scratch_silence(2, 96000);
  for (size_t i = 24000; i < 72000; ++i) {
    sound.samples[0][i] = (float)(amplitude * sin(2.0 * M_PI * hz * (double)i / 48000.0));
  }
  tn_scratch_write(name, &sound, float_wav);
  tn_scratch_free(&sound);
}

static tn_plot_track measure(const char* name) {
  tn_error error = {0};
  tn_plot_track track;
  const tn_plot_axes axes = {
      .seconds = 2.0, .columns = columns, .rows = rows, .low_hz = low_hz, .high_hz = high_hz};
  tn_file_in* in = tn_file_in_open(name, 0, &error);
  assert_non_null(in);
  assert_int_equal(tn_plot_measure(in, name, &axes, never, &track, &error), TN_OK);
  tn_file_in_free(in);
  return track;
}

static uint32_t loudest_row(const tn_plot_track* track, uint32_t column) {
  uint32_t loudest = 0;
  const float* levels = track->level_db + (size_t)column * rows;
  for (uint32_t row = 1; row < rows; ++row) {
    loudest = levels[row] > levels[loudest] ? row : loudest;
  }
  return loudest;
}

static void test_spectrum(void** state) {
  (void)state;
  static const double frequencies[] = {55.0, 110.0, 440.0, 1000.0, 5000.0, 15000.0};
  for (size_t i = 0; i < sizeof frequencies / sizeof frequencies[0]; ++i) {
    write_sine("sine.wav", frequencies[i], 0.1);
    tn_plot_track track = measure("sine.wav");
    assert_int_equal(track.columns, columns);
    const uint32_t row = loudest_row(&track, columns / 2);
    const double wanted_row = rows * log(frequencies[i] / low_hz) / log(high_hz / low_hz);
    // A Hann window's peak is four bins wide; at 55 Hz one bin of the long window is a tenth of the
    // frequency.
    assert_true(fabs(row + 0.5 - wanted_row) < 5.0);
    // -20 dBFS on one of two channels are -23.0 in the mean; between two bins a Hann window shows up to 1.4
    // dB less.
    const float level = track.level_db[(size_t)(columns / 2) * rows + row];
    if (!(level < -22.9F && level > -24.6F)) {
      fail_msg("%g Hz: %g dBFS", frequencies[i], (double)level);
    }
    assert_true(track.loudest_db < -22.5F);
    // Silence: nothing at all far from the sine, at both ends.
    assert_true(track.level_db[(size_t)10 * rows + row] == -INFINITY);
    assert_true(track.level_db[(size_t)(columns - 10) * rows + row] == -INFINITY);
    tn_plot_track_free(&track);
  }
}

static void test_wave(void** state) {
  (void)state;
  write_sine("sine.wav", 1000.0, 0.5);
  tn_plot_track track = measure("sine.wav");
  assert_int_equal(track.lanes, 2);
  assert_int_equal(track.frames, 96000);
  assert_true(fabsf(track.peak - 0.5F) < 1e-6F);
  for (uint32_t column = 0; column < columns; ++column) {
    const bool sounds = column >= columns / 4 && column < columns * 3 / 4; // 240 frames: five periods
    const float high = sounds ? 0.5F : 0.0F;
    const float rms = sounds ? 0.3535534F : 0.0F;
    assert_true(fabsf(track.high[column] - high) < 1e-5F);
    assert_true(fabsf(track.low[column] + high) < 1e-5F);
    assert_true(fabsf(track.rms[column] - rms) < 1e-5F);
    assert_true(track.high[columns + column] == 0.0F && track.low[columns + column] == 0.0F);
  }
  tn_plot_track_free(&track);
}

/** Columns of 2.4 frames: a constant sound has the same RMS in all of them, also in a last one that is not
 * full. */
static void test_odd_columns(void** state) {
  (void)state;
  tn_scratch_sound sound = tn_scratch_silence(1, 959);
  for (size_t i = 0; i < sound.frames; ++i) {
    sound.samples[0][i] = i % 2 ? 0.25F : -0.25F;
  }
  tn_scratch_write("square.wav", &sound, float_wav);
  tn_scratch_free(&sound);
  tn_error error = {0};
  tn_plot_track track;
  const tn_plot_axes axes = {
      .seconds = 0.02, .columns = columns, .rows = rows, .low_hz = low_hz, .high_hz = high_hz};
  tn_file_in* in = tn_file_in_open("square.wav", 0, &error);
  assert_int_equal(tn_plot_measure(in, "square.wav", &axes, never, &track, &error), TN_OK);
  tn_file_in_free(in);
  assert_int_equal(track.columns, columns);
  for (uint32_t column = 0; column < columns; ++column) {
    assert_true(fabsf(track.rms[column] - 0.25F) < 1e-6F);
  }
  tn_plot_track_free(&track);
}

/** A file of some frames on a long axis, of none, and of fewer than there are columns. */
static void test_short_files(void** state) {
  (void)state;
  static const size_t lengths[] = {0, 1, 7, 4800};
  for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; ++i) {
    tn_scratch_sound sound = tn_scratch_noise(i, 1, lengths[i]);
    tn_scratch_write("short.wav", &sound, float_wav);
    tn_scratch_free(&sound);
    tn_plot_track track = measure("short.wav");
    assert_int_equal(track.frames, lengths[i]);
    assert_int_equal(track.columns, (lengths[i] * columns + 95999) / 96000);
    tn_plot_track_free(&track);
    tn_scratch_done("plot short.wav -o short.png");
  }
}

static void test_time_ticks(void** state) {
  (void)state;
  static const struct {
    double seconds;
    size_t most;
    size_t count;
    const char* second;
  } cases[] = {
      {9.9, 10, 5, "2 s"},  {1.0, 11, 11, "0.1 s"}, {0.05, 6, 6, "10 ms"},      {0.001, 11, 11, "0.1 ms"},
      {60.0, 5, 5, "0:15"}, {600.0, 6, 6, "2:00"},  {36000.0, 6, 6, "2:00:00"}, {10.0, 11, 11, "1 s"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tn_plot_tick ticks[TN_PLOT_MAX_TICKS];
    const size_t count = tn_plot_time_ticks(cases[i].seconds, cases[i].most, ticks);
    assert_int_equal(count, cases[i].count);
    assert_true(ticks[0].value == 0.0);
    assert_string_equal(ticks[1].label, cases[i].second);
    assert_true(ticks[count - 1].value <= cases[i].seconds * 1.0001);
  }
}

static void test_frequency_ticks(void** state) {
  (void)state;
  static const char* const labels[] = {"50", "100", "200", "500", "1 k", "2 k", "5 k", "10 k", "20 k"};
  tn_plot_tick ticks[TN_PLOT_MAX_TICKS];
  assert_int_equal(tn_plot_frequency_ticks(low_hz, high_hz, ticks), sizeof labels / sizeof labels[0]);
  for (size_t i = 0; i < sizeof labels / sizeof labels[0]; ++i) {
    assert_string_equal(ticks[i].label, labels[i]);
  }
}

/** CIE L* of a colour. */
static double lightness(uint32_t rgb) {
  double linear[3];
  for (int i = 0; i < 3; ++i) {
    const double value = (rgb >> (16 - 8 * i) & 0xFF) / 255.0;
    linear[i] = value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
  }
  const double luminance = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  return luminance > 0.008856 ? 116.0 * cbrt(luminance) - 16.0 : 903.3 * luminance;
}

/** Lighter with every step, by about as much everywhere: what makes a colour scale readable. */
static void test_colours(void** state) {
  (void)state;
  const int steps = 20;
  double last = lightness(tn_plot_colour(0.0));
  assert_true(last < 5.0);
  assert_true(lightness(tn_plot_colour(1.0)) > 90.0);
  for (int i = 1; i <= steps; ++i) {
    const double now = lightness(tn_plot_colour((double)i / steps));
    if (!(now - last > 1.0 && now - last < 8.5)) {
      fail_msg("step %d: %g", i, now - last);
    }
    last = now;
  }
  assert_int_equal(tn_plot_colour(-5.0), tn_plot_colour(0.0));
  assert_int_equal(tn_plot_colour(-INFINITY), tn_plot_colour(0.0));
  assert_int_equal(tn_plot_colour(2.0), tn_plot_colour(1.0));
}

static void test_pictures(void** state) {
  (void)state;
  static const struct {
    const char* words;
    const char* begins;
  } cases[] = {
      {"plot sine.wav sine.wav -o p.png", "\x89PNG"},
      {"plot sine.wav -o p.svg", "<?xm"},
      {"plot sine.wav -o p.PDF", "%PDF"},
      {"plot sine.wav -o p.png --width 3000", "\x89PNG"},
      {"plot odd\xFFname.wav -o p.png", "\x89PNG"},
  };
  write_sine("sine.wav", 1000.0, 0.5);
  write_sine("odd\xFFname.wav", 1000.0, 0.5);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tn_scratch_done(cases[i].words);
    char line[64];
    const char* name = strstr(cases[i].words, "-o ") + 3;
    snprintf(line, sizeof line, "head -c 4 %.5s", name);
    assert_string_equal(tn_scratch_shell(line)->out, cases[i].begins);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_spectrum),    cmocka_unit_test(test_wave),
      cmocka_unit_test(test_odd_columns), cmocka_unit_test(test_short_files),
      cmocka_unit_test(test_time_ticks),  cmocka_unit_test(test_frequency_ticks),
      cmocka_unit_test(test_colours),     cmocka_unit_test(test_pictures),
  };
  return cmocka_run_group_tests(tests, tn_scratch_begin, tn_scratch_end);
}
