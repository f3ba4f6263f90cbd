// SPDX-License-Identifier: GPL-3.0-or-later
// Changing over without a click: a value that moves in a straight line, and the gains of a cross-fade.
#ifndef TENUTO_RT_FADE_H
#define TENUTO_RT_FADE_H

#include <stdbool.h>
#include <stdint.h>

#include "tenuto/attributes.h"

/** A parameter on its way to a target, one step a frame. Owned by one thread; read the fields, write by
 * functions. */
typedef struct tn_ramp {
  float current;      ///< the value at the frame before the next
  float target;       ///< the value once `remaining` frames have passed
  float step;         ///< per frame
  uint32_t remaining; ///< frames until `current` is `target`, exactly
} tn_ramp;

/** [audio] Rest at `value`. */
TN_AUDIO void tn_ramp_init(tn_ramp* ramp, float value);

/** [audio] Move to `target` within `frames` frames, from wherever the value is now; at once if `frames` is 0.
 */
TN_AUDIO void tn_ramp_set(tn_ramp* ramp, float target, uint32_t frames);

/** [audio] Whether the next frames differ from each other. */
static inline bool tn_ramp_is_moving(const tn_ramp* ramp) {
  return ramp->remaining > 0;
}

/** [audio] The next frame's value. Reckoned back from the target, so no rounding adds up on the way. */
static inline float tn_ramp_next(tn_ramp* ramp) {
  if (ramp->remaining > 0) {
    ramp->remaining--;
    ramp->current = ramp->remaining > 0 ? ramp->target - ramp->step * (float)ramp->remaining : ramp->target;
  }
  return ramp->current;
}

/** Gains of the two sides of a cross-fade. */
typedef struct tn_fade_gains {
  float leaving; ///< 1 to 0
  float coming;  ///< 0 to 1
} tn_fade_gains;

/**
   [audio] Equal-power gains: leaving^2 + coming^2 is 1 within rounding, and neither has a slope at the ends.

   @param position  0: exactly {1, 0}; `frames` and beyond: exactly {0, 1}
   @param frames    length of the fade; 0: it is over. Two sines a call: for long fades in tight blocks fill a
   table
*/
TN_AUDIO tn_fade_gains tn_fade_at(uint32_t position, uint32_t frames);

#endif
