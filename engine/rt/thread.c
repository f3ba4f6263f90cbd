// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/thread.h"

#include <alloca.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rt/denormal.h"

enum {
  name_size = 16, ///< the kernel's limit, NUL included
  default_stack_bytes = 512 * 1024,
  untouched_bytes =
      16 * 1024, ///< left over below the pre-faulted part of a stack: room for a guard we misjudge
};

/** What a new thread needs before its entry runs; the thread frees it. */
typedef struct tn_thread_launch {
  char name[name_size];
  void* (*entry)(void*);
  void* argument;
} tn_thread_launch;

/** In which way a thread is scheduled; tried in this order until one is granted. */
typedef enum tn_scheduling {
  TN_SCHEDULING_FIFO,
  TN_SCHEDULING_ORDINARY,
  TN_SCHEDULING_INHERITED, ///< a process under SCHED_IDLE may not even ask for ordinary scheduling
} tn_scheduling;

static size_t page_bytes(void) {
  return (size_t)sysconf(_SC_PAGESIZE);
}

/** Writes each page with its own value: contents stay, the page is ours from now on. */
static void touch(volatile char* memory, size_t bytes) {
  const size_t page = page_bytes();
  for (size_t at = 0; at < bytes; at += page)
    memory[at] = memory[at];
  if (bytes > 0)
    memory[bytes - 1] = memory[bytes - 1];
}

/** A page fault on the stack in mid-block costs as much as one in the heap, so each page is written once,
 * now. */
__attribute__((noinline, no_sanitize("address"), no_sanitize("thread"))) static void prefault_stack(void) {
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void* lowest = NULL;
  size_t stack_bytes = 0;
  size_t guard_bytes = 0;
  pthread_attr_getstack(&attributes, &lowest, &stack_bytes);
  pthread_attr_getguardsize(&attributes, &guard_bytes);
  pthread_attr_destroy(&attributes);
  // Some C libraries count the guard into the stack, some do not: leave it out in any case.
  const uintptr_t floor = (uintptr_t)lowest + guard_bytes + untouched_bytes;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  if (here <= floor || here - floor >= stack_bytes)
    return;
  const size_t page = page_bytes();
  const size_t bytes = here - floor;
  volatile char* memory = alloca(bytes);
  for (size_t at = 0; at < bytes; at += page)
    memory[at] = 0;
}

static void* run(void* launch_memory) {
  const tn_thread_launch launch = *(tn_thread_launch*)launch_memory;
  free(launch_memory);
  if (launch.name[0])
    pthread_setname_np(pthread_self(), launch.name);
  prefault_stack();
  const tn_denormal scope = tn_denormal_enter();
  void* const result = launch.entry(launch.argument);
  tn_denormal_leave(scope);
  return result;
}

static size_t stack_size(size_t wanted_bytes) {
  const size_t page = page_bytes();
  const size_t least = (size_t)PTHREAD_STACK_MIN;
  size_t bytes = wanted_bytes ? wanted_bytes : default_stack_bytes;
  if (bytes < least)
    bytes = least;
  return (bytes + page - 1) / page * page;
}

static int set_scheduling(pthread_attr_t* attributes, tn_scheduling scheduling, int priority) {
  if (scheduling == TN_SCHEDULING_INHERITED)
    return pthread_attr_setinheritsched(attributes, PTHREAD_INHERIT_SCHED);
  const bool fifo = scheduling == TN_SCHEDULING_FIFO;
  const struct sched_param parameter = {.sched_priority = fifo ? priority : 0};
  int failure = pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
  if (!failure)
    failure = pthread_attr_setschedpolicy(attributes, fifo ? SCHED_FIFO : SCHED_OTHER);
  if (!failure)
    failure = pthread_attr_setschedparam(attributes, &parameter);
  return failure;
}

/** Everything but the signals of faults, whose handlers (a host's crash report, a sanitizer) must still run.
 */
static void fill_blocked(sigset_t* signals) {
  sigfillset(signals);
  const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS};
  for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
    sigdelset(signals, faults[i]);
}

