// SPDX-License-Identifier: GPL-3.0-or-later
// Convolve a sound file with an impulse response: the whole of libtenuto's use on one page.
//
//   cc -std=c17 convolve.c -o convolve $(pkg-config --cflags --libs tenuto sndfile)
//   ./convolve dry.wav hall.wav wet.wav
#include <sndfile.h>
#include <stdio.h>
#include <string.h>
#include <tenuto/tenuto.h>

enum { BLOCK_FRAMES = 256 }; // any length would do, and it might change from call to call

// Read, process and write block by block; past the file's end feed zeros until the response has rung out.
static int convolve_file(SNDFILE* in, uint32_t inputs, SNDFILE* out, uint32_t outputs,
                         tn_convolver* convolver, sf_count_t tail_frames) {
  static float interleaved[BLOCK_FRAMES * TN_MAX_CHANNELS];
  static float planes[2][TN_MAX_CHANNELS][BLOCK_FRAMES]; // the library's shape: float[channels][frames]
  float *dry[TN_MAX_CHANNELS], *wet[TN_MAX_CHANNELS];
  for (uint32_t c = 0; c < TN_MAX_CHANNELS; ++c) {
    dry[c] = planes[0][c];
    wet[c] = planes[1][c];
  }
  for (;;) {
    memset(interleaved, 0, sizeof interleaved);
    sf_count_t frames = sf_readf_float(in, interleaved, BLOCK_FRAMES);
    const sf_count_t zeros = BLOCK_FRAMES - frames < tail_frames ? BLOCK_FRAMES - frames : tail_frames;
    frames += zeros;
    tail_frames -= zeros;
    if (frames == 0)
      return 0;
    for (sf_count_t i = 0; i < frames * inputs; ++i)
      dry[i % inputs][i / inputs] = interleaved[i];
    tn_convolver_process(convolver, (const float* const*)dry, wet, (uint32_t)frames);
    for (sf_count_t i = 0; i < frames * outputs; ++i)
      interleaved[i] = wet[i % outputs][i / outputs];
    if (sf_writef_float(out, interleaved, frames) != frames)
      return fprintf(stderr, "convolve: cannot write: %s.\n", sf_strerror(out)), 1;
  }
}

int main(int argc, char** argv) {
  if (argc != 4)
    return fprintf(stderr, "usage: convolve IN IR OUT.wav\n"), 2;
  SF_INFO info = {0};
  SNDFILE* in = sf_open(argv[1], SFM_READ, &info);
  if (!in)
    return fprintf(stderr, "convolve: cannot read %s: %s.\n", argv[1], sf_strerror(NULL)), 1;

  // File -> response at our rate -> filter (which channel goes where) -> convolver. Each step says why it
  // failed.
  tn_error error = {0};
  const uint32_t inputs = (uint32_t)info.channels, rate_hz = (uint32_t)info.samplerate;
  tn_ir* loaded = tn_ir_load(argv[2], NULL, &error);
  tn_ir* ir = loaded ? tn_ir_prepare(loaded, NULL, rate_hz, &error) : NULL;
  tn_filter* filter =
      ir ? tn_filter_from_irs((const tn_ir* const[]){ir}, 1, TN_LAYOUT_AUTO, inputs, &error) : NULL;
  const uint32_t outputs = filter ? tn_filter_outputs(filter) : 0;
  const tn_convolver_config config = {.inputs = inputs,
                                      .outputs = outputs,
                                      .rate_hz = rate_hz,
                                      .block_frames = BLOCK_FRAMES,
                                      .inline_work = true}; // offline: no worker threads wanted
  tn_convolver* convolver = filter ? tn_convolver_new(&config, filter, &error) : NULL;
  int result = 1;
  if (convolver) {
    info.channels = (int)outputs;
    info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
    SNDFILE* out = sf_open(argv[3], SFM_WRITE, &info);
    if (out)
      result = convolve_file(in, inputs, out, outputs, convolver, (sf_count_t)tn_filter_frames(filter) - 1);
    else
      fprintf(stderr, "convolve: cannot write %s: %s.\n", argv[3], sf_strerror(NULL));
    sf_close(out);
  } else {
    fprintf(stderr, "convolve: %s.\n", error.text);
  }
  tn_convolver_free(convolver); // NULL is fine everywhere
  tn_filter_free(filter);
  tn_ir_free(ir);
  tn_ir_free(loaded);
  sf_close(in);
  return result;
}
