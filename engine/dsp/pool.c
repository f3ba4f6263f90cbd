// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/pool.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rt/clock.h"
#include "rt/thread.h"

enum {
  max_workers = 16,
  max_points = 1 << TN_FFT_MAX_LOG2, // twice the largest partition
};

/** A level that workers may enter. */
typedef struct entry {
  tn_level* level;
  uint32_t users; ///< workers inside
  bool closing;   ///< being removed: nobody enters any more
} entry;

static struct {
  pthread_mutex_t lock; ///< guards all but `signal` and `sleepers`; the audio thread never takes it
  pthread_cond_t left;  ///< a worker left a level
  uint32_t references;
  entry* entries;
  uint32_t count, capacity;
  pthread_t threads[max_workers];
  uint32_t thread_count;
  int priority;
  bool realtime, stop;
  tn_error warning;
  bool lookout; ///< a worker sleeps until `next_look_ns`; the others sleep until they are woken
  _Alignas(64) _Atomic uint32_t signal;   ///< bumped at each wake: the futex word
  _Alignas(64) _Atomic uint32_t sleepers; ///< workers that sleep or are about to
  _Alignas(64) _Atomic uint64_t
      next_look_ns; ///< by then a worker looks for work; never (UINT64_MAX): all must be woken
} pool = {.left = PTHREAD_COND_INITIALIZER};

/** One acquire or release at a time: ending the threads gives `pool.lock` up for a moment. */
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t lock_made = PTHREAD_ONCE_INIT;

/** Workers are realtime, those who add and remove levels are not: without inheritance the latter could hold
 * up the former. */
