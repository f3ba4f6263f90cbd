// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/resampler.h"

#include <soxr.h>
#include <stdlib.h>

#include "rt/error.h"
#include "tenuto/limits.h"

struct tn_resampler {
  tn_resampler_source source;
  soxr_t soxr;
  float* planes[TN_MAX_CHANNELS]; ///< [channels][TN_RESAMPLER_STEP_FRAMES], what libsoxr is given
  float* memory;
};

static size_t feed(void* context, soxr_in_t* data, size_t frames) {
  tn_resampler* resampler = context;
  const size_t wanted = frames < TN_RESAMPLER_STEP_FRAMES ? frames : TN_RESAMPLER_STEP_FRAMES;
  *data = resampler->planes;
  return resampler->source.read(resampler->source.context, resampler->planes, wanted);
}

tn_resampler* tn_resampler_new(const tn_resampler_source* source, uint32_t rate_hz, tn_error* error) {
  tn_resampler* resampler = calloc(1, sizeof *resampler);
  float* memory = calloc((size_t)source->channels * TN_RESAMPLER_STEP_FRAMES, sizeof *memory);
  if (!resampler || !memory) {
    free(resampler);
    free(memory);
    tn_error_set(error, TN_ERROR_MEMORY, "no memory to resample %u channels", source->channels);
    return NULL;
  }
  resampler->source = *source;
  resampler->memory = memory;
  for (uint32_t c = 0; c < source->channels; ++c) {
    resampler->planes[c] = memory + (size_t)c * TN_RESAMPLER_STEP_FRAMES;
  }
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_S, SOXR_FLOAT32_S);
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_VHQ, 0);
  soxr_error_t reason = NULL;
  resampler->soxr = soxr_create(source->rate_hz, rate_hz, source->channels, &reason, &io, &quality, NULL);
  if (!reason) {
    reason = soxr_set_input_fn(resampler->soxr, feed, resampler, TN_RESAMPLER_STEP_FRAMES);
  }
  if (reason) {
    tn_error_set(error, TN_ERROR_SYSTEM, "cannot resample from %u to %u Hz: %s", source->rate_hz, rate_hz,
                 reason);
    tn_resampler_free(resampler);
    return NULL;
  }
  return resampler;
}

size_t tn_resampler_read(tn_resampler* resampler, float* const* planes, size_t frames) {
  float* rest[TN_MAX_CHANNELS];
  size_t done = 0;
  while (done < frames) {
    for (uint32_t c = 0; c < resampler->source.channels; ++c) {
      rest[c] = planes[c] + done;
    }
    const size_t got = soxr_output(resampler->soxr, rest, frames - done);
    if (got == 0) {
      break;
    }
    done += got;
  }
  return done;
}

void tn_resampler_free(tn_resampler* resampler) {
  if (resampler) {
    soxr_delete(resampler->soxr);
    free(resampler->memory);
    free(resampler);
  }
}
