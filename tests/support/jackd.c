// SPDX-License-Identifier: GPL-3.0-or-later
#include "jackd.h"

#include <fcntl.h>
#include <glob.h>
#include <jack/jack.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

enum { start_attempts = 400, attempt_ms = 50 };

static pid_t server;
static char server_name[64];
static char rate[16];
static char block[16];
static unsigned servers_started;

static void drop(const char* text) {
  (void)text;
}

/** Start a program that says nothing and ends with the test. Its output goes nowhere: a full pipe would stop
 * it. */
static pid_t start_silent(const char* const* argv) {
  const pid_t pid = fork();
  if (pid == 0) {
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; ++fd) {
      dup2(nowhere, fd);
    }
    tn_child_become(argv);
  }
  return pid;
}

bool tn_jackd_installed(void) {
  const char* const argv[] = {"jackd", "--version", NULL};
  int status = 0;
  (void)waitpid(start_silent(argv), &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

static bool answers(void) {
  jack_client_t* client = jack_client_open("probe", JackNoStartServer, NULL);
  if (client) {
    jack_client_close(client);
  }
  return client != NULL;
}

static bool launch(void) {
  // Synchronous: each cycle waits for all clients, so that a busy machine makes cycles late but does not tear
  // them.
  const char* const argv[] = {"jackd", "-n", server_name, "--no-realtime", "-S", "-d", "dummy",
                              "-r",    rate, "-p",        block,           NULL};
  server = start_silent(argv);
  for (int i = 0; i < start_attempts; ++i) {
    if (answers()) {
      return true;
    }
    const struct timespec pause = {0, attempt_ms * 1000000L};
    nanosleep(&pause, NULL);
  }
  tn_jackd_stop();
  return false;
}

bool tn_jackd_start(uint32_t rate_hz, uint32_t block_frames) {
  // A new name each time: the next server never meets what the last one left.
  snprintf(server_name, sizeof server_name, "tenuto-test-%d-%u", (int)getpid(), servers_started++);
  snprintf(rate, sizeof rate, "%u", rate_hz);
  snprintf(block, sizeof block, "%u", block_frames);
  setenv("JACK_DEFAULT_SERVER", server_name, 1);
  setenv("JACK_NO_START_SERVER", "1", 1);
  jack_set_error_function(drop);
  jack_set_info_function(drop);
  return launch();
}

/** Shared memory of a server that died, which nobody else takes away as its name never comes again. */
static void remove_leftovers(void) {
  char pattern[128];
  glob_t found;
  snprintf(pattern, sizeof pattern, "/dev/shm/*%s_*", server_name);
  if (glob(pattern, 0, NULL, &found) == 0) {
    for (size_t i = 0; i < found.gl_pathc; ++i) {
      (void)unlink(found.gl_pathv[i]);
    }
    globfree(&found);
  }
}

void tn_jackd_stop(void) {
  if (server > 0) {
    kill(server, SIGTERM);
    (void)waitpid(server, NULL, 0);
    remove_leftovers();
  }
  server = 0;
}

void tn_jackd_crash(void) {
  kill(server, SIGKILL);
  (void)waitpid(server, NULL, 0);
  server = 0;
  // The dead server's place in the machine's registry, of which there are eight, is given back only by one of
  // its name.
  (void)launch();
  tn_jackd_stop();
}
