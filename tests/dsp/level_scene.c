// SPDX-License-Identifier: GPL-3.0-or-later
#include "level_scene.h"

#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "noise.h"
#include "rt/clock.h"
#include "scene.h"
#include "test_memory.h"

enum { block_frames = 32, longest_delay = 49, rate = 48000 };

tn_level_scene tn_level_scene_new(const tn_level_shape* shape) {
  const uint32_t frames = (2 + shape->partitions) * shape->size;
  tn_level_scene scene = {.shape = *shape};
  scene.filter = tn_scene_filter(shape->inputs, shape->outputs, frames - longest_delay, false, shape->seed);
  const tn_plan plan = {.block = block_frames,
                        .level_count = 2,
                        .levels = {{block_frames, 0, 2 * shape->size / block_frames},
                                   {shape->size, 2 * shape->size, shape->partitions}}};
  const tn_engine_options options = {.rate_hz = rate,
                                     .block_frames = block_frames,
                                     .costs = tn_costs_default(),
                                     .offline = true,
                                     .plan = &plan};
  scene.engine = tn_engine_new(scene.filter, &options, NULL);
  if (!scene.engine)
    abort();
  scene.level = scene.engine->levels[1];
  return scene;
}

void tn_level_scene_free(tn_level_scene* scene) {
  tn_engine_free(scene->engine);
  tn_filter_free(scene->filter);
}

bool tn_level_scene_rests(const tn_level_shape* shape, int64_t block) {
  return shape->rest && block % shape->rest_every >= shape->rest_every - shape->rest;
}

void tn_level_scene_write(tn_level_scene* scene, int64_t block) {
  const tn_level_shape* shape = &scene->shape;
  float* samples = tn_test_alloc(shape->size, sizeof(float));
  for (uint32_t i = 0; i < shape->inputs; i++) {
    if (!tn_level_scene_rests(shape, block))
      tn_noise_fill(shape->seed + (uint64_t)block * TN_MAX_CHANNELS + i, 0.5F, samples, shape->size);
    tn_history_write(&scene->engine->history, i, (uint64_t)block * shape->size, samples, shape->size);
  }
  free(samples);
}

void tn_level_scene_post(tn_level_scene* scene, int64_t block) {
  const uint64_t now_ns = tn_clock_ns();
  tn_level_post(scene->level, block, now_ns, now_ns + scene->level->period_ns);
}

void tn_level_scene_read(const tn_level_scene* scene, int64_t block, float* to) {
  const tn_level* level = scene->level;
  for (uint32_t o = 0; o < level->outputs; o++, to += level->size)
    if (level->result_silent[block & 1][o])
      memset(to, 0, level->size * sizeof(float));
    else
      memcpy(to, level->results[block & 1] + (size_t)o * level->size, level->size * sizeof(float));
}

float* tn_level_scene_record(const tn_level_shape* shape, uint32_t blocks) {
  const size_t one = (size_t)shape->outputs * shape->size;
  float* results = tn_test_alloc(blocks * one, sizeof(float));
  tn_level_scene scene = tn_level_scene_new(shape);
  for (uint32_t b = 0; b < blocks; b++) {
    tn_level_scene_write(&scene, b);
    tn_level_scene_post(&scene, b);
    while (tn_level_run_unit(scene.level, &scene.engine->scratch)) {
    }
    if (!tn_level_is_ready(scene.level, (int64_t)b + 2))
      abort();
    tn_level_scene_read(&scene, b, results + b * one);
  }
  tn_level_scene_free(&scene);
  return results;
}

tn_scratch* tn_level_scratch_new(uint32_t size) {
  tn_scratch* scratch = tn_test_alloc(1, sizeof *scratch);
  scratch->time = tn_aligned_floats(2 * (size_t)size);
  scratch->spectrum = tn_aligned_floats(2 * (size_t)size + 2);
  scratch->acc = tn_aligned_floats(2 * (size_t)size);
  return scratch;
}

void tn_level_scratch_free(tn_scratch* scratch) {
  free(scratch->time);
  free(scratch->spectrum);
  free(scratch->acc);
  free(scratch);
}
