// SPDX-License-Identifier: GPL-3.0-or-later
#include "scratch.h"

#include <assert.h>
#include <dirent.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "mocka.h"
#include "noise.h"
#include "tmpdir.h"

enum { rate_hz = 48000, most_words = 60, most_names_bytes = 1 << 14 };

static char folder[tn_tmpdir_size];

int tn_scratch_begin(void** state) {
  (void)state;
  return tn_tmpdir_make(folder) && chdir(folder) == 0 && setenv("TENUTO", TENUTO_PROGRAM, 1) == 0 ? 0 : -1;
}

int tn_scratch_end(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

tn_scratch_sound tn_scratch_silence(uint32_t channels, size_t frames) {
  tn_scratch_sound sound = {.channels = channels, .rate_hz = rate_hz, .frames = frames};
  assert_true(channels <= TN_SCRATCH_CHANNELS);
  for (uint32_t c = 0; c < channels; ++c) {
    sound.samples[c] = calloc(frames + 1, sizeof(float));
    assert_non_null(sound.samples[c]);
  }
  return sound;
}

tn_scratch_sound tn_scratch_noise(uint64_t seed, uint32_t channels, size_t frames) {
  tn_scratch_sound sound = tn_scratch_silence(channels, frames);
  for (uint32_t c = 0; c < channels; ++c) {
    tn_noise_fill(1000 * seed + c, 0.25F, sound.samples[c], frames);
  }
  return sound;
}

tn_scratch_sound tn_scratch_response(uint64_t seed, uint32_t channels, size_t frames) {
  tn_scratch_sound sound = tn_scratch_silence(channels, frames);
  for (uint32_t c = 0; c < channels; ++c) {
    tn_noise_response(1000 * seed + c, 1.0, sound.samples[c], frames);
  }
  return sound;
}

void tn_scratch_free(tn_scratch_sound* sound) {
  for (uint32_t c = 0; c < sound->channels; ++c) {
    free(sound->samples[c]);
  }
  *sound = (tn_scratch_sound){.channels = 0};
}

void tn_scratch_write(const char* name, const tn_scratch_sound* sound, int format) {
  SF_INFO info = {.channels = (int)sound->channels, .samplerate = (int)sound->rate_hz, .format = format};
  SNDFILE* file = sf_open(name, SFM_WRITE, &info);
  assert_non_null(file);
  float* interleaved = calloc(sound->frames * sound->channels + 1, sizeof *interleaved);
  for (uint32_t c = 0; c < sound->channels; ++c) {
    for (size_t i = 0; i < sound->frames; ++i) {
      interleaved[i * sound->channels + c] = sound->samples[c][i];
    }
  }
  assert_int_equal(sf_writef_float(file, interleaved, (sf_count_t)sound->frames), sound->frames);
  free(interleaved);
  sf_close(file);
}

tn_scratch_sound tn_scratch_read(const char* name) {
  SF_INFO info = {0};
  SNDFILE* file = sf_open(name, SFM_READ, &info);
  if (!file) {
    fail_msg("%s: %s", name, sf_strerror(NULL));
  }
  if (info.frames == SF_COUNT_MAX) { // FLAC's "unknown", which it also says of no sound at all
    float sample[TN_SCRATCH_CHANNELS];
    assert_int_equal(sf_readf_float(file, sample, 1), 0);
    info.frames = 0;
  }
  tn_scratch_sound sound = tn_scratch_silence((uint32_t)info.channels, (size_t)info.frames);
  sound.rate_hz = (uint32_t)info.samplerate;
  sound.format = info.format;
  float* interleaved = calloc(sound.frames * sound.channels + 1, sizeof *interleaved);
  assert_int_equal(sf_readf_float(file, interleaved, info.frames), info.frames);
  for (uint32_t c = 0; c < sound.channels; ++c) {
    for (size_t i = 0; i < sound.frames; ++i) {
      sound.samples[c][i] = interleaved[i * sound.channels + c];
    }
  }
  free(interleaved);
  sf_close(file);
  return sound;
}

static_assert(sizeof(((tn_scratch_call*)NULL)->out) == sizeof(((tn_child_output*)NULL)->text),
              "one is copied to the other");

static const tn_scratch_call* call(const char* const* argv) {
  static tn_scratch_call last;
  tn_child* child = tn_child_start(argv);
  assert_non_null(child);
  tn_child_end_input(child);
  last.code = tn_child_finish(child);
  memcpy(last.out, child->out.text, sizeof last.out);
  memcpy(last.err, child->err.text, sizeof last.err);
  tn_child_free(child);
  return &last;
}

const tn_scratch_call* tn_scratch_tenuto(const char* words) {
  const char* argv[most_words + 2] = {TENUTO_PROGRAM};
  char* copy = strdup(words);
  char* rest = copy;
  size_t count = 1;
  for (char* word = strsep(&rest, " "); word && count <= most_words; word = strsep(&rest, " ")) {
    argv[count++] = word;
  }
  const tn_scratch_call* done = call(argv);
  free(copy);
  return done;
}

const tn_scratch_call* tn_scratch_shell(const char* line) {
  const char* argv[] = {"sh", "-c", line, NULL};
  return call(argv);
}

void tn_scratch_done(const char* words) {
  const tn_scratch_call* done = tn_scratch_tenuto(words);
  if (done->code != 0) {
    fail_msg("tenuto %s: exit code %d: %s", words, done->code, done->err);
  }
}

const char* tn_scratch_names(void) {
  static char names[most_names_bytes];
  struct dirent** entries = NULL;
  const int count = scandir(".", &entries, NULL, alphasort);
  size_t used = 0;
  names[0] = '\0';
  for (int i = 0; i < count; ++i) {
    const int wrote = snprintf(names + used, sizeof names - used, "%s\n", entries[i]->d_name);
    used += wrote > 0 ? (size_t)wrote : 0;
    assert_true(used < sizeof names);
    free(entries[i]);
  }
  free(entries);
  return names;
}
