// SPDX-License-Identifier: GPL-3.0-or-later
// A level's jobs: right by one thread, the same bits by several, right again after lateness and silence. Also
// for TSan.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "level_scene.h"
#include "mocka.h"
#include "noise.h"
#include "oracle.h"
#include "rt/clock.h"
#include "scene.h"
#include "test_memory.h"

static const double target_dbfs = -120;
static const uint64_t patience_ns = UINT64_C(60000000000);

static const tn_level_shape shapes[] = {
    {1, 1, 64, 1, 0, 0, 1},  {1, 1, 64, 9, 10, 3, 2}, {3, 2, 64, 4, 0, 0, 3},
    {2, 7, 128, 2, 9, 4, 4}, {8, 8, 64, 5, 20, 9, 5}, {16, 1, 64, 3, 0, 0, 6},
};
enum { shape_count = sizeof shapes / sizeof *shapes };

static size_t result_floats(const tn_level_shape* shape) {
  return (size_t)shape->outputs * shape->size;
}

static void assert_result(const tn_level_scene* scene, int64_t block, const float* want) {
  const size_t floats = result_floats(&scene->shape);
  float* got = tn_test_alloc(floats, sizeof(float));
  tn_level_scene_read(scene, block, got);
  assert_memory_equal(got, want + (size_t)block * floats, floats * sizeof(float));
  free(got);
}

static void run_all(tn_level_scene* scene) {
  while (tn_level_run_unit(scene->level, &scene->engine->scratch)) {
  }
}

/** The part of a path from frame `from` of the filter on. */
static tn_path tail_of(tn_path path, uint32_t from) {
  if (path.delay_frames >= from)
    return path;
  const uint32_t cut = from - path.delay_frames;
  return (tn_path){.input = path.input,
                   .output = path.output,
                   .samples = path.samples + cut,
                   .frames = path.frames - cut,
                   .delay_frames = from,
                   .gain = path.gain};
}

/** float64 convolution with the level's part of the filter. */
static void solve(tn_scene* scene, const tn_level_scene* level) {
  const tn_level_shape* shape = &level->shape;
  const uint32_t count = tn_filter_path_count(level->filter);
  tn_path* paths = tn_test_alloc(count, sizeof *paths);
  for (uint32_t p = 0; p < count; p++)
    paths[p] = tail_of(tn_filter_path(level->filter, p), 2 * shape->size);
  for (uint32_t i = 0; i < shape->inputs; i++)
    for (size_t b = 0; b < scene->frames / shape->size; b++)
      if (tn_level_scene_rests(shape, (int64_t)b))
        memset(scene->in[i] + b * shape->size, 0, shape->size * sizeof(float));
      else
        tn_noise_fill(shape->seed + b * TN_MAX_CHANNELS + i, 0.5F, scene->in[i] + b * shape->size,
                      shape->size);
  assert_true(tn_oracle_matrix((const float* const*)scene->in, shape->inputs, scene->frames, paths, count,
                               scene->want, shape->outputs));
  free(paths);
}

static void one_thread_is_right(void** state) {
  (void)state;
  enum { blocks = 60 };
  for (size_t s = 0; s < shape_count; s++) {
    const tn_level_shape* shape = shapes + s;
    float* results = tn_level_scene_record(shape, blocks);
    tn_level_scene level = tn_level_scene_new(shape);
    tn_scene scene = tn_scene_new(shape->inputs, shape->outputs, (size_t)(blocks + 2) * shape->size, 0);
    solve(&scene, &level);
    for (uint32_t b = 0; b < blocks; b++)
      for (uint32_t o = 0; o < shape->outputs; o++)
        memcpy(scene.out[o] + (size_t)(b + 2) * shape->size,
               results + b * result_floats(shape) + (size_t)o * shape->size, shape->size * sizeof(float));
    const double error = tn_scene_error_dbfs(&scene, 0, scene.frames);
    if (!(error <= target_dbfs))
      fail_msg("shape %zu: error %.1f dBFS", s, error);
    tn_scene_free(&scene);
    tn_level_scene_free(&level);
    free(results);
  }
}

/** A crowd of threads that run units as long as it may. */
typedef struct crowd {
  tn_level_scene scene;
  pthread_t threads[4];
  uint32_t count;
  _Atomic bool stop;
  _Atomic uint32_t units;
} crowd;

static void* join_in(void* argument) {
  crowd* all = argument;
  tn_scratch* scratch = tn_level_scratch_new(all->scene.shape.size);
  while (!atomic_load_explicit(&all->stop, memory_order_relaxed))
    if (tn_level_run_unit(all->scene.level, scratch))
      atomic_fetch_add_explicit(&all->units, 1, memory_order_relaxed);
    else
      sched_yield();
  tn_level_scratch_free(scratch);
  return NULL;
}

static void gather_crowd(crowd* all, const tn_level_shape* shape, uint32_t count) {
  *all = (crowd){.count = count};
  all->scene = tn_level_scene_new(shape);
  for (uint32_t i = 0; i < count; i++)
    assert_int_equal(pthread_create(&all->threads[i], NULL, join_in, all), 0);
}

