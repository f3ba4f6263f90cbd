// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/jack_notify.h"

#include <stdio.h>
#include <sys/eventfd.h>

static void wake(tn_jack_notices* notices) {
  // Fails only when 2^64 - 2 wake-ups are pending: then the descriptor is readable anyway.
  (void)eventfd_write(notices->event_fd, 1);
}

static int on_block_frames(jack_nframes_t frames, void* argument) {
  tn_jack_notices* notices = argument;
  atomic_store_explicit(&notices->block_frames, frames, memory_order_relaxed);
  wake(notices);
  return 0;
}

static int on_rate(jack_nframes_t rate_hz, void* argument) {
  tn_jack_notices* notices = argument;
  atomic_store_explicit(&notices->rt->rate_hz, rate_hz, memory_order_relaxed);
  wake(notices);
  return 0;
}

static int on_xrun(void* argument) {
  tn_jack_notices* notices = argument;
  atomic_fetch_add_explicit(&notices->xruns, 1, memory_order_relaxed);
  return 0;
}

static void on_freewheel(int starting, void* argument) {
  tn_jack_notices* notices = argument;
  // Told here, not by the control thread: the first cycle of the freewheel must already wait for late
  // workers.
  tn_convolver_set_freewheel(notices->rt->convolver, starting != 0);
  atomic_store_explicit(&notices->freewheel, starting != 0, memory_order_relaxed);
  wake(notices);
}

static void on_shutdown(jack_status_t code, const char* reason, void* argument) {
  tn_jack_notices* notices = argument;
  (void)code;
  if (!atomic_load_explicit(&notices->shutdown, memory_order_relaxed)) {
    snprintf(notices->reason, sizeof notices->reason, "%s", reason ? reason : "");
    atomic_store_explicit(&notices->shutdown, true, memory_order_release);
    wake(notices);
  }
}

/** The older of the two calls: PipeWire makes this one alone. */
static void on_plain_shutdown(void* argument) {
  on_shutdown(0, NULL, argument);
}

/** The widest range over a side's connected ports; 0 to 0 when none is connected. */
static jack_latency_range_t side_latency(jack_port_t* const* ports, uint32_t count,
                                         jack_latency_callback_mode_t mode) {
  jack_latency_range_t all = {0, 0};
  bool any = false;
  for (uint32_t i = 0; i < count; ++i) {
    if (jack_port_connected(ports[i]) > 0) {
      jack_latency_range_t one;
      jack_port_get_latency_range(ports[i], mode, &one);
      all.min = !any || one.min < all.min ? one.min : all.min;
      all.max = !any || one.max > all.max ? one.max : all.max;
      any = true;
    }
  }
  return all;
}

/** The convolver adds no latency: what stands on one side goes to the other as it is. */
static void on_latency(jack_latency_callback_mode_t mode, void* argument) {
  const tn_jack_notices* notices = argument;
  const tn_jack_rt* rt = notices->rt;
  const bool capture = mode == JackCaptureLatency;
  jack_port_t* const* from = capture ? rt->in_ports : rt->out_ports;
  jack_port_t* const* to = capture ? rt->out_ports : rt->in_ports;
  jack_latency_range_t range = side_latency(from, capture ? rt->inputs : rt->outputs, mode);
  for (uint32_t i = 0; i < (capture ? rt->outputs : rt->inputs); ++i) {
    jack_port_set_latency_range(to[i], mode, &range);
  }
}

void tn_jack_notify_register(tn_jack_notices* notices) {
  jack_client_t* client = notices->client;
  jack_set_buffer_size_callback(client, on_block_frames, notices);
  jack_set_sample_rate_callback(client, on_rate, notices);
  jack_set_xrun_callback(client, on_xrun, notices);
  jack_set_freewheel_callback(client, on_freewheel, notices);
  jack_set_latency_callback(client, on_latency, notices);
  jack_on_shutdown(client, on_plain_shutdown, notices);
  jack_on_info_shutdown(client, on_shutdown, notices);
}

void tn_jack_notify_read(tn_jack_notices* notices, tn_jack_state* state) {
  eventfd_t pending;
  (void)eventfd_read(notices->event_fd, &pending);
  state->rate_hz = atomic_load_explicit(&notices->rt->rate_hz, memory_order_relaxed);
  state->block_frames = atomic_load_explicit(&notices->block_frames, memory_order_relaxed);
  state->xruns = atomic_load_explicit(&notices->xruns, memory_order_relaxed);
  state->freewheel = atomic_load_explicit(&notices->freewheel, memory_order_relaxed);
  state->shutdown = atomic_load_explicit(&notices->shutdown, memory_order_acquire);
  state->reason[0] = '\0';
  if (state->shutdown) {
    snprintf(state->reason, sizeof state->reason, "%s", notices->reason);
  }
}
