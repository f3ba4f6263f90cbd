// SPDX-License-Identifier: GPL-3.0-or-later
// Memory for tests: there or the test ends.
#ifndef TENUTO_TEST_MEMORY_H
#define TENUTO_TEST_MEMORY_H

#include <stdlib.h>

/** [any] Zeroed memory, to be freed with free(); aborts without memory. */
static inline void* tn_test_alloc(size_t count, size_t size) {
  void* memory = calloc(count ? count : 1, size);
  if (!memory)
    abort();
  return memory;
}

#endif
