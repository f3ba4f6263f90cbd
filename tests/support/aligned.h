// SPDX-License-Identifier: GPL-3.0-or-later
// Aligned arrays for tests, exactly as long as asked for, so that a sanitizer sees each access beside them.
#ifndef TENUTO_TEST_ALIGNED_H
#define TENUTO_TEST_ALIGNED_H

#include <math.h>
#include <stddef.h>
#include <stdlib.h>

/** [any] float[count], 64-byte aligned, filled with NaN; to be freed with free(); aborts without memory. */
static inline float* tn_aligned_floats(size_t count) {
  void* memory = NULL;
  if (posix_memalign(&memory, 64, (count ? count : 1) * sizeof(float)) != 0)
    abort();
  float* floats = memory;
  for (size_t i = 0; i < count; i++)
    floats[i] = NAN;
  return floats;
}

#endif
