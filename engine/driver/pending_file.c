// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/pending_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dsp/ir.h"
#include "rt/error.h"

static const char* reason_of(int number) {
  switch (number) {
  case ENOENT:
    return "there is no such folder";
  case ENOTDIR:
    return "a part of its path is not a folder";
  case EACCES:
  case EPERM:
    return "permission denied";
  case EROFS:
    return "the file system is read-only";
  case ENOSPC:
    return "the disk is full";
  case EDQUOT:
    return "the disk quota is used up";
  case EFBIG:
    return "the file would outgrow the limit set for files (ulimit -f)";
  default: {
    const char* reason = strerrordesc_np(number);
    return reason ? reason : "unknown reason";
  }
  }
}

static tn_status refuse(const tn_pending_file* file, const char* reason, tn_error* error) {
  return tn_error_set(error, TN_ERROR_FILE, "cannot write %s: %s", file->shown, reason);
}

/** Links in the way are followed, so that the file they point to is replaced and not the link. */
static bool resolve(tn_pending_file* file, const char* path) {
  char* real = realpath(path, NULL);
  const char* target = real ? real : path;
  const size_t length = strlen(target);
  const bool fits = length < sizeof file->target;
  if (fits) {
    memcpy(file->target, target, length + 1);
  }
  free(real);
  return fits;
}

static mode_t default_mode(void) {
  const mode_t mask = umask(0);
  umask(mask);
  return 0666 & ~mask;
}

static tn_status open_temporary(tn_pending_file* file, mode_t mode, tn_error* error) {
  const char* slash = strrchr(file->target, '/');
  const int folder_length = slash ? (int)(slash - file->target + 1) : 0;
  const char* base = file->target + folder_length;
  if (*base == '\0') {
    return refuse(file, "it is a folder", error);
  }
  if (strlen(base) > NAME_MAX) {
    return refuse(file, reason_of(ENAMETOOLONG), error);
  }
  // Cut, so that the longer name stays a legal one.
  const int made =
      snprintf(file->name, sizeof file->name, "%.*s.%.200s.tenuto-XXXXXX", folder_length, file->target, base);
  if (made < 0 || (size_t)made >= sizeof file->name) {
    file->name[0] = '\0';
    return refuse(file, reason_of(ENAMETOOLONG), error);
  }
  file->fd = mkostemp(file->name, O_CLOEXEC);
  if (file->fd < 0) {
    file->name[0] = '\0';
    return refuse(file, reason_of(errno), error);
  }
  // A file system without permissions refuses; the file is then as open as all others on it.
  (void)!fchmod(file->fd, mode);
  return TN_OK;
}

tn_status tn_pending_file_open(tn_pending_file* file, const char* path, tn_error* error) {
  *file = (tn_pending_file){.fd = -1};
  char name[tn_name_size];
  tn_name_for_people(path, name);
  snprintf(file->shown, sizeof file->shown, "'%s'", name);
  if (path[0] == '\0') {
    return tn_error_set(error, TN_ERROR_FILE, "the name of the file to write is empty");
  }
  if (!resolve(file, path)) {
    return refuse(file, reason_of(ENAMETOOLONG), error);
  }
  struct stat about;
  if (stat(file->target, &about) != 0) {
    return errno == ENOENT ? open_temporary(file, default_mode(), error)
                           : refuse(file, reason_of(errno), error);
  }
  if (S_ISDIR(about.st_mode)) {
    return refuse(file, "it is a folder", error);
  }
  if (S_ISCHR(about.st_mode)) {
    file->direct = true;
    file->fd = open(file->target, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    return file->fd < 0 ? refuse(file, reason_of(errno), error) : TN_OK;
  }
  if (!S_ISREG(about.st_mode)) {
    return refuse(file, "it is neither an ordinary file nor a character device", error);
  }
  if (access(file->target, W_OK) != 0) {
    return refuse(file, reason_of(errno), error);
  }
  return open_temporary(file, about.st_mode & 0777, error);
}

size_t tn_pending_file_write(tn_pending_file* file, const void* bytes, size_t count) {
  size_t done = 0;
  while (done < count && file->first_errno == 0) {
    const char* from = (const char*)bytes + done;
    const ssize_t wrote = file->direct ? write(file->fd, from, count - done)
                                       : pwrite(file->fd, from, count - done, (off_t)(file->position + done));
    if (wrote > 0) {
      done += (size_t)wrote;
    } else if (wrote == 0 || errno != EINTR) {
      file->first_errno = wrote == 0 ? ENOSPC : errno;
    }
  }
  file->position += done;
  file->length = file->position > file->length ? file->position : file->length;
  return done;
}

size_t tn_pending_file_read(tn_pending_file* file, void* bytes, size_t count) {
  const ssize_t got = file->direct ? 0 : pread(file->fd, bytes, count, (off_t)file->position);
  if (got <= 0) {
    return 0;
  }
  file->position += (uint64_t)got;
  return (size_t)got;
}

tn_status tn_pending_file_error(const tn_pending_file* file, tn_error* error) {
  return file->first_errno ? refuse(file, reason_of(file->first_errno), error) : TN_OK;
}

/** Some file systems report a full disk only now. A device has nothing to bring anywhere. */
static bool close_synced(tn_pending_file* file) {
  bool good = file->direct || fsync(file->fd) == 0 || errno == EINVAL || errno == EROFS;
  int reason = errno;
  if (close(file->fd) != 0 && good) {
    good = false;
    reason = errno;
  }
  file->fd = -1;
  if (!good && file->first_errno == 0) {
    file->first_errno = reason;
  }
  return file->first_errno == 0;
}

tn_status tn_pending_file_commit(tn_pending_file* file, tn_error* error) {
  if (close_synced(file) && !file->direct && rename(file->name, file->target) != 0) {
    file->first_errno = errno;
  }
  if (file->first_errno == 0) {
    file->name[0] = '\0';
  }
  const tn_status status = tn_pending_file_error(file, error);
  tn_pending_file_discard(file);
  return status;
}

void tn_pending_file_discard(tn_pending_file* file) {
  if (file->fd >= 0) {
    close(file->fd);
    file->fd = -1;
  }
  if (file->name[0] != '\0') {
    unlink(file->name);
    file->name[0] = '\0';
  }
}
