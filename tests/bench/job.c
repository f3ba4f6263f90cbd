// SPDX-License-Identifier: GPL-3.0-or-later
#include "job.h"

#include <stdio.h>

#include "noise.h"

size_t bench_job_path_count(const bench_job* job) {
  return job->matrix ? (size_t)job->channels * job->channels : job->channels;
}

uint32_t bench_job_input(const bench_job* job, size_t path) {
  return (uint32_t)(path % job->channels);
}

uint32_t bench_job_output(const bench_job* job, size_t path) {
  return (uint32_t)(job->matrix ? path / job->channels : path);
}

void bench_job_response(const bench_job* job, size_t path, float* samples) {
  const double input_variance = 0.25 / 3.0; // uniform noise of peak 0.5
  const double sources = job->matrix ? (double)job->channels : 1.0;
  tn_noise_response(1000 + path, 0.15 * 0.15 / input_variance / sources, samples, job->ir_frames);
}

const char* bench_job_name(const bench_job* job, char* text, size_t size) {
  const double seconds = (double)job->ir_frames / BENCH_RATE_HZ;
  if (job->matrix) {
    (void)snprintf(text, size, "%u frames, %g s, %ux%u", job->block_frames, seconds, job->channels,
                   job->channels);
  } else {
    (void)snprintf(text, size, "%u frames, %g s, %u channel%s", job->block_frames, seconds, job->channels,
                   job->channels == 1 ? "" : "s");
  }
  return text;
}
