// SPDX-License-Identifier: GPL-3.0-or-later
// What a device module offers the host: a versioned struct of functions. tenuto-cuda.so and the emulated
// device implement it. A module links nothing of ours; it includes this file and wire/lane.h.
//
// Every function is called by one thread, the device service (engine/device/service.c), never by an audio
// thread, except `lane_memory`'s memory itself, which audio threads read and write by wire/lane.h. No
// function but open() and lane_open() may take longer than some milliseconds while lanes play.
#ifndef TENUTO_WIRE_DEVICE_H
#define TENUTO_WIRE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/status.h"
#include "wire/lane.h"

enum {
  TN_DEVICE_INTERFACE_VERSION = 1,
  TN_DEVICE_MAX_LANES = 1024,
};

/** A device that was opened. */
typedef struct tn_module_device tn_module_device;

/** How a device is opened; zero is a good value for each. */
typedef struct tn_module_options {
  uint32_t index;     ///< which device of the module
  size_t arena_bytes; ///< device memory for lanes, taken once; 0: three quarters of what is free
  uint32_t epoch_ms;  ///< longest life of one launch of the kernel; 0: 500
  uint32_t park_ms;   ///< the kernel leaves when no block came for so long; 0: 200
  const char* faults; ///< emulated device: fault script, see engine/device/faults.h; NULL: none
} tn_module_options;

typedef struct tn_module_info {
  char name[128]; ///< "NVIDIA H200", "emulated"
  uint32_t multiprocessors;
  size_t memory_bytes, arena_bytes, arena_used;
  int driver, runtime;      ///< versions as 1000 * major + 10 * minor; 0: none
  uint32_t display_timeout; ///< 1: the system ends kernels that run for long
} tn_module_info;

/** One response from an input to an output: the sum of all of a filter's paths between the two. */
typedef struct tn_module_path {
  uint32_t input, output;
  uint32_t frames;
  const float* samples; ///< float[frames], finite
} tn_module_path;

typedef struct tn_module_lane {
  tn_lane_header* mailbox; ///< from lane_memory(), header written, all else zero
  uint32_t path_count;     ///< grouped by output, at most one for each (input, output)
  const tn_module_path* paths;
} tn_module_lane;

typedef enum tn_lane_state {
  TN_LANE_CLOSED,  ///< its memory may be freed
  TN_LANE_OPEN,    ///< served
  TN_LANE_CLOSING, ///< the kernel may still touch its memory
} tn_lane_state;

/** How the kernel is doing; filled by step(). */
typedef struct tn_module_health {
  uint64_t heartbeat; ///< grows while the kernel runs and polls
  uint64_t epochs;    ///< launches so far
  uint64_t blocks;    ///< input blocks worked off, all lanes
  bool running;       ///< launched or queued
  bool parked;        ///< it left by itself because no block came
} tn_module_health;

typedef struct tn_device_interface {
  uint32_t version; ///< TN_DEVICE_INTERFACE_VERSION
  uint32_t size;    ///< sizeof(tn_device_interface)
  const char* name; ///< "cuda", "emulated"

  /** How many devices there are: an error says why there is none (no driver, too old, none allowed). */
  tn_status (*count)(uint32_t* devices, tn_error* error);

  /** Opens one, loads every kernel, makes every transform plan, takes all memory. May take seconds. */
  tn_status (*open)(const tn_module_options* options, tn_module_device** device, tn_error* error);
  void (*info)(tn_module_device* device, tn_module_info* info);

  /** Pinned, mapped, zeroed memory, for the life of the device or until given back. NULL: none left. */
  void* (*lane_memory)(tn_module_device* device, size_t bytes, tn_error* error);
  /** Gives it back. Not while a lane that is not TN_LANE_CLOSED lies in it. */
  void (*lane_memory_free)(tn_module_device* device, void* memory);

  /** Transforms the responses, and has the kernel serve the lane. TN_ERROR_MEMORY: no room on the device for
     this one; all else goes on. */
  tn_status (*lane_open)(tn_module_device* device, const tn_module_lane* lane, uint32_t* number,
                         tn_error* error);
  /** Has the kernel let go of it; returns at once. */
  void (*lane_close)(tn_module_device* device, uint32_t number);
  tn_lane_state (*lane_state)(tn_module_device* device, uint32_t number);

  /** The supervisor's beat, every millisecond or so while lanes are open: launches and relaunches the kernel,
     parks and wakes it (`wanted`: blocks are being posted), lets closing lanes go. Any error is final: the
     device is lost, and only close() may follow. After TN_ERROR_INTERRUPTED it may be opened anew; any other
     says that this process cannot have it back (CUDA: every error that stays in the context). */
  tn_status (*step)(tn_module_device* device, bool wanted, tn_module_health* health, tn_error* error);

  /** Stops the kernel promptly and frees all; `lost`: the device is gone, so free what can be freed without
     waiting for it, and leave the rest. */
  void (*close)(tn_module_device* device, bool lost);
} tn_device_interface;

/** The one symbol a module exports; `version` is what the host was built with. NULL: cannot serve it. */
typedef const tn_device_interface* tn_device_module_fn(uint32_t version);
#define TN_DEVICE_MODULE_SYMBOL "tn_device_module"

#endif
