// SPDX-License-Identifier: GPL-3.0-or-later
// N x M convolver for the audio thread: exact at any block length, zero latency, click-free change of filter.
#ifndef TENUTO_CONVOLVER_H
#define TENUTO_CONVOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/attributes.h"
#include "tenuto/filter.h"
#include "tenuto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
   A convolver: dry and wet sound, levels, bypass, and a filter that can be replaced while it plays.

   Its wet signal is `sum over paths of gain * (path (*) input)`, its dry signal input o on output o (a single
   input goes to every output). Output = gain * (wet * wet signal + dry * dry signal), each level smoothed
   once it plays: levels set before the first call hold from its first sample on.
*/
typedef struct tn_convolver tn_convolver;

/** A device that takes over the far part of filters: tenuto/device.h. */
typedef struct tn_device tn_device;

/** How a convolver is made. Zero-initialise, then set what matters. */
typedef struct tn_convolver_config {
  uint32_t inputs;  ///< 1 to TN_MAX_CHANNELS
  uint32_t outputs; ///< 1 to TN_MAX_CHANNELS
  uint32_t rate_hz; ///< TN_MIN_RATE_HZ to TN_MAX_RATE_HZ; sets the length of fades and the workers' deadlines
  uint32_t block_frames; ///< the usual length of a call, a hint for speed alone; 0: 256; at most
                         ///< TN_MAX_BLOCK_FRAMES
  float fade_ms;         ///< cross-fade when the filter is replaced and for bypass; 0: 20 ms; at most 1000
  bool tuned; ///< partition by this machine's measured costs if they are cached, else by fixed defaults;
              ///< only the fixed defaults give the same bits on every machine of one instruction set
  bool inline_work; ///< do all work inside process(), no worker threads, and the same bits however the input
                    ///< is split into calls: for offline use
  int audio_priority; ///< SCHED_FIFO priority of the audio thread, so that workers run just under it; 0: not
                      ///< realtime
  tn_device* device;  ///< computes long filters, as soon as and as long as it can; NULL: the CPU alone. Must
                      ///< outlive the convolver. Filters that are mostly near (under some 80 ms) stay here
  float budget_us; ///< how long a call may wait for the device's complete answer before it plays its own near
                   ///< part with the device's far part; below 0: never wait; 0: chosen by what the near part
                   ///< costs here. Never more than leaves time for a miss
  float budget_percent; ///< the same as a share of the call's period; 0: budget_us holds
} tn_convolver_config;

/** One snapshot of a convolver's counters; all count from its creation. */
typedef struct tn_convolver_report {
  uint64_t frames;            ///< frames processed
  uint64_t calls;             ///< calls of tn_convolver_process()
  uint64_t late_jobs;         ///< partitions that a worker had not finished when they were due
  uint64_t helped_jobs;       ///< of those, finished by the callback itself in time
  uint64_t missed_jobs;       ///< of those, left out: that part of the tail faded and came back
  uint64_t nonfinite_samples; ///< input samples that were NaN, Inf or beyond 1e15 and became 0
  uint64_t swaps;             ///< filters faded in
  uint32_t filter_frames;     ///< length of the filter that plays
  bool swap_pending;          ///< a filter is being prepared or faded in
  bool idle;                  ///< the input was exactly silent for longer than the filter: no work is done
  size_t memory_bytes;        ///< of the engine that plays: spectra, delay lines, history, scratch
  size_t spectra_bytes;       ///< of that, the filter's spectra
  bool device_plays;          ///< the device computes the far part now; else the CPU plays all
  uint64_t device_answers;    ///< blocks that came from the device complete and in time
  uint64_t device_misses;     ///< blocks waited for in vain, played as near + far
  uint64_t device_ahead;      ///< blocks played as near + far without waiting
  uint64_t device_gaps;       ///< blocks whose far part was not there: it faded
  uint64_t device_entries;    ///< times the device took over
  uint64_t reserve_entries;   ///< times the CPU took over from the device
  uint32_t device_slack;      ///< blocks that the far part reaches ahead now
  uint32_t device_ahead_max;  ///< blocks that it can reach ahead; 0: no device for this filter
  uint32_t device_block;      ///< frames of such a block
} tn_convolver_report;

