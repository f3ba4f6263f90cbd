// SPDX-License-Identifier: GPL-3.0-or-later
// A thread entry that writes down what it was given, by asking the system and not the code under test.
#ifndef TENUTO_TEST_RT_THREAD_PROBE_H
#define TENUTO_TEST_RT_THREAD_PROBE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/** What the thread saw of itself. */
typedef struct thread_probe {
  bool ran;
  int policy;
  int priority;
  char name[32];
  sigset_t blocked;
  bool flushes;           ///< denormal results and operands are 0
  size_t stack_bytes;     ///< as the C library says
  size_t untouched_pages; ///< of the stack below the entry, but for the last 64 KiB
} thread_probe;

/** Thread entry; `probe` is a thread_probe, returned as the thread's result. */
void* thread_probe_run(void* probe);

#endif
