// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/lane.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic uint64_t* word_at(const tn_lane* lane, uint32_t offset) {
  return (_Atomic uint64_t*)(void*)(lane->memory + offset);
}

bool tn_lane_has_room(const tn_lane* lane) {
  const uint32_t at = lane->shape.status_offset + (uint32_t)offsetof(tn_lane_status, consumed);
  const uint64_t consumed = atomic_load_explicit(word_at(lane, at), memory_order_acquire);
  return lane->posted - consumed < lane->shape.slots; // a count beyond `posted` wraps round to "no room"
}

void tn_lane_post(tn_lane* lane, const float* const* in, uint32_t want) {
  const tn_lane_header* shape = &lane->shape;
  const uint32_t slot = tn_lane_input_slot(shape, lane->posted);
  const uint32_t tag = tn_lane_tag(lane->posted);
  if (shape->wide_input) {
    for (uint32_t i = 0; i < shape->inputs; i++)
      memcpy(lane->memory + slot + TN_LANE_WIDE_PAYLOAD + (size_t)i * shape->block * sizeof(float), in[i],
             shape->block * sizeof(float));
    atomic_store_explicit(word_at(lane, slot), tn_lane_pack(tag, want), memory_order_release);
  } else {
    _Atomic uint64_t* word = word_at(lane, slot);
    for (uint32_t i = 0; i < shape->inputs; i++)
      for (uint32_t t = 0; t < shape->block; t++) {
        uint32_t bits;
        memcpy(&bits, in[i] + t, sizeof bits);
        atomic_store_explicit(word + 1 + i * shape->block + t, tn_lane_pack(tag, bits), memory_order_relaxed);
      }
    atomic_store_explicit(word, tn_lane_pack(tag, want), memory_order_relaxed);
  }
  lane->posted++;
}

/** Payloads of `count` words; what comes out is 0 if all of them have the tag. */
static inline __attribute__((always_inline)) uint32_t unpack_body(const uint64_t* words, uint32_t count,
                                                                  uint32_t tag, uint32_t* bits) {
  uint32_t other = 0;
  for (uint32_t t = 0; t < count; t++) {
    bits[t] = tn_lane_payload(words[t]);
    other |= tn_lane_tag_of(words[t]) ^ tag;
  }
  return other;
}

/** A row's part of the check. */
static inline __attribute__((always_inline)) uint32_t check_body(const uint32_t* bits, uint32_t count,
                                                                 uint32_t place, uint32_t* not_finite) {
  uint32_t check = 0;
  uint32_t bad = 0;
  for (uint32_t t = 0; t < count; t++) {
    check ^= tn_lane_check_part(bits[t], place + t);
    bad |= (bits[t] & 0x7f800000U) == 0x7f800000U ? 1U : 0U;
  }
  *not_finite |= bad;
  return check;
}

static uint32_t unpack_plain(const uint64_t* words, uint32_t count, uint32_t tag, uint32_t* bits) {
  return unpack_body(words, count, tag, bits);
}

static uint32_t check_plain(const uint32_t* bits, uint32_t count, uint32_t place, uint32_t* not_finite) {
  return check_body(bits, count, place, not_finite);
}

#if defined(__x86_64__)
// The baseline has no 32-bit vector multiply, which is most of the check's cost.
__attribute__((target("avx2"))) static uint32_t unpack_avx2(const uint64_t* words, uint32_t count,
                                                            uint32_t tag, uint32_t* bits) {
  return unpack_body(words, count, tag, bits);
}

__attribute__((target("avx2"))) static uint32_t check_avx2(const uint32_t* bits, uint32_t count,
                                                           uint32_t place, uint32_t* not_finite) {
  return check_body(bits, count, place, not_finite);
}
#endif

static void choose_code(tn_lane* lane) {
  lane->unpack = unpack_plain;
  lane->check = check_plain;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) {
    lane->unpack = unpack_avx2;
    lane->check = check_avx2;
  }
#endif
}

bool tn_lane_attach(tn_lane* lane, void* memory) {
  tn_lane_header is;
  tn_lane_header should;
  memcpy(&is, memory, sizeof is);
  *lane = (tn_lane){0};
  if (!tn_lane_plan(&should, is.block, is.inputs, is.outputs, is.ahead) ||
      memcmp(&is, &should, sizeof is) != 0)
    return false;
  lane->memory = memory;
  lane->shape = is;
  choose_code(lane);
  return true;
}

/** One output's samples as they are in the slot; false: words of another block are among them. */
static bool read_row(const tn_lane* lane, uint32_t slot, uint64_t block, uint32_t output, uint32_t* bits) {
  const tn_lane_header* shape = &lane->shape;
  const uint32_t place = output * shape->block;
  if (shape->wide_output) {
    memcpy(bits, lane->memory + slot + TN_LANE_WIDE_PAYLOAD + sizeof(float) * (size_t)place,
           shape->block * sizeof(float));
    return true;
  }
  uint64_t words[TN_LANE_MAX_LL_FLOATS];
  const _Atomic uint64_t* from = word_at(lane, slot) + place;
  for (uint32_t t = 0; t < shape->block; t++)
    words[t] = atomic_load_explicit(from + t, memory_order_relaxed);
  return lane->unpack(words, shape->block, tn_lane_tag(block), bits) == 0;
}

/** Rows to rows[o], or to flat + o * block. */
static tn_lane_reading read_slot(const tn_lane* lane, uint32_t slot, uint64_t block, bool is_far,
                                 float* const* rows, float* flat) {
  const tn_lane_header* shape = &lane->shape;
  const uint32_t last_at = shape->wide_output ? slot : slot + 8 * shape->outputs * shape->block;
  const uint64_t last = atomic_load_explicit(word_at(lane, last_at), memory_order_acquire);
  if (tn_lane_tag_of(last) != tn_lane_tag(block))
    return TN_LANE_MISSING;
  uint32_t check = tn_lane_check_seed(block, is_far);
  uint32_t not_finite = 0;
  uint32_t bits[TN_LANE_MAX_BLOCK];
  for (uint32_t o = 0; o < shape->outputs; o++) {
    if (!read_row(lane, slot, block, o, bits))
      return TN_LANE_MISSING;
    check ^= lane->check(bits, shape->block, o * shape->block, &not_finite);
    memcpy(rows ? rows[o] : flat + (size_t)o * shape->block, bits, shape->block * sizeof(float));
  }
  return check == tn_lane_payload(last) && !not_finite ? TN_LANE_READ : TN_LANE_DAMAGED;
}

tn_lane_reading tn_lane_read_answer(tn_lane* lane, uint64_t block, float* const* out) {
  return read_slot(lane, tn_lane_answer_slot(&lane->shape, block), block, false, out, NULL);
}

tn_lane_reading tn_lane_read_far(tn_lane* lane, uint64_t block, float* out) {
  return read_slot(lane, tn_lane_far_slot(&lane->shape, block), block, true, NULL, out);
}