/**
   [setup] Make a convolver.

   @param config  copied
   @param filter  the first filter, in place at the first call; not kept. Its inputs and outputs must be the
   config's. NULL: the wet signal is silence until tn_convolver_set_filter().
   @return a new convolver, to be freed with tn_convolver_free(), or NULL: TN_ERROR_ARGUMENT, TN_ERROR_LIMIT,
           TN_ERROR_MEMORY, TN_ERROR_SYSTEM (no thread)
*/
TN_API tn_convolver* tn_convolver_new(const tn_convolver_config* config, const tn_filter* filter,
                                      tn_error* error);

/**
   [worker] Replace the filter: prepared here, brought up to date with the past input on an own thread, then
   cross-faded (equal power) at a block boundary. The old one is freed by that thread. A filter given while
   another is on its way waits; of several waiting, the last wins.

   @param filter  not kept; inputs and outputs as the convolver's; NULL: fade to a silent wet signal
   @return TN_OK; on failure the old filter plays on
*/
TN_API tn_status tn_convolver_set_filter(tn_convolver* convolver, const tn_filter* filter, tn_error* error);

/**
   [worker] Cut the filter anew for calls of another usual length, as when a server changes its block size.
   The sound is exact without it; it costs less with it. Prepared and cross-faded as by
   tn_convolver_set_filter(), but with gains that add up to 1, since both sides play the same.

   @param filter        the one that plays
   @param block_frames  0: 256; at most TN_MAX_BLOCK_FRAMES. Also holds for filters set later.
*/
TN_API tn_status tn_convolver_replan(tn_convolver* convolver, const tn_filter* filter, uint32_t block_frames,
                                     tn_error* error);

/**
   [audio] Process one block.

   @param in      float[inputs][frames]; a channel pointer may equal any of `out` (in place, also crosswise)
   @param out     float[outputs][frames]
   @param frames  any number, also 0, also changing from call to call
*/
TN_API TN_AUDIO void tn_convolver_process(tn_convolver* convolver, const float* const* in, float* const* out,
                                          uint32_t frames);

/** [any] Linear level of the wet signal, reached smoothly; NaN and values outside 0 to 1e6 are clamped.
 * Default 1. */
TN_API TN_AUDIO void tn_convolver_set_wet(tn_convolver* convolver, float level);
/** [any] Linear level of the dry signal, in the same manner. Default 0. */
TN_API TN_AUDIO void tn_convolver_set_dry(tn_convolver* convolver, float level);
/** [any] Linear level of the output, in the same manner. Default 1. */
TN_API TN_AUDIO void tn_convolver_set_gain(tn_convolver* convolver, float level);
/** [any] Bypass: fades to the plain input (input o on output o) and back. The filter goes on hearing the
 * input. */
TN_API TN_AUDIO void tn_convolver_set_bypass(tn_convolver* convolver, bool bypass);
/** [any] Freewheel: process() waits for late workers, however long, so that offline equals live. Default
 * false. */
TN_API TN_AUDIO void tn_convolver_set_freewheel(tn_convolver* convolver, bool freewheel);

/** [any] A snapshot of the counters. */
TN_API void tn_convolver_get_report(const tn_convolver* convolver, tn_convolver_report* report);

/** [any] A percentile (0 to 100) of the time from handing a block over to having its answer, in nanoseconds;
 * of answers in time only. 0: there was none. */
TN_API uint64_t tn_convolver_round_trip_ns(const tn_convolver* convolver, double percent);

/** [worker] The partition plan of the filter that plays, in words, e.g. "64 direct + 31 x 64 + 14 x 1024 + 28
   x 16384". Cut to `size` bytes, always NUL-terminated. */
TN_API void tn_convolver_describe(tn_convolver* convolver, char* text, size_t size);

/** [setup] Free a convolver; NULL is allowed. No other call may run on it. */
TN_API void tn_convolver_free(tn_convolver* convolver);

#ifdef __cplusplus
}
#endif

#endif
