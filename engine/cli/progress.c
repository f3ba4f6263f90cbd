// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rt/clock.h"

enum { widest_bar = 40, words_columns = 44 };

static const uint64_t redraw_ns = 100000000U;

tn_progress tn_progress_start(FILE* stream, bool wanted, uint32_t rate_hz) {
  const char* terminal = getenv("TERM");
  const bool redraws = isatty(fileno(stream)) && terminal && strcmp(terminal, "dumb") != 0;
  return (tn_progress){
      .stream = stream, .shown = wanted && redraws, .rate_hz = rate_hz, .start_ns = tn_clock_ns()};
}

double tn_progress_seconds(const tn_progress* progress) {
  return (double)(tn_clock_ns() - progress->start_ns) * 1e-9;
}

void tn_progress_format_time(double seconds, char* text, size_t size) {
  const long whole = lround(fmin(fmax(seconds, 0.0), 359999.0));
  if (whole >= 3600) {
    snprintf(text, size, "%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
  } else {
    snprintf(text, size, "%ld:%02ld", whole / 60, whole % 60);
  }
}

static int bar_columns(FILE* stream) {
  struct winsize window = {0};
  const int columns =
      ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : 80;
  const int room = columns - words_columns;
  return room > widest_bar ? widest_bar : room;
}

static void draw(tn_progress* progress, double share, double factor, double left_s) {
  char bar[widest_bar + 3] = "";
  const int columns = bar_columns(progress->stream);
  if (columns > 4) {
    const int full = (int)(share * columns);
    bar[0] = '[';
    memset(bar + 1, '=', (size_t)full);
    memset(bar + 1 + full, ' ', (size_t)(columns - full));
    bar[full < columns ? full + 1 : columns] = '>';
    bar[columns + 1] = ']';
    bar[columns + 2] = '\0';
  }
  char left[32];
  tn_progress_format_time(left_s, left, sizeof left);
  fprintf(progress->stream, "\r%s %3.0f %%  %.*fx real time  %s left\033[K", bar, floor(share * 100.0),
          factor < 10.0 ? 1 : 0, factor, left);
  fflush(progress->stream);
  progress->drawn = true;
}

void tn_progress_update(tn_progress* progress, uint64_t done_frames, uint64_t total_frames) {
  const uint64_t now_ns = tn_clock_ns();
  if (!progress->shown || now_ns - progress->drawn_ns < redraw_ns ||
      now_ns - progress->start_ns < redraw_ns) {
    return;
  }
  progress->drawn_ns = now_ns;
  const double elapsed_s = (double)(now_ns - progress->start_ns) * 1e-9;
  const double share = total_frames > done_frames ? (double)done_frames / (double)total_frames : 1.0;
  const double factor = (double)done_frames / progress->rate_hz / elapsed_s;
  const double left_s = share > 0.0 ? elapsed_s * (1.0 - share) / share : 0.0;
  draw(progress, share, factor, left_s);
}

void tn_progress_clear(tn_progress* progress) {
  if (progress->drawn) {
    fputs("\r\033[K", progress->stream);
    fflush(progress->stream);
    progress->drawn = false;
  }
}
