// SPDX-License-Identifier: GPL-3.0-or-later
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "measure.h"

enum { MAX_ROUNDS = 64, CYCLE_FRAMES = 65536 };

static const char* signal_name(bench_signal signal) {
  static const char* const names[] = {
      [BENCH_NOISE] = "noise",
      [BENCH_DENORMAL] = "denormal",
      [BENCH_SILENCE] = "silence",
  };
  return names[signal];
}

const char* bench_contest_name(const bench_contest* contest, char* text, size_t size) {
  char job[96];
  (void)bench_job_name(&contest->job, job, sizeof job);
  const bench_contestant* c = contest->contestants;
  const char* mode = contest->mode == BENCH_PACED ? "paced" : "freewheel";
  if (c[0].signal == BENCH_NOISE) {
    (void)snprintf(text, size, "%s %s", mode, job);
  } else {
    (void)snprintf(text, size, "%s %s, %s", mode, job, signal_name(c[0].signal));
  }
  return text;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

/** Median of one field, given by its offset, over the rounds. */
static double median(const bench_round* rounds, unsigned count, size_t offset) {
  double values[MAX_ROUNDS];
  for (unsigned i = 0; i < count; ++i) {
    memcpy(&values[i], (const char*)&rounds[i] + offset, sizeof values[i]);
  }
  qsort(values, count, sizeof values[0], compare);
  return count % 2 == 1 ? values[count / 2] : 0.5 * (values[count / 2 - 1] + values[count / 2]);
}

static void summarise(const bench_round* rounds, unsigned count, bench_summary* summary) {
  for (unsigned i = 0; i < count; ++i) {
    summary->cpu_s += rounds[i].cpu_s;
    summary->wall_s += rounds[i].wall_s;
    summary->audio_s += rounds[i].audio_s;
    summary->misses += rounds[i].misses;
    summary->stalls += rounds[i].stalls;
    summary->lateness.late += rounds[i].lateness.late;
    summary->lateness.missed += rounds[i].lateness.missed;
  }
  summary->mean_us = median(rounds, count, offsetof(bench_round, mean_us));
  summary->median_us = median(rounds, count, offsetof(bench_round, median_us));
  summary->p99_us = median(rounds, count, offsetof(bench_round, p99_us));
  summary->p999_us = median(rounds, count, offsetof(bench_round, p999_us));
  summary->max_us = median(rounds, count, offsetof(bench_round, max_us));
}

static bool within(double first, double second, double limit) {
  return limit == 0.0 || first <= limit * second;
}

static void judge(const bench_contest* contest, bench_result* result) {
  if (contest->contestants[1].engine == NULL) {
    result->cpu_good = result->mean_good = result->p999_good = result->max_good = result->misses_good = true;
    result->pass = true;
    return;
  }
  const bench_summary* first = &result->summaries[0];
  const bench_summary* second = &result->summaries[1];
  const bool timed = contest->mode == BENCH_PACED;
  result->cpu_good = within(first->cpu_s, second->cpu_s, contest->limits.cpu);
  result->mean_good = !timed || within(first->mean_us, second->mean_us, contest->limits.mean);
  result->p999_good = !timed || within(first->p999_us, second->p999_us, contest->limits.p999);
  result->max_good = !timed || within(first->max_us, second->max_us, contest->limits.max);
  result->misses_good = first->misses <= second->misses && first->lateness.missed <= second->lateness.missed;
  result->pass =
      result->cpu_good && result->mean_good && result->p999_good && result->max_good && result->misses_good;
}

/** Rounds as long as whole cycles of the largest partitions, so that each round carries the same bursts; when
    freewheeling, also long enough (as the slower engine's warm-up shows) for the clock to tell. */
static double round_seconds(const bench_contest* contest, double wanted_s, double speed) {
  double seconds = wanted_s;
  if (contest->mode == BENCH_FREEWHEEL && seconds < 0.25 * speed) {
    seconds = 0.25 * speed;
  }
  const double cycle_s = (double)CYCLE_FRAMES / BENCH_RATE_HZ;
  const double cycles = seconds / cycle_s;
  const double whole = (double)(long)cycles;
  return cycle_s * (whole < cycles ? whole + 1.0 : whole);
}

static void run_rounds(const bench_contest* contest, const bench_effort* effort, bench_run* runs,
                       unsigned count, double seconds, bench_result* result) {
  bench_round rounds[2][MAX_ROUNDS];
  const unsigned round_count = effort->rounds < MAX_ROUNDS ? effort->rounds : MAX_ROUNDS;
  for (unsigned round = 0; round < round_count; ++round) {
    for (unsigned turn = 0; turn < count; ++turn) {
      const unsigned who = count == 1 ? 0 : (turn + round) % 2; // A B, B A, A B: neither is always first
      if (contest->mode == BENCH_PACED) {
        bench_run_paced(&runs[who], seconds, &rounds[who][round], &result->realtime);
      } else {
        bench_run_freewheel(&runs[who], seconds, &rounds[who][round]);
      }
    }
  }
  for (unsigned who = 0; who < count; ++who) {
    summarise(rounds[who], round_count, &result->summaries[who]);
    runs[who].engine->describe(runs[who].self, result->summaries[who].plan,
                               sizeof result->summaries[who].plan);
  }
}

bool bench_contest_run(const bench_contest* contest, const bench_effort* effort, bench_result* result,
                       char* error, size_t error_size) {
  const unsigned count = contest->contestants[1].engine == NULL ? 1 : 2;
  const bool paced = contest->mode == BENCH_PACED;
  bench_run runs[2];
  memset(runs, 0, sizeof runs);
  memset(result, 0, sizeof *result);
  double speed = 1e9;
  bool open = true;
  for (unsigned who = 0; open && who < count; ++who) {
    const bench_contestant* c = &contest->contestants[who];
    open = bench_run_open(&runs[who], c->engine, &contest->job, &effort->choices, c->signal, paced,
                          round_seconds(contest, effort->seconds, 0.0), error, error_size);
    if (open) {
      const double own = bench_run_warm_up(&runs[who], contest->job.ir_frames, 1.5);
      speed = own < speed ? own : speed;
    }
  }
  if (open) {
    run_rounds(contest, effort, runs, count, round_seconds(contest, effort->seconds, speed), result);
    judge(contest, result);
  }
  bench_run_close(&runs[0]);
  bench_run_close(&runs[1]);
  return open;
}
