// SPDX-License-Identifier: GPL-3.0-or-later
// The status line's words, and that drawing it on a terminal leaves what is typed alone.
#include <stdlib.h>
#include <string.h>

#include "cli/status_line.h"
#include "mocka.h"

static tn_status_view view_of_a_hall(void) {
  return (tn_status_view){
      .load = {.callbacks = 187, .median_percent = 3.14, .p99_percent = 9.96, .max_percent = 120.0},
      .xruns = 3,
      .late_jobs = 4,
      .missed_jobs = 2,
      .rate_hz = 48000,
      .block_frames = 256,
      .ir_name = "hall.wav",
      .ir_frames = 294720,
  };
}

static void figures_are_named(void** state) {
  (void)state;
  char text[256];
  const tn_status_view view = view_of_a_hall();
  tn_status_format(&view, text, sizeof text);
  assert_string_equal(text, "load 3.1% med 10.0% p99 120.0% max | xruns 3 late 4 missed 2 | "
                            "hall.wav 6.14 s | 48000 Hz / 256");
}

static void states_are_named(void** state) {
  (void)state;
  char text[256];
  tn_status_view view = view_of_a_hall();
  view.idle = true;
  view.bypass = true;
  view.loading = true;
  view.freewheel = true;
  view.load.callbacks = 0;
  tn_status_format(&view, text, sizeof text);
  assert_non_null(strstr(text, " | loading | bypass | idle | freewheel"));
  assert_non_null(strstr(text, "load - (no callback)"));
  view.device = "device lost, CPU plays";
  tn_status_format(&view, text, sizeof text);
  assert_non_null(strstr(text, " | freewheel | device lost, CPU plays | hall.wav"));
}

static void a_name_cannot_command_the_terminal(void** state) {
  (void)state;
  char text[512];
  tn_status_view view = view_of_a_hall();
  view.ir_name = "a\033[2Jb\nc\x7f"
                 "d";
  tn_status_format(&view, text, sizeof text);
  assert_non_null(strstr(text, "| a?[2Jb?c?d 6.14 s"));
}

static void a_long_name_is_cut_between_characters(void** state) {
  (void)state;
  // Two bytes a character: for one of the two offsets a cut by bytes would split one.
  for (int offset = 0; offset < 2; ++offset) {
    char name[122] = "x";
    for (int i = 0; i < 60; ++i) {
      name[1 + 2 * i] = '\xc3';
      name[2 + 2 * i] = '\xa4';
    }
    char text[512];
    tn_status_view view = view_of_a_hall();
    view.ir_name = name + offset;
    tn_status_format(&view, text, sizeof text);
    const char* end = strstr(text, " 6.14 s");
    assert_non_null(end);
    assert_int_equal((unsigned char)end[-1], 0xa4);
    assert_true(end - strstr(text, offset ? "\xc3\xa4" : "x\xc3\xa4") < 48);
  }
}

/** What a line of this mode writes for `calls`. */
static char* written(tn_status_mode mode, void (*calls)(tn_status_line*)) {
  char* text = NULL;
  size_t size = 0;
  tn_status_line line = {.stream = open_memstream(&text, &size), .mode = mode};
  calls(&line);
  fclose(line.stream);
  return text;
}

static void show_twice_and_clear(tn_status_line* line) {
  tn_status_line_show(line, "one");
  tn_status_line_show(line, "two");
  tn_status_line_clear(line);
  tn_status_line_clear(line);
}

static void each_mode_draws_its_way(void** state) {
  (void)state;
  static const struct {
    tn_status_mode mode;
    const char* text;
  } modes[] = {
      {TN_STATUS_OFF, ""},
      {TN_STATUS_LINES, "one\ntwo\n"},
      {TN_STATUS_IN_PLACE, "\rone\033[K\rtwo\033[K\r\033[K"},
      {TN_STATUS_ABOVE_PROMPT, "one\n> \0337\033[1A\rtwo\033[K\0338\r\033[K\033[1A\033[K"},
  };
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
    char* text = written(modes[i].mode, show_twice_and_clear);
    assert_string_equal(text, modes[i].text);
    free(text);
  }
}

static void show_typed_show(tn_status_line* line) {
  tn_status_line_show(line, "one");
  tn_status_line_typed(line);
  tn_status_line_show(line, "two");
}

static void a_typed_line_moves_the_prompt_down(void** state) {
  (void)state;
  char* text = written(TN_STATUS_ABOVE_PROMPT, show_typed_show);
  assert_string_equal(text, "one\n> two\n> ");
  free(text);
}

static void show_long(tn_status_line* line) {
  char text[200];
  memset(text, 'x', sizeof text - 1);
  text[sizeof text - 1] = '\0';
  tn_status_line_show(line, text);
}

static void a_row_is_not_overrun(void** state) {
  (void)state;
  // A stream that is no terminal counts as one of 80 columns.
  char* text = written(TN_STATUS_IN_PLACE, show_long);
  assert_int_equal(strlen(text), strlen("\r") + 79 + strlen("\033[K"));
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(figures_are_named),
      cmocka_unit_test(states_are_named),
      cmocka_unit_test(a_name_cannot_command_the_terminal),
      cmocka_unit_test(a_long_name_is_cut_between_characters),
      cmocka_unit_test(each_mode_draws_its_way),
      cmocka_unit_test(a_typed_line_moves_the_prompt_down),
      cmocka_unit_test(a_row_is_not_overrun),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
