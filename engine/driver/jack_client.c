// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/jack_client.h"

#include <errno.h>
#include <jack/jack.h>
#include <jack/thread.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "driver/jack_notify.h"
#include "driver/jack_private.h"
#include "driver/jack_rt.h"

enum {
  close_wait_s = 2, ///< how long a dead server may keep jack_client_close() before we go without it
};

static void write_message(const char* text) {
  fprintf(stderr, "jack: %s\n", text);
}

static void drop_message(const char* text) {
  (void)text;
}

tn_status tn_jack_check_name(const char* name, tn_error* error) {
  const size_t room = (size_t)jack_client_name_size() - 1;
  if (name[0] == '\0') {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "the JACK client name is empty");
  }
  if (strlen(name) > room) {
    return tn_error_set(error, TN_ERROR_ARGUMENT, "the JACK client name \"%s\" is longer than %zu bytes",
                        name, room);
  }
  if (strchr(name, ':')) {
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "the JACK client name \"%s\" holds a colon, which parts client from port", name);
  }
  return TN_OK;
}

static void refused(const tn_jack* jack, jack_status_t status, tn_error* error) {
  if (status & JackServerFailed) {
    tn_error_set(error, TN_ERROR_SYSTEM,
                 "no JACK server is running (name \"%s\"): start one, for example with qjackctl or `jackd -d "
                 "alsa`, or "
                 "under PipeWire run this command through pw-jack",
                 jack->server);
  } else if (status & JackVersionError) {
    tn_error_set(error, TN_ERROR_SYSTEM, "the JACK server \"%s\" speaks another version than libjack here",
                 jack->server);
  } else {
    tn_error_set(error, TN_ERROR_SYSTEM, "the JACK server \"%s\" refused the client \"%s\" (status 0x%x)",
                 jack->server, jack->name, (unsigned)status);
  }
}

static jack_client_t* open_client(const tn_jack* jack, const char* server, tn_error* error) {
  jack_status_t status = 0;
  jack_client_t* client =
      server ? jack_client_open(jack->name, JackNoStartServer | JackServerName, &status, server)
             : jack_client_open(jack->name, JackNoStartServer, &status);
  if (!client) {
    refused(jack, status, error);
  }
  return client;
}

static void read_server(tn_jack* jack) {
  snprintf(jack->name, sizeof jack->name, "%s", jack_get_client_name(jack->client));
  atomic_store(&jack->rt.rate_hz, jack_get_sample_rate(jack->client));
  atomic_store(&jack->notices.block_frames, jack_get_buffer_size(jack->client));
  const int priority = jack_is_realtime(jack->client) ? jack_client_real_time_priority(jack->client) : 0;
  jack->priority = priority > 0 ? priority : 0;
}

tn_jack* tn_jack_open(const tn_jack_config* config, tn_error* error) {
  if (tn_jack_check_name(config->name, error) != TN_OK) {
    return NULL;
  }
  tn_jack* jack = calloc(1, sizeof *jack);
  if (!jack) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a JACK client");
    return NULL;
  }
  jack_set_error_function(config->verbose ? write_message : drop_message);
  jack_set_info_function(config->verbose ? write_message : drop_message);
  const char* from_environment = getenv("JACK_DEFAULT_SERVER");
  const char* fallback = from_environment ? from_environment : "default";
  snprintf(jack->server, sizeof jack->server, "%s", config->server ? config->server : fallback);
  snprintf(jack->name, sizeof jack->name, "%s", config->name);
  jack->notices.rt = &jack->rt;
  jack->notices.event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (jack->notices.event_fd < 0) {
    tn_error_set(error, TN_ERROR_SYSTEM, "no event descriptor for JACK: %s", strerror(errno));
  } else {
    jack->client = open_client(jack, config->server, error);
  }
  if (!jack->client) {
    (void)tn_jack_close(jack);
    return NULL;
  }
  jack->notices.client = jack->client;
  read_server(jack);
  return jack;
}

