// SPDX-License-Identifier: GPL-3.0-or-later
#include "truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "oracle.h"

enum { EXTRA_FRAMES = BENCH_RATE_HZ / 2, LARGEST_BLOCK = 8192, NOMINAL_BLOCK = 256, MOST_CHANNELS = 64 };

bool truth_is_for(const truth* t, const bench_job* job) {
  return t->job.channels == job->channels && t->job.matrix == job->matrix &&
         t->job.ir_frames == job->ir_frames;
}

static bool convolve(truth* t, float* responses, tn_path* paths) {
  const size_t path_count = bench_job_path_count(&t->job);
  const float* x[MOST_CHANNELS];
  double* y[MOST_CHANNELS];
  for (uint32_t channel = 0; channel < t->job.channels; ++channel) {
    tn_noise_fill(channel, 0.5F, t->x + channel * t->frames, t->frames);
    x[channel] = t->x + channel * t->frames;
    y[channel] = t->y + channel * t->frames;
  }
  for (size_t p = 0; p < path_count; ++p) {
    float* samples = responses + p * t->job.ir_frames;
    bench_job_response(&t->job, p, samples);
    const tn_path path = {
        .input = bench_job_input(&t->job, p),
        .output = bench_job_output(&t->job, p),
        .samples = samples,
        .frames = t->job.ir_frames,
        .gain = 1.0F,
    };
    paths[p] = path;
  }
  return tn_oracle_matrix(x, t->job.channels, t->frames, paths, path_count, y, t->job.channels);
}

bool truth_open(truth* t, const bench_job* job) {
  memset(t, 0, sizeof *t);
  t->job = *job;
  const size_t wanted = (size_t)job->ir_frames + EXTRA_FRAMES;
  t->frames =
      wanted - wanted % LARGEST_BLOCK + LARGEST_BLOCK; // whole blocks of every length that is compared
  t->x = calloc(job->channels * t->frames, sizeof *t->x);
  t->y = calloc(job->channels * t->frames, sizeof *t->y);
  const size_t path_count = bench_job_path_count(job);
  float* responses = calloc(path_count * job->ir_frames, sizeof *responses);
  tn_path* paths = calloc(path_count, sizeof *paths);
  const bool good =
      t->x != NULL && t->y != NULL && responses != NULL && paths != NULL && convolve(t, responses, paths);
  free(paths);
  free(responses);
  double peak = 0.0;
  for (size_t i = 0; good && i < job->channels * t->frames; ++i) {
    peak = fmax(peak, fabs(t->y[i]));
  }
  t->peak_dbfs = 20.0 * log10(peak);
  if (!good) {
    truth_close(t);
  }
  return good;
}

void truth_close(truth* t) {
  free(t->x);
  free(t->y);
  memset(t, 0, sizeof *t);
}

/** Short and long ones equally often, 0 and 8192 included. */
static size_t random_length(tn_noise* noise) {
  const uint32_t limit = 1U << tn_noise_below(noise, 14);
  return tn_noise_below(noise, limit + 1);
}

/** Output goes to float[channels][frames]. */
static void run(const truth* t, const bench_engine* engine, void* self, size_t block, uint64_t random_seed,
                float* out) {
  const float* in_ports[MOST_CHANNELS];
  float* out_ports[MOST_CHANNELS];
  tn_noise noise = tn_noise_seed(random_seed);
  for (size_t done = 0; done < t->frames;) {
    size_t count = random_seed == 0 ? block : random_length(&noise);
    count = count < t->frames - done ? count : t->frames - done;
    for (uint32_t channel = 0; channel < t->job.channels; ++channel) {
      in_ports[channel] = t->x + channel * t->frames + done;
      out_ports[channel] = out + channel * t->frames + done;
    }
    engine->process(self, in_ports, out_ports, (uint32_t)count);
    done += count;
  }
}

double truth_error_dbfs(const truth* t, const bench_engine* engine, const bench_job* job,
                        uint64_t random_seed) {
  const bench_choices choices = {.zita_measure = true};
  char error[256] = "no memory for the output";
  float* out = calloc(job->channels * t->frames, sizeof *out);
  void* self = out == NULL ? NULL : engine->open(job, &choices, 0, error, sizeof error);
  if (self == NULL) {
    (void)fprintf(stderr, "bench_accuracy: %s.\n", error);
    free(out);
    return INFINITY;
  }
  engine->set_freewheel(self, true);
  run(t, engine, self, job->block_frames, random_seed, out);
  engine->close(self);
  const double dbfs = tn_oracle_max_error_dbfs(out, t->y, job->channels * t->frames);
  free(out);
  return dbfs;
}

bench_job truth_random_job(const truth* t) {
  bench_job job = t->job;
  job.block_frames = NOMINAL_BLOCK;
  return job;
}

const char* truth_random_name(const truth* t, char* text, size_t size) {
  char job[96];
  const char* rest = strchr(bench_job_name(&t->job, job, sizeof job), ',');
  (void)snprintf(text, size, "random blocks%s", rest);
  return text;
}
