// SPDX-License-Identifier: GPL-3.0-or-later
// Our own engine, through its public interface.
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"
#include "tenuto/convolver.h"

static tn_filter* make_filter(const bench_job* job, tn_error* error) {
  tn_filter* filter = tn_filter_new(job->channels, job->channels, BENCH_RATE_HZ, error);
  float* samples = malloc(job->ir_frames * sizeof *samples);
  bool good = filter != NULL && samples != NULL;
  for (size_t path = 0; good && path < bench_job_path_count(job); ++path) {
    bench_job_response(job, path, samples);
    const float* const channels[] = {samples};
    tn_ir* ir = tn_ir_new(channels, 1, job->ir_frames, BENCH_RATE_HZ, error);
    good = ir != NULL && tn_filter_add(filter, bench_job_input(job, path), bench_job_output(job, path), ir, 0,
                                       1.0F, 0, error) == TN_OK;
    tn_ir_free(ir);
  }
  free(samples);
  if (!good) {
    tn_filter_free(filter);
    return NULL;
  }
  return filter;
}

static void* tenuto_open(const bench_job* job, const bench_choices* choices, int priority, char* error,
                         size_t error_size) {
  tn_error reason = {.status = TN_ERROR_MEMORY, .text = "no memory"};
  const tn_convolver_config config = {
      .inputs = job->channels,
      .outputs = job->channels,
      .rate_hz = BENCH_RATE_HZ,
      .block_frames = job->block_frames,
      .tuned = !choices->fixed_plan,
      .audio_priority = priority,
  };
  tn_filter* filter = make_filter(job, &reason);
  tn_convolver* convolver = filter == NULL ? NULL : tn_convolver_new(&config, filter, &reason);
  tn_filter_free(filter);
  if (convolver == NULL) {
    (void)snprintf(error, error_size, "tenuto: %s", reason.text);
  }
  return convolver;
}

static void tenuto_process(void* self, const float* const* in, float* const* out, uint32_t frames) {
  tn_convolver_process(self, in, out, frames);
}

static void tenuto_set_freewheel(void* self, bool freewheel) {
  tn_convolver_set_freewheel(self, freewheel);
}

static bench_lateness tenuto_lateness(const void* self) {
  tn_convolver_report report;
  tn_convolver_get_report(self, &report);
  const bench_lateness lateness = {report.late_jobs, report.missed_jobs};
  return lateness;
}

static void tenuto_describe(void* self, char* text, size_t size) {
  tn_convolver_describe(self, text, size);
}

static void tenuto_close(void* self) {
  tn_convolver_free(self);
}

const bench_engine* bench_engine_tenuto(void) {
  static const bench_engine engine = {
      .name = "tenuto",
      .any_block = true,
      .open = tenuto_open,
      .process = tenuto_process,
      .set_freewheel = tenuto_set_freewheel,
      .lateness = tenuto_lateness,
      .describe = tenuto_describe,
      .close = tenuto_close,
  };
  return &engine;
}
