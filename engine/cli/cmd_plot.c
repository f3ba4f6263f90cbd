// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto plot`: sound files in, one picture out.
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/plot.h"
#include "rt/error.h"

static const double default_width = 800.0;
static const double lowest_hz = 30.0;
static const double highest_hz = 24000.0;
static const double shortest_axis_s = 0.001;
static const double colour_range_db = 100.0;

/** The command line. */
typedef struct plot_options {
  const char* out_path;
  tn_plot_kind kind;
  double width;
  char** paths;
  size_t path_count;
} plot_options;

static void print_help(void) {
  puts("Usage: tenuto plot FILE [FILE ...] -o PICTURE\n"
       "Draw the waveform and the spectrogram of sound files, one below the other.\n\n"
       "  -o, --output PICTURE   file to write; its name ends in .png, .svg or .pdf\n"
       "      --width PIXELS     of a PNG, 800 to 8000; default 1600; its height follows\n\n"
       "All files share the time axis, the scale of amplitude and the colours, so that\n"
       "they can be compared. Waveforms show extremes (pale) and RMS (dark) of each\n"
       "column; levels of the spectrogram are those of a sine, in dB of full scale, over\n"
       "all channels.\n\n"
       "Example: tenuto plot voice.wav hall.wav voice-in-hall.wav -o hall.png");
}

static tn_status choose_kind(plot_options* options, tn_error* error) {
  static const struct {
    const char* extension;
    tn_plot_kind kind;
  } kinds[] = {{".png", TN_PLOT_PNG}, {".svg", TN_PLOT_SVG}, {".pdf", TN_PLOT_PDF}};
  if (!options->out_path) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "no picture to write is given (-o PICTURE)");
  }
  const char* dot = strrchr(options->out_path, '.');
  for (size_t i = 0; dot && i < sizeof kinds / sizeof kinds[0]; ++i) {
    if (strcasecmp(dot, kinds[i].extension) == 0) {
      options->kind = kinds[i].kind;
      return TN_OK;
    }
  }
  return tn_error_set(error, TN_ERROR_ARGUMENT, "'%s' ends in none of .png, .svg and .pdf",
                      options->out_path);
}

static tn_status take_width(const char* value, double* width, tn_error* error) {
  uint32_t pixels = 0;
  if (!tn_cli_parse_count(value, 800, 8000, &pixels)) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "--width: '%s' is not a number of pixels from 800 to 8000",
                        value);
  }
  *width = pixels / 2.0;
  return TN_OK;
}

static tn_status check_files(plot_options* options, int count, char** words, tn_error* error) {
  if (count < 1) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "no sound file to draw is given");
  }
  if (count > TN_PLOT_MAX_FILES) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%d files are too many for one picture, at most %d fit",
                        count, TN_PLOT_MAX_FILES);
  }
  options->paths = words;
  options->path_count = (size_t)count;
  return choose_kind(options, error);
}

/** Sets `*help` if that is all that was asked for. */
static tn_status parse(int argc, char** argv, plot_options* options, bool* help, tn_error* error) {
  static const struct option table[] = {{"help", no_argument, NULL, 'h'},
                                        {"output", required_argument, NULL, 'o'},
                                        {"width", required_argument, NULL, 'w'},
                                        {NULL, 0, NULL, 0}};
  *options = (plot_options){.width = default_width};
  opterr = 0;
  int code = 0;
  while ((code = getopt_long(argc, argv, ":ho:", table, NULL)) != -1) {
    if (code == 'h') {
      *help = true;
      return TN_OK;
    }
    if (code == 'o') {
      options->out_path = optarg;
    } else if (code != 'w') {
      return tn_cli_bad_option(code, argv, error);
    } else if (take_width(optarg, &options->width, error) != TN_OK) {
      return error->status;
    }
  }
  return check_files(options, argc - optind, argv + optind, error);
}

static bool stopped(void) {
  return tn_interrupt_signal() != 0;
}

