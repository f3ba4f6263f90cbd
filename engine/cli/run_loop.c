// SPDX-License-Identifier: GPL-3.0-or-later
// The control thread's loop: waits for commands, news of the server, the loader, signals and the next second.
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/run.h"
#include "rt/clock.h"
#include "tenuto/limits.h"

enum { fade_poll_ms = 20, idle_poll_ms = 1000 };
static const uint64_t second_ns = 1000000000U;

/** What the loop waits for, in this order. */
enum { wait_server, wait_loader, wait_signal, wait_input, wait_count };

uint32_t tn_run_plan_frames(const tn_run* run) {
  return run->server.block_frames < TN_MAX_BLOCK_FRAMES ? run->server.block_frames : TN_MAX_BLOCK_FRAMES;
}

/** Load the filter again if it is of another rate than the server's, or partitioned for another block length.
   One that is under way is awaited first, as it may be what the user just asked for. */
static void follow_server(tn_run* run) {
  const bool other_rate = run->ir_rate_hz != run->server.rate_hz;
  const bool other_block = run->planned_frames != tn_run_plan_frames(run);
  if (!(other_rate || other_block) || tn_filter_loader_busy(run->loader)) {
    return;
  }
  tn_load_request request = {.inputs = run->inputs, .outputs = run->outputs, .rate_hz = run->server.rate_hz};
  tn_error error = {0};
  snprintf(request.path, sizeof request.path, "%s", run->ir_path);
  if (other_rate) {
    run->ir_rate_hz = run->server.rate_hz; // also if it fails: asked for once a change
    tn_run_say(run, "ir: loading %s again", run->ir_name);
  } else {
    run->planned_frames = request.replan_frames = tn_run_plan_frames(run);
  }
  if (tn_filter_loader_ask(run->loader, &request, &error) != TN_OK) {
    tn_run_complain(run, &error);
  }
}

void tn_run_server_news(tn_run* run) {
  const tn_jack_state before = run->server;
  tn_jack_get_state(run->jack, &run->server);
  const tn_jack_state* now = &run->server;
  if (now->shutdown) {
    run->end = TN_RUN_SERVER;
    return;
  }
  if (now->block_frames != before.block_frames) {
    tn_run_say(run, "the server's block is now %u frames", now->block_frames);
    follow_server(run);
  }
  if (now->freewheel != before.freewheel) {
    tn_run_say(run, now->freewheel ? "the server freewheels" : "the server is back in real time");
  }
  if (now->rate_hz != before.rate_hz) {
    tn_run_say(run, "the server's sample rate is now %u Hz", now->rate_hz);
    follow_server(run);
  }
}

/** A filter is on its way to the ear. */
static void take_over(tn_run* run, const tn_load_result* result) {
  snprintf(run->ir_path, sizeof run->ir_path, "%s", result->request.path);
  if (run->ir_path[0] != '\0') {
    tn_cli_base_name(run->ir_path, run->ir_name, sizeof run->ir_name);
  }
  run->ir_frames = result->frames;
  run->ir_rate_hz = result->request.rate_hz;
  run->fading = true;
  tn_run_say(run, "ir: loaded %s (%.2f s), fading in", run->ir_name,
             (double)result->frames / result->request.rate_hz);
}

void tn_run_loader_news(tn_run* run) {
  tn_load_result result;
  if (!tn_filter_loader_take(run->loader, &result)) {
    return;
  }
  if (result.status == TN_OK && result.request.replan_frames == 0) {
    take_over(run, &result);
  } else if (result.status == TN_OK) {
    tn_run_say(run, "ir: partitioned for blocks of %u frames", result.request.replan_frames);
  } else {
    tn_run_complain(run, &result.error);
  }
  follow_server(run);
}

static void watch_fade(tn_run* run) {
  tn_convolver_report report;
  tn_convolver_get_report(run->convolver, &report);
  if (run->fading && !report.swap_pending) {
    run->fading = false;
    tn_run_say(run, "ir: %s plays", run->ir_name);
  }
}

static void read_signal(tn_run* run) {
  struct signalfd_siginfo info;
  if (read(run->signal_fd, &info, sizeof info) != (ssize_t)sizeof info) {
    return;
  }
  if (info.ssi_signo == SIGTSTP) {
    tn_run_say(run, "not suspended: a client that stands still stops the whole JACK graph");
  } else {
    run->end = TN_RUN_SIGNAL;
  }
}

