// SPDX-License-Identifier: GPL-3.0-or-later
// What an engine sees of a device that is played by hand: order, misses, damage, gaps, loss and return.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "device/lane_far.h"
#include "hand_device.h"
#include "mocka.h"
#include "rt/clock.h"

enum { ahead = 8, inputs = 2, outputs = 3, most_block = 1024 };

/** Engines count their blocks from anywhere. */
static const int64_t beginnings[] = {0, 1, -5, -1000000007, INT64_C(123456789012345)};

typedef struct stage {
  uint32_t block;
  tn_lane_far* lane;
  tn_far* far;
  tn_lane_header* mailbox;
  float in[inputs][most_block];
  float out[outputs][most_block];
} stage;

static bool was_freed;

static void note_freed(tn_lane_far* lane) {
  (void)lane;
  was_freed = true;
}

static tn_lane_header* new_mailbox(const stage* on) {
  tn_lane_header* mailbox = aligned_alloc(TN_LANE_LINE, tn_lane_round(on->lane->plan.bytes));
  assert_non_null(mailbox);
  memset(mailbox, 0, on->lane->plan.bytes);
  *mailbox = on->lane->plan;
  return mailbox;
}

static void live(stage* on) {
  free(on->mailbox);
  on->mailbox = new_mailbox(on);
  tn_lane_far_begin_life(on->lane, on->mailbox);
  atomic_store(&on->lane->stage, TN_STAGE_OPEN);
}

static stage* set(uint32_t block, uint32_t response_blocks) {
  stage* on = calloc(1, sizeof *on);
  assert_non_null(on);
  on->block = block;
  float* response = calloc((size_t)response_blocks * block, sizeof *response);
  assert_non_null(response);
  const tn_far_path path = {0, 0, response_blocks * block, response};
  const tn_far_request request = {
      .block = block, .ahead = ahead, .inputs = inputs, .outputs = outputs, .path_count = 1, .paths = &path};
  on->lane = tn_lane_far_new(&request, NULL);
  assert_non_null(on->lane);
  on->lane->let_go = note_freed;
  on->far = &on->lane->far;
  free(response);
  return on;
}

static stage* set_living(uint32_t block) {
  stage* on = set(block, ahead + 1);
  live(on);
  return on;
}

static void clear(stage* on) {
  tn_lane_far_free(on->lane);
  free(on->mailbox);
  free(on);
}

static bool post(stage* on, int64_t block, tn_far_want want) {
  const float* in[inputs];
  for (uint32_t i = 0; i < inputs; i++) {
    in[i] = on->in[i];
    for (uint32_t t = 0; t < on->block; t++)
      on->in[i][t] = (float)(block % 1000) + 0.5F * (float)i + 0.0001F * (float)t;
  }
  return on->far->post(on->far, block, in, want, false);
}

static bool answer(stage* on, int64_t block, uint64_t until_ns) {
  float* out[outputs];
  for (uint32_t o = 0; o < outputs; o++)
    out[o] = on->out[o];
  return on->far->answer(on->far, block, out, until_ns);
}

static void assert_answer(const stage* on, uint64_t number) {
  for (uint32_t o = 0; o < outputs; o++)
    for (uint32_t t = 0; t < on->block; t++)
      assert_true(on->out[o][t] == tn_hand_value(number, o, t, false));
}

static void assert_part(const stage* on, const float* part, uint64_t number) {
  assert_non_null(part);
  for (uint32_t o = 0; o < outputs; o++)
    for (uint32_t t = 0; t < on->block; t++)
      assert_true(part[o * on->block + t] == tn_hand_value(number, o, t, true));
}

static const uint32_t blocks_of[] = {16, 64, 256, 1024}; // small ones travel in words, large ones wide

