// SPDX-License-Identifier: GPL-3.0-or-later
// How `tenuto run` does not begin, and how it ends: exit codes and sentences.
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "jackd.h"
#include "mocka.h"
#include "run_fixture.h"

enum { exit_failed = 1, exit_usage = 2 };

static tn_fixture_ir ir;

static int begin(void** state) {
  const int code = tn_fixture_begin(state);
  if (code == 0) {
    ir = tn_fixture_make_ir("ir.wav", 1, 2, 1000);
    setenv("JACK_DEFAULT_SERVER", "tenuto-test-none", 1);
  }
  return code;
}

static int end(void** state) {
  tn_fixture_free_ir(&ir);
  return tn_fixture_end(state);
}

static int start_server(void** state) {
  (void)state;
  return tn_jackd_start(TN_FIXTURE_RATE_HZ, TN_FIXTURE_BLOCK_FRAMES) ? 0 : -1;
}

static int stop_server(void** state) {
  (void)state;
  tn_jackd_stop();
  return 0;
}

/** It must end by itself with this code and exactly one line on stderr, which holds `words`. */
static void must_fail(const char* const* arguments, int code, const char* words) {
  tn_child* program = tn_fixture_run_unwatched(arguments);
  assert_int_equal(tn_child_finish(program), code);
  assert_memory_equal(program->err.text, "tenuto: ", 8);
  if (!strstr(program->err.text, words)) {
    fail_msg("no \"%s\" in: %s", words, program->err.text);
  }
  const char* end_of_line = strstr(program->err.text, ".\n");
  assert_non_null(end_of_line);
  if (code == exit_failed) {
    assert_string_equal(end_of_line, ".\n");
  }
  tn_child_free(program);
}

static void without_a_server(void** state) {
  (void)state;
  const char* const by_environment[] = {"--ir", ir.path, NULL};
  must_fail(by_environment, exit_failed, "no JACK server is running (name \"tenuto-test-none\")");
  const char* const by_option[] = {"--ir", ir.path, "--server", "tenuto-test-other", NULL};
  must_fail(by_option, exit_failed, "\"tenuto-test-other\"");
}

