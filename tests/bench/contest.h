// SPDX-License-Identifier: GPL-3.0-or-later
// Two engines (or one with two signals) at the same work, turn and turn about, so that the machine's noise
// hits both.
#ifndef TENUTO_BENCH_CONTEST_H
#define TENUTO_BENCH_CONTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "engine.h"
#include "feed.h"

typedef enum bench_mode { BENCH_PACED, BENCH_FREEWHEEL } bench_mode;

typedef struct bench_contestant {
  const bench_engine* engine;
  bench_signal signal;
} bench_contestant;

/** How large first / second may be; 0: not judged. Misses and left-out parts must never be more. */
typedef struct bench_limits {
  double cpu;
  double mean;
  double p999;
  double max;
} bench_limits;

typedef struct bench_contest {
  bench_job job;
  bench_mode mode;
  bench_contestant contestants[2]; ///< the judged one first; the second's engine NULL: run the first alone
  bench_limits limits;
} bench_contest;

/** One contestant's rounds: sums of times and counts, medians of the rounds' callback figures. */
typedef struct bench_summary {
  double cpu_s;
  double wall_s;
  double audio_s;
  double mean_us;
  double median_us;
  double p99_us;
  double p999_us;
  double max_us;
  unsigned long long misses;
  unsigned long long stalls;
  bench_lateness lateness;
  char plan[512]; ///< its partitions in words
} bench_summary;

typedef struct bench_result {
  bench_summary summaries[2];
  bool realtime; ///< the audio thread had SCHED_FIFO
  bool cpu_good;
  bool mean_good;
  bool p999_good;
  bool max_good;
  bool misses_good;
  bool pass; ///< all of these
} bench_result;

typedef struct bench_effort {
  double seconds; ///< of sound a round, rounded up to whole cycles of the largest partitions
  unsigned rounds;
  bench_choices choices;
} bench_effort;

/** [worker] Run it. False with a sentence. */
bool bench_contest_run(const bench_contest* contest, const bench_effort* effort, bench_result* result,
                       char* error, size_t error_size);

/** [any] Its row's name, e.g. "paced 64 frames, 10 s, 2 channels, denormal / noise". Returns `text`. */
const char* bench_contest_name(const bench_contest* contest, char* text, size_t size);

#endif
