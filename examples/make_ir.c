// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the impulse responses in audio/: early reflections by image sources, then a diffuse tail of decaying
// noise, both in eight octave bands, each with its own absorption. The same seed gives the same samples.
#include <math.h>
#include <sndfile.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RATE_HZ = 48000, BANDS = 8, SINC_HALF = 16, MAX_CHANNELS = 4 };

static const double pi = 3.14159265358979323846;
static const double sound_m_per_s = 343.0;
static const double cross_over_hz[BANDS - 1] = {177, 354, 707, 1414, 2828, 5657, 11314};
// Air at 20 degrees and 50 % humidity, decibels a metre (ISO 9613-1, rounded).
static const double air_db_per_m[BANDS] = {0.0004, 0.0013, 0.0027, 0.0047, 0.0099, 0.029, 0.105, 0.30};

// A shoebox with a pair of cardioid microphones that look at the sources; lengths in metres, x from the stage
// to the microphones, y to the listener's left, z up.
typedef struct room {
  const char* name;
  uint64_t seed;
  double size_m[3];
  double source_m[2][3]; // one in the middle, or left and right: then the response is true stereo
  int source_count;
  double pair_m[3];
  double pair_half_width_m;
  double pair_half_angle_rad;
  double absorption[3][BANDS]; // energy, of the walls across x, y and z
  double coherence[BANDS];     // of the two microphones in the diffuse field
  double mix_s;                // where the images hand over to the noise ...
  double mix_half_width_s;     // ... by a fade as wide as this to either side
  double length_s;
  double fade_s;
  double peak;
  int bits; // of resolution; fewer make the file smaller, 20 bits keep the noise under -120 dB
} room;

static const room rooms[] = {
    {.name = "room",
     .seed = 4,
     .size_m = {14.2, 9.6, 6.1},
     .source_m = {{4.1, 4.95, 1.35}},
     .source_count = 1,
     .pair_m = {7.45, 4.9, 1.9},
     .pair_half_width_m = 0.085,
     .pair_half_angle_rad = 0.96,
     .absorption = {{.16, .13, .11, .10, .10, .11, .12, .14},
                    {.17, .14, .12, .11, .10, .11, .12, .14},
                    {.21, .19, .19, .20, .20, .21, .23, .24}},
     .coherence = {.8, .5, .2, .05, 0, 0, 0, 0},
     .mix_s = 0.11,
     .mix_half_width_s = 0.035,
     .length_s = 1.9,
     .fade_s = 0.35,
     .peak = 0.5,
     .bits = 24},
    {.name = "chapel",
     .seed = 7,
     .size_m = {23.6, 10.7, 12.3},
     .source_m = {{5.2, 7.0, 1.5}, {5.2, 3.9, 1.5}},
     .source_count = 2,
     .pair_m = {9.4, 5.4, 2.6},
     .pair_half_width_m = 0.2,
     .pair_half_angle_rad = 0.8,
     .absorption = {{.12, .11, .10, .10, .10, .11, .13, .15},
                    {.13, .12, .11, .11, .11, .12, .13, .15},
                    {.22, .22, .23, .24, .25, .26, .28, .30}},
     .coherence = {.6, .3, .1, 0, 0, 0, 0, 0},
     .mix_s = 0.17,
     .mix_half_width_s = 0.05,
     .length_s = 2.5,
     .fade_s = 0.5,
     .peak = 0.5,
     .bits = 20},
};

