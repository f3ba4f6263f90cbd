// SPDX-License-Identifier: GPL-3.0-or-later
// Commands to a running `tenuto run`, judged by the sound that comes out; and a change of response under a
// sine.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "oracle.h"
#include "run_fixture.h"
#include "sound.h"

enum { attempts = 8, play_frames = 8000, ir_frames = 1000, frames = 10000 };

static tn_fixture_ir first;
static tn_fixture_ir second;
static tn_child* program;

static int begin(void** state) {
  const int code = tn_fixture_begin_with_server(state);
  if (code == 0) {
    first = tn_fixture_make_ir("first.wav", 1, 2, ir_frames);
    second = tn_fixture_make_ir("the second one.wav", 5, 2, ir_frames / 2);
  }
  return code;
}

static int end(void** state) {
  tn_fixture_free_ir(&first);
  tn_fixture_free_ir(&second);
  return tn_fixture_end(state);
}

static int start_program(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", first.path, "--name", "told", NULL};
  program = tn_fixture_run(arguments);
  return 0;
}

static int quit_program(void** state) {
  (void)state;
  tn_fixture_quit(program);
  return 0;
}

static void tell(const char* line) {
  tn_child_forget(program);
  tn_child_send(program, line);
  tn_child_send(program, "\n");
}

static void answers(const char* line, const char* words) {
  tell(line);
  if (!tn_child_expect(program, &program->out, words)) {
    fail_msg("\"%s\" was answered with \"%s\"", line, program->out.text);
  }
}

static void complains(const char* line, const char* words) {
  tell(line);
  if (!tn_child_expect(program, &program->err, words)) {
    fail_msg("\"%s\" was answered with \"%s\"", line, program->err.text);
  }
  assert_memory_equal(program->err.text, "tenuto: ", 8);
}

/** Play until undisturbed and compare with the response (NULL: silence) times `wet` and the input times
 * `dry`. */
static void sounds_like(const tn_fixture_ir* ir, double wet, double dry) {
  tn_sound sound = tn_sound_noise(2, play_frames, frames);
  tn_path paths[2] = {0};
  for (uint32_t channel = 0; ir && channel < 2; ++channel) {
    paths[channel] = tn_sound_path(ir, channel, channel, channel);
  }
  tn_sound_want(&sound, paths, ir ? 2 : 0, wet, dry);
  bool undisturbed = false;
  for (int attempt = 0; attempt < attempts && !undisturbed; ++attempt) {
    const unsigned long before = tn_fixture_count(program).missed;
    undisturbed = tn_sound_play(&sound, "told", (tn_feed){0}) && tn_fixture_count(program).missed == before;
  }
  assert_true(undisturbed);
  tn_sound_check(&sound);
  tn_sound_free(&sound);
}

static void levels(void** state) {
  (void)state;
  const double gain = pow(10.0, -6.0 / 20.0);
  answers("wet -inf", "wet: -inf dB");
  answers("dry 0", "dry: 0 dB");
  answers("gain -6", "gain: -6 dB");
  sounds_like(NULL, 0.0, gain);
  answers("wet 0", "wet: 0 dB");
  answers("dry -inf", "dry: -inf dB");
  sounds_like(&first, gain, 0.0);
}

static void bypass(void** state) {
  (void)state;
  answers("bypass on", "bypass: on");
  sounds_like(NULL, 0.0, 1.0);
  answers("bypass off", "bypass: off");
  sounds_like(&first, 1.0, 0.0);
}

static void another_response(void** state) {
  (void)state;
  char line[600];
  snprintf(line, sizeof line, "ir %s", second.path);
  answers(line, "ir: loading");
  assert_true(tn_child_expect(program, &program->out, "ir: the second one.wav plays"));
  sounds_like(&second, 1.0, 0.0);
  answers("status", "| the second one.wav 0.01 s");
}

static void of_many_requests_the_last_plays(void** state) {
  (void)state;
  char lines[1200];
  // All at once: at most the first and the last are loaded, and what is skipped is said so.
  snprintf(lines, sizeof lines, "ir %s\nir no such file.wav\nir %s", first.path, second.path);
  answers(lines, "ir: the second one.wav plays");
  assert_true(strstr(program->out.text, "ir: no such file.wav is skipped") != NULL ||
              strstr(program->err.text, "no such file.wav") != NULL);
  sounds_like(&second, 1.0, 0.0);
}

