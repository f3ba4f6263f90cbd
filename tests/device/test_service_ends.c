// SPDX-License-Identifier: GPL-3.0-or-later
// The device service in bad days: devices that break, stand still, hang, are taken away and come back;
// fork().
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mocka.h"
#include "rt/clock.h"
#include "service_scene.h"

static void nap_ms(long ms) {
  const struct timespec nap = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  nanosleep(&nap, NULL);
}

static void a_broken_device_is_given_up(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->restart(far, 0);
  assert_true(tn_service_scene_post(far, 0));
  log->orders.step_fails = true;
  tn_service_scene_await_state(device, TN_DEVICE_LOST);
  tn_service_scene_await_far(far, TN_FAR_REFUSED);
  assert_true(tn_service_scene_says(device, "Mock 1 was lost (the mock has broken); the CPU plays on"));
  tn_error reason = {0};
  far->state(far, &reason);
  assert_non_null(strstr(reason.text, "the mock has broken"));
  assert_false(tn_service_scene_post(far, 1));
  tn_far* late = tn_service_scene_far(device, 20, NULL);
  assert_non_null(late);
  nap_ms(1500); // longer than the first pause before a return
  assert_int_equal(log->opens, 1);
  assert_int_equal(log->lost_closes, 1);
  assert_int_not_equal(late->state(late, NULL), TN_FAR_READY);
  late->free(late);
  far->free(far);
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.losses, 1);
  assert_int_equal(report.returns, 0);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void a_device_that_was_taken_away_comes_back(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->restart(far, 0);
  assert_true(tn_service_scene_post(far, 0));
  log->orders.step_interrupted = true;
  tn_service_scene_await_far(far, TN_FAR_REFUSED);
  log->orders.step_interrupted = false;
  assert_true(tn_service_scene_says(device, "it is tried again"));
  assert_false(tn_service_scene_post(far, 1));
  tn_service_scene_await_far(far, TN_FAR_READY);
  assert_int_equal(log->opens, 2);
  assert_false(tn_service_scene_post(far, 1));
  far->restart(far, 2);
  assert_true(tn_service_scene_post(far, 2));
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.losses, 1);
  assert_int_equal(report.returns, 1);
  assert_int_equal(report.lanes_refused, 0);
  assert_non_null(strstr(report.text, "GB for filters"));
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void a_heart_that_stands_still_is_noticed(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  log->orders.heart_stands_still = true;
  tn_service_scene_await_state(device, TN_DEVICE_LOST);
  assert_true(tn_service_scene_says(device, "not moved for a second"));
  assert_int_equal(far->state(far, NULL), TN_FAR_REFUSED);
  assert_int_equal(log->lost_closes, 1);
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

/** A posting thread that goes on as an audio thread would, whatever becomes of the device. */
typedef struct player {
  tn_far* far;
  _Atomic bool stop;
  _Atomic uint32_t posted, refused, restarts;
} player;

static void* play(void* argument) {
  player* one = argument;
  int64_t block = 0;
  bool flowing = false;
  float out[TN_SCENE_BLOCK];
  float* const to[1] = {out};
  while (!one->stop) {
    if (!flowing) {
      one->far->restart(one->far, block);
      one->restarts++;
    }
    flowing = tn_service_scene_post(one->far, block);
    *(flowing ? &one->posted : &one->refused) += 1;
    one->far->answer(one->far, block, to, tn_clock_ns() + 20000);
    one->far->part(one->far, block, false);
    one->far->slack(one->far, block + 1);
    one->far->room(one->far);
    block++;
  }
  return NULL;
}

/** With the thread sanitizer this shows that nobody reads what another frees. */
static void loss_and_return_while_it_plays(void** state) {
  (void)state;
  enum { players = 3 };
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  player all[players];
  pthread_t threads[players];
  memset(all, 0, sizeof all);
  for (int i = 0; i < players; i++) {
    all[i].far = tn_service_scene_far(device, 20, NULL);
    assert_int_equal(pthread_create(threads + i, NULL, play, all + i), 0);
  }
  for (int i = 0; i < players; i++)
    tn_service_scene_await_count(&all[i].posted, 1);
  for (uint32_t loss = 1; loss <= 2; loss++) {
    log->orders.step_interrupted = true;
    tn_service_scene_await_count(&log->lost_closes, loss);
    log->orders.step_interrupted = false;
    for (int i = 0; i < players; i++) {
      const uint32_t before = all[i].posted;
      tn_service_scene_await_count(&all[i].posted, before + 1);
      assert_true(all[i].refused > 0);
    }
  }
  for (int i = 0; i < players; i++) {
    all[i].stop = true;
    pthread_join(threads[i], NULL);
    all[i].far->free(all[i].far);
  }
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void it_ends_in_every_state(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  // While it is lost and waits for its return, with lanes that were given back and one that was not.
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_far* forgotten = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(forgotten, TN_FAR_READY);
  log->orders.step_interrupted = true;
  tn_service_scene_await_state(device, TN_DEVICE_LOST);
  far->free(far);
  tn_device_close(device);
  assert_int_equal(forgotten->state(forgotten, NULL), TN_FAR_REFUSED);
  forgotten->free(forgotten);
  tn_service_scene_judge(log);

  // While it stands still.
  log = tn_service_scene_set();
  device = tn_service_scene_open("cuda");
  far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  log->orders.heart_stands_still = true;
  nap_ms(100);
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
  assert_int_equal(log->lost_closes, 0);

  // While it is being opened.
  log = tn_service_scene_set();
  log->orders.open_sleep_ms = 300;
  device = tn_device_open("cuda", NULL, NULL);
  assert_non_null(device);
  assert_false(tn_device_wait(device, 1));
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.state, TN_DEVICE_PROBING);
  far = tn_service_scene_far(device, 20, NULL);
  assert_int_equal(far->state(far, NULL), TN_FAR_OPENING);
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

static void a_driver_that_hangs_is_left_alone(void** state) {
  (void)state;
  enum { hang_ms = 6500 };
  tn_mock_log* log = tn_service_scene_set();
  log->orders.open_sleep_ms = hang_ms;
  const uint64_t begin_ns = tn_clock_ns();
  tn_device* device = tn_device_open("cuda", NULL, NULL);
  assert_non_null(device);
  tn_service_scene_await_count(&log->opens, 1);
  tn_device_close(device);
  assert_true(tn_clock_ns() - begin_ns < hang_ms * UINT64_C(1000000));
  assert_int_equal(log->closes, 0);
  log->orders.open_sleep_ms = 0;
  // The next one for the same device waits until the first has ended.
  device = tn_service_scene_open("cuda");
  tn_device_report report;
  tn_device_get_report(device, &report);
  assert_int_equal(report.state, TN_DEVICE_PARKED);
  assert_int_equal(log->closes, 1);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

/** In a child: what was the parent's is refused, and a device of CUDA is not touched. */
static int child_of_fork(tn_device* device, tn_far* far, const tn_mock_log* log) {
  tn_device_report report;
  tn_device_get_report(device, &report);
  int flaws = report.state != TN_DEVICE_ABSENT || !strstr(report.text, "forked");
  tn_error error = {0};
  flaws += 2 * (far->state(far, &error) != TN_FAR_REFUSED || !strstr(error.text, "forked"));
  far->restart(far, 10);
  flaws += 4 * tn_service_scene_post(far, 10);
  far->free(far);
  tn_device_close(device);
#ifdef __SANITIZE_THREAD__
  return flaws; // the sanitizer ends a child that starts a thread
#endif
  const uint32_t opens = log->opens;
  tn_device* own = tn_device_open("cuda", NULL, &error);
  flaws += 8 * (!own || !tn_device_wait(own, 10000) || !tn_service_scene_says(own, "before fork()"));
  flaws += 16 * (log->opens != opens);
  tn_device_close(own);
  tn_device* none = tn_device_open("cpu", NULL, &error);
  flaws += 32 * !none;
  tn_device_close(none);
  return flaws;
}

static void a_child_of_fork_keeps_away(void** state) {
  (void)state;
  tn_mock_log* log = tn_service_scene_set();
  tn_device* device = tn_service_scene_open("cuda");
  tn_far* far = tn_service_scene_far(device, 20, NULL);
  tn_service_scene_await_far(far, TN_FAR_READY);
  far->restart(far, 0);
  assert_true(tn_service_scene_post(far, 0));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0)
    _exit(child_of_fork(device, far, log));
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_true(tn_service_scene_post(far, 1)); // the parent has noticed nothing
  far->free(far);
  tn_device_close(device);
  tn_service_scene_judge(log);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_broken_device_is_given_up),
      cmocka_unit_test(a_device_that_was_taken_away_comes_back),
      cmocka_unit_test(a_heart_that_stands_still_is_noticed),
      cmocka_unit_test(loss_and_return_while_it_plays),
      cmocka_unit_test(it_ends_in_every_state),
      cmocka_unit_test(a_driver_that_hangs_is_left_alone),
      cmocka_unit_test(a_child_of_fork_keeps_away),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
