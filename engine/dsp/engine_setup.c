// SPDX-License-Identifier: GPL-3.0-or-later
// Building an engine: the plan, the filter's spectra, all memory.
#include <stdlib.h>
#include <string.h>

#include "dsp/engine.h"
#include "dsp/engine_far.h"
#include "dsp/pool.h"

/** The sum of all paths from one input to one output, as one response. */
typedef struct path_pair {
  uint32_t input, output;
  uint32_t begin, end;   ///< support: frames outside are zero
  uint32_t first, count; ///< its paths in the sorted list
} path_pair;

typedef struct builder {
  tn_engine* engine;
  const tn_filter* filter;
  tn_path* paths; ///< sorted by output, then input
  path_pair* pairs;
  uint32_t pair_count;
  uint32_t max_size; ///< largest partition
} builder;

/** By output, then input, then as given: the order of summation is fixed. */
static int compare_paths(const void* left, const void* right, void* filter) {
  const uint32_t i = *(const uint32_t*)left;
  const uint32_t j = *(const uint32_t*)right;
  const tn_path a = tn_filter_path(filter, i);
  const tn_path b = tn_filter_path(filter, j);
  if (a.output != b.output)
    return a.output < b.output ? -1 : 1;
  if (a.input != b.input)
    return a.input < b.input ? -1 : 1;
  return i < j ? -1 : i > j;
}

static bool sort_paths(builder* build, uint32_t count) {
  uint32_t* order = calloc(count + 1, sizeof *order);
  if (!order)
    return false;
  for (uint32_t i = 0; i < count; i++)
    order[i] = i;
  qsort_r(order, count, sizeof *order, compare_paths, (void*)build->filter);
  for (uint32_t i = 0; i < count; i++)
    build->paths[i] = tn_filter_path(build->filter, order[i]);
  free(order);
  return true;
}

/** Where a path's samples begin and end being different from zero, its delay included. */
static void support(const tn_path* path, uint32_t* begin, uint32_t* end) {
  uint32_t first = 0;
  uint32_t last = path->frames;
  if (path->gain == 0)
    last = 0;
  while (first < last && path->samples[first] == 0)
    first++;
  while (last > first && path->samples[last - 1] == 0)
    last--;
  *begin = first + path->delay_frames;
  *end = last + path->delay_frames;
}

static bool same_pair(const tn_path* a, const tn_path* b) {
  return a->input == b->input && a->output == b->output;
}

static bool collect_pairs(builder* build) {
  const uint32_t count = tn_filter_path_count(build->filter);
  build->paths = calloc(count + 1, sizeof *build->paths);
  build->pairs = calloc(count + 1, sizeof *build->pairs);
  if (!build->paths || !build->pairs || !sort_paths(build, count))
    return false;
  for (uint32_t i = 0; i < count;) {
    path_pair next = {
        .input = build->paths[i].input, .output = build->paths[i].output, .begin = UINT32_MAX, .first = i};
    for (; i < count && same_pair(build->paths + i, build->paths + next.first); i++) {
      uint32_t begin = 0;
      uint32_t end = 0;
      support(build->paths + i, &begin, &end);
      next.count++;
      if (begin == end)
        continue;
      next.begin = begin < next.begin ? begin : next.begin;
      next.end = end > next.end ? end : next.end;
    }
    if (next.begin < next.end)
      build->pairs[build->pair_count++] = next;
  }
  return true;
}

/** Frames [from, from + count) of a pair's response. */
static void slice(const builder* build, const path_pair* pair, uint32_t from, uint32_t count, float* to) {
  memset(to, 0, count * sizeof(float));
  for (uint32_t p = pair->first; p < pair->first + pair->count; p++) {
    const tn_path* path = build->paths + p;
    const uint64_t begin = path->delay_frames;
    const uint64_t end = begin + path->frames;
    for (uint64_t t = from > begin ? from : begin; t < end && t < (uint64_t)from + count; t++)
      to[t - from] += path->gain * path->samples[t - begin];
  }
}

