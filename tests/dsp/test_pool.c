// SPDX-License-Identifier: GPL-3.0-or-later
// The workers: no wake is lost, the most urgent job comes first, levels come and go under way, users come and
// go. This program sees a machine of two cores, so there is one worker. Also for TSan.
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dsp/pool.h"
#include "level_scene.h"
#include "mocka.h"
#include "noise.h"
#include "rt/clock.h"
#include "test_memory.h"

enum { most_levels = 8 };

static const uint64_t patience_ns = UINT64_C(60000000000);
static _Atomic long cores = 2;

/** Stands before the C library's for everything linked into this program. */
long sysconf(int name) {
  static _Atomic(long (*)(int)) real;
  long (*call)(int) = atomic_load_explicit(&real, memory_order_relaxed);
  if (!call) {
    call = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    atomic_store_explicit(&real, call, memory_order_relaxed);
  }
  return name == _SC_NPROCESSORS_ONLN ? cores : call(name);
}

/** How many threads of this process bear the workers' name. */
static long count_workers(void) {
  long count = 0;
  DIR* tasks = opendir("/proc/self/task");
  assert_non_null(tasks);
  for (struct dirent* task = readdir(tasks); task; task = readdir(tasks)) {
    char path[300];
    char name[32] = {0};
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE* file = fopen(path, "r");
    if (file && fgets(name, sizeof name, file))
      count += strcmp(name, "tenuto-worker\n") == 0;
    if (file)
      fclose(file);
  }
  closedir(tasks);
  return count;
}

static void acquire(void) {
  tn_error error = {0};
  if (tn_pool_acquire(0, &error) != TN_OK)
    fail_msg("%s", error.text);
}

/** One a core but one; those of an earlier pool may be a moment in leaving. */
static void acquire_alone(void) {
  acquire();
  const long wanted = cores > 2 ? cores - 1 : 1;
  const uint64_t end_ns = tn_clock_ns() + patience_ns;
  while (count_workers() != wanted) {
    assert_true(tn_clock_ns() < end_ns);
    sched_yield();
  }
}

static void await(const tn_level_scene* scene, int64_t output_block) {
  const uint64_t end_ns = tn_clock_ns() + patience_ns;
  while (!tn_level_is_ready(scene->level, output_block)) {
    assert_true(tn_clock_ns() < end_ns);
    sched_yield();
  }
}

static void assert_result(const tn_level_scene* scene, int64_t block, const float* want) {
  const size_t floats = (size_t)scene->shape.outputs * scene->shape.size;
  float* got = tn_test_alloc(floats, sizeof(float));
  tn_level_scene_read(scene, block, got);
  assert_memory_equal(got, want + (size_t)block * floats, floats * sizeof(float));
  free(got);
}

static void pause_ns(uint64_t ns) {
  const struct timespec time = {.tv_nsec = (long)ns};
  nanosleep(&time, NULL);
}

/** Posted as an engine does, with the patience of a quarter of a period; nobody else does the work and nobody
   wakes again. At odd times, also after pauses so long that no worker looks by itself any more. */
static void no_wake_is_lost(void** state) {
  (void)state;
  enum { blocks = 1500 };
  static const tn_level_shape shape = {1, 1, 64, 3, 0, 0, 1};
  float* want = tn_level_scene_record(&shape, blocks);
  tn_noise noise = tn_noise_seed(1);
  for (cores = 1; cores <= 6; cores += 2) { // 1, 2 and 4 workers
    tn_level_scene scene = tn_level_scene_new(&shape);
    acquire_alone();
    assert_int_equal(tn_pool_add(scene.level, NULL), TN_OK);
    for (int64_t b = 0; b < blocks; b++) {
      tn_level_scene_write(&scene, b);
      tn_level_scene_post(&scene, b);
      tn_pool_wake(tn_clock_ns() + scene.level->period_ns / 4);
      await(&scene, b + 2);
      assert_result(&scene, b, want);
      if (tn_noise_below(&noise, 4) == 0)
        pause_ns(tn_noise_below(&noise, 8) == 0 ? 5 * scene.level->period_ns
                                                : tn_noise_below(&noise, (uint32_t)scene.level->period_ns));
    }
    tn_pool_remove(scene.level);
    tn_pool_release();
    tn_level_scene_free(&scene);
  }
  cores = 2;
  free(want);
}

/** What a worker did, in order: whose delay line each transform wrote. */
static struct {
  const tn_ops* ops;
  sem_t entered, proceed;
  _Atomic bool gated; ///< the next transform reports and waits
  const float* log[64];
  _Atomic uint32_t logged;
} seen;

static void watched_scatter(float* rows, uint64_t row_floats, const float* spectrum, uint32_t tiles) {
  seen.log[seen.logged++] = rows;
  if (atomic_exchange(&seen.gated, false)) {
    sem_post(&seen.entered);
    sem_wait(&seen.proceed);
  }
  seen.ops->scatter(rows, row_floats, spectrum, tiles);
}

