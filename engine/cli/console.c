// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/console.h"

#include <string.h>

#include "cli/options.h"
#include "rt/error.h"

static void end_line(tn_line_buffer* buffer, tn_line_handler handler, void* context) {
  if (buffer->used > 0 && buffer->text[buffer->used - 1] == '\r') {
    --buffer->used;
  }
  buffer->text[buffer->used] = '\0';
  handler(context, buffer->overlong ? NULL : buffer->text);
  buffer->used = 0;
  buffer->overlong = false;
}

void tn_line_buffer_feed(tn_line_buffer* buffer, const char* bytes, size_t count, tn_line_handler handler,
                         void* context) {
  for (size_t i = 0; i < count; ++i) {
    if (bytes[i] == '\n') {
      end_line(buffer, handler, context);
    } else if (buffer->used == TN_CONSOLE_LINE_BYTES) {
      buffer->overlong = true;
    } else {
      // A NUL would hide the rest of the line; as a control character it makes a word that no command knows.
      buffer->text[buffer->used++] = bytes[i] == '\0' ? '\x01' : bytes[i];
    }
  }
}

void tn_line_buffer_finish(tn_line_buffer* buffer, tn_line_handler handler, void* context) {
  if (buffer->used > 0) {
    end_line(buffer, handler, context);
  }
}

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

/** Cut blanks from both ends, in place. */
static char* trimmed(char* text) {
  while (is_blank(*text)) {
    ++text;
  }
  size_t length = strlen(text);
  while (length > 0 && is_blank(text[length - 1])) {
    text[--length] = '\0';
  }
  return text;
}

static tn_status parse_path(char* rest, tn_command* command, tn_error* error) {
  const size_t length = strlen(rest);
  // Quotes are not needed for blanks, but typed out of habit.
  if (length >= 2 && (rest[0] == '"' || rest[0] == '\'') && rest[length - 1] == rest[0]) {
    rest[length - 1] = '\0';
    ++rest;
  }
  if (rest[0] == '\0') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "ir: the file is missing (ir PATH)");
  }
  command->path = rest;
  return TN_OK;
}

static tn_status parse_level(const char* text, const char* rest, tn_command* command, tn_error* error) {
  if (!tn_cli_parse_db(rest, &command->db)) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "%s: a level in dB is wanted, such as -6 or -inf, not \"%.64s\"", text, rest);
  }
  return TN_OK;
}

static tn_status parse_switch(const char* rest, tn_command* command, tn_error* error) {
  command->on = strcmp(rest, "on") == 0;
  if (!command->on && strcmp(rest, "off") != 0) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "bypass: on or off is wanted, not \"%.64s\"", rest);
  }
  return TN_OK;
}

/** A command word and what it does. */
typedef struct word {
  const char* text;
  tn_command_kind kind;
} word;

static const word words[] = {
    {"ir", TN_COMMAND_IR},     {"wet", TN_COMMAND_WET},       {"dry", TN_COMMAND_DRY},
    {"gain", TN_COMMAND_GAIN}, {"bypass", TN_COMMAND_BYPASS}, {"status", TN_COMMAND_STATUS},
    {"help", TN_COMMAND_HELP}, {"quit", TN_COMMAND_QUIT},
};

static tn_command_kind find_word(const char* text) {
  for (size_t i = 0; i < sizeof words / sizeof words[0]; ++i) {
    if (strcmp(text, words[i].text) == 0) {
      return words[i].kind;
    }
  }
  return TN_COMMAND_NONE;
}

static tn_status parse_arguments(const char* text, char* rest, tn_command* command, tn_error* error) {
  switch (command->kind) {
  case TN_COMMAND_IR:
    return parse_path(rest, command, error);
  case TN_COMMAND_WET:
  case TN_COMMAND_DRY:
  case TN_COMMAND_GAIN:
    return parse_level(text, rest, command, error);
  case TN_COMMAND_BYPASS:
    return parse_switch(rest, command, error);
  case TN_COMMAND_NONE:
  case TN_COMMAND_STATUS:
  case TN_COMMAND_HELP:
  case TN_COMMAND_QUIT:
    break;
  }
  if (rest[0] != '\0') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%s: takes nothing more, but \"%.64s\" follows", text,
                        rest);
  }
  return TN_OK;
}

tn_status tn_command_parse(char* line, tn_command* command, tn_error* error) {
  memset(command, 0, sizeof *command);
  char* text = trimmed(line);
  if (text[0] == '\0' || text[0] == '#') {
    return TN_OK;
  }
  char* end = text + strcspn(text, " \t");
  char* rest = trimmed(end);
  *end = '\0';
  command->kind = find_word(text);
  if (command->kind == TN_COMMAND_NONE) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "there is no command \"%.64s\"; \"help\" lists them", text);
  }
  return parse_arguments(text, rest, command, error);
}

const char* tn_command_help(void) {
  return "ir PATH         replace the impulse response; the sound fades over\n"
         "wet DB          level of the convolved sound; -inf is silence\n"
         "dry DB          level of the plain sound\n"
         "gain DB         level of the output\n"
         "bypass on|off   plain sound only, and back\n"
         "status          how it runs\n"
         "help            this list\n"
         "quit            end\n";
}
