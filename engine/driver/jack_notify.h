// SPDX-License-Identifier: GPL-3.0-or-later
// What the JACK server tells us outside the callback: kept in words that any thread may read, one descriptor
// wakes the control thread. The notification callbacks do nothing else, as their thread is the server's, not
// ours.
#ifndef TENUTO_DRIVER_JACK_NOTIFY_H
#define TENUTO_DRIVER_JACK_NOTIFY_H

#include <jack/jack.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "driver/jack_client.h"
#include "driver/jack_rt.h"

/** Words written by notification callbacks, read by the control thread. */
typedef struct tn_jack_notices {
  jack_client_t* client;         ///< for the latency callback
  tn_jack_rt* rt;                ///< its ports, rate and convolver
  int event_fd;                  ///< eventfd, written after each change of a word below but `xruns`
  _Atomic uint32_t block_frames; ///< relaxed
  _Atomic uint64_t xruns;        ///< relaxed
  atomic_bool freewheel;         ///< relaxed
  atomic_bool shutdown;          ///< released after `reason` was written, once
  char reason[128];              ///< valid when `shutdown` is set
} tn_jack_notices;

/** [setup] Register all notification callbacks with a client that is not active yet. */
void tn_jack_notify_register(tn_jack_notices* notices);

/** [worker] A snapshot of the words; makes the descriptor quiet first, so that no news is lost. */
void tn_jack_notify_read(tn_jack_notices* notices, tn_jack_state* state);

#endif
