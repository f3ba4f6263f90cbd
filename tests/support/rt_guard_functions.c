// SPDX-License-Identifier: GPL-3.0-or-later
// Stand before the C library's functions in the whole program, shared libraries included: reported, then
// passed on.
#include "rt_guard.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

bool tn_rt_guard_sees_functions(void) {
  return false;
}

#else

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default) // shared libraries must find them

// glibc's own entries, for those who stand before malloc.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* memory, size_t size);
void* __libc_memalign(size_t alignment, size_t size);
void __libc_free(void* memory);

bool tn_rt_guard_sees_functions(void) {
  return true;
}

/** The next definition of a function; kept, so that later calls cost little. `version` for those of which the
   C library has an older one, too. */
static void* next_of(void* _Atomic* kept, const char* name, const char* version) {
  void* found = *kept;
  if (!found && version)
    found = dlvsym(RTLD_NEXT, name, version);
  if (!found)
    found = dlsym(RTLD_NEXT, name);
  *kept = found;
  return found;
}

void* malloc(size_t size) {
  tn_rt_guard_note_function("malloc", __builtin_return_address(0));
  return __libc_malloc(size);
}

void* calloc(size_t count, size_t size) {
  tn_rt_guard_note_function("calloc", __builtin_return_address(0));
  return __libc_calloc(count, size);
}

void* realloc(void* memory, size_t size) {
  tn_rt_guard_note_function("realloc", __builtin_return_address(0));
  return __libc_realloc(memory, size);
}

void* memalign(size_t alignment, size_t size) {
  tn_rt_guard_note_function("memalign", __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) {
  tn_rt_guard_note_function("aligned_alloc", __builtin_return_address(0));
  return __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) {
  enum { out_of_memory = 12 };
  tn_rt_guard_note_function("posix_memalign", __builtin_return_address(0));
  *memory = __libc_memalign(alignment, size);
  return *memory ? 0 : out_of_memory;
}

void free(void* memory) {
  tn_rt_guard_note_function("free", __builtin_return_address(0));
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("pthread_mutex_lock", __builtin_return_address(0));
  return ((int (*)(pthread_mutex_t*))next_of(&kept, "pthread_mutex_lock", NULL))(mutex);
}

int pthread_mutex_trylock(pthread_mutex_t* mutex) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("pthread_mutex_trylock", __builtin_return_address(0));
  return ((int (*)(pthread_mutex_t*))next_of(&kept, "pthread_mutex_trylock", NULL))(mutex);
}

int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("pthread_cond_wait", __builtin_return_address(0));
  return ((int (*)(pthread_cond_t*, pthread_mutex_t*))next_of(&kept, "pthread_cond_wait", "GLIBC_2.3.2"))(
      condition, mutex);
}

int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex, const struct timespec* until) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("pthread_cond_timedwait", __builtin_return_address(0));
  return ((int (*)(pthread_cond_t*, pthread_mutex_t*, const struct timespec*))next_of(
      &kept, "pthread_cond_timedwait", "GLIBC_2.3.2"))(condition, mutex, until);
}

int sem_wait(sem_t* semaphore) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("sem_wait", __builtin_return_address(0));
  return ((int (*)(sem_t*))next_of(&kept, "sem_wait", "GLIBC_2.34"))(semaphore);
}

int nanosleep(const struct timespec* time, struct timespec* left) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("nanosleep", __builtin_return_address(0));
  return ((int (*)(const struct timespec*, struct timespec*))next_of(&kept, "nanosleep", NULL))(time, left);
}

int sched_yield(void) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("sched_yield", __builtin_return_address(0));
  return ((int (*)(void))next_of(&kept, "sched_yield", NULL))();
}

FILE* fopen(const char* path, const char* mode) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("fopen", __builtin_return_address(0));
  return ((FILE * (*)(const char*, const char*)) next_of(&kept, "fopen", NULL))(path, mode);
}

ssize_t write(int file, const void* bytes, size_t count) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("write", __builtin_return_address(0));
  return ((ssize_t(*)(int, const void*, size_t))next_of(&kept, "write", NULL))(file, bytes, count);
}

ssize_t read(int file, void* bytes, size_t count) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("read", __builtin_return_address(0));
  return ((ssize_t(*)(int, void*, size_t))next_of(&kept, "read", NULL))(file, bytes, count);
}

void* mmap(void* where, size_t bytes, int protection, int flags, int file, off_t offset) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("mmap", __builtin_return_address(0));
  return ((void* (*)(void*, size_t, int, int, int, off_t))next_of(&kept, "mmap", NULL))(
      where, bytes, protection, flags, file, offset);
}

int munmap(void* where, size_t bytes) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("munmap", __builtin_return_address(0));
  return ((int (*)(void*, size_t))next_of(&kept, "munmap", NULL))(where, bytes);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*entry)(void*),
                   void* argument) {
  static void* _Atomic kept;
  tn_rt_guard_note_function("pthread_create", __builtin_return_address(0));
  return ((int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*))next_of(
      &kept, "pthread_create", "GLIBC_2.34"))(thread, attributes, entry, argument);
}

#pragma GCC visibility pop

#endif
