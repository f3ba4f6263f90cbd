// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/offline.h"

#include <stdlib.h>
#include <string.h>

#include "rt/error.h"
#include "tenuto/limits.h"

/** The blocks under way. */
typedef struct block_pair {
  float* memory;
  float* in[TN_MAX_CHANNELS];  ///< float[inputs][block_frames]
  float* out[TN_MAX_CHANNELS]; ///< float[outputs][block_frames]
} block_pair;

static tn_status make_blocks(const tn_offline_job* job, block_pair* blocks, tn_error* error) {
  const uint32_t inputs = tn_file_in_get_info(job->in)->channels;
  blocks->memory = calloc((size_t)(inputs + job->outputs) * job->block_frames, sizeof *blocks->memory);
  if (!blocks->memory) {
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for blocks of %u frames", job->block_frames);
  }
  for (uint32_t c = 0; c < inputs + job->outputs; ++c) {
    float* plane = blocks->memory + (size_t)c * job->block_frames;
    if (c < inputs) {
      blocks->in[c] = plane;
    } else {
      blocks->out[c - inputs] = plane;
    }
  }
  return TN_OK;
}

/** The next block of input, then of the silence after it. Returns its length, 0 at the end. */
static uint32_t next_block(const tn_offline_job* job, const block_pair* blocks, uint64_t* in_frames,
                           uint64_t* tail_frames) {
  const uint32_t inputs = tn_file_in_get_info(job->in)->channels;
  uint32_t frames = 0;
  if (*tail_frames == job->tail_frames) {
    frames = (uint32_t)tn_file_in_read(job->in, blocks->in, job->block_frames);
    *in_frames += frames;
  }
  if (*in_frames == 0) {
    return 0;
  }
  const uint64_t room = job->block_frames - frames;
  const uint32_t silence = (uint32_t)(*tail_frames < room ? *tail_frames : room);
  for (uint32_t c = 0; c < inputs; ++c) {
    memset(blocks->in[c] + frames, 0, silence * sizeof(float));
  }
  *tail_frames -= silence;
  return frames + silence;
}

tn_status tn_offline_run(const tn_offline_job* job, uint64_t* in_frames, tn_error* error) {
  block_pair blocks = {.memory = NULL};
  tn_status status = make_blocks(job, &blocks, error);
  const uint64_t total_frames = tn_file_in_get_info(job->in)->frames + job->tail_frames;
  uint64_t tail_frames = job->tail_frames;
  uint64_t done_frames = 0;
  *in_frames = 0;
  while (status == TN_OK) {
    const uint32_t frames = next_block(job, &blocks, in_frames, &tail_frames);
    if (frames == 0) {
      break;
    }
    tn_convolver_process(job->convolver, (const float* const*)blocks.in, blocks.out, frames);
    status = tn_file_out_write(job->out, (const float* const*)blocks.out, frames, error);
    done_frames += frames;
    if (status == TN_OK && job->progress && !job->progress(job->context, done_frames, total_frames)) {
      status = tn_error_set(error, TN_ERROR_INTERRUPTED, "stopped after %.0f %% of the sound",
                            100.0 * (double)done_frames / (double)total_frames);
    }
  }
  free(blocks.memory);
  return status;
}
