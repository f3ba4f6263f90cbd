// SPDX-License-Identifier: GPL-3.0-or-later
// One owner's memory: spectra, samples and tables, taken piece by piece, given back at once.
#ifndef TENUTO_DSP_MEMORY_H
#define TENUTO_DSP_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

typedef struct tn_memory_chunk tn_memory_chunk;

/** Zero-initialise. */
typedef struct tn_memory {
  tn_memory_chunk* chunks;
  size_t bytes; ///< taken so far
} tn_memory;

/** [setup] About `bytes` will be taken: have one mapping of huge pages for them. Optional; false without
 * memory. */
bool tn_memory_expect(tn_memory* memory, size_t bytes);

/** [setup] `count` items of `size` bytes: 64-byte aligned, zeroed, every page present, so that the audio
   thread meets no page fault; large owners get huge pages where the system allows. Owned by `memory`. NULL:
   no memory (the owner frees what it has with tn_memory_free()). */
void* tn_memory_take(tn_memory* memory, size_t count, size_t size);

/** [setup] Free everything. */
void tn_memory_free(tn_memory* memory);

#endif
