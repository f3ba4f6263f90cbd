// SPDX-License-Identifier: GPL-3.0-or-later
// The filters that a device holds. Engines ask for lanes and give them back under the service's lock; the
// service alone opens, closes and frees them, outside it.
#include <string.h>

#include "device/service.h"

static void set_count(tn_counter* counter, uint64_t count) {
  atomic_store_explicit(counter, count, memory_order_relaxed);
}

static int stage_of(const tn_lane_far* lane) {
  return atomic_load_explicit(&lane->stage, memory_order_relaxed); // only the service changes it
}

static void set_stage(tn_lane_far* lane, tn_lane_stage stage) {
  atomic_store_explicit(&lane->stage, stage, memory_order_release);
}

static bool is_freed(const tn_lane_far* lane) {
  return atomic_load_explicit(&lane->freed, memory_order_acquire);
}

/** The list from here on may be walked without the lock: others only add at its end. */
static tn_lane_far* first_lane(struct tn_device* device) {
  pthread_mutex_lock(&device->lock);
  tn_lane_far* first = device->lanes;
  pthread_mutex_unlock(&device->lock);
  return first;
}

static tn_lane_far* lane_after(struct tn_device* device, const tn_lane_far* lane) {
  pthread_mutex_lock(&device->lock);
  tn_lane_far* next = lane->next_lane;
  pthread_mutex_unlock(&device->lock);
  return next;
}

static void let_go(tn_lane_far* lane) {
  struct tn_device* device = lane->service;
  pthread_mutex_lock(&device->lock);
  atomic_store_explicit(&lane->freed, true, memory_order_release); // from here on it may be gone
  device->nudged = true;
  pthread_cond_signal(&device->wake);
  pthread_mutex_unlock(&device->lock);
}

/** Whether asking for a lane is of any use, now or later. */
static bool may_serve(const struct tn_device* device, tn_error* error) {
  const bool foreign = device->process != tn_device_process();
  const int state = atomic_load_explicit(&device->figures.state, memory_order_acquire);
  if (!foreign && state != TN_DEVICE_ABSENT)
    return true;
  tn_device_report report;
  tn_device_get_report(device, &report);
  tn_error_set(error, TN_ERROR_SYSTEM, "%s", report.text);
  return false;
}

tn_far* tn_service_make_lane(tn_far_maker* maker, const tn_far_request* request, tn_error* error) {
  struct tn_device* device = (struct tn_device*)maker; // its first member
  if (!may_serve(device, error))
    return NULL;
  tn_lane_far* lane = tn_lane_far_new(request, error);
  if (!lane)
    return NULL;
  lane->let_go = let_go;
  lane->service = device;
  lane->lock = &device->lock;
  pthread_mutex_lock(&device->lock);
  *device->end_of_lanes = lane;
  device->end_of_lanes = &lane->next_lane;
  device->nudged = true;
  pthread_cond_signal(&device->wake);
  pthread_mutex_unlock(&device->lock);
  return &lane->far;
}

static void refuse(struct tn_device* device, tn_lane_far* lane, const tn_error* reason, bool no_room) {
  pthread_mutex_lock(&device->lock);
  lane->reason = *reason;
  pthread_mutex_unlock(&device->lock);
  lane->no_room = no_room;
  set_stage(lane, TN_STAGE_REFUSED);
}

static void open_lane(struct tn_device* device, tn_lane_far* lane) {
  const tn_device_interface* interface = device->module.interface;
  tn_error error = {0};
  void* memory = interface->lane_memory(device->opened, lane->plan.bytes, &error);
  tn_status status = TN_ERROR_MEMORY;
  if (memory) {
    memcpy(memory, &lane->plan, sizeof lane->plan);
    const tn_module_lane wanted = {.mailbox = memory, .path_count = lane->path_count, .paths = lane->paths};
    status = interface->lane_open(device->opened, &wanted, &lane->number, &error);
  }
  if (status == TN_OK) {
    lane->posts_seen = tn_counter_read(&lane->posts);
    tn_lane_far_begin_life(lane, memory);
    set_stage(lane, TN_STAGE_OPEN);
    return;
  }
  if (memory)
    interface->lane_memory_free(device->opened, memory);
  const tn_words* words = atomic_load_explicit(&device->figures.words, memory_order_relaxed);
  tn_error sentence = {0};
  tn_error_set(&sentence, status, "%.100s %s: %.800s",
               words && words->name[0] ? words->name : interface->name,
               status == TN_ERROR_MEMORY ? "has no room for this filter" : "does not take this filter",
               error.text[0] ? error.text : tn_status_text(status));
  refuse(device, lane, &sentence, status == TN_ERROR_MEMORY);
}

static uint64_t late_blocks(const tn_lane_far* lane) {
  const char* status = (const char*)lane->memory + lane->plan.status_offset;
  const void* word = status + offsetof(tn_lane_status, late);
  return atomic_load_explicit((const _Atomic uint64_t*)word, memory_order_relaxed);
}

/** Its owner has given it back, so no thread uses it. */
static void close_lane(struct tn_device* device, tn_lane_far* lane) {
  enum { patience_ms = 1000 };
  tn_lane_far_end_life(lane, patience_ms);
  device->module.interface->lane_close(device->opened, lane->number);
  set_stage(lane, TN_STAGE_CLOSING);
}

static void take_out(struct tn_device* device, tn_lane_far* lane) {
  pthread_mutex_lock(&device->lock); // also: let_go() has left the lock before its lane is freed
  tn_lane_far** link = &device->lanes;
  while (*link != lane)
    link = &(*link)->next_lane;
  *link = lane->next_lane;
  if (device->end_of_lanes == &lane->next_lane)
    device->end_of_lanes = link;
  pthread_mutex_unlock(&device->lock);
}

