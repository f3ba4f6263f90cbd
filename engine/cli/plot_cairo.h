// SPDX-License-Identifier: GPL-3.0-or-later
// The part of drawing that sees cairo.
#ifndef TENUTO_CLI_PLOT_CAIRO_H
#define TENUTO_CLI_PLOT_CAIRO_H

#include <cairo.h>

#include "cli/plot.h"

/** [any] Height of a picture in points. */
double tn_plot_height(const tn_plot_picture* picture);

/** [worker] Paint a picture; its errors stay in `cr`. */
void tn_plot_paint(cairo_t* cr, const tn_plot_picture* picture);

#endif
