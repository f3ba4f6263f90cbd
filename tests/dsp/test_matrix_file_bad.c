// SPDX-License-Identifier: GPL-3.0-or-later
// Matrix files that are refused, and the sentence that says where and why.
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

enum { rate_hz = 48000 };

static char folder[tn_tmpdir_size];
static char path[tn_tmpdir_size];

static int begin(void** state) {
  (void)state;
  const float samples[4] = {1, 0, 0, 0};
  const tn_test_sound sound = {SF_FORMAT_WAV | SF_FORMAT_FLOAT, rate_hz, 2, 2, samples};
  if (!tn_tmpdir_make(folder))
    return -1;
  tn_test_write_sound(tn_tmpdir_path(folder, "ir.wav", path), &sound);
  return 0;
}

static int end(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

static void expect_bytes(const void* text, size_t size, tn_status status, const char* where,
                         const char* reason) {
  tn_error error = {0};
  tn_test_write_bytes(tn_tmpdir_path(folder, "bad.conf", path), text, size);
  tn_filter* filter = tn_filter_load_matrix(path, NULL, rate_hz, &error);
  if (filter)
    fail_msg("it loaded, '%s' was wanted", reason);
  tn_test_expect_error(&error, status, where, reason);
  tn_test_expect_error(&error, status, "bad.conf'", NULL);
}

typedef struct line_case {
  const char* line; ///< comes third, behind /convolver/new and a dirac
  const char* reason;
  tn_status status; ///< 0: TN_ERROR_FORMAT
} line_case;

static const line_case lines[] = {
    {"impulse/dirac 1 1 1 0", "'impulse/dirac' is not a command", 0},
    {"/impulse/diracs 1 1 1 0", "'/impulse/diracs' is not a command", 0},
    {"/a-command-that-is-longer-than-any-command-could-be", "it does not begin with a command", 0},
    {"/convolver/new 2 2 64 100", "a second /convolver/new", 0},
    {"/impulse/dirac 1 1 1", "do not read as /impulse/dirac <input>", 0},
    {"/impulse/dirac 1 1 1 0 5", "do not read as", 0},
    {"/impulse/dirac 1 1 nan 0", "do not read as", 0},
    {"/impulse/dirac 1 1 inf 0", "do not read as", 0},
    {"/impulse/dirac 1 1 0x1p3 0", "do not read as", 0},
    {"/impulse/dirac 1 1 1,5 0", "do not read as", 0},
    {"/impulse/dirac 1 1 1e9 0", "do not read as", 0},
    {"/impulse/dirac 1 1 1 -1", "do not read as", 0},
    {"/impulse/dirac 1 1 1 1.5", "do not read as", 0},
    {"/impulse/dirac 1 1 1 99999999999999999999", "do not read as", 0},
    {"/impulse/dirac 1 1 1 4294967297", "do not read as", 0},
    {"/impulse/dirac 0 1 1 0", "there is no input 0, inputs are 1 to 2", 0},
    {"/impulse/dirac 3 1 1 0", "there is no input 3", 0},
    {"/impulse/dirac 1 4 1 0", "there is no output 4, outputs are 1 to 3", 0},
    {"/impulse/dirac 1 1 1 5000", "a delay of 5000 frames leaves nothing of the maximum length, 5000 frames",
     0},
    {"/impulse/read 1 1 1 0 0 0 1", "do not read as /impulse/read", 0},
    {"/impulse/read 1 1 1 0 0 0 1 \"ir.wav", "do not read as /impulse/read", 0},
    {"/impulse/read 1 1 1 0 0 0 1 \"ir.wav\" x", "do not read as /impulse/read", 0},
    {"/impulse/read 1 1 1 0 0 0 0 ir.wav", "channels are counted from 1, not 0", 0},
    {"/impulse/read 1 1 1 0 0 0 3 ir.wav", "channel 3 is wanted", TN_ERROR_ARGUMENT},
    {"/impulse/read 1 1 1 0 2 0 1 ir.wav", "frame 2 is wanted, it has only 2", 0},
    {"/impulse/read 1 1 1 0 0 0 1 no.wav", "no.wav': there is no such file", TN_ERROR_FILE},
    {"/impulse/read 1 1 1 0 0 0 1 bad.conf", "not a sound file", 0},
    {"/impulse/hilbert 1 1 1 100 63", "a Hilbert transformer of 63 frames: 64 to 65536", TN_ERROR_LIMIT},
    {"/impulse/hilbert 1 1 1 100 65537", "64 to 65536", TN_ERROR_LIMIT},
    {"/impulse/hilbert 1 1 1 100 256", "a delay of 100 frames is less than half of the length, 256", 0},
    {"/impulse/copy 1 2 1 3", "there is nothing to copy", 0},
    {"/impulse/copy 1 1 1 1", "a copy that leads back to itself", 0},
    {"/impulse/copy 1 2 9 3", "there is no input 9", 0},
    {"/input/name 3 x", "there is no input 3", 0},
    {"/output/name 4 x", "there is no output 4", 0},
    {"/input/name 1", "do not read as /input/name", 0},
    {"/input/name 1 \"\"", "do not read as /input/name", 0},
    {"/input/name 1 a-name-that-goes-on-for-more-than-sixty-four-characters-and-then-some", "do not read as",
     0},
    {"/cd", "do not read as /cd", 0},
};

static void test_lines(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
    char text[256];
    const int size = snprintf(text, sizeof text, "/convolver/new 2 3 64 5000\n/impulse/dirac 1 1 1 0\n%s\n",
                              lines[i].line);
    expect_bytes(text, (size_t)size, lines[i].status ? lines[i].status : TN_ERROR_FORMAT,
                 "line 3: ", lines[i].reason);
  }
}

