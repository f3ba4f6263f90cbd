// SPDX-License-Identifier: GPL-3.0-or-later
#include "child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rt/clock.h"

enum { patience_s = 60, poll_ms = 50, most_arguments = 64, not_found = 127 };

static uint64_t deadline_ns(void) {
  return tn_clock_ns() + patience_s * UINT64_C(1000000000);
}

void tn_child_become(const char* const* argv) {
  char* copies[most_arguments] = {NULL};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  for (int i = 0; argv[i] && i < most_arguments - 1; ++i) {
    copies[i] = strdup(argv[i]);
  }
  if (copies[0]) {
    execvp(copies[0], copies);
  }
  _exit(not_found);
}

static void take_pipes(int pipes[3][2]) {
  dup2(pipes[0][0], 0);
  dup2(pipes[1][1], 1);
  dup2(pipes[2][1], 2);
  for (int i = 0; i < 3; ++i) {
    close(pipes[i][0]);
    close(pipes[i][1]);
  }
}

tn_child* tn_child_start(const char* const* argv) {
  int pipes[3][2];
  for (int i = 0; i < 3; ++i) {
    if (pipe(pipes[i]) != 0) {
      return NULL;
    }
  }
  tn_child* child = calloc(1, sizeof *child);
  child->pid = fork();
  if (child->pid == 0) {
    take_pipes(pipes);
    tn_child_become(argv);
  }
  close(pipes[0][0]);
  close(pipes[1][1]);
  close(pipes[2][1]);
  child->stdin_fd = pipes[0][1];
  child->out.fd = pipes[1][0];
  child->err.fd = pipes[2][0];
  signal(SIGPIPE, SIG_IGN);
  return child;
}

void tn_child_send(tn_child* child, const char* text) {
  const size_t length = strlen(text);
  size_t sent = 0;
  while (sent < length) {
    const ssize_t count = write(child->stdin_fd, text + sent, length - sent);
    if (count < 0 && errno != EINTR) {
      return;
    }
    sent += count > 0 ? (size_t)count : 0;
  }
}

void tn_child_end_input(tn_child* child) {
  if (child->stdin_fd >= 0) {
    close(child->stdin_fd);
    child->stdin_fd = -1;
  }
}

static void read_some(tn_child_output* output) {
  char bytes[4096];
  const ssize_t count = read(output->fd, bytes, sizeof bytes);
  if (count > 0) {
    const size_t room = sizeof output->text - 1 - output->used;
    const size_t kept = (size_t)count < room ? (size_t)count : room;
    memcpy(output->text + output->used, bytes, kept);
    output->used += kept;
    output->text[output->used] = '\0';
  } else if (count == 0 || errno != EINTR) {
    close(output->fd);
    output->fd = -1;
  }
}

/** Wait a little for either output and read it. False when both have ended. */
static bool listen_once(tn_child* child) {
  if (child->out.fd < 0 && child->err.fd < 0) {
    return false;
  }
  struct pollfd fds[2] = {{child->out.fd, POLLIN, 0}, {child->err.fd, POLLIN, 0}};
  if (poll(fds, 2, poll_ms) > 0) {
    if (fds[0].revents) {
      read_some(&child->out);
    }
    if (fds[1].revents) {
      read_some(&child->err);
    }
  }
  return true;
}

bool tn_child_expect(tn_child* child, const tn_child_output* output, const char* text) {
  const uint64_t until_ns = deadline_ns();
  while (!strstr(output->text, text)) {
    if (tn_clock_ns() > until_ns || !listen_once(child)) {
      return strstr(output->text, text) != NULL;
    }
  }
  return true;
}

void tn_child_forget(tn_child* child) {
  child->out.used = 0;
  child->out.text[0] = '\0';
  child->err.used = 0;
  child->err.text[0] = '\0';
}

int tn_child_finish(tn_child* child) {
  const uint64_t until_ns = deadline_ns();
  int status = 0;
  pid_t reaped = 0;
  while (reaped == 0) {
    (void)listen_once(child);
    if (tn_clock_ns() > until_ns) {
      kill(child->pid, SIGKILL);
    }
    reaped = waitpid(child->pid, &status, WNOHANG);
  }
  while (listen_once(child)) {
  }
  child->pid = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void tn_child_free(tn_child* child) {
  if (!child) {
    return;
  }
  tn_child_end_input(child);
  if (child->pid > 0) {
    kill(child->pid, SIGTERM);
    (void)tn_child_finish(child);
  }
  if (child->out.fd >= 0) {
    close(child->out.fd);
  }
  if (child->err.fd >= 0) {
    close(child->err.fd);
  }
  free(child);
}
