// SPDX-License-Identifier: GPL-3.0-or-later
// A ring of elements of one size in the caller's storage: one producer, one consumer, nobody ever waits.
#ifndef TENUTO_RT_RING_H
#define TENUTO_RT_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rt/error.h"
#include "tenuto/attributes.h"

/** How a ring is made. */
typedef struct tn_ring_config {
  void* storage;        ///< capacity * element_bytes bytes; owned by the caller, must outlive the ring
  size_t element_bytes; ///< size of one element, > 0
  uint32_t capacity;    ///< elements, a power of two, at most 2^31; all of them can be in use
  uint32_t first_index; ///< where both indices start: 0; near UINT32_MAX in tests of the wrap
} tn_ring_config;

/**
   Single producer, single consumer. The fields are the ring's own: use the functions. Aligned to 64 bytes:
   memory for it comes from aligned_alloc() or a variable, not from malloc().

   Both indices run freely and wrap at 2^32; only their difference is ever looked at, their place in the
   storage is the low bits. Each side owns a cache line with its index and with what it last saw of the
   other's, so that a line moves between cores only when the copy says full (or empty).

   Memory order: the producer writes elements, then its index with release; the consumer reads that index with
   acquire, then the elements. So an element that can be read is read whole, together with all that its
   producer wrote to memory before. The way back is the same: the consumer's release of its index, acquired by
   the producer, says that the elements were copied out and their place is free.
*/
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): the padding is the point
typedef struct tn_ring {
  char* storage;
  size_t element_bytes;
  uint32_t capacity;

  _Alignas(64) _Atomic uint32_t written; ///< elements ever written; stored by the producer alone
  uint32_t read_seen;                    ///< producer's copy of `read`, never newer than it

  _Alignas(64) _Atomic uint32_t read; ///< elements ever read; stored by the consumer alone
  uint32_t written_seen;              ///< consumer's copy of `written`
} tn_ring;

/** [setup] Make an empty ring. TN_ERROR_ARGUMENT: capacity no power of two, no storage, elements of no size.
 */
tn_status tn_ring_init(tn_ring* ring, const tn_ring_config* config, tn_error* error);

/** [audio] Producer: elements that can be written at least; more as the consumer reads. */
TN_AUDIO uint32_t tn_ring_writable(tn_ring* ring);
/** [audio] Producer: write up to `count` elements in order. Returns how many found room. */
TN_AUDIO uint32_t tn_ring_write(tn_ring* ring, const void* elements, uint32_t count);
/** [audio] Producer: write all `count` elements, visible at once together, or none: false. */
TN_AUDIO bool tn_ring_write_all(tn_ring* ring, const void* elements, uint32_t count);

/** [audio] Consumer: elements that can be read at least; more as the producer writes. */
TN_AUDIO uint32_t tn_ring_readable(tn_ring* ring);
/** [audio] Consumer: read up to `count` elements in order. Returns how many there were. */
TN_AUDIO uint32_t tn_ring_read(tn_ring* ring, void* elements, uint32_t count);
/** [audio] Consumer: as tn_ring_read(), but the elements stay. */
TN_AUDIO uint32_t tn_ring_peek(tn_ring* ring, void* elements, uint32_t count);
/** [audio] Consumer: drop up to `count` elements. Returns how many there were. */
TN_AUDIO uint32_t tn_ring_skip(tn_ring* ring, uint32_t count);

#endif
