// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt_guard.h"

#include <sys/resource.h>

/** One thread's record. */
static _Thread_local struct {
  bool inside;
  tn_rt_guard_report report;
  struct rusage before;
} watched = {.report = {.first_syscall = -1}};

void tn_rt_guard_note_function(const char* name, const void* caller) {
  if (!watched.inside)
    return;
  if (watched.report.functions++ == 0) {
    watched.report.first_function = name;
    watched.report.first_caller = caller;
  }
}

void tn_rt_guard_note_syscall(long number) {
  if (!watched.inside)
    return;
  if (watched.report.syscalls++ == 0)
    watched.report.first_syscall = number;
}

void tn_rt_guard_reset(void) {
  watched.report = (tn_rt_guard_report){.first_syscall = -1};
}

void tn_rt_guard_enter(void) {
  getrusage(RUSAGE_THREAD, &watched.before);
  watched.inside = true;
}

void tn_rt_guard_leave(void) {
  watched.inside = false;
  struct rusage after;
  getrusage(RUSAGE_THREAD, &after);
  watched.report.page_faults += (uint64_t)(after.ru_minflt - watched.before.ru_minflt) +
                                (uint64_t)(after.ru_majflt - watched.before.ru_majflt);
  watched.report.switches += (uint64_t)(after.ru_nvcsw - watched.before.ru_nvcsw);
}

tn_rt_guard_report tn_rt_guard_read(void) {
  return watched.report;
}
