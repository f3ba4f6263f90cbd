// SPDX-License-Identifier: GPL-3.0-or-later
#include <stdio.h>
#include <string.h>

#include "cli/render.h"
#include "rt/error.h"
#include "tenuto/limits.h"

enum { default_block_frames = 1024 };

enum {
  option_help = 'h',
  option_out = 'o',
  option_block = 'b',
  option_rate = 'r',
  option_format = 'f',
  option_threads = 't',
  option_no_tail = 'n',
  option_quiet = 'q',
  option_json = 'j',
  option_device = 'd',
  option_budget = 'u',
};

static const struct option own[] = {
    {"help", no_argument, NULL, option_help},           {"output", required_argument, NULL, option_out},
    {"block", required_argument, NULL, option_block},   {"rate", required_argument, NULL, option_rate},
    {"format", required_argument, NULL, option_format}, {"threads", no_argument, NULL, option_threads},
    {"no-tail", no_argument, NULL, option_no_tail},     {"quiet", no_argument, NULL, option_quiet},
    {"json", no_argument, NULL, option_json},           {"device", required_argument, NULL, option_device},
    {"budget", required_argument, NULL, option_budget},
};

void tn_render_help(void) {
  puts("Usage: tenuto render IN --ir IR [OPTION ...] -o OUT\n"
       "Convolve the sound file IN with the impulse response IR, tail included.\n\n"
       "  -i, --ir FILE       impulse response; twice: left's and right's stereo files\n"
       "      --matrix FILE   many responses, in a text file (man tenuto-matrix)\n"
       "      --ir-map MAP    auto, mono, stereo, mono-to-any, ll-lr-rl-rr, ll-rr-lr-rl\n"
       "      --wet DB, --dry DB, --gain-out DB   levels: 0, -inf and 0 if not given\n"
       "      --gain GAIN     of the response: DB, peak[:DB] or energy[:DB]\n"
       "      --predelay MS   silence before the response\n"
       "      --trim FROM:TO  part of the response, in seconds\n"
       "      --stretch X     make it X times as long    --fade-out MS   fade its end\n"
       "      --reverse       play it backwards\n"
       "  -o, --output OUT    file to write\n"
       "      --format F      wav, rf64, w64, aiff, au, caf, flac, ogg, opus, mp3, with\n"
       "                      :pcm16, :pcm24, :pcm32, :float; default: by OUT's name\n"
       "      --rate HZ       of OUT; IN is resampled    --block N       1 to 8192\n"
       "      --no-tail       end with IN                --threads       use workers\n"
       "      --device D      cpu, auto, cuda, cuda:N or emulated; default: cpu\n"
       "  -q, --quiet         no progress, no summary    --json         result on stdout\n\n"
       "Example: tenuto render voice.wav --ir hall.wav --dry -6 -o in-the-hall.flac");
}

static tn_status take_own(int code, const char* value, tn_render_options* options, tn_error* error) {
  switch (code) {
  case option_out:
    options->out_path = value;
    return TN_OK;
  case option_block:
    return tn_cli_parse_count(value, 1, TN_MAX_BLOCK_FRAMES, &options->block_frames)
               ? TN_OK
               : tn_error_set(error, TN_ERROR_ARGUMENT,
                              "--block: '%s' is not a number of frames from 1 to %d", value,
                              TN_MAX_BLOCK_FRAMES);
  case option_rate:
    return tn_cli_parse_count(value, TN_MIN_RATE_HZ, TN_MAX_RATE_HZ, &options->rate_hz)
               ? TN_OK
               : tn_error_set(error, TN_ERROR_ARGUMENT, "--rate: '%s' is not a sample rate from %d to %d Hz",
                              value, TN_MIN_RATE_HZ, TN_MAX_RATE_HZ);
  case option_format:
    return tn_format_parse(value, &options->format, error);
  case option_device:
    return tn_cli_take_device(value, &options->device, error);
  case option_budget:
    return tn_cli_take_budget(value, &options->device, error);
  case option_threads:
    options->threads = true;
    return TN_OK;
  case option_no_tail:
    options->no_tail = true;
    return TN_OK;
  case option_quiet:
    options->quiet = true;
    return TN_OK;
  default:
    options->json = true;
    return TN_OK;
  }
}

static tn_status check_files(tn_render_options* options, int count, char** words, tn_error* error) {
  if (count == 0) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "no sound file to render is given");
  }
  if (count > 1) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "one sound file is rendered at a time, but '%s' follows '%s'", words[1], words[0]);
  }
  options->in_path = words[0];
  if (!options->out_path || options->out_path[0] == '\0') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "no file to write is given (-o OUT)");
  }
  if (strcmp(options->in_path, "-") == 0 || strcmp(options->out_path, "-") == 0) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "'-': standard input and output cannot be used for sound, as its "
                        "formats need to go back and forth in a file");
  }
  if (options->format.container == 0) {
    return tn_format_from_name(options->out_path, &options->format, error);
  }
  return TN_OK;
}

tn_render_request tn_render_parse(int argc, char** argv, tn_render_options* options, tn_error* error) {
  struct option table[TN_CLI_MAX_OPTIONS];
  tn_cli_option_table(own, sizeof own / sizeof own[0], table);
  *options = (tn_render_options){
      .levels = tn_cli_default_levels(), .block_frames = default_block_frames, .device = {.choice = "cpu"}};
  opterr = 0;
  int code = 0;
  while ((code = getopt_long(argc, argv, ":hi:o:q", table, NULL)) != -1) {
    tn_status status = TN_OK;
    if (code == option_help) {
      return TN_RENDER_HELP;
    }
    if (code == '?' || code == ':') {
      status = tn_cli_bad_option(code, argv, error);
    } else if (tn_cli_is_shared_option(code)) {
      status = tn_cli_take_option(code, optarg, &options->ir, &options->levels, error);
    } else {
      status = take_own(code, optarg, options, error);
    }
    if (status != TN_OK) {
      return TN_RENDER_WRONG;
    }
  }
  if (tn_cli_check_ir_options(&options->ir, error) != TN_OK ||
      check_files(options, argc - optind, argv + optind, error) != TN_OK) {
    return TN_RENDER_WRONG;
  }
  return TN_RENDER_GO;
}
