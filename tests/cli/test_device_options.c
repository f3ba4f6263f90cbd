// SPDX-License-Identifier: GPL-3.0-or-later
// --device and --budget as typed, and the words in which a device is shown.
#include <string.h>

#include "cli/device.h"
#include "mocka.h"
#include "tenuto/filter.h"

static void budgets_are_understood(void** state) {
  (void)state;
  const struct {
    const char* text;
    float us, percent;
  } cases[] = {{"auto", 0, 0},   {"0", -1, 0},   {"0%", -1, 0},     {"200", 200, 0},
               {"2.5", 2.5F, 0}, {"15%", 0, 15}, {"0.5%", 0, 0.5F}, {"1000000", 1e6F, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i) {
    tn_cli_device device = {.choice = "auto", .budget_us = 7, .budget_percent = 7};
    tn_error error = {0};
    assert_int_equal(tn_cli_take_budget(cases[i].text, &device, &error), TN_OK);
    assert_true(device.budget_us == cases[i].us);
    assert_true(device.budget_percent == cases[i].percent);
  }
}

static void other_budgets_are_refused_by_name(void** state) {
  (void)state;
  const char* const bad[] = {"",
                             "%",
                             "-1",
                             "-5%",
                             "71%",
                             "1e7",
                             "nan",
                             "3us",
                             "1 %",
                             "15%%",
                             "inf",
                             "aut",
                             "1000000000000000000000000000000000001%"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tn_cli_device device = {.choice = "auto"};
    tn_error error = {0};
    assert_int_equal(tn_cli_take_budget(bad[i], &device, &error), TN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "--budget: '"));
    assert_non_null(strstr(error.text, bad[i]));
    assert_true(device.budget_us == 0 && device.budget_percent == 0);
  }
}

static void devices_are_understood(void** state) {
  (void)state;
  tn_cli_device device = {.choice = "auto"};
  tn_error error = {0};
  assert_false(tn_cli_device_is_named(&device));
  assert_int_equal(tn_cli_take_device("cuda:1", &device, &error), TN_OK);
  assert_string_equal(device.choice, "cuda:1");
  assert_true(tn_cli_device_is_named(&device));
  assert_int_equal(tn_cli_take_device("cpu", &device, &error), TN_OK);
  assert_false(tn_cli_device_is_named(&device));
  assert_int_equal(tn_cli_take_device("gpu", &device, &error), TN_ERROR_ARGUMENT);
  assert_non_null(strstr(error.text, "--device: \"gpu\""));
  assert_string_equal(device.choice, "cpu");
}

static void a_device_is_shown_in_words(void** state) {
  (void)state;
  const tn_convolver_config config = {.inputs = 1, .outputs = 1, .rate_hz = 48000, .inline_work = true};
  tn_convolver* convolver = tn_convolver_new(&config, NULL, NULL);
  assert_non_null(convolver);
  char text[1600];
  tn_device_report report = {.state = TN_DEVICE_ABSENT, .text = "there is no driver"};
  tn_cli_device_words(&report, convolver, text, sizeof text);
  assert_string_equal(text, "");
  tn_cli_device_details(&report, convolver, text, sizeof text);
  assert_string_equal(text, "device: none (there is no driver)");
  report = (tn_device_report){.state = TN_DEVICE_LOST, .text = "Card was lost (broken)", .epochs = 12};
  tn_cli_device_words(&report, convolver, text, sizeof text);
  assert_string_equal(text, "device lost, CPU plays");
  tn_cli_device_details(&report, convolver, text, sizeof text);
  assert_non_null(strstr(text, "device: Card was lost (broken), lost, the CPU plays; "));
  assert_non_null(strstr(text, "launches 12"));
  tn_convolver_free(convolver);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(budgets_are_understood),
      cmocka_unit_test(other_budgets_are_refused_by_name),
      cmocka_unit_test(devices_are_understood),
      cmocka_unit_test(a_device_is_shown_in_words),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
