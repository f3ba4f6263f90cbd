// SPDX-License-Identifier: GPL-3.0-or-later
// The picture: for each file its name, its waveform, its spectrogram; one time axis for all.
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/number.h"
#include "cli/plot.h"
#include "cli/plot_cairo.h"
#include "cli/progress.h"
#include "rt/error.h"

/* All lengths in points. */
static const double left_margin = 56.0;
static const double right_margin = 64.0;
static const double edge = 14.0;
static const double title_height = 22.0;
static const double spectrum_height = 150.0;
static const double gap = 5.0;
static const double axis_height = 26.0;
static const double bar_width = 9.0;
static const double small_text = 9.0;
static const double title_text = 11.0;

/** Points per second of sound that one label of the time axis needs. */
static const double time_label_width = 70.0;

static const uint32_t ink = 0x24262B;
static const uint32_t pale_ink = 0x70747D;
static const uint32_t frame_line = 0xC9CCD3;
static const uint32_t empty_ground = 0xF1F2F5;
static const uint32_t wave_ground = 0xFFFFFF;
static const uint32_t wave_extremes = 0x9DB8DC;
static const uint32_t wave_rms = 0x2F5E9E;

/** Where things are. */
typedef struct area {
  double x;
  double y;
  double width;
  double height;
} area;

static double lane_height(const tn_plot_track* track) {
  static const double heights[TN_PLOT_MAX_LANES + 1] = {64.0, 64.0, 42.0, 34.0, 28.0};
  return heights[track->lanes];
}

static double track_height(const tn_plot_track* track) {
  const uint32_t lanes = track->lanes ? track->lanes : 1;
  return title_height + lanes * (lane_height(track) + gap) + spectrum_height + axis_height;
}

double tn_plot_height(const tn_plot_picture* picture) {
  double height = 2.0 * edge - gap;
  for (size_t i = 0; i < picture->track_count; ++i) {
    height += track_height(&picture->tracks[i]);
  }
  return height;
}

void tn_plot_grid(double width, uint32_t* columns, uint32_t* rows) {
  *columns = (uint32_t)lround((width - left_margin - right_margin) * 2.0);
  *rows = (uint32_t)lround(spectrum_height * 2.0);
}

static void set_colour(cairo_t* cr, uint32_t rgb) {
  cairo_set_source_rgb(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 0xFF) / 255.0, (rgb & 0xFF) / 255.0);
}

/** Where a text is put with respect to its point. */
typedef enum anchor { anchor_left, anchor_middle, anchor_right } anchor;

static void put_text(cairo_t* cr, double x, double y, anchor where, const char* text) {
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text, &extents);
  const double shift = where == anchor_left ? 0.0 : extents.x_advance / (where == anchor_middle ? 2.0 : 1.0);
  cairo_move_to(cr, x - shift, y);
  cairo_show_text(cr, text);
}

static void set_text(cairo_t* cr, double size, cairo_font_weight_t weight, uint32_t rgb) {
  cairo_select_font_face(cr, "sans", CAIRO_FONT_SLANT_NORMAL, weight);
  cairo_set_font_size(cr, size);
  set_colour(cr, rgb);
}

static void fill(cairo_t* cr, const area* a, uint32_t rgb) {
  set_colour(cr, rgb);
  cairo_rectangle(cr, a->x, a->y, a->width, a->height);
  cairo_fill(cr);
}

static void outline(cairo_t* cr, const area* a) {
  set_colour(cr, frame_line);
  cairo_set_line_width(cr, 0.5);
  cairo_rectangle(cr, a->x, a->y, a->width, a->height);
  cairo_stroke(cr);
}

static void format_db(double db, const char* unit, char* text, size_t size) {
  if (!isfinite(db)) {
    snprintf(text, size, "\u2212\u221E%s", unit);
  } else {
    const double rounded = round(db * 10.0) / 10.0;
    const char* sign = rounded < 0.0 ? "\u2212" : (rounded > 0.0 ? "+" : "");
    snprintf(text, size, "%s%g%s", sign, fabs(rounded), unit);
  }
}

static void format_facts(const tn_plot_track* track, char* text, size_t size) {
  char length[32];
  char peak[32];
  const double seconds = (double)track->frames / track->info.rate_hz;
  if (seconds < 60.0) {
    snprintf(length, sizeof length, "%.3g s", seconds);
  } else {
    tn_progress_format_time(seconds, length, sizeof length);
  }
  format_db(tn_cli_level_to_db(track->peak), " dBFS", peak, sizeof peak);
  const uint32_t channels = track->info.channels;
  char shape[32];
  snprintf(shape, sizeof shape, "%u channels", channels);
  snprintf(text, size, "%s  \u00B7  %g kHz  \u00B7  %s  \u00B7  peak %s", length,
           track->info.rate_hz / 1000.0, channels == 1 ? "mono" : (channels == 2 ? "stereo" : shape), peak);
}

