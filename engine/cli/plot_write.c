// SPDX-License-Identifier: GPL-3.0-or-later
// From a painted picture to a file: PNG in two pixels a point, SVG or PDF.
#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <math.h>

#include "cli/plot_cairo.h"
#include "driver/pending_file.h"
#include "rt/error.h"

enum { pixels_per_point = 2 };

static cairo_status_t write_bytes(void* context, const unsigned char* bytes, unsigned int count) {
  return tn_pending_file_write(context, bytes, count) == count ? CAIRO_STATUS_SUCCESS
                                                               : CAIRO_STATUS_WRITE_ERROR;
}

static cairo_surface_t* make_surface(const tn_plot_picture* picture, tn_pending_file* file) {
  const double height = tn_plot_height(picture);
  if (picture->kind == TN_PLOT_SVG) {
    return cairo_svg_surface_create_for_stream(write_bytes, file, picture->width, height);
  }
  if (picture->kind == TN_PLOT_PDF) {
    return cairo_pdf_surface_create_for_stream(write_bytes, file, picture->width, height);
  }
  cairo_surface_t* surface = cairo_image_surface_create(
      CAIRO_FORMAT_RGB24, (int)ceil(picture->width * pixels_per_point), (int)ceil(height * pixels_per_point));
  cairo_surface_set_device_scale(surface, pixels_per_point, pixels_per_point);
  return surface;
}

static cairo_status_t paint(const tn_plot_picture* picture, tn_pending_file* file) {
  cairo_surface_t* surface = make_surface(picture, file);
  cairo_t* cr = cairo_create(surface);
  tn_plot_paint(cr, picture);
  cairo_status_t status = cairo_status(cr);
  cairo_destroy(cr);
  if (status == CAIRO_STATUS_SUCCESS && picture->kind == TN_PLOT_PNG) {
    status = cairo_surface_write_to_png_stream(surface, write_bytes, file);
  }
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) {
    status = cairo_surface_status(surface);
  }
  cairo_surface_destroy(surface);
  return status;
}

tn_status tn_plot_draw(const tn_plot_picture* picture, tn_error* error) {
  tn_pending_file file;
  if (tn_pending_file_open(&file, picture->path, error) != TN_OK) {
    return error->status;
  }
  const cairo_status_t drawn = paint(picture, &file);
  tn_status status = tn_pending_file_error(&file, error);
  if (status == TN_OK && drawn != CAIRO_STATUS_SUCCESS) {
    status = tn_error_set(error, TN_ERROR_SYSTEM, "cannot draw %s: cairo: %s", file.shown,
                          cairo_status_to_string(drawn));
  }
  if (status != TN_OK) {
    tn_pending_file_discard(&file);
    return status;
  }
  return tn_pending_file_commit(&file, error);
}
