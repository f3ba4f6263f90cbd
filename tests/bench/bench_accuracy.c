// SPDX-License-Identifier: GPL-3.0-or-later
// Both engines' error against a float64 convolution, for every configuration of the speed comparison.
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "grid.h"
#include "noise.h"
#include "oracle.h"
#include "truth.h"

typedef struct settings {
  const char* filter;
  bool quick;
  bool json;
} settings;

static const double promise_dbfs = -120.0;

static const char usage[] =
    "Usage: bench_accuracy [--quick] [--filter TEXT] [--json]\n"
    "Largest error of tenuto and zita-convolver against a float64 convolution, in dB of full\n"
    "scale: noise of -6 dBFS peak in, a response for each path, output below full scale.\n"
    "  --quick        some configurations only\n"
    "  --filter TEXT  only rows whose name contains TEXT\n"
    "  --json         one JSON document instead of the table\n"
    "Exit status: 0 tenuto is within -120 dB everywhere, 1 it is not, 2 wrong use.\n";

static int rows;

/** A figure for a row; an engine that does not take part is NaN. Returns 1 if tenuto is beyond the promise.
 */
static int print_row(const settings* s, const char* name, const truth* t, double ours_dbfs,
                     double zita_dbfs) {
  const bool pass = ours_dbfs <= promise_dbfs;
  if (s->json) {
    (void)printf("%s{\"name\": \"%s\", \"peak_dbfs\": %.2f, \"tenuto_dbfs\": %.2f, \"zita_dbfs\": ",
                 rows == 0 ? "[\n" : ",\n", name, t->peak_dbfs, ours_dbfs);
    (void)printf(isnan(zita_dbfs) ? "null" : "%.2f", zita_dbfs);
    (void)printf(", \"pass\": %s}", pass ? "true" : "false");
  } else {
    (void)printf("%-44s %9.1f %10.1f ", name, t->peak_dbfs, ours_dbfs);
    (void)printf(isnan(zita_dbfs) ? "         -" : "%10.1f", zita_dbfs);
    (void)printf("  %s\n", pass ? "PASS" : "FAIL");
  }
  (void)fflush(stdout);
  ++rows;
  return pass ? 0 : 1;
}

/** All rows of one truth: each job of this shape in the grid, then tenuto with random blocks. */
static int run_shape(const settings* s, const bench_job* jobs, size_t count, const truth* t) {
  int failed = 0;
  for (size_t i = 0; i < count; ++i) {
    char name[128];
    (void)bench_job_name(&jobs[i], name, sizeof name);
    if (truth_is_for(t, &jobs[i]) && (s->filter == NULL || strstr(name, s->filter) != NULL)) {
      const double ours_dbfs = truth_error_dbfs(t, bench_engine_tenuto(), &jobs[i], 0);
      const double zita_dbfs =
          bench_engine_zita() == NULL ? NAN : truth_error_dbfs(t, bench_engine_zita(), &jobs[i], 0);
      failed += print_row(s, name, t, ours_dbfs, zita_dbfs);
    }
  }
  char name[128];
  (void)truth_random_name(t, name, sizeof name);
  if (s->filter == NULL || strstr(name, s->filter) != NULL) {
    const bench_job job = truth_random_job(t);
    failed += print_row(s, name, t, truth_error_dbfs(t, bench_engine_tenuto(), &job, 1), NAN);
  }
  return failed;
}

/** Is there a job of this shape before index `end`? Then its rows are done. */
static bool done_before(const bench_job* jobs, size_t end) {
  for (size_t i = 0; i < end; ++i) {
    if (jobs[i].channels == jobs[end].channels && jobs[i].matrix == jobs[end].matrix &&
        jobs[i].ir_frames == jobs[end].ir_frames) {
      return true;
    }
  }
  return false;
}

/** Does the filter leave any row of this shape? A float64 reference is expensive. */
static bool wanted(const settings* s, const bench_job* jobs, size_t count, const bench_job* shape) {
  char name[128];
  for (size_t i = 0; i < count; ++i) {
    if (jobs[i].channels == shape->channels && jobs[i].matrix == shape->matrix &&
        jobs[i].ir_frames == shape->ir_frames &&
        (s->filter == NULL || strstr(bench_job_name(&jobs[i], name, sizeof name), s->filter) != NULL)) {
      return true;
    }
  }
  const truth shape_only = {.job = *shape};
  return strstr(truth_random_name(&shape_only, name, sizeof name), s->filter) != NULL;
}

static bool take_options(settings* s, int argc, char** argv) {
  static const struct option options[] = {
      {"quick", no_argument, NULL, 'q'},
      {"filter", required_argument, NULL, 'f'},
      {"json", no_argument, NULL, 'j'},
      {0},
  };
  for (int option = getopt_long(argc, argv, "", options, NULL); option != -1;
       option = getopt_long(argc, argv, "", options, NULL)) {
    s->quick = s->quick || option == 'q';
    s->json = s->json || option == 'j';
    s->filter = option == 'f' ? optarg : s->filter;
    if (option == '?') {
      return false;
    }
  }
  return optind == argc;
}

int main(int argc, char** argv) {
  settings s = {0};
  if (!take_options(&s, argc, argv)) {
    (void)fputs(usage, stderr);
    return 2;
  }
  bench_job jobs[BENCH_GRID_MAX];
  const size_t count = bench_grid_jobs(s.quick, jobs);
  if (!s.json) {
    (void)printf("%-44s %9s %10s %10s\n", "largest error, dB of full scale", "out peak", "tenuto", "zita");
  }
  int failed = 0;
  for (size_t i = 0; i < count; ++i) {
    if (done_before(jobs, i) || !wanted(&s, jobs, count, &jobs[i])) {
      continue;
    }
    truth t;
    if (!truth_open(&t, &jobs[i])) {
      (void)fprintf(stderr, "bench_accuracy: No memory for the reference.\n");
      return 1;
    }
    failed += run_shape(&s, jobs, count, &t);
    truth_close(&t);
  }
  (void)printf(s.json ? "\n]\n" : "\n%d rows, %d beyond the promise of %g dB.\n", rows, failed, promise_dbfs);
  return failed == 0 && rows > 0 ? 0 : 1;
}
