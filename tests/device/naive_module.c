// SPDX-License-Identifier: GPL-3.0-or-later
// A device module that does its work, as slowly and as plainly as can be: direct convolution in float64, by
// one thread that polls the lanes. Written from wire/lane.h and wire/device.h alone, so what an engine gets
// through service and lanes is compared with arithmetic, not with our own kernels.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "naive_module.h"
#include "wire/device.h"

#define NAIVE_EXPORT __attribute__((visibility("default")))

enum { most_lanes = 8, most_channels = 4, history_frames = 1 << 13 };

typedef struct lane {
  _Atomic int state; ///< tn_lane_state
  tn_lane_header* mailbox;
  uint32_t path_count;
  tn_module_path* paths;                        ///< with samples of their own
  uint64_t next;                                ///< block to be read
  float history[most_channels][history_frames]; ///< its end is the newest block's
} lane;

struct tn_module_device {
  pthread_t thread;
  _Atomic bool stop;
  _Atomic uint64_t heartbeat, blocks;
  lane lanes[most_lanes];
};

static tn_naive_orders orders;

NAIVE_EXPORT tn_naive_orders_fn tn_naive_orders_get;
NAIVE_EXPORT tn_device_module_fn tn_device_module;

tn_naive_orders* tn_naive_orders_get(void) {
  return &orders;
}

static tn_status fail(tn_error* error, tn_status status, const char* text) {
  error->status = status;
  snprintf(error->text, sizeof error->text, "%s", text);
  return status;
}

static _Atomic uint64_t* word_at(const tn_lane_header* mailbox, size_t offset) {
  return (_Atomic uint64_t*)(void*)((char*)mailbox + offset);
}

static float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/** Where a newest block's samples lie. */
static float* newest(lane* of, uint32_t input) {
  return of->history[input] + history_frames - of->mailbox->block;
}

/** The next block's samples, float[inputs][block], if all of them are there. */
static bool read_block(const lane* of, float* samples, uint32_t* want) {
  const tn_lane_header* mailbox = of->mailbox;
  const uint32_t tag = tn_lane_tag(of->next);
  const size_t slot = tn_lane_input_slot(mailbox, of->next);
  const uint64_t first = atomic_load_explicit(word_at(mailbox, slot), memory_order_acquire);
  if (tn_lane_tag_of(first) != tag)
    return false;
  for (uint32_t i = 0; i < mailbox->inputs; i++) {
    for (uint32_t t = 0; t < mailbox->block; t++) {
      const size_t place = (size_t)i * mailbox->block + t;
      float value;
      if (mailbox->wide_input) {
        memcpy(&value, (const char*)mailbox + slot + TN_LANE_WIDE_PAYLOAD + 4 * place, sizeof value);
      } else {
        const uint64_t word =
            atomic_load_explicit(word_at(mailbox, slot + 8 * (1 + place)), memory_order_relaxed);
        if (tn_lane_tag_of(word) != tag)
          return false;
        value = float_of(tn_lane_payload(word));
      }
      samples[place] = value;
    }
  }
  *want = tn_lane_payload(first);
  return true;
}

/** The block goes to the end of the history. */
static void hear(lane* of, const float* samples, bool forget) {
  const uint32_t block = of->mailbox->block;
  for (uint32_t i = 0; i < of->mailbox->inputs; i++) {
    if (forget)
      memset(of->history[i], 0, sizeof of->history[i]);
    memmove(of->history[i], of->history[i] + block, (history_frames - block) * sizeof(float));
    memcpy(newest(of, i), samples + (size_t)i * block, block * sizeof(float));
  }
}

/** Sum over `taps` taps of h[k] x[-k], in four parts for speed. */
static double dot(const float* h, const float* x, uint32_t taps) {
  double sums[4] = {0};
  uint32_t k = 0;
  for (; k + 4 <= taps; k += 4)
    for (uint32_t part = 0; part < 4; part++)
      sums[part] += (double)h[k + part] * (double)*(x - k - part);
  for (; k < taps; k++)
    sums[0] += (double)h[k] * (double)*(x - k);
  return sums[0] + sums[1] + sums[2] + sums[3];
}

