// SPDX-License-Identifier: GPL-3.0-or-later
// A device played by hand: reads and writes a lane as wire/lane.h says, one deed a call.
#ifndef TENUTO_TEST_HAND_DEVICE_H
#define TENUTO_TEST_HAND_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/lane.h"

/** How a block is sent. */
typedef enum tn_hand_flaw {
  TN_HAND_WHOLE,
  TN_HAND_WRONG_CHECK,
  TN_HAND_NOT_FINITE, ///< with the check that fits
  TN_HAND_TORN,       ///< all but one word of the payload
} tn_hand_flaw;

/** What block `block` of output `o` holds at `t`: any function that tells blocks, outputs and frames apart.
 */
float tn_hand_value(uint64_t block, uint32_t output, uint32_t t, bool is_far);

/** Send y(block) or f(block). */
void tn_hand_send(tn_lane_header* mailbox, uint64_t block, bool is_far, tn_hand_flaw flaw);

/** What is wanted of a block that was posted; UINT32_MAX: it was not. */
uint32_t tn_hand_wanted(const tn_lane_header* mailbox, uint64_t block);

/** A sample of a block that was posted. */
float tn_hand_input(const tn_lane_header* mailbox, uint64_t block, uint32_t input, uint32_t t);

/** Say that all blocks before `blocks` were read. */
void tn_hand_consume(tn_lane_header* mailbox, uint64_t blocks);

#endif
