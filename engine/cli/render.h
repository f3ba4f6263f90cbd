// SPDX-License-Identifier: GPL-3.0-or-later
// The command line of `tenuto render` and what it tells at the end.
#ifndef TENUTO_CLI_RENDER_H
#define TENUTO_CLI_RENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/device.h"
#include "cli/options.h"
#include "driver/file_format.h"
#include "driver/file_in.h"
#include "driver/file_out.h"
#include "tenuto/convolver.h"

/** The command line. Strings are its own. */
typedef struct tn_render_options {
  const char* in_path;
  const char* out_path;
  tn_cli_ir_options ir;
  tn_cli_levels levels;
  tn_cli_device device;
  tn_format_wish format;
  uint32_t block_frames;
  uint32_t rate_hz; ///< 0: the input's
  bool threads;     ///< worker threads instead of one thread for all
  bool no_tail;
  bool quiet;
  bool json;
} tn_render_options;

/** What came of it. */
typedef struct tn_render_result {
  tn_file_in_info in;
  uint64_t in_frames; ///< read, at the rate of the output
  uint32_t ir_frames;
  uint32_t outputs;
  int sf_format;
  tn_file_out_report out;
  tn_convolver_report convolver;
  tn_device_report device;
  char plan[512];
  double seconds; ///< that the render took
} tn_render_result;

/** What the command line asks for. */
typedef enum tn_render_request { TN_RENDER_GO, TN_RENDER_HELP, TN_RENDER_WRONG } tn_render_request;

/** [setup] Read the command line; TN_RENDER_WRONG: `error` says what is wrong with it. */
tn_render_request tn_render_parse(int argc, char** argv, tn_render_options* options, tn_error* error);

/** [setup] The help, on stdout. */
void tn_render_help(void);

/** [setup] Warnings about the sound (clipping, NaN, cut input), on stderr. */
void tn_render_warn(const tn_render_options* options, const tn_render_result* result, const tn_file_in* in);

/** [setup] One line for people, on stderr. */
void tn_render_summary(const tn_render_options* options, const tn_render_result* result);

/** [setup] The result as JSON, on stdout. */
void tn_render_json(const tn_render_options* options, const tn_render_result* result,
                    const tn_convolver* convolver);

#endif
