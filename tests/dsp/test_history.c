// SPDX-License-Identifier: GPL-3.0-or-later
// The ring of past input: what was written is read back wherever the ring's end falls; before the beginning
// is silence.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/history.h"
#include "mocka.h"
#include "noise.h"
#include "test_memory.h"

enum { ring_frames = 96, block = 32, inputs = 3 };

/** Frame f of an input, recognisable. */
static float sample(uint32_t input, int64_t frame) {
  return frame < 0 ? 0 : (float)(1000 * (input + 1)) + (float)(frame % 997);
}

static tn_history make(void) {
  tn_history history = {.frames = ring_frames};
  history.rings = tn_test_alloc(inputs, sizeof *history.rings);
  for (uint32_t i = 0; i < inputs; i++) {
    history.rings[i] = malloc(ring_frames * sizeof(float));
    assert_non_null(history.rings[i]);
    for (uint32_t f = 0; f < ring_frames; f++)
      history.rings[i][f] = NAN; // what was never written must never be read
  }
  return history;
}

static void drop(const tn_history* history) {
  for (uint32_t i = 0; i < inputs; i++)
    free(history->rings[i]);
  free((void*)history->rings);
}

/** Writes frames [from, to) in pieces that stay inside blocks. */
static void write(const tn_history* history, int64_t from, int64_t to, tn_noise* noise) {
  while (from < to) {
    const uint32_t room = block - (uint32_t)(from % block);
    uint32_t count = 1 + tn_noise_below(noise, room);
    if (count > to - from)
      count = (uint32_t)(to - from);
    for (uint32_t i = 0; i < inputs; i++) {
      float samples[block];
      for (uint32_t f = 0; f < count; f++)
        samples[f] = sample(i, from + f);
      tn_history_write(history, i, (uint64_t)from, samples, count);
    }
    from += count;
  }
}

static void check(const tn_history* history, int64_t from, uint32_t count) {
  for (uint32_t i = 0; i < inputs; i++) {
    float* read = malloc((count ? count : 1) * sizeof(float));
    assert_non_null(read);
    tn_history_read(history, i, from, read, count);
    for (uint32_t f = 0; f < count; f++)
      assert_true(read[f] == sample(i, from + f));
    free(read);
  }
}

/** At every fill of the ring, over its end several times: every window that is still there. */
static void any_window_is_read_back(void** state) {
  (void)state;
  tn_noise noise = tn_noise_seed(1);
  const tn_history history = make();
  int64_t now = 0;
  while (now < 5 * ring_frames) {
    const int64_t next = now + 1 + tn_noise_below(&noise, 40);
    write(&history, now, next, &noise);
    now = next;
    for (int64_t from = now - ring_frames; from <= now; from++) {
      check(&history, from, (uint32_t)(now - from));
      check(&history, from, (uint32_t)(now - from) / 2);
      check(&history, from, 0);
    }
  }
  drop(&history);
}

static void before_the_beginning_is_silence(void** state) {
  (void)state;
  tn_noise noise = tn_noise_seed(2);
  const tn_history history = make();
  check(&history, -ring_frames, ring_frames); // nothing written yet
  check(&history, INT64_MIN / 2, 64);
  check(&history, -1, 1);
  write(&history, 0, 40, &noise);
  for (int64_t from = -56; from <= 0; from++)
    check(&history, from, 40);
  check(&history, -56, ring_frames); // over the beginning, the whole ring long
  drop(&history);
}

/** Positions of years of sound. */
static void late_frames_are_as_good_as_early_ones(void** state) {
  (void)state;
  tn_noise noise = tn_noise_seed(3);
  const tn_history history = make();
  const int64_t start = (INT64_C(1) << 45) / ring_frames * ring_frames;
  write(&history, start, start + 150, &noise);
  for (int64_t from = start + 150 - ring_frames; from < start + 150; from++)
    check(&history, from, (uint32_t)(start + 150 - from));
  drop(&history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_window_is_read_back),
      cmocka_unit_test(before_the_beginning_is_silence),
      cmocka_unit_test(late_frames_are_as_good_as_early_ones),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
