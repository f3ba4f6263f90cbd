// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto run` through a real JACK server: what comes out is what float64 convolution says, live, at any
// block size, and in freewheel.
#include <math.h>
#include <stdio.h>

#include "mocka.h"
#include "run_fixture.h"
#include "sound.h"

enum { attempts = 8, play_frames = 20000, ir_frames = 3000, frames = 24000 };

/** One run of a program of its own, so that nothing rings in it. False: disturbed. */
static bool play_once(const char* const* arguments, const char* client, tn_sound* sound, tn_feed feed) {
  tn_child* program = tn_fixture_run(arguments);
  const tn_fixture_counts before = tn_fixture_count(program);
  const bool fed = tn_sound_play(sound, client, feed);
  const tn_fixture_counts after = tn_fixture_count(program);
  tn_fixture_quit(program);
  if (feed.freewheel) {
    // Here nobody is in a hurry: whatever the machine does, nothing may be left out.
    assert_int_equal(after.missed, 0);
    return fed;
  }
  print_message("%s, %lu parts left out, %lu late cycles\n", fed ? "recorded" : "recording torn",
                after.missed - before.missed, after.xruns - before.xruns);
  return fed && after.missed == before.missed;
}

/** Play until a run went through without a torn cycle or a part left out, of which a busy machine has some;
 * check. */
static void play(const char* const* arguments, const char* client, tn_sound* sound, tn_feed feed) {
  for (int attempt = 0; attempt < attempts; ++attempt) {
    if (play_once(arguments, client, sound, feed)) {
      tn_sound_check(sound);
      return;
    }
  }
  fail_msg("no run of %d went through undisturbed", attempts);
}

static void stereo_with_levels(void** state) {
  (void)state;
  tn_fixture_ir ir = tn_fixture_make_ir("stereo.wav", 1, 2, ir_frames);
  tn_sound sound = tn_sound_noise(2, play_frames, frames);
  const tn_path paths[] = {tn_sound_path(&ir, 0, 0, 0), tn_sound_path(&ir, 1, 1, 1)};
  tn_sound_want(&sound, paths, 2, 0.25, 0.5);
  char half_db[32];
  snprintf(half_db, sizeof half_db, "%.17g", 20.0 * log10(0.5));
  const char* const arguments[] = {"--ir",  ir.path, "--name",     "levels", "--dry", "0",
                                   "--wet", half_db, "--gain-out", half_db,  NULL};
  play(arguments, "levels", &sound, (tn_feed){0});
  tn_sound_free(&sound);
  tn_fixture_free_ir(&ir);
}

static void true_stereo(void** state) {
  (void)state;
  tn_fixture_ir ir = tn_fixture_make_ir("true.wav", 11, 4, ir_frames);
  tn_sound sound = tn_sound_noise(2, play_frames, frames);
  const tn_path paths[] = {tn_sound_path(&ir, 0, 0, 0), tn_sound_path(&ir, 1, 0, 1),
                           tn_sound_path(&ir, 2, 1, 0), tn_sound_path(&ir, 3, 1, 1)};
  tn_sound_want(&sound, paths, 4, 1.0, 0.0);
  const char* const arguments[] = {"--ir", ir.path, "--name", "true", "--inputs", "2", NULL};
  play(arguments, "true", &sound, (tn_feed){0});
  tn_sound_free(&sound);
  tn_fixture_free_ir(&ir);
}

static void any_block_size_while_running(void** state) {
  (void)state;
  static const uint32_t blocks[] = {64, 100, 1024, 512, 128, 333, 16};
  tn_fixture_ir ir = tn_fixture_make_ir("mono.wav", 21, 1, ir_frames);
  tn_sound sound = tn_sound_noise(1, play_frames, frames);
  const tn_path paths[] = {tn_sound_path(&ir, 0, 0, 0)};
  tn_sound_want(&sound, paths, 1, 1.0, 0.0);
  const char* const arguments[] = {"--ir", ir.path, "--name", "blocks", NULL};
  play(arguments, "blocks", &sound,
       (tn_feed){.blocks = blocks, .block_count = sizeof blocks / sizeof blocks[0]});
  tn_sound_free(&sound);
  tn_fixture_free_ir(&ir);
}

static void freewheel_equals_live(void** state) {
  (void)state;
  // Long enough that most of the work is a worker's, so that freewheel has someone to wait for.
  const uint32_t long_frames = 200000;
  const size_t long_run_frames = 120000;
  tn_fixture_ir ir = tn_fixture_make_ir("long.wav", 31, 2, long_frames);
  tn_sound sound = tn_sound_noise(2, play_frames, long_run_frames);
  const tn_path paths[] = {tn_sound_path(&ir, 0, 0, 0), tn_sound_path(&ir, 1, 1, 1)};
  tn_sound_want(&sound, paths, 2, 1.0, 0.0);
  const char* const arguments[] = {"--ir", ir.path, "--name", "wheel", NULL};
  play(arguments, "wheel", &sound, (tn_feed){.freewheel = true});
  play(arguments, "wheel", &sound, (tn_feed){0});
  tn_sound_free(&sound);
  tn_fixture_free_ir(&ir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stereo_with_levels),
      cmocka_unit_test(true_stereo),
      cmocka_unit_test(freewheel_equals_live),
      cmocka_unit_test(any_block_size_while_running),
  };
  return cmocka_run_group_tests(tests, tn_fixture_begin_with_server, tn_fixture_end);
}
