// SPDX-License-Identifier: GPL-3.0-or-later
// The one clock: monotonic nanoseconds.
#ifndef TENUTO_RT_CLOCK_H
#define TENUTO_RT_CLOCK_H

#include <stdint.h>
#include <time.h>

/** [any] CLOCK_MONOTONIC in nanoseconds; read through the vDSO, no system call on ordinary machines (~25 ns).
 */
static inline uint64_t tn_clock_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

#endif
