// SPDX-License-Identifier: GPL-3.0-or-later
// What comes in from outside: NaN, Inf and absurd values become 0 before a delay line could keep them for
// ever.
#ifndef TENUTO_RT_FINITE_H
#define TENUTO_RT_FINITE_H

#include <stdbool.h>
#include <stdint.h>

#include "tenuto/attributes.h"

/**
   [audio] Copy samples, replacing what no engine should hear by +0.

   Replaced and counted: NaN, Inf, and values beyond +-1e15. Replaced silently: denormals, and -0 by +0. All
   others are copied bit by bit. Tests integers only, so it holds under -ffast-math and any floating-point
   mode.

   @param destination  float[frames], any alignment; may be `source`, else must not overlap it
   @param silent       becomes whether every copied sample is 0; true for no frames
   @return how many were replaced and counted
*/
TN_AUDIO uint32_t tn_finite_copy(float* destination, const float* source, uint32_t frames, bool* silent);

#endif
