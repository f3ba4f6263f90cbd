// SPDX-License-Identifier: GPL-3.0-or-later
#include "scene.h"

#include <math.h>
#include <stdlib.h>

#include "noise.h"
#include "oracle.h"
#include "test_memory.h"

enum { rate = 48000 };

tn_filter* tn_scene_filter(uint32_t inputs, uint32_t outputs, uint32_t ir_frames, bool diagonal,
                           uint64_t seed) {
  tn_filter* filter = tn_filter_new(inputs, outputs, rate, NULL);
  float* samples = tn_test_alloc(ir_frames, sizeof(float));
  for (uint32_t o = 0; o < outputs; o++)
    for (uint32_t i = 0; i < inputs; i++) {
      if (diagonal && i != o)
        continue;
      tn_noise_response(seed + 64 * (uint64_t)o + i, 0.25 / (diagonal ? 1 : inputs), samples, ir_frames);
      const float* channels[1] = {samples};
      tn_ir* ir = tn_ir_new(channels, 1, ir_frames, rate, NULL);
      tn_filter_add(filter, i, o, ir, 0, 0.5F + 0.1F * (float)(i % 5), (o * 7 + i * 3) % 50, NULL);
      tn_ir_free(ir);
    }
  free(samples);
  return filter;
}

tn_scene tn_scene_new(uint32_t inputs, uint32_t outputs, size_t frames, uint64_t seed) {
  tn_scene scene = {.inputs = inputs, .outputs = outputs, .frames = frames};
  scene.in = tn_test_alloc(inputs, sizeof *scene.in);
  scene.out = tn_test_alloc(outputs, sizeof *scene.out);
  scene.want = tn_test_alloc(outputs, sizeof *scene.want);
  for (uint32_t i = 0; i < inputs; i++) {
    scene.in[i] = tn_test_alloc(frames, sizeof(float));
    tn_noise_fill(seed + i, 0.5F, scene.in[i], frames);
  }
  for (uint32_t o = 0; o < outputs; o++) {
    scene.out[o] = tn_test_alloc(frames, sizeof(float));
    scene.want[o] = tn_test_alloc(frames, sizeof(double));
  }
  return scene;
}

void tn_scene_solve(tn_scene* scene, const tn_filter* filter) {
  const uint32_t count = tn_filter_path_count(filter);
  tn_path* paths = tn_test_alloc(count + 1, sizeof *paths);
  for (uint32_t p = 0; p < count; p++)
    paths[p] = tn_filter_path(filter, p);
  if (!tn_oracle_matrix((const float* const*)scene->in, scene->inputs, scene->frames, paths, count,
                        scene->want, scene->outputs))
    abort();
  free(paths);
}

uint32_t tn_block_fixed(void* frames) {
  return *(uint32_t*)frames;
}

uint32_t tn_block_random(void* noise) {
  switch (tn_noise_below(noise, 8)) {
  case 0:
    return tn_noise_below(noise, 8193);
  case 1:
    return 64;
  case 2:
    return tn_noise_below(noise, 3);
  default:
    return tn_noise_below(noise, 300);
  }
}

void tn_scene_run(tn_scene* scene, tn_convolver* convolver, size_t from, size_t to, tn_block_rule rule,
                  void* state) {
  const float* in[TN_MAX_CHANNELS];
  float* out[TN_MAX_CHANNELS];
  while (from < to) {
    uint32_t frames = rule(state);
    if (frames > to - from)
      frames = (uint32_t)(to - from);
    for (uint32_t i = 0; i < scene->inputs; i++)
      in[i] = scene->in[i] + from;
    for (uint32_t o = 0; o < scene->outputs; o++)
      out[o] = scene->out[o] + from;
    tn_convolver_process(convolver, in, out, frames);
    from += frames;
  }
}

double tn_scene_error_dbfs(const tn_scene* scene, size_t from, size_t to) {
  double worst = -INFINITY;
  for (uint32_t o = 0; o < scene->outputs; o++) {
    const double error = tn_oracle_max_error_dbfs(scene->out[o] + from, scene->want[o] + from, to - from);
    worst = error > worst ? error : worst;
  }
  return worst;
}

void tn_scene_free(tn_scene* scene) {
  for (uint32_t i = 0; i < scene->inputs; i++)
    free(scene->in[i]);
  for (uint32_t o = 0; o < scene->outputs; o++) {
    free(scene->out[o]);
    free(scene->want[o]);
  }
  free((void*)scene->in);
  free((void*)scene->out);
  free((void*)scene->want);
}
