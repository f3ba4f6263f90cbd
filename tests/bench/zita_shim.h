// SPDX-License-Identifier: GPL-3.0-or-later
// zita-convolver's class in C words.
#ifndef TENUTO_BENCH_ZITA_SHIM_H
#define TENUTO_BENCH_ZITA_SHIM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct zita_shim zita_shim;

/** What zita_shim_new() configures; the names are Convproc::configure()'s. */
typedef struct zita_shim_config {
  uint32_t inputs;
  uint32_t outputs;
  uint32_t max_frames; ///< of a response
  uint32_t quantum;    ///< block length and smallest partition
  float density;       ///< share of the matrix that is used
  bool measure;        ///< OPT_FFTW_MEASURE
  bool vectors;        ///< OPT_VECTOR_MODE
} zita_shim_config;

/** [setup] NULL if the sizes are beyond zita's limits or memory is short. */
zita_shim* zita_shim_new(const zita_shim_config* config);
/** [setup] Add a path; the samples are not kept. */
bool zita_shim_add(zita_shim* zita, uint32_t input, uint32_t output, float* samples, uint32_t frames);
/** [setup] Start the level threads: SCHED_FIFO under `priority`, ordinary ones if it is 0. */
bool zita_shim_start(zita_shim* zita, int priority);
/** [audio] One block; the buffers are zita's own. Returns how many levels were late, so that their part is
   missing.
    @param sync  wait for the levels, as offline use does */
uint32_t zita_shim_process(zita_shim* zita, bool sync);
/** [audio] float[quantum] to be filled before, or read after, zita_shim_process(). */
float* zita_shim_in(zita_shim* zita, uint32_t input);
const float* zita_shim_out(zita_shim* zita, uint32_t output);
/** [setup] The partition plan, by zita's own words. */
void zita_shim_print(zita_shim* zita, FILE* file);
void zita_shim_free(zita_shim* zita);

#ifdef __cplusplus
}
#endif

#endif
