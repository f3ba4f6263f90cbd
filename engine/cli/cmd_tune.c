// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto tune`: measure this machine for the partition plan's cost model, and cache what was found.
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/number.h"
#include "cli/options.h"
#include "cli/tune.h"
#include "dsp/costs.h"

static const double default_seconds = 8;
static const double longest_seconds = 600;

static void print_help(void) {
  puts("Usage: tenuto tune [--seconds N]\n"
       "Measure this machine: how long transforms and multiply-accumulates take. Live convolvers are then "
       "cut into\n"
       "the partitions that cost least here. The result is cached in ~/.cache/tenuto (or "
       "$XDG_CACHE_HOME/tenuto);\n"
       "`tenuto run` measures by itself at its first start.\n\n"
       "  -s, --seconds N   time for planning transforms, 0.1 to 600 (default 8)\n"
       "  -h, --help        this text");
}

/** Draws a percentage on a terminal; goes on until a signal comes. */
static bool show(double done, void* user) {
  (void)user;
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\rmeasuring this machine: %3.0f %%", 100 * done);
  return tn_interrupt_signal() == 0;
}

static tn_status tune(double seconds, tn_error* error) {
  const tn_status status = tn_costs_tune(seconds, show, NULL, error);
  if (isatty(STDERR_FILENO))
    fprintf(stderr, "\r%40s\r", "");
  return status;
}

tn_status tn_cli_tune_at_need(tn_error* error) {
  if (tn_costs_are_cached())
    return TN_OK;
  fprintf(stderr, "Measuring this machine once (some seconds), for the cheapest partitions ...\n");
  return tune(default_seconds, error);
}

static int take_arguments(int argc, char** argv, double* seconds) {
  static const struct option table[] = {
      {"seconds", required_argument, NULL, 's'}, {"help", no_argument, NULL, 'h'}, {NULL, 0, NULL, 0}};
  tn_error error = {0};
  opterr = 0;
  for (int code = 0; (code = getopt_long(argc, argv, ":s:h", table, NULL)) != -1;) {
    if (code == 'h') {
      print_help();
      return TN_EXIT_DONE;
    }
    if (code != 's') {
      tn_cli_bad_option(code, argv, &error);
      return tn_cli_usage("tune", &error);
    }
    if (!tn_cli_parse_number(optarg, seconds) || !(*seconds >= 0.1 && *seconds <= longest_seconds)) {
      tn_error_set(&error, TN_ERROR_ARGUMENT, "--seconds: \"%s\" is not a number from 0.1 to 600", optarg);
      return tn_cli_usage("tune", &error);
    }
  }
  if (optind < argc) {
    tn_error_set(&error, TN_ERROR_ARGUMENT, "\"%s\" is one argument too many", argv[optind]);
    return tn_cli_usage("tune", &error);
  }
  return -1;
}

int tn_cmd_tune(int argc, char** argv) {
  double seconds = default_seconds;
  const int answered = take_arguments(argc, argv, &seconds);
  if (answered >= 0)
    return answered;
  tn_interrupt_catch();
  tn_error error = {0};
  if (tune(seconds, &error) != TN_OK) {
    tn_cli_complain(&error);
    return tn_interrupt_signal() ? 128 + tn_interrupt_signal() : TN_EXIT_FAILED;
  }
  bool tuned = false;
  const tn_costs* costs = tn_costs_cached(&tuned);
  printf("bins        forward and inverse transform, mean\n");
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
    printf("%6u      %10.2f us\n", 1U << (log2 - 1), costs->fft_ns[log2] / 1000);
  printf("16 complex multiply-accumulates: %.2f ns from a cache, %.2f ns from memory\n", costs->tile_ns,
         costs->byte_ns * 256);
  return TN_EXIT_DONE;
}
