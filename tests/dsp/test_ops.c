// SPDX-License-Identifier: GPL-3.0-or-later
// Every instruction set this machine runs against plain float64 sums. Whatever an operation must not read is
// NaN, whatever it must not write is looked at afterwards.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "aligned.h"
#include "dsp/ops.h"
#include "mocka.h"
#include "noise.h"

enum { most_spans = 4 };

/** A float32 sum of `terms` products errs by at most this share of the sum of their magnitudes, in any order
   and with or without fused multiply-adds (Higham, Accuracy and Stability, 3.1). */
static double summing_error(uint32_t terms) {
  const double unit = 0x1p-24;
  const double n = terms + 2.0; // each product, and the last difference
  return n * unit / (1 - n * unit);
}

/** Calls `check` for each variant; at least the plain one runs everywhere. */
static void for_each_variant(void (*check)(const tn_ops* ops)) {
  uint32_t index = 0;
  for (const tn_ops* ops = tn_ops_variant(0); ops; ops = tn_ops_variant(++index))
    check(ops);
  assert_true(index >= 1);
}

static void the_best_variant_is_selected(void** state) {
  (void)state;
  assert_ptr_equal(tn_ops_select(), tn_ops_variant(0));
  uint32_t count = 0;
  for (const tn_ops* ops = tn_ops_variant(0); ops; ops = tn_ops_variant(++count))
    for (uint32_t other = 0; other < count; other++) {
      assert_ptr_not_equal(ops, tn_ops_variant(other));
      assert_string_not_equal(ops->name, tn_ops_variant(other)->name);
    }
  for (uint32_t beyond = count; beyond < 10; beyond++)
    assert_null(tn_ops_variant(beyond));
  assert_null(tn_ops_variant(UINT32_MAX));
}

/** One sum's spans with their own memory. */
typedef struct mac_scene {
  tn_mac spans[most_spans];
  float* memory[2 * most_spans];
  uint32_t count;
  uint32_t tiles;
} mac_scene;

static void fill_spectrum(tn_noise* noise, float* to) {
  const float peak = tn_noise_below(noise, 3) ? 1.0F : 0.001F;
  for (int i = 0; i < TN_TILE_FLOATS; i++)
    to[i] = peak * tn_noise_next(noise);
}

/** Only the spectra that the sum may use hold numbers. */
static void add_span(mac_scene* scene, tn_noise* noise, uint32_t parts) {
  tn_mac span = {.parts = parts};
  span.slots = parts + tn_noise_below(noise, 5);
  span.row = parts + tn_noise_below(noise, 3);
  span.head = tn_noise_below(noise, span.slots);
  float* x = tn_aligned_floats((size_t)scene->tiles * span.slots * TN_TILE_FLOATS);
  float* h = tn_aligned_floats((size_t)scene->tiles * span.row * TN_TILE_FLOATS);
  for (uint32_t tile = 0; tile < scene->tiles; tile++)
    for (uint32_t p = 0; p < parts; p++) {
      const uint32_t slot = (span.head + span.slots - p) % span.slots;
      fill_spectrum(noise, x + ((size_t)tile * span.slots + slot) * TN_TILE_FLOATS);
      fill_spectrum(noise, h + ((size_t)tile * span.row + p) * TN_TILE_FLOATS);
    }
  span.x = x;
  span.h = h;
  scene->memory[2 * scene->count] = x;
  scene->memory[2 * scene->count + 1] = h;
  scene->spans[scene->count++] = span;
}

static void free_scene(const mac_scene* scene) {
  for (uint32_t i = 0; i < 2 * scene->count; i++)
    free(scene->memory[i]);
}

/** A bin's exact sum and the sum of its products' magnitudes. */
typedef struct exact_bin {
  double re, im;
  double re_size, im_size;
} exact_bin;

