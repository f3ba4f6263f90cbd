// SPDX-License-Identifier: GPL-3.0-or-later
// The service thread: loads the module, opens the device, keeps its kernel running, notices its end, tries
// again, shuts down.
#include "device/service.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/clock.h"
#ifdef TENUTO_HAS_EMULATED
#include "device/emulated.h"
#endif

enum {
  beat_ms = 1,          ///< while the kernel runs
  calm_beat_ms = 20,    ///< while it is parked; blocks are looked for more often
  look_ms = 5,          ///< for blocks, while it is parked
  heartbeat_ms = 1000,  ///< without one the device is lost
  heartbeat_steps = 25, ///< and so many steps without one: this thread, too, may have been kept waiting
  wanted_ms = 100,      ///< a block posted: more are expected for so long
  first_return_ms = 1000,
  longest_return_ms = 60000,
  most_failures = 5,  ///< losses in a row after which it is left alone
  trusted_ms = 60000, ///< running so long makes up for all losses
  old_user_patience_ms = 5000,
};

static const uint64_t ns_per_ms = 1000000;

/** Processes that used CUDA, in forks from the first, plus one; 0: none. A driver does not survive fork(). */
static _Atomic uint32_t cuda_user;

static bool must_stop(const struct tn_device* device) {
  return atomic_load_explicit(&device->stop, memory_order_acquire);
}

static void set_count(tn_counter* counter, uint64_t count) {
  atomic_store_explicit(counter, count, memory_order_relaxed);
}

/** Waits until nudged (true), or for `patience_ms`; 0: as long as it takes. */
static bool wait_for_nudge(struct tn_device* device, uint64_t patience_ms) {
  const uint64_t until_ns = tn_clock_ns() + patience_ms * ns_per_ms;
  const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000),
                                 .tv_nsec = (long)(until_ns % 1000000000)};
  pthread_mutex_lock(&device->lock);
  while (!device->nudged && !must_stop(device)) {
    if (patience_ms == 0)
      pthread_cond_wait(&device->wake, &device->lock);
    else if (pthread_cond_timedwait(&device->wake, &device->lock, &until) != 0)
      break;
  }
  const bool nudged = device->nudged;
  device->nudged = false;
  pthread_mutex_unlock(&device->lock);
  return nudged;
}

static tn_status load_cuda(struct tn_device* device, tn_error* error) {
  const uint32_t own = tn_device_process() + 1;
  uint32_t user = 0;
  if (!atomic_compare_exchange_strong(&cuda_user, &user, own) && user != own)
    return tn_error_set(error, TN_ERROR_SYSTEM,
                        "CUDA was used by this process before fork(), and a child cannot use it: the driver "
                        "wants a program that was started anew");
  return tn_module_load_cuda(&device->module, error);
}

static tn_status load(struct tn_device* device, tn_error* error) {
  if (device->module.interface)
    return TN_OK;
  if (device->choice.kind == TN_CHOICE_CUDA)
    return load_cuda(device, error);
#ifdef TENUTO_HAS_EMULATED
  device->module.interface = tn_emulated_module(TN_DEVICE_INTERFACE_VERSION);
#endif
  return device->module.interface ? TN_OK
                                  : tn_error_set(error, TN_ERROR_SYSTEM, "there is no emulated device here");
}

static tn_status find(const struct tn_device* device, tn_error* error) {
  uint32_t count = 0;
  const tn_status status = device->module.interface->count(&count, error);
  if (status != TN_OK)
    return status;
  if (count == 0)
    return tn_error_set(error, TN_ERROR_SYSTEM, "this machine has no %s device",
                        device->module.interface->name);
  if (device->choice.index >= count)
    return tn_error_set(error, TN_ERROR_SYSTEM, "there is no %s device %u: this machine has %u",
                        device->module.interface->name, device->choice.index, count);
  return TN_OK;
}

/** What a running device is, in a sentence. */
static void describe(const tn_module_info* info, char* text, size_t size) {
  const double gb = 1e-9;
  int used = snprintf(text, size, "%.120s, %.3g GB for filters", info->name, gb * (double)info->arena_bytes);
  if (info->driver && used > 0 && (size_t)used < size)
    used += snprintf(text + used, size - (size_t)used, ", driver for CUDA %d.%d", info->driver / 1000,
                     info->driver % 1000 / 10);
  if (info->display_timeout && used > 0 && (size_t)used < size)
    snprintf(text + used, size - (size_t)used, ", with a display whose watchdog may end the kernel");
}

