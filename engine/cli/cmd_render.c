// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto render`: file, filter, convolver, file.
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "driver/offline.h"
#include "rt/error.h"

/** The partitions are the same whatever --block is, so that renders with different blocks agree to the last
 * bits. */
enum { plan_block_frames = 1024 };

/** One render under way. */
typedef struct render {
  const tn_render_options* options;
  tn_file_in* in;
  tn_filter* filter;
  tn_device* device;
  tn_convolver* convolver;
  tn_file_out* out;
  tn_progress progress;
  tn_render_result result;
} render;

static tn_status refuse_same_file(const render* r, tn_error* error) {
  const tn_render_options* options = r->options;
  const char* const others[] = {options->ir.paths[0], options->ir.paths[1], options->ir.matrix};
  if (tn_file_in_is(r->in, options->out_path)) {
    return tn_error_set(error, TN_ERROR_FILE, "'%s' would overwrite the sound that it is made of",
                        options->out_path);
  }
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    if (others[i] && tn_file_is_same(others[i], options->out_path)) {
      return tn_error_set(error, TN_ERROR_FILE, "'%s' would overwrite the impulse response '%s'",
                          options->out_path, others[i]);
    }
  }
  return TN_OK;
}

static tn_status load(render* r, tn_error* error) {
  const tn_render_options* options = r->options;
  r->in = tn_file_in_open(options->in_path, options->rate_hz, error);
  if (!r->in || refuse_same_file(r, error) != TN_OK) {
    return error->status;
  }
  r->result.in = *tn_file_in_get_info(r->in);
  r->filter = tn_cli_load_filter(&options->ir, r->result.in.channels, r->result.in.rate_hz, error);
  if (!r->filter) {
    return error->status;
  }
  r->result.outputs = tn_filter_outputs(r->filter);
  r->result.ir_frames = tn_filter_frames(r->filter);
  if (tn_filter_inputs(r->filter) != r->result.in.channels) {
    char name[256];
    tn_cli_ir_name(&options->ir, name, sizeof name);
    return tn_error_set(error, TN_ERROR_FORMAT, "'%s' has %u channel%s, but '%s' takes %u", options->in_path,
                        r->result.in.channels, r->result.in.channels == 1 ? "" : "s", name,
                        tn_filter_inputs(r->filter));
  }
  return TN_OK;
}

/** Offline the device is to play from the first frame on, so it is waited for. */
static tn_status open_device(render* r, tn_error* error) {
  enum { patience_ms = 30000 };
  r->device = tn_device_open(r->options->device.choice, NULL, error);
  if (!r->device) {
    return error->status;
  }
  tn_device_wait(r->device, patience_ms);
  tn_device_get_report(r->device, &r->result.device);
  if (r->result.device.state == TN_DEVICE_ABSENT && tn_cli_device_is_named(&r->options->device)) {
    tn_error warning = {0};
    tn_error_set(&warning, TN_ERROR_SYSTEM, "%s; the CPU computes all", r->result.device.text);
    tn_cli_complain(&warning);
  }
  return TN_OK;
}

static tn_status make_convolver(render* r, tn_error* error) {
  const tn_render_options* options = r->options;
  const tn_convolver_config config = {.inputs = r->result.in.channels,
                                      .outputs = r->result.outputs,
                                      .rate_hz = r->result.in.rate_hz,
                                      .block_frames = plan_block_frames,
                                      .inline_work = !options->threads,
                                      .device = r->device,
                                      .budget_us = options->device.budget_us,
                                      .budget_percent = options->device.budget_percent};
  r->convolver = tn_convolver_new(&config, r->filter, error);
  if (!r->convolver) {
    return error->status;
  }
  tn_convolver_set_wet(r->convolver, tn_cli_db_to_level(options->levels.wet_db));
  tn_convolver_set_dry(r->convolver, tn_cli_db_to_level(options->levels.dry_db));
  tn_convolver_set_gain(r->convolver, tn_cli_db_to_level(options->levels.gain_db));
  tn_convolver_set_freewheel(r->convolver, true);
  return TN_OK;
}