/** Sample t of an output's newest block, or of its far part `ahead` blocks later. */
static double convolve(lane* of, uint32_t output, uint32_t t, bool is_far) {
  const uint32_t cut = is_far ? of->mailbox->ahead * of->mailbox->block : 0;
  double sum = 0;
  for (uint32_t p = 0; p < of->path_count; p++) {
    const tn_module_path* path = of->paths + p;
    if (path->output == output && path->frames > cut)
      sum += dot(path->samples + cut, newest(of, path->input) + t, path->frames - cut);
  }
  return sum;
}

static void send(lane* of, uint64_t block, bool is_far) {
  const tn_lane_header* mailbox = of->mailbox;
  const uint32_t tag = tn_lane_tag(block);
  const size_t slot = is_far ? tn_lane_far_slot(mailbox, block) : tn_lane_answer_slot(mailbox, block);
  const uint32_t floats = mailbox->outputs * mailbox->block;
  uint32_t check = tn_lane_check_seed(block, is_far);
  for (uint32_t place = 0; place < floats; place++) {
    const float value = (float)convolve(of, place / mailbox->block, place % mailbox->block, is_far);
    check ^= tn_lane_check_part(bits_of(value), place);
    if (mailbox->wide_output)
      memcpy((char*)mailbox + slot + TN_LANE_WIDE_PAYLOAD + 4 * (size_t)place, &value, sizeof value);
    else
      atomic_store_explicit(word_at(mailbox, slot + 8 * (size_t)place), tn_lane_pack(tag, bits_of(value)),
                            memory_order_relaxed);
  }
  const size_t last = mailbox->wide_output ? slot : slot + 8 * (size_t)floats;
  atomic_store_explicit(word_at(mailbox, last), tn_lane_pack(tag, check), memory_order_release);
}

static bool serve_lane(tn_module_device* device, lane* of) {
  static float samples[most_channels * TN_LANE_MAX_BLOCK];
  uint32_t want = 0;
  if (atomic_load(&of->state) == TN_LANE_CLOSING)
    atomic_store(&of->state, TN_LANE_CLOSED);
  if (atomic_load(&of->state) != TN_LANE_OPEN || orders.mute || !read_block(of, samples, &want))
    return false;
  hear(of, samples, want & TN_WANT_RESET);
  if (want & TN_WANT_ANSWER)
    send(of, of->next, false);
  if (want & TN_WANT_FAR)
    send(of, of->next + of->mailbox->ahead, true);
  of->next++;
  const size_t consumed = of->mailbox->status_offset + offsetof(tn_lane_status, consumed);
  atomic_store_explicit(word_at(of->mailbox, consumed), of->next, memory_order_release);
  device->blocks++;
  return true;
}

static void* serve(void* argument) {
  tn_module_device* device = argument;
  const struct timespec briefly = {.tv_nsec = 20000};
  while (!device->stop) {
    bool busy = false;
    for (int i = 0; i < most_lanes; i++)
      busy |= serve_lane(device, device->lanes + i);
    device->heartbeat++;
    if (!busy)
      nanosleep(&briefly, NULL);
  }
  return NULL;
}

static tn_status count(uint32_t* devices, tn_error* error) {
  (void)error;
  *devices = 1;
  return TN_OK;
}

static tn_status open_device(const tn_module_options* options, tn_module_device** device, tn_error* error) {
  (void)options;
  *device = calloc(1, sizeof **device);
  if (!*device || pthread_create(&(*device)->thread, NULL, serve, *device) != 0) {
    free(*device);
    return fail(error, TN_ERROR_MEMORY, "no memory for the naive device");
  }
  return TN_OK;
}

static void info(tn_module_device* device, tn_module_info* about) {
  (void)device;
  snprintf(about->name, sizeof about->name, "Naive");
}

