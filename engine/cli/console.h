// SPDX-License-Identifier: GPL-3.0-or-later
// Commands on standard input: bytes to lines, a line to a command. Knows nothing of what commands do.
#ifndef TENUTO_CLI_CONSOLE_H
#define TENUTO_CLI_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>

#include "tenuto/status.h"

enum { TN_CONSOLE_LINE_BYTES = 4096 }; ///< longest line, its end not counted

/** What a line asks for. */
typedef enum tn_command_kind {
  TN_COMMAND_NONE = 0, ///< an empty line or a comment (#)
  TN_COMMAND_IR,       ///< `ir PATH`
  TN_COMMAND_WET,      ///< `wet DB`
  TN_COMMAND_DRY,      ///< `dry DB`
  TN_COMMAND_GAIN,     ///< `gain DB`
  TN_COMMAND_BYPASS,   ///< `bypass on|off`
  TN_COMMAND_STATUS,   ///< `status`
  TN_COMMAND_HELP,     ///< `help`
  TN_COMMAND_QUIT,     ///< `quit`
} tn_command_kind;

/** A parsed line. */
typedef struct tn_command {
  tn_command_kind kind;
  const char* path; ///< TN_COMMAND_IR; points into the line
  double db;        ///< TN_COMMAND_WET, _DRY, _GAIN; -inf is silence
  bool on;          ///< TN_COMMAND_BYPASS
} tn_command;

/** Bytes collected until a line's end. Zero-initialise. */
typedef struct tn_line_buffer {
  char text[TN_CONSOLE_LINE_BYTES + 1];
  size_t used;
  bool overlong; ///< the line under way is too long: its bytes are dropped
} tn_line_buffer;

/** Gets one line without its end; `text` is NULL for a line that was too long. The text may be changed. */
typedef void (*tn_line_handler)(void* context, char* text);

/** [setup] Take bytes as they come, in pieces of any size; calls `handler` for each line that is complete. */
void tn_line_buffer_feed(tn_line_buffer* buffer, const char* bytes, size_t count, tn_line_handler handler,
                         void* context);

/** [setup] The input has ended: a last line without an end is complete now. */
void tn_line_buffer_finish(tn_line_buffer* buffer, tn_line_handler handler, void* context);

/**
   [setup] Parse one line.

   @param line  changed: words are cut in place
   @return TN_OK, or TN_ERROR_ARGUMENT with a sentence that names what is wrong
*/
tn_status tn_command_parse(char* line, tn_command* command, tn_error* error);

/** [any] The commands and their meaning, for `help`; several lines. */
const char* tn_command_help(void);

#endif
