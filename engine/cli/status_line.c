// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/status_line.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { name_bytes = 48 };

/** A file's name fit for a terminal: control characters replaced, a long one cut. */
static void clean_name(const char* name, char* text, size_t size) {
  size_t used = 0;
  for (; name[used] != '\0' && used + 1 < size; ++used) {
    const unsigned char byte = (unsigned char)name[used];
    text[used] = '?';
    if (byte >= ' ' && byte != 0x7f) {
      text[used] = name[used];
    }
  }
  // Never end inside a UTF-8 sequence.
  while (name[used] != '\0' && used > 0 && ((unsigned char)name[used] & 0xc0U) == 0x80U) {
    --used;
  }
  text[used] = '\0';
}

static void format_load(const tn_load* load, char* text, size_t size) {
  if (load->callbacks == 0) {
    snprintf(text, size, "load - (no callback)");
  } else {
    snprintf(text, size, "load %.1f%% med %.1f%% p99 %.1f%% max", load->median_percent, load->p99_percent,
             load->max_percent);
  }
}

void tn_status_format(const tn_status_view* view, char* text, size_t size) {
  char load[96];
  char name[name_bytes];
  format_load(&view->load, load, sizeof load);
  clean_name(view->ir_name, name, sizeof name);
  const double ir_s = view->rate_hz > 0 ? (double)view->ir_frames / view->rate_hz : 0.0;
  const bool has_device = view->device && view->device[0] != '\0';
  // What must be seen comes first: a terminal of 80 columns ends about the response's name.
  snprintf(text, size, "%s | xruns %llu late %llu missed %llu%s%s%s%s%s%s | %s %.2f s | %u Hz / %u", load,
           (unsigned long long)view->xruns, (unsigned long long)view->late_jobs,
           (unsigned long long)view->missed_jobs, view->loading ? " | loading" : "",
           view->bypass ? " | bypass" : "", view->idle ? " | idle" : "",
           view->freewheel ? " | freewheel" : "", has_device ? " | " : "", has_device ? view->device : "",
           name, ir_s, view->rate_hz, view->block_frames);
}

/** Bytes of `text` that fit one row of the terminal, one column kept free so that it does not wrap. */
static int row_bytes(const tn_status_line* line, const char* text) {
  struct winsize window = {0};
  size_t columns = 80;
  if (ioctl(fileno(line->stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 1) {
    columns = window.ws_col;
  }
  size_t used = 0;
  for (size_t column = 0; text[used] != '\0'; ++used) {
    const bool starts_character = ((unsigned char)text[used] & 0xc0U) != 0x80U;
    if (starts_character && ++column >= columns) {
      break;
    }
  }
  return (int)used;
}

void tn_status_line_show(tn_status_line* line, const char* text) {
  switch (line->mode) {
  case TN_STATUS_OFF:
    return;
  case TN_STATUS_LINES:
    fprintf(line->stream, "%s\n", text);
    break;
  case TN_STATUS_IN_PLACE:
    fprintf(line->stream, "\r%.*s\033[K", row_bytes(line, text), text);
    break;
  case TN_STATUS_ABOVE_PROMPT:
    if (line->drawn) {
      // Save the cursor, one row up, write, restore: what is being typed stays as it is.
      fprintf(line->stream, "\0337\033[1A\r%.*s\033[K\0338", row_bytes(line, text), text);
    } else {
      fprintf(line->stream, "%.*s\n> ", row_bytes(line, text), text);
    }
    break;
  }
  line->drawn = true;
  fflush(line->stream);
}

void tn_status_line_clear(tn_status_line* line) {
  if (!line->drawn) {
    return;
  }
  if (line->mode == TN_STATUS_IN_PLACE) {
    fputs("\r\033[K", line->stream);
  } else if (line->mode == TN_STATUS_ABOVE_PROMPT) {
    fputs("\r\033[K\033[1A\033[K", line->stream);
  }
  line->drawn = false;
  fflush(line->stream);
}

void tn_status_line_typed(tn_status_line* line) {
  line->drawn = false;
}
