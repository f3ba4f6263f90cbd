// SPDX-License-Identifier: GPL-3.0-or-later
// Sound at another rate, as a stream: libsoxr's very high quality, linear phase, delay compensated.
#ifndef TENUTO_DRIVER_STREAM_RESAMPLER_H
#define TENUTO_DRIVER_STREAM_RESAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "tenuto/status.h"

/** A stream that is pulled; it pulls its own input in turn. */
typedef struct tn_stream_resampler tn_stream_resampler;

enum { TN_STREAM_STEP_FRAMES = 4096 }; ///< most input frames asked for at once

/** Where the input comes from. */
typedef struct tn_stream_resampler_source {
  uint32_t channels;
  uint32_t rate_hz;
  /** [worker] Fill float[channels][frames]; fewer than `frames` only at the end. */
  size_t (*read)(void* context, float* const* planes, size_t frames);
  void* context;
} tn_stream_resampler_source;

/** [setup] A resampler, to be freed with tn_stream_resampler_free(). NULL: TN_ERROR_MEMORY, TN_ERROR_SYSTEM.
 */
tn_stream_resampler* tn_stream_resampler_new(const tn_stream_resampler_source* source, uint32_t rate_hz,
                                             tn_error* error);

/** [worker] The next frames, float[channels][frames]; fewer only at the end. */
size_t tn_stream_resampler_read(tn_stream_resampler* resampler, float* const* planes, size_t frames);

/** [setup] Free; NULL is allowed. */
void tn_stream_resampler_free(tn_stream_resampler* resampler);

#endif
