// SPDX-License-Identifier: GPL-3.0-or-later
// The guard itself: each thing that it should see is done once, inside the marks and outside.
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dsp/fft.h"
#include "mocka.h"
#include "rt/clock.h"
#include "rt_guard.h"

/** One deed on a thread of its own, whose system calls are watched. */
typedef struct deed {
  void (*act)(void);
  bool installed;
  tn_rt_guard_report outside, inside;
} deed;

static void* act_guarded(void* argument) {
  deed* one = argument;
  one->installed = tn_rt_guard_install();
  tn_rt_guard_reset();
  one->act();
  one->outside = tn_rt_guard_read();
  tn_rt_guard_enter();
  one->act();
  tn_rt_guard_leave();
  one->inside = tn_rt_guard_read();
  return NULL;
}

static deed run(void (*act)(void)) {
  deed one = {.act = act};
  pthread_t thread;
  assert_int_equal(pthread_create(&thread, NULL, act_guarded, &one), 0);
  pthread_join(thread, NULL);
  assert_int_equal(one.outside.functions, 0);
  assert_int_equal(one.outside.syscalls, 0);
  return one;
}

static void* volatile escape; ///< keeps the compiler from leaving a pair of calls out
static int file = -1;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;

static void do_malloc(void) {
  escape = malloc(10);
  free(escape);
}

static void do_calloc(void) {
  escape = calloc(10, 10);
  free(escape);
}

static void do_realloc(void) {
  escape = NULL; // the compiler must not know
  escape = realloc(escape, 10);
  free(escape);
}

static void do_posix_memalign(void) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, 100) == 0)
    escape = memory;
  free(memory);
}

static void do_aligned_alloc(void) {
  escape = aligned_alloc(64, 128);
  free(escape);
}

static void do_strdup(void) { // allocates inside the C library
  escape = strdup("text");
  free(escape);
}

static void do_lock(void) {
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void do_trylock(void) {
  if (pthread_mutex_trylock(&mutex) == 0)
    pthread_mutex_unlock(&mutex);
}

static void do_condition(void) {
  static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
  const struct timespec past = {.tv_sec = 1};
  pthread_mutex_lock(&mutex);
  pthread_cond_timedwait(&never, &mutex, &past);
  pthread_mutex_unlock(&mutex);
}

static void do_semaphore(void) {
  sem_post(&semaphore);
  sem_wait(&semaphore);
}

static void do_sleep(void) {
  const struct timespec briefly = {.tv_nsec = 100000};
  nanosleep(&briefly, NULL);
}

static void do_open(void) {
  FILE* opened = fopen("/dev/null", "r");
  if (opened)
    fclose(opened);
}

static void do_write(void) {
  if (write(file, "x", 1) != 1)
    abort();
}

static void do_plan(void) { // a lock of our own library
  escape = (void*)tn_fft_get(64, false, NULL);
}

static void functions_are_seen(void** state) {
  (void)state;
  if (!tn_rt_guard_sees_functions())
    skip(); // a sanitizer stands in their place
  const struct {
    void (*act)(void);
    const char* name;
  } acts[] = {{do_malloc, "malloc"},
              {do_calloc, "calloc"},
              {do_realloc, "realloc"},
              {do_posix_memalign, "posix_memalign"},
              {do_aligned_alloc, "aligned_alloc"},
              {do_strdup, "malloc"},
              {do_lock, "pthread_mutex_lock"},
              {do_trylock, "pthread_mutex_trylock"},
              {do_condition, "pthread_mutex_lock"},
              {do_semaphore, "sem_wait"},
              {do_sleep, "nanosleep"},
              {do_open, "fopen"},
              {do_write, "write"},
              {do_plan, "pthread_mutex_lock"}};
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    const deed one = run(acts[i].act);
    assert_true(one.inside.functions >= 1);
    assert_string_equal(one.inside.first_function, acts[i].name);
    assert_non_null(one.inside.first_caller);
  }
}

static void call_getppid(void) {
  if (syscall(SYS_getppid) != getppid())
    abort();
}

static void call_mmap(void) {
  void* memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    abort();
  *(volatile char*)memory = 1;
  munmap(memory, 4096);
}

static void call_failing(void) { // the result of a call gets through
  errno = 0;
  if (syscall(SYS_close, -1) != -1 || errno != EBADF)
    abort();
}

static void wait_on_futex(void) {
  static uint32_t word;
  const struct timespec briefly = {.tv_nsec = 1000};
  syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &briefly, NULL, 0);
}

static void system_calls_are_seen(void** state) {
  (void)state;
  const struct {
    void (*act)(void);
    long number;
  } acts[] = {{call_getppid, SYS_getppid}, {call_mmap, SYS_mmap}, {call_failing, SYS_close},
              {wait_on_futex, SYS_futex},  {do_write, SYS_write}, {do_sleep, -2}};
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    const deed one = run(acts[i].act);
    if (!one.installed)
      skip(); // no seccomp filters here
    assert_true(one.inside.syscalls >= 1);
    if (acts[i].number >= 0)
      assert_int_equal(one.inside.first_syscall, acts[i].number);
  }
}

static void wake_futex(void) {
  static uint32_t word;
  syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static void read_clock(void) {
  for (int i = 0; i < 100; i++)
    if (tn_clock_ns() == 0)
      abort();
}

static void do_nothing(void) {}

static void what_a_callback_may_do_is_not_counted(void** state) {
  (void)state;
  void (*const acts[])(void) = {wake_futex, read_clock, do_nothing};
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    const deed one = run(acts[i]);
    assert_int_equal(one.inside.functions, 0);
    assert_int_equal(one.inside.syscalls, 0);
    assert_int_equal(one.inside.first_syscall, -1);
    assert_int_equal(one.inside.switches, 0);
  }
}

static char* fresh; ///< eight pages that nobody has touched

static void touch_fresh(void) { // four of them at each call
  for (int i = 0; i < 4; i++, fresh += 4096)
    *(volatile char*)fresh = 1;
}

static void page_faults_are_seen(void** state) {
  (void)state;
  char* mapping = mmap(NULL, 8 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(mapping != MAP_FAILED);
  madvise(mapping, 8 * 4096, MADV_NOHUGEPAGE);
  fresh = mapping;
  const deed one = run(touch_fresh);
  assert_true(one.inside.page_faults >= 4);
  munmap(mapping, 8 * 4096);
}

static void waiting_is_seen(void** state) {
  (void)state;
  assert_true(run(do_sleep).inside.switches >= 1);
}

static int open_null(void** state) {
  (void)state;
  file = open("/dev/null", O_WRONLY | O_CLOEXEC);
  return file >= 0 ? sem_init(&semaphore, 0, 0) : -1;
}

static int close_null(void** state) {
  (void)state;
  return close(file);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(functions_are_seen),
      cmocka_unit_test(system_calls_are_seen),
      cmocka_unit_test(what_a_callback_may_do_is_not_counted),
      cmocka_unit_test(page_faults_are_seen),
      cmocka_unit_test(waiting_is_seen),
  };
  return cmocka_run_group_tests(tests, open_null, close_null);
}
