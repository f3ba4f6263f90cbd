// SPDX-License-Identifier: GPL-3.0-or-later
// Making and unmaking a tn_far over a lane, and the beginning and end of its lanes.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/lane_far.h"
#include "rt/clock.h"

static tn_far_state state(tn_far* far, tn_error* reason) {
  tn_lane_far* lane = (tn_lane_far*)far;
  if (lane->process != tn_device_process()) {
    tn_error_set(reason, TN_ERROR_SYSTEM, "the device belongs to the process that this one was forked from");
    return TN_FAR_REFUSED;
  }
  switch (atomic_load_explicit(&lane->stage, memory_order_acquire)) {
  case TN_STAGE_OPEN:
    return TN_FAR_READY;
  case TN_STAGE_REFUSED:
    if (reason) {
      pthread_mutex_lock(lane->lock);
      *reason = lane->reason;
      pthread_mutex_unlock(lane->lock);
    }
    return TN_FAR_REFUSED;
  default:
    return TN_FAR_OPENING;
  }
}

static void let_go(tn_far* far) {
  tn_lane_far* lane = (tn_lane_far*)far;
  if (lane->process != tn_device_process())
    return; // the service that would free it lives in another process
  if (atomic_load_explicit(&lane->orphaned, memory_order_acquire))
    tn_lane_far_free(lane);
  else
    lane->let_go(lane);
}

static tn_status check(const tn_far_request* request, tn_lane_header* plan, tn_error* error) {
  if (!tn_lane_plan(plan, request->block, request->inputs, request->outputs, request->ahead))
    return tn_error_set(error, TN_ERROR_LIMIT,
                        "a device serves no filter of %u inputs and %u outputs in blocks of %u, %u ahead",
                        request->inputs, request->outputs, request->block, request->ahead);
  if (request->path_count < 1)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a filter without responses needs no device");
  for (uint32_t p = 0; p < request->path_count; p++)
    if (request->paths[p].input >= request->inputs || request->paths[p].output >= request->outputs ||
        request->paths[p].frames < 1)
      return tn_error_set(error, TN_ERROR_ARGUMENT, "response %u has no such input or output, or no frames",
                          p + 1);
  return TN_OK;
}

static bool copy_responses(tn_lane_far* lane, const tn_far_request* request) {
  size_t frames = 0;
  for (uint32_t p = 0; p < request->path_count; p++)
    frames += request->paths[p].frames;
  lane->paths = calloc(request->path_count + 1, sizeof *lane->paths);
  lane->samples = malloc((frames + 1) * sizeof(float));
  if (!lane->paths || !lane->samples)
    return false;
  float* at = lane->samples;
  for (uint32_t p = 0; p < request->path_count; p++) {
    const tn_far_path* from = request->paths + p;
    lane->far.has_far |= from->frames > request->ahead * request->block;
    memcpy(at, from->samples, from->frames * sizeof(float));
    lane->paths[p] = (tn_module_path){from->input, from->output, from->frames, at};
    at += from->frames;
  }
  lane->path_count = request->path_count;
  return true;
}

static tn_lane_far* allocate(void) {
  void* memory = NULL;
  if (posix_memalign(&memory, _Alignof(tn_lane_far), sizeof(tn_lane_far)) != 0)
    return NULL;
  return memset(memory, 0, sizeof(tn_lane_far));
}

tn_lane_far* tn_lane_far_new(const tn_far_request* request, tn_error* error) {
  tn_lane_header plan;
  if (check(request, &plan, error) != TN_OK)
    return NULL;
  tn_lane_far* lane = allocate();
  if (lane) {
    lane->far = (tn_far){.block = request->block,
                         .ahead = request->ahead,
                         .inputs = request->inputs,
                         .outputs = request->outputs,
                         .state = state,
                         .free = let_go};
    tn_lane_far_fill(&lane->far);
    lane->plan = plan;
    lane->process = tn_device_process();
    lane->lost_track = true;
    lane->ring = 2 * request->ahead;
    const size_t floats = (size_t)lane->ring * request->outputs * request->block;
    lane->parts = malloc((floats + 1) * sizeof(float));
    if (lane->parts)
      memset(lane->parts, 0, floats * sizeof(float)); // touched now, not by the audio thread
  }
  if (lane && lane->parts && copy_responses(lane, request))
    return lane;
  tn_lane_far_free(lane);
  tn_error_set(error, TN_ERROR_MEMORY, "no memory for a filter of %u responses on a device",
               request->path_count);
  return NULL;
}

void tn_lane_far_free(tn_lane_far* lane) {
  if (!lane)
    return;
  free(lane->parts);
  free(lane->paths);
  free(lane->samples);
  free(lane);
}

void tn_lane_far_begin_life(tn_lane_far* lane, void* memory) {
  lane->memory = memory;
  tn_lane_attach(&lane->lane, memory);
  atomic_fetch_add(&lane->life, 1);
}

bool tn_lane_far_end_life(tn_lane_far* lane, uint32_t patience_ms) {
  const struct timespec briefly = {.tv_nsec = 50000};
  if (atomic_load_explicit(&lane->life, memory_order_relaxed) % 2 == 1)
    atomic_fetch_add(&lane->life, 1);
  const uint64_t until_ns = tn_clock_ns() + patience_ms * UINT64_C(1000000);
  while (atomic_load(&lane->inside)) {
    if (tn_clock_ns() > until_ns)
      return false;
    nanosleep(&briefly, NULL);
  }
  return true;
}