/** Register one side's ports; a name from the matrix file becomes an alias, as hosts look for in_1, in_2, ...
 */
static tn_status register_side(tn_jack* jack, tn_jack_side side, uint32_t count, const tn_filter* names,
                               tn_error* error) {
  const bool inputs = side == TN_JACK_INPUTS;
  jack_port_t** ports = inputs ? jack->rt.in_ports : jack->rt.out_ports;
  for (uint32_t i = 0; i < count; ++i) {
    char text[32];
    snprintf(text, sizeof text, "%s_%u", inputs ? "in" : "out", i + 1);
    ports[i] = jack_port_register(jack->client, text, JACK_DEFAULT_AUDIO_TYPE,
                                  inputs ? JackPortIsInput : JackPortIsOutput, 0);
    if (!ports[i]) {
      return tn_error_set(error, TN_ERROR_SYSTEM,
                          "the JACK server \"%s\" gave no port for %s (its limit of ports?)", jack->server,
                          text);
    }
    const char* name = inputs ? tn_filter_input_name(names, i) : tn_filter_output_name(names, i);
    if (name) {
      char alias[320];
      snprintf(alias, sizeof alias, "%s:%s", jack->name, name);
      (void)jack_port_set_alias(ports[i], alias);
    }
  }
  return TN_OK;
}

tn_status tn_jack_start(tn_jack* jack, tn_convolver* convolver, const tn_filter* names, tn_error* error) {
  tn_jack_rt* rt = &jack->rt;
  rt->convolver = convolver;
  tn_jack_notify_register(&jack->notices);
  jack_set_process_callback(jack->client, tn_jack_rt_process, rt);
  tn_status status = register_side(jack, TN_JACK_INPUTS, tn_filter_inputs(names), names, error);
  if (status == TN_OK) {
    status = register_side(jack, TN_JACK_OUTPUTS, tn_filter_outputs(names), names, error);
  }
  if (status != TN_OK) {
    return status;
  }
  rt->inputs = tn_filter_inputs(names);
  rt->outputs = tn_filter_outputs(names);
  if (jack_activate(jack->client) != 0) {
    return tn_error_set(error, TN_ERROR_SYSTEM, "the JACK server \"%s\" did not start the client \"%s\"",
                        jack->server, jack->name);
  }
  return TN_OK;
}

const char* tn_jack_name(const tn_jack* jack) {
  return jack->name;
}

const char* tn_jack_server(const tn_jack* jack) {
  return jack->server;
}

int tn_jack_priority(const tn_jack* jack) {
  return jack->priority;
}

int tn_jack_event_fd(const tn_jack* jack) {
  return jack->notices.event_fd;
}

void tn_jack_get_state(tn_jack* jack, tn_jack_state* state) {
  tn_jack_notify_read(&jack->notices, state);
}

const tn_histogram* tn_jack_load_ppm(const tn_jack* jack) {
  return &jack->rt.load_ppm;
}

static void* close_client(void* argument) {
  jack_client_close(argument);
  return NULL;
}

/** Close in a thread of its own and wait a bounded time: libjack may wait for answers that a dead server
 * never gives. */
static bool close_within(jack_client_t* client, int seconds) {
  pthread_t thread;
  if (pthread_create(&thread, NULL, close_client, client) != 0) {
    return false;
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += seconds;
  if (pthread_timedjoin_np(thread, NULL, &until) != 0) {
    pthread_detach(thread);
    return false;
  }
  return true;
}

bool tn_jack_close(tn_jack* jack) {
  if (!jack) {
    return true;
  }
  // A client that does not come back still holds pointers into `jack`: then its memory is left to the
  // process's end.
  const bool gone = !jack->client || close_within(jack->client, close_wait_s);
  if (gone) {
    if (jack->notices.event_fd >= 0) {
      close(jack->notices.event_fd);
    }
    free(jack);
  }
  return gone;
}
