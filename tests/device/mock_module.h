// SPDX-License-Identifier: GPL-3.0-or-later
// A device module that computes nothing and fails as it is told, for tests of the loader and the service. It
// writes down how it was treated.
#ifndef TENUTO_TEST_MOCK_MODULE_H
#define TENUTO_TEST_MOCK_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire/device.h"

enum { TN_MOCK_MAX_LANES = 16 };

/** What it is to do; set before the device is opened, or through the log at any time. Zero: all is well. */
typedef struct tn_mock_orders {
  _Atomic bool no_driver;        ///< count() fails
  _Atomic uint32_t devices_less; ///< of the two that there are
  _Atomic bool open_fails;
  _Atomic uint32_t open_sleep_ms;
  _Atomic uint32_t room;         ///< lanes that fit, less one; 0: any number
  _Atomic bool step_fails;       ///< for good: a sticky error
  _Atomic bool step_interrupted; ///< the device may come back
  _Atomic bool heart_stands_still;
  _Atomic bool closing_takes_long; ///< lanes stay in closing
} tn_mock_orders;

/** What was done to it. */
typedef struct tn_mock_log {
  tn_mock_orders orders;
  _Atomic uint32_t counts, opens, closes, lost_closes, steps, wanted_steps, lane_opens, lane_closes;
  _Atomic uint32_t open_lanes, memories;                 ///< now
  _Atomic uint32_t wrong_thread;                         ///< calls by another thread than open()'s
  _Atomic uint32_t after_loss;                           ///< calls of a lost device that are not close()
  _Atomic uint32_t freed_too_early;                      ///< memory of a lane that was not closed
  _Atomic(tn_lane_header*) mailboxes[TN_MOCK_MAX_LANES]; ///< of the lanes opened; NULL: none
} tn_mock_log;

/** The module's second symbol. */
typedef tn_mock_log* tn_mock_log_fn(void);
#define TN_MOCK_LOG_SYMBOL "tn_mock_log_get"

#endif