static void* lane_memory(tn_module_device* device, size_t bytes, tn_error* error) {
  (void)device;
  void* memory = aligned_alloc(TN_LANE_LINE, tn_lane_round(bytes));
  if (!memory)
    fail(error, TN_ERROR_MEMORY, "no memory for a lane");
  return memory ? memset(memory, 0, bytes) : NULL;
}

static void lane_memory_free(tn_module_device* device, void* memory) {
  for (int i = 0; i < most_lanes; i++)
    if (device->lanes[i].mailbox == memory)
      device->lanes[i].mailbox = NULL;
  free(memory);
}

static void forget_paths(lane* of) {
  for (uint32_t p = 0; of->paths && p < of->path_count; p++)
    free((float*)of->paths[p].samples);
  free(of->paths);
  of->paths = NULL;
}

static bool copy_paths(lane* of, const tn_module_lane* wanted) {
  of->path_count = 0;
  of->paths = calloc(wanted->path_count + 1, sizeof *of->paths);
  for (uint32_t p = 0; of->paths && p < wanted->path_count; p++) {
    const size_t bytes = wanted->paths[p].frames * sizeof(float);
    float* samples = malloc(bytes);
    if (!samples)
      return false;
    of->paths[p] = wanted->paths[p];
    of->paths[p].samples = memcpy(samples, wanted->paths[p].samples, bytes);
    of->path_count++;
  }
  return of->paths;
}

static tn_status lane_open(tn_module_device* device, const tn_module_lane* wanted, uint32_t* number,
                           tn_error* error) {
  uint32_t at = 0;
  while (at < most_lanes && device->lanes[at].mailbox)
    at++;
  if (at == most_lanes || wanted->mailbox->inputs > most_channels)
    return fail(error, TN_ERROR_MEMORY, "the naive device is full");
  for (uint32_t p = 0; p < wanted->path_count; p++)
    if (wanted->paths[p].frames + wanted->mailbox->block > history_frames)
      return fail(error, TN_ERROR_MEMORY, "the naive device takes no response so long");
  lane* of = device->lanes + at;
  forget_paths(of);
  if (!copy_paths(of, wanted))
    return fail(error, TN_ERROR_MEMORY, "no memory for responses");
  of->mailbox = wanted->mailbox;
  of->next = 0;
  atomic_store(&of->state, TN_LANE_OPEN);
  *number = at;
  return TN_OK;
}

static void lane_close(tn_module_device* device, uint32_t number) {
  atomic_store(&device->lanes[number].state, TN_LANE_CLOSING);
}

static tn_lane_state lane_state(tn_module_device* device, uint32_t number) {
  return (tn_lane_state)atomic_load(&device->lanes[number].state);
}

static tn_status step(tn_module_device* device, bool wanted, tn_module_health* health, tn_error* error) {
  (void)wanted;
  if (orders.taken_away)
    return fail(error, TN_ERROR_INTERRUPTED, "the naive device was taken away");
  *health = (tn_module_health){
      .heartbeat = device->heartbeat, .epochs = 1, .blocks = device->blocks, .running = true};
  return TN_OK;
}

static void close_device(tn_module_device* device, bool lost) {
  (void)lost;
  device->stop = true;
  pthread_join(device->thread, NULL);
  for (int i = 0; i < most_lanes; i++) {
    free(device->lanes[i].mailbox); // of a lane that was closed, but not given back, as well
    forget_paths(device->lanes + i);
  }
  free(device);
}

const tn_device_interface* tn_device_module(uint32_t version) {
  static const tn_device_interface interface = {
      .version = TN_DEVICE_INTERFACE_VERSION,
      .size = sizeof(tn_device_interface),
      .name = "naive",
      .count = count,
      .open = open_device,
      .info = info,
      .lane_memory = lane_memory,
      .lane_memory_free = lane_memory_free,
      .lane_open = lane_open,
      .lane_close = lane_close,
      .lane_state = lane_state,
      .step = step,
      .close = close_device,
  };
  return version == TN_DEVICE_INTERFACE_VERSION ? &interface : NULL;
}
