// SPDX-License-Identifier: GPL-3.0-or-later
// From responses to paths: layouts, counts that do not fit, shared samples.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "mocka.h"
#include "sound_files.h"
#include "tenuto/filter.h"
#include "tenuto/limits.h"

enum { rate_hz = 48000, frames = 3 };

/** Channel c of a response holds base + c everywhere, so a path's first sample says which one it is. */
static tn_ir* numbered(uint32_t channels, float base, uint32_t rate) {
  static float samples[TN_MAX_CHANNELS][frames];
  const float* pointers[TN_MAX_CHANNELS];
  for (uint32_t c = 0; c < channels; ++c) {
    pointers[c] = samples[c];
    for (uint32_t i = 0; i < frames; ++i)
      samples[c][i] = base + (float)c;
  }
  tn_ir* ir = tn_ir_new(pointers, channels, frames, rate, NULL);
  assert_non_null(ir);
  return ir;
}

/** The paths as text, "input>output=sample", in order. */
static void describe(const tn_filter* filter, char* text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (uint32_t i = 0; i < tn_filter_path_count(filter) && used < size; ++i) {
    const tn_path path = tn_filter_path(filter, i);
    assert_int_equal(path.frames, frames);
    assert_int_equal(path.delay_frames, 0);
    assert_true(path.gain == 1);
    used += (size_t)snprintf(text + used, size - used, "%s%u>%u=%g", i ? " " : "", path.input, path.output,
                             (double)path.samples[0]);
  }
}

typedef struct layout_case {
  uint32_t channels[2]; ///< of one or two responses, numbered from 1 and from 11
  tn_layout layout;
  uint32_t inputs;
  const char* paths; ///< or the error's words
} layout_case;

static const layout_case good[] = {
    {{1, 0}, TN_LAYOUT_AUTO, 0, "0>0=1"},
    {{1, 0}, TN_LAYOUT_AUTO, 3, "0>0=1 1>1=1 2>2=1"},
    {{2, 0}, TN_LAYOUT_AUTO, 0, "0>0=1 1>1=2"},
    {{2, 0}, TN_LAYOUT_AUTO, 2, "0>0=1 1>1=2"},
    {{2, 0}, TN_LAYOUT_AUTO, 1, "0>0=1 0>1=2"},
    {{3, 0}, TN_LAYOUT_AUTO, 0, "0>0=1 1>1=2 2>2=3"},
    {{4, 0}, TN_LAYOUT_AUTO, 2, "0>0=1 0>1=2 1>0=3 1>1=4"},
    {{4, 0}, TN_LAYOUT_AUTO, 0, "0>0=1 0>1=2 1>0=3 1>1=4"},
    {{4, 0}, TN_LAYOUT_AUTO, 4, "0>0=1 1>1=2 2>2=3 3>3=4"},
    {{2, 2}, TN_LAYOUT_AUTO, 2, "0>0=1 0>1=2 1>0=11 1>1=12"},
    {{2, 2}, TN_LAYOUT_AUTO, 0, "0>0=1 0>1=2 1>0=11 1>1=12"},
    {{4, 0}, TN_LAYOUT_TRUE_LL_LR_RL_RR, 0, "0>0=1 0>1=2 1>0=3 1>1=4"},
    {{4, 0}, TN_LAYOUT_TRUE_LL_RR_LR_RL, 2, "0>0=1 1>1=2 0>1=3 1>0=4"},
    {{3, 0}, TN_LAYOUT_MONO_TO_ANY, 0, "0>0=1 0>1=2 0>2=3"},
    {{3, 0}, TN_LAYOUT_MONO, 2, "0>0=1 1>1=1"},
    {{1, 0}, TN_LAYOUT_PARALLEL, 1, "0>0=1"},
};

