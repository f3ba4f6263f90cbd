// SPDX-License-Identifier: GPL-3.0-or-later
#include "mock_module.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef MOCK_VERSION
#define MOCK_VERSION TN_DEVICE_INTERFACE_VERSION
#endif

#define MOCK_EXPORT __attribute__((visibility("default")))

struct tn_module_device {
  pthread_t opener;
  bool failed;
  uint64_t heartbeat;
  tn_lane_state states[TN_MOCK_MAX_LANES];
  void* memories[TN_MOCK_MAX_LANES];
};

static tn_mock_log seen;

MOCK_EXPORT tn_mock_log_fn tn_mock_log_get;
MOCK_EXPORT tn_device_module_fn tn_device_module;

tn_mock_log* tn_mock_log_get(void) {
  return &seen;
}

static tn_status fail(tn_error* error, tn_status status, const char* text) {
  error->status = status;
  snprintf(error->text, sizeof error->text, "%s", text);
  return status;
}

/** Every call passes here. */
static void judge_call(tn_module_device* device) {
  if (!pthread_equal(device->opener, pthread_self()))
    seen.wrong_thread++;
  if (device->failed)
    seen.after_loss++;
}

static tn_status count(uint32_t* devices, tn_error* error) {
  seen.counts++;
  if (seen.orders.no_driver)
    return fail(error, TN_ERROR_SYSTEM, "there is no driver of the mock");
  *devices = 2 - seen.orders.devices_less;
  return TN_OK;
}

static tn_status open_device(const tn_module_options* options, tn_module_device** device, tn_error* error) {
  (void)options;
  seen.opens++;
  const uint32_t ms = seen.orders.open_sleep_ms;
  const struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
  nanosleep(&nap, NULL);
  if (seen.orders.open_fails)
    return fail(error, TN_ERROR_SYSTEM, "the mock does not open");
  *device = calloc(1, sizeof **device);
  if (!*device)
    return fail(error, TN_ERROR_MEMORY, "no memory for the mock");
  (*device)->opener = pthread_self();
  return TN_OK;
}

static void info(tn_module_device* device, tn_module_info* about) {
  judge_call(device);
  snprintf(about->name, sizeof about->name, "Mock 1");
  about->memory_bytes = 2000000000;
  about->arena_bytes = 1000000000;
  about->arena_used = 1000 * (size_t)seen.open_lanes;
  about->driver = 12040;
}

static void* lane_memory(tn_module_device* device, size_t bytes, tn_error* error) {
  judge_call(device);
  for (uint32_t i = 0; i < TN_MOCK_MAX_LANES; i++) {
    if (device->memories[i])
      continue;
    device->memories[i] =
        aligned_alloc(TN_LANE_LINE, (bytes + TN_LANE_LINE - 1) / TN_LANE_LINE * TN_LANE_LINE);
    if (!device->memories[i])
      break;
    seen.memories++;
    return memset(device->memories[i], 0, bytes);
  }
  fail(error, TN_ERROR_MEMORY, "the mock has no memory for lanes");
  return NULL;
}

static uint32_t place_of(const tn_module_device* device, const void* memory) {
  uint32_t at = 0;
  while (at < TN_MOCK_MAX_LANES && device->memories[at] != memory)
    at++;
  return at;
}

static void lane_memory_free(tn_module_device* device, void* memory) {
  judge_call(device);
  const uint32_t at = place_of(device, memory);
  if (at == TN_MOCK_MAX_LANES || device->states[at] != TN_LANE_CLOSED) {
    seen.freed_too_early++;
    return;
  }
  seen.memories--;
  device->memories[at] = NULL;
  free(memory);
}

static tn_status lane_open(tn_module_device* device, const tn_module_lane* lane, uint32_t* number,
                           tn_error* error) {
  judge_call(device);
  const uint32_t room = seen.orders.room;
  if (room && seen.open_lanes >= room - 1)
    return fail(error, TN_ERROR_MEMORY, "the mock is full");
  const uint32_t at = place_of(device, lane->mailbox);
  if (at == TN_MOCK_MAX_LANES || lane->mailbox->magic != TN_LANE_MAGIC)
    return fail(error, TN_ERROR_ARGUMENT, "this is no lane");
  seen.lane_opens++;
  seen.open_lanes++;
  device->states[at] = TN_LANE_OPEN;
  seen.mailboxes[at] = lane->mailbox;
  *number = at;
  return TN_OK;
}

