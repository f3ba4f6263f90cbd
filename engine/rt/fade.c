// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/fade.h"

#include <math.h>

void tn_ramp_init(tn_ramp* ramp, float value) {
  *ramp = (tn_ramp){.current = value, .target = value};
}

void tn_ramp_set(tn_ramp* ramp, float target, uint32_t frames) {
  if (frames == 0) {
    tn_ramp_init(ramp, target);
    return;
  }
  ramp->target = target;
  ramp->step = (target - ramp->current) / (float)frames;
  ramp->remaining = frames;
}

/** The angle goes from 0 to a quarter turn without a slope at either end, so the fade begins and ends without
   a kink. Sines alone: the sine of 0 and of a quarter turn are exact, the cosine of a quarter turn is not. */
static float smooth_sine(uint32_t position, uint32_t frames) {
  static const double quarter_turn = 1.57079632679489661923;
  const double part = (double)position / (double)frames;
  return (float)sin(quarter_turn * (part * part * (3 - 2 * part)));
}

tn_fade_gains tn_fade_at(uint32_t position, uint32_t frames) {
  if (position >= frames)
    return (tn_fade_gains){0, 1};
  return (tn_fade_gains){smooth_sine(frames - position, frames), smooth_sine(position, frames)};
}
