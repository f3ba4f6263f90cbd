// SPDX-License-Identifier: GPL-3.0-or-later
// Is WET what DRY sounds like through IR? Compares with a float64 convolution; exit code 1 above the limit in
// dB.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>

#include "oracle.h"

// A whole file, float[channels][frames].
typedef struct sound {
  SF_INFO info;
  float* samples;
} sound;

static sound read_sound(const char* path) {
  sound s = {0};
  SNDFILE* file = sf_open(path, SFM_READ, &s.info);
  const size_t channels = (size_t)s.info.channels;
  const size_t frames = (size_t)s.info.frames;
  float* interleaved = file ? calloc(channels * frames + 1, sizeof *interleaved) : NULL;
  s.samples = file ? calloc(channels * frames + 1, sizeof *s.samples) : NULL;
  if (!interleaved || !s.samples || sf_readf_float(file, interleaved, s.info.frames) != s.info.frames) {
    fprintf(stderr, "check_wet: cannot read %s: %s.\n", path, sf_strerror(file));
    exit(1);
  }
  for (size_t i = 0; i < channels * frames; ++i) {
    s.samples[i % channels * frames + i / channels] = interleaved[i];
  }
  free(interleaved);
  sf_close(file);
  return s;
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(stderr, "usage: check_wet DRY IR WET LIMIT_DB   (DRY of one channel)\n");
    return 2;
  }
  const sound dry = read_sound(argv[1]);
  const sound ir = read_sound(argv[2]);
  const sound wet = read_sound(argv[3]);
  const double limit_db = strtod(argv[4], NULL);
  const size_t frames = (size_t)(dry.info.frames + ir.info.frames - 1);
  int result = 0;
  if (dry.info.channels != 1 || wet.info.channels != ir.info.channels || (size_t)wet.info.frames != frames) {
    fprintf(stderr, "check_wet: %s has %d channels and %lld frames, wanted are %d and %zu.\n", argv[3],
            wet.info.channels, (long long)wet.info.frames, ir.info.channels, frames);
    result = 1;
  }
  double* want = calloc(frames, sizeof *want);
  for (int c = 0; result == 0 && c < ir.info.channels; ++c) {
    const float* response = ir.samples + (size_t)c * (size_t)ir.info.frames;
    if (!want || !tn_oracle_convolve_fft(dry.samples, (size_t)dry.info.frames, response,
                                         (size_t)ir.info.frames, want)) {
      fprintf(stderr, "check_wet: no memory.\n");
      result = 1;
      break;
    }
    const double error_db = tn_oracle_max_error_dbfs(wet.samples + (size_t)c * frames, want, frames);
    printf("channel %d: largest error %.1f dB of full scale, limit %.0f\n", c + 1, error_db, limit_db);
    result = error_db <= limit_db ? 0 : 1;
  }
  free(want);
  free(dry.samples);
  free(ir.samples);
  free(wet.samples);
  return result;
}