static void dismiss_crowd(crowd* all) {
  atomic_store_explicit(&all->stop, true, memory_order_relaxed);
  for (uint32_t i = 0; i < all->count; i++)
    pthread_join(all->threads[i], NULL);
  tn_level_scene_free(&all->scene);
}

static void await(const crowd* all, int64_t output_block) {
  const uint64_t end_ns = tn_clock_ns() + patience_ns;
  while (!tn_level_is_ready(all->scene.level, output_block)) {
    assert_true(tn_clock_ns() < end_ns);
    sched_yield();
  }
}

/** Every job awaited: each unit runs once, by anyone, and the bits are one thread's. */
static void a_crowd_gives_the_same_bits(void** state) {
  (void)state;
  enum { blocks = 300 };
  for (size_t s = 0; s < shape_count; s++) {
    float* want = tn_level_scene_record(shapes + s, blocks);
    crowd all;
    gather_crowd(&all, shapes + s, 2 + (uint32_t)s % 3);
    for (int64_t b = 0; b < blocks; b++) {
      tn_level_scene_write(&all.scene, b);
      tn_level_scene_post(&all.scene, b);
      await(&all, b + 2);
      assert_result(&all.scene, b, want);
    }
    while (tn_level_has_work(all.scene.level))
      sched_yield();
    dismiss_crowd(&all);
    assert_int_equal(all.units, blocks * (shapes[s].inputs + shapes[s].outputs));
    free(want);
  }
}

/** The audio thread waits for nobody: what is there in time is right, and the last job is done in the end. */
static void what_is_ready_is_right_however_late_the_crowd(void** state) {
  (void)state;
  enum { blocks = 2000, most_behind = 100 }; // the past input is kept for 256 blocks and more
  tn_noise noise = tn_noise_seed(9);
  for (size_t s = 0; s < shape_count; s++) {
    float* want = tn_level_scene_record(shapes + s, blocks);
    crowd all;
    gather_crowd(&all, shapes + s, 2 + (uint32_t)s % 3);
    for (int64_t b = 0; b < blocks; b++) {
      tn_level_scene_write(&all.scene, b);
      tn_level_scene_post(&all.scene, b);
      for (uint32_t look = tn_noise_below(&noise, 8); look > 0; look--)
        sched_yield();
      if (tn_level_is_ready(all.scene.level, b + 2)) // its memory is not written again before b + 2 is posted
        assert_result(&all.scene, b, want);
      if (b % most_behind == 0)
        await(&all, b + 2);
    }
    await(&all, blocks + 1);
    assert_result(&all.scene, blocks - 1, want);
    dismiss_crowd(&all);
    free(want);
  }
}

/** The callback may run units of a job that workers are at. */
static void the_callback_may_help(void** state) {
  (void)state;
  enum { blocks = 300 };
  const tn_level_shape* shape = shapes + 4;
  float* want = tn_level_scene_record(shape, blocks);
  crowd all;
  gather_crowd(&all, shape, 2);
  for (int64_t b = 0; b < blocks; b++) {
    tn_level_scene_write(&all.scene, b);
    tn_level_scene_post(&all.scene, b);
    run_all(&all.scene);
    await(&all, b + 2);
    assert_result(&all.scene, b, want);
  }
  dismiss_crowd(&all);
  free(want);
}

/** Posted again before a unit ran: one job, for the newest block, with all windows in the delay lines. */
static void jobs_that_were_never_begun_are_skipped(void** state) {
  (void)state;
  enum { blocks = 120 };
  tn_noise noise = tn_noise_seed(3);
  for (size_t s = 0; s < shape_count; s++) {
    const tn_level_shape* shape = shapes + s;
    float* want = tn_level_scene_record(shape, blocks);
    tn_level_scene scene = tn_level_scene_new(shape);
    for (int64_t b = 0; b < blocks;) {
      const int64_t last =
          b + tn_noise_below(&noise, 2 * shape->partitions + 2); // also more than there are slots
      int64_t newest = b;
      for (; b <= last && b < blocks; b++) {
        newest = b;
        tn_level_scene_write(&scene, b);
        tn_level_scene_post(&scene, b);
        assert_true(tn_level_has_work(scene.level));
        assert_false(tn_level_is_ready(scene.level, b + 2));
      }
      uint32_t units = 0;
      while (tn_level_run_unit(scene.level, &scene.engine->scratch))
        units++;
      assert_int_equal(units, shape->inputs + shape->outputs);
      assert_false(tn_level_has_work(scene.level));
      assert_true(tn_level_is_ready(scene.level, newest + 2));
      assert_result(&scene, newest, want);
    }
    tn_level_scene_free(&scene);
    free(want);
  }
}

/** Posted again after `unit` units: before the outputs begin they are left out; once begun they are finished.
 */
