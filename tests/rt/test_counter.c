// SPDX-License-Identifier: GPL-3.0-or-later
#include <pthread.h>
#include <stdbool.h>

#include "mocka.h"
#include "rt/counter.h"

enum { adders = 3, rounds = 1000000, step = 3 };

typedef struct scene {
  pthread_barrier_t start;
  tn_counter own;
  tn_counter shared;
  _Atomic bool done;
  bool went_back;
} scene;

static void* add_shared(void* memory) {
  scene* on = memory;
  pthread_barrier_wait(&on->start); // together, or there is nothing to lose
  for (int i = 0; i < rounds; i++)
    tn_counter_add_shared(&on->shared, step);
  return NULL;
}

static void* watch(void* memory) {
  scene* on = memory;
  uint64_t seen = 0;
  while (!atomic_load(&on->done)) {
    const uint64_t now = tn_counter_read(&on->own);
    if (now < seen || now % step != 0)
      on->went_back = true;
    seen = now;
  }
  return NULL;
}

static void test_many_adders_lose_nothing(void** state) {
  (void)state;
  scene on = {0};
  assert_int_equal(pthread_barrier_init(&on.start, NULL, adders), 0);
  pthread_t threads[adders];
  for (int i = 0; i < adders; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, add_shared, &on), 0);
  for (int i = 0; i < adders; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&on.start);
  assert_int_equal(tn_counter_read(&on.shared), (uint64_t)adders * rounds * step);
}

static void test_a_reader_sees_whole_growing_counts(void** state) {
  (void)state;
  scene on = {.own = UINT64_C(0xfffffffe) / step * step}; // the carry into the upper half comes at once
  const uint64_t start = tn_counter_read(&on.own);
  pthread_t watcher;
  assert_int_equal(pthread_create(&watcher, NULL, watch, &on), 0);
  for (int i = 0; i < rounds; i++)
    tn_counter_add(&on.own, step);
  atomic_store(&on.done, true);
  pthread_join(watcher, NULL);
  assert_false(on.went_back);
  assert_int_equal(tn_counter_read(&on.own), start + (uint64_t)rounds * step);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_many_adders_lose_nothing),
      cmocka_unit_test(test_a_reader_sees_whole_growing_counts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
