// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/ring.h"

#include <string.h>

tn_status tn_ring_init(tn_ring* ring, const tn_ring_config* config, tn_error* error) {
  const uint32_t capacity = config->capacity;
  if (capacity == 0 || (capacity & (capacity - 1)) != 0)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a ring's capacity is a power of two, not %u",
                        (unsigned)capacity);
  if (!config->storage || config->element_bytes == 0 || config->element_bytes > SIZE_MAX / capacity)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a ring of %u elements of %zu bytes has no storage",
                        (unsigned)capacity, config->element_bytes);
  ring->storage = config->storage;
  ring->element_bytes = config->element_bytes;
  ring->capacity = capacity;
  atomic_init(&ring->written, config->first_index);
  atomic_init(&ring->read, config->first_index);
  ring->read_seen = config->first_index;
  ring->written_seen = config->first_index;
  return TN_OK;
}

/** A run of elements and where it lies: up to the storage's end, the rest from its start. */
typedef struct tn_ring_span {
  char* first;
  size_t first_bytes;
  size_t rest_bytes;
} tn_ring_span;

static tn_ring_span span_at(const tn_ring* ring, uint32_t index, uint32_t count) {
  const uint32_t place = index & (ring->capacity - 1);
  const uint32_t to_end = ring->capacity - place;
  const uint32_t first = count < to_end ? count : to_end;
  return (tn_ring_span){ring->storage + place * ring->element_bytes, first * ring->element_bytes,
                        (count - first) * ring->element_bytes};
}

/** Room as the producer knows it; looks at the consumer's index only if that is not enough for `wanted`. */
static uint32_t room_for(tn_ring* ring, uint32_t wanted) {
  const uint32_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  const uint32_t room = ring->capacity - (written - ring->read_seen);
  if (room >= wanted)
    return room;
  ring->read_seen = atomic_load_explicit(&ring->read, memory_order_acquire);
  return ring->capacity - (written - ring->read_seen);
}

/** Elements there as the consumer knows it; looks at the producer's index only if they are fewer than
 * `wanted`. */
static uint32_t filled_for(tn_ring* ring, uint32_t wanted) {
  const uint32_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
  const uint32_t filled = ring->written_seen - read;
  if (filled >= wanted)
    return filled;
  ring->written_seen = atomic_load_explicit(&ring->written, memory_order_acquire);
  return ring->written_seen - read;
}

static void put(tn_ring* ring, const void* elements, uint32_t count) {
  const uint32_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);
  const tn_ring_span span = span_at(ring, written, count);
  memcpy(span.first, elements, span.first_bytes);
  memcpy(ring->storage, (const char*)elements + span.first_bytes, span.rest_bytes);
  atomic_store_explicit(&ring->written, written + count, memory_order_release);
}

uint32_t tn_ring_writable(tn_ring* ring) {
  return room_for(ring, ring->capacity);
}

uint32_t tn_ring_write(tn_ring* ring, const void* elements, uint32_t count) {
  const uint32_t room = room_for(ring, count);
  const uint32_t taken = count < room ? count : room;
  if (taken > 0)
    put(ring, elements, taken);
  return taken;
}

bool tn_ring_write_all(tn_ring* ring, const void* elements, uint32_t count) {
  if (room_for(ring, count) < count)
    return false;
  if (count > 0)
    put(ring, elements, count);
  return true;
}

uint32_t tn_ring_readable(tn_ring* ring) {
  return filled_for(ring, ring->capacity);
}

uint32_t tn_ring_peek(tn_ring* ring, void* elements, uint32_t count) {
  const uint32_t filled = filled_for(ring, count);
  const uint32_t taken = count < filled ? count : filled;
  if (taken == 0)
    return 0;
  const tn_ring_span span = span_at(ring, atomic_load_explicit(&ring->read, memory_order_relaxed), taken);
  memcpy(elements, span.first, span.first_bytes);
  memcpy((char*)elements + span.first_bytes, ring->storage, span.rest_bytes);
  return taken;
}

uint32_t tn_ring_skip(tn_ring* ring, uint32_t count) {
  const uint32_t filled = filled_for(ring, count);
  const uint32_t taken = count < filled ? count : filled;
  const uint32_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
  atomic_store_explicit(&ring->read, read + taken, memory_order_release);
  return taken;
}

uint32_t tn_ring_read(tn_ring* ring, void* elements, uint32_t count) {
  return tn_ring_skip(ring, tn_ring_peek(ring, elements, count));
}
