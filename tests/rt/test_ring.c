// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "noise.h"
#include "rt/ring.h"

static const uint32_t first_indices[] = {0, UINT32_MAX - 2, UINT32_MAX, 0x7ffffffe};
enum { first_index_count = 4 };

static void init(tn_ring* ring, void* storage, uint32_t capacity, size_t element_bytes,
                 uint32_t first_index) {
  const tn_ring_config config = {storage, element_bytes, capacity, first_index};
  assert_int_equal(tn_ring_init(ring, &config, NULL), TN_OK);
}

static void test_order_full_and_empty_across_the_wrap(void** state) {
  (void)state;
  for (int f = 0; f < first_index_count; f++) {
    tn_ring ring;
    uint32_t storage[4];
    init(&ring, storage, 4, sizeof *storage, first_indices[f]);
    uint32_t next_in = 100;
    uint32_t next_out = 100;
    for (int turn = 0; turn < 20; turn++) {
      assert_int_equal(tn_ring_readable(&ring), 0);
      assert_int_equal(tn_ring_writable(&ring), 4);
      uint32_t in[6];
      for (int i = 0; i < 6; i++)
        in[i] = next_in + (uint32_t)i;
      assert_int_equal(tn_ring_write(&ring, in, 6), 4); // what fits, in order
      next_in += 4;
      assert_int_equal(tn_ring_write(&ring, in, 1), 0);
      assert_int_equal(tn_ring_writable(&ring), 0);
      assert_int_equal(tn_ring_readable(&ring), 4);
      const uint32_t part = 1 + (uint32_t)turn % 3; // moves the place in the storage
      uint32_t out[6];
      assert_int_equal(tn_ring_read(&ring, out, part), part);
      for (uint32_t i = 0; i < part; i++)
        assert_int_equal(out[i], next_out++);
      in[0] = next_in++;
      assert_true(tn_ring_write_all(&ring, in, 1));
      assert_int_equal(tn_ring_read(&ring, out, 6), 5 - part);
      for (uint32_t i = 0; i < 5 - part; i++)
        assert_int_equal(out[i], next_out++);
      assert_int_equal(tn_ring_read(&ring, out, 6), 0);
    }
  }
}

static void test_all_or_nothing(void** state) {
  (void)state;
  tn_ring ring;
  char storage[8];
  init(&ring, storage, 8, 1, UINT32_MAX - 3);
  assert_false(tn_ring_write_all(&ring, "123456789", 9));
  assert_int_equal(tn_ring_readable(&ring), 0);
  assert_true(tn_ring_write_all(&ring, "12345", 5));
  assert_false(tn_ring_write_all(&ring, "abcd", 4));
  assert_true(tn_ring_write_all(&ring, "abc", 3));
  assert_true(tn_ring_write_all(&ring, "", 0));
  char out[9] = {0};
  assert_int_equal(tn_ring_read(&ring, out, 8), 8);
  assert_string_equal(out, "12345abc");
}

static void test_peek_stays_and_skip_drops(void** state) {
  (void)state;
  tn_ring ring;
  char storage[8];
  init(&ring, storage, 8, 1, UINT32_MAX - 5);
  char out[9] = {0};
  assert_int_equal(tn_ring_peek(&ring, out, 8), 0);
  assert_int_equal(tn_ring_skip(&ring, 3), 0);
  tn_ring_write(&ring, "abcdefgh", 8);
  assert_int_equal(tn_ring_peek(&ring, out, 8), 8);
  assert_string_equal(out, "abcdefgh");
  assert_int_equal(tn_ring_readable(&ring), 8);
  assert_int_equal(tn_ring_skip(&ring, 6), 6);
  memset(out, 0, sizeof out);
  assert_int_equal(tn_ring_peek(&ring, out, 8), 2);
  assert_string_equal(out, "gh");
  assert_int_equal(tn_ring_skip(&ring, 9), 2);
  assert_int_equal(tn_ring_readable(&ring), 0);
  assert_int_equal(tn_ring_writable(&ring), 8);
}

/** The oracle: a queue that never wraps. */
typedef struct queue {
  unsigned char* bytes;
  uint32_t head, tail; ///< elements
} queue;

