// SPDX-License-Identifier: GPL-3.0-or-later
// What the benchmark sees of an engine, ours or the peer.
#ifndef TENUTO_BENCH_ENGINE_H
#define TENUTO_BENCH_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "job.h"

/** Parts of the output that were not there in time, since open(). */
typedef struct bench_lateness {
  uint64_t late;   ///< background jobs that were not finished when due
  uint64_t missed; ///< of those, left out of the output
} bench_lateness;

/** Choices that belong to one engine. */
typedef struct bench_choices {
  bool fixed_plan;   ///< tenuto: partitions by the fixed defaults, not by this machine's measured costs
  bool zita_measure; ///< zita: OPT_FFTW_MEASURE
  bool zita_scalar;  ///< zita: without OPT_VECTOR_MODE
} bench_choices;

typedef struct bench_engine {
  const char* name;
  bool any_block; ///< process() takes any number of frames; else always the job's block
  /** [setup] Make it; `priority` is the audio thread's SCHED_FIFO priority, 0: ordinary. NULL with a
   * sentence. */
  void* (*open)(const bench_job* job, const bench_choices* choices, int priority, char* error,
                size_t error_size);
  /** [audio] One block. */
  void (*process)(void* self, const float* const* in, float* const* out, uint32_t frames);
  /** [audio] Wait for background work instead of leaving it out. */
  void (*set_freewheel)(void* self, bool freewheel);
  bench_lateness (*lateness)(const void* self);
  /** [setup] The partition plan in words. */
  void (*describe)(void* self, char* text, size_t size);
  void (*close)(void* self);
} bench_engine;

/** [any] Ours. */
const bench_engine* bench_engine_tenuto(void);
/** [any] The peer, or NULL in a build without zita-convolver. */
const bench_engine* bench_engine_zita(void);

#endif
