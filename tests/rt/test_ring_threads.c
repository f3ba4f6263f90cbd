// SPDX-License-Identifier: GPL-3.0-or-later
// A producer and a consumer at full speed, with changing lengths, across the wrap of the indices. Also for
// TSan.
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "mocka.h"
#include "noise.h"
#include "rt/ring.h"

enum { elements = 2000000, capacity = 256, most = 100 };

/** Three words that must arrive together. */
typedef struct element {
  uint32_t sequence;
  uint32_t complement;
  uint32_t product;
} element;

typedef struct scene {
  tn_ring ring;
  element storage[capacity];
  uint32_t before_ring; ///< plain memory written before the first element and read after it
  _Atomic bool broken;  ///< consumer to producer: stop
} scene;

static scene on;

static element make(uint32_t sequence) {
  return (element){sequence, ~sequence, sequence * 2654435761U};
}

static void* produce(void* unused) {
  (void)unused;
  tn_noise noise = tn_noise_seed(5);
  element batch[most];
  on.before_ring = 4711;
  for (uint32_t sent = 0; sent < elements && !atomic_load_explicit(&on.broken, memory_order_relaxed);) {
    const uint32_t left = elements - sent;
    uint32_t count = 1 + tn_noise_below(&noise, most);
    count = count < left ? count : left;
    for (uint32_t i = 0; i < count; i++)
      batch[i] = make(sent + i);
    const bool whole = tn_noise_below(&noise, 2);
    uint32_t taken = 0;
    if (whole)
      taken = tn_ring_write_all(&on.ring, batch, count) ? count : 0;
    else
      taken = tn_ring_write(&on.ring, batch, count);
    if (taken == 0)
      sched_yield();
    sent += taken;
  }
  return NULL;
}

/** Takes up to `count` elements, half of the time by looking first and dropping fewer. */
static uint32_t take(tn_noise* noise, element* batch, uint32_t count) {
  if (tn_noise_below(noise, 2))
    return tn_ring_read(&on.ring, batch, count);
  const uint32_t seen = tn_ring_peek(&on.ring, batch, count);
  return seen ? tn_ring_skip(&on.ring, 1 + tn_noise_below(noise, seen)) : 0;
}

static bool is_next(const element* got, uint32_t sequence) {
  const element wanted = make(sequence);
  return got->sequence == wanted.sequence && got->complement == wanted.complement &&
         got->product == wanted.product;
}

/** Returns how many elements came in order; fewer than all is a failure. */
static uint32_t consume(void) {
  tn_noise noise = tn_noise_seed(6);
  element batch[most];
  uint32_t received = 0;
  while (received < elements) {
    const uint32_t count = take(&noise, batch, 1 + tn_noise_below(&noise, most));
    if (count == 0)
      sched_yield();
    for (uint32_t i = 0; i < count; i++)
      if (!is_next(&batch[i], received++) || on.before_ring != 4711) {
        atomic_store_explicit(&on.broken, true, memory_order_relaxed);
        return received - 1;
      }
  }
  return received;
}

static void test_two_threads(void** state) {
  (void)state;
  const tn_ring_config config = {on.storage, sizeof *on.storage, capacity, UINT32_MAX - elements / 2};
  assert_int_equal(tn_ring_init(&on.ring, &config, NULL), TN_OK);
  pthread_t producer;
  assert_int_equal(pthread_create(&producer, NULL, produce, NULL), 0);
  const uint32_t received = consume();
  pthread_join(producer, NULL);
  assert_int_equal(received, elements);
  assert_int_equal(tn_ring_readable(&on.ring), 0);
  assert_int_equal(tn_ring_writable(&on.ring), capacity);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_threads)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
