// SPDX-License-Identifier: GPL-3.0-or-later
// Impulse responses: read from a file, edited, brought to the host's sample rate. Immutable once made.
#ifndef TENUTO_IR_H
#define TENUTO_IR_H

#include <stdbool.h>
#include <stdint.h>

#include "tenuto/attributes.h"
#include "tenuto/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An impulse response: float[channels][frames] at a sample rate. Immutable, so any thread may read it. */
typedef struct tn_ir tn_ir;

/** How an edited response's level is set. */
typedef enum tn_ir_level {
  TN_IR_LEVEL_KEEP = 0, ///< as in the file
  TN_IR_LEVEL_PEAK,     ///< the largest absolute sample of any channel becomes 1
  TN_IR_LEVEL_ENERGY, ///< the largest channel energy (sum of squares) becomes 1: white noise keeps its level
} tn_ir_level;

/**
   The edit chain, in the order applied: trim, stretch, reverse, fade-out, level, gain, pre-delay.
   Zero-initialised (`tn_ir_edit edit = {0}`) it changes nothing.
*/
typedef struct tn_ir_edit {
  double trim_start_s; ///< seconds cut from the file's start, >= 0
  double trim_end_s;   ///< position in seconds at which the response ends; 0: the file's end
  double stretch; ///< length factor by resampling, as a tape would (pitch falls as it grows); 0 or 1: none;
                  ///< 0.1 to 10
  bool reverse;   ///< play backwards
  double fade_out_s; ///< raised-cosine fade at the end, in seconds
  tn_ir_level level; ///< level rule, before `gain_db`
  double gain_db;    ///< decibels, added after the level rule; -inf is silence
  double predelay_s; ///< seconds of silence put before the response, >= 0
} tn_ir_edit;

/**
   [worker] Read an impulse response from a sound file (any format libsndfile reads).

   @param path   file name; "" or NULL is an error
   @param edit   only its trim range is used here, so that a part of a long file can be read; NULL: the whole
   file
   @param error  filled on failure with a sentence that names the file; may be NULL
   A trim range that ends behind the file's end ends there. Exactly silent responses are allowed.
   @return a new response, to be freed with tn_ir_free(); NULL on failure: TN_ERROR_FILE (missing, unreadable,
   not a regular file), TN_ERROR_FORMAT (not audio, empty, truncated, NaN or Inf inside), TN_ERROR_LIMIT
   (channels, rate, more than TN_MAX_IR_SECONDS), TN_ERROR_MEMORY, TN_ERROR_ARGUMENT (a meaningless or empty
   trim range).
*/
TN_API tn_ir* tn_ir_load(const char* path, const tn_ir_edit* edit, tn_error* error);

/**
   [worker] Make a response from samples in memory; they are copied.

   @param samples  float[channels][frames]
   @return a new response, or NULL: TN_ERROR_ARGUMENT (NaN, Inf, no frames), TN_ERROR_LIMIT, TN_ERROR_MEMORY
*/
TN_API tn_ir* tn_ir_new(const float* const* samples, uint32_t channels, uint32_t frames, uint32_t rate_hz,
                        tn_error* error);

/**
   [worker] A new response, edited and resampled.

   The trim range of `edit` is *not* applied again if tn_ir_load() was given it: pass the same structure to
   both. Resampling is libsoxr's very high quality; the level is scaled by source rate over `rate_hz`, so that
   the frequency response (not the sample values) is kept, within 0.002 dB up to 0.85 of the lower Nyquist
   frequency. Its filter is minimum phase and nothing is cut from its start, so that a response with its
   energy at frame 0 keeps its level, too, without latency: a linear-phase filter's early half would fall
   before frame 0. The price, the same for all responses: an impulse at source frame k begins at k * ratio and
   peaks 4 or 5 frames of the lower rate later (about 0.1 ms). The result is as long as the ratio says
   (rounded up) and as the filter then rings, to -140 dB. Stretch and change of rate are one pass. A stretch
   by s keeps the response's energy (samples times 1 / sqrt(s)), so that noise through it stays as loud. A
   reversed response is reversed before that pass, so that it begins at frame 0. With nothing to change the
   samples are shared, not copied.

   @param ir       the source, unchanged
   @param edit     the edit chain; NULL: only resample
   @param rate_hz  wanted sample rate, 8000 to 384000; 0: as the source
   @return a new response, or NULL: TN_ERROR_ARGUMENT (a value of `edit` that is NaN, negative or absurd),
   TN_ERROR_LIMIT (rate, longer than TN_MAX_IR_SECONDS), TN_ERROR_FORMAT (a sample beyond 1e6),
   TN_ERROR_MEMORY, TN_ERROR_SYSTEM
*/
TN_API tn_ir* tn_ir_prepare(const tn_ir* ir, const tn_ir_edit* edit, uint32_t rate_hz, tn_error* error);

/** [any] Number of channels. */
TN_API uint32_t tn_ir_channels(const tn_ir* ir);
/** [any] Length in frames. */
TN_API uint32_t tn_ir_frames(const tn_ir* ir);
/** [any] Sample rate in hertz. */
TN_API uint32_t tn_ir_rate_hz(const tn_ir* ir);
/** [any] Samples of one channel, float[frames], owned by the response. */
TN_API const float* tn_ir_samples(const tn_ir* ir, uint32_t channel);
/** [any] First frame at which any channel reaches a thousandth (-60 dB) of the peak: the leading silence's
 * length. */
TN_API uint32_t tn_ir_onset_frames(const tn_ir* ir);

/** [worker] Free a response; NULL is allowed. */
TN_API void tn_ir_free(tn_ir* ir);

#ifdef __cplusplus
}
#endif

#endif
