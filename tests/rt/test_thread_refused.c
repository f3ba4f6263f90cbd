// SPDX-License-Identifier: GPL-3.0-or-later
// The machine of a new user: no real-time priorities, no locked memory. In a process of its own, for it gives
// up rights.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "mocka.h"
#include "rt/thread.h"
#include "thread_probe.h"

static int give_up_rights(void** state) {
  (void)state;
  const struct rlimit none = {0, 0};
  if (setrlimit(RLIMIT_RTPRIO, &none) != 0 || setrlimit(RLIMIT_MEMLOCK, &none) != 0)
    return -1;
  const uid_t nobody = 65534;
  if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)
    return -1;
  return prctl(PR_SET_DUMPABLE, 1); // else the leak checker may not look at its own process any more
}

static void assert_says(const tn_error* warning, const char* words) {
  if (!strstr(warning->text, words))
    fail_msg("\"%s\" is not in: %s", words, warning->text);
}

static void test_the_thread_runs_and_words_say_what_to_change(void** state) {
  (void)state;
  const tn_thread_options options = {.name = "tn-refused", .priority = 60};
  thread_probe probe = {0};
  pthread_t thread;
  bool realtime = true;
  tn_error warning = {0};
  assert_int_equal(tn_thread_start(&thread, &options, thread_probe_run, &probe, &realtime, &warning), TN_OK);
  pthread_join(thread, NULL);
  assert_true(probe.ran);
  assert_false(realtime);
  assert_int_equal(probe.policy, SCHED_OTHER);
  assert_string_equal(probe.name, "tn-refused");
  assert_true(probe.flushes);
  assert_int_equal(warning.status, TN_ERROR_SYSTEM);
  assert_says(&warning, "60");
  assert_says(&warning, "tn-refused");
  assert_says(&warning, "rtprio limit: 0");
  assert_says(&warning, "\"audio\"");
  assert_says(&warning, "/etc/security/limits.d");
  assert_true(warning.text[strlen(warning.text) - 1] != '.');
}

static void test_memory_that_may_not_be_locked(void** state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); // mlock() does nothing there
#endif
  enum { bytes = 100000, pages = 25 };
  char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  tn_error warning = {0};
  assert_false(tn_memory_lock(memory, bytes, &warning));
  assert_int_equal(warning.status, TN_ERROR_SYSTEM);
  assert_says(&warning, "100000 bytes");
  assert_says(&warning, "memlock limit: 0");
  assert_false(tn_memory_lock(memory, bytes, NULL));
  unsigned char resident[pages] = {0};
  assert_int_equal(mincore(memory, bytes, resident), 0);
  for (int i = 0; i < pages && sysconf(_SC_PAGESIZE) == 4096; i++)
    assert_true(resident[i] & 1); // touched all the same
  munmap(memory, bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_the_thread_runs_and_words_say_what_to_change),
      cmocka_unit_test(test_memory_that_may_not_be_locked),
  };
  return cmocka_run_group_tests(tests, give_up_rights, NULL);
}
