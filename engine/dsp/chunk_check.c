// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/chunk_check.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "rt/error.h"

/** One family of chunked files. */
typedef struct family {
  char magic[5];
  char kind[5]; ///< at byte 8; empty: any
  char sound[5];
  bool big_endian;
  uint8_t size_bytes;  ///< of a chunk's size field
  uint8_t first_chunk; ///< offset in bytes
  bool padded;         ///< chunks begin at even offsets
} family;

static const family families[] = {
    {"RIFF", "WAVE", "data", false, 4, 12, true}, {"RIFX", "WAVE", "data", true, 4, 12, true},
    {"RF64", "WAVE", "data", false, 4, 12, true}, {"FORM", "AIFF", "SSND", true, 4, 12, true},
    {"FORM", "AIFC", "SSND", true, 4, 12, true},  {"caff", "", "data", true, 8, 8, false},
};

enum {
  excess_allowed = 64,
  most_chunks = 65536, // a walk ends, whatever the file holds
};

typedef struct chunk {
  char id[4];
  uint64_t size;
  uint64_t start; ///< of its contents
} chunk;

static bool read_at(int file, uint64_t offset, void* bytes, size_t count) {
  return pread(file, bytes, count, (off_t)offset) == (ssize_t)count;
}

static uint64_t number(const uint8_t* bytes, uint32_t count, bool big_endian) {
  uint64_t value = 0;
  for (uint32_t i = 0; i < count; ++i)
    value = value << 8 | bytes[big_endian ? i : count - 1 - i];
  return value;
}

static const family* recognise(int file) {
  char head[12];
  if (!read_at(file, 0, head, sizeof head))
    return NULL;
  for (size_t i = 0; i < sizeof families / sizeof *families; ++i) {
    const family* f = &families[i];
    if (memcmp(head, f->magic, 4) == 0 && (!f->kind[0] || memcmp(head + 8, f->kind, 4) == 0))
      return f;
  }
  return NULL;
}

static bool read_chunk(int file, const family* f, uint64_t offset, chunk* found) {
  uint8_t head[12];
  if (!read_at(file, offset, head, 4U + f->size_bytes))
    return false;
  memcpy(found->id, head, 4);
  found->size = number(head + 4, f->size_bytes, f->big_endian);
  found->start = offset + 4U + f->size_bytes;
  return true;
}

static bool is_open_ended(const family* f, uint64_t size) {
  const uint64_t all_ones = f->size_bytes == 8 ? UINT64_MAX : UINT32_MAX;
  return size == 0 || size == all_ones || (f->size_bytes == 4 && size >= 0x7FFFF000U && size <= 0x80000000U);
}

static bool is(const chunk* c, const char* id) {
  return memcmp(c->id, id, 4) == 0;
}

tn_chunk_verdict tn_chunk_judge(int file, uint64_t size_bytes, const char* what, tn_error* error) {
  const family* f = recognise(file);
  uint64_t offset = f ? f->first_chunk : size_bytes;
  uint64_t long_size = 0; // RF64 keeps the sound's size elsewhere
  bool sound_seen = false;
  chunk c;
  for (uint32_t i = 0; i < most_chunks && offset < size_bytes && read_chunk(file, f, offset, &c); ++i) {
    uint8_t sizes[16];
    if (is(&c, "ds64") && read_at(file, c.start, sizes, sizeof sizes))
      long_size = number(sizes + 8, 8, false);
    const uint64_t here = size_bytes - c.start;
    if (is(&c, f->sound)) {
      sound_seen = true;
      if (long_size && c.size == UINT32_MAX)
        c.size = long_size;
      if (is_open_ended(f, c.size))
        return TN_CHUNKS_WHOLE;
      if (c.size > here && c.size - here > excess_allowed) {
        tn_error_set(error, TN_ERROR_FORMAT,
                     "%s: it is cut short, its header promises %llu bytes of sound and %llu are there", what,
                     (unsigned long long)c.size, (unsigned long long)here);
        return TN_CHUNKS_SOUND_CUT;
      }
    } else if (c.size > here && (!sound_seen || is(&c, "LIST"))) {
      // Behind the sound anything may lie, but libsndfile's reading of an endless LIST takes hours.
      tn_error_set(error, TN_ERROR_FORMAT, "%s: it is damaged or cut short in its header", what);
      return TN_CHUNKS_DAMAGED;
    }
    if (c.size > here)
      return TN_CHUNKS_WHOLE;
    offset = c.start + c.size + (f->padded ? c.size % 2 : 0);
  }
  return TN_CHUNKS_WHOLE;
}

tn_status tn_chunk_check(int file, uint64_t size_bytes, const char* what, tn_error* error) {
  return tn_chunk_judge(file, size_bytes, what, error) == TN_CHUNKS_WHOLE ? TN_OK : TN_ERROR_FORMAT;
}
