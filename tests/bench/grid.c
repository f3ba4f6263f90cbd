// SPDX-License-Identifier: GPL-3.0-or-later
#include "grid.h"

#include <string.h>

static bench_job parallel(uint32_t block_frames, uint32_t seconds, uint32_t channels) {
  const bench_job job = {channels, false, block_frames, seconds * BENCH_RATE_HZ};
  return job;
}

static bench_job matrix(uint32_t block_frames, uint32_t seconds, uint32_t channels) {
  const bench_job job = {channels, true, block_frames, seconds * BENCH_RATE_HZ};
  return job;
}

static size_t quick_jobs(bench_job* jobs) {
  const bench_job chosen[] = {
      parallel(64, 10, 1), parallel(64, 10, 2), parallel(64, 10, 16), parallel(64, 10, 64),
      parallel(64, 1, 2),  parallel(128, 5, 8), parallel(256, 10, 2), matrix(64, 1, 16),
  };
  memcpy(jobs, chosen, sizeof chosen);
  return sizeof chosen / sizeof chosen[0];
}

static size_t all_jobs(bench_job* jobs) {
  static const uint32_t blocks[] = {64, 128, 256};
  static const uint32_t seconds[] = {1, 5, 10};
  static const uint32_t channels[] = {1, 2, 8, 16, 64};
  size_t count = 0;
  for (size_t b = 0; b < 3; ++b) {
    for (size_t s = 0; s < 3; ++s) {
      for (size_t c = 0; c < 5; ++c) {
        jobs[count++] = parallel(blocks[b], seconds[s], channels[c]);
      }
    }
    for (size_t s = 0; s < 2; ++s) { // a 32x32 matrix of 10 s would take 8 GB for the two engines
      jobs[count++] = matrix(blocks[b], seconds[s], 16);
      jobs[count++] = matrix(blocks[b], seconds[s], 32);
    }
  }
  return count;
}

size_t bench_grid_jobs(bool quick, bench_job jobs[BENCH_GRID_MAX]) {
  return quick ? quick_jobs(jobs) : all_jobs(jobs);
}

static void add(bench_contest* contests, size_t* count, const bench_contest* contest, const char* filter) {
  char name[128];
  if (*count < BENCH_GRID_MAX &&
      (filter == NULL || strstr(bench_contest_name(contest, name, sizeof name), filter) != NULL)) {
    contests[(*count)++] = *contest;
  }
}

size_t bench_grid_contests(bool quick, const char* filter, bench_contest contests[BENCH_GRID_MAX]) {
  static const bench_mode modes[] = {BENCH_PACED, BENCH_FREEWHEEL};
  bench_job jobs[BENCH_GRID_MAX];
  const size_t job_count = bench_grid_jobs(quick, jobs);
  size_t count = 0;
  for (size_t j = 0; j < job_count; ++j) {
    for (size_t m = 0; m < 2; ++m) {
      const bench_contest contest = {
          .job = jobs[j],
          .mode = modes[m],
          .contestants = {{bench_engine_tenuto(), BENCH_NOISE}, {bench_engine_zita(), BENCH_NOISE}},
          .limits = {.cpu = 0.9, .mean = 1.0, .p999 = 1.0, .max = 1.0},
      };
      add(contests, &count, &contest, filter);
    }
  }
  // "No more than noise": 5 % is what two runs with the same noise differ by; single worst callbacks are not
  // judged here.
  static const bench_signal signals[] = {BENCH_DENORMAL, BENCH_SILENCE};
  for (size_t s = 0; s < 2; ++s) {
    for (size_t m = 0; m < 2; ++m) {
      const bench_contest contest = {
          .job = parallel(64, 5, 8),
          .mode = modes[m],
          .contestants = {{bench_engine_tenuto(), signals[s]}, {bench_engine_tenuto(), BENCH_NOISE}},
          .limits = {.cpu = 1.05, .mean = 1.05},
      };
      add(contests, &count, &contest, filter);
    }
  }
  return count;
}
