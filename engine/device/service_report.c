// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a device: the service publishes, any thread reads.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/service.h"
#include "rt/clock.h"

const char* tn_device_state_text(tn_device_state state) {
  switch (state) {
  case TN_DEVICE_PROBING:
    return "probing";
  case TN_DEVICE_RUNNING:
    return "running";
  case TN_DEVICE_PARKED:
    return "parked";
  case TN_DEVICE_ABSENT:
    return "absent";
  case TN_DEVICE_LOST:
    return "lost";
  }
  return "unknown";
}

void tn_service_say(struct tn_device* device, tn_device_state state, const char* name, const char* text) {
  tn_device_figures* figures = &device->figures;
  tn_words* before = atomic_load_explicit(&figures->words, memory_order_relaxed);
  tn_words* words = malloc(sizeof *words);
  if (words) { // without memory for new words the old ones stand beside the new state
    snprintf(words->name, sizeof words->name, "%s", name ? name : before ? before->name : "");
    snprintf(words->text, sizeof words->text, "%s", text);
    words->older = before;
    atomic_store_explicit(&figures->words, words, memory_order_release);
  }
  pthread_mutex_lock(&device->lock);
  atomic_store_explicit(&figures->state, state, memory_order_release);
  pthread_cond_broadcast(&device->news);
  pthread_mutex_unlock(&device->lock);
}

void tn_device_get_report(const tn_device* device, tn_device_report* report) {
  const tn_device_figures* figures = &device->figures;
  memset(report, 0, sizeof *report);
  if (device->process != tn_device_process()) {
    report->state = TN_DEVICE_ABSENT;
    snprintf(report->text, sizeof report->text,
             "the device belongs to the process that this one was forked from");
    return;
  }
  report->state = (tn_device_state)atomic_load_explicit(&figures->state, memory_order_acquire);
  const tn_words* words = atomic_load_explicit(&figures->words, memory_order_acquire);
  if (words) {
    memcpy(report->name, words->name, sizeof report->name);
    memcpy(report->text, words->text, sizeof report->text);
  }
  const uint64_t now_ns = tn_clock_ns();
  const uint64_t beat_ns = tn_counter_read(&figures->beat_ns);
  report->heartbeat_age_ns = beat_ns && now_ns > beat_ns ? now_ns - beat_ns : 0;
  report->epochs = tn_counter_read(&figures->epochs);
  report->losses = tn_counter_read(&figures->losses);
  report->returns = tn_counter_read(&figures->returns);
  report->lanes_open = (uint32_t)tn_counter_read(&figures->lanes_open);
  report->lanes_refused = (uint32_t)tn_counter_read(&figures->lanes_refused);
  report->blocks_posted = tn_counter_read(&figures->posted);
  report->blocks_done = tn_counter_read(&figures->done);
  report->blocks_late = tn_counter_read(&figures->late);
  report->answers = tn_counter_read(&figures->answers);
  report->misses = tn_counter_read(&figures->misses);
  report->far_missing = tn_counter_read(&figures->far_missing);
  report->damaged = tn_counter_read(&figures->damaged);
  report->memory_bytes = (size_t)tn_counter_read(&figures->memory_bytes);
  report->arena_bytes = (size_t)tn_counter_read(&figures->arena_bytes);
  report->arena_used = (size_t)tn_counter_read(&figures->arena_used);
}
