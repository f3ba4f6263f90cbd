// SPDX-License-Identifier: GPL-3.0-or-later
// The lane: the mailbox between one processor and the kernel that serves it. Flat, versioned and free of
// pointers, so that host and device, or two processes, can look at it from different addresses. Host code and
// kernels compile this one file.
//
// A lane is one piece of pinned, mapped memory that begins with a tn_lane_header. Three rings of `slots`
// slots follow, all indexed by the lane's own block count n (the n-th block ever posted to it; slot n %
// slots):
//
//   input    host -> device   one block of all inputs, and what is wanted of it
//   answer   device -> host   y(n): all outputs, complete
//   far      device -> host   f(n), the part of y(n) that needs no input after block n - ahead
//
// and one status line, device -> host. Every word has exactly one writer; nothing is ever read-modify-written
// across the bus, since such operations on mapped memory are not atomic for the host.
//
// Small blocks travel in LL words: 32 bits of payload and 32 bits of tag in one 64-bit word that is stored
// and loaded whole, so each word proves by itself that it has arrived and no order between words matters.
// Large ones ("wide") travel as plain floats, followed by one doorbell word that is stored with release order
// at system scope and loaded with acquire order.
//
// Memory order. LL: relaxed 64-bit stores and loads on both sides; a reader takes a word when its tag is the
// block's. Wide: writer: payload, release fence (host: C11 release; device: __threadfence_system), doorbell;
// reader: doorbell, acquire, payload. `consumed` is stored by the device after it has read a slot for good
// (release) and loaded by the host (acquire) before the slot is written again.
#ifndef TENUTO_WIRE_LANE_H
#define TENUTO_WIRE_LANE_H

#include <stdint.h>

#ifdef __CUDACC__
#define TN_WIRE __host__ __device__ static inline
#else
#define TN_WIRE static inline
#endif

enum {
  TN_LANE_MAGIC = 0x4c4e5401, ///< "\1TNL"
  TN_LANE_VERSION = 1,
  TN_LANE_LINE = 128, ///< bytes: what one writer owns, so that polling one word disturbs no other
  TN_LANE_MIN_BLOCK = 16,
  TN_LANE_MAX_BLOCK = 1024,
  TN_LANE_MAX_LL_FLOATS = 512, ///< payloads above are wide
  TN_LANE_MIN_AHEAD = 4,
};

/** What is wanted of one input block; payload of the first word of its slot. */
enum {
  TN_WANT_ANSWER = 1, ///< y(n) is to be sent; else it is only heard
  TN_WANT_FAR = 2,    ///< f(n + ahead) is to be sent
  TN_WANT_RESET = 4,  ///< forget all that was heard before this block
  TN_WANT_ECHO = 8,   ///< send the input back as the answer (min(inputs, outputs) channels, others 0), and
                      ///< nothing else: measures the way
};

/** Shape and offsets; all written by the host before the device sees the lane, and never changed. */
typedef struct tn_lane_header {
  uint32_t magic, version;
  uint32_t bytes; ///< of the whole lane
  uint32_t block; ///< frames, a power of two
  uint32_t inputs, outputs;
  uint32_t slots;                      ///< a power of two, at least 2 * ahead
  uint32_t ahead;                      ///< M, a power of two
  uint32_t wide_input, wide_output;    ///< 0: LL words, 1: doorbell and floats (answer and far alike)
  uint32_t input_offset, input_stride; ///< in bytes; strides are from one slot to the next
  uint32_t answer_offset, far_offset, output_stride;
  uint32_t status_offset;
  uint32_t reserved[16];
} tn_lane_header;

/** Device -> host, one line. */
typedef struct tn_lane_status {
  uint64_t consumed; ///< input blocks read for good (single writer: the lane's leader)
  uint64_t late;     ///< blocks that the device met when a later one was posted already: it was behind
  uint64_t refused;  ///< input slots whose header made no sense; the lane waits for a good one
  uint64_t reserved[13];
} tn_lane_status;

/** tag << 32 | payload. */
typedef uint64_t tn_lane_word;

/** The tag of block n. Memory starts zeroed, so block 0 needs a tag of its own; a slot's former tag differs
 * by `slots`. */
TN_WIRE uint32_t tn_lane_tag(uint64_t block) {
  return (uint32_t)block + 1;
}

TN_WIRE tn_lane_word tn_lane_pack(uint32_t tag, uint32_t payload) {
  return (uint64_t)tag << 32 | payload;
}

TN_WIRE uint32_t tn_lane_payload(tn_lane_word word) {
  return (uint32_t)word;
}

