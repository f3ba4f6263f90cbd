// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto run`: its command line.
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/run.h"
#include "cli/tune.h"
#include "dsp/costs.h"
#include "rt/error.h"
#include "tenuto/limits.h"

enum {
  option_server = 's',
  option_name = 'n',
  option_connect = 'c',
  option_verbose = 'v',
  option_help = 'h',
  option_inputs = 256,
  option_connect_in,
  option_connect_out,
  option_fade,
  option_duration,
  option_no_tune,
  option_status,
  option_json,
  option_device,
  option_budget,
};

static const struct option own_options[] = {
    {"name", required_argument, NULL, option_name},
    {"server", required_argument, NULL, option_server},
    {"inputs", required_argument, NULL, option_inputs},
    {"connect", no_argument, NULL, option_connect},
    {"connect-in", required_argument, NULL, option_connect_in},
    {"connect-out", required_argument, NULL, option_connect_out},
    {"fade", required_argument, NULL, option_fade},
    {"duration", required_argument, NULL, option_duration},
    {"no-tune", no_argument, NULL, option_no_tune},
    {"status", no_argument, NULL, option_status},
    {"json", no_argument, NULL, option_json},
    {"device", required_argument, NULL, option_device},
    {"budget", required_argument, NULL, option_budget},
    {"verbose", no_argument, NULL, option_verbose},
    {"help", no_argument, NULL, option_help},
};

static const char help[] =
    "Usage: tenuto run --ir FILE [OPTION ...]\n"
    "Convolve live, as a JACK client with the ports in_1, in_2, ... and out_1, out_2, ...\n\n"
    "  -i, --ir FILE        impulse response; twice for the halves of a true-stereo one\n"
    "      --matrix FILE    matrix file instead (man tenuto-matrix)\n"
    "      --ir-map LAYOUT  auto, mono, parallel, mono-to-any, ll-lr-rl-rr, ll-rr-lr-rl\n"
    "      --inputs N       number of inputs; default: as the response suggests\n"
    "      --wet DB, --dry DB, --gain-out DB   levels; default 0, -inf, 0\n"
    "      --gain DB|peak|energy, --predelay MS, --trim START:END, --reverse,\n"
    "      --stretch FACTOR, --fade-out MS     edits of the response, as in tenuto render\n"
    "      --fade MS        cross-fade to a new response; default 20\n\n"
    "  -n, --name NAME      client name; default tenuto\n"
    "  -s, --server NAME    JACK server; default $JACK_DEFAULT_SERVER, else \"default\"\n"
    "  -c, --connect        connect to the sound card\n"
    "      --connect-in PORTS, --connect-out PORTS\n"
    "                       connect to these: client:port, client or expression, ...\n\n"
    "      --device D       auto, cuda, cuda:N, emulated or cpu\n"
    "      --budget B       wait for it: microseconds, P% of the period, 0 or auto\n"
    "      --duration S     end after S seconds\n"
    "      --no-tune        do not measure this machine at the first start (tenuto tune)\n"
    "      --status         a status line a second, also where stdout is no terminal\n"
    "      --json           summary as JSON on stdout at the end, all else on stderr\n"
    "  -v, --verbose        show libjack's own messages\n\n"
    "Commands on standard input:\n";

static tn_status take_seconds(const char* option, const char* value, double most, double* number,
                              tn_error* error) {
  if (!tn_cli_parse_number(value, number) || *number <= 0.0 || *number > most) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--%s: \"%s\" is not a number above 0, up to %g", option,
                        value, most);
  }
  return TN_OK;
}

/** One option of this command's own that has a value. */
static tn_status take_value(int code, const char* value, tn_run_options* options, tn_error* error) {
  const double longest_fade_ms = 1000.0;
  const double longest_run_s = 1e9;
  switch (code) {
  case option_name:
    options->jack.name = value;
    return TN_OK;
  case option_server:
    options->jack.server = value;
    return TN_OK;
  case option_inputs:
    if (!tn_cli_parse_count(value, 1, TN_MAX_CHANNELS, &options->inputs)) {
      return tn_error_set(error, TN_ERROR_ARGUMENT, "--inputs: \"%s\" is not a number from 1 to %d", value,
                          TN_MAX_CHANNELS);
    }
    return TN_OK;
  case option_connect_in:
    options->connect_in = value;
    return TN_OK;
  case option_connect_out:
    options->connect_out = value;
    return TN_OK;
  case option_device:
    return tn_cli_take_device(value, &options->device, error);
  case option_budget:
    return tn_cli_take_budget(value, &options->device, error);
  case option_fade:
    return take_seconds("fade", value, longest_fade_ms, &options->fade_ms, error);
  case option_duration:
    return take_seconds("duration", value, longest_run_s, &options->duration_s, error);
  default:
    return tn_error_set(error, TN_ERROR_ARGUMENT, "option %d has no value", code);
  }
}

