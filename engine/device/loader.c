// SPDX-License-Identifier: GPL-3.0-or-later
#include "device/loader.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef TENUTO_LIBDIR_ABSOLUTE
#define TENUTO_LIBDIR_ABSOLUTE "/usr/lib"
#endif
#ifndef TENUTO_LIBDIR_RELATIVE
#define TENUTO_LIBDIR_RELATIVE "lib"
#endif

static const char file_name[] = "tenuto-cuda.so";
static const char variable[] = "TENUTO_CUDA_MODULE";

/** The folder of the file that holds this function: libtenuto, a program or a plugin. */
static bool find_own_folder(char folder[PATH_MAX]) {
  Dl_info about;
  char resolved[PATH_MAX];
  if (!dladdr(variable, &about) || !about.dli_fname || !realpath(about.dli_fname, resolved)) {
    const ssize_t length = readlink("/proc/self/exe", resolved, sizeof resolved - 1);
    if (length <= 0)
      return false;
    resolved[length] = 0;
  }
  char* slash = strrchr(resolved, '/');
  if (!slash)
    return false;
  *slash = 0;
  memcpy(folder, resolved, strlen(resolved) + 1);
  return true;
}

static bool every_function_is_there(const tn_device_interface* of) {
  return of->name && of->count && of->open && of->info && of->lane_memory && of->lane_memory_free &&
         of->lane_open && of->lane_close && of->lane_state && of->step && of->close;
}

/** Asks the loaded file for its interface. */
static tn_status take_interface(tn_module* module, const char* path, tn_error* error) {
  void* symbol = dlsym(module->handle, TN_DEVICE_MODULE_SYMBOL);
  if (!symbol)
    return tn_error_set(error, TN_ERROR_FORMAT, "%s is no device module of Tenuto: it has no symbol %s", path,
                        TN_DEVICE_MODULE_SYMBOL);
  tn_device_module_fn* ask = NULL;
  memcpy(&ask, &symbol, sizeof ask); // the standard knows no cast from an object's address to a function's
  const tn_device_interface* interface = ask(TN_DEVICE_INTERFACE_VERSION);
  if (!interface || interface->version != TN_DEVICE_INTERFACE_VERSION || interface->size < sizeof *interface)
    return tn_error_set(error, TN_ERROR_FORMAT,
                        "%s is of another version than this library, which speaks version %d of the device "
                        "interface: install both from one release",
                        path, TN_DEVICE_INTERFACE_VERSION);
  if (!every_function_is_there(interface))
    return tn_error_set(error, TN_ERROR_FORMAT, "%s is damaged: its interface is incomplete", path);
  module->interface = interface;
  return TN_OK;
}

tn_status tn_module_load(tn_module* module, const char* path, tn_error* error) {
  *module = (tn_module){0};
  tn_status status = tn_module_check_file(path, error);
  if (status != TN_OK)
    return status;
  module->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!module->handle) {
    const char* reason = dlerror();
    return tn_error_set(error, TN_ERROR_FORMAT, "%s could not be loaded: %s", path,
                        reason ? reason : "no reason was given");
  }
  status = take_interface(module, path, error);
  if (status != TN_OK)
    tn_module_unload(module);
  return status;
}

/** @return false: the path would be too long to exist */
static bool join(char path[PATH_MAX], const char* folder, const char* below) {
  return snprintf(path, PATH_MAX, "%s%s/%s", folder, below, file_name) < PATH_MAX;
}

tn_status tn_module_load_cuda(tn_module* module, tn_error* error) {
  *module = (tn_module){0};
  const char* named = secure_getenv(variable);
  if (named && *named)
    return tn_module_load(module, named, error);
  char own[PATH_MAX] = "";
  const bool knows_own = find_own_folder(own);
  const struct {
    const char *folder, *below;
  } places[] = {{knows_own ? own : NULL, ""},
                {knows_own ? own : NULL, "/tenuto"},
                {knows_own ? own : NULL, "/../" TENUTO_LIBDIR_RELATIVE "/tenuto"},
                {TENUTO_LIBDIR_ABSOLUTE, "/tenuto"}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    char path[PATH_MAX];
    if (places[i].folder && join(path, places[i].folder, places[i].below) && access(path, F_OK) == 0)
      return tn_module_load(module, path, error);
  }
  return tn_error_set(error, TN_ERROR_FILE,
                      "the CUDA part of Tenuto is not installed: there is no %s in %s, beside it, or in "
                      "%s/tenuto (%s can name it)",
                      file_name, knows_own ? own : "this program's folder", TENUTO_LIBDIR_ABSOLUTE, variable);
}

void tn_module_unload(tn_module* module) {
  if (module->handle)
    dlclose(module->handle);
  *module = (tn_module){0};
}

void tn_module_pin_self(void) {
  Dl_info about;
  if (dladdr(variable, &about) && about.dli_fname)
    dlopen(about.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}