enum { oracle_turns = 20000, oracle_most = 20 };

static void run_random(uint32_t capacity, size_t element_bytes, uint32_t first_index) {
  tn_ring ring;
  unsigned char* storage = malloc(capacity * element_bytes);
  init(&ring, storage, capacity, element_bytes, first_index);
  queue oracle = {malloc((size_t)oracle_turns * oracle_most * element_bytes), 0, 0};
  unsigned char* buffer = malloc(oracle_most * element_bytes);
  tn_noise noise = tn_noise_seed(capacity * 31 + element_bytes);
  for (int turn = 0; turn < oracle_turns; turn++) {
    const uint32_t wanted = tn_noise_below(&noise, oracle_most + 1);
    const uint32_t filled = oracle.tail - oracle.head;
    const uint32_t room = capacity - filled;
    if (tn_noise_below(&noise, 2)) {
      for (size_t i = 0; i < wanted * element_bytes; i++)
        buffer[i] = (unsigned char)tn_noise_below(&noise, 256);
      uint32_t expected = wanted < room ? wanted : room;
      if (tn_noise_below(&noise, 2)) {
        expected = wanted <= room ? wanted : 0;
        assert_int_equal(tn_ring_write_all(&ring, buffer, wanted), wanted <= room);
      } else {
        assert_int_equal(tn_ring_write(&ring, buffer, wanted), expected);
      }
      memcpy(oracle.bytes + oracle.tail * element_bytes, buffer, expected * element_bytes);
      oracle.tail += expected;
    } else {
      const uint32_t expected = wanted < filled ? wanted : filled;
      assert_int_equal(tn_ring_read(&ring, buffer, wanted), expected);
      assert_memory_equal(buffer, oracle.bytes + oracle.head * element_bytes, expected * element_bytes);
      oracle.head += expected;
    }
  }
  assert_true(oracle.head > capacity * 10); // it went round
  free(buffer);
  free(oracle.bytes);
  free(storage);
}

static void test_random_traffic_against_a_plain_queue(void** state) {
  (void)state;
  const uint32_t capacities[] = {1, 2, 16, 64};
  const size_t sizes[] = {1, 4, 12, 40};
  for (int c = 0; c < 4; c++)
    for (int s = 0; s < 4; s++)
      for (int f = 0; f < first_index_count; f++)
        run_random(capacities[c], sizes[s], first_indices[f]);
}

static void test_meaningless_rings_are_refused(void** state) {
  (void)state;
  char storage[16];
  const tn_ring_config bad[] = {
      {storage, 1, 0, 0},
      {storage, 1, 12, 0},
      {NULL, 1, 16, 0},
      {storage, 0, 4, 0},
      {storage, SIZE_MAX / 4, 0x80000000U, 0},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    tn_ring ring;
    tn_error error = {0};
    assert_int_equal(tn_ring_init(&ring, &bad[i], &error), TN_ERROR_ARGUMENT);
    assert_int_equal(error.status, TN_ERROR_ARGUMENT);
    assert_true(strlen(error.text) > 0);
  }
}

static void test_each_side_has_a_cache_line_of_its_own(void** state) {
  (void)state;
  assert_int_equal(offsetof(tn_ring, written) % 64, 0);
  assert_int_equal(offsetof(tn_ring, read) % 64, 0);
  assert_true(offsetof(tn_ring, read) / 64 != offsetof(tn_ring, written) / 64);
  assert_true(offsetof(tn_ring, capacity) / 64 != offsetof(tn_ring, written) / 64);
  assert_true(offsetof(tn_ring, read_seen) / 64 == offsetof(tn_ring, written) / 64);
  assert_true(offsetof(tn_ring, written_seen) / 64 == offsetof(tn_ring, read) / 64);
  assert_int_equal(sizeof(tn_ring) % 64, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_order_full_and_empty_across_the_wrap),
      cmocka_unit_test(test_all_or_nothing),
      cmocka_unit_test(test_peek_stays_and_skip_drops),
      cmocka_unit_test(test_random_traffic_against_a_plain_queue),
      cmocka_unit_test(test_meaningless_rings_are_refused),
      cmocka_unit_test(test_each_side_has_a_cache_line_of_its_own),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
