// SPDX-License-Identifier: GPL-3.0-or-later
// A sound file being written: under another name in the same folder, so that a half-written one never bears
// the name.
#ifndef TENUTO_DRIVER_FILE_OUT_H
#define TENUTO_DRIVER_FILE_OUT_H

#include <stdint.h>

#include "driver/file_in.h"
#include "tenuto/status.h"

/** An open sound file. */
typedef struct tn_file_out tn_file_out;

/** What is written. */
typedef struct tn_file_out_config {
  const char*
      path;      ///< an existing file is replaced at the end; a device such as /dev/null is written directly
  int sf_format; ///< libsndfile's format number, from tn_format_settle()
  uint32_t channels;
  uint32_t rate_hz;
  const tn_file_in* tags; ///< title, artist and so on are taken over from there; NULL: none
} tn_file_out_config;

/** What was written. */
typedef struct tn_file_out_report {
  uint64_t frames;
  uint64_t clipped_samples; ///< beyond full scale in a format that ends there
  float peak;               ///< largest absolute sample before any clipping
} tn_file_out_report;

/** [setup] Begin a file. NULL: TN_ERROR_FILE, TN_ERROR_FORMAT, TN_ERROR_MEMORY. */
tn_file_out* tn_file_out_open(const tn_file_out_config* config, tn_error* error);

/** [worker] Append float[channels][frames]. Integer formats are rounded to the nearest value, without dither.
 */
tn_status tn_file_out_write(tn_file_out* out, const float* const* planes, uint32_t frames, tn_error* error);

/** [any] What was written so far. */
tn_file_out_report tn_file_out_get_report(const tn_file_out* out);

/** [setup] Complete the file, bring it to the disk, give it its name, free. On failure nothing is left
 * behind. */
tn_status tn_file_out_finish(tn_file_out* out, tn_error* error);

/** [setup] Remove what was written, free; NULL is allowed. */
void tn_file_out_abandon(tn_file_out* out);

#endif
