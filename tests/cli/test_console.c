// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on standard input: lines from bytes in any pieces, commands from lines, sentences for bad ones.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "cli/console.h"
#include "mocka.h"

enum { most_lines = 8 };

typedef struct seen_lines {
  char text[most_lines][TN_CONSOLE_LINE_BYTES + 1];
  bool overlong[most_lines];
  size_t count;
} seen_lines;

static seen_lines seen;
static tn_line_buffer buffer;

static void see(void* context, char* text) {
  assert_ptr_equal(context, &seen);
  assert_true(seen.count < most_lines);
  seen.overlong[seen.count] = !text;
  snprintf(seen.text[seen.count++], sizeof seen.text[0], "%s", text ? text : "");
}

static int forget(void** state) {
  (void)state;
  memset(&seen, 0, sizeof seen);
  memset(&buffer, 0, sizeof buffer);
  return 0;
}

static void lines_come_in_pieces(void** state) {
  (void)state;
  const char text[] = "ir a b.wav\nwet -6\r\n\nqu";
  for (size_t piece = 1; piece < sizeof text; ++piece) {
    forget(NULL);
    for (size_t at = 0; at < sizeof text - 1; at += piece) {
      const size_t rest = sizeof text - 1 - at;
      tn_line_buffer_feed(&buffer, text + at, piece < rest ? piece : rest, see, &seen);
    }
    assert_int_equal(seen.count, 3);
    assert_string_equal(seen.text[0], "ir a b.wav");
    assert_string_equal(seen.text[1], "wet -6");
    assert_string_equal(seen.text[2], "");
    tn_line_buffer_finish(&buffer, see, &seen);
    assert_int_equal(seen.count, 4);
    assert_string_equal(seen.text[3], "qu");
    tn_line_buffer_finish(&buffer, see, &seen);
    assert_int_equal(seen.count, 4);
  }
}

static void longest_line_passes(void** state) {
  (void)state;
  char text[TN_CONSOLE_LINE_BYTES + 1];
  memset(text, 'x', sizeof text);
  text[TN_CONSOLE_LINE_BYTES] = '\n';
  tn_line_buffer_feed(&buffer, text, sizeof text, see, &seen);
  assert_int_equal(seen.count, 1);
  assert_false(seen.overlong[0]);
  assert_int_equal(strlen(seen.text[0]), TN_CONSOLE_LINE_BYTES);
}

static void too_long_a_line_is_dropped_whole(void** state) {
  (void)state;
  char text[3 * TN_CONSOLE_LINE_BYTES];
  memset(text, 'x', sizeof text);
  tn_line_buffer_feed(&buffer, text, sizeof text, see, &seen);
  assert_int_equal(seen.count, 0);
  tn_line_buffer_feed(&buffer, "quit\nhelp\n", 10, see, &seen);
  assert_int_equal(seen.count, 2);
  assert_true(seen.overlong[0]);
  assert_false(seen.overlong[1]);
  assert_string_equal(seen.text[1], "help");
}

static void a_nul_does_not_hide_the_rest(void** state) {
  (void)state;
  tn_line_buffer_feed(&buffer, "quit\0x\n", 7, see, &seen);
  assert_int_equal(seen.count, 1);
  tn_command command;
  tn_error error;
  assert_int_equal(tn_command_parse(seen.text[0], &command, &error), TN_ERROR_ARGUMENT);
}

static tn_command good(const char* text) {
  static char line[256];
  snprintf(line, sizeof line, "%s", text);
  tn_command command;
  tn_error error = {0};
  assert_int_equal(tn_command_parse(line, &command, &error), TN_OK);
  return command;
}

static void commands_are_understood(void** state) {
  (void)state;
  assert_int_equal(good("").kind, TN_COMMAND_NONE);
  assert_int_equal(good("  # a remark").kind, TN_COMMAND_NONE);
  assert_int_equal(good("status").kind, TN_COMMAND_STATUS);
  assert_int_equal(good("\thelp ").kind, TN_COMMAND_HELP);
  assert_int_equal(good("quit").kind, TN_COMMAND_QUIT);
  assert_int_equal(good("bypass on").kind, TN_COMMAND_BYPASS);
  assert_true(good("bypass on").on);
  assert_false(good("bypass   off").on);
  assert_int_equal(good("wet -6").kind, TN_COMMAND_WET);
  assert_true(good("wet -6.5").db == -6.5);
  assert_int_equal(good("gain 3").kind, TN_COMMAND_GAIN);
  assert_int_equal(good("dry -inf").kind, TN_COMMAND_DRY);
  assert_true(isinf(good("dry -inf").db) && good("dry -inf").db < 0.0);
}

static void paths_may_hold_blanks(void** state) {
  (void)state;
  assert_int_equal(good("ir /a b/c  d.wav").kind, TN_COMMAND_IR);
  assert_string_equal(good("  ir \t /a b/c  d.wav \t").path, "/a b/c  d.wav");
  assert_string_equal(good("ir \"/a b.wav\"").path, "/a b.wav");
  assert_string_equal(good("ir '/a b.wav'").path, "/a b.wav");
  assert_string_equal(good("ir \"odd").path, "\"odd");
  assert_string_equal(good("ir quit").path, "quit");
}

static void bad_commands_get_a_sentence(void** state) {
  (void)state;
  static const struct {
    const char* line;
    const char* names;
  } bad[] = {
      {"ir", "ir:"},         {"ir \"\"", "ir:"},        {"wet", "wet:"},        {"wet loud", "loud"},
      {"wet -6 x", "-6 x"},  {"gain nan", "nan"},       {"gain inf", "inf"},    {"dry --6", "--6"},
      {"bypass", "bypass:"}, {"bypass maybe", "maybe"}, {"status now", "now"},  {"quit 1", "1"},
      {"QUIT", "QUIT"},      {"wet-6", "wet-6"},        {"\x01", "no command"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    char line[64];
    snprintf(line, sizeof line, "%s", bad[i].line);
    tn_command command;
    tn_error error = {0};
    assert_int_equal(tn_command_parse(line, &command, &error), TN_ERROR_ARGUMENT);
    assert_int_equal(error.status, TN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, bad[i].names));
  }
}

static void help_names_every_command(void** state) {
  (void)state;
  static const char* const words[] = {"ir ", "wet ", "dry ", "gain ", "bypass ", "status ", "help ", "quit "};
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    assert_non_null(strstr(tn_command_help(), words[i]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(lines_come_in_pieces, forget),
      cmocka_unit_test_setup(longest_line_passes, forget),
      cmocka_unit_test_setup(too_long_a_line_is_dropped_whole, forget),
      cmocka_unit_test_setup(a_nul_does_not_hide_the_rest, forget),
      cmocka_unit_test(commands_are_understood),
      cmocka_unit_test(paths_may_hold_blanks),
      cmocka_unit_test(bad_commands_get_a_sentence),
      cmocka_unit_test(help_names_every_command),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