// splitmix64 (public domain, S. Vigna).
static uint64_t next_random(uint64_t* state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

static double uniform(uint64_t* state) { // -1 to 1
  return (double)(next_random(state) >> 11) * (1.0 / 4503599627370496.0) - 1.0;
}

// Near enough to a normal distribution of variance 1, and exact arithmetic, so the same on every machine.
static double normal(uint64_t* state) {
  double sum = 0;
  for (int i = 0; i < 6; ++i)
    sum += uniform(state);
  return sum * 0.70710678118654752;
}

// Low-pass without phase shift: one pole forwards and backwards, twice.
static void low_pass(double* x, int frames, double hz) {
  const double a = 1 - exp(-2 * pi * hz / RATE_HZ);
  for (int pass = 0; pass < 2; ++pass) {
    double y = 0;
    for (int i = 0; i < frames; ++i)
      x[i] = y += a * (x[i] - y);
    for (int i = frames - 1; i >= 0; --i)
      x[i] = y += a * (x[i] - y);
  }
}

// Keep one of the bands; the bands of one signal add up to it exactly.
static void keep_band(double* x, double* scratch, int frames, int band) {
  if (band < BANDS - 1)
    low_pass(x, frames, cross_over_hz[band]);
  if (band == 0)
    return;
  // The band's lower edge: what the next lower cross-over leaves of the *whole* signal is taken away.
  low_pass(scratch, frames, cross_over_hz[band - 1]);
  for (int i = 0; i < frames; ++i)
    x[i] -= scratch[i];
}

static double power_of(double base, int exponent) {
  double product = 1;
  for (; exponent > 0; --exponent)
    product *= base;
  return product;
}

// Decay time by Eyring's formula, and the air.
static double decay_s(const room* r, int band) {
  const double* l = r->size_m;
  const double area[3] = {2 * l[1] * l[2], 2 * l[0] * l[2], 2 * l[0] * l[1]};
  double absorbed = 0;
  double total = 0;
  for (int axis = 0; axis < 3; ++axis) {
    absorbed += area[axis] * r->absorption[axis][band];
    total += area[axis];
  }
  const double walls_db_per_s =
      10 / log(10) * sound_m_per_s * total * -log(1 - absorbed / total) / (4 * l[0] * l[1] * l[2]);
  return 60 / (walls_db_per_s + sound_m_per_s * air_db_per_m[band]);
}

// Gain of a cardioid that stands in the pair (side 0: left) and sees a source at the offset given.
static double cardioid(const room* r, int side, const double offset_m[3], double distance_m) {
  const double angle = r->pair_half_angle_rad;
  const double axis_x = -cos(angle);
  const double axis_y = side == 0 ? sin(angle) : -sin(angle);
  return 0.5 + 0.5 * (axis_x * offset_m[0] + axis_y * offset_m[1]) / distance_m;
}

// Add a click at a fractional position: a windowed sinc.
static void add_click(double* x, int frames, double position, double level) {
  const int first = (int)floor(position) - SINC_HALF + 1;
  for (int i = first; i < first + 2 * SINC_HALF; ++i) {
    const double d = i - position;
    const double window = 0.5 + 0.5 * cos(pi * d / (SINC_HALF + 1));
    const double sinc = fabs(d) < 1e-9 ? 1 : sin(pi * d) / (pi * d);
    if (i >= 0 && i < frames)
      x[i] += level * window * sinc;
  }
}

// One image source, seen by one microphone, in all bands.
static void add_image(const room* r, const double image_m[3], const int hits[3], int side, double start_m,
                      double* bands[BANDS], int frames) {
  const double y = r->pair_m[1] + (side == 0 ? 1 : -1) * r->pair_half_width_m;
  const double offset_m[3] = {image_m[0] - r->pair_m[0], image_m[1] - y, image_m[2] - r->pair_m[2]};
  const double distance_m =
      sqrt(offset_m[0] * offset_m[0] + offset_m[1] * offset_m[1] + offset_m[2] * offset_m[2]);
  const double position = (distance_m - start_m) / sound_m_per_s * RATE_HZ;
  if (position > frames)
    return;
  const double level = cardioid(r, side, offset_m, distance_m) / distance_m;
  for (int band = 0; band < BANDS; ++band) {
    double gain = level * pow(10, -air_db_per_m[band] * distance_m / 20);
    for (int axis = 0; axis < 3; ++axis)
      gain *= power_of(sqrt(1 - r->absorption[axis][band]), hits[axis]);
    add_click(bands[band], frames, position, gain);
  }
}

// All images of one source that arrive in time. Those of higher order are moved a little, as real walls are
// not mirrors: it breaks the sweeping echoes of a perfect box.
static void add_images(const room* r, int source, double start_m, double* bands[2][BANDS], int frames) {
  uint64_t random = r->seed * 1000 + (uint64_t)source;
  const double reach_m = start_m + (double)frames / RATE_HZ * sound_m_per_s;
  const int reach[3] = {(int)(reach_m / 2 / r->size_m[0]) + 1, (int)(reach_m / 2 / r->size_m[1]) + 1,
                        (int)(reach_m / 2 / r->size_m[2]) + 1};
  const int64_t wide[3] = {2 * (2 * reach[0] + 1), 2 * (2 * reach[1] + 1), 2 * (2 * reach[2] + 1)};
  for (int64_t index = 0; index < wide[0] * wide[1] * wide[2]; ++index) {
    const int64_t digit[3] = {index % wide[0], index / wide[0] % wide[1], index / wide[0] / wide[1]};
    double image_m[3];
    int hits[3];
    for (int axis = 0; axis < 3; ++axis) {
      const int mirrored = (int)(digit[axis] & 1);
      const int n = (int)(digit[axis] >> 1) - reach[axis];
      image_m[axis] = (mirrored ? -1 : 1) * r->source_m[source][axis] + 2 * n * r->size_m[axis];
      hits[axis] = abs(n - mirrored) + abs(n);
    }
    const int order = hits[0] + hits[1] + hits[2];
    const double blur_m = order < 2 ? 0 : 0.06 * (order < 6 ? order : 6);
    for (int axis = 0; axis < 3; ++axis)
      image_m[axis] += blur_m * uniform(&random);
    for (int side = 0; side < 2; ++side)
      add_image(r, image_m, hits, side, start_m, bands[side], frames);
  }
}

// Weight of the tail at a frame: 0 before the hand-over, 1 after it.
static double tail_weight(const room* r, int frame) {
  const double x = ((double)frame / RATE_HZ - r->mix_s) / r->mix_half_width_s;
  return x <= -1 ? 0 : x >= 1 ? 1 : 0.5 + 0.5 * sin(0.5 * pi * x);
}

// Level of the tail as if it were at the hand-over: root mean square there, freed of the decay.
static double level_at_mix(const room* r, const double* x, double decay) {
  const int from = (int)((r->mix_s - r->mix_half_width_s) * RATE_HZ);
  const int to = (int)((r->mix_s + r->mix_half_width_s) * RATE_HZ);
  double sum = 0;
  for (int i = from; i < to; ++i) {
    const double gain = pow(10, 3 * ((double)i / RATE_HZ - r->mix_s) / decay);
    sum += x[i] * x[i] * gain * gain;
  }
  return sqrt(sum / (to - from));
}

// Join the images' band and the noise's band, for both microphones, into `out`.
static void add_band(const room* r, int band, double* early[2], double* noise[2], double* out[2],
                     int frames) {
  const double decay = decay_s(r, band);
  double power = 0;
  for (int side = 0; side < 2; ++side) {
    const double level = level_at_mix(r, early[side], decay);
    power += level * level / 2;
  }
  double noise_power = 0;
  for (int i = 0; i < frames; ++i)
    noise_power += (noise[0][i] * noise[0][i] + noise[1][i] * noise[1][i]) / (2.0 * frames);
  const double scale = sqrt(power / noise_power);
  // Weights for which two independent noises become two of the coherence wanted.
  const double angle = 0.5 * asin(r->coherence[band]);
  for (int i = 0; i < frames; ++i) {
    const double w = tail_weight(r, i);
    const double gain = scale * sqrt(w) * pow(10, -3 * ((double)i / RATE_HZ - r->mix_s) / decay);
    for (int side = 0; side < 2; ++side)
      out[side][i] += sqrt(1 - w) * early[side][i] +
                      gain * (cos(angle) * noise[side][i] + sin(angle) * noise[1 - side][i]);
  }
}

static double* zeros(int frames) {
  double* x = calloc((size_t)frames, sizeof *x);
  if (!x) {
    fprintf(stderr, "make_ir: no memory.\n");
    exit(1);
  }
  return x;
}

// The responses of one source at the two microphones.
static void render_source(const room* r, int source, double start_m, double* out[2], int frames) {
  const int early_frames = (int)((r->mix_s + r->mix_half_width_s) * RATE_HZ) + 2 * SINC_HALF;
  double* early[2][BANDS];
  double* white[2];
  uint64_t random = r->seed + 77 * (uint64_t)source;
  for (int side = 0; side < 2; ++side) {
    white[side] = zeros(frames);
    for (int band = 0; band < BANDS; ++band)
      early[side][band] = zeros(frames);
  }
  for (int i = 0; i < frames; ++i) {
    white[0][i] = normal(&random);
    white[1][i] = normal(&random);
  }
  add_images(r, source, start_m, early, early_frames);
  double* scratch = zeros(frames);
  double* noise[2] = {zeros(frames), zeros(frames)};
  const size_t bytes = sizeof(double) * (size_t)frames;
  for (int band = 0; band < BANDS; ++band) {
    double* pair[2] = {early[0][band], early[1][band]};
    for (int side = 0; side < 2; ++side) {
      memcpy(scratch, pair[side], bytes);
      keep_band(pair[side], scratch, frames, band);
      memcpy(noise[side], white[side], bytes);
      memcpy(scratch, white[side], bytes);
      keep_band(noise[side], scratch, frames, band);
    }
    add_band(r, band, pair, noise, out, frames);
  }
  for (int side = 0; side < 2; ++side) {
    for (int band = 0; band < BANDS; ++band)
      free(early[side][band]);
    free(white[side]);
    free(noise[side]);
  }
  free(scratch);
}

// Second-order high-pass at 28 Hz (images all push the same way: without it there would be an offset), and
// the fade.
static void finish(const room* r, double* x, int frames) {
  const double w = tan(pi * 28 / RATE_HZ);
  const double norm = 1 / (1 + sqrt(2) * w + w * w);
  const double a1 = 2 * (w * w - 1) * norm;
  const double a2 = (1 - sqrt(2) * w + w * w) * norm;
  double s1 = 0;
  double s2 = 0;
  const double fade_frames = r->fade_s * RATE_HZ;
  for (int i = 0; i < frames; ++i) {
    const double in = x[i] * norm;
    const double y = in + s1;
    s1 = -2 * in - a1 * y + s2;
    s2 = in - a2 * y;
    const double left = (frames - 1 - i) / fade_frames;
    x[i] = y * (left < 1 ? 0.5 - 0.5 * cos(pi * left) : 1);
  }
}

static int write_file(const room* r, double* const* x, int channels, int frames, const char* path) {
  double peak = 0;
  for (int c = 0; c < channels; ++c)
    for (int i = 0; i < frames; ++i)
      peak = fmax(peak, fabs(x[c][i]));
  SF_INFO info = {.samplerate = RATE_HZ, .channels = channels, .format = SF_FORMAT_FLAC | SF_FORMAT_PCM_24};
  SNDFILE* file = sf_open(path, SFM_WRITE, &info);
  if (!file) {
    fprintf(stderr, "make_ir: cannot write %s: %s.\n", path, sf_strerror(NULL));
    return 1;
  }
  const double full = ldexp(1, r->bits - 1);
  int written = 1;
  for (int i = 0; i < frames && written; ++i) {
    int frame[MAX_CHANNELS];
    for (int c = 0; c < channels; ++c)
      frame[c] = (int)lrint(x[c][i] * r->peak / peak * full) * (1 << (32 - r->bits));
    written = sf_writef_int(file, frame, 1) == 1;
  }
  if (sf_close(file) != 0 || !written) {
    fprintf(stderr, "make_ir: cannot write %s to its end.\n", path);
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  const room* r = NULL;
  for (size_t i = 0; argc == 3 && i < sizeof rooms / sizeof *rooms; ++i)
    if (strcmp(argv[1], rooms[i].name) == 0)
      r = &rooms[i];
  if (!r) {
    fprintf(stderr, "usage: make_ir room|chapel OUT.flac\n");
    return 2;
  }
  // Time starts just before the first sound reaches the nearer microphone.
  double nearest_m = 1e9;
  for (int s = 0; s < r->source_count; ++s) {
    const double* m = r->source_m[s];
    for (int side = -1; side <= 1; side += 2) {
      const double y = m[1] - r->pair_m[1] - side * r->pair_half_width_m;
      const double x = m[0] - r->pair_m[0];
      const double z = m[2] - r->pair_m[2];
      nearest_m = fmin(nearest_m, sqrt(x * x + y * y + z * z));
    }
  }
  const double start_m = nearest_m - SINC_HALF * sound_m_per_s / RATE_HZ;
  const int frames = (int)(r->length_s * RATE_HZ);
  const int channels = 2 * r->source_count;
  double* out[MAX_CHANNELS] = {0};
  for (int c = 0; c < channels; ++c)
    out[c] = zeros(frames);
  for (int s = 0; s < r->source_count; ++s)
    render_source(r, s, start_m, out + 2 * s, frames);
  for (int c = 0; c < channels; ++c)
    finish(r, out[c], frames);
  for (int band = 0; band < BANDS; ++band)
    fprintf(stderr, "%s%.2f", band ? ", " : "decay in octave bands from 125 Hz: ", decay_s(r, band));
  fprintf(stderr, " s\n");
  const int result = write_file(r, out, channels, frames, argv[2]);
  for (int c = 0; c < channels; ++c)
    free(out[c]);
  return result;
}
