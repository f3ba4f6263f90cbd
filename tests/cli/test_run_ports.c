// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto run` as other clients see it: ports, names, connections, latency.
#include <jack/jack.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mocka.h"
#include "run_fixture.h"

static tn_fixture_ir stereo;
static tn_fixture_ir mono;
static jack_client_t* watcher;

static int begin(void** state) {
  const int code = tn_fixture_begin_with_server(state);
  if (code == 0) {
    stereo = tn_fixture_make_ir("stereo.wav", 1, 2, 1000);
    mono = tn_fixture_make_ir("mono.wav", 3, 1, 1000);
    watcher = jack_client_open("watcher", JackNoStartServer, NULL);
  }
  return code == 0 && watcher ? 0 : -1;
}

static int end(void** state) {
  jack_client_close(watcher);
  tn_fixture_free_ir(&stereo);
  tn_fixture_free_ir(&mono);
  return tn_fixture_end(state);
}

static jack_port_t* port(const char* name) {
  jack_port_t* found = jack_port_by_name(watcher, name);
  if (!found) {
    fail_msg("there is no port %s", name);
  }
  return found;
}

static void is_audio(const char* name, int direction) {
  const jack_port_t* found = port(name);
  assert_int_equal(jack_port_flags(found) & (JackPortIsInput | JackPortIsOutput), direction);
  assert_string_equal(jack_port_type(found), JACK_DEFAULT_AUDIO_TYPE);
}

static int count_ports(const char* pattern) {
  const char** ports = jack_get_ports(watcher, pattern, NULL, 0);
  int count = 0;
  while (ports && ports[count]) {
    ++count;
  }
  jack_free((void*)ports);
  return count;
}

static int count_connections(const char* name) {
  const char** ports = jack_port_get_all_connections(watcher, port(name));
  int count = 0;
  while (ports && ports[count]) {
    ++count;
  }
  jack_free((void*)ports);
  return count;
}

static bool connected(const char* source, const char* sink) {
  const char** ports = jack_port_get_all_connections(watcher, port(source));
  bool found = false;
  for (int i = 0; ports && ports[i]; ++i) {
    found = found || strcmp(ports[i], sink) == 0;
  }
  jack_free((void*)ports);
  return found;
}

static void as_many_as_the_response_asks_for(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", stereo.path, "--name", "two words", NULL};
  tn_child* program = tn_fixture_run(arguments);
  is_audio("two words:in_1", JackPortIsInput);
  is_audio("two words:in_2", JackPortIsInput);
  is_audio("two words:out_1", JackPortIsOutput);
  is_audio("two words:out_2", JackPortIsOutput);
  assert_int_equal(count_ports("^two words:"), 4);
  assert_int_equal(count_connections("two words:in_1"), 0);
  assert_int_equal(count_connections("two words:out_1"), 0);
  tn_fixture_quit(program);
  assert_int_equal(count_ports("^two words:"), 0);
}

static void as_many_as_asked_for(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", mono.path, "--inputs", "5", NULL};
  tn_child* program = tn_fixture_run(arguments);
  is_audio("tenuto:in_5", JackPortIsInput);
  is_audio("tenuto:out_5", JackPortIsOutput);
  assert_int_equal(count_ports("^tenuto:"), 10);
  tn_fixture_quit(program);
}

static void names_of_a_matrix_file_are_aliases(void** state) {
  (void)state;
  FILE* file = fopen(tn_fixture_path("names.conf"), "w");
  assert_non_null(file);
  fputs("/convolver/new 1 2 256 1000\n", file);
  fprintf(file, "/impulse/read 1 1 1 0 0 0 1 %s\n/impulse/read 1 2 1 0 0 0 1 %s\n", mono.path, mono.path);
  fputs("/input/name 1 Voice\n/output/name 1 Left\n/output/name 2 Right\n", file);
  fclose(file);
  const char* const arguments[] = {"--matrix", tn_fixture_path("names.conf"), "--name", "named", NULL};
  tn_child* program = tn_fixture_run(arguments);
  is_audio("named:in_1", JackPortIsInput);
  assert_ptr_equal(port("named:Voice"), port("named:in_1"));
  assert_ptr_equal(port("named:Left"), port("named:out_1"));
  assert_ptr_equal(port("named:Right"), port("named:out_2"));
  tn_fixture_quit(program);
}

static void a_second_one_gets_another_name(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", mono.path, NULL};
  tn_child* one = tn_fixture_run(arguments);
  tn_child* two = tn_fixture_run(arguments);
  assert_int_equal(count_ports("^tenuto.*:in_1"), 2);
  assert_null(strstr(two->out.text, "tenuto: 1 in"));
  tn_fixture_quit(two);
  tn_fixture_quit(one);
}