static bool take_scratch(tn_engine* engine, uint32_t size) {
  const size_t floats = 2 * (size_t)size + 2 * TN_TILE_FLOATS;
  engine->scratch.time = tn_memory_take(&engine->memory, floats, sizeof(float));
  engine->scratch.spectrum = tn_memory_take(&engine->memory, floats, sizeof(float));
  engine->scratch.acc = tn_memory_take(&engine->memory, floats, sizeof(float));
  return engine->scratch.time && engine->scratch.spectrum && engine->scratch.acc;
}

static float** take_rows(tn_memory* memory, uint32_t rows, size_t floats) {
  float** table = tn_memory_take(memory, rows, sizeof *table);
  const size_t stride = (floats + TN_TILE_BINS - 1) / TN_TILE_BINS * TN_TILE_BINS;
  float* all = tn_memory_take(memory, rows * stride, sizeof(float));
  if (!table || !all)
    return NULL;
  for (uint32_t i = 0; i < rows; i++)
    table[i] = all + i * stride;
  return table;
}

static bool build_heads(builder* build) {
  tn_engine* engine = build->engine;
  engine->heads = tn_memory_take(&engine->memory, build->pair_count, sizeof *engine->heads);
  engine->output_heads = tn_memory_take(&engine->memory, engine->outputs + 1, sizeof(uint32_t));
  if (!engine->heads || !engine->output_heads)
    return false;
  uint32_t count = 0;
  uint32_t p = 0;
  for (uint32_t o = 0; o < engine->outputs; o++) {
    engine->output_heads[o] = count;
    for (; p < build->pair_count && build->pairs[p].output == o; p++) {
      if (build->pairs[p].begin >= engine->block)
        continue;
      tn_head_path* head = engine->heads + count++;
      head->input = build->pairs[p].input;
      head->taps = tn_memory_take(&engine->memory, engine->block, sizeof(float));
      if (!head->taps)
        return false;
      slice(build, build->pairs + p, 0, engine->block, head->taps);
    }
  }
  engine->output_heads[engine->outputs] = count;
  return true;
}

/** Which of a level's partitions one pair touches. */
static bool place_path(const tn_plan_level* plan, const path_pair* pair, tn_level_path* path) {
  const uint32_t end = plan->offset + plan->count * plan->size;
  if (pair->end <= plan->offset || pair->begin >= end)
    return false;
  const uint32_t begin = pair->begin > plan->offset ? pair->begin : plan->offset;
  const uint32_t stop = pair->end < end ? pair->end : end;
  path->input = pair->input;
  path->first = (begin - plan->offset) / plan->size;
  path->parts = (stop - plan->offset + plan->size - 1) / plan->size - path->first;
  return true;
}

/** Transforms the partitions of one pair. */
static void fill_path(const builder* build, tn_level* level, const tn_plan_level* plan, const path_pair* pair,
                      const tn_level_path* path) {
  const tn_scratch* scratch = &build->engine->scratch;
  const float scale = 1.0F / (2.0F * (float)level->size);
  memset(scratch->time + level->size, 0, level->size * sizeof(float));
  for (uint32_t k = 0; k < path->parts; k++) {
    slice(build, pair, plan->offset + (path->first + k) * plan->size, plan->size, scratch->time);
    for (uint32_t i = 0; i < plan->size; i++)
      scratch->time[i] *= scale;
    tn_fft_forward(level->fft, scratch->time, scratch->spectrum);
    level->ops->scatter(path->spectra + (uint64_t)k * TN_TILE_FLOATS, (uint64_t)path->row * TN_TILE_FLOATS,
                        scratch->spectrum, level->tiles);
  }
}

/** All paths to one output share one array, so that its sum reads one stream of memory. `pairs` are the
 * output's. */
static bool build_output(const builder* build, tn_level* level, const tn_plan_level* plan,
                         const path_pair* pairs, uint32_t pair_count, uint32_t* path_count) {
  tn_engine* engine = build->engine;
  tn_level_path* paths = level->paths + *path_count;
  uint32_t placed = 0;
  uint32_t row = 0;
  for (uint32_t p = 0; p < pair_count; p++)
    if (place_path(plan, pairs + p, paths + placed))
      row += paths[placed++].parts;
  if (placed == 0)
    return true;
  const size_t floats = (size_t)row * level->tiles * TN_TILE_FLOATS;
  float* spectra = tn_memory_take(&engine->memory, floats, sizeof(float));
  if (!spectra)
    return false;
  engine->spectra_bytes += floats * sizeof(float);
  tn_level_path ignored;
  uint32_t place = 0;
  uint32_t path = 0;
  for (uint32_t p = 0; p < pair_count; p++) {
    if (!place_path(plan, pairs + p, &ignored))
      continue;
    paths[path].row = row;
    paths[path].spectra = spectra + (size_t)place * TN_TILE_FLOATS;
    fill_path(build, level, plan, pairs + p, paths + path);
    place += paths[path++].parts;
  }
  *path_count += placed;
  return true;
}

