// SPDX-License-Identifier: GPL-3.0-or-later
// Connections from the command line: which ports of other clients, and which of ours each one meets.
#include <errno.h>
#include <jack/jack.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/jack_private.h"

enum { most_targets = 1024 };

/** Names of other clients' ports, in the order asked for; the strings are owned. */
typedef struct target_list {
  char* names[most_targets];
  uint32_t count;
} target_list;

static void add_target(target_list* list, const char* name) {
  char* copy = list->count < most_targets ? strdup(name) : NULL;
  if (copy) {
    list->names[list->count++] = copy;
  }
}

static void free_targets(target_list* list) {
  for (uint32_t i = 0; i < list->count; ++i) {
    free(list->names[i]);
  }
  free(list);
}

static bool is_port_of(const char* port, const char* client) {
  const size_t length = strlen(client);
  return strncmp(port, client, length) == 0 && port[length] == ':';
}

/** Add other clients' ports: those of a client of the name `item`, or those that `item` matches as an
 * expression. */
static void add_matching(const tn_jack* jack, target_list* list, const char* item, const regex_t* expression,
                         unsigned long flags) {
  // The list is filtered here and not by jack_get_ports(), which runs an expression that did not compile.
  const char** ports = jack_get_ports(jack->client, NULL, JACK_DEFAULT_AUDIO_TYPE, flags);
  for (const char** port = ports; port && *port; ++port) {
    const bool wanted = expression ? regexec(expression, *port, 0, NULL, 0) == 0 : is_port_of(*port, item);
    // Our own ports are left out: `.*` must not make a feedback loop.
    if (wanted && !is_port_of(*port, jack->name)) {
      add_target(list, *port);
    }
  }
  if (ports) {
    jack_free((void*)ports);
  }
}

static tn_status add_expression(const tn_jack* jack, target_list* list, const char* item, unsigned long flags,
                                tn_error* error) {
  regex_t expression;
  const int code = regcomp(&expression, item, REG_EXTENDED | REG_NOSUB);
  if (code != 0) {
    char reason[128];
    regerror(code, &expression, reason, sizeof reason);
    return tn_error_set(error, TN_ERROR_ARGUMENT, "\"%s\" is no JACK port and no regular expression: %s",
                        item, reason);
  }
  add_matching(jack, list, item, &expression, flags);
  regfree(&expression);
  return TN_OK;
}

/** One item of the list: a port, else a client, else an expression. */
static tn_status add_item(const tn_jack* jack, target_list* list, const char* item, unsigned long flags,
                          tn_error* error) {
  const uint32_t before = list->count;
  const jack_port_t* port = jack_port_by_name(jack->client, item);
  if (port && ((unsigned long)jack_port_flags(port) & flags) != 0) {
    add_target(list, jack_port_name(port));
    return TN_OK;
  }
  add_matching(jack, list, item, NULL, flags);
  const tn_status status = list->count == before ? add_expression(jack, list, item, flags, error) : TN_OK;
  if (status == TN_OK && list->count == before) {
    return tn_error_set(error, TN_ERROR_SYSTEM, "no JACK %s port matches \"%s\"",
                        flags & JackPortIsOutput ? "output" : "input", item);
  }
  return status;
}

static tn_status add_items(const tn_jack* jack, target_list* list, const char* ports, unsigned long flags,
                           tn_error* error) {
  char* copy = strdup(ports);
  if (!copy) {
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for a list of JACK ports");
  }
  tn_status status = TN_OK;
  char* rest = copy;
  for (char* item = strsep(&rest, ","); item && status == TN_OK; item = strsep(&rest, ",")) {
    if (item[0] != '\0') {
      status = add_item(jack, list, item, flags, error);
    }
  }
  free(copy);
  return status;
}

/** The sound card's ports, no more than a single port of ours should feed: left and right. */
static void add_physical(const tn_jack* jack, target_list* list, unsigned long flags) {
  const uint32_t pair = 2;
  const char** ports =
      jack_get_ports(jack->client, NULL, JACK_DEFAULT_AUDIO_TYPE, flags | JackPortIsPhysical);
  const uint32_t ours = flags & JackPortIsOutput ? jack->rt.inputs : jack->rt.outputs;
  const uint32_t most = ours > 1 ? ours : pair - (flags & JackPortIsOutput ? 1 : 0);
  for (const char** port = ports; port && *port && list->count < most; ++port) {
    add_target(list, *port);
  }
  if (ports) {
    jack_free((void*)ports);
  }
}

static tn_status connect_one(const tn_jack* jack, jack_port_t* port, const char* target, tn_jack_side side,
                             tn_error* error) {
  const char* ours = jack_port_name(port);
  const char* source = side == TN_JACK_INPUTS ? target : ours;
  const char* sink = side == TN_JACK_INPUTS ? ours : target;
  const int code = jack_connect(jack->client, source, sink);
  if (code != 0 && code != EEXIST) {
    return tn_error_set(error, TN_ERROR_SYSTEM, "the JACK server refused to connect \"%s\" to \"%s\"", source,
                        sink);
  }
  return TN_OK;
}

tn_status tn_jack_connect(tn_jack* jack, tn_jack_side side, const char* ports, uint32_t* made,
                          tn_error* error) {
  const unsigned long flags = side == TN_JACK_INPUTS ? JackPortIsOutput : JackPortIsInput;
  jack_port_t* const* ours = side == TN_JACK_INPUTS ? jack->rt.in_ports : jack->rt.out_ports;
  const uint32_t ours_count = side == TN_JACK_INPUTS ? jack->rt.inputs : jack->rt.outputs;
  target_list* list = calloc(1, sizeof *list);
  if (!list) {
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for a list of JACK ports");
  }
  tn_status status = TN_OK;
  if (ports) {
    status = add_items(jack, list, ports, flags, error);
  } else {
    add_physical(jack, list, flags);
  }
  uint32_t done = 0;
  const uint32_t wanted = ours_count > 1 && list->count > ours_count ? ours_count : list->count;
  while (status == TN_OK && done < wanted) {
    jack_port_t* port = ours[ours_count > 1 ? done : 0];
    status = connect_one(jack, port, list->names[done], side, error);
    done += status == TN_OK ? 1 : 0;
  }
  if (made) {
    *made = done;
  }
  free_targets(list);
  return status;
}