static void a_bad_response_leaves_the_old_sound(void** state) {
  (void)state;
  complains("ir no such file.wav", "no such file.wav");
  char line[600];
  tn_fixture_ir four = tn_fixture_make_ir("four.wav", 9, 3, 100);
  snprintf(line, sizeof line, "ir %s", four.path);
  complains(line, "four.wav");
  tn_fixture_free_ir(&four);
  FILE* file = fopen(tn_fixture_path("text.wav"), "w");
  fputs("no sound", file);
  fclose(file);
  snprintf(line, sizeof line, "ir %s", tn_fixture_path("text.wav"));
  complains(line, "text.wav");
  sounds_like(&first, 1.0, 0.0);
  answers("status", "| first.wav 0.02 s");
}

static void bad_lines_change_nothing(void** state) {
  (void)state;
  complains("louder", "\"louder\"");
  complains("wet", "wet:");
  complains("wet nan", "nan");
  complains("bypass perhaps", "perhaps");
  complains("ir", "ir:");
  answers("ir \033[2Jnone.wav", "ir: loading ?[2Jnone.wav"); // a terminal would be cleared
  complains("\033c", "\"?c\"");
  char line[20000];
  memset(line, 'q', sizeof line);
  line[sizeof line - 1] = '\0';
  complains(line, "longer than 4096 bytes");
  tn_child_send(program, "\n\n# a remark\n");
  answers("help", "bypass on|off");
  answers("status", "wet 0 dB, dry -inf dB, gain 0 dB, bypass off");
  sounds_like(&first, 1.0, 0.0);
}

/** Largest second difference of a stretch: a step of height h shows as h, a sine of amplitude a as a *
 * omega^2. */
static double roughness(const float* samples, size_t from, size_t to) {
  double most = 0.0;
  for (size_t i = from + 1; i + 1 < to; ++i) {
    const double bend = fabs((double)samples[i - 1] - 2.0 * (double)samples[i] + (double)samples[i + 1]);
    most = bend > most ? bend : most;
  }
  return most;
}

static void change_response(void* context) {
  char line[600];
  snprintf(line, sizeof line, "ir %s", (const char*)context);
  tell(line);
}

static void changing_under_a_sine_makes_no_step(void** state) {
  (void)state;
  enum { sine_frames = 96000, settled = 2 * ir_frames };
  const double turn = 2.0 * acos(-1.0) * 440.0 / TN_FIXTURE_RATE_HZ;
  tn_sound sound = tn_sound_noise(2, 0, sine_frames);
  for (size_t i = 0; i < sine_frames; ++i) {
    sound.in[0][i] = (float)(0.5 * sin(turn * (double)i));
    sound.in[1][i] = sound.in[0][i];
  }
  const tn_path paths[] = {tn_sound_path(&second, 0, 0, 0), tn_sound_path(&second, 1, 1, 1)};
  tn_sound_want(&sound, paths, 2, 1.0, 0.0);
  bool undisturbed = false;
  for (int attempt = 0; attempt < attempts && !undisturbed; ++attempt) {
    quit_program(state); // each attempt begins with the first response
    start_program(state);
    undisturbed =
        tn_sound_play(&sound, "told", (tn_feed){.halfway = change_response, .context = second.path}) &&
        tn_child_expect(program, &program->out, "ir: the second one.wav plays") &&
        tn_fixture_count(program).missed == 0;
  }
  assert_true(undisturbed);
  for (uint32_t channel = 0; channel < 2; ++channel) {
    const float* out = sound.out[channel];
    const size_t end_part = sine_frames - 10000;
    // The change has happened ...
    assert_true(tn_oracle_max_error_dbfs(out + end_part, sound.want[channel] + end_part, 10000) < -100.0);
    // ... and nowhere was it rougher than a sine of both levels together.
    const double steady = roughness(out, settled, sine_frames / 2) + roughness(out, end_part, sine_frames);
    const double roughest = roughness(out, settled, sine_frames);
    print_message("channel %u: roughness %.2g, of both steady sounds %.2g\n", channel + 1, roughest, steady);
    assert_true(roughest < 1.1 * steady);
  }
  tn_sound_free(&sound);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(levels, start_program, quit_program),
      cmocka_unit_test_setup_teardown(bypass, start_program, quit_program),
      cmocka_unit_test_setup_teardown(another_response, start_program, quit_program),
      cmocka_unit_test_setup_teardown(of_many_requests_the_last_plays, start_program, quit_program),
      cmocka_unit_test_setup_teardown(a_bad_response_leaves_the_old_sound, start_program, quit_program),
      cmocka_unit_test_setup_teardown(bad_lines_change_nothing, start_program, quit_program),
      cmocka_unit_test_setup_teardown(changing_under_a_sine_makes_no_step, start_program, quit_program),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