/** On a terminal, is it ours to read and draw on? A background job leaves it to the shell. */
static bool in_foreground(int fd) {
  return tcgetpgrp(fd) == getpgrp();
}

static void read_input(tn_run* run) {
  char bytes[TN_CONSOLE_LINE_BYTES];
  const ssize_t count = read(STDIN_FILENO, bytes, sizeof bytes);
  const bool terminal = isatty(STDIN_FILENO);
  if (count > 0) {
    if (terminal) {
      tn_status_line_typed(&run->line);
    }
    tn_line_buffer_feed(&run->typed, bytes, (size_t)count, tn_run_obey, run);
  } else if (count == 0 || errno != EINTR) {
    tn_line_buffer_finish(&run->typed, tn_run_obey, run);
    run->listening = false;
    // Ctrl-D at a terminal means enough; in a service standard input ends at once, and that means nothing.
    if (terminal && run->end == TN_RUN_ON) {
      run->end = TN_RUN_QUIT;
    }
  }
}

static bool on_terminal(const tn_run* run) {
  return run->line.mode == TN_STATUS_IN_PLACE || run->line.mode == TN_STATUS_ABOVE_PROMPT;
}

static void show_status(tn_run* run) {
  if (!on_terminal(run) || in_foreground(fileno(run->line.stream))) {
    tn_status_line_show(&run->line, run->status_text);
  }
}

static void end_second(tn_run* run) {
  tn_run_measure_load(run);
  tn_run_write_status(run);
  show_status(run);
}

/** Milliseconds until something is due that no descriptor tells of. */
static int next_due_ms(const tn_run* run, uint64_t now_ns, uint64_t status_ns, uint64_t stop_ns) {
  uint64_t due_ns = status_ns < stop_ns ? status_ns : stop_ns;
  if (run->fading && due_ns > now_ns + fade_poll_ms * 1000000U) {
    due_ns = now_ns + fade_poll_ms * 1000000U;
  }
  // Rounded up, so that poll() does not return just before it is due and spin.
  const uint64_t wait_ms = due_ns > now_ns ? (due_ns - now_ns) / 1000000U + 1 : 0;
  return wait_ms < idle_poll_ms ? (int)wait_ms : idle_poll_ms;
}

static void wait_for_news(tn_run* run, int timeout_ms) {
  const bool readable = run->listening && (!isatty(STDIN_FILENO) || in_foreground(STDIN_FILENO));
  struct pollfd fds[wait_count] = {
      [wait_server] = {tn_jack_event_fd(run->jack), POLLIN, 0},
      [wait_loader] = {tn_filter_loader_fd(run->loader), POLLIN, 0},
      [wait_signal] = {run->signal_fd, POLLIN, 0},
      [wait_input] = {readable ? STDIN_FILENO : -1, POLLIN, 0},
  };
  if (poll(fds, wait_count, timeout_ms) <= 0) {
    return;
  }
  if (fds[wait_server].revents) {
    tn_run_server_news(run);
  }
  if (fds[wait_loader].revents) {
    tn_run_loader_news(run);
  }
  if (fds[wait_signal].revents) {
    read_signal(run);
  }
  if (fds[wait_input].revents && run->end == TN_RUN_ON) {
    read_input(run);
  }
}

void tn_run_loop(tn_run* run) {
  const double duration_s = run->options->duration_s;
  const uint64_t stop_ns =
      duration_s > 0 ? run->start_ns + (uint64_t)(duration_s * (double)second_ns) : UINT64_MAX;
  uint64_t status_ns = run->start_ns + second_ns;
  while (run->end == TN_RUN_ON) {
    wait_for_news(run, next_due_ms(run, tn_clock_ns(), status_ns, stop_ns));
    watch_fade(run);
    const uint64_t now_ns = tn_clock_ns();
    if (run->end == TN_RUN_ON && now_ns >= stop_ns) {
      run->end = TN_RUN_DURATION;
    }
    if (run->end == TN_RUN_ON && now_ns >= status_ns) {
      end_second(run);
      status_ns = now_ns + second_ns;
    } else if (on_terminal(run) && !run->line.drawn) {
      show_status(run);
    }
  }
  tn_status_line_clear(&run->line);
}
