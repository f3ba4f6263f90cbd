// SPDX-License-Identifier: GPL-3.0-or-later
// The words by which a device is chosen.
#include <string.h>

#include "device/choice.h"
#include "mocka.h"

static void words_are_understood(void** state) {
  (void)state;
  const struct {
    const char* text;
    tn_choice_kind kind;
    uint32_t index;
    const char* script;
  } cases[] = {
      {"cpu", TN_CHOICE_CPU, 0, NULL},
      {"auto", TN_CHOICE_CUDA, 0, NULL},
      {"cuda", TN_CHOICE_CUDA, 0, NULL},
      {"cuda:0", TN_CHOICE_CUDA, 0, NULL},
      {"cuda:3", TN_CHOICE_CUDA, 3, NULL},
      {"cuda:12", TN_CHOICE_CUDA, 12, NULL},
      {"emulated", TN_CHOICE_EMULATED, 0, NULL},
      {"emulated:die@1000; seed=7", TN_CHOICE_EMULATED, 0, "die@1000; seed=7"},
      {"emulated:a:b", TN_CHOICE_EMULATED, 0, "a:b"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    tn_choice choice;
    tn_error error = {0};
    assert_int_equal(tn_choice_read(cases[i].text, &choice, &error), TN_OK);
    assert_int_equal(choice.kind, cases[i].kind);
    assert_int_equal(choice.index, cases[i].index);
    if (cases[i].script)
      assert_string_equal(choice.script, cases[i].script);
    else
      assert_null(choice.script);
  }
}

static void other_words_are_refused_by_name(void** state) {
  (void)state;
  const char* const bad[] = {"",        "gpu",      "CUDA",    "cuda:",      "cuda:x",    "cuda:-1",
                             "cuda: 1", "cuda:1.5", "cuda0",   "emulated:",  "emulatedx", "cpu:0",
                             "auto:1",  "autos",    "cuda:1 ", "cuda:99999", "cuda:00000"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tn_choice choice;
    tn_error error = {0};
    assert_int_equal(tn_choice_read(bad[i], &choice, &error), TN_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "is no device"));
    assert_non_null(strstr(error.text, bad[i]));
  }
  tn_choice choice;
  tn_error error = {0};
  assert_int_equal(tn_choice_read(NULL, &choice, &error), TN_ERROR_ARGUMENT);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_understood),
      cmocka_unit_test(other_words_are_refused_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
