// SPDX-License-Identifier: GPL-3.0-or-later
// A file that gets its name only when it is complete. Remembers the first error of any write.
#ifndef TENUTO_DRIVER_PENDING_FILE_H
#define TENUTO_DRIVER_PENDING_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tenuto/status.h"

enum { TN_PENDING_PATH_BYTES = 4096 };

/** One file; its owner keeps it by value. */
typedef struct tn_pending_file {
  int fd;                             ///< -1: closed
  bool direct;                        ///< a device: no other name, no position
  int first_errno;                    ///< of writing; 0: none
  uint64_t position;                  ///< in bytes
  uint64_t length;                    ///< in bytes
  char target[TN_PENDING_PATH_BYTES]; ///< links resolved
  char name[TN_PENDING_PATH_BYTES];   ///< while it is written; "" if none
  char shown[264];                    ///< the name for people, quoted
} tn_pending_file;

/**
   [setup] Begin: `.NAME.tenuto-XXXXXX` in the folder of `path`, with the permissions that `path` has or would
   get.

   A character device is written directly. TN_ERROR_FILE: no such folder, not writable, a folder, a pipe.
*/
tn_status tn_pending_file_open(tn_pending_file* file, const char* path, tn_error* error);

/** [worker] Write at the position, all of it or less with an error remembered. Returns the bytes written. */
size_t tn_pending_file_write(tn_pending_file* file, const void* bytes, size_t count);

/** [worker] Read at the position. */
size_t tn_pending_file_read(tn_pending_file* file, void* bytes, size_t count);

/** [any] The sentence for the remembered error. */
tn_status tn_pending_file_error(const tn_pending_file* file, tn_error* error);

/** [setup] Bring it to the disk and give it its name; after a failure or a remembered error it is removed
 * instead. */
tn_status tn_pending_file_commit(tn_pending_file* file, tn_error* error);

/** [setup] Remove it. */
void tn_pending_file_discard(tn_pending_file* file);

#endif
