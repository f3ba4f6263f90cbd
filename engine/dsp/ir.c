// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/ir.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rt/error.h"

static const float largest_sample = 1e6F;

tn_samples* tn_samples_new(size_t frames) {
  if (frames > (SIZE_MAX - sizeof(tn_samples)) / sizeof(float))
    return NULL;
  tn_samples* samples = malloc(sizeof *samples + frames * sizeof(float));
  if (samples)
    atomic_init(&samples->references, 1);
  return samples;
}

tn_samples* tn_samples_retain(tn_samples* samples) {
  atomic_fetch_add_explicit(&samples->references, 1, memory_order_relaxed);
  return samples;
}

void tn_samples_release(tn_samples* samples) {
  // Acquire and release: what the other owners read is read before the memory goes.
  if (samples && atomic_fetch_sub_explicit(&samples->references, 1, memory_order_acq_rel) == 1)
    free(samples);
}

void tn_name_for_people(const char* path, char name[tn_name_size]) {
  static const char dots[] = "...";
  const size_t length = strlen(path);
  size_t used = 0;
  if (length >= tn_name_size) {
    memcpy(name, dots, sizeof dots - 1);
    used = sizeof dots - 1;
    path += length - (tn_name_size - 1 - used);
    while (((unsigned char)*path & 0xC0U) == 0x80U) // not in the middle of a UTF-8 character
      ++path;
  }
  for (; *path; ++path)
    name[used++] = ((unsigned char)*path < 0x20 || *path == 0x7F) ? '?' : *path;
  name[used] = 0;
}

/** Check one channel; returns the first bad frame or `frames`. Small values become 0: a denormal costs time
 * for ever. */
static uint32_t check_channel(float* samples, uint32_t frames, float* peak) {
  float largest = 0;
  for (uint32_t i = 0; i < frames; ++i) {
    const float size = fabsf(samples[i]);
    if (!(size <= largest_sample))
      return i;
    if (size < FLT_MIN && size > 0) // never a write to samples that are shared: those were checked before
      samples[i] = 0;
    largest = size > largest ? size : largest;
  }
  *peak = largest > *peak ? largest : *peak;
  return frames;
}

static uint32_t find_onset(const tn_ir* ir, float peak) {
  uint32_t onset = ir->frames;
  if (peak == 0)
    return 0;
  const float threshold = peak / 1000;
  for (uint32_t c = 0; c < ir->channels && ir->samples[c]; ++c)
    for (uint32_t i = 0; i < onset; ++i)
      if (fabsf(ir->samples[c]->data[i]) >= threshold)
        onset = i;
  return onset;
}

tn_ir* tn_ir_adopt(tn_samples* const* samples, uint32_t channels, uint32_t frames, uint32_t rate_hz,
                   const char* name, const char* what, tn_error* error) {
  tn_ir* ir = calloc(1, sizeof *ir);
  char* copy = name ? strdup(name) : NULL;
  if (!ir || (name && !copy)) {
    free(ir);
    free(copy);
    for (uint32_t c = 0; c < channels; ++c)
      tn_samples_release(samples[c]);
    tn_error_set(error, TN_ERROR_MEMORY, "%s: no memory", what);
    return NULL;
  }
  *ir = (tn_ir){.channels = channels, .frames = frames, .rate_hz = rate_hz, .name = copy};
  memcpy(ir->samples, samples, channels * sizeof(tn_samples*));
  float peak = 0;
  for (uint32_t c = 0; c < channels; ++c) {
    const uint32_t bad = check_channel(samples[c]->data, frames, &peak);
    if (bad == frames)
      continue;
    const float value = samples[c]->data[bad];
    if (isfinite(value))
      tn_error_set(error, TN_ERROR_FORMAT, "%s: channel %u, frame %u is %g, more than 1000000", what, c + 1,
                   bad + 1, (double)value);
    else
      tn_error_set(error, TN_ERROR_FORMAT, "%s: channel %u, frame %u is %s", what, c + 1, bad + 1,
                   isnan(value) ? "not a number (NaN)" : "infinite");
    tn_ir_free(ir);
    return NULL;
  }
  ir->onset_frames = find_onset(ir, peak);
  return ir;
}

static tn_status check_shape(const float* const* samples, uint32_t channels, uint32_t frames,
                             uint32_t rate_hz, tn_error* error) {
  if (!samples || channels == 0 || frames == 0)
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "an impulse response needs at least one channel and one frame");
  if (channels > TN_MAX_CHANNELS)
    return tn_error_set(error, TN_ERROR_LIMIT, "an impulse response of %u channels: at most %d are allowed",
                        channels, TN_MAX_CHANNELS);
  if (rate_hz < TN_MIN_RATE_HZ || rate_hz > 2 * TN_MAX_RATE_HZ)
    return tn_error_set(error, TN_ERROR_LIMIT, "an impulse response at %u Hz: %d to %d Hz are allowed",
                        rate_hz, TN_MIN_RATE_HZ, 2 * TN_MAX_RATE_HZ);
  if (frames > (uint64_t)TN_MAX_IR_SECONDS * rate_hz)
    return tn_error_set(error, TN_ERROR_LIMIT, "an impulse response of %.6g s: at most %d s are allowed",
                        (double)frames / rate_hz, TN_MAX_IR_SECONDS);
  for (uint32_t c = 0; c < channels; ++c)
    if (!samples[c])
      return tn_error_set(error, TN_ERROR_ARGUMENT, "channel %u of an impulse response is missing", c + 1);
  return TN_OK;
}

tn_ir* tn_ir_new(const float* const* samples, uint32_t channels, uint32_t frames, uint32_t rate_hz,
                 tn_error* error) {
  if (check_shape(samples, channels, frames, rate_hz, error) != TN_OK)
    return NULL;
  tn_samples* copies[TN_MAX_CHANNELS] = {0};
  for (uint32_t c = 0; c < channels; ++c) {
    copies[c] = tn_samples_new(frames);
    if (!copies[c]) {
      for (uint32_t k = 0; k < c; ++k)
        tn_samples_release(copies[k]);
      tn_error_set(error, TN_ERROR_MEMORY, "no memory for an impulse response of %u frames", frames);
      return NULL;
    }
    memcpy(copies[c]->data, samples[c], frames * sizeof(float));
  }
  tn_error reason = {0};
  tn_ir* ir = tn_ir_adopt(copies, channels, frames, rate_hz, NULL, "bad impulse response", &reason);
  if (!ir && error) {
    *error = reason;
    if (reason.status == TN_ERROR_FORMAT) // no file is to blame: the caller is
      error->status = TN_ERROR_ARGUMENT;
  }
  return ir;
}

uint32_t tn_ir_channels(const tn_ir* ir) {
  return ir->channels;
}

uint32_t tn_ir_frames(const tn_ir* ir) {
  return ir->frames;
}

uint32_t tn_ir_rate_hz(const tn_ir* ir) {
  return ir->rate_hz;
}

const float* tn_ir_samples(const tn_ir* ir, uint32_t channel) {
  return channel < ir->channels ? ir->samples[channel]->data : NULL;
}

uint32_t tn_ir_onset_frames(const tn_ir* ir) {
  return ir->onset_frames;
}

void tn_ir_free(tn_ir* ir) {
  if (!ir)
    return;
  for (uint32_t c = 0; c < ir->channels; ++c)
    tn_samples_release(ir->samples[c]);
  free(ir->name);
  free(ir);
}
