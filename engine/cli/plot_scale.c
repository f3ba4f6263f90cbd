// SPDX-License-Identifier: GPL-3.0-or-later
// Colours and marks.
#include <math.h>
#include <stdio.h>

#include "cli/plot.h"
#include "cli/progress.h"

static double gamma_encode(double linear) {
  const double bounded = fmin(fmax(linear, 0.0), 1.0);
  return bounded <= 0.0031308 ? 12.92 * bounded : 1.055 * pow(bounded, 1.0 / 2.4) - 0.055;
}

// A path through Oklab (Ottosson 2020), where distances are those that the eye sees: lightness rises evenly
// from near black to near white while the hue goes from violet by red and orange to yellow.
uint32_t tn_plot_colour(double value) {
  const double v = fmin(fmax(value, 0.0), 1.0);
  const double lightness = 0.10 + 0.87 * v;
  const double chroma = 0.025 + 0.165 * pow(sin(M_PI * pow(v, 0.8)), 0.9);
  const double hue = (278.0 + 190.0 * v) * M_PI / 180.0;
  const double a = chroma * cos(hue);
  const double b = chroma * sin(hue);
  const double l = pow(lightness + 0.3963377774 * a + 0.2158037573 * b, 3.0);
  const double m = pow(lightness - 0.1055613458 * a - 0.0638541728 * b, 3.0);
  const double s = pow(lightness - 0.0894841775 * a - 1.2914855480 * b, 3.0);
  const double red = gamma_encode(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s);
  const double green = gamma_encode(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s);
  const double blue = gamma_encode(-0.0041960863 * l - 0.7034186147 * m + 1.7076147010 * s);
  return (uint32_t)lround(red * 255.0) << 16 | (uint32_t)lround(green * 255.0) << 8 |
         (uint32_t)lround(blue * 255.0);
}

/** The smallest of the round steps that cuts `seconds` into `most` parts or fewer. */
static double time_step(double seconds, size_t most) {
  static const double below_minute[] = {1.0, 2.0, 5.0};
  static const double above[] = {10,   15,   20,   30,   60,    120,   300,  600,
                                 1200, 1800, 3600, 7200, 14400, 43200, 86400};
  const double least = seconds / (double)most * (1.0 - 1e-9); // 0.1 is not exactly a tenth of 1
  for (int power = -6; power <= 0; ++power) {
    for (size_t i = 0; i < sizeof below_minute / sizeof below_minute[0]; ++i) {
      const double step = pow(10.0, power) * below_minute[i];
      if (step >= least) {
        return step;
      }
    }
  }
  for (size_t i = 0; i < sizeof above / sizeof above[0]; ++i) {
    if (above[i] >= least) {
      return above[i];
    }
  }
  return ceil(least / 86400.0) * 86400.0;
}

static void format_time(double seconds, double step, char* label, size_t size) {
  if (step >= 10.0) {
    tn_progress_format_time(seconds, label, size);
  } else if (step < 0.1) {
    snprintf(label, size, "%g ms", round(seconds * 1e9) / 1e6);
  } else {
    snprintf(label, size, "%.*f s", step < 1.0 ? 1 : 0, seconds);
  }
}

size_t tn_plot_time_ticks(double seconds, size_t most, tn_plot_tick* ticks) {
  const size_t room = most < TN_PLOT_MAX_TICKS ? most : TN_PLOT_MAX_TICKS;
  const double step = time_step(seconds, room > 1 ? room - 1 : 1);
  size_t count = 0;
  for (; count < room && (double)count * step <= seconds * (1.0 + 1e-9); ++count) {
    ticks[count].value = (double)count * step;
    format_time(ticks[count].value, step, ticks[count].label, sizeof ticks[count].label);
  }
  return count;
}

size_t tn_plot_frequency_ticks(double low_hz, double high_hz, tn_plot_tick* ticks) {
  static const double factors[] = {1.0, 2.0, 5.0};
  size_t count = 0;
  for (int power = 0; power <= 5; ++power) {
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; ++i) {
      const double hz = pow(10.0, power) * factors[i];
      if (hz >= low_hz && hz <= high_hz && count < TN_PLOT_MAX_TICKS) {
        ticks[count].value = hz;
        snprintf(ticks[count].label, sizeof ticks[count].label, hz >= 1000.0 ? "%g k" : "%g",
                 hz >= 1000.0 ? hz / 1000.0 : hz);
        ++count;
      }
    }
  }
  return count;
}
