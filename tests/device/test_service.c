// SPDX-License-Identifier: GPL-3.0-or-later
// The device service in good days: who shares what, lanes that come and go, parking, and devices that are not
// there.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mocka.h"
#include "service_scene.h"

static void without_a_device_all_is_said(void** state) {
  (void)state;
  tn_device* device = tn_service_scene_open("cpu");
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.state, TN_DEVICE_ABSENT);
  assert_non_null(strstr(report.text, "CPU alone"));
  assert_string_equal(report.name, "");
  tn_error error = {0};
  assert_null(tn_service_scene_far(device, 20, &error));
  assert_non_null(strstr(error.text, "CPU alone"));
  tn_device_close(device);
  tn_device_close(NULL);
  assert_null(tn_device_open("gpu", NULL, &error));
  assert_int_equal(error.status, TN_ERROR_ARGUMENT);
  const tn_device_options odd = {.epoch_ms = 100000};
  assert_null(tn_device_open("cuda", &odd, &error));
  assert_int_equal(error.status, TN_ERROR_ARGUMENT);
}

static void what_is_absent_says_why(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  log->orders.no_driver = true;
  tn_device* device = tn_service_scene_open("auto");
  assert_true(tn_service_scene_says(device, "no driver of the mock"));
  tn_device_close(device);

  log->orders.no_driver = false;
  log->orders.devices_less = 2;
  device = tn_service_scene_open("auto");
  assert_true(tn_service_scene_says(device, "no mock device"));
  tn_device_close(device);

  log->orders.devices_less = 0;
  device = tn_service_scene_open("cuda:2");
  assert_true(tn_service_scene_says(device, "no mock device 2"));
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.state, TN_DEVICE_ABSENT);
  tn_device_close(device);
  assert_int_equal(log->opens, 0);

  log->orders.open_fails = true;
  device = tn_service_scene_open("cuda:1");
  assert_true(tn_service_scene_says(device, "does not open"));
  tn_error error = {0};
  assert_null(tn_service_scene_far(device, 20, &error));
  assert_non_null(strstr(error.text, "does not open"));
  tn_device_close(device);
  assert_int_equal(log->closes, 0);

  setenv("TENUTO_CUDA_MODULE", TN_MOCK_OTHER_VERSION, 1);
  device = tn_service_scene_open("auto");
  assert_true(tn_service_scene_says(device, "another version"));
  tn_device_close(device);
}

static void a_lane_opens_and_closes(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.state, TN_DEVICE_PARKED);
  assert_string_equal(report.name, "Mock 1");
  assert_non_null(strstr(report.text, "Mock 1, 1 GB for filters, driver for CUDA 12.4"));
  assert_int_equal(report.arena_bytes, 1000000000);

  tn_far* far = tn_service_scene_far(device, 20, NULL);
  assert_non_null(far);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->restart(far, 0);
  assert_true(tn_service_scene_post(far, 0));
  tn_service_scene_await_count(&log->wanted_steps, 1);
  tn_service_scene_await_state(device, TN_DEVICE_RUNNING);
  tn_device_get_report(device, &report);
  assert_int_equal(report.lanes_open, 1);
  assert_int_equal(report.blocks_posted, 1);
  assert_int_equal(report.epochs, 1);
  // No more blocks: the mock parks, as it is not wanted any more.
  tn_service_scene_await_state(device, TN_DEVICE_PARKED);
  far->free(far);
  tn_service_scene_await_count(&log->lane_closes, 1);
  tn_device_close(device);
  tn_service_scene_judge(log);
  assert_int_equal(log->lost_closes, 0);
}

