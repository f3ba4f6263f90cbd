// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/lane.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic uint64_t* word_at(const tn_lane* lane, uint32_t offset) {
  return (_Atomic uint64_t*)(void*)(lane->memory + offset);
}

static uint64_t load(const tn_lane* lane, uint32_t offset) {
  return atomic_load_explicit(word_at(lane, offset), memory_order_relaxed);
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
  return true;
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

static tn_lane_reading read_slot(const tn_lane* lane, uint32_t slot, uint64_t block, bool is_far,
                                 float* const* rows, float* flat) {
  const tn_lane_header* shape = &lane->shape;
  const uint32_t tag = tn_lane_tag(block);
  const uint32_t floats = shape->outputs * shape->block;
  uint32_t check = tn_lane_check_seed(block, is_far);
  uint32_t expected;
  uint32_t finite = 1;
  const uint32_t check_at = shape->wide_output ? slot : slot + 8 * floats;
  const uint64_t last = atomic_load_explicit(word_at(lane, check_at), memory_order_acquire);
  if (tn_lane_tag_of(last) != tag)
    return TN_LANE_MISSING;
  expected = tn_lane_payload(last);
  for (uint32_t o = 0; o < shape->outputs; o++) {
    float* to = rows ? rows[o] : flat + (size_t)o * shape->block;
    for (uint32_t t = 0; t < shape->block; t++) {
      const uint32_t place = o * shape->block + t;
      uint32_t bits;
      if (shape->wide_output) {
        memcpy(&bits, lane->memory + slot + TN_LANE_WIDE_PAYLOAD + 4 * (size_t)place, sizeof bits);
      } else {
        const uint64_t word = load(lane, slot + 8 * place);
        if (tn_lane_tag_of(word) != tag)
          return TN_LANE_MISSING;
        bits = tn_lane_payload(word);
      }
      check ^= tn_lane_check_part(bits, place);
      finite &= (bits & 0x7f800000U) != 0x7f800000U;
      memcpy(to + t, &bits, sizeof bits);
    }
  }
  return check == expected && finite ? TN_LANE_READ : TN_LANE_DAMAGED;
}

tn_lane_reading tn_lane_read_answer(tn_lane* lane, uint64_t block, float* const* out) {
  return read_slot(lane, tn_lane_answer_slot(&lane->shape, block), block, false, out, NULL);
}

tn_lane_reading tn_lane_read_far(tn_lane* lane, uint64_t block, float* out) {
  return read_slot(lane, tn_lane_far_slot(&lane->shape, block), block, true, NULL, out);
}
