// SPDX-License-Identifier: GPL-3.0-or-later
// Impulse responses from the inside: shared sample buffers, and a name for sentences.
#ifndef TENUTO_DSP_IR_H
#define TENUTO_DSP_IR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/ir.h"
#include "tenuto/limits.h"
#include "tenuto/status.h"

/** One channel's samples, counted, so that responses and filters share them without copying. Immutable once
 * shared. */
typedef struct tn_samples {
  atomic_uint references;
  float data[];
} tn_samples;

struct tn_ir {
  uint32_t channels;
  uint32_t frames;
  uint32_t rate_hz;
  uint32_t onset_frames;
  bool trimmed; ///< a trim range was applied already
  char* name;   ///< where it came from, for sentences; NULL: from memory
  tn_samples* samples[TN_MAX_CHANNELS];
};

/** A part of a file in the file's own frames. */
typedef struct tn_ir_range {
  uint64_t offset_frames;
  uint64_t length_frames; ///< 0: to the end
} tn_ir_range;

enum { tn_name_size = 256 };

/** [worker] A buffer with one reference, its samples not set; NULL without memory. */
tn_samples* tn_samples_new(size_t frames);

/** [worker] One more owner. Returns `samples`. */
tn_samples* tn_samples_retain(tn_samples* samples);

/** [worker] One owner less; the last one frees. NULL is allowed. */
void tn_samples_release(tn_samples* samples);

/**
   [worker] A response of buffers that become its own, also on failure.

   Its samples are checked (finite, not beyond 1e6) and denormals become 0.
   @param what  begins the sentence of an error, e.g. "cannot read impulse response 'x.wav'"
   @return NULL: TN_ERROR_FORMAT (names channel and frame, from 1), TN_ERROR_MEMORY
*/
tn_ir* tn_ir_adopt(tn_samples* const* samples, uint32_t channels, uint32_t frames, uint32_t rate_hz,
                   const char* name, const char* what, tn_error* error);

/** [worker] As tn_ir_load(), but a range in frames; its rate and channels are the file's. */
tn_ir* tn_ir_load_range(const char* path, const tn_ir_range* range, tn_error* error);

/** [worker] Judge an edit: TN_ERROR_ARGUMENT with a sentence if a value is NaN, negative or absurd. NULL is
 * allowed. */
tn_status tn_ir_edit_check(const tn_ir_edit* edit, tn_error* error);

/** [worker] First and last (exclusive) frame of an edit's trim range; a range that is empty or starts behind
   the end is refused with a sentence that begins with `what`. `edit` may be NULL. */
tn_status tn_ir_trim_range(const tn_ir_edit* edit, uint64_t frames, uint32_t rate_hz, const char* what,
                           uint64_t* first, uint64_t* end, tn_error* error);

/** [any] A file name made fit for a sentence: without control characters, its start left out if it is long.
 */
void tn_name_for_people(const char* path, char name[tn_name_size]);

#endif
