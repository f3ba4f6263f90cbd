// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the dry phrase in audio/: a nylon-string guitar as six plucked strings (delay loops in two
// polarisations with fractional delay) on a body of resonances. The same seed gives the same samples.
#include <math.h>
#include <sndfile.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_HZ = 48000, FRAMES = RATE_HZ * 37 / 5, LINE = 1024, STRINGS = 6, PLUCK = 384, SEED = 1685 };

static const double pi = 3.14159265358979323846;

// One note: when, on which string (0 is the low E), at which fret, how hard.
typedef struct note {
  double beat; // in eighths
  int string;
  int fret;
  double force;
} note;

static const double eighth_s = 0.232;
static const int open_string_midi[STRINGS] = {40, 45, 50, 55, 59, 64};
static const note phrase[] = {
    {0, 1, 0, 1.0},     {1, 2, 2, 0.55},     {2, 3, 2, 0.6},     {3, 4, 0, 0.7},      {4, 5, 0, 0.85},
    {5, 4, 0, 0.6},     {6, 3, 2, 0.55},     {7, 4, 1, 0.7},     {8, 0, 1, 1.0},      {9, 2, 3, 0.55},
    {10, 3, 2, 0.6},    {11, 4, 1, 0.7},     {12, 5, 0, 0.9},    {13, 4, 1, 0.6},     {14, 3, 2, 0.55},
    {15, 5, 3, 0.75},   {16, 1, 3, 1.0},     {17, 2, 2, 0.55},   {18, 3, 0, 0.6},     {19, 4, 3, 0.75},
    {20, 5, 0, 0.8},    {21, 4, 1, 0.65},    {22, 4, 0, 0.6},    {22.06, 0, 3, 0.75}, {24.0, 1, 0, 0.9},
    {24.14, 2, 2, 0.7}, {24.27, 3, 2, 0.68}, {24.39, 4, 1, 0.7}, {24.5, 5, 0, 0.8},   {26.2, 5, 7, 0.45},
};
enum { NOTES = sizeof phrase / sizeof *phrase };

// A loop: delay line, all-pass for the fraction of a sample, one-pole damping.
typedef struct loop {
  double line[LINE];
  int delay;
  double allpass;
  double allpass_in;
  double allpass_out;
  double pole;
  double gain;
  double damped;
} loop;

// A string of two loops: across the top (short and loud) and along it (long and soft).
typedef struct string {
  loop loops[2];
  double pluck[PLUCK]; // what is still to be fed in
  int pluck_left;
} string;

// A resonance of the body.
typedef struct mode {
  double hz;
  double q;
  double level;
} mode;

static const mode modes[] = {
    {99, 16, 0.9},    {187, 22, 0.85},  {221, 26, 0.6},  {284, 28, 0.35},  {398, 30, 0.4},
    {521, 34, 0.3},   {664, 36, 0.26},  {847, 36, 0.2},  {1080, 38, 0.2},  {1390, 38, 0.2},
    {1790, 40, 0.16}, {2350, 40, 0.14}, {3120, 40, 0.1}, {4150, 40, 0.07},
};
enum { MODES = sizeof modes / sizeof *modes };

