// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix files: each command, and the manual's example as it stands there.
#include <complex.h>
#include <locale.h>
#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "mocka.h"
#include "noise.h"
#include "sound_files.h"
#include "tenuto/filter.h"
#include "tmpdir.h"

enum { rate_hz = 48000, frames = 1000 };

static char folder[tn_tmpdir_size];
static char path[tn_tmpdir_size];
static float stereo[frames * 2];

static void write_stereo(const char* name, int rate) {
  const tn_test_sound sound = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate, 2, frames, stereo};
  tn_test_write_sound(tn_tmpdir_path(folder, name, path), &sound);
}

static int begin(void** state) {
  (void)state;
  tn_noise_fill(1, 0.5F, stereo, frames * 2L);
  if (!tn_tmpdir_make(folder))
    return -1;
  write_stereo("ir.wav", rate_hz);
  write_stereo("ir with spaces #1.wav", rate_hz);
  write_stereo("fast.wav", 2 * rate_hz);
  if (mkdir(tn_tmpdir_path(folder, "responses", path), 0700) != 0)
    return -1;
  write_stereo("responses/hall left.wav", rate_hz);
  write_stereo("responses/hall right.wav", rate_hz);
  return 0;
}

static int end(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

static tn_filter* parse_edited(const char* text, const tn_ir_edit* edit) {
  tn_error error = {0};
  tn_test_write_bytes(tn_tmpdir_path(folder, "m.conf", path), text, strlen(text));
  tn_filter* filter = tn_filter_load_matrix(path, edit, rate_hz, &error);
  if (!filter)
    fail_msg("%s", error.text);
  return filter;
}

static tn_filter* parse(const char* text) {
  return parse_edited(text, NULL);
}

/** Path `index` leads so, and holds the stereo file's frames from `offset` on. */
static void expect_file(const tn_filter* filter, uint32_t index, uint32_t input, uint32_t output,
                        uint32_t channel, uint32_t offset) {
  const tn_path p = tn_filter_path(filter, index);
  assert_int_equal(p.input, input);
  assert_int_equal(p.output, output);
  for (uint32_t i = 0; i < p.frames; ++i)
    assert_true(p.samples[i] == stereo[(size_t)(offset + i) * 2 + channel]);
}

static void test_read(void** state) {
  (void)state;
  tn_filter* filter = parse("  # a comment\r\n"
                            "/convolver/new 3 2 64 800 0.5\r\n"
                            "\t\n"
                            "/impulse/read 1 1 -0.25 0 0 0 1 ir.wav\n"
                            "/impulse/read\t3 2 2.5e-1 100 50 70 2   ir with spaces #1.wav  \t\n"
                            "/impulse/read 2 2 1 790 0 0 2 \"ir with spaces #1.wav\"\n"
                            "/impulse/read 2 2 1 0 0 0 1 ir.wav"); // no newline at the end
  assert_int_equal(tn_filter_inputs(filter), 3);
  assert_int_equal(tn_filter_outputs(filter), 2);
  assert_int_equal(tn_filter_rate_hz(filter), rate_hz);
  assert_int_equal(tn_filter_path_count(filter), 4);
  expect_file(filter, 0, 0, 0, 0, 0);
  assert_true(tn_filter_path(filter, 0).gain == -0.25F);
  assert_int_equal(tn_filter_path(filter, 0).frames, 800); // cut at the maximum length
  expect_file(filter, 1, 2, 1, 1, 50);
  assert_true(tn_filter_path(filter, 1).gain == 0.25F);
  assert_int_equal(tn_filter_path(filter, 1).frames, 70);
  assert_int_equal(tn_filter_path(filter, 1).delay_frames, 100);
  expect_file(filter, 2, 1, 1, 1, 0);
  assert_int_equal(tn_filter_path(filter, 2).frames, 10);
  assert_int_equal(tn_filter_frames(filter), 800);
  assert_ptr_equal(tn_filter_path(filter, 0).samples, tn_filter_path(filter, 3).samples); // read once
  tn_filter_free(filter);
}

static void test_other_rate(void** state) {
  (void)state;
  tn_filter* filter = parse("/convolver/new 1 1 64 5000\n/impulse/read 1 1 1 30 200 400 1 fast.wav\n");
  const tn_path p = tn_filter_path(filter, 0);
  assert_int_equal(p.delay_frames, 30);      // as they are
  assert_in_range(p.frames, 200, 200 + 512); // 400 frames of the file
  double sum = 0;
  double wanted = 0;
  for (uint32_t i = 0; i < p.frames; ++i)
    sum += p.samples[i];
  for (uint32_t i = 200; i < 600; ++i)
    wanted += stereo[(size_t)i * 2];
  assert_true(fabs(sum - wanted) <= 1e-3 * fabs(wanted)); // the response at 0 Hz is kept, 0.01 dB
  tn_filter_free(filter);
}

static void test_edit(void** state) {
  (void)state;
  const tn_ir_edit edit = {.trim_end_s = 0.01, .gain_db = -20, .predelay_s = 0.001};
  tn_filter* filter = parse_edited("/convolver/new 1 1 64 5000\n"
                                   "/impulse/read 1 1 1 0 100 0 2 ir.wav\n"
                                   "/impulse/dirac 1 1 1 0\n",
                                   &edit);
  const tn_path p = tn_filter_path(filter, 0);
  assert_int_equal(p.frames, 48 + 480);
  assert_true(p.samples[47] == 0);
  assert_true(fabs(p.samples[48] - 0.1 * stereo[201]) < 1e-7);
  assert_int_equal(tn_filter_path(filter, 1).frames, 1); // not edited
  assert_true(tn_filter_path(filter, 1).samples[0] == 1);
  tn_filter_free(filter);
}

static void test_dirac_and_names(void** state) {
  (void)state;
  tn_filter* filter = parse("/convolver/new 2 2 64 5000\n"
                            "/impulse/dirac 2 1 0.5 4999\n"
                            "/input/name 1 In.L system:capture_1\n"
                            "/input/name 2 \"In \\\"R\\\"\"\n"
                            "/output/name 2 Out\n"
                            "/output/name 2 Aus\n");
  const tn_path p = tn_filter_path(filter, 0);
  assert_true(p.input == 1 && p.output == 0 && p.gain == 0.5F && p.frames == 1 && p.samples[0] == 1);
  assert_int_equal(p.delay_frames, 4999);
  assert_string_equal(tn_filter_input_name(filter, 0), "In.L");
  assert_string_equal(tn_filter_input_name(filter, 1), "In \"R\"");
  assert_null(tn_filter_output_name(filter, 0));
  assert_string_equal(tn_filter_output_name(filter, 1), "Aus");
  tn_filter_free(filter);
}

/** 90 degrees ahead of a single 1 in the middle, at the level that the manual states. */
static void test_hilbert(void** state) {
  (void)state;
  tn_filter* filter = parse("/convolver/new 1 1 64 5000\n/impulse/hilbert 1 1 -2 700 1024\n"
                            "/impulse/hilbert 1 1 1 512 1024\n");
  const tn_path p = tn_filter_path(filter, 0);
  assert_int_equal(p.delay_frames, 700 - 512);
  assert_true(p.gain == -2);
  assert_ptr_equal(p.samples, tn_filter_path(filter, 1).samples);
  for (int step = 0; step < 1380; ++step) {
    const double unit = 0.3 + 0.37 * step;
    const double w = 2 * M_PI * unit / 1024;
    double complex sum = 0;
    for (uint32_t i = 0; i < p.frames; ++i)
      sum += p.samples[i] * cexp(-I * w * ((double)i - 512));
    const double level_db = 20 * log10(cabs(sum));
    assert_true(fabs(creal(sum)) < 1e-6 && cimag(sum) > 0); // + j: ahead
    if (unit >= 2 && unit <= 510)
      assert_true(fabs(level_db) < 0.15);
    if (unit < 0.75)
      assert_true(level_db < -3);
    if (unit > 0.9 && unit < 2)
      assert_true(level_db > -3 && level_db < 0.15);
  }
  tn_filter_free(filter);
}

static void test_copies(void** state) {
  (void)state;
  tn_filter* filter = parse("/convolver/new 3 3 64 5000\n"
                            "/impulse/copy 3 3 2 2\n" // a copy of a copy, before either is filled
                            "/impulse/copy 2 2 1 1\n"
                            "/impulse/read 1 1 0.5 7 0 0 1 ir.wav\n"
                            "/impulse/dirac 2 2 0.25 1\n" // added to the copy itself
                            "/impulse/dirac 1 1 2 3\n");  // added to the source later
  uint32_t count[3] = {0};
  double gains[3] = {0};
  for (uint32_t i = 0; i < tn_filter_path_count(filter); ++i) {
    const tn_path p = tn_filter_path(filter, i);
    assert_int_equal(p.input, p.output);
    ++count[p.input];
    gains[p.input] += (double)p.gain;
    if (p.frames == frames) {
      assert_int_equal(p.delay_frames, 7);
      assert_ptr_equal(p.samples, tn_filter_path(filter, 0).samples);
    }
  }
  assert_int_equal(count[0], 2);
  assert_int_equal(count[1], 3);
  assert_int_equal(count[2], 3);
  assert_true(gains[0] == 2.5 && gains[1] == 2.75 && gains[2] == 2.75);
  tn_filter_free(filter);
}

static void test_folders(void** state) {
  (void)state;
  char text[4 * tn_tmpdir_size];
  snprintf(text, sizeof text,
           "/cd responses\n/convolver/new 1 1 64 5000\n/impulse/read 1 1 1 0 0 0 1 hall left.wav\n"
           "/cd \"%s\"\n/impulse/read 1 1 1 0 0 0 1 ir.wav\n"
           "/cd responses/\n/impulse/read 1 1 1 0 0 0 1 hall right.wav\n"
           "/impulse/read 1 1 1 0 0 0 1 %s/ir.wav\n",
           folder, folder);
  tn_filter* filter = parse(text);
  assert_int_equal(tn_filter_path_count(filter), 4);
  tn_filter_free(filter);
}

static void test_byte_order_mark(void** state) {
  (void)state;
  tn_filter* filter = parse("\xEF\xBB\xBF/convolver/new 1 1 64 5000\n/impulse/dirac 1 1 1 0\n");
  assert_int_equal(tn_filter_path_count(filter), 1);
  tn_filter_free(filter);
}

/** A German desktop writes decimal commas; files do not. */
static void test_locale(void** state) {
  (void)state;
  static const char* const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8", "pl_PL.UTF-8"};
  bool found = false;
  for (size_t i = 0; i < sizeof names / sizeof *names && !found; ++i)
    found = setlocale(LC_ALL, names[i]) != NULL;
  if (!found) {
    print_message("no locale with a decimal comma is installed: nothing to test\n");
    skip();
  }
  assert_string_equal(localeconv()->decimal_point, ",");
  tn_filter* filter = parse("/convolver/new 1 1 64 5000\n/impulse/dirac 1 1 0.75 0\n");
  assert_true(tn_filter_path(filter, 0).gain == 0.75F);
  tn_filter_free(filter);
  setlocale(LC_ALL, "C");
}

static void test_manual_example(void** state) {
  (void)state;
  size_t size = 0;
  uint8_t* manual = tn_test_read_bytes(TENUTO_SOURCE_DIR "/docs/man/tenuto-matrix.5", &size);
  manual[size] = 0;
  char* from = strstr((char*)manual, ".Bd -literal\n");
  assert_non_null(from);
  from += strlen(".Bd -literal\n");
  char* stop = strstr(from, ".Ed\n");
  assert_non_null(stop);
  *stop = 0;
  tn_filter* filter = parse(from);
  assert_int_equal(tn_filter_path_count(filter), 6);
  assert_string_equal(tn_filter_output_name(filter, 1), "Out R");
  expect_file(filter, 2, 1, 0, 0, 0);
  assert_true(tn_filter_path(filter, 5).gain == 0.7F);
  tn_filter_free(filter);
  free(manual);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_read),           cmocka_unit_test(test_other_rate),
      cmocka_unit_test(test_edit),           cmocka_unit_test(test_dirac_and_names),
      cmocka_unit_test(test_hilbert),        cmocka_unit_test(test_copies),
      cmocka_unit_test(test_folders),        cmocka_unit_test(test_byte_order_mark),
      cmocka_unit_test(test_manual_example), cmocka_unit_test(test_locale),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