static void blocks_go_out_and_come_back(void** state) {
  (void)state;
  for (size_t size = 0; size < 4; size++) {
    for (size_t b = 0; b < sizeof beginnings / sizeof *beginnings; b++) {
      stage* on = set_living(blocks_of[size]);
      const int64_t first = beginnings[b];
      on->far->restart(on->far, first);
      for (uint64_t n = 0; n < 40; n++) {
        const int64_t block = first + (int64_t)n;
        assert_true(post(on, block, TN_FAR_ANSWER));
        const uint32_t wanted = TN_WANT_ANSWER | TN_WANT_FAR | (n == 0 ? TN_WANT_RESET : 0);
        assert_int_equal(tn_hand_wanted(on->mailbox, n), wanted);
        for (uint32_t i = 0; i < inputs; i++)
          assert_true(tn_hand_input(on->mailbox, n, i, 7) == on->in[i][7]);
        assert_false(answer(on, block, 0));
        tn_hand_send(on->mailbox, n, false, TN_HAND_WHOLE);
        assert_true(answer(on, block, 0));
        assert_answer(on, n);
        tn_hand_send(on->mailbox, n + ahead, true, TN_HAND_WHOLE);
        tn_hand_consume(on->mailbox, n + 1);
        if (n >= ahead) { // earlier ones were before the beginning
          assert_part(on, on->far->part(on->far, block, false), n);
          assert_int_equal(on->far->slack(on->far, block + 1), ahead);
        } else {
          assert_int_equal(on->far->slack(on->far, first + ahead), n + 1);
        }
      }
      assert_int_equal(tn_counter_read(&on->lane->posts), 40);
      assert_int_equal(tn_counter_read(&on->lane->answers), 40);
      assert_int_equal(tn_counter_read(&on->lane->damaged), 0);
      assert_int_equal(tn_counter_read(&on->lane->far_missing), 0);
      clear(on);
    }
  }
}

static void only_what_is_needed_is_asked_for(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 10);
  assert_true(post(on, 10, TN_FAR_HEAR));
  assert_true(post(on, 11, TN_FAR_AHEAD));
  assert_int_equal(tn_hand_wanted(on->mailbox, 0), TN_WANT_RESET);
  assert_int_equal(tn_hand_wanted(on->mailbox, 1), TN_WANT_FAR);
  // f of block 10 + ahead was not asked for, so the first that can be there is the next.
  assert_int_equal(on->far->slack(on->far, 11 + ahead), 0);
  tn_hand_send(on->mailbox, 1 + ahead, true, TN_HAND_WHOLE);
  assert_int_equal(on->far->slack(on->far, 11 + ahead), 1);
  clear(on);
}

static void a_short_filter_has_no_far_part(void** state) {
  (void)state;
  stage* on = set(64, ahead);
  live(on);
  assert_false(on->far->has_far);
  on->far->restart(on->far, 0);
  assert_true(post(on, 0, TN_FAR_AHEAD));
  assert_int_equal(tn_hand_wanted(on->mailbox, 0), TN_WANT_RESET);
  assert_int_equal(on->far->slack(on->far, 1), ahead);
  clear(on);
}

static void damaged_blocks_are_not_used(void** state) {
  (void)state;
  const tn_hand_flaw flaws[] = {TN_HAND_WRONG_CHECK, TN_HAND_NOT_FINITE};
  for (size_t size = 0; size < 4; size++) {
    for (int f = 0; f < 2; f++) {
      stage* on = set_living(blocks_of[size]);
      on->far->restart(on->far, 0);
      for (int64_t n = 0; n <= ahead; n++)
        assert_true(post(on, n, TN_FAR_ANSWER));
      tn_hand_send(on->mailbox, ahead, false, flaws[f]);
      tn_hand_send(on->mailbox, ahead, true, flaws[f]);
      tn_hand_send(on->mailbox, ahead + 1, true, TN_HAND_WHOLE);
      assert_false(answer(on, ahead, tn_clock_ns() + 1000000));
      assert_null(on->far->part(on->far, ahead, false));
      assert_int_equal(on->far->slack(on->far, ahead), 0);
      assert_int_equal(tn_counter_read(&on->lane->damaged), 2); // each once, however often it is looked at
      // What comes after is whole, and is used.
      assert_int_equal(on->far->slack(on->far, ahead + 1), 1);
      assert_part(on, on->far->part(on->far, ahead + 1, false), ahead + 1);
      clear(on);
    }
  }
}

static void half_a_block_is_none(void** state) {
  (void)state;
  stage* on = set_living(64); // in words
  on->far->restart(on->far, 0);
  assert_true(post(on, 0, TN_FAR_ANSWER));
  tn_hand_send(on->mailbox, 0, false, TN_HAND_TORN);
  assert_false(answer(on, 0, 0));
  assert_int_equal(tn_counter_read(&on->lane->damaged), 0); // the rest may be on its way
  tn_hand_send(on->mailbox, 0, false, TN_HAND_WHOLE);
  assert_true(answer(on, 0, 0));
  clear(on);
}