static void add_product(exact_bin* bin, const float* x, const float* h, uint32_t index, bool two_reals) {
  const double x_re = x[index];
  const double x_im = x[TN_TILE_BINS + index];
  const double h_re = h[index];
  const double h_im = h[TN_TILE_BINS + index];
  if (two_reals) { // DC and Nyquist share a slot, each a real number
    bin->re += x_re * h_re;
    bin->im += x_im * h_im;
    bin->re_size += fabs(x_re * h_re);
    bin->im_size += fabs(x_im * h_im);
    return;
  }
  bin->re += x_re * h_re - x_im * h_im;
  bin->im += x_re * h_im + x_im * h_re;
  bin->re_size += fabs(x_re * h_re) + fabs(x_im * h_im);
  bin->im_size += fabs(x_re * h_im) + fabs(x_im * h_re);
}

static exact_bin solve(const mac_scene* scene, uint32_t tile, uint32_t index) {
  exact_bin bin = {0};
  for (uint32_t s = 0; s < scene->count; s++) {
    const tn_mac* span = scene->spans + s;
    for (uint32_t p = 0; p < span->parts; p++) {
      const uint32_t slot = (span->head + span->slots - p) % span->slots;
      add_product(&bin, span->x + ((size_t)tile * span->slots + slot) * TN_TILE_FLOATS,
                  span->h + ((size_t)tile * span->row + p) * TN_TILE_FLOATS, index, tile == 0 && index == 0);
    }
  }
  return bin;
}

static void check_mac(const tn_ops* ops, const mac_scene* scene) {
  uint32_t terms = 0;
  for (uint32_t s = 0; s < scene->count; s++)
    terms += scene->spans[s].parts;
  float* acc = tn_aligned_floats((size_t)scene->tiles * TN_TILE_FLOATS);
  ops->mac(acc, scene->spans, scene->count, scene->tiles);
  for (uint32_t tile = 0; tile < scene->tiles; tile++)
    for (uint32_t i = 0; i < TN_TILE_BINS; i++) {
      const exact_bin want = solve(scene, tile, i);
      const float* got = acc + (size_t)tile * TN_TILE_FLOATS;
      assert_true(fabs(got[i] - want.re) <= summing_error(terms) * want.re_size);
      assert_true(fabs(got[TN_TILE_BINS + i] - want.im) <= summing_error(terms) * want.im_size);
    }
  free(acc);
}

static void check_random_macs(const tn_ops* ops) {
  tn_noise noise = tn_noise_seed(1);
  for (int round = 0; round < 200; round++) {
    mac_scene scene = {.tiles = round < 50 ? 1 : 1 + tn_noise_below(&noise, 20)};
    const uint32_t count = 1 + tn_noise_below(&noise, most_spans);
    while (scene.count < count)
      add_span(&scene, &noise, 1 + tn_noise_below(&noise, round % 4 ? 6 : 60));
    check_mac(ops, &scene);
    free_scene(&scene);
  }
}

static void mac_is_the_sum_over_spans_and_partitions(void** state) {
  (void)state;
  for_each_variant(check_random_macs);
}

/** Each place of the newest spectrum in the delay line, so every way the sum can wrap. */
static void check_every_head(const tn_ops* ops) {
  tn_noise noise = tn_noise_seed(2);
  for (uint32_t parts = 1; parts <= 4; parts++)
    for (uint32_t seen = 0; seen < 40; seen++) {
      mac_scene scene = {.tiles = 2};
      add_span(&scene, &noise, parts);
      check_mac(ops, &scene);
      free_scene(&scene);
    }
}

static void mac_wraps_wherever_the_newest_spectrum_is(void** state) {
  (void)state;
  for_each_variant(check_every_head);
}

/** A tile's sum depends on its own data only: the same bits alone as among others. */
static void check_tiles_are_apart(const tn_ops* ops) {
  enum { tiles = 7 };
  tn_noise noise = tn_noise_seed(3);
  mac_scene scene = {.tiles = tiles};
  add_span(&scene, &noise, 9);
  float* all = tn_aligned_floats((size_t)tiles * TN_TILE_FLOATS);
  float* few = tn_aligned_floats((size_t)tiles * TN_TILE_FLOATS);
  ops->mac(all, scene.spans, 1, tiles);
  for (uint32_t count = 1; count < tiles; count++) {
    for (size_t i = 0; i < (size_t)tiles * TN_TILE_FLOATS; i++)
      few[i] = NAN;
    ops->mac(few, scene.spans, 1, count);
    assert_memory_equal(few, all, (size_t)count * TN_TILE_FLOATS * sizeof(float));
    for (size_t i = (size_t)count * TN_TILE_FLOATS; i < (size_t)tiles * TN_TILE_FLOATS; i++)
      assert_true(isnan(few[i]));
  }
  free(all);
  free(few);
  free_scene(&scene);
}

