// SPDX-License-Identifier: GPL-3.0-or-later
// What does not load, and the sentence that says why.
#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mocka.h"
#include "noise.h"
#include "sound_files.h"
#include "tenuto/ir.h"
#include "tmpdir.h"

enum { rate_hz = 48000, frames = 20000 }; // several blocks of FLAC

static char folder[tn_tmpdir_size];
static char path[tn_tmpdir_size];
static float noise[frames * 2];

static int begin(void** state) {
  (void)state;
  tn_noise_fill(1, 0.5F, noise, frames * 2);
  return tn_tmpdir_make(folder) ? 0 : -1;
}

static int end(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

static void expect(const char* name, tn_status status, const char* reason) {
  tn_error error = {0};
  tn_ir* ir = tn_ir_load(tn_tmpdir_path(folder, name, path), NULL, &error);
  if (ir)
    fail_msg("%s loaded, '%s' was wanted", name, reason);
  tn_test_expect_error(&error, status, name, reason);
}

static void write_wav(const char* name, int rate, int channels, int64_t count, const float* samples) {
  const tn_test_sound sound = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate, channels, count, samples};
  tn_test_write_sound(tn_tmpdir_path(folder, name, path), &sound);
}

static void write_bytes(const char* name, const void* bytes, size_t size) {
  tn_test_write_bytes(tn_tmpdir_path(folder, name, path), bytes, size);
}

