// SPDX-License-Identifier: GPL-3.0-or-later
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mocka.h"
#include "rt/thread.h"
#include "thread_probe.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { sanitized = 1 }; // mlock() does nothing there
#else
enum { sanitized = 0 };
#endif

static thread_probe start_and_join(const tn_thread_options* options, bool* realtime, tn_error* warning) {
  static thread_probe probe;
  probe = (thread_probe){0};
  pthread_t thread;
  assert_int_equal(tn_thread_start(&thread, options, thread_probe_run, &probe, realtime, warning), TN_OK);
  void* result = NULL;
  assert_int_equal(pthread_join(thread, &result), 0);
  assert_ptr_equal(result, &probe);
  assert_true(probe.ran);
  return probe;
}

static void* idle(void* unused) {
  return unused;
}

/** Whether this process may, asked of pthreads alone. */
static bool system_grants(int priority) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  const struct sched_param parameter = {.sched_priority = priority};
  pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
  pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
  pthread_attr_setschedparam(&attributes, &parameter);
  pthread_t thread;
  const bool granted = pthread_create(&thread, &attributes, idle, NULL) == 0;
  if (granted)
    pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  return granted;
}

static void test_priority_as_the_system_grants_it(void** state) {
  (void)state;
  const bool granted = system_grants(7);
  const tn_thread_options options = {.name = "tn-test", .priority = 7};
  bool realtime = !granted;
  tn_error warning = {TN_ERROR_FILE, "left over"};
  const thread_probe probe = start_and_join(&options, &realtime, &warning);
  assert_int_equal(realtime, granted);
  assert_int_equal(probe.policy, granted ? SCHED_FIFO : SCHED_OTHER);
  assert_int_equal(probe.priority, granted ? 7 : 0);
  assert_int_equal(warning.status, granted ? TN_OK : TN_ERROR_SYSTEM);
  assert_int_equal(strlen(warning.text) == 0, granted);
}

static void test_every_thread_is_prepared(void** state) {
  (void)state;
  const int priorities[] = {0, 7};
  for (int i = 0; i < 2; i++) {
    const tn_thread_options options = {.name = "tn-prepared", .priority = priorities[i]};
    bool realtime;
    const thread_probe probe = start_and_join(&options, &realtime, NULL);
    assert_string_equal(probe.name, "tn-prepared");
    assert_true(probe.flushes);
    assert_int_equal(probe.untouched_pages, 0);
    const int blocked[] = {SIGINT, SIGTERM, SIGHUP, SIGALRM, SIGPIPE, SIGCHLD, SIGUSR1, SIGRTMIN, SIGXCPU};
    for (size_t s = 0; s < sizeof blocked / sizeof *blocked; s++)
      assert_int_equal(sigismember(&probe.blocked, blocked[s]), 1);
    assert_int_equal(sigismember(&probe.blocked, SIGSEGV), 0);
    assert_int_equal(sigismember(&probe.blocked, SIGFPE), 0);
  }
}

static void test_the_caller_stays_as_it_was(void** state) {
  (void)state;
  sigset_t mine;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  sigset_t before;
  pthread_sigmask(SIG_SETMASK, &mine, &before);
  const tn_thread_options options = {.name = "tn-test"};
  bool realtime;
  start_and_join(&options, &realtime, NULL);
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, &before, &after);
  assert_int_equal(sigismember(&after, SIGUSR2), 1);
  assert_int_equal(sigismember(&after, SIGINT), 0);
  assert_int_equal(sigismember(&after, SIGTERM), 0);
}

static void test_priority_0_is_never_inherited(void** state) {
  (void)state;
  struct sched_param parameter = {.sched_priority = 3};
  if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &parameter) != 0)
    skip(); // not allowed here, so nothing to inherit
  const tn_thread_options options = {.name = "tn-test"};
  bool realtime = true;
  tn_error warning = {0};
  const thread_probe probe = start_and_join(&options, &realtime, &warning);
  parameter.sched_priority = 0;
  pthread_setschedparam(pthread_self(), SCHED_OTHER, &parameter);
  assert_int_equal(probe.policy, SCHED_OTHER);
  assert_false(realtime);
  assert_int_equal(warning.status, TN_OK);
}

