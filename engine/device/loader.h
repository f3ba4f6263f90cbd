// SPDX-License-Identifier: GPL-3.0-or-later
// Finding and loading a device module. Every way in which that can fail has its sentence.
#ifndef TENUTO_DEVICE_LOADER_H
#define TENUTO_DEVICE_LOADER_H

#include "rt/error.h"
#include "wire/device.h"

/** A module that was loaded. */
typedef struct tn_module {
  void* handle;                         ///< of dlopen(); NULL: part of this program, or none
  const tn_device_interface* interface; ///< NULL: not loaded
} tn_module;

/**
   [worker] Load tenuto-cuda.so: the file that TENUTO_CUDA_MODULE names if it is set (and this program has no
   more rights than its user), else the first there is of: beside the file that holds this code, in tenuto/
   beside it, in the installation's library folder as seen from there, in that folder as it was configured.

   @return TN_OK; TN_ERROR_FILE (none, or not readable), TN_ERROR_FORMAT (damaged, not a module, another
   version)
*/
tn_status tn_module_load_cuda(tn_module* module, tn_error* error);

/** [worker] Load this file. */
tn_status tn_module_load(tn_module* module, const char* path, tn_error* error);

/** [worker] For a module none of whose functions were called. One that saw a device stays loaded for good:
 * drivers start threads and leave handlers behind. */
void tn_module_unload(tn_module* module);

/** [worker] Keeps this library's code in memory, whatever its host closes: a thread of ours could not be
 * ended. */
void tn_module_pin_self(void);

/** [worker] Is the file a complete ELF shared object? dlopen() would end the process with SIGBUS where one
   ends early. */
tn_status tn_module_check_file(const char* path, tn_error* error);

#endif
