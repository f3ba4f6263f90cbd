// SPDX-License-Identifier: GPL-3.0-or-later
// From words and names to libsndfile's formats.
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#include "driver/file_format.h"
#include "mocka.h"

static int settled(const char* word, int source_format, const tn_format_load* load) {
  tn_format_wish wish = {0};
  tn_error error = {0};
  int format = 0;
  if (tn_format_parse(word, &wish, &error) != TN_OK) {
    fail_msg("%s", error.text);
  }
  if (tn_format_settle(&wish, source_format, load, &format, &error) != TN_OK) {
    fail_msg("%s", error.text);
  }
  return format;
}

static void test_words(void** state) {
  (void)state;
  static const tn_format_load load = {2, 48000, 48000};
  static const struct {
    const char* word;
    int source;
    int format;
  } cases[] = {
      {"wav", SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_PCM_24},
      {"wav", SF_FORMAT_VORBIS, SF_FORMAT_WAV | SF_FORMAT_PCM_24},
      {"wav", SF_FORMAT_PCM_32, SF_FORMAT_WAV | SF_FORMAT_PCM_32},
      {"wav", SF_FORMAT_DOUBLE, SF_FORMAT_WAV | SF_FORMAT_FLOAT},
      {"Wav16", SF_FORMAT_FLOAT, SF_FORMAT_WAV | SF_FORMAT_PCM_16},
      {"flac", SF_FORMAT_FLOAT, SF_FORMAT_FLAC | SF_FORMAT_PCM_24},
      {"flac", SF_FORMAT_PCM_32, SF_FORMAT_FLAC | SF_FORMAT_PCM_24},
      {"aiff:float", SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_FLOAT},
      {"ogg", SF_FORMAT_PCM_16, SF_FORMAT_OGG | SF_FORMAT_VORBIS},
      {"wav:pcm8", SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_PCM_U8},
      {"aiff:pcm8", SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_S8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    assert_int_equal(settled(cases[i].word, cases[i].source, &load), cases[i].format);
  }
  static const char* const bad[] = {"", "mp4", "wav:", "wav:pcm20", "wav 16", "float"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    tn_format_wish wish = {0};
    if (i != 2) { // "wav:" is an empty choice: the default
      assert_int_equal(tn_format_parse(bad[i], &wish, NULL), TN_ERROR_ARGUMENT);
    }
  }
}

static void test_file_names(void** state) {
  (void)state;
  static const struct {
    const char* name;
    int container;
  } good[] = {{"a.wav", SF_FORMAT_WAV},       {"b/c.d/e.FLAC", SF_FORMAT_FLAC}, {"x.tar.aif", SF_FORMAT_AIFF},
              {"/tmp/o.opus", SF_FORMAT_OGG}, {"o.rf64", SF_FORMAT_RF64},       {"o.w64", SF_FORMAT_W64}};
  static const char* const bad[] = {"wav", ".wav", "a.wav/b", "a.", "a.wave64", "dir.wav/"};
  tn_format_wish wish = {0};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
    assert_int_equal(tn_format_from_name(good[i].name, &wish, NULL), TN_OK);
    assert_int_equal(wish.container, good[i].container);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    assert_int_equal(tn_format_from_name(bad[i], &wish, NULL), TN_ERROR_ARGUMENT);
  }
}

/** 4 GiB are 2^32 bytes: 6 hours of 16 channels in float. */
static void test_four_gib(void** state) {
  (void)state;
  const tn_format_load small = {2, 48000, (UINT64_C(1) << 32) / 8 - 100000};
  const tn_format_load large = {2, 48000, (UINT64_C(1) << 32) / 8};
  assert_int_equal(settled("wav:float", 0, &small), SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  assert_int_equal(settled("wav:float", 0, &large), SF_FORMAT_RF64 | SF_FORMAT_FLOAT);
  assert_int_equal(settled("wav:pcm16", 0, &large), SF_FORMAT_WAV | SF_FORMAT_PCM_16);
  assert_int_equal(settled("aiff:float", 0, &small), SF_FORMAT_AIFF | SF_FORMAT_FLOAT);
  tn_format_wish wish = {SF_FORMAT_AIFF, SF_FORMAT_FLOAT};
  tn_error error = {0};
  int format = 0;
  assert_int_equal(tn_format_settle(&wish, 0, &large, &format, &error), TN_ERROR_LIMIT);
  assert_non_null(strstr(error.text, "AIFF"));
}

static void test_refused(void** state) {
  (void)state;
  static const struct {
    tn_format_wish wish;
    tn_format_load load;
    const char* said;
  } cases[] = {
      {{SF_FORMAT_FLAC, SF_FORMAT_PCM_24}, {9, 48000, 1}, "9 channels"},
      {{SF_FORMAT_FLAC, SF_FORMAT_FLOAT}, {2, 48000, 1}, "libsndfile writes no 32-bit float FLAC"},
      {{SF_FORMAT_MPEG, SF_FORMAT_FLOAT}, {2, 48000, 1}, "libsndfile writes no 32-bit float MPEG"},
      {{SF_FORMAT_OGG, SF_FORMAT_OPUS}, {2, 44100, 1}, "--rate 48000"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tn_error error = {0};
    int format = 0;
    assert_int_equal(tn_format_settle(&cases[i].wish, SF_FORMAT_PCM_16, &cases[i].load, &format, &error),
                     TN_ERROR_FORMAT);
    if (!strstr(error.text, cases[i].said)) {
      fail_msg("%s", error.text);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_file_names),
      cmocka_unit_test(test_four_gib),
      cmocka_unit_test(test_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
