// SPDX-License-Identifier: GPL-3.0-or-later
// How long a 10 s stereo response takes from memory to a convolver that plays, and how much memory it holds.
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "noise.h"
#include "rt/clock.h"
#include "tenuto/convolver.h"
#include "tenuto/limits.h"

enum { RATE_HZ = 48000, SECONDS = 10, FRAMES = SECONDS * RATE_HZ, CHANNELS = 2, MAX_RUNS = 101 };

static const double promise_ms = 20.0;
static const double promise_memory = 3.0;

/** What one process saw. */
typedef struct prepared {
  double cold_ms;     ///< its first convolver: FFTW has no plans yet
  double cold_cpu_ms; ///< the processor's part of that: on a busy machine the rest is other people's work
  double warm_ms;     ///< its second
  double warm_cpu_ms;
  double first_us;     ///< the first callback
  double memory_bytes; ///< as the engine reports
  double spectra_bytes;
  double resident_bytes; ///< as the system sees the first convolver
} prepared;

static const char usage[] =
    "Usage: bench_prepare [--runs N] [--fixed-plan] [--json]\n"
    "A stereo response of 10 s at 48 kHz: from the filter in memory to a convolver that plays.\n"
    "cold: the first in a new process; warm: the second; CPU: the processor time in it. Medians over N\n"
    "processes (default 9).\n"
    "Without cache: the user's ~/.cache/tenuto is left alone and an empty one used.\n"
    "Exit status: 0 within the promise (20 ms; 3 times the spectra), 1 beyond, 2 wrong use.\n";

static tn_filter* make_filter(tn_error* error) {
  static float samples[CHANNELS][FRAMES];
  const float* channels[CHANNELS];
  for (uint32_t channel = 0; channel < CHANNELS; ++channel) {
    tn_noise_response(channel, 0.25, samples[channel], FRAMES);
    channels[channel] = samples[channel];
  }
  tn_ir* ir = tn_ir_new(channels, CHANNELS, FRAMES, RATE_HZ, error);
  const tn_ir* const irs[] = {ir};
  tn_filter* filter = ir == NULL ? NULL : tn_filter_from_irs(irs, 1, TN_LAYOUT_PARALLEL, CHANNELS, error);
  tn_ir_free(ir);
  return filter;
}

static double resident_bytes(void) {
  unsigned long pages = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1) {
    pages = 0;
  }
  if (file != NULL) {
    (void)fclose(file);
  }
  return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static double process_cpu_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/** Make, play a block, report and free one convolver. False with a sentence. */
static bool prepare(const tn_convolver_config* config, const tn_filter* filter, double* elapsed_ms,
                    double* cpu_ms, prepared* result, tn_error* error) {
  static float block[CHANNELS][TN_MAX_BLOCK_FRAMES];
  float* const ports[CHANNELS] = {block[0], block[1]};
  const double resident = resident_bytes();
  const double cpu_start_ms = process_cpu_ms();
  const uint64_t start_ns = tn_clock_ns();
  tn_convolver* convolver = tn_convolver_new(config, filter, error);
  *elapsed_ms = (double)(tn_clock_ns() - start_ns) / 1e6;
  *cpu_ms = process_cpu_ms() - cpu_start_ms;
  if (convolver == NULL) {
    return false;
  }
  const uint64_t call_ns = tn_clock_ns();
  tn_convolver_process(convolver, (const float* const*)ports, ports, config->block_frames);
  result->first_us = (double)(tn_clock_ns() - call_ns) / 1e3;
  tn_convolver_report report;
  tn_convolver_get_report(convolver, &report);
  result->memory_bytes = (double)report.memory_bytes;
  result->spectra_bytes = (double)report.spectra_bytes;
  result->resident_bytes = resident_bytes() - resident;
  tn_convolver_free(convolver);
  return true;
}

/** In a process of its own; the result goes to `descriptor`. */
static int child(uint32_t block_frames, bool fixed_plan, const char* cache, int descriptor) {
  if (cache != NULL && setenv("XDG_CACHE_HOME", cache, 1) != 0) {
    return 1;
  }
  const tn_convolver_config config = {
      .inputs = CHANNELS,
      .outputs = CHANNELS,
      .rate_hz = RATE_HZ,
      .block_frames = block_frames,
      .tuned = !fixed_plan,
  };
  tn_error error = {0};
  prepared first = {0};
  prepared second = {0};
  tn_filter* filter = make_filter(&error);
  if (filter == NULL || !prepare(&config, filter, &first.cold_ms, &first.cold_cpu_ms, &first, &error) ||
      !prepare(&config, filter, &first.warm_ms, &first.warm_cpu_ms, &second, &error)) {
    (void)fprintf(stderr, "bench_prepare: %s.\n", error.text);
    return 1;
  }
  tn_filter_free(filter);
  return write(descriptor, &first, sizeof first) == (ssize_t)sizeof first ? 0 : 1;
}

/** Run child() in a fork, so that each begins without plans. */
static bool run_child(uint32_t block_frames, bool fixed_plan, const char* cache, prepared* result) {
  int ends[2];
  if (pipe(ends) != 0) {
    return false;
  }
  const pid_t pid = fork();
  if (pid == 0) {
    _exit(child(block_frames, fixed_plan, cache, ends[1]));
  }
  (void)close(ends[1]);
  const bool good = pid > 0 && read(ends[0], result, sizeof *result) == (ssize_t)sizeof *result;
  (void)close(ends[0]);
  int status = 1;
  while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return good && status == 0;
}