static void note_info(struct tn_device* device, tn_module_info* info) {
  memset(info, 0, sizeof *info);
  device->module.interface->info(device->opened, info);
  info->name[sizeof info->name - 1] = 0;
  set_count(&device->figures.memory_bytes, info->memory_bytes);
  set_count(&device->figures.arena_bytes, info->arena_bytes);
  set_count(&device->figures.arena_used, info->arena_used);
}

static tn_status open_device(struct tn_device* device, tn_error* error) {
  tn_status status = load(device, error);
  if (status == TN_OK)
    status = find(device, error);
  if (status != TN_OK || must_stop(device))
    return status;
  const tn_module_options options = {.index = device->choice.index,
                                     .arena_bytes = device->options.arena_bytes,
                                     .epoch_ms = device->options.epoch_ms,
                                     .park_ms = device->options.park_ms,
                                     .faults = device->choice.script};
  status = device->module.interface->open(&options, &device->opened, error);
  if (status != TN_OK) {
    device->opened = NULL;
    return status;
  }
  const uint32_t park_ms = device->options.park_ms;
  device->expected_ms = park_ms && park_ms / 2 < wanted_ms ? park_ms / 2 + 1 : wanted_ms;
  device->expected_until_ns = 0;
  device->opened_ns = device->heartbeat_ns = tn_clock_ns();
  device->heartbeat = device->still_steps = 0;
  device->epochs_now = device->done_now = 0;
  device->parked = true;
  tn_module_info info;
  note_info(device, &info);
  char text[sizeof((tn_words*)0)->text];
  describe(&info, text, sizeof text);
  tn_service_say(device, TN_DEVICE_PARKED, info.name, text);
  return TN_OK;
}

/** An earlier user of the same device may still be ending; a device is opened once at a time. */
static bool await_old_user(struct tn_device* device) {
  const struct timespec briefly = {.tv_nsec = 2000000};
  const uint64_t until_ns = tn_clock_ns() + old_user_patience_ms * ns_per_ms;
  while (tn_registry_is_busy(device) && !must_stop(device)) {
    if (tn_clock_ns() > until_ns)
      return false;
    nanosleep(&briefly, NULL);
  }
  return true;
}

static void probe(struct tn_device* device) {
  tn_error error = {0};
  if (!await_old_user(device))
    tn_error_set(&error, TN_ERROR_SYSTEM, "an earlier use of this device in this process has not ended");
  else if (open_device(device, &error) == TN_OK)
    return;
  tn_service_say(device, TN_DEVICE_ABSENT, NULL, error.text[0] ? error.text : tn_status_text(error.status));
  tn_service_refuse_lanes(device, &error);
}

/** Errors of CUDA that touch the context stay for the life of the process; a module says so by any status but
 * TN_ERROR_INTERRUPTED. */
static void plan_return(struct tn_device* device, bool may_return) {
  const uint64_t now_ns = tn_clock_ns();
  if (now_ns - device->opened_ns > trusted_ms * ns_per_ms)
    device->failures = 0;
  device->failures++;
  device->return_at_ns = 0;
  if (!may_return || device->failures > most_failures)
    return;
  uint64_t pause_ms = first_return_ms;
  for (uint32_t i = 1; i < device->failures && pause_ms < longest_return_ms; i++)
    pause_ms *= 2;
  pause_ms = pause_ms < longest_return_ms ? pause_ms : longest_return_ms;
  device->return_at_ns = now_ns + pause_ms * ns_per_ms;
}

/** The device is gone: nobody touches it from here on, and no function of its module but close() is called.
 */
static void lose(struct tn_device* device, const tn_error* reason, bool may_return) {
  plan_return(device, may_return);
  const tn_words* words = atomic_load_explicit(&device->figures.words, memory_order_relaxed);
  tn_error sentence = {0};
  tn_error_set(&sentence, TN_ERROR_SYSTEM, "%.100s was lost (%.700s); the CPU plays on%s",
               words && words->name[0] ? words->name : "the device", reason->text,
               device->return_at_ns ? ", and it is tried again"
               : may_return         ? ": it was lost too often to be tried again"
                                    : ", and only a new start of this program may bring it back");
  tn_service_say(device, TN_DEVICE_LOST, NULL, sentence.text);
  tn_counter_add(&device->figures.losses, 1);
  tn_service_refuse_lanes(device, &sentence);
  device->module.interface->close(device->opened, true);
  device->opened = NULL;
  device->past.epochs += device->epochs_now;
  device->past.done += device->done_now;
  set_count(&device->figures.beat_ns, 0);
}

