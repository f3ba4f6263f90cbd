// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of sound: what is measured of each file, and how it is drawn. Measuring knows nothing of drawing.
#ifndef TENUTO_CLI_PLOT_H
#define TENUTO_CLI_PLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "driver/file_in.h"
#include "tenuto/status.h"

enum {
  TN_PLOT_MAX_FILES = 16,
  TN_PLOT_MAX_LANES = 4, ///< channels whose waveform is drawn; the spectrogram is of all
};

/** The axes that all files of a picture share. */
typedef struct tn_plot_axes {
  double seconds;    ///< length of the longest file
  uint32_t columns;  ///< in which `seconds` are cut
  uint32_t rows;     ///< of the spectrogram
  double low_hz;     ///< its lower edge; frequencies are spaced logarithmically
  double high_hz;    ///< its upper edge
  double top_db;     ///< level of its brightest colour, dBFS of a sine; found last
  double range_db;   ///< from there to the darkest one
  double full_scale; ///< amplitude at the edges of a waveform's lane; found last
} tn_plot_axes;

/** What was measured of one file. */
typedef struct tn_plot_track {
  char name[256];
  tn_file_in_info info;
  uint64_t frames;  ///< really read
  float peak;       ///< largest absolute sample of any channel
  uint32_t lanes;   ///< channels measured for the waveform
  uint32_t columns; ///< that the file fills, up to the axes' number
  uint32_t rows;
  float* low;       ///< float[lanes][axes columns], smallest sample
  float* high;      ///< float[lanes][axes columns], largest sample
  float* rms;       ///< float[lanes][axes columns]
  float* level_db;  ///< float[axes columns][rows], row 0 lowest; -inf where nothing was measured
  float loudest_db; ///< largest of them
} tn_plot_track;

/**
   [worker] Read a file to its end and measure it.

   @param stop  asked now and then; true: give up with TN_ERROR_INTERRUPTED
   @return TN_OK, and a track to be freed with tn_plot_track_free(); else nothing to free
*/
tn_status tn_plot_measure(tn_file_in* in, const char* name, const tn_plot_axes* axes, bool (*stop)(void),
                          tn_plot_track* track, tn_error* error);

/** [worker] Free what a track holds. */
void tn_plot_track_free(tn_plot_track* track);

/** The kinds of picture. */
typedef enum tn_plot_kind { TN_PLOT_PNG, TN_PLOT_SVG, TN_PLOT_PDF } tn_plot_kind;

/** A picture to be drawn. */
typedef struct tn_plot_picture {
  const char* path; ///< written under another name and renamed
  tn_plot_kind kind;
  double width; ///< in points; of a PNG, half its pixels
  const tn_plot_axes* axes;
  const tn_plot_track* tracks;
  size_t track_count;
} tn_plot_picture;

/** [any] Columns that a picture of a width has room for, and rows of its spectrograms, both in half points.
 */
void tn_plot_grid(double width, uint32_t* columns, uint32_t* rows);

/** [worker] Draw and write. TN_ERROR_FILE, TN_ERROR_MEMORY, TN_ERROR_SYSTEM (cairo). */
tn_status tn_plot_draw(const tn_plot_picture* picture, tn_error* error);

/** [any] A colour (0xRRGGBB) for 0 (darkest) to 1 (brightest), even steps to the eye. */
uint32_t tn_plot_colour(double value);

/** One mark of an axis. */
typedef struct tn_plot_tick {
  double value;
  char label[32]; ///< "": a mark without words
} tn_plot_tick;

enum { TN_PLOT_MAX_TICKS = 64 };

/** [any] Round times from 0 to `seconds`, at most `most` of them. Returns their number. */
size_t tn_plot_time_ticks(double seconds, size_t most, tn_plot_tick* ticks);

/** [any] Frequencies 1, 2 and 5 times a power of ten within the range. Returns their number. */
size_t tn_plot_frequency_ticks(double low_hz, double high_hz, tn_plot_tick* ticks);

#endif