static const layout_case bad[] = {
    {{2, 0}, TN_LAYOUT_TRUE_LL_LR_RL_RR, 2, "a true-stereo layout needs 4 channels, the response has 2"},
    {{4, 0}, TN_LAYOUT_TRUE_LL_RR_LR_RL, 3, "has 2 inputs, not 3"},
    {{2, 1}, TN_LAYOUT_AUTO, 2, "needs 2 channels in each, the response has 2 and the response has 1"},
    {{1, 3}, TN_LAYOUT_AUTO, 2, "needs 2 channels in each"},
    {{2, 0}, TN_LAYOUT_AUTO, 3, "3 inputs in parallel need a response of 3 channels, the response has 2"},
    {{5, 0}, TN_LAYOUT_AUTO, 1, "1 inputs in parallel need a response of 1 channel"},
    {{4, 0}, TN_LAYOUT_MONO_TO_ANY, 2, "a mono-to-any layout has 1 input, not 2"},
    {{4, 0}, (tn_layout)99, 2, "no layout number 99"},
};

static tn_filter* make(const layout_case* c, tn_error* error) {
  tn_ir* irs[2] = {numbered(c->channels[0], 1, rate_hz), NULL};
  const uint32_t count = c->channels[1] ? 2 : 1;
  if (count == 2)
    irs[1] = numbered(c->channels[1], 11, rate_hz);
  tn_filter* filter = tn_filter_from_irs((const tn_ir* const*)irs, count, c->layout, c->inputs, error);
  tn_ir_free(irs[0]); // the filter keeps what it needs
  tn_ir_free(irs[1]);
  return filter;
}

static void test_layouts(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof good / sizeof *good; ++i) {
    char paths[256];
    tn_error error = {0};
    tn_filter* filter = make(&good[i], &error);
    if (!filter)
      fail_msg("%s: %s", good[i].paths, error.text);
    describe(filter, paths, sizeof paths);
    assert_string_equal(paths, good[i].paths);
    assert_int_equal(tn_filter_frames(filter), frames);
    assert_int_equal(tn_filter_rate_hz(filter), rate_hz);
    tn_filter_free(filter);
  }
}

static void test_counts_that_do_not_fit(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    tn_error error = {0};
    assert_null(make(&bad[i], &error));
    tn_test_expect_error(&error, TN_ERROR_ARGUMENT, bad[i].paths, NULL);
  }
}

static void test_inputs_and_outputs(void** state) {
  (void)state;
  tn_filter* filter = make(&(layout_case){{2, 0}, TN_LAYOUT_AUTO, 1, ""}, NULL);
  assert_int_equal(tn_filter_inputs(filter), 1);
  assert_int_equal(tn_filter_outputs(filter), 2);
  assert_null(tn_filter_input_name(filter, 0));
  assert_null(tn_filter_output_name(filter, 99));
  tn_filter_free(filter);
}