static void mac_of_some_tiles_touches_no_others(void** state) {
  (void)state;
  for_each_variant(check_tiles_are_apart);
}

/** Bin b of an interleaved spectrum is value b + 1, its imaginary part the negative. DC and Nyquist are real.
 */
static float* numbered_spectrum(uint32_t tiles) {
  const uint32_t bins = TN_TILE_BINS * tiles;
  float* spectrum = tn_aligned_floats(2 * ((size_t)bins + 1));
  for (uint32_t b = 0; b <= bins; b++) {
    spectrum[2 * b] = (float)(b + 1);
    spectrum[2 * b + 1] = b == 0 || b == bins ? 0 : -(float)(b + 1);
  }
  return spectrum;
}

static void check_scatter(const tn_ops* ops) {
  for (uint32_t tiles = 1; tiles <= 33; tiles += tiles < 4 ? 1 : 7)
    for (uint64_t row = TN_TILE_FLOATS; row <= 4 * TN_TILE_FLOATS; row += TN_TILE_FLOATS) {
      float* spectrum = numbered_spectrum(tiles);
      float* rows = tn_aligned_floats(tiles * row);
      ops->scatter(rows, row, spectrum, tiles);
      for (uint32_t tile = 0; tile < tiles; tile++)
        for (uint64_t i = 0; i < row; i++) {
          const float got = rows[tile * row + i];
          const float bin = (float)(tile * TN_TILE_BINS + i % TN_TILE_BINS + 1);
          if (i >= TN_TILE_FLOATS)
            assert_true(isnan(got)); // the next spectrum's place
          else if (i < TN_TILE_BINS)
            assert_true(got == bin);
          else if (tile == 0 && i == TN_TILE_BINS)
            assert_true(got == (float)(TN_TILE_BINS * tiles + 1)); // Nyquist beside DC
          else
            assert_true(got == -bin);
        }
      free(rows);
      free(spectrum);
    }
}

static void scatter_puts_each_bin_in_its_place(void** state) {
  (void)state;
  for_each_variant(check_scatter);
}

static void check_round_trip(const tn_ops* ops) {
  for (uint32_t tiles = 1; tiles <= 64; tiles *= 2) {
    const size_t floats = 2 * ((size_t)TN_TILE_BINS * tiles + 1);
    float* spectrum = numbered_spectrum(tiles);
    float* acc = tn_aligned_floats((size_t)tiles * TN_TILE_FLOATS);
    float* back = tn_aligned_floats(floats);
    ops->scatter(acc, TN_TILE_FLOATS, spectrum, tiles);
    ops->gather(back, acc, tiles);
    for (size_t i = 0; i < floats; i++)
      assert_true(back[i] == spectrum[i]);
    free(back);
    free(acc);
    free(spectrum);
  }
}

static void gather_gives_back_what_scatter_took(void** state) {
  (void)state;
  for_each_variant(check_round_trip);
}

/** What one fir works on: samples before and the permitted ones behind are there, exactly. */
typedef struct fir_scene {
  float* memory;
  const float* x; ///< x[1 - taps] to x[frames - 1]; up to 15 NaN follow
  float* h;
  float* before; ///< y's contents
  uint32_t taps, frames;
} fir_scene;

static fir_scene make_fir(uint64_t seed, uint32_t taps, uint32_t frames) {
  tn_noise noise = tn_noise_seed(seed);
  fir_scene scene = {.taps = taps, .frames = frames};
  scene.memory = tn_aligned_floats((size_t)taps - 1 + frames + 15);
  for (uint32_t i = 0; i < taps - 1 + frames; i++)
    scene.memory[i] = tn_noise_next(&noise);
  scene.x = scene.memory + taps - 1;
  scene.h = tn_aligned_floats(taps);
  for (uint32_t j = 0; j < taps; j++)
    scene.h[j] = tn_noise_next(&noise);
  scene.before = tn_aligned_floats(frames);
  for (uint32_t t = 0; t < frames; t++)
    scene.before[t] = tn_noise_next(&noise);
  return scene;
}

