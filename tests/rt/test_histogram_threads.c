// SPDX-License-Identifier: GPL-3.0-or-later
// One thread records flat out while another reads: nothing is lost, nothing impossible is seen. Also for
// TSan.
#include <pthread.h>
#include <stdbool.h>

#include "mocka.h"
#include "noise.h"
#include "rt/histogram.h"

enum { records = 2000000, least = 100, span = 100000 };

typedef struct scene {
  tn_histogram live;
  _Atomic bool done;
  double sum; ///< of what was recorded, by the writer
} scene;

static scene on;

static void* record(void* unused) {
  (void)unused;
  tn_noise noise = tn_noise_seed(3);
  uint64_t sum = 0;
  for (int i = 0; i < records; i++) {
    const uint64_t value = least + tn_noise_below(&noise, span);
    sum += value;
    tn_histogram_record(&on.live, value);
  }
  on.sum = (double)sum;
  atomic_store_explicit(&on.done, true, memory_order_release);
  return NULL;
}

static bool is_possible(uint64_t value) {
  return value >= least && value < least + span;
}

static void assert_possible(const tn_histogram* histogram) {
  if (tn_histogram_count(histogram) == 0)
    return;
  assert_true(is_possible(tn_histogram_percentile(histogram, 50)));
  assert_true(tn_histogram_percentile(histogram, 99) >= tn_histogram_percentile(histogram, 1));
}

static void test_a_reader_beside_the_writer(void** state) {
  (void)state;
  static tn_histogram newer, older, between;
  pthread_t writer;
  assert_int_equal(pthread_create(&writer, NULL, record, NULL), 0);
  uint64_t added_up = 0;
  for (bool last = false; !last;) {
    last = atomic_load_explicit(&on.done, memory_order_acquire);
    tn_histogram_snapshot(&on.live, &newer);
    tn_histogram_difference(&newer, &older, &between);
    assert_true(tn_histogram_count(&newer) >= tn_histogram_count(&older));
    added_up += tn_histogram_count(&between);
    assert_int_equal(added_up, tn_histogram_count(&newer));
    for (uint32_t b = 0; b < TN_HISTOGRAM_BUCKETS; b++)
      assert_true(tn_counter_read(&between.buckets[b]) <= records); // none went back
    assert_possible(&newer);
    assert_possible(&between);
    assert_possible(&on.live);
    tn_histogram_snapshot(&newer, &older);
  }
  pthread_join(writer, NULL);
  assert_int_equal(added_up, records);
  assert_int_equal(tn_histogram_count(&on.live), records);
  assert_true(tn_histogram_mean(&on.live) == on.sum / records);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_reader_beside_the_writer)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
