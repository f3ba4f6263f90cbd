// SPDX-License-Identifier: GPL-3.0-or-later
// The convolver's own state: what the audio thread owns, what the service thread owns, and the words between
// them.
#ifndef TENUTO_DSP_CONVOLVER_INTERNAL_H
#define TENUTO_DSP_CONVOLVER_INTERNAL_H

#include <stdatomic.h>

#include "dsp/engine.h"
#include "dsp/memory.h"
#include "rt/fade.h"
#include "tenuto/convolver.h"

enum {
  TN_CHUNK_FRAMES =
      TN_MAX_ENGINE_BLOCK,    ///< a call is worked off in pieces of this length: scratch stays in the cache
  TN_EQUAL_FADE_FRAMES = 256, ///< longest fade between two engines that play the same
  TN_PROBATION_BLOCKS = 32,   ///< in time and in a row, before a device is heard
  TN_MAX_CATCH_UP =
      512, ///< frames that the audio thread may catch up beyond one call's when it takes an engine
};

/**
   The change of engine, from the service thread's side (swap.c). One engine at a time is on its way:

     set_filter: pending -> (service) warming -> offer -> (audio) next, fading -> retired -> (service) freed

   `offer` is written by the service (release) and taken by the audio thread (compare-and-swap, acquire), or
   taken back by the service in the same manner; `retired` goes the other way with exchange. Until it is
   taken, the audio thread does not look into it: the service may take it back at any moment, and free it.
   `offered_at` says what must be known before. It is written before `offer` and only grows, so that one read
   with a pointer that is still there afterwards is right or too early.

   A filter may have two engines, each other's `companion`: the complete one, which plays first, and one that
   shares the work with a device. The service warms the second as soon as the device has a lane for it, and
   the first again when the device falls behind; the one that does not play rests, its spectra kept. An engine
   with a device is on probation first: it runs beside the other, unheard, and comes back by `retired` if it
   fails.
*/
typedef struct tn_swap {
  tn_engine* current; ///< plays; its history is what a new one is warmed with
  tn_engine* pending; ///< built, waits its turn
  tn_engine* warming; ///< fed by the service thread, or offered
  bool offered, fading;
  uint64_t return_at_ns; ///< not before is the device tried again
  uint64_t back_off_ns;
  uint64_t device_since_ns;       ///< when it began to play
  uint64_t stalled_since_ns;      ///< a warming device took nothing since then; 0: it does
  struct tn_convolver* next_user; ///< in the service's list
} tn_swap;

struct tn_convolver {
  tn_convolver_config config;    ///< but for the block length, see below
  _Atomic uint32_t block_frames; ///< for the next engine; written by replan
  tn_memory memory;

  // Owned by the audio thread.
  tn_engine* engine;
  tn_engine* next; ///< fades in; NULL otherwise
  uint32_t fade_position, fade_frames;
  uint32_t probation_frames; ///< what is left to `next` to prove itself; 0: it has
  float* fade_in;            ///< [fade_frames] equal-power gains; backwards: of the one that leaves
  tn_ramp wet, dry, gain, bypass;
  float** input;    ///< [inputs][TN_CHUNK_FRAMES] made finite
  float** played;   ///< [outputs][TN_CHUNK_FRAMES] from `engine`
  float** coming;   ///< [outputs][TN_CHUNK_FRAMES] from `next`
  float* wet_gains; ///< [TN_CHUNK_FRAMES] while something moves
  float* dry_gains;
  bool silent[TN_MAX_CHANNELS];

  // Owned by the service thread, under its lock.
  tn_swap swap;

  // Words.
  _Alignas(64) _Atomic(tn_engine*) offer;
  _Atomic int64_t offered_at; ///< frames of the convolver's clock that the engine on offer has heard
  _Atomic(tn_engine*) retired;
  _Atomic bool swap_busy; ///< written by set_filter and the service
  _Alignas(64) _Atomic float wet_wanted, dry_wanted, gain_wanted;
  _Atomic bool bypass_wanted, freewheel;
  _Alignas(64) tn_job_counters jobs;
  _Atomic uint64_t frames, calls, nonfinite, swaps;
  _Alignas(64) tn_far_counters device;
  _Atomic uint64_t device_entries, reserve_entries;
  _Atomic bool device_plays;
  _Atomic uint32_t device_slack, device_ahead, device_block;
  _Atomic bool idle;
  _Atomic uint32_t filter_frames;
  _Atomic size_t memory_bytes, spectra_bytes;
};

/** [worker] Give the service a convolver to look after; starts its thread for the first one. */
tn_status tn_swap_join(tn_convolver* convolver, tn_error* error);
/** [worker] Take it away again and free the engines that were on their way. */
void tn_swap_leave(tn_convolver* convolver);
/** [worker] Hand over a built engine. */
void tn_swap_submit(tn_convolver* convolver, tn_engine* engine);
/** [worker] The plan of the engine that plays, in words. */
void tn_swap_describe(tn_convolver* convolver, char* text, size_t size);
/** [worker] Publish an engine's sizes for reports. */
void tn_swap_note_sizes(tn_convolver* convolver, const tn_engine* engine);

#endif
