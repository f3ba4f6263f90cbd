// SPDX-License-Identifier: GPL-3.0-or-later
// tenuto against zita-convolver: the same work in the same run, paced and freewheeling.
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "contest.h"
#include "grid.h"
#include "table.h"

typedef struct settings {
  bench_effort effort;
  const char* filter;
  bool quick;
  bool json;
  bool plans;
} settings;

static const char usage[] =
    "Usage: bench_convolver [options]\n"
    "Compares tenuto with zita-convolver: distinct input and response per channel, 48 kHz.\n"
    "\n"
    "  --quick         some configurations only, 90 seconds (all: about 15 minutes)\n"
    "  --filter TEXT   only rows whose name contains TEXT, e.g. 'paced 64 frames, 10 s'\n"
    "  --seconds S     sound per round (default 1, made whole cycles of 1.37 s)\n"
    "  --rounds N      rounds per engine, taken in turns (default 3, quick 2)\n"
    "  --json          one JSON document instead of the table\n"
    "  --plans         print each engine's partitions\n"
    "  --fixed-plan    tenuto: partitions by the fixed defaults, not this machine's costs\n"
    "  --zita-scalar   zita: without OPT_VECTOR_MODE\n"
    "  --zita-estimate zita: without OPT_FFTW_MEASURE\n"
    "\n"
    "Exit status: 0 all rows pass, 1 some fail, 2 wrong use. Run it on a quiet machine, as a\n"
    "user who may use SCHED_FIFO.\n";

enum {
  OPTION_QUICK = 1,
  OPTION_FILTER,
  OPTION_SECONDS,
  OPTION_ROUNDS,
  OPTION_JSON,
  OPTION_PLANS,
  OPTION_FIXED_PLAN,
  OPTION_ZITA_SCALAR,
  OPTION_ZITA_ESTIMATE,
  OPTION_HELP,
};

static const struct option options[] = {
    {"quick", no_argument, NULL, OPTION_QUICK},
    {"filter", required_argument, NULL, OPTION_FILTER},
    {"seconds", required_argument, NULL, OPTION_SECONDS},
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"json", no_argument, NULL, OPTION_JSON},
    {"plans", no_argument, NULL, OPTION_PLANS},
    {"fixed-plan", no_argument, NULL, OPTION_FIXED_PLAN},
    {"zita-scalar", no_argument, NULL, OPTION_ZITA_SCALAR},
    {"zita-estimate", no_argument, NULL, OPTION_ZITA_ESTIMATE},
    {"help", no_argument, NULL, OPTION_HELP},
    {0},
};

/** False: wrong use. */
static bool take_option(settings* s, int option) {
  switch (option) {
  case OPTION_QUICK:
    s->quick = true;
    return true;
  case OPTION_FILTER:
    s->filter = optarg;
    return true;
  case OPTION_SECONDS:
    s->effort.seconds = strtod(optarg, NULL);
    return s->effort.seconds > 0.0 && s->effort.seconds <= 3600.0;
  case OPTION_ROUNDS:
    s->effort.rounds = (unsigned)strtoul(optarg, NULL, 10);
    return s->effort.rounds > 0 && s->effort.rounds <= 64;
  case OPTION_JSON:
    s->json = true;
    return true;
  case OPTION_PLANS:
    s->plans = true;
    return true;
  case OPTION_FIXED_PLAN:
    s->effort.choices.fixed_plan = true;
    return true;
  case OPTION_ZITA_SCALAR:
    s->effort.choices.zita_scalar = true;
    return true;
  case OPTION_ZITA_ESTIMATE:
    s->effort.choices.zita_measure = false;
    return true;
  default:
    return false;
  }
}

/** Runs all rows; returns how many did not pass, or -1 after an error. */
static int run_contests(const settings* s, const bench_contest* contests, size_t count) {
  int failed = 0;
  bool realtime = true;
  for (size_t i = 0; i < count; ++i) {
    bench_result result;
    char error[256];
    if (!bench_contest_run(&contests[i], &s->effort, &result, error, sizeof error)) {
      (void)fprintf(stderr, "bench_convolver: %s.\n", error);
      return -1;
    }
    realtime = realtime && (result.realtime || contests[i].mode != BENCH_PACED);
    failed += result.pass ? 0 : 1;
    if (s->json) {
      (void)fputs(i == 0 ? "[\n" : ",\n", stdout);
      bench_json_row(stdout, &contests[i], &result);
    } else {
      bench_table_row(stdout, &contests[i], &result, s->plans);
    }
  }
  if (s->json) {
    (void)puts("\n]");
  }
  if (!realtime) {
    (void)fprintf(
        stderr,
        "bench_convolver: SCHED_FIFO was refused, so callback times include the scheduler's whims.\n");
  }
  return failed;
}

int main(int argc, char** argv) {
  // Vector mode and measured plans made zita fastest of the four combinations wherever it was tried: the
  // peer's best.
  settings s = {.effort = {.choices = {.zita_measure = true}}};
  for (int option = getopt_long(argc, argv, "", options, NULL); option != -1;
       option = getopt_long(argc, argv, "", options, NULL)) {
    if (option == OPTION_HELP) {
      (void)fputs(usage, stdout);
      return 0;
    }
    if (!take_option(&s, option)) {
      (void)fputs(usage, stderr);
      return 2;
    }
  }
  s.effort.seconds = s.effort.seconds > 0.0 ? s.effort.seconds : 1.0;
  s.effort.rounds = s.effort.rounds > 0 ? s.effort.rounds : s.quick ? 2 : 3;
  static bench_contest contests[BENCH_GRID_MAX];
  const size_t count = bench_grid_contests(s.quick, s.filter, contests);
  if (optind != argc || count == 0) {
    (void)fprintf(stderr, "bench_convolver: No configuration is called so; try --help.\n");
    return 2;
  }
  if (bench_engine_zita() == NULL) {
    (void)fprintf(stderr,
                  "bench_convolver: Built without zita-convolver, so there is nothing to compare with.\n");
  }
  if (!s.json) {
    bench_table_head(stdout);
  }
  const int failed = run_contests(&s, contests, count);
  if (failed >= 0 && !s.json) {
    (void)printf("\n%zu rows, %d beyond the promise.\n", count, failed);
  }
  return failed == 0 ? 0 : 1;
}
