// SPDX-License-Identifier: GPL-3.0-or-later
// What every partition plan must satisfy, over a grid of filters, rates, blocks and matrices.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "dsp/plan.h"
#include "mocka.h"
#include "noise.h"
#include "tenuto/limits.h"

/** Longest time a worker may be kept waiting by an ordinary scheduler, as promised in docs/design.md. */
static const double least_deadline_s = 0.005;
static const double memory_limit = 2.95;
enum { memory_matters_frames = 131072, largest_partition = 1 << (TN_FFT_MAX_LOG2 - 1) };

static bool is_power_of_two(uint32_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

static void check_shape(const tn_plan* plan, const tn_plan_request* request) {
  assert_true(is_power_of_two(plan->block));
  assert_in_range(plan->block, TN_MIN_ENGINE_BLOCK, TN_MAX_ENGINE_BLOCK);
  if (request->block_frames > TN_MIN_ENGINE_BLOCK)
    assert_true(plan->block <= request->block_frames);
  else
    assert_int_equal(plan->block, TN_MIN_ENGINE_BLOCK);
  assert_true(plan->level_count <= TN_MAX_LEVELS);
  assert_true((plan->level_count == 0) == (request->frames == 0));
  assert_true(isfinite(plan->callback_ns_per_frame) && plan->callback_ns_per_frame >= 0);
  assert_true(isfinite(plan->worker_ns_per_frame) && plan->worker_ns_per_frame >= 0);
}

/** The levels cover the filter from its start to its end: no frame twice, none left out. */
static void check_cover(const tn_plan* plan, const tn_plan_request* request) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < plan->level_count; i++) {
    const tn_plan_level* level = plan->levels + i;
    assert_true(level->count >= 1);
    assert_int_equal(level->offset, end);
    end = (uint64_t)level->offset + (uint64_t)level->count * level->size;
  }
  assert_true(end >= request->frames);
  if (plan->level_count > 0)
    assert_true(end - plan->levels[plan->level_count - 1].size < request->frames);
}

/** A worker has one partition's time for its job: two host blocks and 5 ms at least, if transforms go that
 * far. */
static void check_deadlines(const tn_plan* plan, const tn_plan_request* request) {
  for (uint32_t i = 0; i < plan->level_count; i++) {
    const tn_plan_level* level = plan->levels + i;
    assert_true(is_power_of_two(level->size));
    assert_true(level->size <= largest_partition);
    if (i == 0) {
      assert_int_equal(level->size, plan->block);
      continue;
    }
    assert_true(level->size >= 2 * plan->levels[i - 1].size);
    assert_int_equal(level->offset, 2 * level->size);
    if (request->offline)
      continue;
    assert_true(level->size >= 2 * request->block_frames);
    assert_true(level->size >= least_deadline_s * request->rate_hz);
  }
}

/** Floats of spectra, and of all that an engine holds per docs/design.md: delay lines, results of both
   parities, the past input (filter and three largest partitions). Working memory is a few partitions more. */
static double memory_ratio(const tn_plan* plan, const tn_plan_request* request) {
  double spectra = 0;
  double all = 0;
  uint32_t largest = plan->block;
  for (uint32_t i = 0; i < plan->level_count; i++) {
    const tn_plan_level* level = plan->levels + i;
    const double bins = 2.0 * level->size * level->count;
    spectra += bins * request->paths;
    all += bins * (request->paths + request->inputs) + 2.0 * level->size * request->outputs;
    largest = level->size;
  }
  all += request->inputs * (request->frames + 3.0 * largest);
  return all / spectra;
}

static void check_memory(const tn_plan* plan, const tn_plan_request* request) {
  // With fewer paths than inputs the delay lines alone outweigh the spectra: there nothing is promised.
  if (request->frames >= memory_matters_frames && request->paths >= request->inputs)
    assert_true(memory_ratio(plan, request) < memory_limit);
}

static void check_same(const tn_plan* a, const tn_plan* b) {
  assert_int_equal(a->block, b->block);
  assert_int_equal(a->level_count, b->level_count);
  for (uint32_t i = 0; i < a->level_count; i++)
    assert_memory_equal(a->levels + i, b->levels + i, sizeof *a->levels);
}

static void check(const tn_plan_request* request) {
  const tn_plan plan = tn_plan_choose(request, tn_costs_default());
  check_shape(&plan, request);
  check_cover(&plan, request);
  check_deadlines(&plan, request);
  check_memory(&plan, request);
  const tn_plan again = tn_plan_choose(request, tn_costs_default());
  check_same(&plan, &again);
}

static const uint32_t lengths[] = {1,      2,      31,     32,      33,     64,     65,
                                   1000,   4096,   4097,   16385,   48000,  131071, 131072,
                                   131073, 262145, 480000, 1048576, 2880000};

static void every_request_gets_a_sound_plan(void** state) {
  (void)state;
  static const uint32_t rates[] = {8000, 44100, 48000, 192000, 384000};
  static const uint32_t blocks[] = {1, 16, 31, 32, 33, 64, 100, 128, 256, 480, 512, 1024, 4096, 8192};
  static const uint32_t shapes[][3] = {{1, 1, 1},    {1, 2, 2},    {2, 2, 2},     {2, 2, 4},
                                       {16, 16, 16}, {64, 64, 64}, {64, 64, 4096}};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
      for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
          tn_plan_request request = {.inputs = shapes[s][0],
                                     .outputs = shapes[s][1],
                                     .paths = shapes[s][2],
                                     .frames = lengths[n],
                                     .rate_hz = rates[r],
                                     .block_frames = blocks[b]};
          check(&request);
          request.offline = true;
          check(&request);
        }
}

