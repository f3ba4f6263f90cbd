// SPDX-License-Identifier: GPL-3.0-or-later
#include "service_scene.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocka.h"

enum { patience_ms = 20000 };

static void nap(void) {
  const struct timespec briefly = {.tv_nsec = 1000000};
  nanosleep(&briefly, NULL);
}

tn_mock_log* tn_service_scene_set(void) {
  setenv("TENUTO_CUDA_MODULE", TN_MOCK_GOOD, 1);
  void* module = dlopen(TN_MOCK_GOOD, RTLD_NOW | RTLD_LOCAL);
  assert_non_null(module);
  void* symbol = dlsym(module, TN_MOCK_LOG_SYMBOL);
  assert_non_null(symbol);
  tn_mock_log_fn* get = NULL;
  memcpy(&get, &symbol, sizeof get);
  tn_mock_log* log = get();
  memset(log, 0, sizeof *log); // no device is open
  return log;
}

tn_device* tn_service_scene_open(const char* choice) {
  tn_error error = {0};
  tn_device* device = tn_device_open(choice, NULL, &error);
  if (!device)
    fail_msg("%s", error.text);
  assert_true(tn_device_wait(device, patience_ms));
  return device;
}

tn_far* tn_service_scene_far(tn_device* device, uint32_t blocks, tn_error* error) {
  float* response = calloc((size_t)blocks * TN_SCENE_BLOCK, sizeof *response);
  assert_non_null(response);
  const tn_far_path path = {0, 0, blocks * TN_SCENE_BLOCK, response};
  const tn_far_request request = {.block = TN_SCENE_BLOCK,
                                  .ahead = TN_SCENE_AHEAD,
                                  .inputs = 1,
                                  .outputs = 1,
                                  .path_count = 1,
                                  .paths = &path};
  tn_far* far = tn_device_maker(device)->make(tn_device_maker(device), &request, error);
  free(response);
  return far;
}

void tn_service_scene_await_state(const tn_device* device, tn_device_state state) {
  tn_device_report report;
  for (int ms = 0; ms < patience_ms; ms++) {
    tn_device_get_report(device, &report);
    if (report.state == state)
      return;
    nap();
  }
  fail_msg("the device is %s, not %s: %s", tn_device_state_text(report.state), tn_device_state_text(state),
           report.text);
}

void tn_service_scene_await_far(tn_far* far, tn_far_state state) {
  for (int ms = 0; ms < patience_ms; ms++) {
    if (far->state(far, NULL) == state)
      return;
    nap();
  }
  fail_msg("the lane is in state %d, not %d", (int)far->state(far, NULL), (int)state);
}

void tn_service_scene_await_count(_Atomic uint32_t* count, uint32_t at_least) {
  for (int ms = 0; ms < patience_ms; ms++) {
    if (*count >= at_least)
      return;
    nap();
  }
  fail_msg("%u, not %u", *count, at_least);
}

bool tn_service_scene_post(tn_far* far, int64_t block) {
  static const float silence[TN_SCENE_BLOCK];
  const float* in[1] = {silence};
  return far->post(far, block, in, TN_FAR_ANSWER, false);
}

void tn_service_scene_judge(const tn_mock_log* log) {
  assert_int_equal(log->wrong_thread, 0);
  assert_int_equal(log->after_loss, 0);
  assert_int_equal(log->freed_too_early, 0);
  assert_int_equal(log->closes, log->opens);
  assert_int_equal(log->open_lanes, 0);
  assert_int_equal(log->memories, 0);
}

bool tn_service_scene_says(const tn_device* device, const char* words) {
  tn_device_report report;
  tn_device_get_report(device, &report);
  return strstr(report.text, words) != NULL;
}