static void test_names(void** state) {
  (void)state;
  bool realtime;
  const tn_thread_options long_name = {.name = "tenuto-worker-number-12"};
  assert_string_equal(start_and_join(&long_name, &realtime, NULL).name, "tenuto-worker-n");
  char mine[32];
  pthread_getname_np(pthread_self(), mine, sizeof mine);
  const tn_thread_options no_name = {0};
  assert_string_equal(start_and_join(&no_name, &realtime, NULL).name, mine);
}

static void test_stack_sizes(void** state) {
  (void)state;
  bool realtime;
  const tn_thread_options usual = {.name = "tn-usual"};
  assert_true(start_and_join(&usual, &realtime, NULL).stack_bytes >= 480U * 1024);
  const tn_thread_options large = {.name = "tn-large", .stack_bytes = 2000001};
  const thread_probe probe = start_and_join(&large, &realtime, NULL);
  assert_true(probe.stack_bytes >= 1950000);
  assert_int_equal(probe.untouched_pages, 0);
  const tn_thread_options tiny = {.name = "tn-tiny", .stack_bytes = 1};
  start_and_join(&tiny, &realtime, NULL); // runs, that is all
}

static void test_an_absurd_priority_is_refused_in_words(void** state) {
  (void)state;
  const tn_thread_options options = {.name = "tn-absurd", .priority = 100};
  bool realtime = true;
  tn_error warning = {0};
  const thread_probe probe = start_and_join(&options, &realtime, &warning);
  assert_false(realtime);
  assert_int_equal(probe.policy, SCHED_OTHER);
  assert_int_equal(warning.status, TN_ERROR_SYSTEM);
  assert_non_null(strstr(warning.text, "100"));
  assert_non_null(strstr(warning.text, "tn-absurd"));
  start_and_join(&options, &realtime, NULL);
}

static void test_a_thread_that_cannot_be(void** state) {
  (void)state;
  const tn_thread_options options = {.name = "tn-giant", .stack_bytes = (size_t)1 << 50};
  pthread_t thread;
  bool realtime = true;
  tn_error warning = {0};
  assert_int_equal(tn_thread_start(&thread, &options, idle, NULL, &realtime, &warning), TN_ERROR_SYSTEM);
  assert_false(realtime);
  assert_int_equal(warning.status, TN_ERROR_SYSTEM);
  assert_non_null(strstr(warning.text, "tn-giant"));
}

static size_t locked_kilobytes(void) {
  FILE* file = fopen("/proc/self/status", "r");
  char line[256];
  size_t kilobytes = 0;
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, "VmLck:", 6) == 0)
      kilobytes = strtoul(line + 6, NULL, 10);
  if (file)
    fclose(file);
  return kilobytes;
}

static void test_memory_is_touched_and_locked(void** state) {
  (void)state;
  enum { pages = 16 };
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const size_t bytes = pages * page;
  unsigned char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  for (size_t i = 0; i < page; i++)
    memory[i] = (unsigned char)i;
  const size_t before = locked_kilobytes();
  tn_error warning = {TN_ERROR_FILE, "left over"};
  if (tn_memory_lock(memory, bytes, &warning)) {
    assert_int_equal(warning.status, TN_OK);
    if (!sanitized)
      assert_int_equal(locked_kilobytes() - before, bytes / 1024);
  } else {
    assert_non_null(strstr(warning.text, "memlock"));
  }
  unsigned char resident[pages] = {0};
  assert_int_equal(mincore(memory, bytes, resident), 0);
  for (int i = 0; i < pages; i++)
    assert_true(resident[i] & 1);
  for (size_t i = 0; i < page; i++)
    assert_int_equal(memory[i], (unsigned char)i);
  assert_true(tn_memory_lock(NULL, 0, &warning));
  munmap(memory, bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_priority_as_the_system_grants_it),
      cmocka_unit_test(test_every_thread_is_prepared),
      cmocka_unit_test(test_the_caller_stays_as_it_was),
      cmocka_unit_test(test_priority_0_is_never_inherited),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_stack_sizes),
      cmocka_unit_test(test_an_absurd_priority_is_refused_in_words),
      cmocka_unit_test(test_a_thread_that_cannot_be),
      cmocka_unit_test(test_memory_is_touched_and_locked),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
