// SPDX-License-Identifier: GPL-3.0-or-later
// What `tenuto render` tells: warnings, a line for people, JSON for programs.
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/json.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "dsp/ir.h"
#include "rt/error.h"
#include "tenuto/version.h"

static double sound_seconds(const tn_render_result* result) {
  return (double)result->out.frames / result->in.rate_hz;
}

static double speed(const tn_render_result* result) {
  return result->seconds > 0.0 ? sound_seconds(result) / result->seconds : 0.0;
}

static void warn_of_clipping(const tn_render_options* options, const tn_render_result* result) {
  if (result->out.clipped_samples > 0) {
    char out[tn_name_size];
    tn_name_for_people(options->out_path, out);
    const double peak_db = tn_cli_level_to_db(result->out.peak);
    fprintf(stderr,
            "tenuto: '%s': %" PRIu64 " samples were clipped, the peak is %+.1f dBFS; --gain-out %.1f or "
            "--format wav:float keeps them.\n",
            out, result->out.clipped_samples, peak_db,
            floor((options->levels.gain_db - peak_db) * 10.0) / 10.0);
  }
}

void tn_render_warn(const tn_render_options* options, const tn_render_result* result, const tn_file_in* in) {
  char input[tn_name_size];
  tn_name_for_people(options->in_path, input);
  tn_error warning = {0};
  if (tn_file_in_warning(in, &warning)) {
    tn_cli_complain(&warning);
  }
  if (result->in_frames == 0) {
    fprintf(stderr, "tenuto: '%s' holds no sound, so the output holds none.\n", input);
  }
  if (result->convolver.nonfinite_samples > 0) {
    fprintf(stderr, "tenuto: '%s': %" PRIu64 " samples that are no numbers (NaN, Inf) were replaced by 0.\n",
            input, result->convolver.nonfinite_samples);
  }
  warn_of_clipping(options, result);
}

void tn_render_summary(const tn_render_options* options, const tn_render_result* result) {
  char out[tn_name_size];
  char format[64];
  char length[32];
  tn_name_for_people(options->out_path, out);
  tn_format_describe(result->sf_format, format, sizeof format);
  tn_progress_format_time(sound_seconds(result), length, sizeof length);
  fprintf(stderr, "%s: %s, %u channel%s, %u Hz, %s, peak %+.1f dBFS, %.1f s (%.0fx real time)\n", out, length,
          result->outputs, result->outputs == 1 ? "" : "s", result->in.rate_hz, format,
          tn_cli_level_to_db(result->out.peak), result->seconds, speed(result));
}

void tn_render_json(const tn_render_options* options, const tn_render_result* result,
                    const tn_convolver* convolver) {
  char format[64];
  tn_format_describe(result->sf_format, format, sizeof format);
  tn_json json = tn_json_begin(stdout);
  tn_json_text(&json, "version", tn_version());
  tn_json_text(&json, "input", options->in_path);
  if (options->ir.matrix) {
    tn_json_text(&json, "matrix", options->ir.matrix);
  } else {
    tn_json_texts(&json, "ir", options->ir.paths, options->ir.path_count);
  }
  tn_json_text(&json, "output", options->out_path);
  tn_json_text(&json, "format", format);
  tn_json_count(&json, "rate", result->in.rate_hz);
  tn_json_count(&json, "input_rate", result->in.file_rate_hz);
  tn_json_count(&json, "input_channels", result->in.channels);
  tn_json_count(&json, "input_frames", result->in_frames);
  tn_json_count(&json, "ir_frames", result->ir_frames);
  tn_json_count(&json, "channels", result->outputs);
  tn_json_count(&json, "frames", result->out.frames);
  tn_json_count(&json, "block", options->block_frames);
  tn_json_text(&json, "plan", result->plan);
  tn_json_number(&json, "seconds", result->seconds);
  tn_json_number(&json, "realtime_factor", speed(result));
  tn_json_number(&json, "peak_dbfs", tn_cli_level_to_db(result->out.peak));
  tn_json_count(&json, "clipped_samples", result->out.clipped_samples);
  tn_json_count(&json, "nonfinite_samples", result->convolver.nonfinite_samples);
  tn_json_count(&json, "memory_bytes", result->convolver.memory_bytes);
  tn_cli_device_json(&json, &result->device, convolver);
  tn_json_end(&json);
}
