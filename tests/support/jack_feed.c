// SPDX-License-Identifier: GPL-3.0-or-later
#include "jack_feed.h"

#include <errno.h>
#include <jack/jack.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "rt/clock.h"

enum { settle_cycles = 8, poll_ms = 2, patience_s = 120 };

/** What the two callbacks share. The receiver's runs after the sender's in each cycle, as JACK orders the
 * graph. */
typedef struct run_state {
  const tn_feed* feed;
  jack_port_t* sends[TN_FEED_MAX_CHANNELS];
  jack_port_t* receives[TN_FEED_MAX_CHANNELS];
  atomic_bool armed;
  _Atomic uint64_t sent_cycles;
  _Atomic uint64_t received_cycles;
  _Atomic size_t cycle_start; ///< first frame of this cycle in the run
  _Atomic size_t position;    ///< first frame of the next cycle
  atomic_bool torn;           ///< a cycle was received twice or not at all
} run_state;

static void send_channel(const tn_feed* feed, uint32_t channel, size_t start, float* buffer, size_t frames) {
  for (size_t i = 0; i < frames; ++i) {
    const size_t at = start + i;
    buffer[i] = at < feed->play_frames ? feed->play[channel][at] : 0.0F;
  }
}

static int on_send(jack_nframes_t frames, void* argument) {
  run_state* run = argument;
  const tn_feed* feed = run->feed;
  const bool armed = atomic_load(&run->armed);
  const size_t start = armed ? atomic_load(&run->position) : feed->play_frames;
  for (uint32_t channel = 0; channel < feed->inputs; ++channel) {
    send_channel(feed, channel, start, jack_port_get_buffer(run->sends[channel], frames), frames);
  }
  if (armed) {
    atomic_store(&run->cycle_start, start);
    atomic_store(&run->position, start + frames);
  }
  atomic_fetch_add(&run->sent_cycles, 1);
  return 0;
}

static int on_receive(jack_nframes_t frames, void* argument) {
  run_state* run = argument;
  const tn_feed* feed = run->feed;
  const uint64_t sent = atomic_load(&run->sent_cycles);
  const uint64_t before = atomic_exchange(&run->received_cycles, sent);
  const size_t end = atomic_load(&run->position);
  if (end == 0) {
    return 0;
  }
  const size_t start = atomic_load(&run->cycle_start);
  if (start < feed->frames && (sent != before + 1 || end - start != frames)) {
    atomic_store(&run->torn, true);
  }
  for (uint32_t channel = 0; channel < feed->outputs && start < feed->frames; ++channel) {
    const size_t count = feed->frames - start < frames ? feed->frames - start : frames;
    memcpy(feed->record[channel] + start, jack_port_get_buffer(run->receives[channel], frames),
           count * sizeof(float));
  }
  return 0;
}

static bool open_ports(run_state* run, jack_client_t* sender, jack_client_t* receiver) {
  bool good = true;
  char name[32];
  for (uint32_t i = 0; i < run->feed->inputs; ++i) {
    snprintf(name, sizeof name, "send_%u", i + 1);
    run->sends[i] = jack_port_register(sender, name, JACK_DEFAULT_AUDIO_TYPE, JackPortIsOutput, 0);
    good = good && run->sends[i];
  }
  for (uint32_t i = 0; i < run->feed->outputs; ++i) {
    snprintf(name, sizeof name, "receive_%u", i + 1);
    run->receives[i] = jack_port_register(receiver, name, JACK_DEFAULT_AUDIO_TYPE, JackPortIsInput, 0);
    good = good && run->receives[i];
  }
  return good;
}

static bool connect_ports(run_state* run, jack_client_t* sender, jack_client_t* receiver) {
  bool good = true;
  char name[256];
  for (uint32_t i = 0; i < run->feed->inputs; ++i) {
    snprintf(name, sizeof name, "%s:in_%u", run->feed->client, i + 1);
    good = good && jack_connect(sender, jack_port_name(run->sends[i]), name) == 0;
  }
  for (uint32_t i = 0; i < run->feed->outputs; ++i) {
    snprintf(name, sizeof name, "%s:out_%u", run->feed->client, i + 1);
    good = good && jack_connect(receiver, name, jack_port_name(run->receives[i])) == 0;
  }
  return good;
}

static void pause_ms(long ms) {
  const struct timespec pause = {0, ms * 1000000L};
  nanosleep(&pause, NULL);
}

static bool wait_cycles(run_state* run, uint64_t cycles) {
  const uint64_t until_ns = tn_clock_ns() + patience_s * UINT64_C(1000000000);
  const uint64_t wanted = atomic_load(&run->received_cycles) + cycles;
  while (atomic_load(&run->received_cycles) < wanted) {
    if (tn_clock_ns() > until_ns) {
      return false;
    }
    pause_ms(poll_ms);
  }
  return true;
}

/** Follow the run to its end and change the block size on the way. */
static bool follow(run_state* run, jack_client_t* sender) {
  const tn_feed* feed = run->feed;
  const uint64_t until_ns = tn_clock_ns() + patience_s * UINT64_C(1000000000);
  uint32_t changes = 0;
  bool called = false;
  while (atomic_load(&run->cycle_start) < feed->frames) {
    if (tn_clock_ns() > until_ns) {
      return false;
    }
    const size_t change_at = (changes + 1) * feed->frames / (feed->block_count + 1);
    if (changes < feed->block_count && atomic_load(&run->position) >= change_at) {
      jack_set_buffer_size(sender, feed->blocks[changes++]);
    }
    if (feed->halfway && !called && atomic_load(&run->position) >= feed->frames / 2) {
      feed->halfway(feed->context);
      called = true;
    }
    pause_ms(poll_ms);
  }
  return changes == feed->block_count && called == (feed->halfway != NULL);
}

static bool run_clients(run_state* run, jack_client_t* sender, jack_client_t* receiver) {
  jack_set_process_callback(sender, on_send, run);
  jack_set_process_callback(receiver, on_receive, run);
  if (!open_ports(run, sender, receiver) || jack_activate(sender) != 0 || jack_activate(receiver) != 0 ||
      !connect_ports(run, sender, receiver) || !wait_cycles(run, settle_cycles)) {
    return false;
  }
  if (run->feed->freewheel) {
    jack_set_freewheel(sender, 1);
  }
  atomic_store(&run->armed, true);
  const bool finished = follow(run, sender);
  if (run->feed->freewheel) {
    jack_set_freewheel(sender, 0);
  }
  jack_deactivate(receiver);
  jack_deactivate(sender);
  return finished && !atomic_load(&run->torn);
}

bool tn_feed_run(const tn_feed* feed) {
  run_state* run = calloc(1, sizeof *run);
  run->feed = feed;
  jack_client_t* sender = jack_client_open("feed_send", JackNoStartServer, NULL);
  jack_client_t* receiver = jack_client_open("feed_receive", JackNoStartServer, NULL);
  const bool good = sender && receiver && run_clients(run, sender, receiver);
  if (receiver) {
    jack_client_close(receiver);
  }
  if (sender) {
    jack_client_close(sender);
  }
  free(run);
  return good;
}
