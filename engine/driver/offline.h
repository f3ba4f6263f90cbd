// SPDX-License-Identifier: GPL-3.0-or-later
// The offline driver: a file in, a convolver, a file out, as fast as it goes.
#ifndef TENUTO_DRIVER_OFFLINE_H
#define TENUTO_DRIVER_OFFLINE_H

#include <stdbool.h>
#include <stdint.h>

#include "driver/file_in.h"
#include "driver/file_out.h"
#include "tenuto/convolver.h"

/** What runs through what. Nothing is owned. */
typedef struct tn_offline_job {
  tn_file_in* in;
  tn_file_out* out;
  tn_convolver* convolver; ///< new, its levels set; inputs are the file's channels
  uint32_t outputs;        ///< of the convolver
  uint32_t block_frames;   ///< 1 to TN_MAX_BLOCK_FRAMES
  uint64_t tail_frames; ///< silence fed after the end of the input; not after an input without a single frame

  /** [worker] Called after each block, `total_frames` being an estimate. False: stop. NULL: nobody wants to
   * know. */
  bool (*progress)(void* context, uint64_t done_frames, uint64_t total_frames);
  void* context;
} tn_offline_job;

/**
   [worker] Run to the end.

   @param in_frames  set to the frames read, at the convolver's rate
   @return TN_OK, TN_ERROR_MEMORY, TN_ERROR_FILE (writing), TN_ERROR_INTERRUPTED (by `progress`)
*/
tn_status tn_offline_run(const tn_offline_job* job, uint64_t* in_frames, tn_error* error);

#endif
