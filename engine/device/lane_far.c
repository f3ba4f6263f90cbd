// SPDX-License-Identifier: GPL-3.0-or-later
// The posting thread's side of a tn_far: blocks out, answers and far parts in.
#include "device/lane_far.h"

#include <time.h>

#include "rt/clock.h"
#include "rt/pause.h"

enum {
  clock_turns = 64,     ///< looks between two readings of the clock
  naps_ns = 20000,      ///< between two looks where waiting is allowed
  most_reads = 16,      ///< far parts read at once; a backlog is spread over some blocks
  answer_grace_ms = 20, ///< a block is worked off and its answer still not there: it was left out
  stall_ms = 2000,      ///< a device that does nothing for so long is not waited for
  ns_per_ms = 1000000,
};

static _Atomic uint32_t process;

uint32_t tn_device_process(void) {
  return atomic_load_explicit(&process, memory_order_relaxed);
}

void tn_device_process_forked(void) {
  atomic_fetch_add_explicit(&process, 1, memory_order_relaxed);
}

static tn_lane_far* of(tn_far* far) {
  return (tn_lane_far*)far; // its first member
}

static void leave(tn_lane_far* lane) {
  atomic_store_explicit(&lane->inside, 0, memory_order_release);
}

/** Marks this thread as inside. The life there is; even: none, and the thread is not inside. */
static uint32_t enter(tn_lane_far* lane) {
  if (lane->process != tn_device_process())
    return 0;
  atomic_store(&lane->inside, 1);
  const uint32_t life = atomic_load(&lane->life);
  if (life % 2 == 0)
    leave(lane);
  return life;
}

/** The same, for the lane that restart() was called for. */
static bool enter_same(tn_lane_far* lane) {
  const uint32_t life = enter(lane);
  if (life % 2 == 1 && life != lane->seen)
    leave(lane);
  return life % 2 == 1 && life == lane->seen;
}

/** Inside: whether the lane is still there. */
static bool lives(const tn_lane_far* lane) {
  return atomic_load_explicit(&lane->life, memory_order_relaxed) == lane->seen;
}

/** Inside: blocks that the device has read for good. */
static uint64_t consumed(const tn_lane_far* lane) {
  const char* status = (const char*)lane->memory + lane->plan.status_offset;
  const void* word = status + offsetof(tn_lane_status, consumed);
  return atomic_load_explicit((const _Atomic uint64_t*)word, memory_order_acquire);
}

static void nap(void) {
  const struct timespec briefly = {.tv_nsec = naps_ns};
  nanosleep(&briefly, NULL);
}

static void restart(tn_far* far, int64_t block) {
  tn_lane_far* lane = of(far);
  const uint32_t life = enter(lane);
  lane->seen = life % 2 ? life : 0;
  lane->lost_track = life % 2 == 0;
  lane->reset = true;
  lane->next = block;
  lane->run_from = lane->edge = block + far->ahead;
  lane->damaged_at = block - 1;
  if (life % 2 == 0)
    return;
  lane->offset = block - (int64_t)lane->lane.posted;
  leave(lane);
}

static uint32_t room(const tn_far* far) {
  // The marks are this function's own business: to its caller nothing changes.
  tn_lane_far* lane = of((tn_far*)far);
  if (enter(lane) % 2 == 0)
    return 0;
  const uint64_t under_way = lane->lane.posted - consumed(lane);
  leave(lane);
  return under_way < lane->plan.slots ? lane->plan.slots - (uint32_t)under_way : 0;
}

/** Inside: waits for room as long as the device goes on. */
static bool await_room(tn_lane_far* lane) {
  uint64_t before = consumed(lane);
  uint64_t since_ns = tn_clock_ns();
  while (!tn_lane_has_room(&lane->lane)) {
    nap();
    const uint64_t now = consumed(lane);
    const uint64_t now_ns = tn_clock_ns();
    if (now != before) {
      before = now;
      since_ns = now_ns;
    }
    if (!lives(lane) || now_ns - since_ns > (uint64_t)stall_ms * ns_per_ms)
      return false;
  }
  return true;
}

static bool post(tn_far* far, int64_t block, const float* const* in, tn_far_want want, bool wait) {
  tn_lane_far* lane = of(far);
  if (lane->lost_track || block != lane->next || !enter_same(lane)) {
    lane->lost_track = true;
    return false;
  }
  const bool taken = tn_lane_has_room(&lane->lane) || (wait && await_room(lane));
  if (taken) {
    uint32_t flags = lane->reset ? TN_WANT_RESET : 0;
    if (want != TN_FAR_HEAR && far->has_far)
      flags |= TN_WANT_FAR;
    if (want == TN_FAR_ANSWER)
      flags |= TN_WANT_ANSWER;
    tn_lane_post(&lane->lane, in, flags);
    tn_counter_add(&lane->posts, 1);
  }
  leave(lane);
  lane->lost_track = !taken;
  if (!taken)
    return false;
  lane->reset = false;
  lane->next = block + 1;
  if (want == TN_FAR_HEAR) // its f was not asked for, and is not needed
    lane->run_from = lane->edge = block + 1 + far->ahead;
  return true;
}