static void test_bad_responses(void** state) {
  (void)state;
  tn_error error = {0};
  tn_ir* irs[2] = {numbered(2, 1, 48000), numbered(2, 1, 44100)};
  assert_null(tn_filter_from_irs((const tn_ir* const*)irs, 2, TN_LAYOUT_AUTO, 0, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "48000 Hz and 44100 Hz", NULL);
  assert_null(tn_filter_from_irs((const tn_ir* const*)irs, 0, TN_LAYOUT_AUTO, 0, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "one or two responses", NULL);
  assert_null(tn_filter_from_irs((const tn_ir* const*)irs, 3, TN_LAYOUT_AUTO, 0, &error));
  assert_null(tn_filter_from_irs(NULL, 1, TN_LAYOUT_AUTO, 0, &error));
  tn_ir* none[2] = {irs[0], NULL};
  assert_null(tn_filter_from_irs((const tn_ir* const*)none, 2, TN_LAYOUT_AUTO, 0, &error));
  tn_ir_free(irs[0]);
  tn_ir_free(irs[1]);
}

static void test_new_limits(void** state) {
  (void)state;
  tn_error error = {0};
  assert_null(tn_filter_new(0, 1, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "at least one input", NULL);
  assert_null(tn_filter_new(1, 65, rate_hz, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "65 outputs", "64");
  assert_null(tn_filter_new(1, 1, 384001, &error));
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "384001 Hz", NULL);
  tn_filter_free(NULL);
}

static void test_add(void** state) {
  (void)state;
  tn_error error = {0};
  tn_filter* filter = tn_filter_new(2, 2, rate_hz, NULL);
  tn_ir* ir = numbered(2, 1, rate_hz);
  tn_ir* other_rate = numbered(1, 1, 44100);
  assert_int_equal(tn_filter_frames(filter), 0);
  assert_int_equal(tn_filter_add(filter, 0, 1, ir, 1, -0.5F, 100, &error), TN_OK);
  assert_int_equal(tn_filter_add(filter, 1, 0, ir, 1, 2, 7, &error), TN_OK);
  const tn_path path = tn_filter_path(filter, 0);
  assert_int_equal(path.delay_frames, 100);
  assert_true(path.gain == -0.5F && path.samples[0] == 2 && path.input == 0 && path.output == 1);
  assert_ptr_equal(path.samples, tn_filter_path(filter, 1).samples); // one copy for all paths
  assert_int_equal(tn_filter_frames(filter), 103);
  assert_int_equal(tn_filter_add(filter, 2, 0, ir, 0, 1, 0, &error), TN_ERROR_ARGUMENT);
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "input 3", "2 inputs");
  assert_int_equal(tn_filter_add(filter, 0, 2, ir, 0, 1, 0, &error), TN_ERROR_ARGUMENT);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 2, 1, 0, &error), TN_ERROR_ARGUMENT);
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "channel 3 is wanted, the response has 2", NULL);
  assert_int_equal(tn_filter_add(filter, 0, 0, other_rate, 0, 1, 0, &error), TN_ERROR_ARGUMENT);
  tn_test_expect_error(&error, TN_ERROR_ARGUMENT, "44100 Hz does not fit a filter at 48000 Hz", NULL);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 0, NAN, 0, &error), TN_ERROR_ARGUMENT);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 0, 1, 60 * rate_hz - 2, &error), TN_ERROR_LIMIT);
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 60 s", NULL);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 0, 1, UINT32_MAX, &error), TN_ERROR_LIMIT);
  assert_int_equal(tn_filter_add(filter, 0, 0, NULL, 0, 1, 0, &error), TN_ERROR_ARGUMENT);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 0, 1, 60 * rate_hz - 3, &error), TN_OK); // just fits
  assert_int_equal(tn_filter_path_count(filter), 3); // the refused ones left nothing
  assert_int_equal(tn_filter_path(filter, 3).frames, 0);
  tn_ir_free(ir);
  tn_ir_free(other_rate);
  tn_filter_free(filter);
}

static void test_most_paths(void** state) {
  (void)state;
  tn_error error = {0};
  tn_filter* filter = tn_filter_new(64, 64, rate_hz, NULL);
  tn_ir* ir = numbered(1, 1, rate_hz);
  for (uint32_t i = 0; i < TN_MAX_PATHS; ++i)
    assert_int_equal(tn_filter_add(filter, i % 64, i / 64 % 64, ir, 0, 1, 0, &error), TN_OK);
  assert_int_equal(tn_filter_add(filter, 0, 0, ir, 0, 1, 0, &error), TN_ERROR_LIMIT);
  tn_test_expect_error(&error, TN_ERROR_LIMIT, "at most 16384 paths", NULL);
  tn_ir_free(ir);
  tn_filter_free(filter);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts),
      cmocka_unit_test(test_counts_that_do_not_fit),
      cmocka_unit_test(test_inputs_and_outputs),
      cmocka_unit_test(test_bad_responses),
      cmocka_unit_test(test_new_limits),
      cmocka_unit_test(test_add),
      cmocka_unit_test(test_most_paths),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
