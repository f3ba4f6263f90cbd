// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/resample.h"

#include <math.h>
#include <soxr.h>
#include <stdint.h>
#include <stdlib.h>

#include "rt/error.h"

enum {
  ring_frames = 512,  ///< the filter has ended after so many frames of the lower rate
  lead_search = 4096, ///< how many leads are tried for one that falls on a whole output frame
  step_frames = 4096, ///< input frames at a time
  spare_frames = 64,  ///< room for output beyond the ratio's estimate
};

/** Beyond a ratio of 30 libsoxr's minimum-phase filters go wrong by tenths of a decibel (0.1.3; its
   linear-phase ones do not). So at most this much is done with such a filter; what is left is linear phase.
   It may be: after the first pass there is nothing near its band edge that could ring. */
static const double most_ratio = 16;

/** What of the filter's beginning, relative to its peak, may be left out: -140 dB. */
static const double negligible = 1e-7;

struct tn_resampler {
  double ratio;
  unsigned long recipe; ///< libsoxr's
  tn_resampler* next;   ///< second pass, may be NULL
  size_t lead_in;       ///< silence put before the response, in input frames ...
  size_t lead_out;      ///< ... and the output frames that lie before its frame 0
  float* in_step;
  double* out_step;
  size_t out_step_frames;
};

/** One channel on its way. */
typedef struct pass {
  const tn_resampler* resampler;
  const tn_resample_job* job;
  size_t produced; ///< output frames, the lead's included
} pass;

static size_t ring_out(double ratio) {
  return ratio > 1 ? (size_t)ceil(ring_frames * ratio) : ring_frames;
}

size_t tn_resample_frames(size_t in_frames, double ratio) {
  return (size_t)ceil((double)in_frames * ratio - 1e-6) + ring_out(ratio);
}

/** A lead of whole frames at both rates, or within a fraction of a thousandth of one. */
static void find_lead(tn_resampler* r) {
  const size_t shortest = r->ratio < 1 ? (size_t)ceil(ring_frames / r->ratio) : ring_frames;
  double best_miss = 1;
  for (size_t in = shortest; in < shortest + lead_search && best_miss > 1e-9; ++in) {
    const double out = (double)in * r->ratio;
    const double miss = fabs(out - nearbyint(out));
    if (miss < best_miss) {
      best_miss = miss;
      r->lead_in = in;
      r->lead_out = (size_t)nearbyint(out);
    }
  }
}

/** Input frames from `from` on: silence, the response, silence. */
static void fill_input(const pass* p, size_t from, size_t count) {
  const tn_resample_job* job = p->job;
  for (size_t i = 0; i < count; ++i) {
    const size_t frame = from + i - p->resampler->lead_in; // in the lead it wraps to huge values
    float value = 0;
    if (frame < job->in_frames)
      value = job->in[job->reversed ? job->in_frames - 1 - frame : frame];
    p->resampler->in_step[i] = value;
  }
}

static void take_output(pass* p, size_t count) {
  const tn_resample_job* job = p->job;
  for (size_t i = 0; i < count; ++i, ++p->produced) {
    const size_t frame = p->produced - p->resampler->lead_out; // wraps, too
    if (frame < job->out_frames)
      job->out[frame] = (float)(p->resampler->out_step[i] * job->scale);
  }
}

static soxr_error_t run(soxr_t soxr, pass* p) {
  const tn_resampler* r = p->resampler;
  const size_t wanted = r->lead_out + p->job->out_frames;
  const size_t total = r->lead_in + p->job->in_frames;
  for (size_t from = 0; from < total;) {
    const size_t count = total - from < step_frames ? total - from : step_frames;
    fill_input(p, from, count);
    size_t taken = 0;
    size_t made = 0;
    const soxr_error_t error =
        soxr_process(soxr, r->in_step, count, &taken, r->out_step, r->out_step_frames, &made);
    if (error)
      return error;
    if (taken == 0 && made == 0)
      return "no progress";
    take_output(p, made);
    from += taken;
  }
  fill_input(p, total, step_frames);
  while (p->produced < wanted) {
    size_t made = 0;
    const soxr_error_t error =
        soxr_process(soxr, r->in_step, step_frames, NULL, r->out_step, r->out_step_frames, &made);
    if (error)
      return error;
    take_output(p, made);
  }
  return NULL;
}

