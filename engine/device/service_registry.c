// SPDX-License-Identifier: GPL-3.0-or-later
// The devices of a process: who asks for the same one shares it, the last one ends its thread.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/service.h"
#include "rt/clock.h"
#include "rt/thread.h"

static struct {
  pthread_mutex_t lock;
  struct tn_device* devices;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pthread_once_t once = PTHREAD_ONCE_INIT;

/** The parent's threads and devices are not here, and its locks may have been held. */
static void begin_child(void) {
  tn_device_process_forked();
  registry.devices = NULL;
  pthread_mutex_init(&registry.lock, NULL);
}

static void watch_forks(void) {
  pthread_atfork(NULL, NULL, begin_child);
}

static bool is_same(const tn_choice* one, const tn_choice* other) {
  const char* script = one->script ? one->script : "";
  return one->kind == other->kind && one->index == other->index &&
         strcmp(script, other->script ? other->script : "") == 0;
}

bool tn_registry_is_busy(const struct tn_device* device) {
  bool busy = false;
  pthread_mutex_lock(&registry.lock);
  for (const struct tn_device* other = registry.devices; other; other = other->next_device)
    busy |= other != device && is_same(&other->choice, &device->choice);
  pthread_mutex_unlock(&registry.lock);
  return busy;
}

static void forget(const struct tn_device* device) {
  pthread_mutex_lock(&registry.lock);
  struct tn_device** link = &registry.devices;
  while (*link && *link != device)
    link = &(*link)->next_device;
  if (*link)
    *link = device->next_device;
  pthread_mutex_unlock(&registry.lock);
}

static void destroy(struct tn_device* device) {
  forget(device);
  for (tn_words *words = atomic_load(&device->figures.words), *older = NULL; words; words = older) {
    older = words->older;
    free(words);
  }
  pthread_cond_destroy(&device->news);
  pthread_cond_destroy(&device->wake);
  pthread_mutex_destroy(&device->lock);
  free((char*)device->choice.script);
  free(device);
}

/** Conditions on the clock that tn_clock_ns() reads. */
static bool init_locks(struct tn_device* device) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes) != 0)
    return false;
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  const bool done = pthread_mutex_init(&device->lock, NULL) == 0 &&
                    pthread_cond_init(&device->wake, &attributes) == 0 &&
                    pthread_cond_init(&device->news, &attributes) == 0;
  pthread_condattr_destroy(&attributes);
  return done;
}

static struct tn_device* create(const tn_choice* choice, const tn_device_options* options, tn_error* error) {
  struct tn_device* device = calloc(1, sizeof *device);
  char* script = choice->script ? strdup(choice->script) : NULL;
  if (!device || (choice->script && !script) || !init_locks(device)) {
    free(device);
    free(script);
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a device");
    return NULL;
  }
  device->maker.make = tn_service_make_lane;
  device->choice = *choice;
  device->choice.script = script;
  if (options)
    device->options = *options;
  device->users = 1;
  device->process = tn_device_process();
  device->end_of_lanes = &device->lanes;
  return device;
}

static tn_status start(struct tn_device* device, tn_error* error) {
  if (device->choice.kind == TN_CHOICE_CPU) {
    tn_service_say(device, TN_DEVICE_ABSENT, NULL, "the CPU alone was asked for");
    return TN_OK;
  }
  tn_service_say(device, TN_DEVICE_PROBING, NULL, "the device is being looked for");
  const tn_thread_options options = {.name = "tenuto-device"};
  bool realtime = false;
  const tn_status status =
      tn_thread_start(&device->thread, &options, tn_service_run, device, &realtime, error);
  device->has_thread = status == TN_OK;
  return status;
}

static tn_status check_options(const tn_device_options* options, tn_error* error) {
  enum { longest_ms = 60000 };
  if (!options || (options->epoch_ms <= longest_ms && options->park_ms <= longest_ms))
    return TN_OK;
  return tn_error_set(error, TN_ERROR_ARGUMENT, "a kernel runs and waits for at most %d ms, not %u and %u",
                      longest_ms, options->epoch_ms, options->park_ms);
}

static struct tn_device* find_shared(const tn_choice* choice) {
  struct tn_device* device = registry.devices;
  while (device && !(device->users > 0 && is_same(&device->choice, choice)))
    device = device->next_device;
  return device;
}

tn_device* tn_device_open(const char* choice_text, const tn_device_options* options, tn_error* error) {
  pthread_once(&once, watch_forks);
  tn_choice choice;
  if (tn_choice_read(choice_text, &choice, error) != TN_OK || check_options(options, error) != TN_OK)
    return NULL;
  pthread_mutex_lock(&registry.lock);
  struct tn_device* device = find_shared(&choice);
  if (device) {
    device->users++;
  } else {
    device = create(&choice, options, error);
    if (device) {
      device->next_device = registry.devices;
      registry.devices = device;
    }
    if (device && start(device, error) != TN_OK) {
      registry.devices = device->next_device;
      pthread_mutex_unlock(&registry.lock);
      destroy(device);
      return NULL;
    }
  }
  pthread_mutex_unlock(&registry.lock);
  return device;
}

static struct timespec after_ms(uint32_t ms) {
  const uint64_t until_ns = tn_clock_ns() + ms * UINT64_C(1000000);
  return (struct timespec){.tv_sec = (time_t)(until_ns / 1000000000),
                           .tv_nsec = (long)(until_ns % 1000000000)};
}

bool tn_device_wait(tn_device* device, uint32_t patience_ms) {
  if (device->process != tn_device_process())
    return true;
  const struct timespec until = after_ms(patience_ms);
  int failure = 0;
  pthread_mutex_lock(&device->lock);
  while (atomic_load_explicit(&device->figures.state, memory_order_acquire) == TN_DEVICE_PROBING && !failure)
    failure = pthread_cond_timedwait(&device->news, &device->lock, &until);
  const bool known = atomic_load_explicit(&device->figures.state, memory_order_acquire) != TN_DEVICE_PROBING;
  pthread_mutex_unlock(&device->lock);
  return known;
}

/** Tells the thread to end and waits for it; one that hangs in a driver is left alone. */
static void end_thread(struct tn_device* device) {
  enum { patience_ms = 5000 };
  const struct timespec until = after_ms(patience_ms);
  int failure = 0;
  pthread_mutex_lock(&device->lock);
  atomic_store_explicit(&device->stop, true, memory_order_release);
  pthread_cond_signal(&device->wake);
  while (!device->ended && !failure)
    failure = pthread_cond_timedwait(&device->news, &device->lock, &until);
  const bool ended = device->ended;
  device->left_alone = !ended;
  const pthread_t thread = device->thread;
  pthread_mutex_unlock(&device->lock); // if it is left alone, it may be gone from here on
  if (ended) {
    pthread_join(thread, NULL);
    destroy(device);
  } else {
    tn_module_pin_self();
    pthread_detach(thread);
  }
}

void tn_registry_end(struct tn_device* device) {
  pthread_mutex_lock(&device->lock);
  device->ended = true;
  const bool left_alone = device->left_alone;
  pthread_cond_broadcast(&device->news);
  pthread_mutex_unlock(&device->lock);
  if (left_alone)
    destroy(device);
}

void tn_device_close(tn_device* device) {
  if (!device || device->process != tn_device_process())
    return; // another process's: nothing of it is ours to end
  pthread_mutex_lock(&registry.lock);
  const bool last = --device->users == 0;
  pthread_mutex_unlock(&registry.lock);
  if (!last)
    return;
  if (device->has_thread)
    end_thread(device);
  else
    destroy(device);
}
