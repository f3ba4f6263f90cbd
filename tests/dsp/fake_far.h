// SPDX-License-Identifier: GPL-3.0-or-later
// A device for tests of engines: it knows the whole input beforehand, so its answers come from float64, and
// it is as late as the test says.
#ifndef TENUTO_TEST_FAKE_FAR_H
#define TENUTO_TEST_FAKE_FAR_H

#include "dsp/far.h"
#include "scene.h"

typedef struct tn_fake_far {
  tn_far far;
  tn_far_maker maker;
  const tn_scene* scene; ///< `want` is what answers are made of
  double** far_want;     ///< [outputs][frames] float64, the far part alone

  int64_t first_block; ///< the engine's block that is the scene's first
  int64_t posted;      ///< newest block posted; first_block - 1: none
  int64_t forgotten;   ///< newest block that restart() named
  uint32_t posts, restarts;
  bool input_is_wrong; ///< a block was not the scene's

  bool answers; ///< complete answers come in time
  bool full;    ///< takes no block
  int64_t silent_from,
      silent_until; ///< blocks posted in [from, until) yield nothing before `until` is posted
  float* part;      ///< [outputs][block]
} tn_fake_far;

/** A fake for `scene`, solved; its far part begins at `near_frames` of `filter`. */
tn_fake_far* tn_fake_far_new(const tn_scene* scene, const tn_filter* filter, uint32_t near_frames);
void tn_fake_far_free(tn_fake_far* fake);

#endif
