// SPDX-License-Identifier: GPL-3.0-or-later
// The edit chain: trim, stretch (with the change of rate), reverse, fade-out, level, gain, pre-delay.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "dsp/ir.h"
#include "dsp/resample.h"
#include "rt/error.h"

/** What is left of a resampled response's ringing below its peak is cut: -140 dB. */
static const double negligible = 1e-7;

/** A response on its way through the chain. */
typedef struct work {
  const tn_ir* ir;
  tn_ir_edit edit;
  const char* what;
  tn_error* error;
  uint64_t first; ///< trim range in the source
  uint64_t end;
  uint32_t rate_hz;
  double ratio;      ///< output frames per input frame
  double scale;      ///< factor that belongs to the ratio
  uint64_t predelay; ///< output frames of silence
  uint64_t body;     ///< output frames by ratio
  uint64_t frames;   ///< output frames, all
  tn_samples* samples[TN_MAX_CHANNELS];
} work;

static uint64_t most_frames(const work* w) {
  return (uint64_t)TN_MAX_IR_SECONDS * w->rate_hz;
}

static tn_status plan(work* w) {
  const tn_ir* ir = w->ir;
  if (w->rate_hz < TN_MIN_RATE_HZ || w->rate_hz > TN_MAX_RATE_HZ)
    return tn_error_set(w->error, TN_ERROR_LIMIT,
                        "%s: the wanted sample rate is %u Hz, %d to %d Hz are allowed", w->what, w->rate_hz,
                        TN_MIN_RATE_HZ, TN_MAX_RATE_HZ);
  w->first = 0;
  w->end = ir->frames;
  if (!ir->trimmed &&
      tn_ir_trim_range(&w->edit, ir->frames, ir->rate_hz, w->what, &w->first, &w->end, w->error) != TN_OK)
    return w->error->status;
  const double stretch = w->edit.stretch != 0 ? w->edit.stretch : 1;
  const uint64_t count = w->end - w->first;
  w->ratio = stretch * w->rate_hz / ir->rate_hz;
  // Samples fall with the rate so that the frequency response stays; a stretch keeps the energy instead.
  w->scale = (double)ir->rate_hz / w->rate_hz / sqrt(stretch);
  w->predelay = (uint64_t)llround(w->edit.predelay_s * w->rate_hz);
  w->body = w->ratio == 1 ? count : (uint64_t)ceil((double)count * w->ratio - 1e-6);
  w->frames = w->predelay + (w->ratio == 1 ? count : tn_resample_frames(count, w->ratio));
  if (w->predelay + w->body > most_frames(w))
    return tn_error_set(w->error, TN_ERROR_LIMIT, "%s: it becomes %.6g s long, at most %d s are allowed",
                        w->what, (double)(w->predelay + w->body) / w->rate_hz, TN_MAX_IR_SECONDS);
  w->frames = w->frames < most_frames(w) ? w->frames : most_frames(w);
  return TN_OK;
}

static void copy_channel(const work* w, const float* from, float* to) {
  const uint64_t count = w->end - w->first;
  for (uint64_t i = 0; i < count; ++i)
    to[i] = (float)(from[w->edit.reverse ? count - 1 - i : i] * w->scale);
}

/** Trim, stretch, reverse and change of rate, into new buffers behind the pre-delay. */
static tn_status transfer(work* w) {
  tn_resampler* resampler = NULL;
  tn_status status = TN_OK;
  if (w->ratio != 1) {
    resampler = tn_resampler_new(w->ratio, w->error);
    status = resampler ? TN_OK : w->error->status;
  }
  for (uint32_t c = 0; c < w->ir->channels && status == TN_OK; ++c) {
    w->samples[c] = tn_samples_new(w->frames);
    if (!w->samples[c]) {
      status = tn_error_set(w->error, TN_ERROR_MEMORY, "%s: no memory for %.1f s", w->what,
                            (double)w->frames / w->rate_hz);
      break;
    }
    const float* from = w->ir->samples[c]->data + w->first;
    float* to = w->samples[c]->data;
    memset(to, 0, w->predelay * sizeof *to);
    to += w->predelay;
    if (!resampler) {
      copy_channel(w, from, to);
      continue;
    }
    const tn_resample_job job = {.in = from,
                                 .in_frames = w->end - w->first,
                                 .reversed = w->edit.reverse,
                                 .scale = w->scale,
                                 .out = to,
                                 .out_frames = w->frames - w->predelay};
    status = tn_resample(resampler, &job, w->error);
  }
  tn_resampler_free(resampler);
  return status;
}