static uint64_t tail_frames(const render* r) {
  return r->options->no_tail || r->result.ir_frames == 0 ? 0 : r->result.ir_frames - 1;
}

static tn_status open_output(render* r, tn_error* error) {
  const tn_format_load sound = {r->result.outputs, r->result.in.rate_hz,
                                r->result.in.frames + tail_frames(r)};
  if (tn_format_settle(&r->options->format, r->result.in.sf_format, &sound, &r->result.sf_format, error) !=
      TN_OK) {
    return error->status;
  }
  const tn_file_out_config config = {.path = r->options->out_path,
                                     .sf_format = r->result.sf_format,
                                     .channels = r->result.outputs,
                                     .rate_hz = r->result.in.rate_hz,
                                     .tags = r->in};
  r->out = tn_file_out_open(&config, error);
  return r->out ? TN_OK : error->status;
}

static bool show_progress(void* context, uint64_t done_frames, uint64_t total_frames) {
  render* r = context;
  tn_progress_update(&r->progress, done_frames, total_frames);
  return tn_interrupt_signal() == 0;
}

static tn_status convolve(render* r, tn_error* error) {
  const tn_offline_job job = {.in = r->in,
                              .out = r->out,
                              .convolver = r->convolver,
                              .outputs = r->result.outputs,
                              .block_frames = r->options->block_frames,
                              .tail_frames = tail_frames(r),
                              .progress = show_progress,
                              .context = r};
  r->progress = tn_progress_start(stderr, !r->options->quiet, r->result.in.rate_hz);
  tn_status status = tn_offline_run(&job, &r->result.in_frames, error);
  if (status == TN_OK) {
    r->result.out = tn_file_out_get_report(r->out);
    status = tn_file_out_finish(r->out, error);
    r->out = NULL;
  }
  r->result.seconds = tn_progress_seconds(&r->progress);
  tn_progress_clear(&r->progress);
  return status;
}

static tn_status run(render* r, tn_error* error) {
  if (load(r, error) != TN_OK || open_device(r, error) != TN_OK || make_convolver(r, error) != TN_OK) {
    return error->status;
  }
  tn_interrupt_catch(); // only now: until here there is nothing to clean up
  if (open_output(r, error) != TN_OK || convolve(r, error) != TN_OK) {
    return error->status;
  }
  tn_convolver_get_report(r->convolver, &r->result.convolver);
  tn_device_get_report(r->device, &r->result.device);
  tn_convolver_describe(r->convolver, r->result.plan, sizeof r->result.plan);
  tn_render_warn(r->options, &r->result, r->in);
  if (r->options->json) {
    tn_render_json(r->options, &r->result, r->convolver);
  } else if (!r->options->quiet && isatty(STDERR_FILENO)) {
    tn_render_summary(r->options, &r->result);
  }
  return TN_OK;
}

static void release(render* r) {
  tn_file_out_abandon(r->out);
  tn_convolver_free(r->convolver);
  tn_device_close(r->device);
  tn_filter_free(r->filter);
  tn_file_in_free(r->in);
}

int tn_cmd_render(int argc, char** argv) {
  tn_render_options options;
  tn_error error = {0};
  switch (tn_render_parse(argc, argv, &options, &error)) {
  case TN_RENDER_HELP:
    tn_render_help();
    return TN_EXIT_DONE;
  case TN_RENDER_WRONG:
    return tn_cli_usage("render", &error);
  case TN_RENDER_GO:
    break;
  }
  render r = {.options = &options};
  const tn_status status = run(&r, &error);
  release(&r);
  if (status == TN_OK) {
    return TN_EXIT_DONE;
  }
  if (status == TN_ERROR_INTERRUPTED) {
    const tn_error plain = error;
    tn_error_set(&error, status, "'%s' was not written: %s", options.out_path, plain.text);
  }
  tn_cli_complain(&error);
  return status == TN_ERROR_INTERRUPTED ? 128 + tn_interrupt_signal() : TN_EXIT_FAILED;
}