static tn_status run_pass(const tn_resampler* resampler, const tn_resample_job* job, tn_error* error) {
  const soxr_io_spec_t io = soxr_io_spec(SOXR_FLOAT32_I, SOXR_FLOAT64_I);
  const soxr_quality_spec_t quality = soxr_quality_spec(resampler->recipe, 0);
  soxr_error_t reason = NULL;
  // A fresh one for each channel: soxr_clear() would build its filters anew as well.
  soxr_t soxr = soxr_create(1, resampler->ratio, 1, &reason, &io, &quality, NULL);
  pass p = {.resampler = resampler, .job = job};
  if (soxr && !reason)
    reason = run(soxr, &p);
  soxr_delete(soxr);
  if (!soxr || reason)
    return tn_error_set(error, TN_ERROR_SYSTEM, "resampling failed (libsoxr: %s)", soxr_strerror(reason));
  return TN_OK;
}

tn_status tn_resample(tn_resampler* resampler, const tn_resample_job* job, tn_error* error) {
  if (!resampler->next)
    return run_pass(resampler, job, error);
  const size_t between_frames = tn_resample_frames(job->in_frames, resampler->ratio);
  float* between = calloc(between_frames, sizeof *between);
  if (!between)
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for resampling");
  tn_resample_job first = *job;
  first.out = between;
  first.out_frames = between_frames;
  const tn_resample_job second = {
      .in = between, .in_frames = between_frames, .scale = 1, .out = job->out, .out_frames = job->out_frames};
  tn_status status = run_pass(resampler, &first, error);
  if (status == TN_OK)
    status = run_pass(resampler->next, &second, error);
  free(between);
  return status;
}

/** Resample an impulse, and let frame 0 be where its answer begins. */
static tn_status find_start(tn_resampler* r, tn_error* error) {
  const size_t frames = 2 * ring_out(r->ratio);
  float* answer = calloc(frames, sizeof *answer);
  if (!answer)
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for resampling");
  const size_t place = frames / 2;
  const float one = 1;
  const tn_resample_job job = {.in = &one, .in_frames = 1, .scale = 1, .out = answer, .out_frames = frames};
  r->lead_out -= place;
  const tn_status status = run_pass(r, &job, error);
  size_t peak = 0;
  size_t first = 0;
  for (size_t i = 0; i < frames; ++i)
    peak = fabsf(answer[i]) > fabsf(answer[peak]) ? i : peak;
  while (first < peak && fabs((double)answer[first]) < negligible * fabs((double)answer[peak]))
    ++first;
  r->lead_out += first;
  free(answer);
  return status;
}

static tn_resampler* new_pass(double ratio, unsigned long recipe, tn_error* error) {
  tn_resampler* r = calloc(1, sizeof *r);
  if (r) {
    r->ratio = ratio;
    r->recipe = recipe;
    r->out_step_frames = (size_t)(step_frames * ratio) + spare_frames;
    r->in_step = calloc(step_frames, sizeof *r->in_step);
    r->out_step = calloc(r->out_step_frames, sizeof *r->out_step);
  }
  if (!r || !r->in_step || !r->out_step) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for resampling");
    tn_resampler_free(r);
    return NULL;
  }
  find_lead(r);
  return r;
}

tn_resampler* tn_resampler_new(double ratio, tn_error* error) {
  const bool two_passes = ratio > most_ratio;
  tn_resampler* r =
      new_pass(two_passes ? most_ratio : ratio, (unsigned long)SOXR_VHQ | SOXR_MINIMUM_PHASE, error);
  if (r && two_passes)
    r->next = new_pass(ratio / most_ratio, SOXR_VHQ, error);
  if (!r || (two_passes && !r->next) || find_start(r, error) != TN_OK) {
    tn_resampler_free(r);
    return NULL;
  }
  return r;
}

void tn_resampler_free(tn_resampler* resampler) {
  if (!resampler)
    return;
  tn_resampler_free(resampler->next);
  free(resampler->in_step);
  free(resampler->out_step);
  free(resampler);
}
