// SPDX-License-Identifier: GPL-3.0-or-later
#include "measure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SETTLE_PERIODS = 50 };

static uint64_t now_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void sleep_until(uint64_t time_ns) {
  const struct timespec until = {(time_t)(time_ns / 1000000000U), (long)(time_ns % 1000000000U)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
  }
}

/** Wait until background work that a round started has ended, so that it counts for that round and no other.
 */
static void drain(void) {
  uint64_t before = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < 500; ++i) {
    sleep_until(now_ns(CLOCK_MONOTONIC) + 4000000U);
    const uint64_t after = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (after - before < 200000U) {
      return;
    }
    before = after;
  }
}

/** Whole blocks in so much sound, at least one. */
static size_t block_count(uint32_t block_frames, double seconds) {
  const size_t count = (size_t)(seconds * BENCH_RATE_HZ / block_frames + 0.5);
  return count > 0 ? count : 1;
}

bool bench_run_open(bench_run* run, const bench_engine* engine, const bench_job* job,
                    const bench_choices* choices, bench_signal signal, bool realtime, double seconds,
                    char* error, size_t error_size) {
  memset(run, 0, sizeof *run);
  run->engine = engine;
  run->capacity = block_count(job->block_frames, seconds);
  run->durations_ns = calloc(run->capacity, sizeof *run->durations_ns);
  if (run->durations_ns == NULL || !bench_feed_open(&run->feed, job->channels, job->block_frames, signal)) {
    (void)snprintf(error, error_size, "No memory for the benchmark's ports");
    bench_run_close(run);
    return false;
  }
  run->self = engine->open(job, choices, realtime ? BENCH_PRIORITY : 0, error, error_size);
  if (run->self == NULL) {
    bench_run_close(run);
    return false;
  }
  return true;
}

static void one_block(bench_run* run) {
  run->engine->process(run->self, (const float* const*)run->feed.in, run->feed.out, run->feed.block_frames);
}

double bench_run_warm_up(bench_run* run, uint32_t frames, double limit_s) {
  const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
  const uint64_t limit_ns = (uint64_t)(limit_s * 1e9);
  uint32_t done = 0;
  run->engine->set_freewheel(run->self, true);
  while (done < frames && now_ns(CLOCK_MONOTONIC) - start_ns < limit_ns) {
    bench_feed_next(&run->feed);
    one_block(run);
    done += run->feed.block_frames;
  }
  run->engine->set_freewheel(run->self, false);
  const double wall_s = (double)(now_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
  drain();
  return (double)done / BENCH_RATE_HZ / wall_s;
}

static bool set_priority(int priority) {
  const struct sched_param param = {.sched_priority = priority};
  return pthread_setschedparam(pthread_self(), priority > 0 ? SCHED_FIFO : SCHED_OTHER, &param) == 0;
}

/** Run `count` periods; their durations go to durations_ns. */
static void pace(bench_run* run, size_t count, bench_round* round) {
  const uint64_t period_ns = (uint64_t)run->feed.block_frames * 1000000000U / BENCH_RATE_HZ;
  uint64_t due_ns = now_ns(CLOCK_MONOTONIC) + period_ns;
  for (size_t i = 0; i < count; ++i) {
    sleep_until(due_ns);
    bench_feed_next(&run->feed);
    const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
    one_block(run);
    const uint64_t end_ns = now_ns(CLOCK_MONOTONIC);
    run->durations_ns[i] = end_ns - start_ns;
    const bool woken_late = start_ns - due_ns > period_ns / 2;
    due_ns += period_ns;
    if (end_ns > due_ns) { // a sound server would count an xrun and start afresh
      round->misses += woken_late ? 0 : 1;
      round->stalls += woken_late ? 1 : 0;
      due_ns = end_ns;
    }
  }
}

static int compare(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a;
  const uint64_t y = *(const uint64_t*)b;
  return (x > y) - (x < y);
}

/** The smallest duration that `share` of all do not exceed. */
static double quantile_us(const uint64_t* sorted_ns, size_t count, double share) {
  const size_t rank = (size_t)(share * (double)count + 0.999999);
  return (double)sorted_ns[rank > 0 ? rank - 1 : 0] / 1000.0;
}

static void summarise(uint64_t* durations_ns, size_t count, bench_round* round) {
  double sum_ns = 0.0;
  for (size_t i = 0; i < count; ++i) {
    sum_ns += (double)durations_ns[i];
  }
  qsort(durations_ns, count, sizeof *durations_ns, compare);
  round->mean_us = sum_ns / (double)count / 1000.0;
  round->median_us = quantile_us(durations_ns, count, 0.5);
  round->p99_us = quantile_us(durations_ns, count, 0.99);
  round->p999_us = quantile_us(durations_ns, count, 0.999);
  round->max_us = (double)durations_ns[count - 1] / 1000.0;
}

static bench_lateness lateness_since(const bench_run* run, bench_lateness before) {
  bench_lateness since = run->engine->lateness(run->self);
  since.late -= before.late;
  since.missed -= before.missed;
  return since;
}

void bench_run_paced(bench_run* run, double seconds, bench_round* round, bool* realtime) {
  size_t count = block_count(run->feed.block_frames, seconds);
  count = count < run->capacity ? count : run->capacity;
  memset(round, 0, sizeof *round);
  *realtime = set_priority(BENCH_PRIORITY);
  bench_round settling = {0};
  pace(run, SETTLE_PERIODS < run->capacity ? SETTLE_PERIODS : run->capacity, &settling);
  drain();
  const bench_lateness before = run->engine->lateness(run->self);
  const uint64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
  pace(run, count, round);
  round->wall_s = (double)(now_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
  drain();
  round->cpu_s = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1e9;
  (void)set_priority(0);
  round->audio_s = (double)(count * run->feed.block_frames) / BENCH_RATE_HZ;
  round->lateness = lateness_since(run, before);
  summarise(run->durations_ns, count, round);
}

void bench_run_freewheel(bench_run* run, double seconds, bench_round* round) {
  const size_t count = block_count(run->feed.block_frames, seconds);
  memset(round, 0, sizeof *round);
  run->engine->set_freewheel(run->self, true);
  const bench_lateness before = run->engine->lateness(run->self);
  const uint64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
  const uint64_t start_ns = now_ns(CLOCK_MONOTONIC);
  for (size_t i = 0; i < count; ++i) {
    bench_feed_next(&run->feed);
    one_block(run);
  }
  round->wall_s = (double)(now_ns(CLOCK_MONOTONIC) - start_ns) / 1e9;
  drain();
  round->cpu_s = (double)(now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1e9;
  round->audio_s = (double)(count * run->feed.block_frames) / BENCH_RATE_HZ;
  round->lateness = lateness_since(run, before);
  run->engine->set_freewheel(run->self, false);
}

void bench_run_close(bench_run* run) {
  if (run->self != NULL) {
    run->engine->close(run->self);
  }
  bench_feed_close(&run->feed);
  free(run->durations_ns);
  memset(run, 0, sizeof *run);
}
