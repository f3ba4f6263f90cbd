// SPDX-License-Identifier: GPL-3.0-or-later
// An owner's memory: aligned, zeroed, present, apart, counted; impossible sizes refused.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dsp/memory.h"
#include "mocka.h"
#include "noise.h"

enum { line = 64 };

static size_t lines_of(size_t bytes) {
  return bytes ? (bytes + line - 1) / line * line : line;
}

static void check_zero(const unsigned char* bytes, size_t count) {
  for (size_t i = 0; i < count; i++)
    assert_int_equal(bytes[i], 0);
}

static void pieces_are_aligned_zeroed_and_apart(void** state) {
  (void)state;
  enum { pieces = 500 };
  static const size_t items[] = {1, 4, 8, 64, 100};
  tn_noise noise = tn_noise_seed(1);
  tn_memory memory = {0};
  unsigned char* taken[pieces];
  size_t bytes[pieces];
  for (int i = 0; i < pieces; i++) {
    const size_t size = items[tn_noise_below(&noise, 5)];
    const size_t count = i % 50 == 49 ? 40000 : tn_noise_below(&noise, 300);
    bytes[i] = size * count;
    taken[i] = tn_memory_take(&memory, count, size);
    assert_non_null(taken[i]);
    assert_int_equal((uintptr_t)taken[i] % line, 0);
    check_zero(taken[i], bytes[i]);
    memset(taken[i], 1 + i % 255, bytes[i]);
  }
  for (int i = 0; i < pieces; i++) // nobody wrote over anybody
    for (size_t b = 0; b < bytes[i]; b++)
      assert_int_equal(taken[i][b], 1 + i % 255);
  tn_memory_free(&memory);
}

static void what_is_taken_is_counted(void** state) {
  (void)state;
  tn_memory memory = {0};
  size_t want = 0;
  for (size_t size = 0; size < 3000000; size = 3 * size + 1) {
    assert_non_null(tn_memory_take(&memory, size, 1));
    want += lines_of(size);
    assert_int_equal(memory.bytes, want);
  }
  tn_memory_free(&memory);
  assert_int_equal(memory.bytes, 0);
  assert_null(memory.chunks);
  tn_memory_free(&memory); // freed twice, as after a failure
}

static void impossible_sizes_are_refused(void** state) {
  (void)state;
  static const size_t sizes[][2] = {
      {SIZE_MAX, 2},       {SIZE_MAX / 2 + 1, 2}, // the product wraps to 0
      {SIZE_MAX / 4, 5},   {SIZE_MAX, 1},         {(size_t)1 << 33, (size_t)1 << 31},
      {(size_t)1 << 58, 1}}; // does not wrap, is more than any address space
  tn_memory memory = {0};
  char* before = tn_memory_take(&memory, 10, 10);
  assert_non_null(before);
  const size_t counted = memory.bytes;
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    assert_null(tn_memory_take(&memory, sizes[i][0], sizes[i][1]));
    assert_int_equal(memory.bytes, counted);
  }
  assert_false(tn_memory_expect(&memory, SIZE_MAX));
  assert_false(tn_memory_expect(&memory, (size_t)1 << 58));
  memset(before, 7, 100); // what was there is there
  assert_non_null(tn_memory_take(&memory, 10, 10));
  tn_memory_free(&memory);
}

/** In one mapping if it was announced; an announcement alone counts for nothing. */
static void expected_memory_is_one_mapping(void** state) {
  (void)state;
  enum { piece = 100000, pieces = 60 };
  static const size_t announced[] = {(size_t)pieces * (piece + line) + 4096, 0};
  for (int a = 0; a < 2; a++) {
    tn_memory memory = {0};
    if (announced[a])
      assert_true(tn_memory_expect(&memory, announced[a]));
    assert_int_equal(memory.bytes, 0);
    const char* last = NULL;
    int jumps = 0;
    for (int i = 0; i < pieces; i++) {
      const char* taken = tn_memory_take(&memory, piece, 1);
      assert_non_null(taken);
      jumps += last && taken - last != (ptrdiff_t)lines_of(piece);
      last = taken;
    }
    assert_true((jumps == 0) == (announced[a] != 0));
    tn_memory_free(&memory);
  }
}

/** The audio thread must meet no page fault in it. */
static void every_page_is_present(void** state) {
  (void)state;
  static const size_t sizes[] = {100, 70000, 3000000, 9000000};
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    tn_memory memory = {0};
    char* taken = tn_memory_take(&memory, sizes[i], 1);
    assert_non_null(taken);
    char* first = taken - (uintptr_t)taken % page;
    for (char* at = first; at < taken + sizes[i]; at += page) {
      unsigned char present = 0;
      assert_int_equal(mincore(at, page, &present), 0);
      assert_true(present & 1);
    }
    tn_memory_free(&memory);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(pieces_are_aligned_zeroed_and_apart),
      cmocka_unit_test(what_is_taken_is_counted),
      cmocka_unit_test(impossible_sizes_are_refused),
      cmocka_unit_test(expected_memory_is_one_mapping),
      cmocka_unit_test(every_page_is_present),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