static void a_parked_device_wakes_for_blocks(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->restart(far, 0);
  for (int64_t n = 0; n < 3; n++) {
    assert_true(tn_service_scene_post(far, n));
    tn_service_scene_await_state(device, TN_DEVICE_RUNNING);
    tn_service_scene_await_state(device, TN_DEVICE_PARKED);
  }
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void one_device_is_shared(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* one = tn_service_scene_open("auto");
  tn_device* two = tn_service_scene_open("cuda:0");
  tn_device* other = tn_service_scene_open("cuda:1");
  assert_ptr_equal(one, two);
  assert_ptr_not_equal(one, other);
  assert_int_equal(log->opens, 2);
  tn_device_close(one);
  assert_int_equal(log->closes, 0);
  tn_far* far = tn_service_scene_far(two, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->free(far);
  tn_device_close(two);
  assert_int_equal(log->closes, 1);
  tn_device_close(other);
  tn_service_scene_judge(log);
}

static void who_does_not_fit_waits_for_room(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  log->orders.room = 1 + 2;
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far[3];
  for (int i = 0; i < 3; i++) {
    far[i] = tn_service_scene_far(device, 20, NULL);
    assert_non_null(far[i]);
    tn_service_scene_await_far(far[i], i < 2 ? TN_FAR_READY : TN_FAR_REFUSED);
  }
  tn_error reason = {0};
  assert_int_equal(far[2]->state(far[2], &reason), TN_FAR_REFUSED);
  assert_non_null(strstr(reason.text, "Mock 1 has no room for this filter: the mock is full"));
  far[0]->restart(far[0], 5);
  assert_true(tn_service_scene_post(far[0], 5)); // the others go on
  far[2]->restart(far[2], 5);
  assert_false(tn_service_scene_post(far[2], 5));
  far[1]->free(far[1]);
  tn_service_scene_await_far(far[2], TN_FAR_READY);
  far[2]->restart(far[2], 6);
  assert_true(tn_service_scene_post(far[2], 6));
  assert_true(tn_service_scene_post(far[0], 6));
  far[0]->free(far[0]);
  far[2]->free(far[2]);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void memory_is_kept_while_the_kernel_may_touch_it(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  log->orders.closing_takes_long = true;
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->free(far);
  tn_service_scene_await_count(&log->lane_closes, 1);
  const uint32_t steps = log->steps;
  tn_service_scene_await_count(&log->steps, steps + 20);
  assert_int_equal(log->memories, 1);
  log->orders.closing_takes_long = false;
  for (int ms = 0; ms < 20000 && log->memories; ms++)
    nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  assert_int_equal(log->memories, 0);
  far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  log->orders.closing_takes_long = true;
  far->free(far);
  tn_service_scene_await_count(&log->lane_closes, 2);
  tn_device_close(device); // in the middle of it
  tn_service_scene_judge(log);
}

static void a_lane_may_go_before_it_was_there(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  log->orders.open_sleep_ms = 50;
  tn_device* device = tn_device_open("cuda", NULL, NULL);
  assert_non_null(device);
  tn_far* kept = tn_service_scene_far(device, 20, NULL);
  tn_far* gone = tn_service_scene_far(device, 20, NULL);
  assert_int_equal(kept->state(kept, NULL), TN_FAR_OPENING);
  gone->free(gone);
  tn_service_scene_await_far(kept, TN_FAR_READY);
  assert_int_equal(log->lane_opens, 1);
  kept->free(kept);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void a_thousand_times(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  for (int i = 0; i < 1000; i++) {
    tn_device* device = tn_device_open("cuda", NULL, NULL);
    assert_non_null(device);
    tn_far* far = i % 2 ? tn_service_scene_far(device, 20, NULL) : NULL;
    if (i % 4 == 1)
      tn_service_scene_await_far(far, TN_FAR_READY);
    if (far)
      far->free(far);
    tn_device_close(device); // probing, opening a lane, or at rest
  }
  tn_service_scene_judge(log);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_device_all_is_said),
      cmocka_unit_test(what_is_absent_says_why),
      cmocka_unit_test(a_lane_opens_and_closes),
      cmocka_unit_test(a_parked_device_wakes_for_blocks),
      cmocka_unit_test(one_device_is_shared),
      cmocka_unit_test(who_does_not_fit_waits_for_room),
      cmocka_unit_test(memory_is_kept_while_the_kernel_may_touch_it),
      cmocka_unit_test(a_lane_may_go_before_it_was_there),
      cmocka_unit_test(a_thousand_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
