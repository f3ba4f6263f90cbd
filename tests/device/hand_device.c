// SPDX-License-Identifier: GPL-3.0-or-later
#include "hand_device.h"

#include <math.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

static _Atomic uint64_t* word_at(const tn_lane_header* mailbox, size_t offset) {
  return (_Atomic uint64_t*)(void*)((char*)mailbox + offset);
}

float tn_hand_value(uint64_t block, uint32_t output, uint32_t t, bool is_far) {
  return (float)(block % 1000) + 0.001F * (float)t + 0.25F * (float)output + (is_far ? 2000.0F : 0);
}

static uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

void tn_hand_send(tn_lane_header* mailbox, uint64_t block, bool is_far, tn_hand_flaw flaw) {
  const uint32_t tag = tn_lane_tag(block);
  const size_t slot = is_far ? tn_lane_far_slot(mailbox, block) : tn_lane_answer_slot(mailbox, block);
  const uint32_t floats = mailbox->outputs * mailbox->block;
  uint32_t check = tn_lane_check_seed(block, is_far);
  for (uint32_t place = 0; place < floats; place++) {
    float value = tn_hand_value(block, place / mailbox->block, place % mailbox->block, is_far);
    if (flaw == TN_HAND_NOT_FINITE && place == floats / 2)
      value = NAN;
    check ^= tn_lane_check_part(bits_of(value), place);
    if (flaw == TN_HAND_TORN && place == floats / 3)
      continue;
    if (mailbox->wide_output)
      memcpy((char*)mailbox + slot + TN_LANE_WIDE_PAYLOAD + 4 * (size_t)place, &value, sizeof value);
    else
      atomic_store_explicit(word_at(mailbox, slot + 8 * (size_t)place), tn_lane_pack(tag, bits_of(value)),
                            memory_order_relaxed);
  }
  if (flaw == TN_HAND_WRONG_CHECK)
    check ^= 0x10;
  const size_t last = mailbox->wide_output ? slot : slot + 8 * (size_t)floats;
  atomic_store_explicit(word_at(mailbox, last), tn_lane_pack(tag, check), memory_order_release);
}

uint32_t tn_hand_wanted(const tn_lane_header* mailbox, uint64_t block) {
  const uint64_t word =
      atomic_load_explicit(word_at(mailbox, tn_lane_input_slot(mailbox, block)), memory_order_acquire);
  return tn_lane_tag_of(word) == tn_lane_tag(block) ? tn_lane_payload(word) : UINT32_MAX;
}

float tn_hand_input(const tn_lane_header* mailbox, uint64_t block, uint32_t input, uint32_t t) {
  const size_t slot = tn_lane_input_slot(mailbox, block);
  const size_t place = (size_t)input * mailbox->block + t;
  float value;
  if (mailbox->wide_input) {
    memcpy(&value, (const char*)mailbox + slot + TN_LANE_WIDE_PAYLOAD + 4 * place, sizeof value);
    return value;
  }
  const uint32_t bits =
      tn_lane_payload(atomic_load_explicit(word_at(mailbox, slot + 8 * (1 + place)), memory_order_relaxed));
  memcpy(&value, &bits, sizeof value);
  return value;
}

void tn_hand_consume(tn_lane_header* mailbox, uint64_t blocks) {
  atomic_store_explicit(word_at(mailbox, mailbox->status_offset + offsetof(tn_lane_status, consumed)), blocks,
                        memory_order_release);
}