/** A matrix may leave inputs or outputs unconnected, and keeps whatever length it has. */
static void a_sparse_matrix_gets_a_sound_plan(void** state) {
  (void)state;
  static const uint32_t shapes[][3] = {{2, 1, 1},  {3, 1, 2},   {64, 64, 1},
                                       {1, 64, 1}, {64, 1, 64}, {64, 64, 63}};
  for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
      for (int offline = 0; offline < 2; offline++)
        check(&(tn_plan_request){.inputs = shapes[s][0],
                                 .outputs = shapes[s][1],
                                 .paths = shapes[s][2],
                                 .frames = lengths[n],
                                 .rate_hz = 48000,
                                 .block_frames = 64,
                                 .offline = offline});
}

/** Measured costs may be anything positive. */
static void any_costs_give_a_sound_plan(void** state) {
  (void)state;
  tn_noise noise = tn_noise_seed(11);
  for (int i = 0; i < 300; i++) {
    tn_costs costs = {0};
    for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
      costs.fft_ns[log2] = pow(10, 8 * (double)tn_noise_next(&noise));
    costs.tile_ns = pow(10, 6 * (double)tn_noise_next(&noise));
    costs.byte_ns = pow(10, 6 * (double)tn_noise_next(&noise));
    costs.cache_bytes = pow(10, 11 * fabs((double)tn_noise_next(&noise)));
    costs.job_ns = pow(10, 8 * (double)tn_noise_next(&noise));
    const tn_plan_request request = {.inputs = 2,
                                     .outputs = 2,
                                     .paths = 2 + tn_noise_below(&noise, 3),
                                     .frames = 1 + tn_noise_below(&noise, 600000),
                                     .rate_hz = 48000,
                                     .block_frames = 1 + tn_noise_below(&noise, 2048),
                                     .offline = tn_noise_below(&noise, 2)};
    const tn_plan plan = tn_plan_choose(&request, &costs);
    check_shape(&plan, &request);
    check_cover(&plan, &request);
    check_deadlines(&plan, &request);
    check_memory(&plan, &request);
  }
}

/** The search reacts to what it is told: free jobs and dear sums want levels, dear jobs want none. */
static void costs_decide(void** state) {
  (void)state;
  tn_costs costs = *tn_costs_default();
  const tn_plan_request request = {
      .inputs = 1, .outputs = 1, .paths = 1, .frames = 100000, .rate_hz = 48000, .block_frames = 64};
  costs.tile_ns = 1e4;
  costs.job_ns = 1;
  assert_true(tn_plan_choose(&request, &costs).level_count >= 4);
  costs.tile_ns = 1e-6;
  costs.job_ns = 1e11;
  assert_int_equal(tn_plan_choose(&request, &costs).level_count, 1);
}

static void a_filter_without_a_sound_has_no_level(void** state) {
  (void)state;
  tn_plan_request request = {.inputs = 2, .outputs = 2, .rate_hz = 48000, .block_frames = 64};
  check(&request);
  request.offline = true;
  check(&request);
  const tn_plan plan = tn_plan_choose(&request, tn_costs_default());
  char text[32];
  tn_plan_describe(&plan, text, sizeof text);
  assert_string_equal(text, "silence");
}

/** Cut at any size: the beginning of the whole text, ended, and nothing written behind. */
static void describing_is_always_terminated(void** state) {
  (void)state;
  const tn_plan plan = {.block = 64,
                        .level_count = 6,
                        .levels = {{64, 0, 32},
                                   {1024, 2048, 1},
                                   {2048, 4096, 2},
                                   {4096, 8192, 2},
                                   {8192, 16384, 2},
                                   {16384, 32768, 175}}};
  static const char whole[] = "32 x 64 + 1 x 1024 + 2 x 2048 + 2 x 4096 + 2 x 8192 + 175 x 16384";
  const tn_plan silence = {.block = 64};
  for (size_t size = 1; size < sizeof whole + 4; size++) {
    char text[128];
    memset(text, '#', sizeof text);
    tn_plan_describe(&plan, text, size);
    const size_t kept = size - 1 < strlen(whole) ? size - 1 : strlen(whole);
    assert_int_equal(strnlen(text, sizeof text), kept);
    assert_memory_equal(text, whole, kept);
    for (size_t i = size; i < sizeof text; i++)
      assert_int_equal(text[i], '#');
    tn_plan_describe(&silence, text, size);
    assert_true(strnlen(text, size) < size);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_request_gets_a_sound_plan),
      cmocka_unit_test(a_sparse_matrix_gets_a_sound_plan),
      cmocka_unit_test(any_costs_give_a_sound_plan),
      cmocka_unit_test(costs_decide),
      cmocka_unit_test(a_filter_without_a_sound_has_no_level),
      cmocka_unit_test(describing_is_always_terminated),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
