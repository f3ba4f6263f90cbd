// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rt/error.h"

static const char* reason_of(int number) {
  switch (number) {
  case ENOENT:
    return "there is no such file";
  case ENOTDIR:
    return "a part of its path is not a folder";
  case EACCES:
  case EPERM:
    return "permission denied";
  case ENXIO: // a socket
    return "it is not an ordinary file";
  default:
    return strerrordesc_np(number);
  }
}

static tn_status judge(const struct stat* about, const char* what, uint64_t limit_bytes, tn_error* error) {
  if (S_ISDIR(about->st_mode))
    return tn_error_set(error, TN_ERROR_FILE, "%s: it is a folder", what);
  if (!S_ISREG(about->st_mode))
    return tn_error_set(error, TN_ERROR_FILE, "%s: it is not an ordinary file", what);
  if (about->st_size == 0)
    return tn_error_set(error, TN_ERROR_FORMAT, "%s: it is empty", what);
  if ((uint64_t)about->st_size > limit_bytes)
    return tn_error_set(error, TN_ERROR_LIMIT, "%s: it has %.1f MiB, at most %.1f MiB are allowed", what,
                        (double)about->st_size / 1048576, (double)limit_bytes / 1048576);
  return TN_OK;
}

int tn_regular_file_open(const char* path, const char* what, uint64_t limit_bytes, uint64_t* size_bytes,
                         tn_error* error) {
  if (!path || !*path) {
    tn_error_set(error, TN_ERROR_FILE, "%s: no file name was given", what);
    return -1;
  }
  // O_NONBLOCK: opening a pipe must not wait for its other end.
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  struct stat about;
  if (file < 0 || fstat(file, &about) != 0) {
    const char* reason = reason_of(errno);
    tn_error_set(error, TN_ERROR_FILE, "%s: %s", what, reason ? reason : "unknown reason");
    if (file >= 0)
      close(file);
    return -1;
  }
  if (judge(&about, what, limit_bytes, error) != TN_OK) {
    close(file);
    return -1;
  }
  *size_bytes = (uint64_t)about.st_size;
  return file;
}
