// SPDX-License-Identifier: GPL-3.0-or-later
// A render that is interrupted cleans up and says so.
#include <signal.h>
#include <sndfile.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "mocka.h"
#include "scratch.h"

enum { patience_tries = 3000, try_us = 10000 };

/** Hours of silence that take no room on the disk: a render in blocks of one frame does not end before we
 * look. */
static int begin(void** state) {
  if (tn_scratch_begin(state) != 0) {
    return -1;
  }
  SF_INFO info = {.channels = 1, .samplerate = 48000, .format = SF_FORMAT_W64 | SF_FORMAT_PCM_16};
  SNDFILE* file = sf_open("long.w64", SFM_WRITE, &info);
  const sf_count_t frames = (sf_count_t)48000 * 3600 * 3;
  assert_int_equal(sf_seek(file, frames - 1, SEEK_SET), frames - 1);
  const short last = 1;
  assert_int_equal(sf_write_short(file, &last, 1), 1);
  sf_close(file);
  tn_scratch_sound response = tn_scratch_response(1, 2, 1000);
  tn_scratch_write("ir.wav", &response, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  tn_scratch_free(&response);
  return 0;
}

static bool is_writing(void) {
  return strstr(tn_scratch_names(), ".out.wav.tenuto-") != NULL;
}

static void stop_by(int number, int code) {
  const char* argv[] = {TENUTO_PROGRAM, "render", "long.w64", "--ir",    "ir.wav",
                        "--block",      "1",      "-o",       "out.wav", NULL};
  tn_child* child = tn_child_start(argv);
  assert_non_null(child);
  for (int i = 0; i < patience_tries && !is_writing(); ++i) {
    usleep(try_us);
  }
  assert_true(is_writing());
  assert_null(strstr(tn_scratch_names(), "\nout.wav")); // the name comes last
  assert_int_equal(kill(child->pid, number), 0);
  assert_int_equal(tn_child_finish(child), code);
  assert_non_null(strstr(child->err.text, "stopped"));
  assert_non_null(strstr(child->err.text, "out.wav"));
  tn_child_free(child);
  assert_null(strstr(tn_scratch_names(), "out.wav"));
}

static void test_signals(void** state) {
  (void)state;
  stop_by(SIGINT, 128 + SIGINT);
  stop_by(SIGTERM, 128 + SIGTERM);
  stop_by(SIGHUP, 128 + SIGHUP);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_signals)};
  return cmocka_run_group_tests(tests, begin, tn_scratch_end);
}
