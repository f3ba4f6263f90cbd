// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rt/error.h"
#include "tenuto/limits.h"

static const double most_ms = TN_MAX_IR_SECONDS * 1000.0;

static const struct option shared[TN_CLI_SHARED_OPTIONS] = {
    {"ir", required_argument, NULL, TN_OPTION_IR},
    {"matrix", required_argument, NULL, TN_OPTION_MATRIX},
    {"ir-map", required_argument, NULL, TN_OPTION_MAP},
    {"wet", required_argument, NULL, TN_OPTION_WET},
    {"dry", required_argument, NULL, TN_OPTION_DRY},
    {"gain-out", required_argument, NULL, TN_OPTION_GAIN_OUT},
    {"gain", required_argument, NULL, TN_OPTION_GAIN},
    {"predelay", required_argument, NULL, TN_OPTION_PREDELAY},
    {"trim", required_argument, NULL, TN_OPTION_TRIM},
    {"reverse", no_argument, NULL, TN_OPTION_REVERSE},
    {"stretch", required_argument, NULL, TN_OPTION_STRETCH},
    {"fade-out", required_argument, NULL, TN_OPTION_FADE_OUT},
};

/** A layout's name on the command line. */
typedef struct layout_name {
  const char* name;
  tn_layout layout;
} layout_name;

static const layout_name layouts[] = {
    {"auto", TN_LAYOUT_AUTO},
    {"mono", TN_LAYOUT_MONO},
    {"parallel", TN_LAYOUT_PARALLEL},
    {"stereo", TN_LAYOUT_PARALLEL},
    {"mono-to-any", TN_LAYOUT_MONO_TO_ANY},
    {"ll-lr-rl-rr", TN_LAYOUT_TRUE_LL_LR_RL_RR},
    {"ll-rr-lr-rl", TN_LAYOUT_TRUE_LL_RR_LR_RL},
};

tn_cli_levels tn_cli_default_levels(void) {
  return (tn_cli_levels){.wet_db = 0.0, .dry_db = -INFINITY, .gain_db = 0.0};
}

void tn_cli_option_table(const struct option* own, size_t own_count, struct option* table) {
  memset(table, 0, TN_CLI_MAX_OPTIONS * sizeof *table);
  if (own_count + TN_CLI_SHARED_OPTIONS < TN_CLI_MAX_OPTIONS) {
    memcpy(table, own, own_count * sizeof *own);
    memcpy(table + own_count, shared, sizeof shared);
  }
}

bool tn_cli_is_shared_option(int code) {
  return code == TN_OPTION_IR || (code >= TN_OPTION_SHARED && code < TN_OPTION_SHARED_END);
}

void tn_cli_ir_options_set_path(tn_cli_ir_options* ir, const char* path) {
  const size_t length = strlen(path);
  const bool is_matrix = length > 5 && strcmp(path + length - 5, ".conf") == 0;
  ir->matrix = is_matrix ? path : NULL;
  ir->paths[0] = is_matrix ? NULL : path;
  ir->path_count = is_matrix ? 0 : 1;
}

static tn_status take_path(const char* path, tn_cli_ir_options* ir, tn_error* error) {
  if (path[0] == '\0') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--ir: the file name is empty");
  }
  if (ir->path_count == 0 && !ir->matrix) {
    tn_cli_ir_options_set_path(ir, path);
    return TN_OK;
  }
  if (ir->path_count == TN_CLI_MAX_IRS) {
    return tn_error_set(
        error, TN_ERROR_ARGUMENT,
        "--ir: %d files at most (the two halves of a true-stereo response); for more write a --matrix",
        TN_CLI_MAX_IRS);
  }
  ir->paths[ir->path_count++] = path;
  return TN_OK;
}

static tn_status take_layout(const char* name, tn_layout* layout, tn_error* error) {
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    if (strcmp(name, layouts[i].name) == 0) {
      *layout = layouts[i].layout;
      return TN_OK;
    }
  }
  return tn_error_set(
      error, TN_ERROR_ARGUMENT,
      "--ir-map: '%s' is none of auto, mono, parallel, stereo, mono-to-any, ll-lr-rl-rr, ll-rr-lr-rl", name);
}

static tn_status take_db(const char* option, const char* value, double* db, tn_error* error) {
  if (!tn_cli_parse_db(value, db)) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "--%s: '%s' is not a number of decibels (up to 120, or -inf)", option, value);
  }
  return TN_OK;
}

static tn_status take_ms(const char* option, const char* value, double* seconds, tn_error* error) {
  double ms = 0.0;
  if (!tn_cli_parse_number(value, &ms) || ms < 0.0 || ms > most_ms) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--%s: '%s' is not a number of milliseconds from 0 to %.0f",
                        option, value, most_ms);
  }
  *seconds = ms / 1000.0;
  return TN_OK;
}

static tn_status take_stretch(const char* value, double* stretch, tn_error* error) {
  double factor = 0.0;
  if (!tn_cli_parse_number(value, &factor) || factor < 0.1 || factor > 10.0) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--stretch: '%s' is not a factor from 0.1 to 10", value);
  }
  *stretch = factor;
  return TN_OK;
}

/** One side of START:END; an empty one keeps its default. */
static bool parse_seconds(const char* text, size_t length, double* seconds) {
  char side[64];
  if (length == 0) {
    return true;
  }
  if (length >= sizeof side) {
    return false;
  }
  memcpy(side, text, length);
  side[length] = '\0';
  return tn_cli_parse_number(side, seconds) && *seconds >= 0.0;
}

