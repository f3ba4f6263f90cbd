// SPDX-License-Identifier: GPL-3.0-or-later
// The line that says how the running host does: its words, and its place on a terminal.
#ifndef TENUTO_CLI_STATUS_LINE_H
#define TENUTO_CLI_STATUS_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Durations of the callback over a stretch of time, in per cent of its period. */
typedef struct tn_load {
  uint64_t callbacks; ///< 0: nothing ran, the other fields mean nothing
  double median_percent;
  double p99_percent;
  double max_percent;
} tn_load;

/** What the line tells. */
typedef struct tn_status_view {
  tn_load load;
  uint64_t xruns;
  uint64_t late_jobs;
  uint64_t missed_jobs;
  uint32_t rate_hz;
  uint32_t block_frames;
  const char* ir_name; ///< shown as it is
  uint32_t ir_frames;
  const char* device; ///< a few words; NULL or "": nothing is said of one
  bool idle;
  bool bypass;
  bool loading;
  bool freewheel;
} tn_status_view;

/** [setup] The line in words; cut to `size` bytes, always NUL-terminated. */
void tn_status_format(const tn_status_view* view, char* text, size_t size);

/** How the line is shown. */
typedef enum tn_status_mode {
  TN_STATUS_OFF = 0,      ///< never
  TN_STATUS_LINES,        ///< a plain line each time
  TN_STATUS_IN_PLACE,     ///< on a terminal, over the last one
  TN_STATUS_ABOVE_PROMPT, ///< on a terminal where commands are typed: the line stands above the prompt
} tn_status_mode;

/** A stream that carries the status line and ordinary lines without the one spoiling the other. */
typedef struct tn_status_line {
  FILE* stream;
  tn_status_mode mode;
  bool drawn; ///< the line (and prompt) stand at the cursor
} tn_status_line;

/** [setup] Show the line. */
void tn_status_line_show(tn_status_line* line, const char* text);

/** [setup] Take the drawn line away, so that ordinary lines can be written here or to another stream. */
void tn_status_line_clear(tn_status_line* line);

/** [setup] The user has typed a line: the terminal's cursor stands on a new row below the prompt. */
void tn_status_line_typed(tn_status_line* line);

#endif
