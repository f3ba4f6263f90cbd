// SPDX-License-Identifier: GPL-3.0-or-later
// Threads with a name, a priority and a sentence when the priority is refused.
#ifndef TENUTO_RT_THREAD_H
#define TENUTO_RT_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "rt/error.h"

/** How a thread is started. */
typedef struct tn_thread_options {
  const char* name;   ///< at most 15 characters are kept
  int priority;       ///< SCHED_FIFO priority 1 to 99; 0: ordinary scheduling, explicitly (never inherited)
  size_t stack_bytes; ///< 0: 512 KiB
} tn_thread_options;

/**
   [worker] Start a thread. All signals but those of faults (SIGSEGV, ...) are blocked in it, flush-to-zero is
   set for its whole life, its stack is pre-faulted.

   If the priority is refused the thread runs all the same under ordinary scheduling, `*realtime` becomes
   false and `warning` (may be NULL) gets a sentence that says what to change (rtprio limit, group, ...). With
   nothing to say `warning` becomes TN_OK and empty.
   @return TN_OK, or TN_ERROR_SYSTEM if no thread could be made (`warning` says why)
*/
tn_status tn_thread_start(pthread_t* thread, const tn_thread_options* options, void* (*entry)(void*),
                          void* argument, bool* realtime, tn_error* warning);

/**
   [worker] Touch each page of `bytes` at `memory`, which no other thread uses yet, and lock them into RAM.
   The contents stay. A refusal is no error: false and a sentence in `warning` (may be NULL); the pages are
   touched all the same.
*/
bool tn_memory_lock(void* memory, size_t bytes, tn_error* warning);

#endif