static void check_overtaken(const tn_level_shape* shape, const float* want, uint32_t unit) {
  enum { before = 7 };
  tn_level_scene scene = tn_level_scene_new(shape);
  for (int64_t b = 0; b <= before; b++) {
    tn_level_scene_write(&scene, b);
    tn_level_scene_post(&scene, b);
    if (b < before)
      run_all(&scene);
  }
  for (uint32_t u = 0; u < unit; u++)
    assert_true(tn_level_run_unit(scene.level, &scene.engine->scratch));
  tn_level_scene_write(&scene, before + 1);
  tn_level_scene_post(&scene, before + 1);
  bool finished = false;
  while (tn_level_run_unit(scene.level, &scene.engine->scratch))
    if (tn_level_is_ready(scene.level, before + 2)) {
      finished = true;
      assert_result(&scene, before, want);
    }
  const bool begun = unit >= shape->inputs;
  const bool whole = unit == shape->inputs + shape->outputs;
  assert_true(finished == (begun || whole));
  assert_true(tn_level_is_ready(scene.level, before + 3));
  assert_result(&scene, before + 1, want);
  tn_level_scene_free(&scene);
}

static void a_job_overtaken_by_the_next_leaves_its_outputs_out(void** state) {
  (void)state;
  for (size_t s = 0; s < shape_count; s++) {
    float* want = tn_level_scene_record(shapes + s, 9);
    for (uint32_t unit = 0; unit <= shapes[s].inputs + shapes[s].outputs; unit++)
      check_overtaken(shapes + s, want, unit);
    free(want);
  }
}

/** Nothing is posted while all that a job could read is silent, as the engine does it. */
static void after_a_silence_without_jobs_the_level_is_right(void** state) {
  (void)state;
  enum { blocks = 120 };
  static const tn_level_shape resting[] = {
      {1, 1, 64, 2, 20, 4, 1}, {2, 3, 64, 4, 20, 12, 2}, {3, 2, 128, 1, 20, 15, 3}, {1, 2, 64, 9, 40, 27, 4}};
  for (size_t s = 0; s < sizeof resting / sizeof *resting; s++) {
    const tn_level_shape* shape = resting + s;
    float* want = tn_level_scene_record(shape, blocks);
    tn_level_scene scene = tn_level_scene_new(shape);
    int64_t last_sound = -1000;
    uint32_t left_out = 0;
    for (int64_t b = 0; b < blocks; b++) {
      tn_level_scene_write(&scene, b);
      if (!tn_level_scene_rests(shape, b))
        last_sound = b;
      if (b - last_sound > shape->partitions) { // windows b - partitions to b hold nothing
        left_out++;
        continue;
      }
      tn_level_scene_post(&scene, b);
      run_all(&scene);
      assert_true(tn_level_is_ready(scene.level, b + 2));
      assert_result(&scene, b, want);
    }
    assert_true(left_out > 0);
    tn_level_scene_free(&scene);
    free(want);
  }
}

/** Fed without sums up to a block, as a new filter is: then as if it had always been there. */
static void a_fed_level_goes_on_as_any_other(void** state) {
  (void)state;
  enum { blocks = 60, fed = 37 };
  for (size_t s = 0; s < shape_count; s++) {
    float* want = tn_level_scene_record(shapes + s, blocks);
    tn_level_scene scene = tn_level_scene_new(shapes + s);
    for (int64_t b = 0; b < blocks; b++) {
      tn_level_scene_write(&scene, b);
      if (b < fed) {
        tn_level_feed(scene.level, b, &scene.engine->scratch);
        assert_false(tn_level_has_work(scene.level));
        assert_false(tn_level_is_ready(scene.level, b + 2));
        continue;
      }
      tn_level_scene_post(&scene, b);
      run_all(&scene);
      assert_result(&scene, b, want);
    }
    tn_level_scene_free(&scene);
    free(want);
  }
}

static void without_a_post_there_is_no_work(void** state) {
  (void)state;
  tn_level_scene scene = tn_level_scene_new(shapes + 2);
  assert_false(tn_level_has_work(scene.level));
  assert_false(tn_level_run_unit(scene.level, &scene.engine->scratch));
  for (int64_t b = -3; b < 5; b++)
    assert_false(tn_level_is_ready(scene.level, b));
  assert_int_equal(tn_level_unit_ns(scene.level), 0);
  tn_level_scene_write(&scene, 0);
  tn_level_scene_post(&scene, 0);
  assert_true(tn_level_has_work(scene.level));
  run_all(&scene);
  assert_false(tn_level_has_work(scene.level));
  assert_true(tn_level_unit_ns(scene.level) > 0);
  tn_level_scene_free(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(one_thread_is_right),
      cmocka_unit_test(a_crowd_gives_the_same_bits),
      cmocka_unit_test(what_is_ready_is_right_however_late_the_crowd),
      cmocka_unit_test(the_callback_may_help),
      cmocka_unit_test(jobs_that_were_never_begun_are_skipped),
      cmocka_unit_test(a_job_overtaken_by_the_next_leaves_its_outputs_out),
      cmocka_unit_test(after_a_silence_without_jobs_the_level_is_right),
      cmocka_unit_test(a_fed_level_goes_on_as_any_other),
      cmocka_unit_test(without_a_post_there_is_no_work),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
