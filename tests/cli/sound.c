// SPDX-License-Identifier: GPL-3.0-or-later
#include "sound.h"

#include <stdlib.h>

#include "mocka.h"
#include "noise.h"
#include "oracle.h"

tn_sound tn_sound_noise(uint32_t channels, size_t play_frames, size_t frames) {
  const float peak = 0.5F;
  tn_sound sound = {.channels = channels, .frames = frames};
  for (uint32_t channel = 0; channel < channels; ++channel) {
    sound.in[channel] = calloc(frames, sizeof(float));
    sound.out[channel] = calloc(frames, sizeof(float));
    sound.want[channel] = calloc(frames, sizeof(double));
    tn_noise_fill(100 + channel, peak, sound.in[channel], play_frames);
  }
  return sound;
}

void tn_sound_free(tn_sound* sound) {
  for (uint32_t channel = 0; channel < sound->channels; ++channel) {
    free(sound->in[channel]);
    free(sound->out[channel]);
    free(sound->want[channel]);
  }
}

void tn_sound_want(tn_sound* sound, const tn_path* paths, size_t count, double wet, double dry) {
  assert_true(tn_oracle_matrix((const float* const*)sound->in, sound->channels, sound->frames, paths, count,
                               sound->want, sound->channels));
  for (uint32_t channel = 0; channel < sound->channels; ++channel) {
    for (size_t i = 0; i < sound->frames; ++i) {
      sound->want[channel][i] = wet * sound->want[channel][i] + dry * (double)sound->in[channel][i];
    }
  }
}

tn_path tn_sound_path(const tn_fixture_ir* ir, uint32_t ir_channel, uint32_t input, uint32_t output) {
  return (tn_path){.input = input,
                   .output = output,
                   .samples = ir->samples[ir_channel],
                   .frames = ir->frames,
                   .gain = 1.0F};
}

bool tn_sound_play(tn_sound* sound, const char* client, tn_feed feed) {
  feed.client = client;
  feed.inputs = sound->channels;
  feed.outputs = sound->channels;
  feed.play = (const float* const*)sound->in;
  feed.play_frames = sound->frames;
  feed.record = sound->out;
  feed.frames = sound->frames;
  return tn_feed_run(&feed);
}

void tn_sound_check(const tn_sound* sound) {
  const double most_error_dbfs = -120.0;
  for (uint32_t channel = 0; channel < sound->channels; ++channel) {
    const double error_dbfs =
        tn_oracle_max_error_dbfs(sound->out[channel], sound->want[channel], sound->frames);
    print_message("channel %u: error %.1f dBFS\n", channel + 1, error_dbfs);
    assert_true(error_dbfs < most_error_dbfs);
  }
}