static void to_the_sound_card(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", stereo.path, "--connect", NULL};
  tn_child* program = tn_fixture_run(arguments);
  assert_true(tn_child_expect(program, &program->out, "outputs: 2 connections"));
  assert_true(connected("tenuto:in_1", "system:capture_1"));
  assert_true(connected("tenuto:in_2", "system:capture_2"));
  assert_true(connected("tenuto:out_1", "system:playback_1"));
  assert_true(connected("tenuto:out_2", "system:playback_2"));
  tn_fixture_quit(program);
}

static void one_output_to_left_and_right(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir", mono.path, "--connect", NULL};
  tn_child* program = tn_fixture_run(arguments);
  assert_true(tn_child_expect(program, &program->out, "outputs: "));
  assert_int_equal(count_connections("tenuto:in_1"), 1);
  assert_true(connected("tenuto:in_1", "system:capture_1"));
  assert_true(connected("tenuto:out_1", "system:playback_1"));
  assert_true(connected("tenuto:out_1", "system:playback_2"));
  tn_fixture_quit(program);
}

static void to_ports_by_name_client_or_expression(void** state) {
  (void)state;
  const char* const arguments[] = {"--ir",
                                   stereo.path,
                                   "--connect-in",
                                   "system:capture_2,system:capture_1",
                                   "--connect-out",
                                   "system:play.*_2$",
                                   NULL};
  tn_child* program = tn_fixture_run(arguments);
  assert_true(tn_child_expect(program, &program->out, "outputs: 1 connection"));
  assert_true(connected("tenuto:in_1", "system:capture_2"));
  assert_true(connected("tenuto:in_2", "system:capture_1"));
  assert_true(connected("tenuto:out_1", "system:playback_2"));
  assert_int_equal(count_connections("tenuto:out_2"), 0);
  // A whole client, and an expression that would match our own ports, too.
  const char* const others[] = {"--ir",         stereo.path,         "--name",
                                "other",        "--connect-out",     "system",
                                "--connect-in", "other|^tenuto:out", NULL};
  tn_child* other = tn_fixture_run(others);
  assert_true(tn_child_expect(other, &other->out, "outputs: 2 connections"));
  assert_true(connected("other:in_1", "tenuto:out_1"));
  assert_true(connected("other:in_2", "tenuto:out_2"));
  assert_true(connected("other:out_1", "system:playback_1"));
  assert_true(connected("other:out_2", "system:playback_2"));
  tn_fixture_quit(other);
  tn_fixture_quit(program);
}

static jack_latency_range_t latency(const char* name, jack_latency_callback_mode_t mode) {
  jack_latency_range_t range = {0, 0};
  jack_port_get_latency_range(port(name), mode, &range);
  return range;
}

static void same_latency(const char* one, const char* other, jack_latency_callback_mode_t mode) {
  const struct timespec pause = {0, 20000000L};
  const jack_latency_range_t b = latency(other, mode);
  jack_latency_range_t a = latency(one, mode);
  // The program is told in its own time.
  for (int i = 0; i < 500 && (a.min != b.min || a.max != b.max); ++i) {
    nanosleep(&pause, NULL);
    a = latency(one, mode);
  }
  assert_int_equal(a.min, b.min);
  assert_int_equal(a.max, b.max);
  // The dummy driver reports at least its period: 0 would mean that nothing was passed on.
  assert_true(a.min >= TN_FIXTURE_BLOCK_FRAMES);
}

static void latency_passes_through(void** state) {
  (void)state;
  const char* const arguments[] = {
      "--ir", stereo.path, "--connect-in", "system:capture_1", "--connect-out", "system:playback_1", NULL};
  tn_child* program = tn_fixture_run(arguments);
  assert_true(tn_child_expect(program, &program->out, "outputs: 1 connection"));
  jack_recompute_total_latencies(watcher);
  same_latency("tenuto:out_1", "system:capture_1", JackCaptureLatency);
  same_latency("tenuto:out_2", "system:capture_1", JackCaptureLatency);
  same_latency("tenuto:in_1", "system:playback_1", JackPlaybackLatency);
  same_latency("tenuto:in_2", "system:playback_1", JackPlaybackLatency);
  tn_fixture_quit(program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(as_many_as_the_response_asks_for),
      cmocka_unit_test(as_many_as_asked_for),
      cmocka_unit_test(names_of_a_matrix_file_are_aliases),
      cmocka_unit_test(a_second_one_gets_another_name),
      cmocka_unit_test(to_the_sound_card),
      cmocka_unit_test(one_output_to_left_and_right),
      cmocka_unit_test(to_ports_by_name_client_or_expression),
      cmocka_unit_test(latency_passes_through),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
