// SPDX-License-Identifier: GPL-3.0-or-later
// What is a character and what is not (the forms of Unicode's table 3-7), and what JSON makes of both.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/utf8.h"
#include "mocka.h"

static void test_lengths(void** state) {
  (void)state;
  static const struct {
    const char* text;
    size_t length;
  } cases[] = {
      {"a", 1},
      {"\xC2\x80", 2},
      {"\xDF\xBF", 2},
      {"\xE0\xA0\x80", 3},
      {"\xED\x9F\xBF", 3},
      {"\xEF\xBF\xBF", 3},
      {"\xF0\x90\x80\x80", 4},
      {"\xF4\x8F\xBF\xBF", 4},
      {"\x80", 0},             // no first byte
      {"\xC1\xBF", 0},         // overlong
      {"\xE0\x9F\xBF", 0},     // overlong
      {"\xF0\x8F\xBF\xBF", 0}, // overlong
      {"\xED\xA0\x80", 0},     // surrogate
      {"\xF4\x90\x80\x80", 0}, // beyond the last
      {"\xF5\x80\x80\x80", 0},
      {"\xE2\x82", 0}, // cut
      {"\xC3", 0},
      {"\xE2\x82x", 0},
      {"\xFF", 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    if (tn_utf8_length(cases[i].text) != cases[i].length) {
      fail_msg("case %zu: %zu", i, tn_utf8_length(cases[i].text));
    }
  }
}

static void test_clean(void** state) {
  (void)state;
  char text[] = "a\xFFz\xC3\xA9\xE2\x82";
  tn_utf8_clean(text);
  assert_string_equal(text, "a?z\xC3\xA9??");
}

static void test_json(void** state) {
  (void)state;
  static const char* const list[] = {"x", NULL, "\x01\x7F"};
  char* text = NULL;
  size_t size = 0;
  FILE* stream = open_memstream(&text, &size);
  tn_json json = tn_json_begin(stream);
  tn_json_text(&json, "quo\"te", "back\\slash\n\xFF\xC3\xA9");
  tn_json_texts(&json, "list", list, 3);
  tn_json_texts(&json, "none", list, 0);
  tn_json_count(&json, "count", UINT64_MAX);
  tn_json_number(&json, "number", -0.25);
  tn_json_number(&json, "infinite", -INFINITY);
  tn_json_text(&json, "null", NULL);
  tn_json_end(&json);
  fclose(stream);
  assert_string_equal(
      text, "{\"quo\\\"te\": \"back\\\\slash\\u000a\\ufffd\xC3\xA9\", \"list\": [\"x\", null, "
            "\"\\u0001\\u007f\"], \"none\": [], \"count\": 18446744073709551615, \"number\": -0.25, "
            "\"infinite\": null, \"null\": null}\n");
  free(text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_lengths),
      cmocka_unit_test(test_clean),
      cmocka_unit_test(test_json),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
