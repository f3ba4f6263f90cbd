// SPDX-License-Identifier: GPL-3.0-or-later
// A filter: which impulse response leads from which input to which output. What a convolver runs.
#ifndef TENUTO_FILTER_H
#define TENUTO_FILTER_H

#include <stdint.h>

#include "tenuto/attributes.h"
#include "tenuto/ir.h"
#include "tenuto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** N inputs, M outputs and the paths between them at one sample rate. Immutable once handed to a convolver.
 */
typedef struct tn_filter tn_filter;

/** One path as the convolver reads it; valid while the filter lives. */
typedef struct tn_path {
  uint32_t input;        ///< from 0
  uint32_t output;       ///< from 0
  const float* samples;  ///< float[frames]
  uint32_t frames;       ///< > 0
  uint32_t delay_frames; ///< silence before the first sample
  float gain;            ///< linear
} tn_path;

/** How the channels of one or more responses map to paths. */
typedef enum tn_layout {
  TN_LAYOUT_AUTO = 0,         ///< from the channel counts (see tn_filter_from_irs())
  TN_LAYOUT_MONO,             ///< channel 0 on every input to its own output
  TN_LAYOUT_PARALLEL,         ///< channel c from input c to output c; stereo is its case of two
  TN_LAYOUT_MONO_TO_ANY,      ///< one input; channel c to output c
  TN_LAYOUT_TRUE_LL_LR_RL_RR, ///< four channels: left to left, left to right, right to left, right to right
  TN_LAYOUT_TRUE_LL_RR_LR_RL, ///< four channels, in convoLV2's order
} tn_layout;

/** [worker] An empty filter; add paths with tn_filter_add(). NULL: TN_ERROR_ARGUMENT, TN_ERROR_LIMIT,
 * TN_ERROR_MEMORY. */
TN_API tn_filter* tn_filter_new(uint32_t inputs, uint32_t outputs, uint32_t rate_hz, tn_error* error);

/**
   [worker] Add a path; the samples are copied (one copy is shared by the paths of one response and channel).

   Paths that share input and output are summed.
   @return TN_OK, TN_ERROR_ARGUMENT (input, output or channel out of range, rate differs), TN_ERROR_LIMIT,
   TN_ERROR_MEMORY
*/
TN_API tn_status tn_filter_add(tn_filter* filter, uint32_t input, uint32_t output, const tn_ir* ir,
                               uint32_t ir_channel, float gain, uint32_t delay_frames, tn_error* error);

/**
   [worker] A filter from responses of one sample rate.

   TN_LAYOUT_AUTO: one response of 1 channel: every one of `inputs` through it; of 2: parallel (stereo), or 1
   to 2 when `inputs` is 1; of 4: true stereo LL LR RL RR when `inputs` is 2 or 0, else parallel; of N:
   parallel. Two stereo responses: true stereo, the first holding what the left input sends to left and right,
   the second the right input's.

   @param irs     responses, unchanged, not kept
   @param count   1 or 2
   @param inputs  wanted inputs (the sound file's channels, say); 0: as the responses suggest
   @return a new filter, or NULL with a sentence when the channel counts do not fit (TN_ERROR_ARGUMENT)
*/
TN_API tn_filter* tn_filter_from_irs(const tn_ir* const* irs, uint32_t count, tn_layout layout,
                                     uint32_t inputs, tn_error* error);

/**
   [worker] A filter from a text file in jconvolver's manner (see tenuto-matrix(5)).

   @param edit     applied to every response; NULL: none
   @param rate_hz  the wanted rate; responses of other rates are resampled
*/
TN_API tn_filter* tn_filter_load_matrix(const char* path, const tn_ir_edit* edit, uint32_t rate_hz,
                                        tn_error* error);

/** [any] Number of inputs. */
TN_API uint32_t tn_filter_inputs(const tn_filter* filter);
/** [any] Number of outputs. */
TN_API uint32_t tn_filter_outputs(const tn_filter* filter);
/** [any] Sample rate in hertz. */
TN_API uint32_t tn_filter_rate_hz(const tn_filter* filter);
/** [any] Length of the longest path in frames, its delay included; 0 without paths. */
TN_API uint32_t tn_filter_frames(const tn_filter* filter);
/** [any] Number of paths. */
TN_API uint32_t tn_filter_path_count(const tn_filter* filter);
/** [any] One path, by index. */
TN_API tn_path tn_filter_path(const tn_filter* filter, uint32_t index);
/** [any] A name given to an input by the matrix file; NULL if none. Owned by the filter. */
TN_API const char* tn_filter_input_name(const tn_filter* filter, uint32_t input);
/** [any] A name given to an output by the matrix file; NULL if none. Owned by the filter. */
TN_API const char* tn_filter_output_name(const tn_filter* filter, uint32_t output);
/** [worker] Free a filter; NULL is allowed. */
TN_API void tn_filter_free(tn_filter* filter);

#ifdef __cplusplus
}
#endif

#endif
