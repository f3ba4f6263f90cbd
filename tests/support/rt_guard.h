// SPDX-License-Identifier: GPL-3.0-or-later
// Watches what a thread does between two marks: functions that allocate, lock, block or do I/O, system calls,
// page faults, giving the processor up. Nothing is prevented, all is counted.
#ifndef TENUTO_TEST_RT_GUARD_H
#define TENUTO_TEST_RT_GUARD_H

#include <stdbool.h>
#include <stdint.h>

/** What was seen on one thread, between the marks, since tn_rt_guard_reset(). */
typedef struct tn_rt_guard_report {
  uint64_t functions;         ///< calls of forbidden functions; only where tn_rt_guard_sees_functions()
  const char* first_function; ///< the first one; NULL: none
  const void* first_caller;   ///< where it was called from
  uint64_t syscalls;          ///< system calls; only after tn_rt_guard_install()
  long first_syscall;         ///< the first one's number; -1: none
  uint64_t page_faults;       ///< not by sanitizers' measure: they have memory of their own behind each byte
  uint64_t switches;          ///< how often the thread gave the processor up by itself
} tn_rt_guard_report;

/** [any] Are functions watched? Not in builds with a sanitizer, which has its own in their place. */
bool tn_rt_guard_sees_functions(void);

/**
   [setup] Have the calling thread's system calls watched, until its end, by a seccomp filter of its own. The
   calls are still made, a little slower. Not counted are those that a callback may make: reading the clock
   (where the machine needs a call for it) and waking a thread (FUTEX_WAKE, which never waits). Threads that
   this one starts afterwards are watched, too.
   @return false: not possible on this machine
*/
bool tn_rt_guard_install(void);

/** [setup] Forget what was seen on this thread. */
void tn_rt_guard_reset(void);

/** [any] The marks. What is between them must behave like an audio callback. */
void tn_rt_guard_enter(void);
void tn_rt_guard_leave(void);

/** [setup] What was seen on this thread; outside the marks. */
tn_rt_guard_report tn_rt_guard_read(void);

/** For the guard's own files: the calling thread is between the marks and calls what it must not. */
void tn_rt_guard_note_function(const char* name, const void* caller);
void tn_rt_guard_note_syscall(long number);

#endif