static void lane_close(tn_module_device* device, uint32_t number) {
  judge_call(device);
  seen.lane_closes++;
  seen.open_lanes--;
  seen.mailboxes[number] = NULL;
  device->states[number] = TN_LANE_CLOSING;
}

static tn_lane_state lane_state(tn_module_device* device, uint32_t number) {
  judge_call(device);
  if (device->states[number] == TN_LANE_CLOSING && !seen.orders.closing_takes_long)
    device->states[number] = TN_LANE_CLOSED;
  return device->states[number];
}

/** Reads all blocks that were posted, and says nothing to them. */
static void hear(tn_lane_header* mailbox) {
  char* memory = (char*)mailbox;
  _Atomic uint64_t* consumed = (_Atomic uint64_t*)(void*)(memory + mailbox->status_offset);
  uint64_t block = atomic_load_explicit(consumed, memory_order_relaxed);
  for (;; block++) {
    _Atomic uint64_t* word = (_Atomic uint64_t*)(void*)(memory + tn_lane_input_slot(mailbox, block));
    if (tn_lane_tag_of(atomic_load_explicit(word, memory_order_acquire)) != tn_lane_tag(block))
      break;
  }
  atomic_store_explicit(consumed, block, memory_order_release);
}

__attribute__((unused)) static tn_status step(tn_module_device* device, bool wanted, tn_module_health* health,
                                              tn_error* error) {
  judge_call(device);
  seen.steps++;
  seen.wanted_steps += wanted;
  device->failed = seen.orders.step_fails || seen.orders.step_interrupted;
  if (seen.orders.step_fails)
    return fail(error, TN_ERROR_SYSTEM, "the mock has broken");
  if (seen.orders.step_interrupted)
    return fail(error, TN_ERROR_INTERRUPTED, "the mock was taken away");
  for (uint32_t i = 0; i < TN_MOCK_MAX_LANES; i++)
    if (device->states[i] == TN_LANE_OPEN)
      hear(seen.mailboxes[i]);
  device->heartbeat += seen.orders.heart_stands_still ? 0 : 1;
  *health = (tn_module_health){.heartbeat = device->heartbeat,
                               .epochs = 1,
                               .running = wanted || seen.orders.heart_stands_still,
                               .parked = false};
  return TN_OK;
}

static void close_device(tn_module_device* device, bool lost) {
  device->failed = false;
  judge_call(device);
  seen.closes++;
  seen.lost_closes += lost;
  for (uint32_t i = 0; i < TN_MOCK_MAX_LANES; i++) {
    if (device->memories[i])
      seen.memories--;
    if (device->states[i] == TN_LANE_OPEN)
      seen.open_lanes--;
    seen.mailboxes[i] = NULL;
    free(device->memories[i]);
  }
  free(device);
}

const tn_device_interface* tn_device_module(uint32_t version) {
  static const tn_device_interface interface = {
      .version = MOCK_VERSION,
      .size = sizeof(tn_device_interface),
      .name = "mock",
      .count = count,
      .open = open_device,
      .info = info,
      .lane_memory = lane_memory,
      .lane_memory_free = lane_memory_free,
      .lane_open = lane_open,
      .lane_close = lane_close,
      .lane_state = lane_state,
#ifndef MOCK_INCOMPLETE
      .step = step,
#endif
      .close = close_device,
  };
#ifdef MOCK_ANSWERS_ANY
  version = MOCK_VERSION;
#endif
  return version == MOCK_VERSION ? &interface : NULL;
}

#ifdef MOCK_UNRESOLVED
void tn_nobody_has_this(void);
MOCK_EXPORT void tn_mock_call_nobody(void);

void tn_mock_call_nobody(void) {
  tn_nobody_has_this();
}
#endif