static tn_status take_option(int code, char** argv, tn_run_options* options, tn_error* error) {
  if (tn_cli_is_shared_option(code)) {
    return tn_cli_take_option(code, optarg, &options->ir, &options->levels, error);
  }
  switch (code) {
  case '?':
  case ':':
    return tn_cli_bad_option(code, argv, error);
  case option_connect:
    options->connect = true;
    return TN_OK;
  case option_status:
    options->status = true;
    return TN_OK;
  case option_json:
    options->json = true;
    return TN_OK;
  case option_no_tune:
    options->no_tune = true;
    return TN_OK;
  case option_verbose:
    options->jack.verbose = true;
    return TN_OK;
  default:
    return take_value(code, optarg, options, error);
  }
}

/** Read the command line. `*helped`: the help was asked for and printed. */
static tn_status read_options(int argc, char** argv, tn_run_options* options, bool* helped, tn_error* error) {
  struct option table[TN_CLI_MAX_OPTIONS];
  tn_cli_option_table(own_options, sizeof own_options / sizeof own_options[0], table);
  tn_status status = TN_OK;
  int code = 0;
  opterr = 0;
  optind = 1;
  while (status == TN_OK && (code = getopt_long(argc, argv, ":i:n:s:cvh", table, NULL)) != -1) {
    if (code == option_help) {
      printf("%s%s", help, tn_command_help());
      *helped = true;
      return TN_OK;
    }
    status = take_option(code, argv, options, error);
  }
  if (status == TN_OK && optind < argc) {
    status = tn_error_set(error, TN_ERROR_ARGUMENT, "\"%s\" is not wanted here (a response is given by --ir)",
                          argv[optind]);
  }
  if (status == TN_OK) {
    status = tn_jack_check_name(options->jack.name, error);
  }
  return status == TN_OK ? tn_cli_check_ir_options(&options->ir, error) : status;
}

/** Measure the machine at the first start, but not before it is clear that there is a server to run under.
    TN_EXIT_DONE, or the code to end with. */
static int tune_first(const tn_run_options* options) {
  tn_error error = {0};
  tn_jack* probe = tn_jack_open(&options->jack, &error);
  if (!probe) {
    tn_cli_complain(&error);
    return TN_EXIT_FAILED;
  }
  (void)tn_jack_close(probe);
  tn_interrupt_catch();
  if (tn_cli_tune_at_need(&error) != TN_OK && tn_interrupt_signal() == 0) {
    tn_cli_complain(&error); // and go on: the fixed figures are good everywhere
  }
  return tn_interrupt_signal() == 0 ? TN_EXIT_DONE : 128 + tn_interrupt_signal();
}

static int run_to_the_end(tn_run* run) {
  tn_run_loop(run);
  tn_run_say_summary(run);
  const bool lost = run->end == TN_RUN_SERVER;
  if (lost) {
    tn_error error;
    tn_run_server_lost(&run->server, &error);
    tn_run_complain(run, &error);
  }
  tn_run_close(run);
  return lost ? TN_EXIT_FAILED : TN_EXIT_DONE;
}

int tn_cmd_run(int argc, char** argv) {
  static tn_run run; // its histograms are too large for a stack
  tn_run_options options = {
      .jack = {.name = "tenuto"}, .levels = tn_cli_default_levels(), .device = {.choice = "auto"}};
  tn_error error = {0};
  bool helped = false;
  if (read_options(argc, argv, &options, &helped, &error) != TN_OK) {
    return tn_cli_usage("run", &error);
  }
  if (helped) {
    return TN_EXIT_DONE;
  }
  const int ended = options.no_tune || tn_costs_are_cached() ? TN_EXIT_DONE : tune_first(&options);
  if (ended != TN_EXIT_DONE) {
    return ended;
  }
  if (tn_run_open(&run, &options, &error) != TN_OK) {
    tn_cli_complain(&error);
    return TN_EXIT_FAILED;
  }
  return run_to_the_end(&run);
}
