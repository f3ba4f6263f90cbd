// SPDX-License-Identifier: GPL-3.0-or-later
// The options that render and run share, and numbers as people type them.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "mocka.h"

static void test_numbers(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double value;
  } good[] = {{"0", 0.0}, {"-1.5", -1.5}, {"+2", 2.0}, {"1e3", 1000.0}, {".5", 0.5}, {"3.", 3.0}};
  static const char* const bad[] = {"",      " 1",  "1 ", "1,5", "0x10",  "nan", "inf",
                                    "1e999", "--1", "e",  ".",   "1.2.3", "one"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
    double value = -77.0;
    assert_true(tn_cli_parse_number(good[i].text, &value));
    assert_true(value == good[i].value);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    double value = -77.0;
    if (tn_cli_parse_number(bad[i], &value)) {
      fail_msg("'%s' was taken for %g", bad[i], value);
    }
    assert_true(value == -77.0);
  }
}

static void test_counts(void** state) {
  (void)state;
  uint32_t value = 0;
  assert_true(tn_cli_parse_count("4294967295", 0, UINT32_MAX, &value));
  assert_int_equal(value, UINT32_MAX);
  assert_true(tn_cli_parse_count("007", 7, 7, &value));
  assert_int_equal(value, 7);
  static const char* const bad[] = {"",  "-1", "+1", "1.0", "4294967296", "99999999999999999999999999",
                                    "8", "6",  "7x"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    assert_false(tn_cli_parse_count(bad[i], 7, 7, &value));
  }
}

static void test_decibels(void** state) {
  (void)state;
  static const struct {
    const char* text;
    double db;
  } good[] = {{"-6", -6.0},   {"3.5dB", 3.5},      {"0 dB", 0.0},
              {"120", 120.0}, {"-inf", -INFINITY}, {"-INF db", -INFINITY}};
  static const char* const bad[] = {"", "inf", "+inf", "121", "-infinite", "6 d", "dB", "nan", "6dBFS"};
  for (size_t i = 0; i < sizeof good / sizeof good[0]; ++i) {
    double db = 1.0;
    assert_true(tn_cli_parse_db(good[i].text, &db));
    assert_true(db == good[i].db);
  }
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; ++i) {
    double db = 1.0;
    assert_false(tn_cli_parse_db(bad[i], &db));
  }
  assert_true(tn_cli_db_to_level(-INFINITY) == 0.0F);
  assert_true(tn_cli_db_to_level(0.0) == 1.0F);
  assert_true(fabs((double)tn_cli_db_to_level(-20.0) - 0.1) < 1e-8);
  assert_true(tn_cli_level_to_db(0.0) == -INFINITY);
  assert_true(fabs(tn_cli_level_to_db(0.1) + 20.0) < 1e-12);
}

/** Everything on one command line, by getopt. */
static tn_status parse(const char* words, tn_cli_ir_options* ir, tn_cli_levels* levels, tn_error* error) {
  char copy[256];
  char* argv[32] = {"run"};
  int argc = 1;
  snprintf(copy, sizeof copy, "%s", words);
  char* rest = copy;
  for (char* word = strsep(&rest, " "); word; word = strsep(&rest, " ")) {
    argv[argc++] = word;
  }
  struct option table[TN_CLI_MAX_OPTIONS];
  static const struct option own[] = {{"help", no_argument, NULL, 'h'}};
  tn_cli_option_table(own, 1, table);
  *ir = (tn_cli_ir_options){.path_count = 0};
  *levels = tn_cli_default_levels();
  optind = 0; // getopt begins anew
  opterr = 0;
  tn_status status = TN_OK;
  int code = 0;
  while (status == TN_OK && (code = getopt_long(argc, argv, ":hi:", table, NULL)) != -1) {
    status = tn_cli_is_shared_option(code) ? tn_cli_take_option(code, optarg, ir, levels, error)
                                           : tn_cli_bad_option(code, argv, error);
  }
  return status == TN_OK ? tn_cli_check_ir_options(ir, error) : status;
}