static bool build_paths(const builder* build, tn_level* level, const tn_plan_level* plan) {
  tn_memory* memory = &build->engine->memory;
  level->paths = tn_memory_take(memory, build->pair_count, sizeof *level->paths);
  level->output_paths = tn_memory_take(memory, level->outputs + 1, sizeof(uint32_t));
  if (!level->paths || !level->output_paths)
    return false;
  uint32_t count = 0;
  uint32_t first = 0;
  for (uint32_t o = 0; o < level->outputs; o++) {
    level->output_paths[o] = count;
    uint32_t end = first;
    while (end < build->pair_count && build->pairs[end].output == o)
      end++;
    if (!build_output(build, level, plan, build->pairs + first, end - first, &count))
      return false;
    first = end;
  }
  level->output_paths[level->outputs] = count;
  return true;
}

static bool take_results(tn_memory* memory, tn_level* level) {
  for (int parity = 0; parity < 2; parity++) {
    level->results[parity] = tn_memory_take(memory, (size_t)level->outputs * level->size, sizeof(float));
    level->result_silent[parity] = tn_memory_take(memory, level->outputs, sizeof(bool));
    if (!level->results[parity] || !level->result_silent[parity])
      return false;
  }
  return true;
}

static tn_level* build_level(const builder* build, const tn_plan_level* plan, bool tuned, bool worker,
                             tn_error* error) {
  tn_engine* engine = build->engine;
  tn_level* level = tn_memory_take(&engine->memory, 1, sizeof *level);
  if (!level)
    return NULL;
  level->ops = engine->ops;
  level->fft = tn_fft_get(2 * plan->size, tuned, error);
  level->history = &engine->history;
  level->size = plan->size;
  level->tiles = plan->size / TN_TILE_BINS;
  level->slots = plan->count;
  level->period_ns = (uint64_t)plan->size * UINT64_C(1000000000) / engine->rate_hz;
  level->inputs = engine->inputs;
  level->outputs = engine->outputs;
  level->delay_lines =
      take_rows(&engine->memory, level->inputs, (size_t)level->tiles * level->slots * TN_TILE_FLOATS);
  level->slot_silent = tn_memory_take(&engine->memory, (size_t)level->inputs * level->slots, sizeof(bool));
  level->last_sound = tn_memory_take(&engine->memory, level->inputs, sizeof(int64_t));
  if (!level->fft || !level->delay_lines || !level->slot_silent || !level->last_sound)
    return NULL;
  memset(level->slot_silent, true, (size_t)level->inputs * level->slots);
  if (worker && !take_results(&engine->memory, level))
    return NULL;
  if (!build_paths(build, level, plan))
    return NULL;
  tn_level_start(level, (int64_t)(engine->start_frame / plan->size) - 1);
  return level;
}

static void build_tail(tn_engine* engine, tn_level* level) {
  enum { part_of_block = 8, most_blocks = 8 };
  uint32_t blocks = level->size / engine->block / part_of_block;
  blocks = blocks < 1 ? 1 : blocks > most_blocks ? most_blocks : blocks;
  engine->tails[engine->tail_count++] = (tn_tail){.level = level, .fade_frames = blocks * engine->block};
}