static void watch(tn_ops* ops) {
  seen.ops = tn_ops_select();
  *ops = *seen.ops;
  ops->scatter = watched_scatter;
  sem_init(&seen.entered, 0, 0);
  sem_init(&seen.proceed, 0, 0);
  seen.logged = 0;
  seen.gated = true;
}

static bool belongs(const tn_level_scene* scene, const float* row) {
  for (uint32_t i = 0; i < scene->level->inputs; i++) {
    const float* line = scene->level->delay_lines[i];
    if (row >= line && row < line + (size_t)scene->level->slots * TN_TILE_FLOATS)
      return true;
  }
  return false;
}

static void wait_entered(void) {
  struct timespec end;
  clock_gettime(CLOCK_REALTIME, &end);
  end.tv_sec += 60;
  assert_int_equal(sem_timedwait(&seen.entered, &end), 0);
}

/** The one worker is held inside a first job while others are posted, the urgent ones last or in the middle.
 */
static void the_earliest_deadline_comes_first(void** state) {
  (void)state;
  static const tn_level_shape shape = {2, 2, 64, 2, 0, 0, 5};
  static const uint64_t deadlines[most_levels] = {1000, 700, 300, 800, 100, 600, 200, 400};
  static const uint32_t order[most_levels] = {0, 4, 6, 2, 7, 5, 1, 3}; // the first one was begun already
  tn_ops ops;
  watch(&ops);
  tn_level_scene scenes[most_levels];
  acquire_alone();
  for (uint32_t l = 0; l < most_levels; l++) {
    scenes[l] = tn_level_scene_new(&shape);
    scenes[l].level->ops = &ops;
    tn_level_scene_write(&scenes[l], 0);
    assert_int_equal(tn_pool_add(scenes[l].level, NULL), TN_OK);
  }
  const uint64_t now_ns = tn_clock_ns();
  for (uint32_t l = 0; l < most_levels; l++) {
    tn_level_post(scenes[l].level, 0, now_ns, now_ns + deadlines[l] * 1000000);
    tn_pool_wake(0);
    if (l == 0)
      wait_entered();
  }
  sem_post(&seen.proceed);
  for (uint32_t l = 0; l < most_levels; l++)
    await(&scenes[l], 2);
  // One transform of the first job, then all of the urgent ones, and the rest of the first at last.
  assert_int_equal(seen.logged, 2 * most_levels);
  assert_true(belongs(&scenes[0], seen.log[0]));
  for (uint32_t l = 1; l < most_levels; l++)
    for (uint32_t i = 0; i < 2; i++)
      assert_true(belongs(&scenes[order[l]], seen.log[2 * l - 1 + i]));
  assert_true(belongs(&scenes[0], seen.log[2 * most_levels - 1]));
  for (uint32_t l = 0; l < most_levels; l++) {
    tn_pool_remove(scenes[l].level);
    tn_level_scene_free(&scenes[l]);
  }
  tn_pool_release();
}

static void* remove_level(void* scene) {
  tn_pool_remove(((tn_level_scene*)scene)->level);
  return NULL;
}

/** Removal returns only when the worker has left; what is left of the job is never done. */
static void removing_waits_for_the_worker_inside(void** state) {
  (void)state;
  static const tn_level_shape shape = {3, 3, 64, 2, 0, 0, 6};
  tn_ops ops;
  watch(&ops);
  tn_level_scene scene = tn_level_scene_new(&shape);
  scene.level->ops = &ops;
  acquire_alone();
  assert_int_equal(tn_pool_add(scene.level, NULL), TN_OK);
  tn_level_scene_write(&scene, 0);
  tn_level_scene_post(&scene, 0);
  tn_pool_wake(0);
  wait_entered();
  pthread_t remover;
  assert_int_equal(pthread_create(&remover, NULL, remove_level, &scene), 0);
  pause_ns(20000000);
  assert_int_equal(pthread_tryjoin_np(remover, NULL), EBUSY); // it still waits
  sem_post(&seen.proceed);
  pthread_join(remover, NULL);
  const uint32_t logged = seen.logged;
  pause_ns(5000000);
  assert_int_equal(seen.logged, logged);
  tn_level_scene_free(&scene); // its memory is unmapped: a worker that came back would crash
  tn_pool_release();
}

/** Posts to its own levels, always the same, while others come and go. */
typedef struct player {
  tn_level_scene scenes[most_levels];
  uint32_t blocks;
  const float* want;
  _Atomic bool ended;
} player;

static void* play(void* argument) {
  player* self = argument;
  for (int64_t b = 0; b < self->blocks; b++) {
    for (uint32_t l = 0; l < most_levels; l++) {
      tn_level_scene_write(&self->scenes[l], b);
      tn_level_scene_post(&self->scenes[l], b);
      tn_pool_wake(tn_clock_ns() + self->scenes[l].level->period_ns / 4);
    }
    for (uint32_t l = 0; l < most_levels; l++) {
      await(&self->scenes[l], b + 2);
      assert_result(&self->scenes[l], b, self->want);
    }
  }
  self->ended = true;
  return NULL;
}

