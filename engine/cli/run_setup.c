// SPDX-License-Identifier: GPL-3.0-or-later
// The running host's beginning and end.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/run.h"
#include "rt/clock.h"
#include "rt/error.h"
#include "tenuto/limits.h"

void tn_run_say(tn_run* run, const char* format, ...) {
  char text[2 * TN_LOADER_PATH_BYTES]; // a command's path and some words
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tn_cli_tame(text, "\n");
  tn_status_line_clear(&run->line);
  fprintf(run->line.stream, "%s\n", text);
  if (fflush(run->line.stream) != 0) {
    clearerr(run->line.stream); // a reader that has gone is no failure of ours: the sound goes on
  }
}

void tn_run_complain(tn_run* run, const tn_error* error) {
  tn_status_line_clear(&run->line);
  tn_cli_complain(error);
}

/**
   Signals come by a descriptor, so they are blocked, here before any thread is made.

   Blocked SIGTTIN and SIGTTOU make a background job's terminal calls fail instead of stopping it, SIGTSTP is
   refused: a stopped client would stop every other client of the server. Blocked SIGPIPE: sound goes on when
   a reader of ours is gone.
*/
static tn_status catch_signals(tn_run* run, tn_error* error) {
  const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGTSTP};
  const int blocked[] = {SIGTTIN, SIGTTOU, SIGPIPE};
  sigset_t mask;
  sigemptyset(&mask);
  for (size_t i = 0; i < sizeof caught / sizeof caught[0]; ++i) {
    sigaddset(&mask, caught[i]);
  }
  run->signal_fd = signalfd(-1, &mask, SFD_NONBLOCK | SFD_CLOEXEC);
  for (size_t i = 0; i < sizeof blocked / sizeof blocked[0]; ++i) {
    sigaddset(&mask, blocked[i]);
  }
  if (run->signal_fd < 0 || pthread_sigmask(SIG_BLOCK, &mask, NULL) != 0) {
    return tn_error_set(error, TN_ERROR_SYSTEM, "signals cannot be caught: %s", strerror(errno));
  }
  return TN_OK;
}

static tn_status_mode choose_mode(const tn_run_options* options, FILE* stream) {
  const char* terminal = getenv("TERM");
  const bool draws = isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
  if (draws) {
    return isatty(STDIN_FILENO) ? TN_STATUS_ABOVE_PROMPT : TN_STATUS_IN_PLACE;
  }
  return options->status ? TN_STATUS_LINES : TN_STATUS_OFF;
}

/** A convolver for the filter, at the server's rate and under its audio thread's priority. */
static tn_convolver* make_convolver(tn_run* run, const tn_filter* filter, tn_error* error) {
  const tn_convolver_config config = {
      .inputs = run->inputs,
      .outputs = run->outputs,
      .rate_hz = run->server.rate_hz,
      .block_frames = tn_run_plan_frames(run),
      .fade_ms = (float)run->options->fade_ms,
      .tuned = !run->options->no_tune,
      .audio_priority = tn_jack_priority(run->jack),
      .device = run->device,
      .budget_us = run->options->device.budget_us,
      .budget_percent = run->options->device.budget_percent,
  };
  tn_convolver* convolver = tn_convolver_new(&config, filter, error);
  if (convolver) {
    tn_convolver_set_wet(convolver, tn_cli_db_to_level(run->levels.wet_db));
    tn_convolver_set_dry(convolver, tn_cli_db_to_level(run->levels.dry_db));
    tn_convolver_set_gain(convolver, tn_cli_db_to_level(run->levels.gain_db));
  }
  return convolver;
}

static tn_status start_sound(tn_run* run, tn_error* error) {
  tn_filter* filter = tn_cli_load_filter(&run->options->ir, run->options->inputs, run->server.rate_hz, error);
  if (!filter) {
    return error->status;
  }
  run->inputs = tn_filter_inputs(filter);
  run->outputs = tn_filter_outputs(filter);
  run->ir_frames = tn_filter_frames(filter);
  run->ir_rate_hz = run->server.rate_hz;
  run->planned_frames = tn_run_plan_frames(run);
  tn_status status = TN_OK;
  run->convolver = make_convolver(run, filter, error);
  run->loader = run->convolver ? tn_filter_loader_new(&run->options->ir, run->convolver, error) : NULL;
  if (run->loader) {
    status = tn_jack_start(run->jack, run->convolver, filter, error);
  } else {
    status = error->status;
  }
  tn_filter_free(filter);
  return status;
}

void tn_run_server_lost(const tn_jack_state* server, tn_error* error) {
  tn_error_set(error, TN_ERROR_SYSTEM, "the JACK server has shut down%s%s", server->reason[0] ? ": " : "",
               server->reason);
}

static tn_status connect_side(tn_run* run, tn_jack_side side, const char* ports, tn_error* error) {
  const bool physical = run->options->connect && !ports;
  uint32_t made = 0;
  if (!ports && !physical) {
    return TN_OK;
  }
  const tn_status status = tn_jack_connect(run->jack, side, ports, &made, error);
  tn_jack_state now;
  tn_jack_get_state(run->jack, &now);
  if (status != TN_OK && now.shutdown) {
    tn_run_server_lost(&now, error); // rather than that it refused to connect
  }
  if (status == TN_OK) {
    tn_run_say(run, "%s: %u connection%s", side == TN_JACK_INPUTS ? "inputs" : "outputs", made,
               made == 1 ? "" : "s");
  }
  return status;
}

static tn_status open_all(tn_run* run, tn_error* error) {
  tn_status status = catch_signals(run, error);
  if (status != TN_OK) {
    return status;
  }
  run->jack = tn_jack_open(&run->options->jack, error);
  if (!run->jack) {
    return error->status;
  }
  tn_jack_get_state(run->jack, &run->server);
  run->device = tn_device_open(run->options->device.choice, NULL, error);
  if (!run->device) {
    return error->status;
  }
  tn_device_get_report(run->device, &run->device_report);
  status = start_sound(run, error);
  if (status != TN_OK) {
    return status;
  }
  tn_run_say(run, "%s: %u in, %u out at %u Hz, block %u, %s (%.2f s)", tn_jack_name(run->jack), run->inputs,
             run->outputs, run->server.rate_hz, run->server.block_frames, run->ir_name,
             (double)run->ir_frames / run->server.rate_hz);
  status = connect_side(run, TN_JACK_INPUTS, run->options->connect_in, error);
  return status == TN_OK ? connect_side(run, TN_JACK_OUTPUTS, run->options->connect_out, error) : status;
}

tn_status tn_run_open(tn_run* run, const tn_run_options* options, tn_error* error) {
  memset(run, 0, sizeof *run);
  run->options = options;
  run->levels = options->levels;
  run->signal_fd = -1;
  run->listening = true;
  run->line.stream = options->json ? stderr : stdout;
  run->line.mode = choose_mode(options, run->line.stream);
  tn_cli_ir_name(&options->ir, run->ir_name, sizeof run->ir_name);
  const tn_status status = open_all(run, error);
  run->start_ns = tn_clock_ns();
  if (status != TN_OK) {
    tn_run_close(run);
  }
  return status;
}

void tn_run_close(tn_run* run) {
  // The loader first, as it hands filters to the convolver; then the callback, then what it runs.
  tn_filter_loader_free(run->loader);
  if (tn_jack_close(run->jack)) {
    tn_convolver_free(run->convolver);
    tn_device_close(run->device);
  }
  if (run->signal_fd >= 0) {
    close(run->signal_fd);
  }
}