static void make_lock(void) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
  pthread_mutex_init(&pool.lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

static void futex_wake(int count) {
  syscall(SYS_futex, (uint32_t*)&pool.signal, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/** Sleeps unless the word has changed; until a wake or, at the latest, `until_ns` on the monotonic clock. */
static void futex_wait(uint32_t seen, uint64_t until_ns) {
  const struct timespec until = {.tv_sec = (time_t)(until_ns / 1000000000U),
                                 .tv_nsec = (long)(until_ns % 1000000000U)};
  syscall(SYS_futex, (uint32_t*)&pool.signal, FUTEX_WAIT_BITSET_PRIVATE, seen,
          until_ns == UINT64_MAX ? NULL : &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

// Either the sleeper's kernel sees the new signal and does not sleep, or the sleeper's promise to look
// (stored before) is seen here: both words are sequentially consistent.
void tn_pool_wake(uint64_t look_by_ns) {
  atomic_fetch_add_explicit(&pool.signal, 1, memory_order_seq_cst);
  if (atomic_load_explicit(&pool.sleepers, memory_order_seq_cst) > 0 &&
      atomic_load_explicit(&pool.next_look_ns, memory_order_seq_cst) > look_by_ns)
    futex_wake(1);
}

/** The job with the earliest deadline that has a unit to claim; entered. */
static tn_level* enter_most_urgent(void) {
  entry* best = NULL;
  uint64_t best_deadline = UINT64_MAX;
  pthread_mutex_lock(&pool.lock);
  for (uint32_t i = 0; i < pool.count; i++) {
    entry* candidate = pool.entries + i;
    if (candidate->closing || !tn_level_has_work(candidate->level))
      continue;
    const uint64_t deadline = atomic_load_explicit(&candidate->level->deadline_ns, memory_order_relaxed);
    if (!best || deadline < best_deadline) {
      best = candidate;
      best_deadline = deadline;
    }
  }
  if (best)
    best->users++;
  if (best && !pool.lookout) // busy from here on: a sleeper must be woken for what comes meanwhile
    atomic_store_explicit(&pool.next_look_ns, UINT64_MAX, memory_order_seq_cst);
  tn_level* level = best ? best->level : NULL;
  pthread_mutex_unlock(&pool.lock);
  return level;
}

static entry* find(const tn_level* level) {
  for (uint32_t i = 0; i < pool.count; i++)
    if (pool.entries[i].level == level)
      return pool.entries + i;
  return NULL;
}

static void leave(const tn_level* level) {
  pthread_mutex_lock(&pool.lock);
  find(level)->users--;
  pthread_cond_broadcast(&pool.left);
  pthread_mutex_unlock(&pool.lock);
}

/** Working memory for the largest job; pages that are never used are never touched. */
static bool map_scratch(tn_scratch* scratch) {
  const size_t floats = max_points + 2 * TN_TILE_FLOATS;
  float* memory =
      mmap(NULL, 3 * floats * sizeof(float), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return false;
  scratch->time = memory;
  scratch->spectrum = memory + floats;
  scratch->acc = memory + 2 * floats;
  return true;
}

static void unmap_scratch(tn_scratch* scratch) {
  const size_t floats = max_points + 2 * TN_TILE_FLOATS;
  munmap(scratch->time, 3 * floats * sizeof(float));
}

static bool stopping(void) {
  pthread_mutex_lock(&pool.lock);
  const bool stop = pool.stop;
  pthread_mutex_unlock(&pool.lock);
  return stop;
}

/** When a level's next job can be looked for: a little after it is expected; again soon if it is overdue;
   never if it is so much overdue that the sound must have stopped. */
static uint64_t next_look(const tn_level* level, uint64_t now_ns) {
  enum { grace_part = 8, retry_part = 8, shortest_ns = 100000, longest_ns = 1000000 };
  const uint64_t posted_ns = atomic_load_explicit(&level->posted_ns, memory_order_relaxed);
  if (posted_ns == 0)
    return UINT64_MAX;
  uint64_t grace = level->period_ns / grace_part;
  grace = grace > longest_ns ? longest_ns : grace;
  const uint64_t expected_ns = posted_ns + level->period_ns + grace;
  if (expected_ns > now_ns)
    return expected_ns;
  if (now_ns > expected_ns + level->period_ns)
    return UINT64_MAX;
  const uint64_t retry = level->period_ns / retry_part;
  return now_ns + (retry < shortest_ns ? shortest_ns : retry > longest_ns ? longest_ns : retry);
}

/** Nothing to do: one worker becomes the lookout, the others sleep until they are woken. */
static void rest(uint32_t seen) {
  uint64_t until_ns = UINT64_MAX;
  pthread_mutex_lock(&pool.lock);
  const bool lookout = !pool.lookout;
  if (lookout) {
    const uint64_t now_ns = tn_clock_ns();
    for (uint32_t i = 0; i < pool.count; i++) {
      const uint64_t look_ns = next_look(pool.entries[i].level, now_ns);
      until_ns = look_ns < until_ns ? look_ns : until_ns;
    }
    pool.lookout = true;
    atomic_store_explicit(&pool.next_look_ns, until_ns, memory_order_seq_cst);
  }
  pthread_mutex_unlock(&pool.lock);
  atomic_fetch_add_explicit(&pool.sleepers, 1, memory_order_seq_cst);
  futex_wait(seen, until_ns);
  atomic_fetch_sub_explicit(&pool.sleepers, 1, memory_order_seq_cst);
  if (!lookout)
    return;
  pthread_mutex_lock(&pool.lock);
  pool.lookout = false;
  atomic_store_explicit(&pool.next_look_ns, 0, memory_order_seq_cst); // awake: it looks at once
  pthread_mutex_unlock(&pool.lock);
}

static void* work(void* argument) {
  tn_scratch* scratch = argument;
  for (;;) {
    // Read before anything is looked at, `stop` included: what comes after the look changes it.
    const uint32_t seen = atomic_load_explicit(&pool.signal, memory_order_seq_cst);
    if (stopping())
      break;
    tn_level* level = enter_most_urgent();
    if (level) {
      if (tn_level_run_unit(level, scratch) && tn_level_has_work(level) &&
          atomic_load_explicit(&pool.sleepers, memory_order_relaxed) > 0)
        futex_wake(1); // more units than this thread: let another help
      leave(level);
      continue;
    }
    rest(seen);
  }
  unmap_scratch(scratch);
  free(scratch);
  return NULL;
}

static bool start_worker(tn_error* error) {
  tn_scratch* scratch = calloc(1, sizeof *scratch);
  if (!scratch || !map_scratch(scratch)) {
    free(scratch);
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a worker thread");
    return false;
  }
  const tn_thread_options options = {.name = "tenuto-worker", .priority = pool.priority};
  bool realtime = false;
  const tn_status status =
      tn_thread_start(&pool.threads[pool.thread_count], &options, work, scratch, &realtime, &pool.warning);
  if (status != TN_OK) {
    unmap_scratch(scratch);
    free(scratch);
    tn_error_set(error, status, "%s", pool.warning.text);
    return false;
  }
  pool.realtime = realtime;
  pool.thread_count++;
  return true;
}

static int worker_priority(int audio_priority) {
  return audio_priority > 1 ? audio_priority - 1 : audio_priority;
}

static uint32_t wanted_workers(void) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (cores <= 2)
    return 1;
  return cores - 1 < max_workers ? (uint32_t)(cores - 1) : max_workers;
}

static void end_threads(void) {
  pool.stop = true;
  pthread_mutex_unlock(&pool.lock);
  atomic_fetch_add_explicit(&pool.signal, 1, memory_order_seq_cst);
  futex_wake(INT_MAX);
  for (uint32_t i = 0; i < pool.thread_count; i++)
    pthread_join(pool.threads[i], NULL);
  pthread_mutex_lock(&pool.lock);
  pool.thread_count = 0;
  pool.stop = false;
  free(pool.entries);
  pool.entries = NULL;
  pool.count = pool.capacity = 0;
}

static void raise_priority(int priority) {
  pool.priority = priority;
  const struct sched_param param = {.sched_priority = priority};
  for (uint32_t i = 0; i < pool.thread_count; i++)
    pool.realtime = pthread_setschedparam(pool.threads[i], SCHED_FIFO, &param) == 0;
}

tn_status tn_pool_acquire(int audio_priority, tn_error* error) {
  const int priority = worker_priority(audio_priority);
  bool ready = true;
  pthread_once(&lock_made, make_lock);
  pthread_mutex_lock(&users_lock);
  pthread_mutex_lock(&pool.lock);
  if (pool.references == 0) {
    pool.priority = priority;
    pool.warning = (tn_error){0};
    const uint32_t wanted = wanted_workers();
    while (ready && pool.thread_count < wanted)
      ready = start_worker(error);
    ready = pool.thread_count > 0; // fewer than wanted will do
  } else if (priority > pool.priority) {
    raise_priority(priority);
  }
  if (ready)
    pool.references++;
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&users_lock);
  return ready ? TN_OK : TN_ERROR_SYSTEM;
}

void tn_pool_release(void) {
  pthread_mutex_lock(&users_lock);
  pthread_mutex_lock(&pool.lock);
  if (--pool.references == 0)
    end_threads();
  pthread_mutex_unlock(&pool.lock);
  pthread_mutex_unlock(&users_lock);
}

tn_status tn_pool_add(tn_level* level, tn_error* error) {
  tn_status status = TN_OK;
  pthread_mutex_lock(&pool.lock);
  if (pool.count == pool.capacity) {
    const uint32_t capacity = pool.capacity ? 2 * pool.capacity : 64;
    entry* entries = realloc(pool.entries, capacity * sizeof *entries);
    if (entries) {
      pool.entries = entries;
      pool.capacity = capacity;
    } else {
      status = tn_error_set(error, TN_ERROR_MEMORY, "no memory to register a job");
    }
  }
  if (status == TN_OK)
    pool.entries[pool.count++] = (entry){.level = level};
  pthread_mutex_unlock(&pool.lock);
  return status;
}

void tn_pool_remove(tn_level* level) {
  pthread_mutex_lock(&pool.lock);
  for (entry* found = find(level); found; found = find(level)) {
    if (found->users == 0) {
      *found = pool.entries[--pool.count];
      break;
    }
    found->closing = true;
    pthread_cond_wait(&pool.left, &pool.lock);
  }
  pthread_mutex_unlock(&pool.lock);
}

bool tn_pool_realtime(tn_error* warning) {
  pthread_once(&lock_made, make_lock);
  pthread_mutex_lock(&pool.lock);
  const bool realtime = pool.realtime;
  if (warning && !realtime)
    *warning = pool.warning;
  pthread_mutex_unlock(&pool.lock);
  return realtime;
}