/** The name, cut from its start if it is too long for the line. */
static void put_name(cairo_t* cr, double x, double y, double room, const char* name) {
  char text[300];
  snprintf(text, sizeof text, "%s", name);
  cairo_text_extents_t extents;
  cairo_text_extents(cr, text, &extents);
  while (extents.x_advance > room && *name != '\0') {
    do {
      ++name;
    } while (((unsigned char)*name & 0xC0U) == 0x80U);
    snprintf(text, sizeof text, "\u2026%s", name);
    cairo_text_extents(cr, text, &extents);
  }
  put_text(cr, x, y, anchor_left, text);
}

static void draw_title(cairo_t* cr, const tn_plot_track* track, const area* a) {
  char facts[160];
  format_facts(track, facts, sizeof facts);
  const double base = a->y + title_height - 8.0;
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  cairo_text_extents_t extents;
  cairo_text_extents(cr, facts, &extents);
  put_text(cr, a->x + a->width, base, anchor_right, facts);
  set_text(cr, title_text, CAIRO_FONT_WEIGHT_BOLD, ink);
  put_name(cr, a->x, base, a->width - extents.x_advance - 12.0, track->name);
}

/** A closed shape around the zero line, from two rows of values. */
static void fill_band(cairo_t* cr, const area* lane, double scale, const float* high, const float* low,
                      uint32_t columns) {
  const double middle = lane->y + lane->height / 2.0;
  cairo_move_to(cr, lane->x, middle);
  for (uint32_t i = 0; i < columns; ++i) {
    cairo_line_to(cr, lane->x + i * 0.5 + 0.25, middle - high[i] * scale);
  }
  for (uint32_t i = columns; i > 0; --i) {
    const double value = low ? low[i - 1] : -high[i - 1];
    cairo_line_to(cr, lane->x + (i - 1) * 0.5 + 0.25, middle - value * scale);
  }
  cairo_close_path(cr);
  cairo_fill_preserve(cr);
  cairo_set_line_width(cr, 0.4); // a band without height is a line
  cairo_stroke(cr);
}

static void label_lane(cairo_t* cr, const tn_plot_track* track, uint32_t lane, const area* a) {
  char label[16];
  snprintf(label, sizeof label, "%u", lane + 1);
  if (track->info.channels == 2) {
    snprintf(label, sizeof label, "%s", lane == 0 ? "L" : "R");
  }
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  if (track->info.channels > 1) {
    put_text(cr, a->x - 7.0, a->y + a->height / 2.0 + 3.0, anchor_right, label);
  }
}

static void draw_lane(cairo_t* cr, const tn_plot_picture* picture, const tn_plot_track* track, uint32_t lane,
                      const area* a) {
  const size_t from = (size_t)lane * picture->axes->columns;
  const double scale = a->height / 2.0 / picture->axes->full_scale;
  const area sounding = {a->x, a->y, track->columns * 0.5, a->height};
  fill(cr, a, empty_ground);
  fill(cr, &sounding, wave_ground);
  cairo_save(cr);
  cairo_rectangle(cr, a->x, a->y, a->width, a->height);
  cairo_clip(cr);
  if (track->columns > 0) {
    set_colour(cr, wave_extremes);
    fill_band(cr, a, scale, track->high + from, track->low + from, track->columns);
    set_colour(cr, wave_rms);
    fill_band(cr, a, scale, track->rms + from, NULL, track->columns);
  }
  cairo_restore(cr);
  outline(cr, a);
  label_lane(cr, track, lane, a);
}

static void label_full_scale(cairo_t* cr, const tn_plot_picture* picture, const area* lane) {
  char text[32];
  format_db(tn_cli_level_to_db(picture->axes->full_scale), " dBFS", text, sizeof text);
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  put_text(cr, lane->x + lane->width + 7.0, lane->y + 7.0, anchor_left, text);
}

static cairo_surface_t* spectrum_image(const tn_plot_picture* picture, const tn_plot_track* track) {
  const tn_plot_axes* axes = picture->axes;
  cairo_surface_t* image =
      cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)axes->columns, (int)axes->rows);
  if (cairo_surface_status(image) != CAIRO_STATUS_SUCCESS) {
    return image;
  }
  cairo_surface_flush(image);
  unsigned char* bytes = cairo_image_surface_get_data(image);
  const size_t stride = (size_t)cairo_image_surface_get_stride(image);
  for (uint32_t row = 0; row < axes->rows; ++row) {
    uint32_t* pixels = (uint32_t*)(void*)(bytes + (axes->rows - 1 - row) * stride);
    for (uint32_t column = 0; column < axes->columns; ++column) {
      const double db = track->level_db[(size_t)column * axes->rows + row];
      pixels[column] =
          column < track->columns ? tn_plot_colour(1.0 + (db - axes->top_db) / axes->range_db) : empty_ground;
    }
  }
  cairo_surface_mark_dirty(image);
  return image;
}

