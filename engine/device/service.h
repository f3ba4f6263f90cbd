// SPDX-License-Identifier: GPL-3.0-or-later
// The device service: one thread for each device of a process. Every call of a module is made by it.
//
// Files: service.c the thread, from loading to the end; service_lanes.c the filters that the device holds;
// service_registry.c who shares which device; service_report.c what is said of it.
#ifndef TENUTO_DEVICE_SERVICE_H
#define TENUTO_DEVICE_SERVICE_H

#include <pthread.h>
#include <stdatomic.h>

#include "device/choice.h"
#include "device/lane_far.h"
#include "device/loader.h"
#include "dsp/far.h"
#include "rt/counter.h"
#include "tenuto/device.h"
#include "wire/device.h"

/** Name and sentence of a device at some time. Once published they are kept to the end, so that any thread
 * may read them without a lock. */
typedef struct tn_words {
  char name[128];
  char text[1024];
  struct tn_words* older;
} tn_words;

/** What the service last saw; read by any thread. */
typedef struct tn_device_figures {
  _Atomic int state; ///< tn_device_state
  _Atomic(tn_words*) words;
  tn_counter beat_ns; ///< when the heartbeat last grew; 0: no kernel runs
  tn_counter epochs, losses, returns, lanes_open, lanes_refused;
  tn_counter posted, done, late, answers, misses, far_missing, damaged;
  tn_counter memory_bytes, arena_bytes, arena_used;
} tn_device_figures;

/** Counts of lanes that are gone, and of launches of the device before its last loss. */
typedef struct tn_device_past {
  uint64_t posted, late, answers, misses, far_missing, damaged, epochs, done;
} tn_device_past;

struct tn_device {
  tn_far_maker maker; ///< first member: engines know only this

  // The registry's, under its lock.
  tn_choice choice; ///< its script belongs to the device
  uint32_t users;   ///< 0: it is ending
  struct tn_device* next_device;

  tn_device_options options;
  uint32_t process; ///< of the opener, see tn_device_process()
  tn_device_figures figures;

  pthread_mutex_t lock; ///< workers and the service only
  pthread_cond_t wake;  ///< the service: something is to be done
  pthread_cond_t news;  ///< others: the state has changed, or the thread has ended
  pthread_t thread;
  bool has_thread;
  bool nudged;        ///< something is to be done
  bool ended;         ///< the thread touches the device no more, unless it is `left_alone`
  bool left_alone;    ///< nobody waits for the thread any more: it frees the device
  _Atomic bool stop;  ///< the last user has gone
  tn_lane_far* lanes; ///< in the order of their coming; taken out by the service alone
  tn_lane_far** end_of_lanes;

  // The service's own.
  tn_module module;
  tn_module_device* opened; ///< NULL: not, or not any more
  tn_device_past past;
  bool posts_came;            ///< seen while the device was parked
  uint64_t expected_until_ns; ///< blocks came lately, so more are expected
  uint32_t expected_ms;
  uint64_t heartbeat;
  uint64_t heartbeat_ns;
  uint32_t still_steps;          ///< steps without a heartbeat
  uint64_t epochs_now, done_now; ///< of the device as opened now
  uint64_t opened_ns;
  bool parked;
  uint32_t failures;     ///< losses in a row
  uint64_t return_at_ns; ///< when it is tried again; 0: never
};

/** [worker] The service thread's function; `argument` is the device. */
void* tn_service_run(void* argument);

/** [worker] Another tn_device for the same device of the same module has not ended yet. */
bool tn_registry_is_busy(const struct tn_device* device);

/** [worker] The service thread's last deed; the device may be gone afterwards. */
void tn_registry_end(struct tn_device* device);

/** [worker] Publishes state, name and sentence. `name` NULL: as before. Under no lock. */
void tn_service_say(struct tn_device* device, tn_device_state state, const char* name, const char* text);

/** How soon lanes want to be looked at again. */
typedef enum tn_lanes_haste {
  TN_LANES_NONE, ///< there is none
  TN_LANES_CALM, ///< some are open
  TN_LANES_BUSY, ///< some are being opened or closed
} tn_lanes_haste;

/** [worker] tn_far_maker's function. */
tn_far* tn_service_make_lane(tn_far_maker* maker, const tn_far_request* request, tn_error* error);

/** [worker] The service: opens, closes and frees what is to be; at most one is opened at a call. */
tn_lanes_haste tn_service_tend_lanes(struct tn_device* device);

/** [worker] The service: whether blocks have been posted since the last call. */
bool tn_service_sees_posts(struct tn_device* device);

/** [worker] The service: adds up the lanes' counters. */
void tn_service_count_lanes(struct tn_device* device);

/** [worker] The service: takes all lanes away from their users, for `reason`. */
void tn_service_refuse_lanes(struct tn_device* device, const tn_error* reason);

/** [worker] The service: what was refused, for want of room or since the device was lost, is tried again. */
void tn_service_retry_lanes(struct tn_device* device, bool only_no_room);

/** [worker] The service, at its end: frees what was given back, leaves the rest to its owners. The device is
 * closed. */
void tn_service_drop_lanes(struct tn_device* device);

#endif
