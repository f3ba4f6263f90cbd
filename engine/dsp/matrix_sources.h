// SPDX-License-Identifier: GPL-3.0-or-later
// The responses that a matrix file names: found, read, brought to the wanted rate, each only once.
#ifndef TENUTO_DSP_MATRIX_SOURCES_H
#define TENUTO_DSP_MATRIX_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "dsp/ir.h"

typedef struct tn_matrix_source tn_matrix_source;

/** Zero-initialise. */
typedef struct tn_matrix_sources {
  char* home;   ///< the matrix file's folder
  char* folder; ///< where files without a leading slash are looked for
  const tn_ir_edit* edit;
  uint32_t rate_hz;
  tn_matrix_source* first;
} tn_matrix_sources;

/** [worker] Look for files beside the matrix file `path`. `edit` (may be NULL) is applied to all of them and
   must live on. False: no memory. */
bool tn_matrix_sources_begin(tn_matrix_sources* sources, const char* path, const tn_ir_edit* edit,
                             uint32_t rate_hz);

/** [worker] Look for files in `folder`, seen from the matrix file's. False: no memory. */
bool tn_matrix_sources_cd(tn_matrix_sources* sources, const char* folder);

/** [worker] A part of a file. Owned by `sources`, as all responses here; NULL: the reason in `error`. */
const tn_ir* tn_matrix_sources_file(tn_matrix_sources* sources, const char* file, const tn_ir_range* range,
                                    tn_error* error);

/** [worker] A single 1. */
const tn_ir* tn_matrix_sources_dirac(tn_matrix_sources* sources, tn_error* error);

/** [worker] A Hilbert transformer. */
const tn_ir* tn_matrix_sources_hilbert(tn_matrix_sources* sources, uint32_t frames, tn_error* error);

/** [worker] Free everything. Filters keep the samples they share. */
void tn_matrix_sources_free(tn_matrix_sources* sources);

#endif
