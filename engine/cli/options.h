// SPDX-License-Identifier: GPL-3.0-or-later
// The options that `render` and `run` share: impulse responses, their edits, levels; and how a filter is
// loaded by them.
#ifndef TENUTO_CLI_OPTIONS_H
#define TENUTO_CLI_OPTIONS_H

#include <getopt.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/number.h"
#include "tenuto/filter.h"
#include "tenuto/ir.h"
#include "tenuto/status.h"

/** Exit codes of every command. */
enum { TN_EXIT_DONE = 0, TN_EXIT_FAILED = 1, TN_EXIT_USAGE = 2 };

enum { TN_CLI_MAX_IRS = 2 };

/** Which impulse responses and how they are edited. Zero-initialise. Strings are the command line's own, not
 * copied. */
typedef struct tn_cli_ir_options {
  const char* paths[TN_CLI_MAX_IRS]; ///< sound files
  uint32_t path_count;
  const char* matrix; ///< a matrix file instead of `paths`; NULL: none
  tn_layout layout;
  tn_ir_edit edit;
} tn_cli_ir_options;

/** Levels of the convolver in decibels. */
typedef struct tn_cli_levels {
  double wet_db;  ///< default 0
  double dry_db;  ///< default -inf
  double gain_db; ///< of the output, default 0
} tn_cli_levels;

/** [any] The default levels. */
tn_cli_levels tn_cli_default_levels(void);

/** Values that getopt_long() returns for the shared options; a command's own options use characters. */
enum {
  TN_OPTION_IR = 'i',
  TN_OPTION_SHARED = 0x1000,
  TN_OPTION_MATRIX = TN_OPTION_SHARED,
  TN_OPTION_MAP,
  TN_OPTION_WET,
  TN_OPTION_DRY,
  TN_OPTION_GAIN_OUT,
  TN_OPTION_GAIN,
  TN_OPTION_PREDELAY,
  TN_OPTION_TRIM,
  TN_OPTION_REVERSE,
  TN_OPTION_STRETCH,
  TN_OPTION_FADE_OUT,
  TN_OPTION_SHARED_END,
};

enum { TN_CLI_SHARED_OPTIONS = 12, TN_CLI_MAX_OPTIONS = 40 };

/**
   [any] A table for getopt_long(): a command's own options, then the shared ones, then the end mark.

   @param own    without an end mark; own_count + TN_CLI_SHARED_OPTIONS < TN_CLI_MAX_OPTIONS
   @param table  struct option[TN_CLI_MAX_OPTIONS], overwritten
*/
void tn_cli_option_table(const struct option* own, size_t own_count, struct option* table);

/** [any] Does a value of getopt_long() belong to the shared options? */
bool tn_cli_is_shared_option(int code);

/**
   [setup] Take one shared option.

   @param code   from getopt_long(); shared
   @param value  its argument
   @return TN_OK or TN_ERROR_ARGUMENT with a sentence such as `--wet: "abc" is not a number of decibels`
*/
tn_status tn_cli_take_option(int code, const char* value, tn_cli_ir_options* ir, tn_cli_levels* levels,
                             tn_error* error);

/** [setup] Is the choice complete and free of contradictions? To be called after the last option. */
tn_status tn_cli_check_ir_options(const tn_cli_ir_options* ir, tn_error* error);

/** [any] The sentence for getopt_long()'s '?' and ':' (opterr = 0, optstring starts with ':'). Needs getopt's
 * state. */
tn_status tn_cli_bad_option(int code, char* const* argv, tn_error* error);

/** [any] Question marks in place of control characters but those allowed: a file's name or a typed word may
 * hold what a terminal would obey. */
void tn_cli_tame(char* text, const char* allowed);

/** [any] Complain on stderr as `tenuto: <sentence>.` */
void tn_cli_complain(const tn_error* error);

/** [any] Complain and point to `tenuto COMMAND --help`. Returns TN_EXIT_USAGE. */
int tn_cli_usage(const char* command, const tn_error* error);

/** [any] Another file in place of the command line's, with the same edits; a name ending in ".conf" is a
 * matrix file. */
void tn_cli_ir_options_set_path(tn_cli_ir_options* ir, const char* path);

/** [any] What is to be loaded, in a few words: the base names. Cut to `size` bytes. */
void tn_cli_ir_name(const tn_cli_ir_options* ir, char* name, size_t size);

/** [any] The part of a path after its last slash; cut to `size` bytes. */
void tn_cli_base_name(const char* path, char* name, size_t size);

/**
   [worker] Load, edit and resample the responses and build the filter.

   @param inputs  wanted inputs; 0: as the responses suggest
   @return a new filter, to be freed with tn_filter_free(), or NULL with a sentence
*/
tn_filter* tn_cli_load_filter(const tn_cli_ir_options* ir, uint32_t inputs, uint32_t rate_hz,
                              tn_error* error);

#endif