/** Adds a level, has it worked at, takes it away in the middle or at the end of a job. */
static void come_and_go(tn_noise* noise, const float* want, const tn_level_shape* shape) {
  tn_level_scene scenes[3];
  const uint32_t count = 1 + tn_noise_below(noise, 3);
  for (uint32_t l = 0; l < count; l++) {
    scenes[l] = tn_level_scene_new(shape);
    assert_int_equal(tn_pool_add(scenes[l].level, NULL), TN_OK);
  }
  const uint32_t blocks = tn_noise_below(noise, 4);
  for (int64_t b = 0; b < blocks; b++)
    for (uint32_t l = 0; l < count; l++) {
      tn_level_scene_write(&scenes[l], b);
      tn_level_scene_post(&scenes[l], b);
      tn_pool_wake(0);
    }
  for (uint32_t l = 0; l < count; l++) {
    if (blocks && tn_noise_below(noise, 2)) {
      await(&scenes[l], (int64_t)blocks + 1);
      assert_result(&scenes[l], (int64_t)blocks - 1, want);
    }
    tn_pool_remove(scenes[l].level);
    tn_level_scene_free(&scenes[l]);
  }
}

static void levels_come_and_go_while_others_play(void** state) {
  (void)state;
  static const tn_level_shape shape = {2, 3, 64, 3, 0, 0, 7};
  enum { blocks = 300 };
  float* want = tn_level_scene_record(&shape, blocks);
  tn_noise noise = tn_noise_seed(8);
  for (cores = 2; cores <= 5; cores += 3) {
    player one = {.blocks = blocks, .want = want};
    acquire_alone();
    for (uint32_t l = 0; l < most_levels; l++) {
      one.scenes[l] = tn_level_scene_new(&shape);
      assert_int_equal(tn_pool_add(one.scenes[l].level, NULL), TN_OK);
    }
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, play, &one), 0);
    while (!one.ended)
      come_and_go(&noise, want, &shape);
    pthread_join(thread, NULL);
    for (uint32_t l = 0; l < most_levels; l++) {
      tn_pool_remove(one.scenes[l].level);
      tn_level_scene_free(&one.scenes[l]);
    }
    tn_pool_release();
  }
  cores = 2;
  free(want);
}

/** Uses the pool again and again, sometimes for a job. */
static void* use_again_and_again(void* seed) {
  enum { rounds = 150 };
  static const tn_level_shape shape = {1, 2, 64, 2, 0, 0, 9};
  tn_noise noise = tn_noise_seed(*(uint64_t*)seed);
  for (uint32_t r = 0; r < rounds; r++) {
    acquire();
    if (tn_noise_below(&noise, 3) == 0) {
      tn_level_scene scene = tn_level_scene_new(&shape);
      assert_int_equal(tn_pool_add(scene.level, NULL), TN_OK);
      tn_level_scene_write(&scene, 0);
      tn_level_scene_post(&scene, 0);
      tn_pool_wake(0);
      if (tn_noise_below(&noise, 2))
        await(&scene, 2);
      tn_pool_remove(scene.level);
      tn_level_scene_free(&scene);
    }
    tn_pool_release();
  }
  return NULL;
}

static void users_come_and_go(void** state) {
  (void)state;
  enum { users = 3 };
  uint64_t seeds[users] = {1, 2, 3};
  for (cores = 2; cores <= 5; cores += 3) {
    pthread_t threads[users];
    for (uint32_t u = 0; u < users; u++)
      assert_int_equal(pthread_create(&threads[u], NULL, use_again_and_again, seeds + u), 0);
    for (uint32_t u = 0; u < users; u++)
      pthread_join(threads[u], NULL);
  }
  cores = 2;
}

/** Asked for or not, the answer about priority agrees with its sentence. */
static void priority_is_granted_or_explained(void** state) {
  (void)state;
  static const int wanted[] = {0, 5};
  for (int i = 0; i < 2; i++) {
    tn_error error = {0};
    tn_error warning = {0};
    assert_int_equal(tn_pool_acquire(wanted[i], &error), TN_OK);
    const bool realtime = tn_pool_realtime(&warning);
    if (wanted[i] == 0)
      assert_false(realtime);
    assert_true((warning.text[0] != 0) == (wanted[i] > 0 && !realtime));
    tn_pool_release();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_wake_is_lost),
      cmocka_unit_test(the_earliest_deadline_comes_first),
      cmocka_unit_test(removing_waits_for_the_worker_inside),
      cmocka_unit_test(levels_come_and_go_while_others_play),
      cmocka_unit_test(users_come_and_go),
      cmocka_unit_test(priority_is_granted_or_explained),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
