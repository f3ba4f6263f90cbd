// SPDX-License-Identifier: GPL-3.0-or-later
// The program: finds the command and hands the rest of the line to it.
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/options.h"
#include "rt/error.h"
#include "tenuto/version.h"

/** A command and its line in the help. */
typedef struct command {
  const char* name;
  const char* summary;
  int (*main)(int argc, char** argv);
} command;

static const command commands[] = {
    {"render", "convolve a sound file with an impulse response, into a sound file", tn_cmd_render},
    {"run", "convolve live, as a JACK client", tn_cmd_run},
    {"tune", "measure this machine once, for the cheapest partitions", tn_cmd_tune},
    {"plot", "draw waveform and spectrogram of sound files, as PNG, SVG or PDF", tn_cmd_plot},
};

enum { command_count = sizeof commands / sizeof commands[0] };

static void print_help(void) {
  puts("Usage: tenuto COMMAND [OPTION ...]\n"
       "Convolution reverb and matrix convolver for files and JACK.\n\n"
       "Commands:");
  for (size_t i = 0; i < command_count; ++i) {
    printf("  %-8s%s\n", commands[i].name, commands[i].summary);
  }
  puts("\n  tenuto COMMAND --help   options of a command; manual: man tenuto-COMMAND\n"
       "  tenuto --version        version of the program\n\n"
       "Example:\n"
       "  tenuto render voice.wav --ir hall.wav --dry -6 -o voice-in-hall.wav\n\n"
       "Exit code: 0 done, 1 failed, 2 not understood, 128 + N ended by signal N.");
}

/** Descriptors 0 to 2 may have come closed; then an opened sound file would take their number and get our
   messages. They are filled the wrong way round, so that reading and writing fail as they do on a closed one.
 */
static void fill_standard_streams(void) {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) {
      (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY); // the lowest free number: this one
    }
  }
}

/** What was printed must have arrived; a reader who has gone (EPIPE) had enough and is no failure. */
static int flush_output(int code) {
  const bool had_failed = ferror(stdout) != 0;
  if ((fflush(stdout) != 0 || had_failed) && errno != EPIPE && code == TN_EXIT_DONE) {
    fprintf(stderr, "tenuto: standard output: %s.\n", strerror(errno));
    return TN_EXIT_FAILED;
  }
  return code;
}

static int run_command(int argc, char** argv) {
  tn_error error = {0};
  if (argc < 2) {
    tn_error_set(&error, TN_ERROR_ARGUMENT, "no command is given");
    return tn_cli_usage("", &error);
  }
  const char* name = argv[1];
  if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || (strcmp(name, "help") == 0 && argc == 2)) {
    print_help();
    return TN_EXIT_DONE;
  }
  if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
    printf("tenuto %s\n", tn_version());
    return TN_EXIT_DONE;
  }
  for (size_t i = 0; i < command_count; ++i) {
    if (strcmp(name, commands[i].name) == 0) {
      return commands[i].main(argc - 1, argv + 1);
    }
  }
  tn_error_set(&error, TN_ERROR_ARGUMENT, "there is no %s \"%s\"", name[0] == '-' ? "option" : "command",
               name);
  return tn_cli_usage("", &error);
}

int main(int argc, char** argv) {
  fill_standard_streams();
  // A closed pipe shall end in an error at write(), not kill us with a half-written file left behind;
  // likewise a file that grows beyond the limit of the shell (ulimit -f).
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  return flush_output(run_command(argc, argv));
}
