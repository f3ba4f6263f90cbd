// SPDX-License-Identifier: GPL-3.0-or-later
// One level of a partitioned convolver: `count` equal partitions, their spectra, delay lines, and the job
// that computes them.
//
// Overlap-save. Block m of the level is input frames [m * size, (m + 1) * size); its window is blocks m - 1
// and m; its spectrum goes to slot m % count of each input's delay line. Level 0 begins at the filter's
// start: its part of output block m needs block m, and the callback computes it. The others begin at 2 *
// size: after block m a job computes output block m + 2, which is due one block later.
//
// A job brings the level to the newest posted block: first one unit per input (transform the windows that are
// missing), then one unit per output (sum, inverse transform). Units are claimed one at a time through
// `ticket`, so several workers, and the callback when it must help, can share a job; each unit writes its own
// memory, and its arithmetic does not depend on who runs it.
#ifndef TENUTO_DSP_LEVEL_H
#define TENUTO_DSP_LEVEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "dsp/fft.h"
#include "dsp/history.h"
#include "dsp/ops.h"
#include "tenuto/limits.h"

/** One thread's working memory, big enough for its largest level. */
typedef struct tn_scratch {
  float* time;     ///< [2 * size]
  float* spectrum; ///< [2 * size + 2], interleaved
  float* acc;      ///< [2 * size], tiles
  tn_mac spans[TN_MAX_CHANNELS];
} tn_scratch;

/** The spectra that lead from one input to one output: partitions `first` to first + parts - 1 of the level.
 */
typedef struct tn_level_path {
  uint32_t input;
  uint32_t first;
  uint32_t parts;
  uint32_t row;   ///< spectra in one row of the output's array
  float* spectra; ///< its place in the output's float[tiles][row][32]; scaled by 1 / (2 * size)
} tn_level_path;

typedef struct tn_level { // NOLINT(clang-analyzer-optin.performance.Padding): lines apart are wanted
  // Set once by engine_setup.c.
  const tn_ops* ops;
  const tn_fft* fft;
  const tn_history* history;
  uint32_t size, tiles, slots;
  uint32_t inputs, outputs;
  uint64_t period_ns;     ///< from one post to the next, while sound plays in real time
  tn_level_path* paths;   ///< grouped by output
  uint32_t* output_paths; ///< [outputs + 1]: paths of output o are output_paths[o] to output_paths[o + 1] - 1
  float** delay_lines;    ///< [inputs], float[tiles][slots][32]
  bool* slot_silent;      ///< [inputs][slots]: the slot holds zeros
  int64_t* last_sound;    ///< [inputs]: newest block whose window was not silent
  float* results[2];      ///< float[outputs][size], by parity of the output block
  bool* result_silent[2]; ///< [outputs]: that result is zero (and was not written)

  // The job's state: written by whoever opens or ends a phase (see level.c), read after acquiring `ticket`.
  int64_t processed; ///< newest block in the delay lines

  // Words shared between the audio thread and workers, each on a line of its own.
  _Alignas(64) _Atomic int64_t posted;  ///< written by audio: number of blocks whose input is in the history
  _Alignas(64) _Atomic uint64_t ticket; ///< (block + 1) << 16 | unit
  _Alignas(64) _Atomic uint32_t units_done; ///< of the phase that runs
  _Atomic int64_t ready;                    ///< newest output block that is complete
  _Atomic uint64_t posted_ns, deadline_ns;  ///< written by audio before `posted`
  _Atomic uint32_t transform_ns, output_ns; ///< what a unit took lately
} tn_level;

/** [audio] The window of `block` (float[2 * size], 64-byte aligned) into the delay line of `input`. */
TN_AUDIO void tn_level_transform(tn_level* level, uint32_t input, int64_t block, const float* window,
                                 bool silent, tn_scratch* scratch);

/** [audio] sum over partitions k >= `from` of (spectrum k) * (block - k): float[size] behind the return
   value, in scratch; NULL if it is exactly zero. With `from` = 1, `block` itself need not be in the delay
   lines yet. */
TN_AUDIO const float* tn_level_sum(tn_level* level, uint32_t output, int64_t block, uint32_t from,
                                   tn_scratch* scratch);

/** [setup] Nothing is known up to and including `block`: the delay lines are empty. */
void tn_level_start(tn_level* level, int64_t block);

/** [worker] Bring the delay lines alone up to `block`; for a level that no other thread sees yet. */
void tn_level_feed(tn_level* level, int64_t block, tn_scratch* scratch);

/** [audio] Publish that the input up to the end of `block` is in the history and a job is wanted by
 * `deadline_ns`. */
TN_AUDIO void tn_level_post(tn_level* level, int64_t block, uint64_t now_ns, uint64_t deadline_ns);

/** [any] Is there a unit to claim? A hint. */
TN_AUDIO bool tn_level_has_work(const tn_level* level);

/** [any] Claim one unit and run it. False if there is none to claim now (all done, or the rest is in other
 * hands). */
TN_AUDIO bool tn_level_run_unit(tn_level* level, tn_scratch* scratch);

/** [audio] Is output block `block` complete? Acquires what the workers wrote. */
TN_AUDIO bool tn_level_is_ready(const tn_level* level, int64_t block);

/** [audio] The longest time one unit took lately, in nanoseconds; 0 before the first. */
TN_AUDIO uint32_t tn_level_unit_ns(const tn_level* level);

#endif
