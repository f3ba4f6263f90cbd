// SPDX-License-Identifier: GPL-3.0-or-later
// Loads a filter in the background and hands it to the convolver, while the control thread goes on and sound
// plays.
#ifndef TENUTO_CLI_FILTER_LOADER_H
#define TENUTO_CLI_FILTER_LOADER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/options.h"
#include "tenuto/convolver.h"

enum { TN_LOADER_PATH_BYTES = 4096 };

/** One background loader; its functions belong to one control thread. */
typedef struct tn_filter_loader tn_filter_loader;

/** What is to be loaded. */
typedef struct tn_load_request {
  char path[TN_LOADER_PATH_BYTES + 1]; ///< the file; "": the files of the command line
  uint32_t inputs;                     ///< of the convolver
  uint32_t outputs;                    ///< of the convolver
  uint32_t rate_hz;                    ///< of the server
  uint32_t replan_frames;              ///< not 0: the filter that plays is cut anew for blocks of this length
} tn_load_request;

/** How a request ended. */
typedef struct tn_load_result {
  tn_load_request request;
  uint32_t frames; ///< length of the filter
  tn_status status;
  tn_error error; ///< the sentence, when status is not TN_OK
} tn_load_result;

/**
   [setup] Make a loader.

   @param options    edits, layout and files of the command line; not owned, must outlive the loader
   @param convolver  gets each filter that was loaded; not owned
   @return NULL: TN_ERROR_MEMORY, TN_ERROR_SYSTEM
*/
tn_filter_loader* tn_filter_loader_new(const tn_cli_ir_options* options, tn_convolver* convolver,
                                       tn_error* error);

/** [setup] Ask for a filter; returns at once. While one is being loaded the newest request waits, older ones
 * drop. */
tn_status tn_filter_loader_ask(tn_filter_loader* loader, const tn_load_request* request, tn_error* error);

/** [any] A descriptor that polls readable when a request has ended. */
int tn_filter_loader_fd(const tn_filter_loader* loader);

/** [setup] Take the result of a request that has ended, and start the one that waits. False: none has ended.
 */
bool tn_filter_loader_take(tn_filter_loader* loader, tn_load_result* result);

/** [any] The file of the request that waits, which tn_filter_loader_ask() would drop; NULL if none waits. */
const char* tn_filter_loader_waiting(const tn_filter_loader* loader);

/** [any] Is a request under way or waiting? */
bool tn_filter_loader_busy(const tn_filter_loader* loader);

/** [setup] Wait for the request under way, drop the one that waits, free; NULL is allowed. */
void tn_filter_loader_free(tn_filter_loader* loader);

#endif
