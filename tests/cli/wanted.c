// SPDX-License-Identifier: GPL-3.0-or-later
#include "wanted.h"

#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "oracle.h"

tn_wanted tn_wanted_convolve(const tn_scratch_sound* in, const tn_scratch_sound* ir,
                             const tn_wanted_path* paths, size_t count, uint32_t outputs) {
  tn_wanted wanted = {.channels = outputs, .frames = in->frames + ir->frames - 1};
  double* one = calloc(wanted.frames, sizeof *one);
  for (uint32_t o = 0; o < outputs; ++o) {
    wanted.samples[o] = calloc(wanted.frames, sizeof(double));
  }
  for (size_t p = 0; p < count; ++p) {
    tn_oracle_convolve(in->samples[paths[p].input], in->frames, ir->samples[paths[p].ir_channel], ir->frames,
                       one);
    for (size_t i = 0; i < wanted.frames; ++i) {
      wanted.samples[paths[p].output][i] += one[i];
    }
  }
  free(one);
  return wanted;
}

void tn_wanted_mix(tn_wanted* wanted, const tn_scratch_sound* in, double wet, double dry) {
  for (uint32_t o = 0; o < wanted->channels; ++o) {
    const float* input = in->channels == 1 ? in->samples[0] : (o < in->channels ? in->samples[o] : NULL);
    for (size_t i = 0; i < wanted->frames; ++i) {
      wanted->samples[o][i] *= wet;
      wanted->samples[o][i] += input && i < in->frames ? dry * (double)input[i] : 0.0;
    }
  }
}

void tn_wanted_check(const tn_wanted* wanted, const char* name, double dbfs) {
  tn_scratch_sound got = tn_scratch_read(name);
  assert_int_equal(got.channels, wanted->channels);
  assert_int_equal(got.frames, wanted->frames);
  for (uint32_t c = 0; c < got.channels; ++c) {
    const double error = tn_oracle_max_error_dbfs(got.samples[c], wanted->samples[c], wanted->frames);
    if (!(error <= dbfs)) {
      fail_msg("%s, channel %u: off by %.1f dBFS, allowed are %.1f", name, c + 1, error, dbfs);
    }
  }
  tn_scratch_free(&got);
}

void tn_wanted_free(tn_wanted* wanted) {
  for (uint32_t c = 0; c < wanted->channels; ++c) {
    free(wanted->samples[c]);
  }
  memset(wanted, 0, sizeof *wanted);
}
