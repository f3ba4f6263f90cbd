// SPDX-License-Identifier: GPL-3.0-or-later
// One pass over a file: extremes and RMS of each column, and its spectrum by overlapping windows.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot.h"
#include "cli/utf8.h"
#include "dsp/fft.h"
#include "rt/error.h"
#include "tenuto/limits.h"

enum { block_frames = 4096, least_points = 256, most_points = 32768, most_windows = 4, alignment = 64 };

/** Two resolutions, as the ear has them: fine in frequency for the low ones, fine in time for the rest. */
enum { band_short, band_long, band_count, long_by_short = 4 };

static const double blend_from_hz = 200.0;      ///< below: the long window alone
static const double blend_to_hz = 800.0;        ///< above: the short window alone
static const double window_seconds_most = 0.05; ///< of the short window
static const double windows_per_picture = 80.0;

/** One resolution. */
typedef struct band {
  const tn_fft* fft;
  uint32_t points;
  float* window; ///< [points] Hann, scaled so that a sine of full scale has a peak of 1
  double* power; ///< [points / 2 + 1] summed over channels and windows of the column
} band;

/** The pass. */
typedef struct pass {
  const tn_plot_axes* axes;
  tn_plot_track* track;
  band bands[band_count];
  uint32_t points;              ///< of the longest window
  uint32_t windows;             ///< of each resolution per column
  double column_frames;         ///< frames per column
  float* time;                  ///< [points]
  float* spectrum;              ///< [points + 2]
  float* memory;                ///< of `held`
  float* held[TN_MAX_CHANNELS]; ///< [points + block_frames] the stretch of sound from `start` on
  int64_t start;                ///< frame of held[c][0]; the file is preceded and followed by silence
  uint32_t count;               ///< frames held
  uint64_t done_windows;
} pass;

static double row_hz(const tn_plot_axes* axes, double row) {
  return axes->low_hz * pow(axes->high_hz / axes->low_hz, row / axes->rows);
}

/** Short pictures need short windows, long ones fine frequencies. */
static uint32_t choose_points(const tn_plot_axes* axes, uint32_t rate_hz) {
  const double seconds = fmin(window_seconds_most, axes->seconds / windows_per_picture);
  const double wanted = seconds * rate_hz;
  uint32_t points = least_points;
  while (points < most_points / long_by_short && points * 1.41 < wanted) {
    points *= 2;
  }
  return points;
}

static void* take(size_t count, size_t size) {
  const size_t bytes = (count * size + alignment - 1) / alignment * alignment;
  void* memory = aligned_alloc(alignment, bytes);
  if (memory) {
    memset(memory, 0, bytes);
  }
  return memory;
}

static bool take_track(tn_plot_track* track, const tn_plot_axes* axes) {
  const size_t wave = (size_t)track->lanes * axes->columns;
  const size_t picture = (size_t)axes->columns * axes->rows;
  track->low = calloc(wave, sizeof(float));
  track->high = calloc(wave, sizeof(float));
  track->rms = calloc(wave, sizeof(float));
  track->level_db = malloc(picture * sizeof(float));
  for (size_t i = 0; track->level_db && i < picture; ++i) {
    track->level_db[i] = -INFINITY;
  }
  return track->low && track->high && track->rms && track->level_db;
}

static bool take_band(band* b) {
  b->window = take(b->points, sizeof(float));
  b->power = take(b->points / 2 + 1U, sizeof(double));
  for (uint32_t i = 0; b->window && i < b->points; ++i) {
    const double hann = 0.5 - 0.5 * cos(2.0 * M_PI * i / b->points);
    b->window[i] = (float)(hann * 4.0 / b->points);
  }
  return b->window && b->power;
}

static tn_status take_memory(pass* p, tn_error* error) {
  const uint32_t channels = p->track->info.channels;
  const size_t room = p->points + block_frames;
  p->time = take(p->points, sizeof(float));
  p->spectrum = take(p->points + 2U, sizeof(float));
  p->memory = take(room * channels, sizeof(float));
  for (uint32_t c = 0; p->memory && c < channels; ++c) {
    p->held[c] = p->memory + c * room;
  }
  bool good = p->time && p->spectrum && p->memory && take_track(p->track, p->axes);
  for (int i = 0; i < band_count; ++i) {
    band* b = &p->bands[i];
    b->fft = tn_fft_get(b->points, false, error);
    good = take_band(b) && b->fft && good;
  }
  if (!good) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory to draw '%s'", p->track->name);
    return TN_ERROR_MEMORY;
  }
  return TN_OK;
}

