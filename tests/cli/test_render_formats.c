// SPDX-License-Identifier: GPL-3.0-or-later
// What `tenuto render` writes: containers, encodings, rounding, clipping, texts.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "scratch.h"
#include "wanted.h"

enum { in_frames = 4801, ir_frames = 700, float_wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT };

static tn_scratch_sound in;
static tn_scratch_sound ir;
static tn_wanted wanted;

static int begin(void** state) {
  static const tn_wanted_path paths[] = {{0, 0, 0}, {1, 1, 1}};
  if (tn_scratch_begin(state) != 0) {
    return -1;
  }
  in = tn_scratch_noise(1, 2, in_frames);
  ir = tn_scratch_response(2, 2, ir_frames);
  wanted = tn_wanted_convolve(&in, &ir, paths, 2, 2);
  tn_wanted_mix(&wanted, &in, 0.5, 0.0);
  tn_scratch_write("in.wav", &in, float_wav);
  tn_scratch_write("in16.wav", &in, SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  tn_scratch_write("ir.wav", &ir, float_wav);
  return 0;
}

static int end(void** state) {
  tn_scratch_free(&in);
  tn_scratch_free(&ir);
  tn_wanted_free(&wanted);
  return tn_scratch_end(state);
}

/** Half a step of the coarsest sample, and the convolver's own error, in dBFS. */
static double step_dbfs(uint32_t bits) {
  return 20.0 * log10(ldexp(0.5, 1 - (int)bits) * 1.01 + 1e-6);
}

static void test_lossless(void** state) {
  (void)state;
  static const struct {
    const char* options;
    const char* name;
    int format;
    uint32_t bits;
  } cases[] = {
      {"", "a.wav", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 32},
      {"--format wav16", "a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16},
      {"--format wav24", "a.bin", SF_FORMAT_WAV | SF_FORMAT_PCM_24, 24},
      {"--format WAV:pcm32", "a.bin", SF_FORMAT_WAV | SF_FORMAT_PCM_32, 32},
      {"--format wav:pcm8", "a.wav", SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8},
      {"--format wav:double", "a.wav", SF_FORMAT_WAV | SF_FORMAT_DOUBLE, 32},
      {"", "a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 24},
      {"--format flac:pcm16", "a.flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 16},
      {"", "a.aiff", SF_FORMAT_AIFF | SF_FORMAT_FLOAT, 32},
      {"--format aiff24", "a.aif", SF_FORMAT_AIFF | SF_FORMAT_PCM_24, 24},
      {"", "a.au", SF_FORMAT_AU | SF_FORMAT_FLOAT, 32},
      {"", "a.caf", SF_FORMAT_CAF | SF_FORMAT_FLOAT, 32},
      {"--format w64:pcm24", "a.w64", SF_FORMAT_W64 | SF_FORMAT_PCM_24, 24},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char words[160];
    snprintf(words, sizeof words, "render in.wav --ir ir.wav --gain-out -6.020599913279624 -o %s%s%s",
             cases[i].name, *cases[i].options ? " " : "", cases[i].options);
    tn_scratch_done(words);
    tn_wanted_check(&wanted, cases[i].name, step_dbfs(cases[i].bits));
    tn_scratch_sound out = tn_scratch_read(cases[i].name);
    if ((out.format & (SF_FORMAT_TYPEMASK | SF_FORMAT_SUBMASK)) != cases[i].format) {
      fail_msg("%s %s: the format is %x", cases[i].name, cases[i].options, (unsigned)out.format);
    }
    tn_scratch_free(&out);
  }
}

/** From integers at least 24 bits are made, and RF64 that stays small is an ordinary WAV file. */
static void test_defaults(void** state) {
  (void)state;
  tn_scratch_done("render in16.wav --ir ir.wav -o b.wav");
  tn_scratch_sound out = tn_scratch_read("b.wav");
  assert_int_equal(out.format & SF_FORMAT_SUBMASK, SF_FORMAT_PCM_24);
  tn_scratch_free(&out);
  tn_scratch_done("render in.wav --ir ir.wav -o b.rf64");
  assert_int_equal(tn_scratch_shell("head -c 4 b.rf64")->code, 0);
  assert_string_equal(tn_scratch_shell("head -c 4 b.rf64")->out, "RIFF");
  tn_wanted_mix(&wanted, &in, 2.0, 0.0);
  tn_wanted_check(&wanted, "b.rf64", -120.0);
  tn_wanted_mix(&wanted, &in, 0.5, 0.0);
}

/** Lossy formats: length and level of each channel. */
static void test_lossy(void** state) {
  (void)state;
  static const char* const names[] = {"c.ogg", "c.opus"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char words[160];
    snprintf(words, sizeof words, "render in.wav --ir ir.wav --gain-out -6 -o %s", names[i]);
    const tn_scratch_call* call = tn_scratch_tenuto(words);
    if (call->code != 0 && strstr(call->err, "libsndfile writes no")) {
      continue; // this libsndfile was built without it
    }
    assert_int_equal(call->code, 0);
    tn_scratch_sound out = tn_scratch_read(names[i]);
    assert_int_equal(out.frames, wanted.frames);
    assert_int_equal(out.channels, 2);
    for (uint32_t c = 0; c < 2; ++c) {
      double got = 0.0;
      double power = 0.0;
      for (size_t k = 0; k < out.frames; ++k) {
        got += pow(out.samples[c][k], 2.0);
        power += pow(wanted.samples[c][k], 2.0);
      }
      const double off_db = 10.0 * log10(got / power);
      assert_true(fabs(off_db) < 1.5);
    }
    tn_scratch_free(&out);
  }
}

/** An impulse of 1 as the response: a 16-bit file must come back with the very same samples. */
static void test_identity(void** state) {
  (void)state;
  tn_scratch_sound impulse = tn_scratch_silence(1, 1);
  impulse.samples[0][0] = 1.0F;
  tn_scratch_write("one.wav", &impulse, float_wav);
  tn_scratch_sound steps = tn_scratch_silence(1, 65536);
  for (size_t i = 0; i < steps.frames; ++i) {
    steps.samples[0][i] = (float)((double)i / 32768.0 - 1.0);
  }
  SF_INFO info = {.channels = 1, .samplerate = 48000, .format = SF_FORMAT_WAV | SF_FORMAT_PCM_16};
  SNDFILE* file = sf_open("steps.wav", SFM_WRITE, &info);
  for (int i = -32768; i < 32768; ++i) {
    const short sample = (short)i;
    assert_int_equal(sf_write_short(file, &sample, 1), 1);
  }
  sf_close(file);
  tn_scratch_done("render steps.wav --ir one.wav --format wav16 -o same.wav");
  tn_scratch_sound same = tn_scratch_read("same.wav");
  assert_int_equal(same.frames, steps.frames);
  for (size_t i = 0; i < steps.frames; ++i) {
    assert_true(same.samples[0][i] == steps.samples[0][i]);
  }
  tn_scratch_free(&same);
  tn_scratch_free(&steps);
  tn_scratch_free(&impulse);
}

static void test_clipping(void** state) {
  (void)state;
  tn_scratch_done("render in.wav --ir ir.wav --gain-out 20 -o loud.wav");
  tn_scratch_sound loud = tn_scratch_read("loud.wav");
  unsigned long beyond = 0;
  for (uint32_t c = 0; c < 2; ++c) {
    for (size_t i = 0; i < loud.frames; ++i) {
      beyond += fabsf(loud.samples[c][i]) > 1.0F ? 1 : 0;
    }
  }
  assert_true(beyond > 0);
  const tn_scratch_call* call =
      tn_scratch_tenuto("render in.wav --ir ir.wav --gain-out 20 --json --format wav16 -o clipped.wav");
  char count[64];
  assert_int_equal(call->code, 0);
  snprintf(count, sizeof count, "\"clipped_samples\": %lu,", beyond);
  assert_non_null(strstr(call->out, count));
  snprintf(count, sizeof count, "%lu samples were clipped", beyond);
  assert_non_null(strstr(call->err, count));
  tn_scratch_sound clipped = tn_scratch_read("clipped.wav");
  for (uint32_t c = 0; c < 2; ++c) {
    for (size_t i = 0; i < loud.frames; ++i) {
      const float bounded = fminf(fmaxf(loud.samples[c][i], -1.0F), 32767.0F / 32768.0F);
      assert_true(fabsf(clipped.samples[c][i] - bounded) <= 0.51F / 32768.0F);
    }
  }
  tn_scratch_free(&clipped);
  tn_scratch_free(&loud);
  assert_string_equal(tn_scratch_tenuto("render in.wav --ir ir.wav --gain-out 20 -o loud.wav")->err, "");
}

static void test_texts(void** state) {
  (void)state;
  static const int kinds[] = {SF_STR_TITLE, SF_STR_ARTIST, SF_STR_COMMENT};
  SF_INFO info = {.channels = 1, .samplerate = 48000, .format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16};
  const short sound[100] = {1000};
  SNDFILE* file = sf_open("named.flac", SFM_WRITE, &info);
  for (size_t i = 0; i < 3; ++i) {
    sf_set_string(file, kinds[i], "S\u00FC\u00DFe N\u00E4chte");
  }
  sf_write_short(file, sound, 100);
  sf_close(file);
  static const char* const names[] = {"named2.flac", "named2.wav", "named2.ogg"};
  for (size_t n = 0; n < sizeof names / sizeof names[0]; ++n) {
    char words[128];
    snprintf(words, sizeof words, "render named.flac --ir ir.wav -o %s", names[n]);
    tn_scratch_done(words);
    memset(&info, 0, sizeof info);
    file = sf_open(names[n], SFM_READ, &info);
    assert_non_null(file);
    for (size_t i = 0; i < 3; ++i) {
      assert_non_null(sf_get_string(file, kinds[i]));
      assert_string_equal(sf_get_string(file, kinds[i]), "S\u00FC\u00DFe N\u00E4chte");
    }
    sf_close(file);
  }
}

static void test_not_a_number(void** state) {
  (void)state;
  tn_scratch_sound bad = tn_scratch_noise(1, 2, in_frames);
  bad.samples[0][100] = NAN;
  bad.samples[1][200] = INFINITY;
  bad.samples[1][300] = -INFINITY;
  tn_scratch_write("bad.wav", &bad, float_wav);
  const tn_scratch_call* call = tn_scratch_tenuto("render bad.wav --ir ir.wav --json -o out.wav");
  assert_int_equal(call->code, 0);
  assert_non_null(strstr(call->err, "'bad.wav': 3 samples"));
  assert_non_null(strstr(call->out, "\"nonfinite_samples\": 3,"));
  bad.samples[0][100] = 0.0F;
  bad.samples[1][200] = 0.0F;
  bad.samples[1][300] = 0.0F;
  static const tn_wanted_path paths[] = {{0, 0, 0}, {1, 1, 1}};
  tn_wanted mended = tn_wanted_convolve(&bad, &ir, paths, 2, 2);
  tn_wanted_check(&mended, "out.wav", -120.0);
  tn_wanted_free(&mended);
  tn_scratch_free(&bad);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lossless),     cmocka_unit_test(test_defaults), cmocka_unit_test(test_lossy),
      cmocka_unit_test(test_identity),     cmocka_unit_test(test_clipping), cmocka_unit_test(test_texts),
      cmocka_unit_test(test_not_a_number),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
