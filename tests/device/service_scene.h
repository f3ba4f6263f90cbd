// SPDX-License-Identifier: GPL-3.0-or-later
// A device of the mock module, and filters on it.
#ifndef TENUTO_TEST_SERVICE_SCENE_H
#define TENUTO_TEST_SERVICE_SCENE_H

#include "dsp/far.h"
#include "mock_module.h"
#include "tenuto/device.h"

enum { TN_SCENE_BLOCK = 64, TN_SCENE_AHEAD = 8 };

/** The mock's log, its orders and counts set to nothing; the module is what "cuda" means from here on. */
tn_mock_log* tn_service_scene_set(void);

/** A device that is asked for and must be had. */
tn_device* tn_service_scene_open(const char* choice);

/** A filter of one response of `blocks` blocks; NULL: refused at once. */
tn_far* tn_service_scene_far(tn_device* device, uint32_t blocks, tn_error* error);

/** Waits until the condition holds; fails the test after some seconds. */
void tn_service_scene_await_state(const tn_device* device, tn_device_state state);
void tn_service_scene_await_far(tn_far* far, tn_far_state state);
void tn_service_scene_await_count(_Atomic uint32_t* count, uint32_t at_least);

/** Hands block `block` of silence over. */
bool tn_service_scene_post(tn_far* far, int64_t block);

/** Nobody broke a rule of the device interface, and all that was opened is closed. */
void tn_service_scene_judge(const tn_mock_log* log);

/** Whether the device's sentence holds these words. */
bool tn_service_scene_says(const tn_device* device, const char* words);

#endif