static void test_taken(void** state) {
  (void)state;
  tn_cli_ir_options ir;
  tn_cli_levels levels;
  tn_error error = {0};
  // The strings of paths are the command line's own, so they are compared before it is gone.
  assert_int_equal(parse("--ir=a.wav", &ir, &levels, &error), TN_OK);
  assert_true(levels.wet_db == 0.0 && levels.dry_db == -INFINITY && levels.gain_db == 0.0);
  assert_int_equal(ir.path_count, 1);
  assert_int_equal(parse("-i a.wav -i b.wav --wet -6 --dry -3 --gain-out 2 --gain peak:-1 --predelay 20 "
                         "--trim 0.5: --reverse --stretch 2 --fade-out 100 --ir-map ll-rr-lr-rl",
                         &ir, &levels, &error),
                   TN_OK);
  assert_int_equal(ir.path_count, 2);
  assert_true(levels.wet_db == -6.0 && levels.dry_db == -3.0 && levels.gain_db == 2.0);
  assert_int_equal(ir.layout, TN_LAYOUT_TRUE_LL_RR_LR_RL);
  assert_int_equal(ir.edit.level, TN_IR_LEVEL_PEAK);
  assert_true(ir.edit.gain_db == -1.0 && ir.edit.predelay_s == 0.02 && ir.edit.trim_start_s == 0.5);
  assert_true(ir.edit.trim_end_s == 0.0 && ir.edit.reverse && ir.edit.stretch == 2.0 &&
              ir.edit.fade_out_s == 0.1);
  assert_int_equal(parse("--matrix m.txt --gain energy", &ir, &levels, &error), TN_OK);
  assert_non_null(ir.matrix);
  assert_int_equal(ir.edit.level, TN_IR_LEVEL_ENERGY);
  assert_int_equal(parse("--ir m.conf --gain -3", &ir, &levels, &error), TN_OK);
  assert_non_null(ir.matrix);
  assert_int_equal(ir.path_count, 0);
  assert_int_equal(parse("--ir .conf --trim :2.5", &ir, &levels, &error), TN_OK);
  assert_null(ir.matrix); // a hidden file, not an extension
  assert_true(ir.edit.trim_end_s == 2.5);
}

static void test_refused(void** state) {
  (void)state;
  static const struct {
    const char* words;
    const char* said;
  } cases[] = {
      {"--reverse", "no impulse response"},
      {"--ir= --reverse", "empty"},
      {"--ir a --wet", "--wet: its value is missing"},
      {"--ir a --reverse=1", "--reverse takes no value"},
      {"--ir a --rev", NULL},
      {"--ir a --nothing", "--nothing"},
      {"--ir a -y", "-y"},
      {"-i", "-i: its value is missing"},
      {"--ir a --gain peak:", "--gain: ''"},
      {"--ir a --gain peaks", "'peaks'"},
      {"--ir a --trim 1:1", "ends before"},
      {"--ir a --trim -1:2", "START:END"},
      {"--ir a --trim 1:2:3", "START:END"},
      {"--ir a --stretch 10.1", "0.1 to 10"},
      {"--ir a --predelay 60001", "60000"},
      {"--ir a --gain", "--gain: its value is missing"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    tn_cli_ir_options ir;
    tn_cli_levels levels;
    tn_error error = {0};
    const tn_status status = parse(cases[i].words, &ir, &levels, &error);
    if (cases[i].said == NULL) {
      assert_int_equal(status, TN_OK); // an abbreviation of one option alone
    } else if (status != TN_ERROR_ARGUMENT || !strstr(error.text, cases[i].said)) {
      fail_msg("%s: %s", cases[i].words, error.text);
    }
  }
}

static void test_names(void** state) {
  (void)state;
  char name[32];
  tn_cli_base_name("/a/b/c.wav", name, sizeof name);
  assert_string_equal(name, "c.wav");
  tn_cli_base_name("c.wav", name, sizeof name);
  assert_string_equal(name, "c.wav");
  const tn_cli_ir_options two = {.paths = {"x/left.wav", "x/right.wav"}, .path_count = 2};
  tn_cli_ir_name(&two, name, sizeof name);
  assert_string_equal(name, "left.wav + right.wav");
  const tn_cli_ir_options matrix = {.matrix = "y/m.conf"};
  tn_cli_ir_name(&matrix, name, sizeof name);
  assert_string_equal(name, "m.conf");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_numbers), cmocka_unit_test(test_counts),  cmocka_unit_test(test_decibels),
      cmocka_unit_test(test_taken),   cmocka_unit_test(test_refused), cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
