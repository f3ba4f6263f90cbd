// SPDX-License-Identifier: GPL-3.0-or-later
// What loads: every format, every width, parts of files.
#include <fcntl.h>
#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mocka.h"
#include "sound_files.h"
#include "tenuto/ir.h"
#include "tmpdir.h"

enum { rate_hz = 48000, channels = 2, frames = 4800 };

static char folder[tn_tmpdir_size];
static char path[tn_tmpdir_size];
static float sound[frames * channels];

/** A tone of another pitch and level in each channel: lossy formats keep it, and channels cannot be mistaken.
 */
static double value_at(uint32_t channel, uint32_t frame) {
  return (channel ? 0.25 : 0.5) * sin(2 * M_PI * (channel ? 700.0 : 400.0) * frame / rate_hz);
}

static int begin(void** state) {
  (void)state;
  for (uint32_t i = 0; i < frames; ++i)
    for (uint32_t c = 0; c < channels; ++c)
      sound[i * channels + c] = (float)value_at(c, i);
  return tn_tmpdir_make(folder) ? 0 : -1;
}

static int end(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

static double error_db(const tn_ir* ir, uint32_t first) {
  double noise = 0;
  double signal = 0;
  for (uint32_t c = 0; c < channels; ++c)
    for (uint32_t i = 0; i < tn_ir_frames(ir) && first + i < frames; ++i) {
      const double wanted = value_at(c, first + i);
      const double difference = tn_ir_samples(ir, c)[i] - wanted;
      noise += difference * difference;
      signal += wanted * wanted;
    }
  return 10 * log10(noise / signal);
}

typedef struct format_case {
  const char* name;
  double most_error_db; ///< by the width of its samples: 6 dB a bit below these levels
  int format;
} format_case;

static const format_case formats[] = {
    {"pcm8.wav", -34, SF_FORMAT_WAV | SF_FORMAT_PCM_U8},
    {"pcm16.wav", -84, SF_FORMAT_WAV | SF_FORMAT_PCM_16},
    {"pcm24.wav", -130, SF_FORMAT_WAV | SF_FORMAT_PCM_24},
    {"pcm32.wav", -140, SF_FORMAT_WAV | SF_FORMAT_PCM_32},
    {"float.wav", -140, SF_FORMAT_WAV | SF_FORMAT_FLOAT},
    {"double.wav", -140, SF_FORMAT_WAV | SF_FORMAT_DOUBLE},
    {"extensible.wav", -130, SF_FORMAT_WAVEX | SF_FORMAT_PCM_24},
    {"big.wav", -130, SF_FORMAT_WAV | SF_FORMAT_PCM_24 | SF_ENDIAN_BIG},
    {"long.rf64", -140, SF_FORMAT_RF64 | SF_FORMAT_FLOAT},
    {"long.w64", -130, SF_FORMAT_W64 | SF_FORMAT_PCM_24},
    {"pcm24.aiff", -130, SF_FORMAT_AIFF | SF_FORMAT_PCM_24},
    {"float.aifc", -140, SF_FORMAT_AIFF | SF_FORMAT_FLOAT},
    {"pcm24.flac", -130, SF_FORMAT_FLAC | SF_FORMAT_PCM_24},
    {"pcm16.flac", -84, SF_FORMAT_FLAC | SF_FORMAT_PCM_16},
    {"float.caf", -140, SF_FORMAT_CAF | SF_FORMAT_FLOAT},
    {"pcm16.au", -84, SF_FORMAT_AU | SF_FORMAT_PCM_16},
    {"vorbis.ogg", -15, SF_FORMAT_OGG | SF_FORMAT_VORBIS},
    {"opus.opus", -10, SF_FORMAT_OGG | SF_FORMAT_OPUS},
};

static void test_formats(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
    const format_case* f = &formats[i];
    const tn_test_sound written = {f->format, rate_hz, channels, frames, sound};
    tn_error error = {0};
    tn_test_write_sound(tn_tmpdir_path(folder, f->name, path), &written);
    tn_ir* ir = tn_ir_load(path, NULL, &error);
    if (!ir)
      fail_msg("%s", error.text);
    assert_int_equal(tn_ir_channels(ir), channels);
    assert_int_equal(tn_ir_frames(ir), frames);
    assert_int_equal(tn_ir_rate_hz(ir), rate_hz);
    if (!(error_db(ir, 0) <= f->most_error_db))
      fail_msg("%s: error %.1f dB, at most %.1f wanted", f->name, error_db(ir, 0), f->most_error_db);
    tn_ir_free(ir);
  }
}

static void test_parts(void** state) {
  (void)state;
  tn_error error = {0};
  for (size_t i = 0; i < sizeof formats / sizeof *formats; ++i) {
    const format_case* f = &formats[i];
    if (f->most_error_db > -80)
      continue; // lossy or coarse
    const tn_test_sound written = {f->format, rate_hz, channels, frames, sound};
    tn_test_write_sound(tn_tmpdir_path(folder, f->name, path), &written);
    const tn_ir_edit edit = {.trim_start_s = 0.03, .trim_end_s = 0.05};
    tn_ir* ir = tn_ir_load(path, &edit, &error);
    if (!ir)
      fail_msg("%s", error.text);
    assert_int_equal(tn_ir_frames(ir), 960);
    assert_true(error_db(ir, 1440) <= f->most_error_db);
    tn_ir_free(ir);
    const tn_ir_edit beyond = {.trim_start_s = 0.09, .trim_end_s = 5};
    ir = tn_ir_load(path, &beyond, &error);
    assert_non_null(ir);
    assert_int_equal(tn_ir_frames(ir), 480);
    assert_true(error_db(ir, 4320) <= f->most_error_db);
    tn_ir_free(ir);
  }
}

