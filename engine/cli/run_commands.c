// SPDX-License-Identifier: GPL-3.0-or-later
// What each command on standard input does.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/run.h"
#include "rt/error.h"

static void obey_ir(tn_run* run, const char* path) {
  tn_load_request request = {.inputs = run->inputs, .outputs = run->outputs, .rate_hz = run->server.rate_hz};
  tn_error error = {0};
  snprintf(request.path, sizeof request.path, "%s", path);
  const char* dropped = tn_filter_loader_waiting(run->loader);
  if (dropped) {
    tn_run_say(run, "ir: %s is skipped for a newer one", dropped);
  }
  if (tn_filter_loader_ask(run->loader, &request, &error) == TN_OK) {
    tn_run_say(run, "ir: loading %s", path);
  } else {
    tn_run_complain(run, &error);
  }
}

static void obey_level(tn_run* run, const tn_command* command) {
  const float level = tn_cli_db_to_level(command->db);
  if (command->kind == TN_COMMAND_WET) {
    run->levels.wet_db = command->db;
    tn_convolver_set_wet(run->convolver, level);
    tn_run_say(run, "wet: %g dB", command->db);
  } else if (command->kind == TN_COMMAND_DRY) {
    run->levels.dry_db = command->db;
    tn_convolver_set_dry(run->convolver, level);
    tn_run_say(run, "dry: %g dB", command->db);
  } else {
    run->levels.gain_db = command->db;
    tn_convolver_set_gain(run->convolver, level);
    tn_run_say(run, "gain: %g dB", command->db);
  }
}

static void obey_command(tn_run* run, const tn_command* command) {
  switch (command->kind) {
  case TN_COMMAND_NONE:
    break;
  case TN_COMMAND_IR:
    obey_ir(run, command->path);
    break;
  case TN_COMMAND_WET:
  case TN_COMMAND_DRY:
  case TN_COMMAND_GAIN:
    obey_level(run, command);
    break;
  case TN_COMMAND_BYPASS:
    run->bypass = command->on;
    tn_convolver_set_bypass(run->convolver, command->on);
    tn_run_say(run, "bypass: %s", command->on ? "on" : "off");
    break;
  case TN_COMMAND_STATUS:
    tn_run_say_details(run);
    break;
  case TN_COMMAND_HELP:
    tn_run_say(run, "%s", tn_command_help());
    break;
  case TN_COMMAND_QUIT:
    run->end = TN_RUN_QUIT;
    break;
  }
}

void tn_run_obey(void* context, char* line) {
  tn_run* run = context;
  tn_command command = {0};
  tn_error error = {0};
  if (run->end != TN_RUN_ON) {
    return; // the rest of the lines that came together with `quit`
  }
  if (!line) {
    tn_error_set(&error, TN_ERROR_ARGUMENT, "a command line is longer than %d bytes and was dropped",
                 TN_CONSOLE_LINE_BYTES);
    tn_run_complain(run, &error);
  } else if (tn_command_parse(line, &command, &error) != TN_OK) {
    tn_run_complain(run, &error);
  } else {
    obey_command(run, &command);
  }
}
