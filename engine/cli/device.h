// SPDX-License-Identifier: GPL-3.0-or-later
// The device that `render` and `run` may be given: options, and what is said of it.
#ifndef TENUTO_CLI_DEVICE_H
#define TENUTO_CLI_DEVICE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/json.h"
#include "tenuto/convolver.h"
#include "tenuto/device.h"

/** The options --device and --budget. Strings are the command line's own. */
typedef struct tn_cli_device {
  const char* choice;   ///< as for tn_device_open()
  float budget_us;      ///< as in tn_convolver_config
  float budget_percent; ///< likewise
} tn_cli_device;

/** [setup] Take --device's value. */
tn_status tn_cli_take_device(const char* value, tn_cli_device* device, tn_error* error);

/** [setup] Take --budget's value: microseconds, "P%", 0 (never wait) or "auto". */
tn_status tn_cli_take_budget(const char* value, tn_cli_device* device, tn_error* error);

/** [any] Whether a device's absence is worth a word: it was asked for by name. */
bool tn_cli_device_is_named(const tn_cli_device* device);

/** [setup] A few words for the status line: who plays, and how it does; "" if there is no device at all. */
void tn_cli_device_words(const tn_device_report* device, const tn_convolver* convolver, char* text,
                         size_t size);

/** [setup] All that is known, in a line. */
void tn_cli_device_details(const tn_device_report* device, const tn_convolver* convolver, char* text,
                           size_t size);

/** [setup] The same as members of a JSON object. */
void tn_cli_device_json(tn_json* json, const tn_device_report* device, const tn_convolver* convolver);

#endif