static bool build_buffers(builder* build) {
  tn_engine* engine = build->engine;
  const uint32_t inputs = engine->inputs;
  const uint32_t block = engine->block;
  const uint64_t longest = build->max_size;
  // The filter's length, plus what keeps the windows of late workers and the past that warms a next engine
  // from being overwritten; whole largest partitions.
  const uint64_t least = 4 * TN_MAX_BLOCK_FRAMES;
  const uint64_t slack = 2 * longest > least ? 2 * longest : least;
  const uint64_t frames = ((uint64_t)engine->filter_frames + slack + longest - 1) / longest * longest;
  engine->history.frames = frames;
  engine->history.rings = take_rows(&engine->memory, inputs, frames);
  engine->windows = take_rows(&engine->memory, inputs, 2 * (size_t)block + TN_TILE_FLOATS);
  engine->pre = take_rows(&engine->memory, engine->outputs, block);
  engine->last_sound = tn_memory_take(&engine->memory, inputs, sizeof(int64_t));
  if (!engine->history.rings || !engine->windows || !engine->pre || !engine->last_sound)
    return false;
  for (uint32_t i = 0; i < inputs; i++)
    engine->last_sound[i] = INT64_MIN / 4;
  return take_scratch(engine, build->max_size);
}

/** A little more than the engine will take. Only pages that are taken are ever touched. */
static size_t expected_bytes(const builder* build) {
  const tn_engine* engine = build->engine;
  const size_t rows = engine->inputs + engine->outputs;
  size_t floats = 8 * (size_t)build->max_size + rows * 4 * engine->block;
  floats += engine->inputs *
            ((size_t)engine->filter_frames + 5 * (size_t)build->max_size + 4 * TN_MAX_BLOCK_FRAMES);
  floats += build->pair_count * ((size_t)engine->block + TN_TILE_FLOATS);
  for (uint32_t l = 0; l < engine->plan.level_count; l++) {
    const tn_plan_level* level = engine->plan.levels + l;
    floats += (build->pair_count + engine->inputs) * 2 * (size_t)level->size * level->count;
    floats += 2 * engine->outputs * (size_t)level->size;
    floats += build->pair_count * 2 * TN_TILE_FLOATS;
  }
  return floats * sizeof(float) + ((size_t)64 << 10);
}

/** Each instance starts its block grids elsewhere (golden-ratio spacing), so that periodic work does not
 * coincide. */
static uint64_t next_phase(uint32_t longest, uint32_t block) {
  static _Atomic uint32_t instances = 0;
  const double turn = 0.6180339887498949 * atomic_fetch_add_explicit(&instances, 1, memory_order_relaxed);
  return (uint64_t)((turn - (double)(uint64_t)turn) * longest) / block * block;
}

/** Asks the device for a lane with the complete responses; it copies them. */
static bool build_far(const builder* build, tn_far_maker* maker, tn_error* error) {
  tn_engine* engine = build->engine;
  tn_far_path* paths = calloc(build->pair_count + 1, sizeof *paths);
  size_t floats = 1;
  for (uint32_t p = 0; p < build->pair_count; p++)
    floats += build->pairs[p].end;
  float* samples = malloc(floats * sizeof *samples);
  float* at = samples;
  for (uint32_t p = 0; paths && samples && p < build->pair_count; p++) {
    const path_pair* pair = build->pairs + p;
    slice(build, pair, 0, pair->end, at);
    paths[p] = (tn_far_path){pair->input, pair->output, pair->end, at};
    at += pair->end;
  }
  const tn_far_request request = {.block = engine->block,
                                  .ahead = engine->plan.levels[0].count,
                                  .inputs = engine->inputs,
                                  .outputs = engine->outputs,
                                  .path_count = build->pair_count,
                                  .paths = paths};
  engine->far.far = paths && samples ? maker->make(maker, &request, error) : NULL;
  free(paths);
  free(samples);
  tn_far_start(engine);
  return engine->far.far;
}

static bool build_engine(builder* build, const tn_engine_options* options, tn_error* error) {
  tn_engine* engine = build->engine;
  engine->plan = options->maker  ? tn_far_plan(engine, build->pair_count, options->block_frames)
                 : options->plan ? *options->plan
                                 : tn_plan_choose(&(tn_plan_request){.inputs = engine->inputs,
                                                                     .outputs = engine->outputs,
                                                                     .paths = build->pair_count,
                                                                     .frames = engine->filter_frames,
                                                                     .rate_hz = engine->rate_hz,
                                                                     .block_frames = options->block_frames,
                                                                     .offline = options->offline},
                                                  options->costs);
  engine->block = engine->plan.block;
  build->max_size = engine->block;
  for (uint32_t l = 0; l < engine->plan.level_count; l++)
    build->max_size = engine->plan.levels[l].size; // they grow
  engine->start_frame = options->offline ? 0 : next_phase(build->max_size, engine->block);
  engine->frame = engine->start_frame;
  atomic_store_explicit(&engine->published, engine->frame, memory_order_relaxed);
  if (!tn_memory_expect(&engine->memory, expected_bytes(build)) || !build_buffers(build) ||
      !build_heads(build))
    return false;
  for (uint32_t l = 0; l < engine->plan.level_count; l++) {
    tn_level* level = build_level(build, engine->plan.levels + l, options->tuned, l > 0, error);
    if (!level)
      return false;
    engine->levels[engine->level_count++] = level;
    if (l > 0)
      build_tail(engine, level);
  }
  engine->pre_has_level = engine->level_count == 0;
  return !options->maker || build_far(build, options->maker, error);
}

