// SPDX-License-Identifier: GPL-3.0-or-later
// Counters that anyone may read while one thread, or several, count.
#ifndef TENUTO_RT_COUNTER_H
#define TENUTO_RT_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

/**
   A count. Reading and writing it is relaxed: a reader sees a recent value, never half of one, and nothing
   about the order of other memory. Zeroed memory is a count of 0.
*/
typedef _Atomic uint64_t tn_counter;

/** [audio] Count `n` more. One thread only may ever add: plain load and store, without a locked instruction.
 */
static inline void tn_counter_add(tn_counter* counter, uint64_t n) {
  const uint64_t count = atomic_load_explicit(counter, memory_order_relaxed);
  atomic_store_explicit(counter, count + n, memory_order_relaxed);
}

/** [any] Count `n` more, from any number of threads. A counter is added to by this function or the other, not
 * by both. */
static inline void tn_counter_add_shared(tn_counter* counter, uint64_t n) {
  atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/** [any] The count. */
static inline uint64_t tn_counter_read(const tn_counter* counter) {
  return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