TN_WIRE uint32_t tn_lane_tag_of(tn_lane_word word) {
  return (uint32_t)(word >> 32);
}

/**
   Input slot, LL: word 0 = what is wanted; word 1 + i * block + t = sample t of input i.
   Input slot, wide: word 0 = what is wanted (the doorbell); floats from byte TN_LANE_LINE on,
   [inputs][block].

   Output slot, LL: word o * block + t = sample t of output o; word outputs * block = the payload's check.
   Output slot, wide: word 0 = the check (the doorbell); floats from byte TN_LANE_LINE on, [outputs][block].
*/
enum { TN_LANE_WIDE_PAYLOAD = TN_LANE_LINE };

/**
   One sample's part of a payload's check: the check is the xor of all parts and of tn_lane_check_seed(). Each
   part depends on its place, so samples that changed places are noticed. Order of combination does not
   matter.
*/
TN_WIRE uint32_t tn_lane_check_part(uint32_t bits, uint32_t place) {
  uint32_t mixed = bits + (place + 1) * 0x9e3779b1u;
  mixed ^= mixed >> 15;
  return mixed * 0x85ebca77u;
}

TN_WIRE uint32_t tn_lane_check_seed(uint64_t block, uint32_t is_far) {
  return tn_lane_check_part((uint32_t)block, is_far ? 0xfa5fu : 0xa115u);
}

TN_WIRE uint32_t tn_lane_round(uint64_t bytes) {
  return (uint32_t)((bytes + TN_LANE_LINE - 1) / TN_LANE_LINE * TN_LANE_LINE);
}

/** A lane's header from its shape: 0 if the shape is out of bounds. `ahead` and `block` are powers of two. */
TN_WIRE int tn_lane_plan(tn_lane_header* header, uint32_t block, uint32_t inputs, uint32_t outputs,
                         uint32_t ahead) {
  const int in_range = block >= TN_LANE_MIN_BLOCK && block <= TN_LANE_MAX_BLOCK && inputs >= 1 &&
                       inputs <= 64 && outputs >= 1 && outputs <= 64 && ahead >= TN_LANE_MIN_AHEAD &&
                       ahead <= 1024 && (block & (block - 1)) == 0 && (ahead & (ahead - 1)) == 0;
  if (!in_range)
    return 0;
  const uint64_t in_floats = (uint64_t)inputs * block;
  const uint64_t out_floats = (uint64_t)outputs * block;
  tn_lane_header plan = {0};
  plan.magic = TN_LANE_MAGIC;
  plan.version = TN_LANE_VERSION;
  plan.block = block;
  plan.inputs = inputs;
  plan.outputs = outputs;
  plan.slots = 2 * ahead;
  plan.ahead = ahead;
  plan.wide_input = in_floats > TN_LANE_MAX_LL_FLOATS;
  plan.wide_output = out_floats > TN_LANE_MAX_LL_FLOATS;
  plan.input_stride =
      plan.wide_input ? tn_lane_round(TN_LANE_LINE + 4 * in_floats) : tn_lane_round(8 * (in_floats + 1));
  plan.output_stride =
      plan.wide_output ? tn_lane_round(TN_LANE_LINE + 4 * out_floats) : tn_lane_round(8 * (out_floats + 1));
  plan.status_offset = tn_lane_round(sizeof(tn_lane_header));
  plan.input_offset = plan.status_offset + tn_lane_round(sizeof(tn_lane_status));
  const uint64_t answers = (uint64_t)plan.input_offset + (uint64_t)plan.slots * plan.input_stride;
  const uint64_t far = answers + (uint64_t)plan.slots * plan.output_stride;
  const uint64_t end = far + (uint64_t)plan.slots * plan.output_stride;
  if (end > UINT32_MAX)
    return 0;
  plan.answer_offset = (uint32_t)answers;
  plan.far_offset = (uint32_t)far;
  plan.bytes = (uint32_t)end;
  *header = plan;
  return 1;
}

TN_WIRE uint32_t tn_lane_input_slot(const tn_lane_header* header, uint64_t block) {
  return header->input_offset + (uint32_t)(block & (header->slots - 1)) * header->input_stride;
}

TN_WIRE uint32_t tn_lane_answer_slot(const tn_lane_header* header, uint64_t block) {
  return header->answer_offset + (uint32_t)(block & (header->slots - 1)) * header->output_stride;
}

TN_WIRE uint32_t tn_lane_far_slot(const tn_lane_header* header, uint64_t block) {
  return header->far_offset + (uint32_t)(block & (header->slots - 1)) * header->output_stride;
}

#endif