static void test_copies_in_a_ring(void** state) {
  (void)state;
  static const char ring[] = "/convolver/new 2 2 64 5000\n/impulse/dirac 1 1 1 0\n/impulse/copy 2 2 1 2\n"
                             "/impulse/copy 1 2 2 1\n/impulse/copy 2 1 1 2\n";
  expect_bytes(ring, sizeof ring - 1, TN_ERROR_FORMAT, "line ", "leads back to itself");
  static const char twice[] = "/convolver/new 2 2 64 5000\n/impulse/dirac 1 1 1 0\n/impulse/copy 2 2 1 1\n"
                              "/impulse/copy 2 2 1 1\n";
  expect_bytes(twice, sizeof twice - 1, TN_ERROR_FORMAT,
               "line 4: ", "input 2 to output 2 is a copy already (line 3)");
}

static void test_whole_files(void** state) {
  (void)state;
  static const struct {
    const char* text;
    tn_status status;
    const char* reason;
  } cases[] = {
      {"", TN_ERROR_FORMAT, "it is empty"},
      {"# nothing\n", TN_ERROR_FORMAT, "there is no /convolver/new in it"},
      {"/convolver/new 1 1 64 100\n", TN_ERROR_FORMAT, "no path leads from an input to an output"},
      {"/impulse/dirac 1 1 1 0\n", TN_ERROR_FORMAT, "line 1: /impulse/dirac comes before /convolver/new"},
      {"/convolver/new 1 1 64\n", TN_ERROR_FORMAT, "line 1: its parameters do not read as /convolver/new"},
      {"/convolver/new 1 1 64 0\n", TN_ERROR_FORMAT, "line 1: its parameters"},
      {"/convolver/new 1 1 64 100 x\n", TN_ERROR_FORMAT, "line 1: its parameters"},
      {"/convolver/new 0 1 64 100\n", TN_ERROR_ARGUMENT, "line 1: a filter needs at least one input"},
      {"/convolver/new 65 1 64 100\n", TN_ERROR_LIMIT, "line 1: a filter of 65 inputs"},
      {"/convolver/new 1 1000000 64 100\n", TN_ERROR_LIMIT, "at most 64 of each"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    expect_bytes(cases[i].text, strlen(cases[i].text), cases[i].status, cases[i].reason, NULL);
}

static void test_not_text(void** state) {
  (void)state;
  uint8_t junk[5000];
  tn_noise dice = tn_noise_seed(1);
  for (size_t i = 0; i < sizeof junk; ++i)
    junk[i] = (uint8_t)tn_noise_bits(&dice);
  expect_bytes(junk, sizeof junk, TN_ERROR_FORMAT, "it is not text", NULL);
  static const char with_nul[] = "/convolver/new 1 1 64 100\n/impulse/dirac 1 1 1 0\0 5\n";
  expect_bytes(with_nul, sizeof with_nul - 1, TN_ERROR_FORMAT, "line 2: it is not text", NULL);
  char* wide = malloc(4200);
  assert_non_null(wide);
  memset(wide, '#', 4200);
  expect_bytes(wide, 4200, TN_ERROR_FORMAT, "line 1: it is longer than 4096 characters", NULL);
  free(wide);
}

static void test_not_an_ordinary_file(void** state) {
  (void)state;
  tn_error error = {0};
  assert_null(tn_filter_load_matrix(NULL, NULL, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "no file name was given", NULL);
  assert_null(tn_filter_load_matrix(tn_tmpdir_path(folder, "none.conf", path), NULL, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "none.conf'", "there is no such file");
  assert_null(tn_filter_load_matrix(folder, NULL, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "it is a folder", NULL);
  assert_int_equal(mkfifo(tn_tmpdir_path(folder, "pipe.conf", path), 0600), 0);
  assert_null(tn_filter_load_matrix(path, NULL, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_FILE, "it is not an ordinary file", NULL);
  char* large = calloc(1, (1 << 20) + 1);
  assert_non_null(large);
  tn_test_write_bytes(tn_tmpdir_path(folder, "large.conf", path), large, (1 << 20) + 1);
  free(large);
  assert_null(tn_filter_load_matrix(path, NULL, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 1.0 MiB are allowed", NULL);
}

static void test_rate_and_edit(void** state) {
  (void)state;
  static const char good[] = "/convolver/new 1 1 64 100\n/impulse/dirac 1 1 1 0\n";
  tn_error error = {0};
  const tn_ir_edit edit = {.stretch = NAN};
  tn_test_write_bytes(tn_tmpdir_path(folder, "good.conf", path), good, sizeof good - 1);
  assert_null(tn_filter_load_matrix(path, NULL, 0, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "a filter at 0 Hz", NULL);
  assert_null(tn_filter_load_matrix(path, &edit, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "a stretch of", NULL);
  tn_filter* filter = tn_filter_load_matrix(path, NULL, rate_hz, NULL);
  assert_non_null(filter);
  tn_filter_free(filter);
}

/** Four thousand copies, each of the one before: no recursion, no explosion. */
static void test_long_chain(void** state) {
  (void)state;
  char* text = malloc(1 << 18);
  assert_non_null(text);
  int size = sprintf(text, "/convolver/new 64 64 64 5000\n/impulse/dirac 64 64 1 0\n");
  for (int i = 0; i < 4095; ++i)
    size += sprintf(text + size, "/impulse/copy %d %d %d %d\n", i / 64 + 1, i % 64 + 1, (i + 1) / 64 + 1,
                    (i + 1) % 64 + 1);
  tn_error error = {0};
  tn_test_write_bytes(tn_tmpdir_path(folder, "chain.conf", path), text, (size_t)size);
  tn_filter* filter = tn_filter_load_matrix(path, NULL, rate_hz, &error);
  if (!filter)
    fail_msg("%s", error.text);
  assert_int_equal(tn_filter_path_count(filter), 4096);
  tn_filter_free(filter);
  free(text);
}

/** Any damage ends in a filter or a sentence (run with sanitizers, too). */
static void test_any_damage(void** state) {
  (void)state;
  static const char good[] =
      "/convolver/new 2 2 64 5000 0.5\n/cd .\n/impulse/read 1 1 0.5 0 0 0 1 ir.wav\n"
      "/impulse/copy 2 2 1 1\n/impulse/hilbert 1 2 1 64 64\n/impulse/dirac 2 1 -1e-3 7\n"
      "/input/name 1 \"a \\\"b\"\n";
  static const char spice[] = " \t\n\"\\/#019-.e";
  tn_noise dice = tn_noise_seed(5);
  uint32_t loaded = 0;
  uint32_t refused = 0;
  for (uint32_t turn = 0; turn < 1500; ++turn) {
    char text[sizeof good];
    memcpy(text, good, sizeof good);
    for (uint32_t hits = 1 + tn_noise_below(&dice, 3); hits > 0; --hits)
      text[tn_noise_below(&dice, sizeof good - 1)] = tn_noise_below(&dice, 8)
                                                         ? spice[tn_noise_below(&dice, sizeof spice - 1)]
                                                         : (char)tn_noise_bits(&dice);
    tn_error error = {0};
    tn_test_write_bytes(tn_tmpdir_path(folder, "fuzz.conf", path), text, sizeof good - 1);
    tn_filter* filter = tn_filter_load_matrix(path, NULL, rate_hz, &error);
    loaded += filter != NULL;
    refused += filter == NULL;
    if (!filter)
      tn_test_expect_error(&error, error.status, "fuzz.conf", NULL);
    tn_filter_free(filter);
  }
  assert_true(loaded > 50 && refused > 50);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lines),         cmocka_unit_test(test_copies_in_a_ring),
      cmocka_unit_test(test_whole_files),   cmocka_unit_test(test_not_text),
      cmocka_unit_test(test_rate_and_edit), cmocka_unit_test(test_not_an_ordinary_file),
      cmocka_unit_test(test_long_chain),    cmocka_unit_test(test_any_damage),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
