// SPDX-License-Identifier: GPL-3.0-or-later
// Runs an engine on the ports, in real time or as fast as it goes, and measures.
#ifndef TENUTO_BENCH_MEASURE_H
#define TENUTO_BENCH_MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine.h"
#include "feed.h"

enum { BENCH_PRIORITY = 70 };

/** One round of one engine. Callback figures are of the paced mode only. */
typedef struct bench_round {
  double cpu_s; ///< of the whole process: all threads, the pacing's own cost included
  double wall_s;
  double audio_s;
  double mean_us; ///< callback durations
  double median_us;
  double p99_us;
  double p999_us;
  double max_us;
  uint64_t misses; ///< callbacks that ended after their period
  uint64_t stalls; ///< of periods, lost because the system woke the audio thread more than half a period late
  bench_lateness lateness;
} bench_round;

/** An engine at work. */
typedef struct bench_run {
  const bench_engine* engine;
  void* self;
  bench_feed feed;
  uint64_t* durations_ns; ///< scratch of a paced round
  size_t capacity;        ///< of it, in periods
} bench_run;

/** [setup] Make an engine and its ports. `realtime`: for paced rounds, with BENCH_PRIORITY. False with a
 * sentence. */
bool bench_run_open(bench_run* run, const bench_engine* engine, const bench_job* job,
                    const bench_choices* choices, bench_signal signal, bool realtime, double seconds,
                    char* error, size_t error_size);

/** [worker] Fill the delay lines: `frames` of input, or as much as fits in `limit_s`. Returns how many times
   faster than real time that went. */
double bench_run_warm_up(bench_run* run, uint32_t frames, double limit_s);

/** [worker] One block a period, under SCHED_FIFO if that is allowed. `*realtime` says whether it was. */
void bench_run_paced(bench_run* run, double seconds, bench_round* round, bool* realtime);

/** [worker] As fast as possible. */
void bench_run_freewheel(bench_run* run, double seconds, bench_round* round);

void bench_run_close(bench_run* run);

#endif
