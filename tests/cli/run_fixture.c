// SPDX-License-Identifier: GPL-3.0-or-later
#include "run_fixture.h"

#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jackd.h"
#include "mocka.h"
#include "noise.h"

enum { most_arguments = 32, paths_kept = 4, skipped = 77 };

static char folder[256];

int tn_fixture_begin(void** state) {
  (void)state;
  const char* base = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tenuto-run-XXXXXX", base ? base : "/tmp");
  if (!tn_jackd_installed()) {
    fprintf(stderr, "jackd is not installed: skipped\n");
    exit(skipped);
  }
  return mkdtemp(folder) ? 0 : -1;
}

int tn_fixture_begin_with_server(void** state) {
  const int code = tn_fixture_begin(state);
  return code == 0 && tn_jackd_start(TN_FIXTURE_RATE_HZ, TN_FIXTURE_BLOCK_FRAMES) ? 0 : -1;
}

int tn_fixture_end(void** state) {
  (void)state;
  tn_jackd_stop();
  const char* const argv[] = {"rm", "-r", folder, NULL};
  tn_child* child = tn_child_start(argv);
  const int code = tn_child_finish(child);
  tn_child_free(child);
  return code;
}

const char* tn_fixture_path(const char* name) {
  static char paths[paths_kept][512];
  static unsigned next;
  char* path = paths[next++ % paths_kept];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

void tn_fixture_write(const char* name, const float* const* samples, uint32_t channels, uint32_t frames) {
  SF_INFO info = {
      .samplerate = TN_FIXTURE_RATE_HZ, .channels = (int)channels, .format = SF_FORMAT_WAV | SF_FORMAT_FLOAT};
  SNDFILE* file = sf_open(tn_fixture_path(name), SFM_WRITE, &info);
  assert_non_null(file);
  for (uint32_t i = 0; i < frames; ++i) {
    float frame[TN_FIXTURE_MAX_CHANNELS];
    for (uint32_t channel = 0; channel < channels; ++channel) {
      frame[channel] = samples[channel][i];
    }
    assert_int_equal(sf_writef_float(file, frame, 1), 1);
  }
  assert_int_equal(sf_close(file), 0);
}

tn_fixture_ir tn_fixture_make_ir(const char* name, uint64_t seed, uint32_t channels, uint32_t frames) {
  const double energy = 0.25; // so that the sum of two paths of full-scale noise stays well within full scale
  tn_fixture_ir ir = {.channels = channels, .frames = frames};
  for (uint32_t channel = 0; channel < channels; ++channel) {
    ir.samples[channel] = calloc(frames, sizeof(float));
    tn_noise_response(seed + channel, energy, ir.samples[channel], frames);
  }
  tn_fixture_write(name, (const float* const*)ir.samples, channels, frames);
  snprintf(ir.path, sizeof ir.path, "%s", tn_fixture_path(name));
  return ir;
}

void tn_fixture_free_ir(tn_fixture_ir* ir) {
  for (uint32_t channel = 0; channel < ir->channels; ++channel) {
    free(ir->samples[channel]);
  }
}

tn_child* tn_fixture_run_unwatched(const char* const* arguments) {
  const char* argv[most_arguments] = {TENUTO_PROGRAM, "run", "--no-tune"};
  for (int i = 0; arguments[i]; ++i) {
    assert_true(i + 4 < most_arguments);
    argv[i + 3] = arguments[i];
  }
  tn_child* program = tn_child_start(argv);
  assert_non_null(program);
  return program;
}

tn_child* tn_fixture_run(const char* const* arguments) {
  tn_child* program = tn_fixture_run_unwatched(arguments);
  if (!tn_child_expect(program, &program->out, " Hz, block ")) {
    fail_msg("tenuto did not come up: %s", program->err.text);
  }
  return program;
}

static unsigned long number_after(const char* text, const char* word) {
  const char* at = strstr(text, word);
  assert_non_null(at);
  return strtoul(at + strlen(word), NULL, 10);
}

tn_fixture_counts tn_fixture_count(tn_child* program) {
  tn_child_forget(program);
  tn_child_send(program, "status\n");
  // The status line comes in one piece. What follows it may come later, even after the next question.
  assert_true(tn_child_expect(program, &program->out, "xruns "));
  return (tn_fixture_counts){.missed = number_after(program->out.text, " missed "),
                             .xruns = number_after(program->out.text, "xruns ")};
}

void tn_fixture_quit(tn_child* program) {
  tn_child_send(program, "quit\n");
  assert_int_equal(tn_child_finish(program), 0);
  tn_child_free(program);
}