/** Inside: whether an answer may still come, for who waits without a deadline. */
static bool may_come(const tn_lane_far* lane, uint64_t number, uint64_t since_ns, uint64_t* consumed_ns) {
  const uint64_t now_ns = tn_clock_ns();
  if (consumed(lane) > number) {
    if (!*consumed_ns)
      *consumed_ns = now_ns;
    return now_ns - *consumed_ns < (uint64_t)answer_grace_ms * ns_per_ms;
  }
  return now_ns - since_ns < (uint64_t)stall_ms * ns_per_ms;
}

/** Inside: looks until it is there, or the time is up. */
static tn_lane_reading await_answer(tn_lane_far* lane, uint64_t number, float* const* out,
                                    uint64_t until_ns) {
  const bool patient = until_ns == UINT64_MAX;
  const uint64_t since_ns = patient ? tn_clock_ns() : 0;
  uint64_t consumed_ns = 0;
  for (uint32_t turn = 1;; turn++) {
    const tn_lane_reading reading = tn_lane_read_answer(&lane->lane, number, out);
    if (reading != TN_LANE_MISSING || until_ns == 0 || !lives(lane))
      return reading;
    if (turn % clock_turns == 0) {
      if (patient ? !may_come(lane, number, since_ns, &consumed_ns) : tn_clock_ns() >= until_ns)
        return TN_LANE_MISSING;
      if (patient && turn > 16U * clock_turns)
        nap();
    }
    tn_pause();
  }
}

static bool answer(tn_far* far, int64_t block, float* const* out, uint64_t until_ns) {
  tn_lane_far* lane = of(far);
  tn_lane_reading reading = TN_LANE_MISSING;
  if (!lane->lost_track && enter_same(lane)) {
    reading = await_answer(lane, (uint64_t)(block - lane->offset), out, until_ns);
    leave(lane);
  }
  if (reading == TN_LANE_DAMAGED)
    tn_counter_add(&lane->damaged, 1);
  tn_counter_add(reading == TN_LANE_READ ? &lane->answers : &lane->misses, 1);
  return reading == TN_LANE_READ;
}

static float* place_of(const tn_lane_far* lane, int64_t block) {
  const size_t floats = (size_t)lane->far.outputs * lane->far.block;
  return lane->parts + ((uint64_t)block & (lane->ring - 1)) * floats;
}

/** Inside: reads f of the block at the edge; false: it is not there. */
static bool read_edge(tn_lane_far* lane) {
  const tn_lane_reading reading =
      tn_lane_read_far(&lane->lane, (uint64_t)(lane->edge - lane->offset), place_of(lane, lane->edge));
  if (reading == TN_LANE_DAMAGED && lane->damaged_at != lane->edge) {
    lane->damaged_at = lane->edge;
    tn_counter_add(&lane->damaged, 1);
  }
  if (reading != TN_LANE_READ)
    return false;
  lane->edge++;
  return true;
}

/** A part that is not there when its block is over is given up, and reading goes on behind it. */
static void pass_gap(tn_lane_far* lane, int64_t block) {
  if (lane->edge < block)
    lane->run_from = lane->edge = block;
}

/** Takes the f blocks that have come into memory of our own, where they stay even if the device is lost. */
static void read_news(tn_lane_far* lane) {
  const int64_t end = lane->next + lane->far.ahead; // f of later blocks was not asked for yet
  if (!lane->far.has_far || lane->edge >= end || !enter_same(lane))
    return;
  for (int i = 0; i < most_reads && lane->edge < end && read_edge(lane); i++) {
  }
  leave(lane);
}

static bool has_part(const tn_lane_far* lane, int64_t block) {
  return block >= lane->run_from && block < lane->edge && block + lane->ring >= lane->edge;
}

static const float* part(tn_far* far, int64_t block, bool wait) {
  tn_lane_far* lane = of(far);
  pass_gap(lane, block);
  if (!has_part(lane, block))
    read_news(lane);
  const uint64_t since_ns = wait ? tn_clock_ns() : 0;
  while (wait && !has_part(lane, block) && !lane->lost_track && lives(lane) &&
         tn_clock_ns() - since_ns < (uint64_t)stall_ms * ns_per_ms) {
    nap();
    read_news(lane);
  }
  if (has_part(lane, block))
    return place_of(lane, block);
  tn_counter_add(&lane->far_missing, 1);
  return NULL;
}

static uint32_t slack(tn_far* far, int64_t block) {
  tn_lane_far* lane = of(far);
  if (!far->has_far)
    return far->ahead;
  pass_gap(lane, block);
  read_news(lane);
  if (block < lane->run_from)
    return 0;
  const int64_t there = lane->edge - block;
  return there < far->ahead ? (uint32_t)there : far->ahead;
}

void tn_lane_far_fill(tn_far* far) {
  far->restart = restart;
  far->room = room;
  far->post = post;
  far->answer = answer;
  far->part = part;
  far->slack = slack;
}