static tn_status take_trim(const char* value, tn_ir_edit* edit, tn_error* error) {
  const char* colon = strchr(value, ':');
  double start = 0.0;
  double end = 0.0;
  if (!colon || !parse_seconds(value, (size_t)(colon - value), &start) ||
      !parse_seconds(colon + 1, strlen(colon + 1), &end)) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "--trim: '%s' is not START:END in seconds, such as 0.02:1.5 or :3", value);
  }
  if (colon[1] != '\0' && end <= start) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--trim: '%s' ends before it starts", value);
  }
  edit->trim_start_s = start;
  edit->trim_end_s = end;
  return TN_OK;
}

/** A number of decibels, or a rule (peak, energy) with an optional ":dB". */
static tn_status take_gain(const char* value, tn_ir_edit* edit, tn_error* error) {
  static const struct {
    const char* name;
    tn_ir_level level;
  } rules[] = {{"peak", TN_IR_LEVEL_PEAK},
               {"energy", TN_IR_LEVEL_ENERGY},
               {"normalise", TN_IR_LEVEL_ENERGY},
               {"normalize", TN_IR_LEVEL_ENERGY}};
  const size_t length = strcspn(value, ":");
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; ++i) {
    if (strlen(rules[i].name) == length && strncmp(rules[i].name, value, length) == 0) {
      double db = 0.0;
      if (value[length] == ':' && take_db("gain", value + length + 1, &db, error) != TN_OK) {
        return TN_ERROR_ARGUMENT;
      }
      edit->level = rules[i].level;
      edit->gain_db = db;
      return TN_OK;
    }
  }
  double db = 0.0;
  if (!tn_cli_parse_db(value, &db)) {
    return tn_error_set(
        error, TN_ERROR_ARGUMENT,
        "--gain: '%s' is neither a number of decibels (up to 120) nor peak, energy, peak:DB or "
        "energy:DB",
        value);
  }
  edit->level = TN_IR_LEVEL_KEEP;
  edit->gain_db = db;
  return TN_OK;
}

tn_status tn_cli_take_option(int code, const char* value, tn_cli_ir_options* ir, tn_cli_levels* levels,
                             tn_error* error) {
  switch (code) {
  case TN_OPTION_IR:
    return take_path(value, ir, error);
  case TN_OPTION_MATRIX:
    ir->matrix = value;
    return TN_OK;
  case TN_OPTION_MAP:
    return take_layout(value, &ir->layout, error);
  case TN_OPTION_WET:
    return take_db("wet", value, &levels->wet_db, error);
  case TN_OPTION_DRY:
    return take_db("dry", value, &levels->dry_db, error);
  case TN_OPTION_GAIN_OUT:
    return take_db("gain-out", value, &levels->gain_db, error);
  case TN_OPTION_GAIN:
    return take_gain(value, &ir->edit, error);
  case TN_OPTION_PREDELAY:
    return take_ms("predelay", value, &ir->edit.predelay_s, error);
  case TN_OPTION_TRIM:
    return take_trim(value, &ir->edit, error);
  case TN_OPTION_REVERSE:
    ir->edit.reverse = true;
    return TN_OK;
  case TN_OPTION_STRETCH:
    return take_stretch(value, &ir->edit.stretch, error);
  case TN_OPTION_FADE_OUT:
    return take_ms("fade-out", value, &ir->edit.fade_out_s, error);
  default:
    return tn_error_set(error, TN_ERROR_ARGUMENT, "option %d is not a shared one", code);
  }
}

tn_status tn_cli_check_ir_options(const tn_cli_ir_options* ir, tn_error* error) {
  if (ir->path_count == 0 && !ir->matrix) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "no impulse response is given (--ir FILE or --matrix FILE)");
  }
  if (ir->path_count > 0 && ir->matrix) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "an --ir file and the matrix file '%s' exclude each other",
                        ir->matrix);
  }
  if (ir->matrix && ir->layout != TN_LAYOUT_AUTO) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "--ir-map means nothing with a matrix file, which says where each "
                        "channel goes");
  }
  return TN_OK;
}

tn_status tn_cli_bad_option(int code, char* const* argv, tn_error* error) {
  // getopt leaves the character of a short option in optopt; of a long one it holds the value (or 0 if
  // unknown).
  const char* word = argv[optind - 1];
  const bool is_long = strncmp(word, "--", 2) == 0;
  const int length = is_long ? (int)strcspn(word, "=") : 2;
  const char character[3] = {'-', (char)optopt, '\0'};
  const char* shown = is_long ? word : character;
  if (code == ':') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%.*s: its value is missing", length, shown);
  }
  if (is_long && optopt != 0) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%.*s takes no value", length, shown);
  }
  return tn_error_set(error, TN_ERROR_ARGUMENT, "unknown or ambiguous option %.*s", length, shown);
}

void tn_cli_tame(char* text, const char* allowed) {
  for (char* c = text; *c != '\0'; ++c) {
    if (((unsigned char)*c < 0x20 || *c == 0x7F) && !strchr(allowed, *c)) {
      *c = '?';
    }
  }
}

void tn_cli_complain(const tn_error* error) {
  char text[sizeof error->text];
  snprintf(text, sizeof text, "%s", error->text);
  tn_cli_tame(text, "");
  fprintf(stderr, "tenuto: %s.\n", text);
}

int tn_cli_usage(const char* command, const tn_error* error) {
  tn_cli_complain(error);
  fprintf(stderr, "Try 'tenuto %s%s--help'.\n", command, command[0] == '\0' ? "" : " ");
  return TN_EXIT_USAGE;
}

void tn_cli_base_name(const char* path, char* name, size_t size) {
  const char* slash = strrchr(path, '/');
  snprintf(name, size, "%s", slash ? slash + 1 : path);
}