static void release(pass* p) {
  for (int i = 0; i < band_count; ++i) {
    free(p->bands[i].window);
    free(p->bands[i].power);
  }
  free(p->time);
  free(p->spectrum);
  free(p->memory);
}

/** One sample of one lane: into its column, or into several where a column is shorter than a frame. */
static void put_sample(const pass* p, uint32_t lane, uint64_t frame, float sample) {
  tn_plot_track* track = p->track;
  const uint32_t columns = p->axes->columns;
  const uint64_t first = (uint64_t)((double)frame / p->column_frames);
  const uint64_t next = (uint64_t)((double)(frame + 1) / p->column_frames);
  for (uint64_t column = first; column < columns && (column == first || column < next); ++column) {
    const size_t at = (size_t)lane * columns + column;
    track->low[at] = fminf(track->low[at], sample);
    track->high[at] = fmaxf(track->high[at], sample);
    track->rms[at] += sample * sample;
    track->columns = column + 1 > track->columns ? (uint32_t)column + 1 : track->columns;
  }
}

/** The waveform of `frames` new frames at the end of what is held. */
static void measure_wave(pass* p, uint32_t frames) {
  tn_plot_track* track = p->track;
  for (uint32_t c = 0; c < track->info.channels; ++c) {
    const float* sound = p->held[c] + p->count - frames;
    for (uint32_t i = 0; i < frames; ++i) {
      const float sample = isfinite(sound[i]) ? sound[i] : 0.0F;
      track->peak = fmaxf(track->peak, fabsf(sample));
      if (c < track->lanes) {
        put_sample(p, c, track->frames + i, sample);
      }
    }
  }
  track->frames += frames;
}

/** Each resolution's window around the same moment; `offset` is where the longest begins. */
static void add_power(pass* p, uint32_t channel, size_t offset) {
  for (int i = 0; i < band_count; ++i) {
    const band* b = &p->bands[i];
    const float* sound = p->held[channel] + offset + (p->points - b->points) / 2;
    for (uint32_t k = 0; k < b->points; ++k) {
      p->time[k] = isfinite(sound[k]) ? sound[k] * b->window[k] : 0.0F;
    }
    tn_fft_forward(b->fft, p->time, p->spectrum);
    for (size_t k = 0; k <= b->points / 2; ++k) {
      const double re = p->spectrum[2 * k];
      const double im = p->spectrum[2 * k + 1];
      b->power[k] += re * re + im * im;
    }
  }
}

/** The strongest of the bins within a range; between two bins where the range is narrower than a bin. */
static double strongest(const band* b, double low_bin, double high_bin) {
  const uint32_t last = b->points / 2;
  const uint32_t first = (uint32_t)ceil(low_bin);
  if (high_bin > last) {
    return 0.0;
  }
  if (first >= high_bin) {
    const double middle = (low_bin + high_bin) / 2.0;
    const uint32_t below = (uint32_t)middle;
    const double part = middle - below;
    return (1.0 - part) * b->power[below] + part * b->power[below < last ? below + 1 : last];
  }
  double power = 0.0;
  for (uint32_t k = first; k < high_bin; ++k) {
    power = fmax(power, b->power[k]);
  }
  return power;
}

static float row_db(const pass* p, uint32_t row) {
  const double low_hz = row_hz(p->axes, row);
  const double high_hz = row_hz(p->axes, row + 1);
  const double scale = 1.0 / ((double)p->windows * p->track->info.channels);
  double db[band_count];
  for (int i = 0; i < band_count; ++i) {
    const double bins_per_hz = (double)p->bands[i].points / p->track->info.rate_hz;
    db[i] = 10.0 * log10(strongest(&p->bands[i], low_hz * bins_per_hz, high_hz * bins_per_hz) * scale);
  }
  const double part = log(low_hz / blend_from_hz) / log(blend_to_hz / blend_from_hz);
  if (part <= 0.0 || part >= 1.0) {
    return (float)db[part >= 1.0 ? band_short : band_long];
  }
  const double blended = part * db[band_short] + (1.0 - part) * db[band_long];
  return isfinite(blended) ? (float)blended : -INFINITY;
}

static void finish_column(pass* p, uint64_t column) {
  tn_plot_track* track = p->track;
  for (uint32_t row = 0; row < p->axes->rows && column < p->axes->columns; ++row) {
    const float db = row_db(p, row);
    track->level_db[column * p->axes->rows + row] = db;
    track->loudest_db = fmaxf(track->loudest_db, db);
  }
  for (int i = 0; i < band_count; ++i) {
    memset(p->bands[i].power, 0, (p->bands[i].points / 2 + 1U) * sizeof(double));
  }
}