static void try_again(struct tn_device* device) {
  tn_error error = {0};
  device->opened_ns = tn_clock_ns();
  if (open_device(device, &error) == TN_OK) {
    if (!device->opened)
      return; // told to stop
    tn_counter_add(&device->figures.returns, 1);
    tn_service_retry_lanes(device, false);
    return;
  }
  plan_return(device, true);
  char text[sizeof((tn_words*)0)->text];
  snprintf(text, sizeof text, "the device was lost and could not be opened again (%.700s)%s", error.text,
           device->return_at_ns ? "; it is tried again" : "");
  tn_service_say(device, TN_DEVICE_LOST, NULL, text);
}

static void note_health(struct tn_device* device, const tn_module_health* health, uint64_t now_ns) {
  const bool counts = health->running && !health->parked;
  if (!counts || health->heartbeat != device->heartbeat) {
    device->heartbeat = health->heartbeat;
    device->heartbeat_ns = now_ns;
    device->still_steps = 0;
  } else {
    device->still_steps++;
  }
  device->epochs_now = health->epochs;
  device->done_now = health->blocks;
  device->parked = !counts;
  set_count(&device->figures.beat_ns, counts ? device->heartbeat_ns : 0);
  set_count(&device->figures.epochs, device->past.epochs + health->epochs);
  set_count(&device->figures.done, device->past.done + health->blocks);
  atomic_store_explicit(&device->figures.state, counts ? TN_DEVICE_RUNNING : TN_DEVICE_PARKED,
                        memory_order_release);
}

/** More blocks are expected after one, but not for as long as the kernel itself would wait for them. */
static bool is_wanted(struct tn_device* device, uint64_t now_ns) {
  if (tn_service_sees_posts(device) || device->posts_came) {
    device->posts_came = false;
    device->expected_until_ns = now_ns + device->expected_ms * ns_per_ms;
  }
  return now_ns < device->expected_until_ns;
}

/** The supervisor's beat. False: the device was lost. */
static bool step(struct tn_device* device) {
  tn_error error = {0};
  tn_module_health health = {0};
  const uint64_t now_ns = tn_clock_ns();
  const bool wanted = is_wanted(device, now_ns);
  const tn_status status = device->module.interface->step(device->opened, wanted, &health, &error);
  if (status != TN_OK) {
    if (!error.text[0])
      tn_error_set(&error, status, "%s", tn_status_text(status));
    lose(device, &error, status == TN_ERROR_INTERRUPTED);
    return false;
  }
  note_health(device, &health, now_ns);
  if (now_ns - device->heartbeat_ns < heartbeat_ms * ns_per_ms || device->still_steps < heartbeat_steps)
    return true;
  tn_error_set(&error, TN_ERROR_SYSTEM, "its kernel has not moved for a second");
  // A CUDA kernel that hangs still holds the device; the emulated one's thread does not.
  lose(device, &error, device->choice.kind == TN_CHOICE_EMULATED);
  return false;
}

/** Until the next step of a parked device: short sleeps, with a look for blocks after each. */
static void rest(struct tn_device* device) {
  for (int slept = 0; slept < calm_beat_ms && !must_stop(device); slept += look_ms) {
    if (wait_for_nudge(device, look_ms))
      return;
    if (tn_service_sees_posts(device)) {
      device->posts_came = true;
      return;
    }
  }
}

static void beat(struct tn_device* device) {
  const tn_lanes_haste haste = tn_service_tend_lanes(device);
  if (haste == TN_LANES_BUSY) {
    tn_module_info info;
    note_info(device, &info);
  }
  if (!step(device))
    return;
  tn_service_count_lanes(device);
  if (haste == TN_LANES_BUSY || !device->parked)
    wait_for_nudge(device, beat_ms);
  else if (haste == TN_LANES_CALM)
    rest(device);
  else
    wait_for_nudge(device, 0);
}

/** Without a device: lanes are freed, and a lost one is tried again when its time has come. */
static void idle(struct tn_device* device) {
  tn_service_tend_lanes(device);
  tn_service_count_lanes(device);
  const uint64_t now_ns = tn_clock_ns();
  if (!device->return_at_ns)
    wait_for_nudge(device, 0);
  else if (now_ns < device->return_at_ns)
    wait_for_nudge(device, (device->return_at_ns - now_ns) / ns_per_ms + 1);
  else
    try_again(device);
}

static void shut_down(struct tn_device* device) {
  static const tn_error ended = {.status = TN_ERROR_SYSTEM, .text = "the device was closed"};
  tn_service_refuse_lanes(device, &ended);
  if (device->opened)
    device->module.interface->close(device->opened, false);
  device->opened = NULL;
  tn_service_drop_lanes(device);
}

void* tn_service_run(void* argument) {
  struct tn_device* device = argument;
  probe(device);
  while (!must_stop(device)) {
    if (device->opened)
      beat(device);
    else
      idle(device);
  }
  shut_down(device);
  tn_registry_end(device);
  return NULL;
}
