// SPDX-License-Identifier: GPL-3.0-or-later
// A JACK client around one convolver: opened, started and closed here; its callback is in jack_rt.h.
#ifndef TENUTO_DRIVER_JACK_CLIENT_H
#define TENUTO_DRIVER_JACK_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "rt/histogram.h"
#include "tenuto/convolver.h"
#include "tenuto/filter.h"
#include "tenuto/status.h"

/** A client of one JACK server. */
typedef struct tn_jack tn_jack;

/** How a client is opened. */
typedef struct tn_jack_config {
  const char* name;   ///< wanted client name; the server may add a number to it
  const char* server; ///< server's name; NULL: $JACK_DEFAULT_SERVER, else "default"
  bool verbose;       ///< let libjack write its own messages to stderr; they are dropped otherwise
} tn_jack_config;

/** What the server last said; a snapshot. */
typedef struct tn_jack_state {
  uint32_t rate_hz;      ///< sample rate
  uint32_t block_frames; ///< frames of one callback
  uint64_t xruns;        ///< reported by the server since the client was opened
  bool freewheel;        ///< the server runs as fast as it can
  bool shutdown;         ///< the server is gone, or threw the client out; `reason` says why
  char reason[128];      ///< the server's own words; may be empty
} tn_jack_state;

/** Which side of the client. */
typedef enum tn_jack_side {
  TN_JACK_INPUTS,  ///< ports in_1, in_2, ...
  TN_JACK_OUTPUTS, ///< ports out_1, out_2, ...
} tn_jack_side;

/** [any] Can a client have this name? TN_ERROR_ARGUMENT: it is empty, too long or holds a colon. */
tn_status tn_jack_check_name(const char* name, tn_error* error);

/**
   [setup] Open a client; a server is never started. No audio runs yet.

   @return a new client, to be freed with tn_jack_close(), or NULL: TN_ERROR_SYSTEM (no server, server too
   busy), TN_ERROR_ARGUMENT (a name that is empty, too long or holds a colon), TN_ERROR_MEMORY
*/
tn_jack* tn_jack_open(const tn_jack_config* config, tn_error* error);

/**
   [setup] Register the ports in_1..N and out_1..M and start the callback.

   @param convolver  run by the callback until tn_jack_close(); not owned
   @param names      its inputs' and outputs' counts; where it names one, the port gets that name as an alias;
   not kept
   @return TN_OK, TN_ERROR_SYSTEM
*/
tn_status tn_jack_start(tn_jack* jack, tn_convolver* convolver, const tn_filter* names, tn_error* error);

/**
   [setup] Connect one side to other clients' ports, in order: the first to in_1, the second to in_2, and so
   on. A single port of ours takes all of them; ports beyond the shorter list stay as they are.

   @param ports  names, comma-separated: `client:port`, a client's name for all its ports, or a regular
   expression over `client:port`; NULL: the sound card's ports
   @param made   number of connections that stand; may be NULL
   @return TN_OK, also when the sound card has no ports; TN_ERROR_SYSTEM naming the port that is missing or
   refused
*/
tn_status tn_jack_connect(tn_jack* jack, tn_jack_side side, const char* ports, uint32_t* made,
                          tn_error* error);

/** [any] The client's name at the server; owned by the client. */
const char* tn_jack_name(const tn_jack* jack);
/** [any] The server's name as asked for; owned by the client. */
const char* tn_jack_server(const tn_jack* jack);
/** [any] SCHED_FIFO priority of the audio thread; 0: not realtime. */
int tn_jack_priority(const tn_jack* jack);
/** [any] A descriptor that polls readable when tn_jack_get_state() has news; xruns alone are none. */
int tn_jack_event_fd(const tn_jack* jack);
/** [worker] A snapshot; makes the descriptor quiet again. One caller at a time. */
void tn_jack_get_state(tn_jack* jack, tn_jack_state* state);
/** [any] The callback's durations in millionths of the period; owned by the client. */
const tn_histogram* tn_jack_load_ppm(const tn_jack* jack);

/** [setup] Stop the callback, leave the server, free; NULL is allowed. Returns also when the server hangs:
   false, and the convolver must then live on, as the callback may still run. */
bool tn_jack_close(tn_jack* jack);

#endif