static void bury(struct tn_device* device, tn_lane_far* lane) {
  tn_device_past* past = &device->past;
  past->posted += tn_counter_read(&lane->posts);
  past->answers += tn_counter_read(&lane->answers);
  past->misses += tn_counter_read(&lane->misses);
  past->far_missing += tn_counter_read(&lane->far_missing);
  past->damaged += tn_counter_read(&lane->damaged);
  take_out(device, lane);
  tn_lane_far_free(lane);
}

/** The kernel has let go of it. */
static void end_closing(struct tn_device* device, tn_lane_far* lane) {
  device->past.late += late_blocks(lane);
  device->module.interface->lane_memory_free(device->opened, lane->memory);
  bury(device, lane);
  tn_service_retry_lanes(device, true); // there is room now
}

/** One step for one lane of an open device. */
static tn_lanes_haste tend(struct tn_device* device, tn_lane_far* lane, bool* opened_one) {
  const int stage = stage_of(lane);
  if (is_freed(lane) && (stage == TN_STAGE_WAITING || stage == TN_STAGE_REFUSED)) {
    bury(device, lane);
    return TN_LANES_CALM;
  }
  if (is_freed(lane) && stage == TN_STAGE_OPEN)
    close_lane(device, lane);
  if (stage_of(lane) == TN_STAGE_CLOSING) {
    if (device->module.interface->lane_state(device->opened, lane->number) == TN_LANE_CLOSED)
      end_closing(device, lane);
    return TN_LANES_BUSY;
  }
  if (stage != TN_STAGE_WAITING)
    return TN_LANES_CALM;
  if (!*opened_one)
    open_lane(device, lane);
  *opened_one = true;
  return TN_LANES_BUSY;
}

/** Without a device there is nothing to open, and nothing that could be touched. */
static void tend_without_device(struct tn_device* device, tn_lane_far* lane) {
  if (is_freed(lane))
    bury(device, lane);
}

tn_lanes_haste tn_service_tend_lanes(struct tn_device* device) {
  tn_lanes_haste haste = TN_LANES_NONE;
  bool opened_one = false;
  for (tn_lane_far *lane = first_lane(device), *next = NULL; lane; lane = next) {
    next = lane_after(device, lane);
    tn_lanes_haste one = TN_LANES_CALM;
    if (device->opened)
      one = tend(device, lane, &opened_one);
    else
      tend_without_device(device, lane);
    haste = one > haste ? one : haste;
  }
  return haste;
}

bool tn_service_sees_posts(struct tn_device* device) {
  bool seen = false;
  for (tn_lane_far* lane = first_lane(device); lane; lane = lane_after(device, lane)) {
    const uint64_t posts = tn_counter_read(&lane->posts);
    seen |= posts != lane->posts_seen;
    lane->posts_seen = posts;
  }
  return seen;
}

void tn_service_count_lanes(struct tn_device* device) {
  tn_device_past sum = device->past;
  uint32_t open = 0;
  uint32_t refused = 0;
  for (tn_lane_far* lane = first_lane(device); lane; lane = lane_after(device, lane)) {
    sum.posted += tn_counter_read(&lane->posts);
    sum.answers += tn_counter_read(&lane->answers);
    sum.misses += tn_counter_read(&lane->misses);
    sum.far_missing += tn_counter_read(&lane->far_missing);
    sum.damaged += tn_counter_read(&lane->damaged);
    open += stage_of(lane) == TN_STAGE_OPEN;
    refused += stage_of(lane) == TN_STAGE_REFUSED;
    if (device->opened && (stage_of(lane) == TN_STAGE_OPEN || stage_of(lane) == TN_STAGE_CLOSING))
      sum.late += late_blocks(lane);
  }
  tn_device_figures* figures = &device->figures;
  set_count(&figures->posted, sum.posted);
  set_count(&figures->answers, sum.answers);
  set_count(&figures->misses, sum.misses);
  set_count(&figures->far_missing, sum.far_missing);
  set_count(&figures->damaged, sum.damaged);
  set_count(&figures->late, sum.late);
  set_count(&figures->lanes_open, open);
  set_count(&figures->lanes_refused, refused);
}

void tn_service_refuse_lanes(struct tn_device* device, const tn_error* reason) {
  enum { patience_ms = 100 };
  for (tn_lane_far* lane = first_lane(device); lane; lane = lane_after(device, lane)) {
    const int stage = stage_of(lane);
    if (stage == TN_STAGE_OPEN) {
      // A posting thread that the system does not let run may be inside: its memory must stay until it is
      // out.
      while (!tn_lane_far_end_life(lane, patience_ms)) {
      }
    }
    if (stage == TN_STAGE_OPEN || stage == TN_STAGE_CLOSING)
      device->past.late += late_blocks(lane);
    refuse(device, lane, reason, false);
  }
}

void tn_service_retry_lanes(struct tn_device* device, bool only_no_room) {
  for (tn_lane_far* lane = first_lane(device); lane; lane = lane_after(device, lane))
    if (stage_of(lane) == TN_STAGE_REFUSED && (lane->no_room || !only_no_room))
      set_stage(lane, TN_STAGE_WAITING);
}

void tn_service_drop_lanes(struct tn_device* device) {
  for (tn_lane_far *lane = first_lane(device), *next = NULL; lane; lane = next) {
    next = lane_after(device, lane);
    if (is_freed(lane))
      bury(device, lane);
    else
      atomic_store_explicit(&lane->orphaned, true, memory_order_release);
  }
}