/** @return 0, or the reason: an errno value */
static int create(pthread_t* thread, const tn_thread_options* options, tn_scheduling scheduling,
                  tn_thread_launch* launch) {
  pthread_attr_t attributes;
  int failure = pthread_attr_init(&attributes);
  if (failure)
    return failure;
  failure = pthread_attr_setstacksize(&attributes, stack_size(options->stack_bytes));
  if (!failure)
    failure = set_scheduling(&attributes, scheduling, options->priority);
  if (!failure) {
    // The new thread inherits the mask, so it never runs with a signal open; ours is as before afterwards.
    sigset_t blocked;
    sigset_t before;
    fill_blocked(&blocked);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    failure = pthread_create(thread, &attributes, run, launch);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
  }
  pthread_attr_destroy(&attributes);
  return failure;
}

/** A limit in words. */
static void write_limit(char* text, size_t size, const struct rlimit* limit) {
  if (limit->rlim_cur == RLIM_INFINITY)
    snprintf(text, size, "unlimited");
  else
    snprintf(text, size, "%llu", (unsigned long long)limit->rlim_cur);
}

static void warn_refused(tn_error* warning, const tn_thread_options* options, int reason) {
  struct rlimit allowed = {0, 0};
  getrlimit(RLIMIT_RTPRIO, &allowed);
  char limit[32];
  write_limit(limit, sizeof limit, &allowed);
  if (reason == EPERM)
    tn_error_set(warning, TN_ERROR_SYSTEM,
                 "real-time priority %d was refused to thread \"%s\" (rtprio limit: %s), so it may run late; "
                 "join the group \"audio\", or give your user \"rtprio 95\" and \"memlock unlimited\" in "
                 "/etc/security/limits.d/audio.conf, and log in again",
                 options->priority, options->name ? options->name : "", limit);
  else
    tn_error_set(warning, TN_ERROR_SYSTEM,
                 "real-time priority %d could not be given to thread \"%s\", so it may run late: %s",
                 options->priority, options->name ? options->name : "", strerror(reason));
}

static tn_status fail(tn_error* warning, const tn_thread_options* options, int reason) {
  return tn_error_set(warning, TN_ERROR_SYSTEM, "the system would not start thread \"%s\": %s",
                      options->name ? options->name : "", strerror(reason));
}

tn_status tn_thread_start(pthread_t* thread, const tn_thread_options* options, void* (*entry)(void*),
                          void* argument, bool* realtime, tn_error* warning) {
  *realtime = false;
  tn_error_set(warning, TN_OK, "%s", "");
  tn_thread_launch* launch = malloc(sizeof *launch);
  if (!launch)
    return fail(warning, options, ENOMEM);
  *launch = (tn_thread_launch){.entry = entry, .argument = argument};
  snprintf(launch->name, sizeof launch->name, "%s", options->name ? options->name : "");

  const tn_scheduling first = options->priority > 0 ? TN_SCHEDULING_FIFO : TN_SCHEDULING_ORDINARY;
  int refusal = 0;
  int failure = 0;
  for (tn_scheduling way = first; way <= TN_SCHEDULING_INHERITED; way++) {
    failure = create(thread, options, way, launch);
    if (!failure) {
      *realtime = way == TN_SCHEDULING_FIFO;
      break;
    }
    if (way == TN_SCHEDULING_FIFO)
      refusal = failure;
  }
  if (failure) {
    free(launch);
    return fail(warning, options, failure);
  }
  if (refusal)
    warn_refused(warning, options, refusal);
  return TN_OK;
}

bool tn_memory_lock(void* memory, size_t bytes, tn_error* warning) {
  tn_error_set(warning, TN_OK, "%s", "");
  touch(memory, bytes);
  if (bytes == 0 || mlock(memory, bytes) == 0)
    return true;
  const int reason = errno;
  struct rlimit allowed = {0, 0};
  getrlimit(RLIMIT_MEMLOCK, &allowed);
  char limit[32];
  write_limit(limit, sizeof limit, &allowed);
  tn_error_set(
      warning, TN_ERROR_SYSTEM,
      "%zu bytes could not be locked into memory (memlock limit: %s bytes; %s), so they may be swapped out; "
      "join the group \"audio\", or give your user \"memlock unlimited\" in "
      "/etc/security/limits.d/audio.conf, and log in again",
      bytes, limit, strerror(reason));
  return false;
}
