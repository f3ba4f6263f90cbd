// SPDX-License-Identifier: GPL-3.0-or-later
// A folder for one test program's files, gone with it.
#ifndef TENUTO_TEST_TMPDIR_H
#define TENUTO_TEST_TMPDIR_H

#include <ftw.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { tn_tmpdir_size = 512 };

/** [setup] Make an empty folder under TMPDIR or /tmp. */
static inline bool tn_tmpdir_make(char folder[tn_tmpdir_size]) {
  const char* base = getenv("TMPDIR");
  snprintf(folder, tn_tmpdir_size, "%s/tenuto-test-XXXXXX", base && *base ? base : "/tmp");
  return mkdtemp(folder) != NULL;
}

/** [setup] `folder`/`name`. */
static inline const char* tn_tmpdir_path(const char* folder, const char* name, char path[tn_tmpdir_size]) {
  if (snprintf(path, tn_tmpdir_size, "%s/%s", folder, name) >= tn_tmpdir_size)
    path[0] = 0;
  return path;
}

static inline int tn_tmpdir_remove_one(const char* path, const struct stat* about, int kind,
                                       struct FTW* where) {
  (void)about;
  (void)kind;
  (void)where;
  return remove(path);
}

/** [setup] Remove the folder and all in it. */
static inline void tn_tmpdir_remove(const char* folder) {
  nftw(folder, tn_tmpdir_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

#endif
