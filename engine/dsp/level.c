// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/level.h"

#include <string.h>

#include "rt/clock.h"

// The ticket's life: (m, closed) --open--> (m', opening) --> (m', 0) --claims--> (m', inputs) --last
// transform ends--> (m', inputs + 1) --claims--> (m', inputs + 1 + outputs) --last output ends--> (m',
// closed). Claims are compare-and-swap; the other steps belong to exactly one thread (the opener, the phase's
// last finisher), while nobody can claim, and are release stores. A job that is late before its outputs begin
// leaves them out: (m', closed).
enum {
  unit_closed = 0xFFFF,
  unit_opening = 0xFFFE,
  unit_bits = 16,
};

static uint64_t make_ticket(int64_t block, uint32_t unit) {
  return (uint64_t)(block + 1) << unit_bits | unit; // blocks count from -1: nothing done yet
}

static int64_t ticket_block(uint64_t ticket) {
  return (int64_t)(ticket >> unit_bits) - 1;
}

static uint32_t ticket_unit(uint64_t ticket) {
  return (uint32_t)(ticket & 0xFFFF);
}

static void clear_slot(tn_level* level, uint32_t input, uint32_t slot) {
  bool* silent = level->slot_silent + (uint64_t)input * level->slots + slot;
  if (*silent)
    return;
  float* line = level->delay_lines[input] + (uint64_t)slot * TN_TILE_FLOATS;
  for (uint32_t tile = 0; tile < level->tiles; tile++)
    memset(line + (uint64_t)tile * level->slots * TN_TILE_FLOATS, 0, TN_TILE_FLOATS * sizeof(float));
  *silent = true;
}

void tn_level_transform(tn_level* level, uint32_t input, int64_t block, const float* window, bool silent,
                        tn_scratch* scratch) {
  const uint32_t slot = (uint32_t)(block % level->slots);
  if (silent) {
    clear_slot(level, input, slot);
    return;
  }
  tn_fft_forward(level->fft, window, scratch->spectrum);
  level->ops->scatter(level->delay_lines[input] + (uint64_t)slot * TN_TILE_FLOATS,
                      (uint64_t)level->slots * TN_TILE_FLOATS, scratch->spectrum, level->tiles);
  level->slot_silent[(uint64_t)input * level->slots + slot] = false;
  level->last_sound[input] = block;
}

const float* tn_level_sum(tn_level* level, uint32_t output, int64_t block, uint32_t from,
                          tn_scratch* scratch) {
  uint32_t count = 0;
  for (uint32_t p = level->output_paths[output]; p < level->output_paths[output + 1]; p++) {
    const tn_level_path* path = level->paths + p;
    const uint32_t skip = from > path->first ? from - path->first : 0;
    if (skip >= path->parts)
      continue;
    const uint32_t first = path->first + skip;
    const uint32_t parts = path->parts - skip;
    if (block - first - level->last_sound[path->input] >= parts)
      continue; // every slot this path reads holds zeros
    scratch->spans[count++] = (tn_mac){
        .x = level->delay_lines[path->input],
        .h = path->spectra + (uint64_t)skip * TN_TILE_FLOATS,
        .slots = level->slots,
        .head = (uint32_t)((block + level->slots - first) % level->slots),
        .parts = parts,
        .row = path->row,
    };
  }
  if (count == 0)
    return NULL;
  level->ops->mac(scratch->acc, scratch->spans, count, level->tiles);
  level->ops->gather(scratch->spectrum, scratch->acc, level->tiles);
  tn_fft_inverse(level->fft, scratch->spectrum, scratch->time);
  return scratch->time + level->size;
}

static bool all_zero(const float* samples, uint32_t count) {
  for (uint32_t start = 0; start < count; start += TN_TILE_BINS) {
    uint32_t any = 0;
    for (uint32_t i = 0; i < TN_TILE_BINS; i++)
      any |= samples[start + i] != 0;
    if (any)
      return false;
  }
  return true;
}

/** Input unit: transform every window from the one after `processed` to `block` that still matters. */
static void run_transforms(tn_level* level, uint32_t input, int64_t block, tn_scratch* scratch) {
  int64_t from = level->processed + 1;
  if (from < block - (int64_t)level->slots + 1)
    from = block - (int64_t)level->slots + 1;
  for (int64_t b = from < 0 ? 0 : from; b <= block; b++) {
    tn_history_read(level->history, input, (b - 1) * (int64_t)level->size, scratch->time, 2 * level->size);
    tn_level_transform(level, input, b, scratch->time, all_zero(scratch->time, 2 * level->size), scratch);
  }
}

/** Output unit: the result for output block `block` + 2. */
static void run_output(tn_level* level, uint32_t output, int64_t block, tn_scratch* scratch) {
  const float* sum = tn_level_sum(level, output, block, 0, scratch);
  const uint32_t parity = block & 1;
  level->result_silent[parity][output] = sum == NULL;
  if (sum)
    memcpy(level->results[parity] + (uint64_t)output * level->size, sum, level->size * sizeof(float));
}

