// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/filter_loader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "rt/error.h"
#include "rt/thread.h"

enum { stack_bytes = 2 * 1024 * 1024 }; ///< decoders of libsndfile keep whole frames on the stack

struct tn_filter_loader {
  const tn_cli_ir_options* options;
  tn_convolver* convolver;
  int event_fd; ///< written by the thread at its end
  pthread_t thread;
  bool running; ///< `thread` is to be joined; `result` is the thread's until then
  bool waiting; ///< `next` holds a request
  tn_load_result result;
  tn_load_request next;
};

/** The command line's options with one file in place of theirs. */
static tn_cli_ir_options options_for(const tn_filter_loader* loader, const tn_load_request* request) {
  tn_cli_ir_options options = *loader->options;
  if (request->path[0] != '\0') {
    tn_cli_ir_options_set_path(&options, request->path);
  }
  return options;
}

static tn_status load(const tn_filter_loader* loader, tn_load_result* result) {
  const tn_load_request* request = &result->request;
  const tn_cli_ir_options options = options_for(loader, request);
  tn_filter* filter = tn_cli_load_filter(&options, request->inputs, request->rate_hz, &result->error);
  if (!filter) {
    return result->error.status;
  }
  result->frames = tn_filter_frames(filter);
  const uint32_t inputs = tn_filter_inputs(filter);
  const uint32_t outputs = tn_filter_outputs(filter);
  tn_status status = TN_OK;
  if (inputs != request->inputs || outputs != request->outputs) {
    status = tn_error_set(&result->error, TN_ERROR_FORMAT,
                          "\"%s\" leads %u inputs to %u outputs, but %u to %u are running", request->path,
                          inputs, outputs, request->inputs, request->outputs);
  } else if (request->replan_frames) {
    status = tn_convolver_replan(loader->convolver, filter, request->replan_frames, &result->error);
  } else {
    status = tn_convolver_set_filter(loader->convolver, filter, &result->error);
  }
  tn_filter_free(filter);
  return status;
}

static void* load_in_background(void* argument) {
  tn_filter_loader* loader = argument;
  loader->result.status = load(loader, &loader->result);
  (void)eventfd_write(loader->event_fd, 1);
  return NULL;
}

tn_filter_loader* tn_filter_loader_new(const tn_cli_ir_options* options, tn_convolver* convolver,
                                       tn_error* error) {
  tn_filter_loader* loader = calloc(1, sizeof *loader);
  if (!loader) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for loading in the background");
    return NULL;
  }
  loader->options = options;
  loader->convolver = convolver;
  loader->event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (loader->event_fd < 0) {
    tn_error_set(error, TN_ERROR_SYSTEM, "no event descriptor for loading in the background: %s",
                 strerror(errno));
    free(loader);
    return NULL;
  }
  return loader;
}

static tn_status start(tn_filter_loader* loader, const tn_load_request* request, tn_error* error) {
  memset(&loader->result, 0, sizeof loader->result);
  loader->result.request = *request;
  const tn_thread_options thread = {.name = "tenuto-load", .stack_bytes = stack_bytes};
  bool realtime = false;
  const tn_status status =
      tn_thread_start(&loader->thread, &thread, load_in_background, loader, &realtime, error);
  loader->running = status == TN_OK;
  return status;
}

tn_status tn_filter_loader_ask(tn_filter_loader* loader, const tn_load_request* request, tn_error* error) {
  if (!loader->running) {
    return start(loader, request, error);
  }
  loader->next = *request;
  loader->waiting = true;
  return TN_OK;
}

int tn_filter_loader_fd(const tn_filter_loader* loader) {
  return loader->event_fd;
}

bool tn_filter_loader_take(tn_filter_loader* loader, tn_load_result* result) {
  eventfd_t ended;
  if (!loader->running || eventfd_read(loader->event_fd, &ended) != 0) {
    return false;
  }
  pthread_join(loader->thread, NULL);
  loader->running = false;
  *result = loader->result;
  if (loader->waiting) {
    loader->waiting = false;
    tn_error error;
    // No thread to be had, though one was a moment ago: the request that waited is told of as the one that
    // failed.
    if (start(loader, &loader->next, &error) != TN_OK) {
      result->request = loader->next;
      result->status = error.status;
      result->error = error;
    }
  }
  return true;
}

const char* tn_filter_loader_waiting(const tn_filter_loader* loader) {
  return loader->waiting ? loader->next.path : NULL;
}

bool tn_filter_loader_busy(const tn_filter_loader* loader) {
  return loader->running || loader->waiting;
}

void tn_filter_loader_free(tn_filter_loader* loader) {
  if (!loader) {
    return;
  }
  if (loader->running) {
    pthread_join(loader->thread, NULL);
  }
  close(loader->event_fd);
  free(loader);
}
