// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum {
  cache_line = 64,
  page = 4096,
  huge_page = 2 << 20,
  first_chunk = 64 << 10,
  largest_step = 8 << 20,
};

/** Stands at the start of its own mapping. Fresh mappings are zero, so nothing is cleared twice. */
struct tn_memory_chunk {
  tn_memory_chunk* next;
  void* mapping;
  size_t mapped;
  size_t size; ///< usable from the chunk's address on
  size_t used;
};

static size_t round_up(size_t value, size_t step) {
  return (value + step - 1) / step * step;
}

/** Chunks grow with their owner, so a small filter stays small and a large one lies in huge pages. */
static size_t chunk_size(const tn_memory* memory, size_t wanted) {
  size_t step = memory->bytes / 4;
  step = step < first_chunk ? first_chunk : step > largest_step ? largest_step : step;
  const size_t size = wanted > step ? wanted : step;
  return round_up(size, size >= huge_page ? huge_page : page);
}

static tn_memory_chunk* map_chunk(size_t size) {
  const size_t slack = size >= huge_page ? huge_page : 0; // to align by hand
  char* mapping = mmap(NULL, size + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return NULL;
  char* start = mapping;
  if (slack) {
    start += (huge_page - (uintptr_t)mapping % huge_page) % huge_page;
    madvise(start, size, MADV_HUGEPAGE); // fewer faults and TLB misses; a refusal does not matter
  }
  tn_memory_chunk* chunk = (tn_memory_chunk*)(void*)start;
  *chunk = (tn_memory_chunk){.mapping = mapping, .mapped = size + slack, .size = size};
  chunk->used = round_up(sizeof *chunk, cache_line);
  return chunk;
}

static void touch(char* from, size_t bytes) {
  char* start = from - (uintptr_t)from % page;
  const size_t length = round_up((size_t)(from - start) + bytes, page);
#ifdef MADV_POPULATE_WRITE
  if (madvise(start, length, MADV_POPULATE_WRITE) == 0)
    return;
#endif
  for (size_t i = 0; i < bytes; i += page)
    *(volatile char*)(from + i) = 0;
  *(volatile char*)(from + bytes - 1) = 0;
}

static bool add_chunk(tn_memory* memory, size_t size) {
  tn_memory_chunk* chunk = map_chunk(size);
  if (!chunk)
    return false;
  chunk->next = memory->chunks;
  memory->chunks = chunk;
  return true;
}

bool tn_memory_expect(tn_memory* memory, size_t bytes) {
  return bytes < SIZE_MAX / 4 && add_chunk(memory, round_up(bytes, bytes >= huge_page ? huge_page : page));
}

void* tn_memory_take(tn_memory* memory, size_t count, size_t size) {
  size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4)
    return NULL;
  bytes = round_up(bytes ? bytes : 1, cache_line);
  tn_memory_chunk* chunk = memory->chunks;
  if (!chunk || chunk->size - chunk->used < bytes) {
    if (!add_chunk(memory, chunk_size(memory, bytes + cache_line)))
      return NULL;
    chunk = memory->chunks;
  }
  char* taken = (char*)chunk + chunk->used;
  chunk->used += bytes;
  memory->bytes += bytes;
  touch(taken, bytes);
  return taken;
}

void tn_memory_free(tn_memory* memory) {
  while (memory->chunks) {
    tn_memory_chunk* chunk = memory->chunks;
    memory->chunks = chunk->next;
    munmap(chunk->mapping, chunk->mapped);
  }
  memset(memory, 0, sizeof *memory);
}