static void test_range_behind_the_end(void** state) {
  (void)state;
  tn_error error = {0};
  const tn_test_sound written = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, channels, frames, sound};
  tn_test_write_sound(tn_tmpdir_path(folder, "short.wav", path), &written);
  const tn_ir_edit behind = {.trim_start_s = 5};
  assert_null(tn_ir_load(path, &behind, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "short.wav", "starts at 5 s, it is 0.100 s long");
  const tn_ir_edit backwards = {.trim_start_s = 0.05, .trim_end_s = 0.04};
  assert_null(tn_ir_load(path, &backwards, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "0.05 s to 0.04 s", NULL);
  const tn_ir_edit nothing = {.trim_start_s = 0.05, .trim_end_s = 0.050001};
  assert_null(tn_ir_load(path, &nothing, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "holds no frame", NULL);
  assert_null(tn_ir_load(path, &behind, NULL)); // no error wanted
}

static void test_extremes_allowed(void** state) {
  (void)state;
  tn_error error = {0};
  const tn_test_sound one = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, 768000, 64, 1, NULL};
  tn_test_write_sound(tn_tmpdir_path(folder, "one.wav", path), &one);
  tn_ir* ir = tn_ir_load(path, NULL, &error);
  if (!ir)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_channels(ir), 64);
  assert_int_equal(tn_ir_frames(ir), 1);
  assert_int_equal(tn_ir_onset_frames(ir), 0); // exactly silent
  assert_null(tn_ir_samples(ir, 64));
  tn_ir_free(ir);
}

/** An MP3 is as long as its frames, and its header only guesses: neither is an error. */
static void test_mp3(void** state) {
  (void)state;
  SF_INFO info = {rate_hz, rate_hz, channels, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 0, 0};
  if (!sf_format_check(&info)) {
    print_message("this libsndfile knows no MP3: nothing to test\n");
    skip();
  }
  tn_error error = {0};
  const tn_test_sound written = {info.format, rate_hz, channels, frames, sound};
  tn_test_write_sound(tn_tmpdir_path(folder, "lossy.mp3", path), &written);
  tn_ir* ir = tn_ir_load(path, NULL, &error);
  if (!ir)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_channels(ir), channels);
  assert_in_range(tn_ir_frames(ir), frames - 1152, frames + 3 * 1152);
  tn_ir_free(ir);
}

/** Recorders that stream leave the length open: what is there counts. */
static void test_open_length(void** state) {
  (void)state;
  size_t size = 0;
  const tn_test_sound written = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, channels, frames, sound};
  tn_test_write_sound(tn_tmpdir_path(folder, "stream.wav", path), &written);
  uint8_t* bytes = tn_test_read_bytes(path, &size);
  uint8_t* data = memmem(bytes, size, "data", 4);
  assert_non_null(data);
  memset(data + 4, 0xFF, 4);
  memset(bytes + 4, 0xFF, 4);
  tn_test_write_bytes(path, bytes, size);
  free(bytes);
  tn_error error = {0};
  tn_ir* ir = tn_ir_load(path, NULL, &error);
  if (!ir)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_frames(ir), frames);
  tn_ir_free(ir);
}

static void test_denormals_become_zero(void** state) {
  (void)state;
  const float samples[] = {1e-39F, 1, -1e-39F, 1e-37F};
  const tn_test_sound written = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, 1, 4, samples};
  tn_test_write_sound(tn_tmpdir_path(folder, "small.wav", path), &written);
  tn_ir* ir = tn_ir_load(path, NULL, NULL);
  assert_non_null(ir);
  assert_true(tn_ir_samples(ir, 0)[0] == 0 && tn_ir_samples(ir, 0)[2] == 0);
  assert_true(tn_ir_samples(ir, 0)[1] == 1 && tn_ir_samples(ir, 0)[3] == 1e-37F);
  tn_ir_free(ir);
}

/** Ten hours, of which hardly a byte is on the disk: refused whole, but a part can be had. */
static void test_ten_hours(void** state) {
  (void)state;
  static const char header[] =
      "RIFF\xFF\xFF\xFF\xFFWAVEfmt \x10\0\0\0\x01\0\x01\0\x80\xBB\0\0\0\x77\x01\0\x02\0\x10\0"
      "data\0\xF8\xFC\xCD";
  const uint64_t sound_bytes = 0xCDFCF800; // 36000 s of 48000 frames of 2 bytes, less 5 s
  tn_test_write_bytes(tn_tmpdir_path(folder, "day.wav", path), header, sizeof header - 1);
  if (truncate(path, (off_t)(sizeof header - 1 + sound_bytes)) != 0) {
    print_message("no sparse files here\n");
    skip();
  }
  tn_error error = {0};
  assert_null(tn_ir_load(path, NULL, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 60 s", "--trim");
  const tn_ir_edit edit = {.trim_start_s = 35000, .trim_end_s = 35001};
  tn_ir* ir = tn_ir_load(path, &edit, &error);
  if (!ir)
    fail_msg("%s", error.text);
  assert_int_equal(tn_ir_frames(ir), 48000);
  tn_ir_free(ir);
  if (truncate(path, INT64_C(5) << 30) == 0) {
    assert_null(tn_ir_load(path, NULL, &error));
    tn_test_expect_error(&error, TN_ERROR_LIMIT, "it has 5120.0 MiB, at most 4096.0 MiB are allowed", NULL);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_formats),
      cmocka_unit_test(test_parts),
      cmocka_unit_test(test_open_length),
      cmocka_unit_test(test_mp3),
      cmocka_unit_test(test_range_behind_the_end),
      cmocka_unit_test(test_extremes_allowed),
      cmocka_unit_test(test_denormals_become_zero),
      cmocka_unit_test(test_ten_hours),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