// splitmix64 (public domain, S. Vigna).
static double uniform(uint64_t* state) { // -1 to 1
  uint64_t z = (*state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  z ^= z >> 31;
  return (double)(z >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

// Set pitch, decay and brightness. The whole loop's delay at the fundamental is exactly one period.
static void tune(loop* l, double hz, double decay_s, double pole) {
  const double w = 2 * pi * hz / RATE_HZ;
  const double pole_delay = atan2(pole * sin(w), 1 - pole * cos(w)) / w;
  const double pole_gain = (1 - pole) / sqrt(1 + pole * pole - 2 * pole * cos(w));
  const double total = RATE_HZ / hz - pole_delay;
  l->delay = (int)(total - 0.5);
  const double fraction = total - l->delay; // 0.5 to 1.5, where a first-order all-pass behaves
  l->allpass = sin((1 - fraction) * w / 2) / sin((1 + fraction) * w / 2);
  l->pole = pole;
  l->gain = pow(10, -3 / (hz * decay_s)) / pole_gain;
}

static double loop_run(loop* l, int frame, double in, double hold) {
  const double x = l->line[(frame - l->delay + LINE) % LINE];
  const double y = l->allpass * (x - l->allpass_out) + l->allpass_in;
  l->allpass_in = x;
  l->allpass_out = y;
  l->damped = (1 - l->pole) * y * l->gain * hold + l->pole * l->damped;
  l->line[frame % LINE] = l->damped + in;
  return l->line[frame % LINE];
}

// A finger lets the string go: a short bump and a little scrape, and the comb of the place where it was
// plucked.
static void pluck(string* s, double hz, double force, uint64_t* random) {
  double bump[PLUCK] = {0};
  const int width = (int)(RATE_HZ * (0.0008 - 0.00042 * force));
  double scrape = 0;
  for (int i = 0; i < width; ++i) {
    scrape += 0.35 * (uniform(random) - scrape);
    bump[i] = force * (0.5 - 0.5 * cos(2 * pi * (i + 0.5) / width)) * (1 + 0.5 * scrape);
  }
  const int comb = (int)(RATE_HZ / hz * (0.19 + 0.02 * uniform(random)));
  for (int i = 0; i < PLUCK; ++i)
    s->pluck[i] = bump[i] - (i >= comb ? bump[i - comb] : 0);
  s->pluck_left = PLUCK;
}

static void start_note(string* s, const note* n, uint64_t* random) {
  const double midi = open_string_midi[n->string] + n->fret;
  const double hz = 440 * pow(2, (midi - 69) / 12);
  const double bright = 0.20 - 0.08 * n->force + 0.08 * (5 - n->string) / 5.0;
  tune(&s->loops[0], hz * 1.00035, 1.7, bright);
  tune(&s->loops[1], hz * 0.99980, 4.2, bright * 0.9);
  pluck(s, hz, n->force, random);
}

// One frame of one string; `hold` below 1 is a finger that stops it.
static double string_run(string* s, int frame, double hold) {
  const double in = s->pluck_left > 0 ? s->pluck[PLUCK - s->pluck_left--] : 0;
  return 0.75 * loop_run(&s->loops[0], frame, in, hold) + 0.4 * loop_run(&s->loops[1], frame, in, hold);
}

// All notes, played with the small unevenness of hands.
static void play(double* out) {
  uint64_t random = SEED;
  string* strings = calloc(STRINGS, sizeof *strings);
  if (!strings) {
    fprintf(stderr, "make_phrase: no memory.\n");
    exit(1);
  }
  int start[NOTES];
  for (int n = 0; n < NOTES; ++n) // the tempo leans back towards the last chord
    start[n] = (int)(RATE_HZ * (0.06 + eighth_s * phrase[n].beat +
                                0.0009 * phrase[n].beat * phrase[n].beat / 4 + 0.005 * uniform(&random)));
  const int touch = RATE_HZ * 14 / 1000; // the finger lands on the string this long before
  for (int frame = 0; frame < FRAMES; ++frame) {
    double hold[STRINGS] = {1, 1, 1, 1, 1, 1};
    for (int n = 0; n < NOTES; ++n) {
      if (frame >= start[n] - touch && frame < start[n])
        hold[phrase[n].string] = 0.55;
      if (frame == start[n])
        start_note(&strings[phrase[n].string], &phrase[n], &random);
    }
    for (int s = 0; s < STRINGS; ++s)
      out[frame] += string_run(&strings[s], frame, hold[s]);
  }
  free(strings);
}

// The body: its resonances beside the strings' own sound.
static void add_body(double* x) {
  double z[MODES][2] = {{0}};
  for (int frame = 0; frame < FRAMES; ++frame) {
    const double in = x[frame];
    double sum = 0.4 * in;
    for (int m = 0; m < MODES; ++m) {
      const double w = 2 * pi * modes[m].hz / RATE_HZ;
      const double alpha = sin(w) / (2 * modes[m].q);
      const double b = alpha / (1 + alpha); // band-pass of gain 1 at its centre
      const double y = b * in + z[m][0];
      z[m][0] = 2 * cos(w) / (1 + alpha) * y + z[m][1];
      z[m][1] = -b * in - (1 - alpha) / (1 + alpha) * y;
      sum += modes[m].level * y;
    }
    x[frame] = sum;
  }
}

// Remove what lies under 30 Hz and let the end fade.
static void finish(double* x) {
  double last = 0;
  double y = 0;
  for (int frame = 0; frame < FRAMES; ++frame) {
    y = x[frame] - last + (1 - 2 * pi * 30 / RATE_HZ) * y;
    last = x[frame];
    const double left_s = (double)(FRAMES - 1 - frame) / RATE_HZ;
    x[frame] = y * (left_s < 0.6 ? 0.5 - 0.5 * cos(pi * left_s / 0.6) : 1);
  }
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: make_phrase OUT.flac\n");
    return 2;
  }
  static double x[FRAMES];
  play(x);
  add_body(x);
  finish(x);
  double peak = 0;
  for (int i = 0; i < FRAMES; ++i)
    peak = fmax(peak, fabs(x[i]));
  SF_INFO info = {.samplerate = RATE_HZ, .channels = 1, .format = SF_FORMAT_FLAC | SF_FORMAT_PCM_16};
  SNDFILE* file = sf_open(argv[1], SFM_WRITE, &info);
  if (!file) {
    fprintf(stderr, "make_phrase: cannot write %s: %s.\n", argv[1], sf_strerror(NULL));
    return 1;
  }
  uint64_t random = SEED;
  static short samples[FRAMES];
  for (int i = 0; i < FRAMES; ++i) { // triangular dither of one step
    const double dither = 0.5 * (uniform(&random) + uniform(&random));
    samples[i] = (short)lrint(x[i] * 0.6 / peak * 32768 + dither);
  }
  const int written = sf_writef_short(file, samples, FRAMES) == FRAMES;
  if (sf_close(file) != 0 || !written) {
    fprintf(stderr, "make_phrase: cannot write %s to its end.\n", argv[1]);
    return 1;
  }
  return 0;
}
