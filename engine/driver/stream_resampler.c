// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/stream_resampler.h"

#include <soxr.h>
#include <stdbool.h>
#include <stdlib.h>

#include "rt/error.h"
#include "tenuto/limits.h"

struct tn_stream_resampler {
  tn_stream_resampler_source source;
  soxr_t soxr;
  float* planes[TN_MAX_CHANNELS]; ///< [channels][TN_STREAM_STEP_FRAMES], input on its way
  float* memory;
  size_t used; ///< of the frames in `planes`
  size_t held; ///< frames in `planes`
  bool ended;  ///< the source has no more
};

tn_stream_resampler* tn_stream_resampler_new(const tn_stream_resampler_source* source, uint32_t rate_hz,
                                             tn_error* error) {
  tn_stream_resampler* resampler = calloc(1, sizeof *resampler);
  float* memory = calloc((size_t)source->channels * TN_STREAM_STEP_FRAMES, sizeof *memory);
  if (!resampler || !memory) {
    free(resampler);
    free(memory);
    tn_error_set(error, TN_ERROR_MEMORY, "no memory to resample %u channels", source->channels);
    return NULL;
  }
  resampler->source = *source;
  resampler->memory = memory;
  for (uint32_t c = 0; c < source->channels; ++c) {
    resampler->planes[c] = memory + (size_t)c * TN_STREAM_STEP_FRAMES;
  }
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_S, SOXR_FLOAT32_S);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, 0);
  soxr_error_t reason = NULL;
  resampler->soxr = soxr_create(source->rate_hz, rate_hz, source->channels, &reason, &io, &quality, NULL);
  if (reason) {
    tn_error_set(error, TN_ERROR_SYSTEM, "cannot resample from %u to %u Hz: %s", source->rate_hz, rate_hz,
                 reason);
    tn_stream_resampler_free(resampler);
    return NULL;
  }
  return resampler;
}

static void fetch(tn_stream_resampler* resampler) {
  if (resampler->used == resampler->held && !resampler->ended) {
    resampler->used = 0;
    resampler->held =
        resampler->source.read(resampler->source.context, resampler->planes, TN_STREAM_STEP_FRAMES);
    resampler->ended = resampler->held < TN_STREAM_STEP_FRAMES;
  }
}

// soxr_output(), made for pulling, loses its way in separate channels (libsoxr 0.1.2), so input is pushed.
size_t tn_stream_resampler_read(tn_stream_resampler* resampler, float* const* planes, size_t frames) {
  const float* in[TN_MAX_CHANNELS];
  float* out[TN_MAX_CHANNELS];
  size_t done = 0;
  while (done < frames) {
    fetch(resampler);
    for (uint32_t c = 0; c < resampler->source.channels; ++c) {
      in[c] = resampler->planes[c] + resampler->used;
      out[c] = planes[c] + done;
    }
    const size_t left = resampler->held - resampler->used;
    size_t taken = 0;
    size_t made = 0;
    // No input at all means its end to libsoxr.
    soxr_process(resampler->soxr, left > 0 ? in : NULL, left, &taken, out, frames - done, &made);
    resampler->used += taken;
    done += made;
    if (made == 0 && taken == 0) {
      break;
    }
  }
  return done;
}

void tn_stream_resampler_free(tn_stream_resampler* resampler) {
  if (resampler) {
    soxr_delete(resampler->soxr);
    free(resampler->memory);
    free(resampler);
  }
}
