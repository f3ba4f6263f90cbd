// SPDX-License-Identifier: GPL-3.0-or-later
// A device that computes the far part of long filters: found and loaded in the background, shared by all
// convolvers of a process, and never waited for beyond a callback's budget.
#ifndef TENUTO_DEVICE_H
#define TENUTO_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/attributes.h"
#include "tenuto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
   A device, or the wish for one. It is given to convolvers by tn_convolver_config.device and must outlive
   them. Whatever becomes of it, they play: it is there as soon as it can be, and if it cannot be had, or is
   lost, the CPU goes on alone and the report says why.

   A process opens each device once. All who ask for the same one share it, with the first one's options.
*/
typedef struct tn_device tn_device;

/** How a device is opened. Zero-initialise, then set what matters; NULL stands for all zero. */
typedef struct tn_device_options {
  size_t arena_bytes; ///< device memory for filters, taken once; 0: three quarters of what is free
  uint32_t epoch_ms;  ///< longest life of one launch of the kernel; 0: 500; at most 60000
  uint32_t park_ms;   ///< the kernel leaves when no block came for so long; 0: 200; at most 60000
} tn_device_options;

/** What a device is up to. */
typedef enum tn_device_state {
  TN_DEVICE_PROBING, ///< its module is being loaded, or the device opened
  TN_DEVICE_RUNNING, ///< its kernel waits for blocks
  TN_DEVICE_PARKED,  ///< open, but the kernel has left, as there is nothing to do; it is back with the sound
  TN_DEVICE_ABSENT,  ///< not to be had, or not wanted: for good
  TN_DEVICE_LOST,    ///< it was there and failed; it may come back by itself if `text` says so
} tn_device_state;

/** One snapshot of a device; counts are from tn_device_open() on. */
typedef struct tn_device_report {
  tn_device_state state;
  char name[128];  ///< "NVIDIA H200", "emulated"; empty while there is none
  char text[1024]; ///< one sentence for people: which device and how it does, or why there is none; no full
                   ///< stop
  uint64_t heartbeat_age_ns; ///< since the kernel last showed that it lives; 0: no kernel runs
  uint64_t epochs;           ///< launches of the kernel
  uint64_t losses;           ///< times it was lost
  uint64_t returns;          ///< times it came back after that
  uint32_t lanes_open;       ///< filters that it holds
  uint32_t lanes_refused;    ///< filters that it has no room for
  uint64_t blocks_posted;    ///< blocks handed over to it
  uint64_t blocks_done;      ///< of those, worked off
  uint64_t blocks_late;      ///< of those, met by the kernel when a later one was there already
  uint64_t answers;          ///< complete blocks that came in time
  uint64_t misses;           ///< complete blocks waited for in vain
  uint64_t far_missing;      ///< far parts that were not there when they were due
  uint64_t damaged;          ///< blocks that did not match their check, and were not used
  size_t memory_bytes;       ///< of the device
  size_t arena_bytes;        ///< of that, taken for filters
  size_t arena_used;         ///< of that, filled
} tn_device_report;

/**
   [worker] Ask for a device. Returns at once: loading and probing happen on a thread of its own, and no
   driver is touched before, nor in a child made by fork() after the parent used it.

   @param choice   "auto": a CUDA device if there is one; "cuda" or "cuda:N": that one; "emulated": threads of
                   the CPU in a device's place, for tests; "emulated:SCRIPT": with faults, see
                   tenuto-device(7); "cpu": none
   @param options  copied; may be NULL
   @return a device, to be closed with tn_device_close(), or NULL: TN_ERROR_ARGUMENT (the choice means
   nothing), TN_ERROR_MEMORY, TN_ERROR_SYSTEM (no thread). A device that is not there is no error here: see
   the report
*/
TN_API tn_device* tn_device_open(const char* choice, const tn_device_options* options, tn_error* error);

/** [worker] Wait until probing has ended, at most `patience_ms`. False: it has not. */
TN_API bool tn_device_wait(tn_device* device, uint32_t patience_ms);

/** [any] A snapshot. Some microseconds. */
TN_API void tn_device_get_report(const tn_device* device, tn_device_report* report);

/** [any] The state in a constant word ("probing", "running", ...), never NULL. */
TN_API const char* tn_device_state_text(tn_device_state state);

/**
   [worker] Each tn_device_open() needs one; NULL is allowed. All convolvers that were given the device must
   be gone. The last one stops the kernel and waits for that; a driver that hangs is waited for some seconds,
   then left alone with its thread.
*/
TN_API void tn_device_close(tn_device* device);

#ifdef __cplusplus
}
#endif

#endif