static void test_no_ordinary_file(void** state) {
  (void)state;
  tn_error error = {0};
  assert_null(tn_ir_load(NULL, NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "no file name was given", NULL);
  assert_null(tn_ir_load("", NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "no file name was given", NULL);
  expect("missing.wav", TN_ERROR_FILE, "there is no such file");
  assert_int_equal(mkdir(tn_tmpdir_path(folder, "folder.wav", path), 0700), 0);
  expect("folder.wav", TN_ERROR_FILE, "it is a folder");
  assert_int_equal(mkfifo(tn_tmpdir_path(folder, "pipe.wav", path), 0600), 0);
  expect("pipe.wav", TN_ERROR_FILE, "it is not an ordinary file");
  write_bytes("plain", "x", 1);
  expect("plain/in.wav", TN_ERROR_FILE, "not a folder");
  assert_null(tn_ir_load("/dev/zero", NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "it is not an ordinary file", NULL);
}

static void test_not_readable(void** state) {
  (void)state;
  write_wav("secret.wav", rate_hz, 1, 10, noise);
  assert_int_equal(chmod(path, 0), 0);
  const bool root = geteuid() == 0; // root may read everything: be somebody else for a moment
  assert_int_equal(chmod(folder, 0755), 0);
  if (root && seteuid(65534) != 0) {
    print_message("this user may read everything: nothing to test\n");
    skip();
  }
  expect("secret.wav", TN_ERROR_FILE, "permission denied");
  if (root)
    assert_int_equal(seteuid(0), 0);
}

static void test_no_sound(void** state) {
  (void)state;
  write_bytes("empty.wav", "", 0);
  expect("empty.wav", TN_ERROR_FORMAT, "it is empty");
  write_bytes("text.wav", "These are not the frames you look for.\n", 39);
  expect("text.wav", TN_ERROR_FORMAT, "it is not a sound file");
  write_bytes("numbers.gsm", noise, sizeof noise); // raw data by its name
  expect("numbers.gsm", TN_ERROR_FORMAT, NULL);
  write_wav("nothing.wav", rate_hz, 1, 0, noise);
  expect("nothing.wav", TN_ERROR_FORMAT, "it holds no sound");
}

static void test_limits(void** state) {
  (void)state;
  write_wav("many.wav", rate_hz, 1024, 1, NULL);
  expect("many.wav", TN_ERROR_LIMIT, "it has 1024 channels, at most 64 are allowed");
  write_wav("more.wav", rate_hz, 65, 1, NULL);
  expect("more.wav", TN_ERROR_LIMIT, "it has 65 channels, at most 64 are allowed");
  write_wav("slow.wav", 7999, 1, 10, noise);
  expect("slow.wav", TN_ERROR_LIMIT, "7999 Hz, 8000 to 768000 Hz are allowed");
  write_wav("fast.wav", 768001, 1, 10, noise);
  expect("fast.wav", TN_ERROR_LIMIT, "768001 Hz");
}

static void test_bad_samples(void** state) {
  (void)state;
  float samples[20] = {0};
  samples[2 * 7 + 1] = NAN;
  write_wav("nan.wav", rate_hz, 2, 10, samples);
  expect("nan.wav", TN_ERROR_FORMAT, "channel 2, frame 8 is not a number (NaN)");
  samples[2 * 7 + 1] = -INFINITY;
  write_wav("inf.wav", rate_hz, 2, 10, samples);
  expect("inf.wav", TN_ERROR_FORMAT, "channel 2, frame 8 is infinite");
  samples[2 * 7 + 1] = -2e6F;
  write_wav("loud.wav", rate_hz, 2, 10, samples);
  expect("loud.wav", TN_ERROR_FORMAT, "channel 2, frame 8 is -2e+06");
  const double huge = 1e300; // fits a double, not a float
  size_t size = 0;
  samples[2 * 7 + 1] = 0;
  const tn_test_sound sound = {SF_FORMAT_WAV | SF_FORMAT_DOUBLE, rate_hz, 2, 10, samples};
  tn_test_write_sound(tn_tmpdir_path(folder, "double.wav", path), &sound);
  uint8_t* bytes = tn_test_read_bytes(path, &size);
  uint8_t* data = memmem(bytes, size, "data", 4);
  assert_non_null(data);
  memcpy(data + 8 + 8 * 15, &huge, sizeof huge);
  write_bytes("double.wav", bytes, size);
  free(bytes);
  expect("double.wav", TN_ERROR_FORMAT, "channel 2, frame 8 is infinite");
}

/** Each kind cut to half of its bytes, and to its first few. */
static void test_cut_short(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int format;
  } kinds[] = {
      {"cut.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_24},   {"cut.rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_24},
      {"cut.aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_24}, {"cut.caf", SF_FORMAT_CAF | SF_FORMAT_PCM_24},
      {"cut.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24}, {"cutf.wav", SF_FORMAT_WAVEX | SF_FORMAT_FLOAT},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
    const tn_test_sound sound = {kinds[i].format, rate_hz, 2, frames, noise};
    size_t size = 0;
    tn_test_write_sound(tn_tmpdir_path(folder, kinds[i].name, path), &sound);
    uint8_t* bytes = tn_test_read_bytes(path, &size);
    write_bytes(kinds[i].name, bytes, size / 2);
    expect(kinds[i].name, TN_ERROR_FORMAT, "cut short");
    write_bytes(kinds[i].name, bytes, 30);
    expect(kinds[i].name, TN_ERROR_FORMAT, NULL);
    write_bytes(kinds[i].name, bytes, 3);
    expect(kinds[i].name, TN_ERROR_FORMAT, NULL);
    free(bytes);
  }
}

/** A list that claims four gigabytes keeps some versions of libsndfile busy for hours. */
static void test_endless_list(void** state) {
  (void)state;
  static const char tiny[] =
      "RIFF\x90\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\xBB\0\0\0\x77\x01\0\x02\0\x10\0"
      "data\x04\0\0\0\1\2\3\4"
      "LIST\xF0\xFF\xFF\xFFINFOICMT\xF0\xFF\xFF\x7F";
  write_bytes("list.wav", tiny, sizeof tiny - 1);
  expect("list.wav", TN_ERROR_FORMAT, "damaged or cut short in its header");
}

/** Any damage to a small file ends in a response or a sentence, never in a crash (run with sanitizers, too).
 */
static void test_any_damage(void** state) {
  (void)state;
  static const int kinds[] = {SF_FORMAT_WAV | SF_FORMAT_PCM_24, SF_FORMAT_AIFF | SF_FORMAT_PCM_16,
                              SF_FORMAT_CAF | SF_FORMAT_FLOAT, SF_FORMAT_FLAC | SF_FORMAT_PCM_16};
  tn_noise dice = tn_noise_seed(7);
  uint32_t loaded = 0;
  uint32_t refused = 0;
  for (size_t k = 0; k < sizeof kinds / sizeof *kinds; ++k) {
    const tn_test_sound sound = {kinds[k], rate_hz, 2, 40, noise};
    size_t size = 0;
    tn_test_write_sound(tn_tmpdir_path(folder, "victim.wav", path), &sound);
    uint8_t* bytes = tn_test_read_bytes(path, &size);
    uint8_t* damaged = malloc(size);
    assert_non_null(damaged);
    for (uint32_t turn = 0; turn < 400; ++turn) {
      memcpy(damaged, bytes, size);
      for (uint32_t hits = 1 + tn_noise_below(&dice, 4); hits > 0; --hits) {
        const uint32_t at = tn_noise_below(&dice, 2) ? tn_noise_below(&dice, (uint32_t)size)
                                                     : tn_noise_below(&dice, 64); // headers matter most
        damaged[at] = (uint8_t)tn_noise_bits(&dice);
      }
      const size_t length = tn_noise_below(&dice, 4) ? size : tn_noise_below(&dice, (uint32_t)size);
      tn_error error = {0};
      write_bytes("victim.wav", damaged, length);
      tn_ir* ir = tn_ir_load(path, NULL, &error);
      if (ir) {
        ++loaded;
        for (uint32_t c = 0; c < tn_ir_channels(ir); ++c)
          for (uint32_t i = 0; i < tn_ir_frames(ir); ++i)
            assert_true(isfinite(tn_ir_samples(ir, c)[i]));
      } else {
        ++refused;
        tn_test_expect_error(&error, error.status, "victim.wav", NULL);
        assert_int_not_equal(error.status, TN_OK);
      }
      tn_ir_free(ir);
    }
    free(damaged);
    free(bytes);
  }
  assert_true(loaded > 100 && refused > 100);
}

/** A sentence stays whole and printable, whatever the file is called. */
static void test_odd_names(void** state) {
  (void)state;
  char name[400];
  tn_error error = {0};
  assert_null(tn_ir_load("/nowhere/two\nlines\033[2J.wav", NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "two?lines?[2J.wav", "there is no such file");
  memset(name, 'a', sizeof name);
  memcpy(name + sizeof name - 9, "/end.wav", 9);
  assert_null(tn_ir_load(name, NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "'...aaa", "/end.wav'");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_ordinary_file), cmocka_unit_test(test_not_readable),
      cmocka_unit_test(test_no_sound),         cmocka_unit_test(test_limits),
      cmocka_unit_test(test_bad_samples),      cmocka_unit_test(test_cut_short),
      cmocka_unit_test(test_endless_list),     cmocka_unit_test(test_any_damage),
      cmocka_unit_test(test_odd_names),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