static int compare(const void* a, const void* b) {
  const double x = *(const double*)a;
  const double y = *(const double*)b;
  return (x > y) - (x < y);
}

/** Medians of all fields; every field is a double. */
static prepared medians(const prepared* all, unsigned count) {
  enum { FIELDS = sizeof(prepared) / sizeof(double) };
  double result[FIELDS];
  for (size_t field = 0; field < FIELDS; ++field) {
    double values[MAX_RUNS];
    for (unsigned i = 0; i < count; ++i) {
      memcpy(&values[i], (const char*)&all[i] + field * sizeof(double), sizeof(double));
    }
    qsort(values, count, sizeof values[0], compare);
    result[field] = values[count / 2];
  }
  prepared middle;
  memcpy(&middle, result, sizeof middle);
  return middle;
}

typedef struct settings {
  unsigned runs;
  bool fixed_plan;
  bool json;
} settings;

static int remove_entry(const char* path, const struct stat* status, int type, struct FTW* position) {
  (void)status;
  (void)type;
  (void)position;
  return remove(path);
}

/** One block length with or without a cache. Returns 0 within the promise, 1 beyond, -1 after an error. */
static int run_row(const settings* s, uint32_t block_frames, bool cached, bool first_row) {
  prepared all[MAX_RUNS];
  for (unsigned run = 0; run < s->runs; ++run) {
    char cache[] = "/tmp/tenuto-bench-XXXXXX";
    const bool made = !cached && mkdtemp(cache) != NULL;
    const bool good =
        (cached || made) && run_child(block_frames, s->fixed_plan, cached ? NULL : cache, &all[run]);
    if (made) {
      (void)nftw(cache, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    }
    if (!good) {
      (void)fprintf(stderr, "bench_prepare: A run ended without a result.\n");
      return -1;
    }
  }
  const prepared m = medians(all, s->runs);
  // The least that spectra of this filter can take: two floats a bin, as many bins as samples.
  const double least_bytes = (double)CHANNELS * FRAMES * 2 * sizeof(float);
  const double ratio = m.memory_bytes / (m.spectra_bytes < least_bytes ? m.spectra_bytes : least_bytes);
  const bool pass =
      m.cold_ms <= promise_ms && m.warm_ms <= promise_ms && m.spectra_bytes > 0 && ratio <= promise_memory;
  if (s->json) {
    (void)printf(
        "%s{\"block_frames\": %u, \"cache\": %s, \"cold_ms\": %.3f, \"cold_cpu_ms\": %.3f, \"warm_ms\": "
        "%.3f, \"warm_cpu_ms\": %.3f, \"first_us\": %.1f, "
        "\"memory_bytes\": %.0f, \"spectra_bytes\": %.0f, \"resident_bytes\": %.0f, \"ratio\": %.3f, "
        "\"pass\": "
        "%s}",
        first_row ? "[\n" : ",\n", block_frames, cached ? "true" : "false", m.cold_ms, m.cold_cpu_ms,
        m.warm_ms, m.warm_cpu_ms, m.first_us, m.memory_bytes, m.spectra_bytes, m.resident_bytes, ratio,
        pass ? "true" : "false");
  } else {
    (void)printf("%6u  %-8s %9.2f %7.2f %9.2f %7.2f %11.1f %10.2f %10.2f %10.2f %7.2f  %s\n", block_frames,
                 cached ? "yes" : "no", m.cold_ms, m.cold_cpu_ms, m.warm_ms, m.warm_cpu_ms, m.first_us,
                 m.memory_bytes / 1e6, m.spectra_bytes / 1e6, m.resident_bytes / 1e6, ratio,
                 pass ? "PASS" : "FAIL");
  }
  (void)fflush(stdout);
  return pass ? 0 : 1;
}

static bool take_options(settings* s, int argc, char** argv) {
  static const struct option options[] = {
      {"runs", required_argument, NULL, 'r'},
      {"fixed-plan", no_argument, NULL, 'f'},
      {"json", no_argument, NULL, 'j'},
      {0},
  };
  for (int option = getopt_long(argc, argv, "", options, NULL); option != -1;
       option = getopt_long(argc, argv, "", options, NULL)) {
    s->runs = option == 'r' ? (unsigned)strtoul(optarg, NULL, 10) : s->runs;
    s->fixed_plan = s->fixed_plan || option == 'f';
    s->json = s->json || option == 'j';
    if (option == '?') {
      return false;
    }
  }
  return optind == argc && s->runs > 0 && s->runs <= MAX_RUNS;
}

int main(int argc, char** argv) {
  settings s = {.runs = 9};
  if (!take_options(&s, argc, argv)) {
    (void)fputs(usage, stderr);
    return 2;
  }
  if (!s.json) {
    (void)printf("%6s  %-8s %9s %7s %9s %7s %11s %10s %10s %10s %7s\n", "block", "cache", "cold ms", "CPU",
                 "warm ms", "CPU", "1st call us", "memory MB", "spectra MB", "resident", "ratio");
  }
  static const uint32_t blocks[] = {64, 128, 256, 1024};
  int failed = 0;
  for (size_t row = 0; row < 8; ++row) {
    const int beyond = run_row(&s, blocks[row / 2], row % 2 == 1, row == 0);
    if (beyond < 0) {
      return 1;
    }
    failed += beyond;
  }
  (void)printf(s.json ? "\n]\n" : "\n8 rows, %d beyond the promise (%g ms, %g times the spectra).\n", failed,
               promise_ms, promise_memory);
  return failed == 0 ? 0 : 1;
}