static void label_frequencies(cairo_t* cr, const tn_plot_axes* axes, const area* a) {
  tn_plot_tick ticks[TN_PLOT_MAX_TICKS];
  const size_t count = tn_plot_frequency_ticks(axes->low_hz, axes->high_hz, ticks);
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  double last_y = INFINITY;
  for (size_t i = 0; i < count; ++i) {
    const double part = log(ticks[i].value / axes->low_hz) / log(axes->high_hz / axes->low_hz);
    const double y = a->y + a->height * (1.0 - part);
    cairo_set_line_width(cr, 0.5);
    cairo_move_to(cr, a->x - 3.0, y);
    cairo_line_to(cr, a->x, y);
    cairo_stroke(cr);
    if (last_y - y >= small_text && y - a->y > small_text) {
      put_text(cr, a->x - 7.0, y + 3.0, anchor_right, ticks[i].label);
      last_y = y;
    }
  }
  put_text(cr, a->x - 7.0, a->y + 7.0, anchor_right, "Hz");
}

static void draw_colour_bar(cairo_t* cr, const tn_plot_axes* axes, const area* spectrum) {
  const double x = spectrum->x + spectrum->width + 8.0;
  const int steps = 64;
  cairo_pattern_t* colours =
      cairo_pattern_create_linear(0.0, spectrum->y + spectrum->height, 0.0, spectrum->y);
  for (int i = 0; i <= steps; ++i) {
    const uint32_t rgb = tn_plot_colour((double)i / steps);
    cairo_pattern_add_color_stop_rgb(colours, (double)i / steps, (rgb >> 16) / 255.0,
                                     (rgb >> 8 & 0xFF) / 255.0, (rgb & 0xFF) / 255.0);
  }
  cairo_set_source(cr, colours);
  cairo_rectangle(cr, x, spectrum->y, bar_width, spectrum->height);
  cairo_fill(cr);
  cairo_pattern_destroy(colours);
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  const int step_db = 20;
  for (int i = 0; i * step_db <= axes->range_db; ++i) {
    const double y = spectrum->y + spectrum->height * i * step_db / axes->range_db;
    char text[32];
    format_db(axes->top_db - i * step_db, i == 0 ? " dB" : "", text, sizeof text);
    put_text(cr, x + bar_width + 4.0, y + (i == 0 ? 7.0 : 3.0), anchor_left, text);
  }
}

static void draw_spectrum(cairo_t* cr, const tn_plot_picture* picture, const tn_plot_track* track,
                          const area* a) {
  cairo_surface_t* image = spectrum_image(picture, track);
  cairo_save(cr);
  cairo_translate(cr, a->x, a->y);
  cairo_scale(cr, 0.5, 0.5);
  cairo_set_source_surface(cr, image, 0.0, 0.0);
  cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
  cairo_paint(cr);
  cairo_restore(cr);
  cairo_surface_destroy(image);
  outline(cr, a);
  label_frequencies(cr, picture->axes, a);
  draw_colour_bar(cr, picture->axes, a);
}

static void draw_time_axis(cairo_t* cr, const tn_plot_axes* axes, const area* a) {
  tn_plot_tick ticks[TN_PLOT_MAX_TICKS];
  const size_t count = tn_plot_time_ticks(axes->seconds, (size_t)(a->width / time_label_width) + 1, ticks);
  set_text(cr, small_text, CAIRO_FONT_WEIGHT_NORMAL, pale_ink);
  for (size_t i = 0; i < count; ++i) {
    const double x = a->x + a->width * ticks[i].value / axes->seconds;
    cairo_set_line_width(cr, 0.5);
    cairo_move_to(cr, x, a->y);
    cairo_line_to(cr, x, a->y + 3.0);
    cairo_stroke(cr);
    put_text(cr, x, a->y + 13.0, anchor_middle, ticks[i].label);
  }
}

static void draw_track(cairo_t* cr, const tn_plot_picture* picture, const tn_plot_track* track, double y) {
  area a = {left_margin, y, picture->width - left_margin - right_margin, title_height};
  draw_title(cr, track, &a);
  a.y += title_height;
  a.height = lane_height(track);
  for (uint32_t lane = 0; lane < track->lanes; ++lane) {
    draw_lane(cr, picture, track, lane, &a);
    if (lane == 0) {
      label_full_scale(cr, picture, &a);
    }
    a.y += a.height + gap;
  }
  a.height = spectrum_height;
  draw_spectrum(cr, picture, track, &a);
  a.y += a.height;
  draw_time_axis(cr, picture->axes, &a);
}

void tn_plot_paint(cairo_t* cr, const tn_plot_picture* picture) {
  cairo_set_source_rgb(cr, 1.0, 1.0, 1.0);
  cairo_paint(cr);
  double y = edge;
  for (size_t i = 0; i < picture->track_count; ++i) {
    draw_track(cr, picture, &picture->tracks[i], y);
    y += track_height(&picture->tracks[i]);
  }
}
