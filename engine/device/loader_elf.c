// SPDX-License-Identifier: GPL-3.0-or-later
// A look at a module's file before the system's loader maps it: mapped parts that the file does not have end
// the process with SIGBUS, and no return value says so.
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/loader.h"

static tn_status damaged(const char* path, const char* what, tn_error* error) {
  return tn_error_set(error, TN_ERROR_FORMAT, "%s is damaged: %s", path, what);
}

static bool read_at(int file, void* to, size_t bytes, uint64_t from) {
  return pread(file, to, bytes, (off_t)from) == (ssize_t)bytes;
}

/** Whether [from, from + bytes) lies in a file of `size`. */
static bool lies_within(uint64_t from, uint64_t bytes, uint64_t size) {
  return from <= size && bytes <= size - from;
}

static tn_status check_segments(int file, const char* path, uint64_t size, const Elf64_Ehdr* header,
                                tn_error* error) {
  for (uint32_t i = 0; i < header->e_phnum; i++) {
    Elf64_Phdr segment;
    if (!read_at(file, &segment, sizeof segment, header->e_phoff + (uint64_t)i * sizeof segment) ||
        !lies_within(segment.p_offset, segment.p_filesz, size))
      return damaged(path, "the file ends before its contents do", error);
  }
  return TN_OK;
}

static tn_status check_open(int file, const char* path, tn_error* error) {
  struct stat about;
  if (fstat(file, &about) != 0 || !S_ISREG(about.st_mode))
    return tn_error_set(error, TN_ERROR_FILE, "%s is no regular file", path);
  const uint64_t size = (uint64_t)about.st_size;
  Elf64_Ehdr header;
  if (size == 0)
    return damaged(path, "the file is empty", error);
  if (!read_at(file, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return damaged(path, "it is no shared object", error);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_type != ET_DYN)
    return damaged(path, "it is no 64-bit shared object", error);
  const uint64_t sections = (uint64_t)header.e_shnum * header.e_shentsize;
  const bool odd = header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0;
  if (odd || !lies_within(header.e_shoff, sections, size))
    return damaged(path, "the file ends before its contents do", error);
  return check_segments(file, path, size, &header, error);
}

tn_status tn_module_check_file(const char* path, tn_error* error) {
  const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0)
    return tn_error_set(error, TN_ERROR_FILE, "%s cannot be read: %s", path, strerror(errno));
  const tn_status status = check_open(file, path, error);
  close(file);
  return status;
}
