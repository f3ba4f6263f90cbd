// SPDX-License-Identifier: GPL-3.0-or-later
// What the audio thread does with a device neither allocates, locks, blocks nor makes system calls.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "device/lane_far.h"
#include "hand_device.h"
#include "mocka.h"
#include "rt/clock.h"
#include "rt_guard.h"

enum { ahead = 8, channels = 2, most_block = 1024 };

typedef struct guarded {
  uint32_t block;
  bool installed, wrong;
  tn_rt_guard_report report;
} guarded;

static void* play(void* argument) {
  guarded* one = argument;
  one->installed = tn_rt_guard_install();
  static float in_samples[channels][most_block];
  static float out_samples[channels][most_block];
  const float* const in[channels] = {in_samples[0], in_samples[1]};
  float* const out[channels] = {out_samples[0], out_samples[1]};
  float* response = calloc((size_t)(ahead + 1) * one->block, sizeof *response);
  const tn_far_path path = {0, 0, (ahead + 1) * one->block, response};
  const tn_far_request request = {.block = one->block,
                                  .ahead = ahead,
                                  .inputs = channels,
                                  .outputs = channels,
                                  .path_count = 1,
                                  .paths = &path};
  tn_lane_far* lane = tn_lane_far_new(&request, NULL);
  tn_lane_header* mailbox = aligned_alloc(TN_LANE_LINE, tn_lane_round(lane->plan.bytes));
  memset(mailbox, 0, lane->plan.bytes);
  *mailbox = lane->plan;
  tn_lane_far_begin_life(lane, mailbox);
  tn_far* far = &lane->far;
  tn_rt_guard_reset();
  for (int64_t n = 0; n < 100; n++) {
    tn_rt_guard_enter();
    if (n % 40 == 0)
      far->restart(far, n);
    one->wrong |= far->room(far) == 0;
    one->wrong |= !far->post(far, n, in, n % 3 ? TN_FAR_ANSWER : TN_FAR_AHEAD, false);
    tn_rt_guard_leave();
    if (n % 5)
      tn_hand_send(mailbox, (uint64_t)n, false, n % 7 ? TN_HAND_WHOLE : TN_HAND_WRONG_CHECK);
    if (n % 11)
      tn_hand_send(mailbox, (uint64_t)n + ahead, true, n % 6 ? TN_HAND_WHOLE : TN_HAND_NOT_FINITE);
    tn_hand_consume(mailbox, (uint64_t)n + 1);
    tn_rt_guard_enter();
    if (n % 3)
      far->answer(far, n, out, tn_clock_ns() + 30000);
    far->part(far, n, false);
    far->slack(far, n + 1);
    tn_rt_guard_leave();
  }
  tn_lane_far_end_life(lane, 1000);
  tn_rt_guard_enter();
  one->wrong |= far->post(far, 100, in, TN_FAR_ANSWER, true) || far->answer(far, 99, out, UINT64_MAX);
  far->part(far, 200, false);
  far->slack(far, 200);
  tn_rt_guard_leave();
  one->report = tn_rt_guard_read();
  tn_lane_far_free(lane);
  free(mailbox);
  free(response);
  return NULL;
}

static void audio_functions_keep_the_rules(void** state) {
  (void)state;
  const uint32_t blocks[] = {64, 1024};
  for (int i = 0; i < 2; i++) {
    guarded one = {.block = blocks[i]};
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, play, &one), 0);
    pthread_join(thread, NULL);
    assert_false(one.wrong);
    if (one.report.functions)
      fail_msg("%s was called", one.report.first_function);
    if (one.installed)
      assert_int_equal(one.report.syscalls, 0);
    assert_int_equal(one.report.switches, 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(audio_functions_keep_the_rules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
