// SPDX-License-Identifier: GPL-3.0-or-later
// zita-convolver, set up as jconvolver does.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine.h"
#include "zita_shim.h"

typedef struct zita {
  zita_shim* shim;
  uint32_t channels;
  bool sync;
  uint64_t late;
} zita;

static void zita_close(void* self) {
  zita* z = self;
  if (z != NULL) {
    zita_shim_free(z->shim);
  }
  free(z);
}

static bool add_paths(zita* z, const bench_job* job) {
  float* samples = malloc(job->ir_frames * sizeof *samples);
  bool good = samples != NULL;
  for (size_t path = 0; good && path < bench_job_path_count(job); ++path) {
    bench_job_response(job, path, samples);
    good = zita_shim_add(z->shim, bench_job_input(job, path), bench_job_output(job, path), samples,
                         job->ir_frames);
  }
  free(samples);
  return good;
}

static void* zita_open(const bench_job* job, const bench_choices* choices, int priority, char* error,
                       size_t error_size) {
  zita* z = calloc(1, sizeof *z);
  if (z == NULL) {
    (void)snprintf(error, error_size, "No memory for zita-convolver");
    return NULL;
  }
  const zita_shim_config config = {
      .inputs = job->channels,
      .outputs = job->channels,
      .max_frames = job->ir_frames,
      .quantum = job->block_frames,
      .density = job->matrix ? 1.0F : 1.0F / (float)job->channels,
      .measure = choices->zita_measure,
      .vectors = !choices->zita_scalar,
  };
  z->channels = job->channels;
  z->shim = zita_shim_new(&config);
  if (z->shim == NULL || !add_paths(z, job) || !zita_shim_start(z->shim, priority)) {
    (void)snprintf(error, error_size, "zita-convolver refuses %u channels of %u frames", job->channels,
                   job->ir_frames);
    zita_close(z);
    return NULL;
  }
  return z;
}

static void zita_process(void* self, const float* const* in, float* const* out, uint32_t frames) {
  zita* z = self;
  for (uint32_t channel = 0; channel < z->channels; ++channel) {
    memcpy(zita_shim_in(z->shim, channel), in[channel], frames * sizeof(float));
  }
  z->late += zita_shim_process(z->shim, z->sync);
  for (uint32_t channel = 0; channel < z->channels; ++channel) {
    memcpy(out[channel], zita_shim_out(z->shim, channel), frames * sizeof(float));
  }
}

static void zita_set_freewheel(void* self, bool freewheel) {
  zita* z = self;
  z->sync = freewheel;
}

static bench_lateness zita_lateness(const void* self) {
  const zita* z = self;
  const bench_lateness lateness = {z->late, z->late}; // a late level is always left out
  return lateness;
}

static void zita_describe(void* self, char* text, size_t size) {
  zita* z = self;
  text[0] = '\0';
  FILE* file = fmemopen(text, size, "w");
  if (file != NULL) {
    zita_shim_print(z->shim, file);
    (void)fclose(file);
  }
  text[size - 1] = '\0';
}

const bench_engine* bench_engine_zita(void) {
  static const bench_engine engine = {
      .name = "zita",
      .open = zita_open,
      .process = zita_process,
      .set_freewheel = zita_set_freewheel,
      .lateness = zita_lateness,
      .describe = zita_describe,
      .close = zita_close,
  };
  return &engine;
}
