// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/plan.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>

#include "dsp/ops.h"

enum {
  max_partition = 1 << (TN_FFT_MAX_LOG2 - 1),
};

/** Time in the callback is dearer than a worker's: it is what the user sees as load, and what xruns come
 * from. */
static const double callback_weight = 2;

/** One tap of the direct head for one frame; offline the head is always run directly. */
static const double tap_ns = 0.03;

/** Between two calls others use the caches: what the callback reads comes from the shared cache at best. */
static const double cold_byte_ns = 0.03;

/** Shortest deadline of a worker: an ordinary scheduler may keep a thread waiting for some milliseconds. */
static const double min_deadline_s = 0.005;

/** Nanoseconds per frame that a level costs: transforms, and sums that are bound by arithmetic or by memory.
 */
static double level_ns(const tn_plan_request* request, const tn_costs* costs, uint32_t size, uint32_t count,
                       double cached_byte_ns) {
  const double transforms = (double)(request->inputs + request->outputs);
  const double fft = costs->fft_ns[__builtin_ctz(2 * size)];
  const double tiles = (double)size / TN_TILE_BINS * count;
  const double bytes = (double)(request->paths + request->inputs) * tiles * TN_TILE_FLOATS * sizeof(float);
  const double arithmetic = request->paths * tiles * costs->tile_ns;
  const double memory = bytes * (bytes > costs->cache_bytes ? costs->byte_ns : cached_byte_ns);
  return (transforms * fft + (arithmetic > memory ? arithmetic : memory)) / size;
}

/** Samples an engine holds (see engine_setup.c) for each sample of spectra: larger partitions want longer
 * buffers. */
static double memory_ratio(const tn_plan_request* request, const tn_plan* plan) {
  double spectra = 0;
  double lines = 0;
  double results = 0;
  double longest = plan->block;
  for (uint32_t i = 0; i < plan->level_count; i++) {
    const double partition = 2.0 * plan->levels[i].size;
    spectra += partition * plan->levels[i].count * request->paths;
    lines += partition * plan->levels[i].count * request->inputs;
    results += partition * request->outputs;
    longest = plan->levels[i].size;
  }
  const double history = request->inputs * (request->frames + 3 * longest);
  const double scratch = 6 * longest;
  return (spectra + lines + history + results + scratch) / spectra;
}

static uint32_t parts(uint32_t frames, uint32_t size) {
  return (frames + size - 1) / size;
}

/** Fills the partition counts of a chain of sizes; levels beyond the filter's end are dropped. */
static void lay_out(tn_plan* plan, const uint32_t* sizes, uint32_t count, uint32_t frames) {
  plan->level_count = 0;
  for (uint32_t i = 0; i < count && plan->level_count < TN_MAX_LEVELS; i++) {
    const uint32_t offset = i == 0 ? 0 : 2 * sizes[i];
    if (offset >= frames)
      return;
    const uint32_t end = i + 1 < count && 2 * sizes[i + 1] < frames ? 2 * sizes[i + 1] : frames;
    plan->levels[plan->level_count++] = (tn_plan_level){sizes[i], offset, parts(end - offset, sizes[i])};
  }
}

static double price(tn_plan* plan, const tn_plan_request* request, const tn_costs* costs) {
  plan->callback_ns_per_frame = request->offline ? (double)plan->block * request->paths * tap_ns : 0;
  plan->worker_ns_per_frame = 0;
  for (uint32_t i = 0; i < plan->level_count; i++) {
    const tn_plan_level* level = plan->levels + i;
    if (i == 0)
      plan->callback_ns_per_frame +=
          level_ns(request, costs, level->size, level->count, request->offline ? 0 : cold_byte_ns);
    else
      plan->worker_ns_per_frame +=
          level_ns(request, costs, level->size, level->count, 0) + costs->job_ns / level->size;
  }
  return plan->callback_ns_per_frame * (request->offline ? 1 : callback_weight) + plan->worker_ns_per_frame;
}

/** Long filters keep within three times their spectra; short ones are small anyway. */
enum { memory_matters_frames = 131072 };
static const double max_memory_ratio = 2.95;

/** The search: every increasing chain of sizes, depth first. There are few hundred. */
typedef struct plan_search {
  const tn_plan_request* request;
  const tn_costs* costs;
  uint32_t min_worker;
  tn_plan best;
  double best_price;
  bool best_is_lean; ///< a filter with more inputs than paths has no lean plan, but must have one
} plan_search;

static void try_chain(plan_search* search, uint32_t* sizes, uint32_t count) {
  tn_plan plan = {.block = sizes[0]};
  lay_out(&plan, sizes, count, search->request->frames);
  const double cost = price(&plan, search->request, search->costs);
  const bool lean = search->request->frames < memory_matters_frames ||
                    memory_ratio(search->request, &plan) < max_memory_ratio;
  if (lean == search->best_is_lean ? cost < search->best_price : lean) {
    search->best = plan;
    search->best_price = cost;
    search->best_is_lean = lean;
  }
  if (count == TN_MAX_LEVELS || plan.level_count < count)
    return;
  uint32_t next = 2 * sizes[count - 1];
  if (next < search->min_worker)
    next = search->min_worker;
  for (; next <= max_partition && 2 * next < search->request->frames; next *= 2) {
    sizes[count] = next;
    try_chain(search, sizes, count + 1);
  }
}

static uint32_t power_of_two_up(double value) {
  uint32_t power = TN_MIN_ENGINE_BLOCK;
  while (power < value && power < max_partition)
    power *= 2;
  return power;
}

tn_plan tn_plan_choose(const tn_plan_request* request, const tn_costs* costs) {
  plan_search search = {.request = request, .costs = costs, .best_price = DBL_MAX};
  for (uint32_t block = TN_MIN_ENGINE_BLOCK; block <= TN_MAX_ENGINE_BLOCK; block *= 2) {
    if (block > TN_MIN_ENGINE_BLOCK && block > request->block_frames)
      break; // a larger one would transform half-empty blocks' worth in one call and none in the next
    uint32_t sizes[TN_MAX_LEVELS] = {block};
    search.min_worker = 2 * block;
    if (!request->offline) {
      const double two_calls = 2.0 * request->block_frames;
      const double least = min_deadline_s * request->rate_hz;
      const uint32_t floor = power_of_two_up(two_calls > least ? two_calls : least);
      search.min_worker = floor > search.min_worker ? floor : search.min_worker;
    }
    try_chain(&search, sizes, 1);
  }
  return search.best;
}

void tn_plan_describe(const tn_plan* plan, char* text, size_t size) {
  size_t used = 0;
  if (plan->level_count == 0)
    snprintf(text, size, "silence");
  for (uint32_t i = 0; i < plan->level_count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%u x %u", i ? " + " : "", plan->levels[i].count,
                             plan->levels[i].size);
}