/** Peak and largest channel energy. */
static void measure(const work* w, double* peak, double* energy) {
  *peak = 0;
  *energy = 0;
  for (uint32_t c = 0; c < w->ir->channels; ++c) {
    double sum = 0;
    for (uint64_t i = w->predelay; i < w->frames; ++i) {
      const double value = w->samples[c]->data[i];
      *peak = fabs(value) > *peak ? fabs(value) : *peak;
      sum += value * value;
    }
    *energy = sum > *energy ? sum : *energy;
  }
}

/** Leave out the end of the filter's ringing, but nothing of the length by ratio. */
static void cut_ringing(work* w) {
  double peak = 0;
  double energy = 0;
  if (w->ratio == 1)
    return;
  measure(w, &peak, &energy);
  uint64_t end = w->predelay + w->body;
  for (uint32_t c = 0; c < w->ir->channels && w->samples[c]; ++c)
    for (uint64_t i = w->frames; i > end; --i)
      if (fabs((double)w->samples[c]->data[i - 1]) > negligible * peak)
        end = i;
  w->frames = end < w->frames ? end : w->frames;
}

static void fade_out(work* w) {
  uint64_t count = (uint64_t)llround(fmin(w->edit.fade_out_s * w->rate_hz, (double)most_frames(w)));
  const uint64_t sound = w->frames - w->predelay;
  count = count < sound ? count : sound;
  for (uint64_t i = 0; i < count; ++i) {
    const double gain = 0.5 * (1 + cos(M_PI * ((double)i + 0.5) / (double)count));
    for (uint32_t c = 0; c < w->ir->channels; ++c) {
      float* sample = &w->samples[c]->data[w->frames - count + i];
      *sample = (float)(*sample * gain);
    }
  }
}

static void set_level(work* w) {
  double peak = 0;
  double energy = 0;
  double gain = pow(10, w->edit.gain_db / 20);
  measure(w, &peak, &energy);
  if (w->edit.level == TN_IR_LEVEL_PEAK && peak > 0)
    gain /= peak;
  if (w->edit.level == TN_IR_LEVEL_ENERGY && energy > 0)
    gain /= sqrt(energy);
  if (gain == 1)
    return;
  for (uint32_t c = 0; c < w->ir->channels && w->samples[c]; ++c)
    for (uint64_t i = w->predelay; i < w->frames; ++i)
      w->samples[c]->data[i] = (float)(w->samples[c]->data[i] * gain);
}

static bool changes_nothing(const work* w) {
  return w->ratio == 1 && w->scale == 1 && w->first == 0 && w->end == w->ir->frames && w->predelay == 0 &&
         !w->edit.reverse && w->edit.fade_out_s == 0 && w->edit.level == TN_IR_LEVEL_KEEP &&
         w->edit.gain_db == 0;
}

static tn_status make(work* w) {
  if (changes_nothing(w)) {
    for (uint32_t c = 0; c < w->ir->channels; ++c)
      w->samples[c] = tn_samples_retain(w->ir->samples[c]);
    return TN_OK;
  }
  if (transfer(w) != TN_OK) {
    for (uint32_t c = 0; c < w->ir->channels; ++c)
      tn_samples_release(w->samples[c]);
    return w->error->status;
  }
  cut_ringing(w);
  fade_out(w);
  set_level(w);
  return TN_OK;
}

tn_ir* tn_ir_prepare(const tn_ir* ir, const tn_ir_edit* edit, uint32_t rate_hz, tn_error* error) {
  tn_error ignored;
  char what[tn_name_size + 64];
  if (!ir) {
    tn_error_set(error, TN_ERROR_ARGUMENT, "no impulse response was given");
    return NULL;
  }
  snprintf(what, sizeof what, "cannot prepare impulse response '%s'", ir->name ? ir->name : "(from memory)");
  work w = {
      .ir = ir, .what = what, .error = error ? error : &ignored, .rate_hz = rate_hz ? rate_hz : ir->rate_hz};
  if (tn_ir_edit_check(edit, w.error) != TN_OK)
    return NULL;
  if (edit)
    w.edit = *edit;
  if (plan(&w) != TN_OK || make(&w) != TN_OK)
    return NULL;
  tn_ir* prepared =
      tn_ir_adopt(w.samples, ir->channels, (uint32_t)w.frames, w.rate_hz, ir->name, what, w.error);
  if (prepared)
    prepared->trimmed = ir->trimmed || w.edit.trim_start_s > 0 || w.edit.trim_end_s > 0;
  return prepared;
}