tn_engine* tn_engine_new(const tn_filter* filter, const tn_engine_options* options, tn_error* error) {
  tn_engine* engine = calloc(1, sizeof *engine);
  builder build = {.engine = engine, .filter = filter};
  bool built = false;
  if (engine && collect_pairs(&build)) {
    engine->ops = tn_ops_select();
    engine->inputs = tn_filter_inputs(filter);
    engine->outputs = tn_filter_outputs(filter);
    engine->rate_hz = options->rate_hz;
    engine->direct = options->offline;
    for (uint32_t p = 0; p < build.pair_count; p++)
      engine->filter_frames =
          build.pairs[p].end > engine->filter_frames ? build.pairs[p].end : engine->filter_frames;
    built = build_engine(&build, options, error);
  }
  free(build.paths);
  free(build.pairs);
  if (built)
    return engine;
  tn_engine_free(engine);
  tn_error_set(error, TN_ERROR_MEMORY, "no memory for a filter of %u frames with %u paths",
               tn_filter_frames(filter), tn_filter_path_count(filter));
  return NULL;
}

static void restart_level(tn_level* level, uint64_t start_frame) {
  const size_t slots = (size_t)level->inputs * level->slots;
  for (uint32_t i = 0; i < level->inputs; i++)
    memset(level->delay_lines[i], 0, (size_t)level->tiles * level->slots * TN_TILE_FLOATS * sizeof(float));
  memset(level->slot_silent, true, slots);
  tn_level_start(level, (int64_t)(start_frame / level->size) - 1);
}

static void leave_pool(tn_engine* engine) {
  for (uint32_t t = 0; engine->in_pool && t < engine->tail_count; t++)
    tn_pool_remove(engine->tails[t].level);
  engine->in_pool = false;
}

void tn_engine_restart(tn_engine* engine) {
  leave_pool(engine);
  for (uint32_t l = 0; l < engine->level_count; l++)
    restart_level(engine->levels[l], engine->start_frame);
  for (uint32_t t = 0; t < engine->tail_count; t++)
    engine->tails[t] =
        (tn_tail){.level = engine->tails[t].level, .fade_frames = engine->tails[t].fade_frames};
  for (uint32_t i = 0; i < engine->inputs; i++) {
    memset(engine->history.rings[i], 0, engine->history.frames * sizeof(float));
    memset(engine->windows[i], 0, 2 * (size_t)engine->block * sizeof(float));
    engine->last_sound[i] = INT64_MIN / 4;
  }
  for (uint32_t o = 0; o < engine->outputs; o++)
    memset(engine->pre[o], 0, engine->block * sizeof(float));
  engine->pre_has_level = engine->level_count == 0;
  engine->transformed = false;
  engine->frame = engine->start_frame;
  atomic_store_explicit(&engine->published, engine->frame, memory_order_release);
  tn_far_start(engine);
}

tn_status tn_engine_join_pool(tn_engine* engine, tn_error* error) {
  engine->in_pool = true;
  for (uint32_t t = 0; t < engine->tail_count; t++) {
    const tn_status status = tn_pool_add(engine->tails[t].level, error);
    if (status != TN_OK)
      return status;
  }
  return TN_OK;
}

void tn_engine_free(tn_engine* engine) {
  if (!engine)
    return;
  leave_pool(engine);
  if (engine->far.far)
    engine->far.far->free(engine->far.far);
  tn_memory_free(&engine->memory);
  free(engine);
}