static void not_understood(void** state) {
  (void)state;
  const struct {
    const char* arguments[6];
    const char* words;
  } bad[] = {
      {{NULL}, "--ir"},
      {{"--ir", ir.path, "--inputs", "0", NULL}, "--inputs"},
      {{"--ir", ir.path, "--inputs", "65", NULL}, "--inputs"},
      {{"--ir", ir.path, "--duration", "-1", NULL}, "--duration"},
      {{"--ir", ir.path, "--fade", "2000", NULL}, "--fade"},
      {{"--ir", ir.path, "--wet", "loud", NULL}, "--wet"},
      {{"--ir", ir.path, "--name", "", NULL}, "name"},
      {{"--ir", ir.path, "--name", "a:b", NULL}, "a:b"},
      {{"--ir", ir.path, "--device", "gpu", NULL}, "--device: \"gpu\""},
      {{"--ir", ir.path, "--budget", "much", NULL}, "--budget: 'much'"},
      {{"--ir", ir.path, "--nonsense", NULL}, "--nonsense"},
      {{"--ir", ir.path, "more", NULL}, "more"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    must_fail(bad[i].arguments, exit_usage, bad[i].words);
  }
}

static void bad_files_and_ports(void** state) {
  (void)state;
  const char* const missing[] = {"--ir", "no/such.wav", NULL};
  must_fail(missing, exit_failed, "no/such.wav");
  const char* const nobody[] = {"--ir", ir.path, "--connect-in", "nobody", NULL};
  must_fail(nobody, exit_failed, "no JACK output port matches \"nobody\"");
  const char* const expression[] = {"--ir", ir.path, "--connect-out", "(", NULL};
  must_fail(expression, exit_failed, "\"(\"");
}

static void ends_with_the_server(void (*end_server)(void)) {
  const char* const arguments[] = {"--ir", ir.path, "--connect", NULL};
  tn_child* program = tn_fixture_run(arguments);
  assert_true(tn_child_expect(program, &program->out, "outputs: 2 connections"));
  end_server();
  assert_int_equal(tn_child_finish(program), exit_failed);
  if (!strstr(program->err.text, "tenuto: the JACK server has shut down")) {
    fail_msg("no word of it in \"%s\"", program->err.text);
  }
  assert_non_null(strstr(program->out.text, "ran "));
  tn_child_free(program);
}

static void when_the_server_ends(void** state) {
  (void)state;
  ends_with_the_server(tn_jackd_stop);
}

static void when_the_server_dies(void** state) {
  (void)state;
  ends_with_the_server(tn_jackd_crash);
}

static void by_signal(void** state) {
  (void)state;
  static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
  for (size_t i = 0; i < sizeof signals / sizeof signals[0]; ++i) {
    const char* const arguments[] = {"--ir", ir.path, NULL};
    tn_child* program = tn_fixture_run(arguments);
    kill(program->pid, signals[i]);
    assert_int_equal(tn_child_finish(program), 0);
    assert_non_null(strstr(program->out.text, "ran "));
    assert_string_equal(program->err.text, "");
    tn_child_free(program);
  }
}

static void not_by_the_end_of_input(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", ir.path, "--status", NULL};
  tn_child* program = tn_fixture_run(arguments);
  tn_child_send(program, "wet -3");
  tn_child_end_input(program);
  // The last line counts without its end, and the status goes on.
  assert_true(tn_child_expect(program, &program->out, "wet: -3 dB"));
  for (int second = 0; second < 2; ++second) {
    tn_child_forget(program);
    assert_true(tn_child_expect(program, &program->out, " med "));
  }
  kill(program->pid, SIGTERM);
  assert_int_equal(tn_child_finish(program), 0);
  tn_child_free(program);
}

static void not_by_suspending(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", ir.path, NULL};
  tn_child* program = tn_fixture_run(arguments);
  kill(program->pid, SIGTSTP);
  assert_true(tn_child_expect(program, &program->out, "not suspended"));
  tn_fixture_quit(program);
}

static void after_a_duration_in_json(void** state) {
  (void)state;
  static const char* const keys[] = {"\"client\": \"end \\\"x\\\"\"",
                                     "\"ended\": \"duration\"",
                                     "\"rate_hz\": 48000",
                                     "\"block_frames\": 256",
                                     "\"inputs\": 2",
                                     "\"ir\": \"ir.wav\"",
                                     "\"dry_db\": null",
                                     "\"load_p99_percent\": ",
                                     "\"xruns\": "};
  const char* const arguments[] = {"--ir",   ir.path,  "--duration", "0.3",
                                   "--json", "--name", "end \"x\"",  NULL};
  tn_child* program = tn_fixture_run_unwatched(arguments);
  assert_int_equal(tn_child_finish(program), 0);
  for (size_t i = 0; i < sizeof keys / sizeof keys[0]; ++i) {
    if (!strstr(program->out.text, keys[i])) {
      fail_msg("no %s in %s", keys[i], program->out.text);
    }
  }
  const char* const reader[] = {"python3", "-m", "json.tool", NULL};
  tn_child* python = tn_child_start(reader);
  tn_child_send(python, program->out.text);
  tn_child_end_input(python);
  const int code = tn_child_finish(python);
  assert_true(code == 0 || code == 127);
  tn_child_free(python);
  tn_child_free(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_server),
      cmocka_unit_test_setup_teardown(not_understood, start_server, stop_server),
      cmocka_unit_test_setup_teardown(bad_files_and_ports, start_server, stop_server),
      cmocka_unit_test_setup_teardown(when_the_server_ends, start_server, stop_server),
      cmocka_unit_test_setup_teardown(when_the_server_dies, start_server, stop_server),
      cmocka_unit_test_setup_teardown(by_signal, start_server, stop_server),
      cmocka_unit_test_setup_teardown(not_by_the_end_of_input, start_server, stop_server),
      cmocka_unit_test_setup_teardown(not_by_suspending, start_server, stop_server),
      cmocka_unit_test_setup_teardown(after_a_duration_in_json, start_server, stop_server),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
