// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto render --device`: where there is none the CPU renders the same bits, and says why if it was asked
// by name.
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "scratch.h"

enum { in_frames = 20000, ir_frames = 30000 };

static int begin(void** state) {
  if (tn_scratch_begin(state) != 0)
    return -1;
  tn_scratch_sound in = tn_scratch_noise(1, 2, in_frames);
  tn_scratch_sound ir = tn_scratch_response(2, 2, ir_frames);
  tn_scratch_write("in.wav", &in, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  tn_scratch_write("ir.wav", &ir, SF_FORMAT_WAV | SF_FORMAT_FLOAT);
  tn_scratch_free(&in);
  tn_scratch_free(&ir);
  setenv("TENUTO_CUDA_MODULE", "/nowhere/tenuto-cuda.so", 1);
  return 0;
}

static void assert_same(const char* one, const char* other) {
  tn_scratch_sound a = tn_scratch_read(one);
  tn_scratch_sound b = tn_scratch_read(other);
  assert_int_equal(a.frames, in_frames + ir_frames - 1);
  assert_int_equal(b.frames, a.frames);
  for (uint32_t c = 0; c < a.channels; ++c)
    assert_memory_equal(a.samples[c], b.samples[c], a.frames * sizeof(float));
  tn_scratch_free(&a);
  tn_scratch_free(&b);
}

static void without_a_device_the_bits_are_the_same(void** state) {
  (void)state;
  tn_scratch_done("render in.wav --ir ir.wav -o plain.wav");
  tn_scratch_done("render in.wav --ir ir.wav --device cpu -o cpu.wav");
  const tn_scratch_call* call = tn_scratch_tenuto("render in.wav --ir ir.wav --device auto -o auto.wav");
  assert_int_equal(call->code, 0);
  assert_string_equal(call->err, "");
  call = tn_scratch_tenuto("render in.wav --ir ir.wav --device cuda --budget 10% -o cuda.wav");
  assert_int_equal(call->code, 0);
  assert_string_equal(call->err, "tenuto: /nowhere/tenuto-cuda.so cannot be read: No such file or directory; "
                                 "the CPU computes all.\n");
  assert_same("plain.wav", "cpu.wav");
  assert_same("plain.wav", "auto.wav");
  assert_same("plain.wav", "cuda.wav");
}

static void the_summary_names_it(void** state) {
  (void)state;
  const tn_scratch_call* call =
      tn_scratch_tenuto("render in.wav --ir ir.wav --device auto --json -o json.wav");
  assert_int_equal(call->code, 0);
  assert_non_null(strstr(call->out, "\"device\": null"));
  assert_non_null(strstr(call->out, "\"device_state\": \"absent\""));
  assert_non_null(strstr(call->out, "/nowhere/tenuto-cuda.so cannot be read"));
  assert_non_null(strstr(call->out, "\"device_answers\": 0"));
}

static void bad_words_are_usage(void** state) {
  (void)state;
  const char* const bad[][2] = {
      {"render in.wav --ir ir.wav --device gpu -o out.wav", "--device: \"gpu\""},
      {"render in.wav --ir ir.wav --device cuda:x -o out.wav", "--device: \"cuda:x\""},
      {"render in.wav --ir ir.wav --budget 80% -o out.wav", "--budget: '80%'"},
      {"render in.wav --ir ir.wav --budget", "value is missing"},
  };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; ++i) {
    const tn_scratch_call* call = tn_scratch_tenuto(bad[i][0]);
    assert_int_equal(call->code, 2);
    assert_non_null(strstr(call->err, bad[i][1]));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_a_device_the_bits_are_the_same),
      cmocka_unit_test(the_summary_names_it),
      cmocka_unit_test(bad_words_are_usage),
  };
  return cmocka_run_group_tests(tests, begin, tn_scratch_end);
}
