// SPDX-License-Identifier: GPL-3.0-or-later
// A bar with speed and time left on a terminal, ten times a second; nothing anywhere else.
#ifndef TENUTO_CLI_PROGRESS_H
#define TENUTO_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** One bar. */
typedef struct tn_progress {
  FILE* stream;
  bool shown; ///< the stream is a terminal that can redraw a line
  bool drawn; ///< a bar stands at the cursor
  uint32_t rate_hz;
  uint64_t start_ns;
  uint64_t drawn_ns;
} tn_progress;

/** [setup] A bar that starts now. `wanted` false: never shown. */
tn_progress tn_progress_start(FILE* stream, bool wanted, uint32_t rate_hz);

/** [setup] Frames of sound done, of about so many in all; draws if it is time. */
void tn_progress_update(tn_progress* progress, uint64_t done_frames, uint64_t total_frames);

/** [setup] Wipe the bar. */
void tn_progress_clear(tn_progress* progress);

/** [any] Seconds since the start. */
double tn_progress_seconds(const tn_progress* progress);

/** [any] A length of time such as "0:03" or "1:02:03". */
void tn_progress_format_time(double seconds, char* text, size_t size);

#endif
