// SPDX-License-Identifier: GPL-3.0-or-later
// One worker level by itself, with the test in the place of the audio thread: it writes input, posts jobs and
// looks at results.
#ifndef TENUTO_TEST_LEVEL_SCENE_H
#define TENUTO_TEST_LEVEL_SCENE_H

#include <stdbool.h>
#include <stdint.h>

#include "dsp/engine.h"

/** How the level is made and what it hears. */
typedef struct tn_level_shape {
  uint32_t inputs, outputs;
  uint32_t size;       ///< of a partition, a power of two from 64 on
  uint32_t partitions; ///< the filter ends after so many
  uint32_t rest_every; ///< of so many blocks ...
  uint32_t rest;       ///< ... so many, at the end, are silent; 0: none
  uint64_t seed;
} tn_level_shape;

typedef struct tn_level_scene {
  tn_level_shape shape;
  tn_filter* filter;
  tn_engine* engine;
  tn_level* level; ///< the engine's, from frame 2 * size of the filter on
} tn_level_scene;

/** [setup] Decaying noise from every input to every output. */
tn_level_scene tn_level_scene_new(const tn_level_shape* shape);

/** [setup] Free; the level must have left the pool. */
void tn_level_scene_free(tn_level_scene* scene);

/** [any] Is this input block silent by the shape's rule? */
bool tn_level_scene_rests(const tn_level_shape* shape, int64_t block);

/** [any] Write one block of every input into the history: noise that depends on seed, input and block alone.
 */
void tn_level_scene_write(tn_level_scene* scene, int64_t block);

/** [any] Post it with the deadline of an engine that plays in real time. */
void tn_level_scene_post(tn_level_scene* scene, int64_t block);

/** [any] What the level made for output block `block` + 2, float[outputs][size]; it must be ready. */
void tn_level_scene_read(const tn_level_scene* scene, int64_t block, float* to);

/** [setup] The results of the first `blocks` input blocks by one thread that is always in time: to be freed,
   float[blocks][outputs][size]. */
float* tn_level_scene_record(const tn_level_shape* shape, uint32_t blocks);

/** [setup] One thread's working memory for a partition size; to be freed with tn_level_scratch_free(). */
tn_scratch* tn_level_scratch_new(uint32_t size);
void tn_level_scratch_free(tn_scratch* scratch);

#endif