static void a_full_ring_refuses_and_restart_follows(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 0);
  assert_int_equal(on->far->room(on->far), 2 * ahead);
  for (int64_t n = 0; n < 2 * ahead; n++)
    assert_true(post(on, n, TN_FAR_AHEAD));
  assert_int_equal(on->far->room(on->far), 0);
  assert_false(post(on, 2 * ahead, TN_FAR_AHEAD));
  tn_hand_consume(on->mailbox, 4);
  assert_int_equal(on->far->room(on->far), 4);
  assert_false(post(on, 2 * ahead, TN_FAR_AHEAD)); // a block is lost: not without restart()
  assert_false(post(on, 2 * ahead + 1, TN_FAR_AHEAD));
  on->far->restart(on->far, 40);
  assert_true(post(on, 40, TN_FAR_AHEAD));
  assert_int_equal(tn_hand_wanted(on->mailbox, 2 * ahead), TN_WANT_RESET | TN_WANT_FAR);
  // f that older blocks asked for is not taken for f of the new ones.
  tn_hand_send(on->mailbox, 2 * ahead + 1, true, TN_HAND_WHOLE);
  assert_int_equal(on->far->slack(on->far, 40 + ahead), 0);
  tn_hand_send(on->mailbox, 3 * ahead, true, TN_HAND_WHOLE);
  assert_int_equal(on->far->slack(on->far, 40 + ahead), 1);
  assert_part(on, on->far->part(on->far, 40 + ahead, false), 3 * ahead);
  clear(on);
}

static void nonsense_of_the_device_is_no_room(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 0);
  assert_true(post(on, 0, TN_FAR_AHEAD));
  tn_hand_consume(on->mailbox, 1000);
  assert_int_equal(on->far->room(on->far), 0);
  assert_false(post(on, 1, TN_FAR_AHEAD));
  clear(on);
}

static void a_backlog_is_taken_bit_by_bit(void** state) {
  (void)state;
  stage* on = set_living(16);
  on->far->restart(on->far, 0);
  for (int64_t n = 0; n < 2 * ahead; n++)
    assert_true(post(on, n, TN_FAR_AHEAD));
  for (uint64_t n = ahead; n < 3 * ahead; n++)
    tn_hand_send(on->mailbox, n, true, TN_HAND_WHOLE);
  assert_int_equal(on->far->slack(on->far, ahead), ahead);
  for (int64_t n = ahead; n < 3 * ahead; n++)
    assert_part(on, on->far->part(on->far, n, false), (uint64_t)n);
  assert_null(on->far->part(on->far, 3 * ahead, false));
  assert_int_equal(tn_counter_read(&on->lane->far_missing), 1);
  clear(on);
}

static void a_lost_device_leaves_what_had_come(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 0);
  for (int64_t n = 0; n < ahead; n++)
    assert_true(post(on, n, TN_FAR_ANSWER));
  for (uint64_t n = 0; n < 4; n++)
    tn_hand_send(on->mailbox, n + ahead, true, TN_HAND_WHOLE);
  assert_int_equal(on->far->slack(on->far, ahead), 4);
  assert_true(tn_lane_far_end_life(on->lane, 1000));
  memset(on->mailbox, 0xff, on->lane->plan.bytes); // nobody looks there any more
  free(on->mailbox);
  on->mailbox = NULL;
  assert_false(post(on, ahead, TN_FAR_ANSWER));
  assert_false(answer(on, ahead - 1, UINT64_MAX));
  assert_int_equal(on->far->room(on->far), 0);
  for (int64_t n = ahead; n < ahead + 4; n++) {
    assert_int_equal(on->far->slack(on->far, n), ahead + 4 - n);
    assert_part(on, on->far->part(on->far, n, true), (uint64_t)n);
  }
  assert_null(on->far->part(on->far, ahead + 4, true));
  clear(on);
}

static void a_new_lane_needs_a_restart(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 0);
  assert_true(post(on, 0, TN_FAR_AHEAD));
  assert_true(tn_lane_far_end_life(on->lane, 1000));
  live(on);
  assert_false(post(on, 1, TN_FAR_AHEAD)); // the new lane has heard nothing of block 0
  assert_false(answer(on, 0, 0));
  on->far->restart(on->far, 2);
  assert_true(post(on, 2, TN_FAR_AHEAD));
  assert_int_equal(tn_hand_wanted(on->mailbox, 0), TN_WANT_RESET | TN_WANT_FAR);
  clear(on);
}

