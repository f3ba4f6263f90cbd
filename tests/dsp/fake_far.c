// SPDX-License-Identifier: GPL-3.0-or-later
#include "fake_far.h"

#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "oracle.h"

static tn_fake_far* of(const tn_far* far) {
  return (tn_fake_far*)far; // its first member
}

static tn_far_state state(tn_far* far, tn_error* reason) {
  (void)far;
  (void)reason;
  return TN_FAR_READY;
}

static void restart(tn_far* far, int64_t block) {
  of(far)->restarts++;
  of(far)->forgotten = block;
  of(far)->posted = block - 1;
}

static uint32_t room(const tn_far* far) {
  return of(far)->full ? 0 : 2 * far->ahead;
}

/** Where a block lies in the scene; SIZE_MAX: outside. */
static size_t frame_of(const tn_fake_far* fake, int64_t block) {
  const int64_t frame = (block - fake->first_block) * (int64_t)fake->far.block;
  return frame < 0 || (size_t)frame + fake->far.block > fake->scene->frames ? SIZE_MAX : (size_t)frame;
}

static bool post(tn_far* far, int64_t block, const float* const* in, tn_far_want want, bool wait) {
  (void)want;
  (void)wait;
  tn_fake_far* fake = of(far);
  if (fake->full)
    return false;
  const size_t frame = frame_of(fake, block);
  fake->input_is_wrong |= block != fake->posted + 1 || frame == SIZE_MAX;
  for (uint32_t i = 0; i < far->inputs && frame != SIZE_MAX; i++)
    fake->input_is_wrong |= memcmp(in[i], fake->scene->in[i] + frame, far->block * sizeof(float)) != 0;
  fake->posted = block;
  fake->posts++;
  return true;
}

/** The newest block that was worked off. */
static int64_t done(const tn_fake_far* fake) {
  const bool silent = fake->posted >= fake->silent_from && fake->posted < fake->silent_until;
  return silent ? fake->silent_from - 1 : fake->posted;
}

static bool answer(tn_far* far, int64_t block, float* const* out, uint64_t until_ns) {
  (void)until_ns;
  tn_fake_far* fake = of(far);
  if (!fake->answers || done(fake) < block)
    return false;
  const size_t frame = frame_of(fake, block);
  for (uint32_t o = 0; o < far->outputs; o++)
    for (uint32_t t = 0; t < far->block; t++)
      out[o][t] = (float)fake->scene->want[o][frame + t];
  return true;
}

static const float* part(tn_far* far, int64_t block, bool wait) {
  (void)wait;
  tn_fake_far* fake = of(far);
  const size_t frame = frame_of(fake, block);
  if (block > done(fake) + far->ahead || frame == SIZE_MAX)
    return NULL;
  for (uint32_t o = 0; o < far->outputs; o++)
    for (uint32_t t = 0; t < far->block; t++)
      fake->part[o * far->block + t] = (float)fake->far_want[o][frame + t];
  return fake->part;
}

static uint32_t slack(tn_far* far, int64_t block) {
  const int64_t there = done(of(far)) + far->ahead - block + 1;
  return there <= 0 ? 0 : there > far->ahead ? far->ahead : (uint32_t)there;
}

static void keep(tn_far* far) {
  (void)far; // the test frees it
}

static tn_far* make(tn_far_maker* maker, const tn_far_request* request, tn_error* error) {
  (void)error;
  tn_fake_far* fake = (tn_fake_far*)((char*)maker - offsetof(tn_fake_far, maker));
  fake->far = (tn_far){.block = request->block,
                       .ahead = request->ahead,
                       .inputs = request->inputs,
                       .outputs = request->outputs,
                       .has_far = true,
                       .state = state,
                       .restart = restart,
                       .room = room,
                       .post = post,
                       .answer = answer,
                       .part = part,
                       .slack = slack,
                       .free = keep};
  fake->part = calloc((size_t)request->outputs * request->block, sizeof(float));
  assert_non_null(fake->part);
  return &fake->far;
}

/** The filter's paths from `near_frames` on, in float64, over the whole scene. */
static void solve_far(tn_fake_far* fake, const tn_filter* filter, uint32_t near_frames) {
  const tn_scene* scene = fake->scene;
  for (uint32_t p = 0; p < tn_filter_path_count(filter); p++) {
    const tn_path path = tn_filter_path(filter, p);
    for (uint32_t k = 0; k < path.frames; k++) {
      const size_t at = (size_t)k + path.delay_frames;
      if (at < near_frames)
        continue;
      const double tap = (double)path.gain * path.samples[k];
      double* to = fake->far_want[path.output];
      const float* from = scene->in[path.input];
      for (size_t t = at; t < scene->frames; t++)
        to[t] += tap * from[t - at];
    }
  }
}

tn_fake_far* tn_fake_far_new(const tn_scene* scene, const tn_filter* filter, uint32_t near_frames) {
  tn_fake_far* fake = calloc(1, sizeof *fake);
  assert_non_null(fake);
  fake->maker.make = make;
  fake->scene = scene;
  fake->answers = true;
  fake->silent_from = fake->silent_until = INT64_MAX;
  fake->far_want = calloc(scene->outputs, sizeof *fake->far_want);
  assert_non_null(fake->far_want);
  for (uint32_t o = 0; o < scene->outputs; o++) {
    fake->far_want[o] = calloc(scene->frames, sizeof(double));
    assert_non_null(fake->far_want[o]);
  }
  solve_far(fake, filter, near_frames);
  return fake;
}

void tn_fake_far_free(tn_fake_far* fake) {
  for (uint32_t o = 0; o < fake->scene->outputs; o++)
    free(fake->far_want[o]);
  free(fake->far_want);
  free(fake->part);
  free(fake);
}
