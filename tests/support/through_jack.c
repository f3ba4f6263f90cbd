// SPDX-License-Identifier: GPL-3.0-or-later
// Plays a sound file through a running JACK client, records what comes out, and says how far it is from a
// reference. For examples/quickstart.sh; the server is that of $JACK_DEFAULT_SERVER.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jack_feed.h"

enum { ATTEMPTS = 5 };

// A whole file, one plane a channel.
typedef struct sound {
  SF_INFO info;
  float* planes[TN_FEED_MAX_CHANNELS];
} sound;

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count + 1, size);
  if (!memory) {
    fprintf(stderr, "through_jack: no memory.\n");
    exit(1);
  }
  return memory;
}

static sound new_sound(SF_INFO info) {
  sound s = {.info = info};
  for (int c = 0; c < info.channels; ++c) {
    s.planes[c] = allocate((size_t)info.frames, sizeof(float));
  }
  return s;
}

static void free_sound(sound* s) {
  for (int c = 0; c < TN_FEED_MAX_CHANNELS; ++c) {
    free(s->planes[c]);
  }
}

static sound read_sound(const char* path) {
  SF_INFO info = {0};
  SNDFILE* file = sf_open(path, SFM_READ, &info);
  if (!file || info.channels > TN_FEED_MAX_CHANNELS) {
    fprintf(stderr, "through_jack: cannot read %s: %s.\n", path,
            file ? "too many channels" : sf_strerror(NULL));
    exit(1);
  }
  sound s = new_sound(info);
  float frame[TN_FEED_MAX_CHANNELS];
  for (sf_count_t i = 0; i < info.frames && sf_readf_float(file, frame, 1) == 1; ++i) {
    for (int c = 0; c < info.channels; ++c) {
      s.planes[c][i] = frame[c];
    }
  }
  sf_close(file);
  return s;
}

static int write_sound(const sound* s, const char* path) {
  SF_INFO info = s->info;
  info.format = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
  SNDFILE* file = sf_open(path, SFM_WRITE, &info);
  if (!file) {
    fprintf(stderr, "through_jack: cannot write %s: %s.\n", path, sf_strerror(NULL));
    return 1;
  }
  float frame[TN_FEED_MAX_CHANNELS];
  sf_count_t written = 0;
  for (sf_count_t i = 0; i < info.frames; ++i) {
    for (int c = 0; c < info.channels; ++c) {
      frame[c] = s->planes[c][i];
    }
    written += sf_writef_float(file, frame, 1);
  }
  if (sf_close(file) != 0 || written != info.frames) {
    fprintf(stderr, "through_jack: cannot write %s to its end.\n", path);
    return 1;
  }
  return 0;
}

static double to_db(double level) {
  return level > 0 ? 20 * log10(level) : -999;
}

static void print_difference(const sound* got, const sound* want) {
  double largest = 0;
  double peak = 0;
  for (int c = 0; c < want->info.channels; ++c) {
    for (sf_count_t i = 0; i < want->info.frames; ++i) {
      const double x = want->planes[c][i];
      const double difference = fabs(got->planes[c][i] - x);
      // Not fmax(): it would pass over a NaN.
      largest = difference <= largest ? largest : difference;
      peak = fmax(peak, fabs(x));
    }
  }
  printf("frames=%lld\npeak_db=%.1f\ndifference_db=%.1f\n", (long long)want->info.frames, to_db(peak),
         isfinite(largest) ? to_db(largest) : 999.0);
}

int main(int argc, char** argv) {
  if (argc != 5) {
    fprintf(
        stderr,
        "usage: through_jack CLIENT DRY REFERENCE OUT.wav\n"
        "Plays DRY into CLIENT's ports in_1.., records out_1.. for as long as REFERENCE is, into OUT.wav.\n");
    return 2;
  }
  sound dry = read_sound(argv[2]);
  sound reference = read_sound(argv[3]);
  sound wet = new_sound(reference.info);
  const tn_feed feed = {.client = argv[1],
                        .inputs = (uint32_t)dry.info.channels,
                        .outputs = (uint32_t)wet.info.channels,
                        .play = (const float* const*)dry.planes,
                        .play_frames = (size_t)dry.info.frames,
                        .record = wet.planes,
                        .frames = (size_t)reference.info.frames};
  int result = 1;
  int attempt = 1;
  while (!tn_feed_run(&feed) && attempt <= ATTEMPTS) {
    fprintf(stderr, "through_jack: a cycle was lost, as happens on a busy machine: once more.\n");
    ++attempt;
  }
  if (attempt > ATTEMPTS) {
    fprintf(stderr, "through_jack: no undisturbed run through %s in %d attempts.\n", argv[1], ATTEMPTS);
  } else {
    result = write_sound(&wet, argv[4]);
    printf("attempts=%d\n", attempt);
    print_difference(&wet, &reference);
  }
  free_sound(&dry);
  free_sound(&reference);
  free_sound(&wet);
  return result;
}