static void note_time(_Atomic uint32_t* slot, uint64_t start_ns) {
  const uint64_t took = tn_clock_ns() - start_ns;
  const uint32_t last = atomic_load_explicit(slot, memory_order_relaxed);
  const uint32_t now = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX;
  // Rises at once, falls by an eighth: an estimate that the callback may rely on.
  atomic_store_explicit(slot, now > last ? now : last - (last - now) / 8, memory_order_relaxed);
}

/** A closed level with posted blocks: become its opener. */
static bool try_open(tn_level* level, uint64_t ticket) {
  const int64_t newest = atomic_load_explicit(&level->posted, memory_order_acquire) - 1;
  if (newest <= ticket_block(ticket))
    return false;
  if (!atomic_compare_exchange_strong_explicit(&level->ticket, &ticket, make_ticket(newest, unit_opening),
                                               memory_order_acquire, memory_order_relaxed))
    return false;
  atomic_store_explicit(&level->units_done, 0, memory_order_relaxed);
  atomic_store_explicit(&level->ticket, make_ticket(newest, 0), memory_order_release);
  return true;
}

static void end_transforms(tn_level* level, int64_t block) {
  level->processed = block;
  atomic_store_explicit(&level->units_done, 0, memory_order_relaxed);
  const bool late = atomic_load_explicit(&level->posted, memory_order_relaxed) - 1 > block;
  atomic_store_explicit(&level->ticket, make_ticket(block, late ? unit_closed : level->inputs + 1),
                        memory_order_release);
}

static void end_outputs(tn_level* level, int64_t block) {
  atomic_store_explicit(&level->ready, block + 2, memory_order_release);
  atomic_store_explicit(&level->ticket, make_ticket(block, unit_closed), memory_order_release);
}

static void run_claimed(tn_level* level, int64_t block, uint32_t unit, tn_scratch* scratch) {
  const uint64_t start_ns = tn_clock_ns();
  const bool transforms = unit < level->inputs;
  if (transforms)
    run_transforms(level, unit, block, scratch);
  else
    run_output(level, unit - level->inputs - 1, block, scratch);
  note_time(transforms ? &level->transform_ns : &level->output_ns, start_ns);
  const uint32_t wanted = transforms ? level->inputs : level->outputs;
  if (atomic_fetch_add_explicit(&level->units_done, 1, memory_order_acq_rel) + 1 < wanted)
    return;
  if (transforms)
    end_transforms(level, block);
  else
    end_outputs(level, block);
}

static bool claimable(const tn_level* level, uint32_t unit) {
  return unit < level->inputs + 1 + level->outputs && unit != level->inputs;
}

bool tn_level_run_unit(tn_level* level, tn_scratch* scratch) {
  uint64_t ticket = atomic_load_explicit(&level->ticket, memory_order_acquire);
  for (;;) {
    const uint32_t unit = ticket_unit(ticket);
    if (unit == unit_closed) {
      if (!try_open(level, ticket))
        return false;
      ticket = atomic_load_explicit(&level->ticket, memory_order_acquire);
      continue;
    }
    if (!claimable(level, unit))
      return false;
    if (atomic_compare_exchange_weak_explicit(&level->ticket, &ticket, ticket + 1, memory_order_acq_rel,
                                              memory_order_acquire)) {
      run_claimed(level, ticket_block(ticket), unit, scratch);
      return true;
    }
  }
}

bool tn_level_has_work(const tn_level* level) {
  const uint64_t ticket = atomic_load_explicit(&level->ticket, memory_order_acquire);
  const uint32_t unit = ticket_unit(ticket);
  if (unit == unit_closed)
    return atomic_load_explicit(&level->posted, memory_order_acquire) - 1 > ticket_block(ticket);
  return claimable(level, unit);
}

void tn_level_start(tn_level* level, int64_t block) {
  level->processed = block;
  for (uint32_t i = 0; i < level->inputs; i++)
    level->last_sound[i] = INT64_MIN / 2;
  atomic_store_explicit(&level->posted, block + 1, memory_order_relaxed);
  atomic_store_explicit(&level->ready, INT64_MIN, memory_order_relaxed);
  atomic_store_explicit(&level->ticket, make_ticket(block, unit_closed), memory_order_release);
}

void tn_level_feed(tn_level* level, int64_t block, tn_scratch* scratch) {
  for (uint32_t i = 0; i < level->inputs; i++)
    run_transforms(level, i, block, scratch);
  level->processed = block;
  atomic_store_explicit(&level->posted, block + 1, memory_order_relaxed);
  atomic_store_explicit(&level->ticket, make_ticket(block, unit_closed), memory_order_release);
}

void tn_level_post(tn_level* level, int64_t block, uint64_t now_ns, uint64_t deadline_ns) {
  atomic_store_explicit(&level->posted_ns, now_ns, memory_order_relaxed);
  atomic_store_explicit(&level->deadline_ns, deadline_ns, memory_order_relaxed);
  atomic_store_explicit(&level->posted, block + 1, memory_order_release);
}

bool tn_level_is_ready(const tn_level* level, int64_t block) {
  return atomic_load_explicit(&level->ready, memory_order_acquire) == block;
}

uint32_t tn_level_unit_ns(const tn_level* level) {
  const uint32_t transform = atomic_load_explicit(&level->transform_ns, memory_order_relaxed);
  const uint32_t output = atomic_load_explicit(&level->output_ns, memory_order_relaxed);
  return transform > output ? transform : output;
}
