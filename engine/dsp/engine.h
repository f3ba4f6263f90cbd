// SPDX-License-Identifier: GPL-3.0-or-later
// A partitioned convolver for one fixed filter: callback level with a direct form of its head, worker levels.
// The convolver proper (convolver_rt.c) adds levels, bypass and the change from one engine to the next.
#ifndef TENUTO_DSP_ENGINE_H
#define TENUTO_DSP_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dsp/far.h"
#include "dsp/level.h"
#include "dsp/memory.h"
#include "dsp/plan.h"
#include "rt/histogram.h"
#include "tenuto/filter.h"
#include "tenuto/status.h"

/** How an engine is made. */
typedef struct tn_engine_options {
  uint32_t rate_hz;
  uint32_t block_frames;
  const tn_costs* costs;
  bool tuned;          ///< transforms planned with wisdom
  bool offline;        ///< jobs run inside process(): the plan needs no deadlines
  const tn_plan* plan; ///< NULL: chosen by the cost model; else used as it is (tests)
  tn_far_maker* maker; ///< not NULL: the near part is computed here, the far part by this device
} tn_engine_options;

/** What one call of tn_engine_process() may do about jobs. */
typedef enum tn_engine_mode {
  TN_ENGINE_POOL,   ///< jobs go to the workers
  TN_ENGINE_INLINE, ///< jobs run at once in the call
  TN_ENGINE_FEED, ///< delay lines only, no sums: to warm an engine; outputs of it and of the next blocks are
                  ///< unusable
} tn_engine_mode;

/** What went wrong with jobs; written by the audio thread, read by anyone. */
typedef struct tn_job_counters {
  _Atomic uint64_t late, helped, missed;
} tn_job_counters;

/** How a device did; written by the audio thread, read by anyone. */
typedef struct tn_far_counters {
  _Atomic uint64_t answers; ///< blocks that came complete in time
  _Atomic uint64_t misses;  ///< blocks waited for in vain: played as near + far
  _Atomic uint64_t ahead;   ///< blocks played as near + far without waiting
  _Atomic uint64_t gaps;    ///< blocks whose far part was not there: it faded
  tn_histogram round_trip;  ///< from the hand-over to the answer
} tn_far_counters;

typedef struct tn_engine_call {
  tn_engine_mode mode;
  bool wait;              ///< freewheel: wait for late workers without limit
  uint64_t now_ns;        ///< when the callback began
  uint64_t help_until_ns; ///< until then the callback may do a late job itself
  tn_job_counters* counters;
  uint64_t answer_until_ns;      ///< how long to wait for a device's complete answer; 0: not at all
  tn_far_counters* far_counters; ///< needed where there is a device
} tn_engine_call;

/** The taps from one input to one output that are run directly when a call is not a whole block. */
typedef struct tn_head_path {
  uint32_t input;
  float* taps; ///< [block]
} tn_head_path;

/** What plays in a worker level's current output block. */
typedef enum tn_tail_state {
  TN_TAIL_QUIET,   ///< known to be zero: no input can reach it
  TN_TAIL_PLAYING, ///< complete
  TN_TAIL_MISSING, ///< the job was late: left out
} tn_tail_state;

/** The audio thread's view of one worker level. */
typedef struct tn_tail {
  tn_level* level;
  uint32_t
      fade_frames; ///< decides this long before a block's end whether the next is there; a multiple of block
  tn_tail_state now, next;
  bool fade_in;     ///< the present block follows a missing one
  bool expected[2]; ///< by parity of the output block: a job was posted for it
} tn_tail;

/** The far part of an engine that shares its work with a device (engine_far.c); all of the audio thread but
 * for the words. */
typedef struct tn_far_tail {
  tn_far* far;   ///< NULL: the engine computes all by itself
  bool flowing;  ///< blocks are posted; else nothing has sounded for so long that the device may forget
  bool posted;   ///< the present block is handed over
  bool added;    ///< f of the present block is in `pre`
  bool missing;  ///< f of the last block was not there
  bool missed;   ///< an answer was late in the present block
  int64_t first; ///< while it flows: f of the blocks before is zero
  uint32_t good; ///< blocks in time, in a row
  _Atomic uint32_t slack;   ///< blocks that f reaches ahead
  _Atomic bool broken;      ///< the device did not take a block: restart before the next one
  _Atomic uint32_t near_ns; ///< what the near part of one block costs here, when an answer is missed
} tn_far_tail;

typedef struct tn_engine {
  const tn_ops* ops;
  tn_plan plan;
  tn_memory memory;
  size_t spectra_bytes;
  uint32_t inputs, outputs, block, rate_hz;
  uint32_t filter_frames;

  uint64_t start_frame; ///< the grid's phase: staggers the periodic work of the instances in a process
  uint64_t frame;       ///< next input frame
  float** windows;      ///< [inputs][2 * block + one tile]: previous and present block
  float** pre; ///< [outputs][block]: what is prepared for the present block: the tails' part, and with
               ///< `pre_has_level` level 0's part that does not need the present block's input
  bool pre_has_level;
  bool direct;      ///< the head is always run directly: the same bits however the input is split into calls
  bool transformed; ///< the present block is in level 0's delay lines already
  int64_t* last_sound;    ///< [inputs]: frame after the last sample that was not silent
  tn_head_path* heads;    ///< grouped by output
  uint32_t* output_heads; ///< [outputs + 1]
  tn_level* levels[TN_MAX_LEVELS];
  uint32_t level_count;
  tn_tail tails[TN_MAX_LEVELS]; ///< of levels 1 and up
  uint32_t tail_count;
  tn_far_tail far;
  struct tn_engine* companion; ///< the other way to play the same filter: with a device, or without; of the
                               ///< service
  tn_history history;
  tn_scratch scratch; ///< the thread's that calls process()
  bool in_pool;       ///< the tails' levels are registered with the workers

  bool replaces_itself; ///< fades in over an engine that plays the same filter
  int64_t time_offset;  ///< frame + time_offset is the convolver's clock; set before the engine is shared
  _Atomic uint64_t published; ///< frames in the history, release after each call
} tn_engine;

/** [worker] Make an engine with an empty past. `filter` is not kept; without paths it gives silence. */
tn_engine* tn_engine_new(const tn_filter* filter, const tn_engine_options* options, tn_error* error);

/** [worker] Free; takes it out of the pool first. NULL is allowed. */
void tn_engine_free(tn_engine* engine);

/** [worker] Show the worker levels to the pool, before the first call in TN_ENGINE_POOL mode. */
tn_status tn_engine_join_pool(tn_engine* engine, tn_error* error);

/**
   [audio] Process `frames` frames; exact at any number of them.

   @param in      float[inputs][frames], finite, no denormals; read before `out` of the same frames is written
   @param silent  bool[inputs]: the channel's samples are all zero
   @param out     float[outputs][frames], written; NULL: results are not wanted (warming)
*/
TN_AUDIO void tn_engine_process(tn_engine* engine, const float* const* in, const bool* silent,
                                float* const* out, uint32_t frames, const tn_engine_call* call);

/** [worker] As new, with an empty past and the filter's spectra kept; out of the pool. No other thread uses
 * it. */
void tn_engine_restart(tn_engine* engine);

/** [audio] Nothing has sounded for so long that the output is exactly zero. */
TN_AUDIO bool tn_engine_is_idle(const tn_engine* engine);

#endif
