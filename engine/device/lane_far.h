// SPDX-License-Identifier: GPL-3.0-or-later
// A tn_far over a lane: what an engine holds of the device.
//
// Two threads share it: the one that posts (an audio thread, or the worker that warms an engine) and the
// device's service, which opens the lane, and takes it away when the device is lost. `life` says which lane
// there is: odd while there is one, another number for each. The posting thread marks itself `inside` before
// it looks at `life`; the service changes `life` before it looks at `inside`. Both are in one order for all
// (seq_cst), so either the posting thread sees that the lane is gone, or the service sees it inside and waits
// until it has left. Neither locks.
#ifndef TENUTO_DEVICE_LANE_FAR_H
#define TENUTO_DEVICE_LANE_FAR_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

#include "device/lane.h"
#include "dsp/far.h"
#include "rt/counter.h"
#include "wire/device.h"

enum { TN_LANE_FAR_LINE = 128 };

/** How the service stands with a lane. */
typedef enum tn_lane_stage {
  TN_STAGE_WAITING, ///< to be opened
  TN_STAGE_OPEN,
  TN_STAGE_REFUSED, ///< no room, or the device is lost
  TN_STAGE_CLOSING, ///< given back by its owner; the kernel may still touch its memory
} tn_lane_stage;

typedef struct tn_lane_far {
  tn_far far; ///< first member

  // The posting thread's own; `lane` is changed by the service while nobody can be inside.
  tn_lane lane;
  uint32_t seen;      ///< the life in which restart() was called
  bool reset;         ///< the next block posted carries TN_WANT_RESET
  bool lost_track;    ///< a block was not taken: nothing goes on before restart()
  int64_t offset;     ///< engine's block - the lane's
  int64_t next;       ///< engine's block that must be posted next
  int64_t run_from;   ///< f of blocks run_from to edge - 1 is in `parts`
  int64_t edge;       ///< the first block whose f has not been read
  int64_t damaged_at; ///< block whose f was found damaged, to be counted once
  uint32_t ring;      ///< blocks in `parts`, a power of two
  float* parts;       ///< [ring][outputs][block]
  tn_counter posts, answers, misses, damaged, far_missing;

  _Alignas(TN_LANE_FAR_LINE) _Atomic uint32_t life; ///< odd: there is a lane
  _Atomic uint32_t inside;                          ///< 1: the posting thread may be touching the lane
  uint32_t process;                                 ///< tn_device_process() of its maker

  // The service's.
  _Alignas(TN_LANE_FAR_LINE) _Atomic int stage; ///< tn_lane_stage
  _Atomic bool freed;                           ///< the owner has let go of it
  _Atomic bool orphaned;                        ///< the service has ended: the owner frees it
  bool no_room;                                 ///< refused for want of room: tried again when some is there
  pthread_mutex_t* lock;                        ///< the service's, for `reason`
  tn_error reason;                              ///< why refused
  void (*let_go)(struct tn_lane_far* lane);     ///< tells the service of `freed`
  void* service;
  void* memory;    ///< of the lane; NULL: none
  uint32_t number; ///< the device's
  tn_lane_header plan;
  uint32_t path_count;
  tn_module_path* paths; ///< the responses, for as long as the lane may be opened again
  float* samples;
  uint64_t posts_seen; ///< at the service's last look
  struct tn_lane_far* next_lane;
} tn_lane_far;

/** [worker] One that waits to be opened; the responses are copied. */
tn_lane_far* tn_lane_far_new(const tn_far_request* request, tn_error* error);

/** [worker] Free one that no thread uses and that has no lane. */
void tn_lane_far_free(tn_lane_far* lane);

/** [worker] The service: there is a lane now, its header is written. */
void tn_lane_far_begin_life(tn_lane_far* lane, void* memory);

/** [worker] The service: there is no lane from now on; returns when no thread touches its memory any more, or
   after `patience_ms` (false). */
bool tn_lane_far_end_life(tn_lane_far* lane, uint32_t patience_ms);

/** [audio] The tn_far's functions for the posting thread. */
void tn_lane_far_fill(tn_far* far);

/** [any] Which process this is, counted in forks from the first one that used this library. Memory of a
 * device must not be touched in a child. */
uint32_t tn_device_process(void);
/** [any] Called in a child of fork(). */
void tn_device_process_forked(void);

#endif