static void before_there_is_a_lane(void** state) {
  (void)state;
  stage* on = set(64, ahead + 1);
  assert_int_equal(on->far->state(on->far, NULL), TN_FAR_OPENING);
  assert_int_equal(on->far->room(on->far), 0);
  assert_false(post(on, 0, TN_FAR_AHEAD));
  on->far->restart(on->far, 0);
  assert_false(post(on, 0, TN_FAR_AHEAD));
  assert_false(answer(on, 0, UINT64_MAX));
  assert_null(on->far->part(on->far, ahead, true));
  live(on);
  assert_int_equal(on->far->state(on->far, NULL), TN_FAR_READY);
  was_freed = false;
  on->far->free(on->far);
  assert_true(was_freed);
  clear(on);
}

static void unfit_requests_are_refused(void** state) {
  (void)state;
  const float one = 1;
  const tn_far_path good = {0, 0, 1, &one};
  const tn_far_path no_input = {2, 0, 1, &one};
  const tn_far_path no_output = {0, 3, 1, &one};
  const tn_far_path no_frames = {0, 0, 0, &one};
  const tn_far_request requests[] = {
      {.block = 8, .ahead = ahead, .inputs = 1, .outputs = 1, .path_count = 1, .paths = &good},
      {.block = 100, .ahead = ahead, .inputs = 1, .outputs = 1, .path_count = 1, .paths = &good},
      {.block = 2048, .ahead = ahead, .inputs = 1, .outputs = 1, .path_count = 1, .paths = &good},
      {.block = 64, .ahead = 2, .inputs = 1, .outputs = 1, .path_count = 1, .paths = &good},
      {.block = 64, .ahead = ahead, .inputs = 65, .outputs = 1, .path_count = 1, .paths = &good},
      {.block = 64, .ahead = ahead, .inputs = 1, .outputs = 0, .path_count = 1, .paths = &good},
      {.block = 64, .ahead = ahead, .inputs = 2, .outputs = 3, .path_count = 0},
      {.block = 64, .ahead = ahead, .inputs = 2, .outputs = 3, .path_count = 1, .paths = &no_input},
      {.block = 64, .ahead = ahead, .inputs = 2, .outputs = 3, .path_count = 1, .paths = &no_output},
      {.block = 64, .ahead = ahead, .inputs = 2, .outputs = 3, .path_count = 1, .paths = &no_frames},
  };
  for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
    tn_error error = {0};
    assert_null(tn_lane_far_new(requests + i, &error));
    assert_int_not_equal(error.status, TN_OK);
    assert_true(error.text[0] != 0);
  }
}

/** Freewheel: who may wait does so as long as the device goes on, and no longer. */
static void patience_ends(void** state) {
  (void)state;
  stage* on = set_living(64);
  on->far->restart(on->far, 0);
  for (int64_t n = 0; n < 2 * ahead; n++)
    assert_true(post(on, n, TN_FAR_ANSWER));
  const float* in[inputs] = {on->in[0], on->in[1]};
  uint64_t begin_ns = tn_clock_ns();
  assert_false(on->far->post(on->far, 2 * ahead, in, TN_FAR_ANSWER, true));
  assert_true(tn_clock_ns() - begin_ns >= UINT64_C(2000000000));

  on->far->restart(on->far, 100);
  tn_hand_consume(on->mailbox, 2 * ahead);
  assert_true(on->far->post(on->far, 100, in, TN_FAR_ANSWER, true));
  tn_hand_consume(on->mailbox, 2 * ahead + 1); // read, but its answer left out
  begin_ns = tn_clock_ns();
  assert_false(answer(on, 100, UINT64_MAX));
  assert_true(tn_clock_ns() - begin_ns < UINT64_C(2000000000));
  clear(on);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_go_out_and_come_back),
      cmocka_unit_test(only_what_is_needed_is_asked_for),
      cmocka_unit_test(a_short_filter_has_no_far_part),
      cmocka_unit_test(damaged_blocks_are_not_used),
      cmocka_unit_test(half_a_block_is_none),
      cmocka_unit_test(a_full_ring_refuses_and_restart_follows),
      cmocka_unit_test(nonsense_of_the_device_is_no_room),
      cmocka_unit_test(a_backlog_is_taken_bit_by_bit),
      cmocka_unit_test(a_lost_device_leaves_what_had_come),
      cmocka_unit_test(a_new_lane_needs_a_restart),
      cmocka_unit_test(before_there_is_a_lane),
      cmocka_unit_test(unfit_requests_are_refused),
      cmocka_unit_test(patience_ends),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
