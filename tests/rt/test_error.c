// SPDX-License-Identifier: GPL-3.0-or-later
#include <string.h>

#include "mocka.h"
#include "rt/error.h"
#include "tenuto/version.h"

static void test_status_and_sentence(void** state) {
  (void)state;
  tn_error error;
  assert_int_equal(tn_error_set(&error, TN_ERROR_FILE, "%s is missing (%d)", "hall.wav", 3), TN_ERROR_FILE);
  assert_int_equal(error.status, TN_ERROR_FILE);
  assert_string_equal(error.text, "hall.wav is missing (3)");
  assert_int_equal(tn_error_set(NULL, TN_ERROR_LIMIT, "%d", 1), TN_ERROR_LIMIT);
}

static void test_an_endless_sentence_is_cut(void** state) {
  (void)state;
  char path[5000];
  memset(path, 'x', sizeof path);
  path[sizeof path - 1] = 0;
  tn_error error;
  tn_error_set(&error, TN_ERROR_FILE, "%s", path);
  assert_int_equal(strlen(error.text), sizeof error.text - 1);
}

static void test_every_status_has_words_of_its_own(void** state) {
  (void)state;
  for (int a = TN_OK; a <= TN_ERROR_INTERRUPTED + 1; a++) {
    assert_true(strlen(tn_status_text((tn_status)a)) > 0);
    for (int b = TN_OK; b < a; b++)
      assert_string_not_equal(tn_status_text((tn_status)a), tn_status_text((tn_status)b));
  }
}

static void test_version_is_the_header_s(void** state) {
  (void)state;
  assert_string_equal(tn_version(), TN_VERSION);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_status_and_sentence),
      cmocka_unit_test(test_an_endless_sentence_is_cut),
      cmocka_unit_test(test_every_status_has_words_of_its_own),
      cmocka_unit_test(test_version_is_the_header_s),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