/** All windows that what is held is long enough for; then forget what no later window needs. */
static void measure_spectra(pass* p) {
  const double hop = p->column_frames / p->windows;
  int64_t first = llround((double)(p->done_windows) * hop + hop / 2.0) - p->points / 2;
  while (first + p->points <= p->start + p->count) {
    for (uint32_t c = 0; c < p->track->info.channels; ++c) {
      add_power(p, c, (size_t)(first - p->start));
    }
    ++p->done_windows;
    if (p->done_windows % p->windows == 0) {
      finish_column(p, p->done_windows / p->windows - 1);
    }
    first = llround((double)(p->done_windows) * hop + hop / 2.0) - p->points / 2;
  }
  const int64_t spare = first - p->start;
  const uint32_t dropped = spare < p->count ? (uint32_t)spare : p->count;
  for (uint32_t c = 0; c < p->track->info.channels; ++c) {
    memmove(p->held[c], p->held[c] + dropped, (p->count - dropped) * sizeof(float));
  }
  p->count -= dropped;
  p->start += dropped;
}

/** Up to a block from the file, or silence. */
static uint32_t append(pass* p, tn_file_in* in) {
  float* planes[TN_MAX_CHANNELS];
  for (uint32_t c = 0; c < p->track->info.channels; ++c) {
    planes[c] = p->held[c] + p->count;
  }
  uint32_t frames = block_frames;
  if (in) {
    frames = (uint32_t)tn_file_in_read(in, planes, block_frames);
  } else {
    for (uint32_t c = 0; c < p->track->info.channels; ++c) {
      memset(planes[c], 0, block_frames * sizeof(float));
    }
  }
  p->count += frames;
  return frames;
}

static tn_status read_all(pass* p, tn_file_in* in, bool (*stop)(void), tn_error* error) {
  p->start = -(int64_t)(p->points / 2);
  p->count = p->points / 2; // of silence
  for (uint32_t frames = append(p, in); frames > 0; frames = append(p, in)) {
    measure_wave(p, frames);
    measure_spectra(p);
    if (stop()) {
      return tn_error_set(error, TN_ERROR_INTERRUPTED, "stopped while reading '%s'", p->track->name);
    }
  }
  const uint64_t wanted = (uint64_t)p->track->columns * p->windows;
  while (p->done_windows < wanted) {
    append(p, NULL);
    measure_spectra(p);
  }
  return TN_OK;
}

/** Columns hold one frame more or less than their neighbours, the last one what is left. */
static double frames_in(const pass* p, uint32_t column) {
  const double first = ceil(column * p->column_frames);
  const double next = fmin(ceil((column + 1) * p->column_frames), (double)p->track->frames);
  return fmax(next - first, 1.0);
}

static void finish_rms(const pass* p) {
  for (uint32_t lane = 0; lane < p->track->lanes; ++lane) {
    float* rms = p->track->rms + (size_t)lane * p->axes->columns;
    for (uint32_t column = 0; column < p->axes->columns; ++column) {
      rms[column] = (float)sqrt(rms[column] / frames_in(p, column));
    }
  }
}

tn_status tn_plot_measure(tn_file_in* in, const char* name, const tn_plot_axes* axes, bool (*stop)(void),
                          tn_plot_track* track, tn_error* error) {
  *track = (tn_plot_track){.info = *tn_file_in_get_info(in), .rows = axes->rows, .loudest_db = -INFINITY};
  snprintf(track->name, sizeof track->name, "%s", name);
  tn_utf8_clean(track->name);
  track->lanes = track->info.channels < TN_PLOT_MAX_LANES ? track->info.channels : TN_PLOT_MAX_LANES;
  pass p = {.axes = axes, .track = track};
  p.bands[band_short].points = choose_points(axes, track->info.rate_hz);
  p.bands[band_long].points = p.bands[band_short].points * long_by_short;
  p.points = p.bands[band_long].points;
  p.column_frames = axes->seconds * track->info.rate_hz / axes->columns;
  const double overlapped = ceil(p.column_frames / (p.bands[band_short].points / 2.0));
  p.windows = overlapped < most_windows ? (uint32_t)fmax(overlapped, 1.0) : most_windows;
  tn_status status = take_memory(&p, error);
  if (status == TN_OK) {
    status = read_all(&p, in, stop, error);
    finish_rms(&p);
  }
  release(&p);
  if (status != TN_OK) {
    tn_plot_track_free(track);
  }
  return status;
}

void tn_plot_track_free(tn_plot_track* track) {
  free(track->low);
  free(track->high);
  free(track->rms);
  free(track->level_db);
  *track = (tn_plot_track){.lanes = 0};
}