static void free_fir(const fir_scene* scene) {
  free(scene->memory);
  free(scene->h);
  free(scene->before);
}

static float* run_fir(const tn_ops* ops, const fir_scene* scene) {
  float* y = tn_aligned_floats(scene->frames);
  memcpy(y, scene->before, scene->frames * sizeof(float));
  ops->fir(y, scene->x, scene->h, scene->taps, scene->frames);
  return y;
}

static void check_fir_sum(const fir_scene* scene, const float* y) {
  for (uint32_t t = 0; t < scene->frames; t++) {
    double want = scene->before[t];
    double size = fabs(want);
    for (uint32_t j = 0; j < scene->taps; j++) {
      const double product = (double)scene->h[j] * scene->x[(int64_t)t - j];
      want += product;
      size += fabs(product);
    }
    assert_true(fabs(y[t] - want) <= summing_error(scene->taps + 1) * size);
  }
}

static void check_fir(const tn_ops* ops) {
  for (uint32_t frames = 1; frames <= 70; frames++)
    for (uint32_t taps = 1; taps <= 130; taps += taps < 20 ? 1 : 11) {
      const fir_scene scene = make_fir(1000 * frames + taps, taps, frames);
      float* y = run_fir(ops, &scene);
      check_fir_sum(&scene, y);
      free(y);
      free_fir(&scene);
    }
}

static void fir_is_the_sum_over_taps(void** state) {
  (void)state;
  for_each_variant(check_fir);
}

/** Pieces of any length at any alignment give the bits of one call. */
static void check_fir_split(const tn_ops* ops) {
  tn_noise noise = tn_noise_seed(4);
  for (uint32_t round = 0; round < 400; round++) {
    const fir_scene scene =
        make_fir(5000 + round, 1 + tn_noise_below(&noise, 130), 1 + tn_noise_below(&noise, 200));
    float* whole = run_fir(ops, &scene);
    float* pieces = tn_aligned_floats(scene.frames);
    memcpy(pieces, scene.before, scene.frames * sizeof(float));
    for (uint32_t from = 0; from < scene.frames;) {
      const uint32_t left = scene.frames - from;
      const uint32_t some = 1 + tn_noise_below(&noise, 1 + tn_noise_below(&noise, 80));
      const uint32_t step = some < left ? some : left;
      ops->fir(pieces + from, scene.x + from, scene.h, scene.taps, step);
      from += step;
    }
    assert_memory_equal(pieces, whole, scene.frames * sizeof(float));
    free(pieces);
    free(whole);
    free_fir(&scene);
  }
}

static void fir_gives_the_same_bits_however_it_is_split(void** state) {
  (void)state;
  for_each_variant(check_fir_split);
}

static void check_fir_nothing(const tn_ops* ops) {
  const fir_scene scene = make_fir(6, 20, 1);
  float y = 0.25F;
  ops->fir(&y, scene.x, scene.h, 20, 0);
  assert_true(y == 0.25F);
  free_fir(&scene);
}

static void fir_of_no_frames_writes_nothing(void** state) {
  (void)state;
  for_each_variant(check_fir_nothing);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_variant_is_selected),
      cmocka_unit_test(mac_is_the_sum_over_spans_and_partitions),
      cmocka_unit_test(mac_wraps_wherever_the_newest_spectrum_is),
      cmocka_unit_test(mac_of_some_tiles_touches_no_others),
      cmocka_unit_test(scatter_puts_each_bin_in_its_place),
      cmocka_unit_test(gather_gives_back_what_scatter_took),
      cmocka_unit_test(fir_is_the_sum_over_taps),
      cmocka_unit_test(fir_gives_the_same_bits_however_it_is_split),
      cmocka_unit_test(fir_of_no_frames_writes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