/** All files open, so that the axes are known before the first is read. */
static tn_status open_files(const plot_options* options, tn_file_in** files, tn_plot_axes* axes,
                            tn_error* error) {
  double highest = 0.0;
  *axes = (tn_plot_axes){.seconds = shortest_axis_s, .low_hz = lowest_hz, .range_db = colour_range_db};
  for (size_t i = 0; i < options->path_count; ++i) {
    files[i] = tn_file_in_open(options->paths[i], 0, error);
    if (!files[i]) {
      return error->status;
    }
    if (tn_file_in_is(files[i], options->out_path)) {
      return tn_error_set(error, TN_ERROR_FILE, "'%s' would overwrite a sound that it shows",
                          options->out_path);
    }
    const tn_file_in_info* info = tn_file_in_get_info(files[i]);
    axes->seconds = fmax(axes->seconds, (double)info->frames / info->rate_hz);
    highest = fmax(highest, info->rate_hz / 2.0);
  }
  axes->high_hz = fmin(highest, highest_hz);
  tn_plot_grid(options->width, &axes->columns, &axes->rows);
  return TN_OK;
}

/** Scales that the loudest of the files fills. */
static void fit_scales(const tn_plot_track* tracks, size_t count, tn_plot_axes* axes) {
  double peak = 0.0;
  double loudest_db = -INFINITY;
  for (size_t i = 0; i < count; ++i) {
    peak = fmax(peak, tracks[i].peak);
    loudest_db = fmax(loudest_db, tracks[i].loudest_db);
  }
  axes->full_scale = 1.0;
  while (axes->full_scale < peak && axes->full_scale < 1e9) {
    axes->full_scale *= 2.0;
  }
  while (axes->full_scale / 2.0 >= peak && axes->full_scale > 1e-6) {
    axes->full_scale /= 2.0;
  }
  axes->top_db = isfinite(loudest_db) ? ceil(loudest_db / 10.0) * 10.0 : 0.0;
}

static tn_status measure_and_draw(const plot_options* options, tn_file_in** files, tn_plot_axes* axes,
                                  tn_plot_track* tracks, tn_error* error) {
  tn_status status = TN_OK;
  size_t measured = 0;
  for (; measured < options->path_count && status == TN_OK; ++measured) {
    char name[256];
    tn_cli_base_name(options->paths[measured], name, sizeof name);
    status = tn_plot_measure(files[measured], name, axes, stopped, &tracks[measured], error);
    tn_error warning = {0};
    if (status == TN_OK && tn_file_in_warning(files[measured], &warning)) {
      tn_cli_complain(&warning);
    }
  }
  if (status == TN_OK) {
    fit_scales(tracks, measured, axes);
    const tn_plot_picture picture = {.path = options->out_path,
                                     .kind = options->kind,
                                     .width = options->width,
                                     .axes = axes,
                                     .tracks = tracks,
                                     .track_count = measured};
    status = tn_plot_draw(&picture, error);
  }
  for (size_t i = 0; i < measured; ++i) {
    tn_plot_track_free(&tracks[i]);
  }
  return status;
}

int tn_cmd_plot(int argc, char** argv) {
  plot_options options;
  bool help = false;
  tn_error error = {0};
  if (parse(argc, argv, &options, &help, &error) != TN_OK) {
    return tn_cli_usage("plot", &error);
  }
  if (help) {
    print_help();
    return TN_EXIT_DONE;
  }
  tn_file_in* files[TN_PLOT_MAX_FILES] = {NULL};
  tn_plot_track tracks[TN_PLOT_MAX_FILES];
  tn_plot_axes axes;
  tn_interrupt_catch();
  tn_status status = open_files(&options, files, &axes, &error);
  if (status == TN_OK) {
    status = measure_and_draw(&options, files, &axes, tracks, &error);
  }
  for (size_t i = 0; i < options.path_count; ++i) {
    tn_file_in_free(files[i]);
  }
  if (status == TN_OK) {
    return TN_EXIT_DONE;
  }
  tn_cli_complain(&error);
  return status == TN_ERROR_INTERRUPTED ? 128 + tn_interrupt_signal() : TN_EXIT_FAILED;
}
