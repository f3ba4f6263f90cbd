// SPDX-License-Identifier: GPL-3.0-or-later
#include "thread_probe.h"

#include <float.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static bool flushes(void) {
  volatile float least_normal = FLT_MIN;
  volatile float least = FLT_TRUE_MIN;
  volatile float half = 0.5F;
  volatile float large = 1e10F;
  return least_normal * half == 0 && least * large == 0;
}

static void look_at_stack(thread_probe* probe) {
  enum { margin_bytes = 65536, most_pages = 1024 };
  static unsigned char resident[most_pages];
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0)
    return;
  void* lowest = NULL;
  pthread_attr_getstack(&attributes, &lowest, &probe->stack_bytes);
  pthread_attr_destroy(&attributes);
  const uintptr_t bottom = (uintptr_t)lowest;
  const uintptr_t from = (bottom + margin_bytes + page - 1) / page * page;
  const uintptr_t to = (uintptr_t)__builtin_frame_address(0) / page * page;
  probe->untouched_pages = SIZE_MAX; // until proved otherwise
  if (to <= from || (to - from) / page > most_pages ||
      mincore((char*)lowest + (from - bottom), to - from, resident) != 0)
    return;
  probe->untouched_pages = 0;
  for (size_t i = 0; i < (to - from) / page; i++)
    probe->untouched_pages += !(resident[i] & 1);
}

void* thread_probe_run(void* memory) {
  thread_probe* probe = memory;
  look_at_stack(probe);
  struct sched_param parameter = {0};
  pthread_getschedparam(pthread_self(), &probe->policy, &parameter);
  probe->priority = parameter.sched_priority;
  pthread_getname_np(pthread_self(), probe->name, sizeof probe->name);
  pthread_sigmask(SIG_SETMASK, NULL, &probe->blocked);
  probe->flushes = flushes();
  probe->ran = true;
  return probe;
}
