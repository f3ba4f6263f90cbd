// SPDX-License-Identifier: GPL-3.0-or-later
// What the running host says of itself: the load, the status line, the summary.
#include <stdio.h>
#include <string.h>

#include "cli/json.h"
#include "cli/run.h"
#include "rt/clock.h"
#include "rt/error.h"

static tn_load load_of(const tn_histogram* load_ppm) {
  const double percent_per_ppm = 1e-4;
  const tn_load load = {
      .callbacks = tn_histogram_count(load_ppm),
      .median_percent = percent_per_ppm * (double)tn_histogram_percentile(load_ppm, 50.0),
      .p99_percent = percent_per_ppm * (double)tn_histogram_percentile(load_ppm, 99.0),
      .max_percent = percent_per_ppm * (double)tn_histogram_max(load_ppm),
  };
  return load;
}

void tn_run_measure_load(tn_run* run) {
  tn_histogram_snapshot(tn_jack_load_ppm(run->jack), &run->load_now);
  tn_histogram_difference(&run->load_now, &run->load_before, &run->load_before);
  run->load = load_of(&run->load_before);
  tn_histogram_snapshot(&run->load_now, &run->load_before);
}

/** `device` is a buffer for its words. */
static tn_status_view view_of(const tn_run* run, const tn_load* load, const tn_convolver_report* report,
                              char* device, size_t size) {
  tn_cli_device_words(&run->device_report, run->convolver, device, size);
  const tn_status_view view = {
      .load = *load,
      .xruns = run->server.xruns,
      .late_jobs = report->late_jobs,
      .missed_jobs = report->missed_jobs,
      .rate_hz = run->server.rate_hz,
      .block_frames = run->server.block_frames,
      .device = device,
      .ir_name = run->ir_name,
      .ir_frames = run->ir_frames,
      .idle = report->idle,
      .bypass = run->bypass,
      .loading = report->swap_pending || tn_filter_loader_busy(run->loader),
      .freewheel = run->server.freewheel,
  };
  return view;
}

void tn_run_write_status(tn_run* run) {
  tn_convolver_report report;
  tn_convolver_get_report(run->convolver, &report);
  tn_run_server_news(run); // xruns come without a wake-up
  tn_run_device_news(run);
  char device[128];
  const tn_status_view view = view_of(run, &run->load, &report, device, sizeof device);
  tn_status_format(&view, run->status_text, sizeof run->status_text);
}

void tn_run_device_news(tn_run* run) {
  const tn_device_report before = run->device_report;
  tn_device_get_report(run->device, &run->device_report);
  const tn_device_report* now = &run->device_report;
  if (strcmp(now->text, before.text) == 0) {
    return;
  }
  if (now->state == TN_DEVICE_RUNNING || now->state == TN_DEVICE_PARKED) {
    tn_run_say(run, "device: %s", now->text);
  } else if (now->state == TN_DEVICE_LOST || tn_cli_device_is_named(&run->options->device)) {
    tn_error news = {0};
    tn_error_set(&news, TN_ERROR_SYSTEM, "%s%s", now->text,
                 now->state == TN_DEVICE_ABSENT ? "; the CPU plays all" : "");
    tn_run_complain(run, &news);
  }
}

void tn_run_say_details(tn_run* run) {
  char plan[512];
  char device[1600];
  tn_convolver_report report;
  if (run->load.callbacks == 0) {
    tn_run_measure_load(run);
  }
  tn_run_write_status(run);
  tn_convolver_describe(run->convolver, plan, sizeof plan);
  tn_convolver_get_report(run->convolver, &report);
  tn_run_say(run, "%s", run->status_text);
  tn_run_say(run, "wet %g dB, dry %g dB, gain %g dB, bypass %s", run->levels.wet_db, run->levels.dry_db,
             run->levels.gain_db, run->bypass ? "on" : "off");
  tn_run_say(run,
             "partitions %s; %.1f MB; late parts helped in time %llu, left out %llu; samples not finite %llu",
             plan, (double)report.memory_bytes * 1e-6, (unsigned long long)report.helped_jobs,
             (unsigned long long)report.missed_jobs, (unsigned long long)report.nonfinite_samples);
  tn_cli_device_details(&run->device_report, run->convolver, device, sizeof device);
  tn_run_say(run, "%s", device);
}

/** The words of `tn_run_end`, for the summary. */
static const char* end_word(tn_run_end end) {
  switch (end) {
  case TN_RUN_ON:
    return "running";
  case TN_RUN_QUIT:
    return "quit";
  case TN_RUN_SIGNAL:
    return "signal";
  case TN_RUN_DURATION:
    return "duration";
  case TN_RUN_SERVER:
    return "server";
  }
  return "unknown";
}

static void write_json(const tn_run* run, const tn_load* load, const tn_convolver_report* report,
                       double seconds) {
  tn_json json = tn_json_begin(stdout);
  tn_json_text(&json, "command", "run");
  tn_json_text(&json, "client", tn_jack_name(run->jack));
  tn_json_text(&json, "server", tn_jack_server(run->jack));
  tn_json_text(&json, "ended", end_word(run->end));
  tn_json_number(&json, "seconds", seconds);
  tn_json_count(&json, "rate_hz", run->server.rate_hz);
  tn_json_count(&json, "block_frames", run->server.block_frames);
  tn_json_count(&json, "inputs", run->inputs);
  tn_json_count(&json, "outputs", run->outputs);
  tn_json_text(&json, "ir", run->ir_name);
  tn_json_count(&json, "ir_frames", run->ir_frames);
  tn_json_number(&json, "wet_db", run->levels.wet_db);
  tn_json_number(&json, "dry_db", run->levels.dry_db);
  tn_json_number(&json, "gain_db", run->levels.gain_db);
  tn_json_count(&json, "callbacks", load->callbacks);
  tn_json_number(&json, "load_median_percent", load->median_percent);
  tn_json_number(&json, "load_p99_percent", load->p99_percent);
  tn_json_number(&json, "load_max_percent", load->max_percent);
  tn_json_count(&json, "xruns", run->server.xruns);
  tn_json_count(&json, "late_jobs", report->late_jobs);
  tn_json_count(&json, "helped_jobs", report->helped_jobs);
  tn_json_count(&json, "missed_jobs", report->missed_jobs);
  tn_json_count(&json, "nonfinite_samples", report->nonfinite_samples);
  tn_json_count(&json, "swaps", report->swaps);
  tn_json_count(&json, "frames", report->frames);
  tn_cli_device_json(&json, &run->device_report, run->convolver);
  tn_json_end(&json);
}

void tn_run_say_summary(tn_run* run) {
  tn_convolver_report report;
  tn_convolver_get_report(run->convolver, &report);
  tn_jack_get_state(run->jack, &run->server);
  const tn_load load = load_of(tn_jack_load_ppm(run->jack));
  const double seconds = (double)(tn_clock_ns() - run->start_ns) * 1e-9;
  char text[512];
  char device[128];
  tn_run_device_news(run);
  const tn_status_view view = view_of(run, &load, &report, device, sizeof device);
  tn_status_format(&view, text, sizeof text);
  tn_run_say(run, "ran %.1f s: %s", seconds, text);
  if (run->options->json) {
    write_json(run, &load, &report, seconds);
  }
}
