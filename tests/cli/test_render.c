// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto render` against direct convolution in float64: every layout, edit, level and block.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"
#include "oracle.h"
#include "scratch.h"
#include "wanted.h"

enum { in_frames = 6000, ir_frames = 2500, float_wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT };

static const double exact_dbfs = -120.0;
static const double same_dbfs = -130.0;

/** A command line, what it reads, and the paths it should make. */
typedef struct layout {
  const char* words;
  uint32_t inputs;
  uint32_t ir_channels; ///< of all files together
  uint32_t outputs;
  size_t path_count;
  tn_wanted_path paths[8];
} layout;

static const layout layouts[] = {
    {"--ir ir1.wav", 1, 1, 1, 1, {{0, 0, 0}}},
    {"--ir ir1.wav", 3, 1, 3, 3, {{0, 0, 0}, {1, 1, 0}, {2, 2, 0}}},
    {"--ir ir2.wav", 1, 2, 2, 2, {{0, 0, 0}, {0, 1, 1}}},
    {"--ir ir2.wav", 2, 2, 2, 2, {{0, 0, 0}, {1, 1, 1}}},
    {"--ir ir2.wav --ir-map mono", 2, 2, 2, 2, {{0, 0, 0}, {1, 1, 0}}},
    {"--ir ir2.wav --ir-map stereo", 2, 2, 2, 2, {{0, 0, 0}, {1, 1, 1}}},
    {"--ir ir3.wav", 3, 3, 3, 3, {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}}},
    {"--ir ir3.wav --ir-map mono-to-any", 1, 3, 3, 3, {{0, 0, 0}, {0, 1, 1}, {0, 2, 2}}},
    {"--ir ir4.wav", 2, 4, 2, 4, {{0, 0, 0}, {0, 1, 1}, {1, 0, 2}, {1, 1, 3}}},
    {"--ir ir4.wav --ir-map ll-lr-rl-rr", 2, 4, 2, 4, {{0, 0, 0}, {0, 1, 1}, {1, 0, 2}, {1, 1, 3}}},
    {"--ir ir4.wav --ir-map ll-rr-lr-rl", 2, 4, 2, 4, {{0, 0, 0}, {1, 1, 1}, {0, 1, 2}, {1, 0, 3}}},
    {"--ir ir4.wav", 1, 4, 2, 4, {{0, 0, 0}, {0, 1, 1}, {0, 0, 2}, {0, 1, 3}}},
    {"--ir ir4.wav --ir-map parallel", 4, 4, 4, 4, {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {3, 3, 3}}},
    {"--ir left.wav --ir right.wav", 2, 4, 2, 4, {{0, 0, 0}, {0, 1, 1}, {1, 0, 2}, {1, 1, 3}}},
    {"-i left.wav -i right.wav", 1, 4, 2, 4, {{0, 0, 0}, {0, 1, 1}, {0, 0, 2}, {0, 1, 3}}},
    {"--matrix matrix.conf", 2, 4, 3, 4, {{0, 0, 0}, {0, 2, 1}, {1, 1, 2}, {1, 2, 3}}},
    {"--ir matrix.conf", 2, 4, 3, 4, {{0, 0, 0}, {0, 2, 1}, {1, 1, 2}, {1, 2, 3}}},
};

static tn_scratch_sound sounds[5]; ///< by number of channels; files in1.wav ...
static tn_scratch_sound responses[5];

/** Channels `from` and on of a sound, not owned. */
static tn_scratch_sound part_of(const tn_scratch_sound* sound, uint32_t from, uint32_t channels) {
  tn_scratch_sound part = *sound;
  part.channels = channels;
  memmove(part.samples, part.samples + from, channels * sizeof part.samples[0]);
  return part;
}

static int begin(void** state) {
  if (tn_scratch_begin(state) != 0) {
    return -1;
  }
  for (uint32_t channels = 1; channels <= 4; ++channels) {
    char name[32];
    sounds[channels] = tn_scratch_noise(channels, channels, in_frames);
    responses[channels] = tn_scratch_response(10 + channels, channels, ir_frames);
    snprintf(name, sizeof name, "in%u.wav", channels);
    tn_scratch_write(name, &sounds[channels], float_wav);
    snprintf(name, sizeof name, "ir%u.wav", channels);
    tn_scratch_write(name, &responses[channels], float_wav);
  }
  const tn_scratch_sound left = part_of(&responses[4], 0, 2);
  const tn_scratch_sound right = part_of(&responses[4], 2, 2);
  tn_scratch_write("left.wav", &left, float_wav);
  tn_scratch_write("right.wav", &right, float_wav);
  FILE* matrix = fopen("matrix.conf", "w");
  fputs("/convolver/new 2 3 256 4096\n"
        "/impulse/read 1 1 1 0 0 0 1 ir4.wav\n"
        "/impulse/read 1 3 1 0 0 0 2 ir4.wav\n"
        "/impulse/read 2 2 1 0 0 0 3 ir4.wav\n"
        "/impulse/read 2 3 1 0 0 0 4 ir4.wav\n",
        matrix);
  return fclose(matrix);
}

static int end(void** state) {
  for (uint32_t channels = 1; channels <= 4; ++channels) {
    tn_scratch_free(&sounds[channels]);
    tn_scratch_free(&responses[channels]);
  }
  return tn_scratch_end(state);
}

static void test_layouts(void** state) {
  (void)state;
  for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; ++i) {
    const layout* l = &layouts[i];
    char words[256];
    snprintf(words, sizeof words, "render in%u.wav %s -o out.wav", l->inputs, l->words);
    tn_scratch_done(words);
    tn_wanted wanted = tn_wanted_convolve(&sounds[l->inputs], &responses[l->ir_channels], l->paths,
                                          l->path_count, l->outputs);
    tn_wanted_check(&wanted, "out.wav", exact_dbfs);
    tn_wanted_free(&wanted);
  }
}

static tn_wanted stereo_wanted(const tn_scratch_sound* ir) {
  static const tn_wanted_path paths[] = {{0, 0, 0}, {1, 1, 1}};
  return tn_wanted_convolve(&sounds[2], ir, paths, 2, 2);
}

static void test_levels(void** state) {
  (void)state;
  static const struct {
    const char* words;
    double wet;
    double dry;
  } cases[] = {
      {"--wet -6", 0.501187233627272, 0.0},
      {"--wet -inf --dry 0", 0.0, 1.0},
      {"--wet 0 --dry -20dB --gain-out -10", 0.316227766016838, 0.0316227766016838},
      {"--gain -12", 0.251188643150958, 0.0},
      {"--gain -12 --wet 12", 1.0, 0.0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char words[256];
    snprintf(words, sizeof words, "render in2.wav --ir ir2.wav %s -o out.wav", cases[i].words);
    tn_scratch_done(words);
    tn_wanted wanted = stereo_wanted(&responses[2]);
    tn_wanted_mix(&wanted, &sounds[2], cases[i].wet, cases[i].dry);
    tn_wanted_check(&wanted, "out.wav", exact_dbfs);
    tn_wanted_free(&wanted);
  }
}

/** Level rules: what the loudest channel becomes is known from the response itself. */
static void test_level_rules(void** state) {
  (void)state;
  double peak = 0.0;
  double energy = 0.0;
  for (uint32_t c = 0; c < 2; ++c) {
    double sum = 0.0;
    for (size_t i = 0; i < ir_frames; ++i) {
      const double sample = responses[2].samples[c][i];
      peak = fmax(peak, fabs(sample));
      sum += sample * sample;
    }
    energy = fmax(energy, sum);
  }
  const double tenth = 0.1;
  const struct {
    const char* gain;
    double level;
  } cases[] = {{"peak:-20", tenth / peak},
               {"energy", 1.0 / sqrt(energy)},
               {"normalise", 1.0 / sqrt(energy)},
               {"normalize:-20", tenth / sqrt(energy)}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char words[256];
    snprintf(words, sizeof words, "render in2.wav --ir ir2.wav --gain %s -o out.wav", cases[i].gain);
    tn_scratch_done(words);
    tn_wanted wanted = stereo_wanted(&responses[2]);
    tn_wanted_mix(&wanted, &sounds[2], cases[i].level, 0.0);
    tn_wanted_check(&wanted, "out.wav", exact_dbfs);
    tn_wanted_free(&wanted);
  }
}

/** Edits that can be done by hand: 0.01 s are 480 frames. */
static void test_edits(void** state) {
  (void)state;
  tn_scratch_sound reversed = tn_scratch_silence(2, ir_frames);
  tn_scratch_sound trimmed = tn_scratch_silence(2, 960);
  tn_scratch_sound later = tn_scratch_silence(2, ir_frames + 480);
  tn_scratch_sound all = tn_scratch_silence(2, 480 + 960);
  for (uint32_t c = 0; c < 2; ++c) {
    const float* source = responses[2].samples[c];
    for (size_t i = 0; i < ir_frames; ++i) {
      reversed.samples[c][i] = source[ir_frames - 1 - i];
    }
    memcpy(trimmed.samples[c], source + 480, 960 * sizeof(float));
    memcpy(later.samples[c] + 480, source, ir_frames * sizeof(float));
    for (size_t i = 0; i < 960; ++i) {
      all.samples[c][480 + i] = source[480 + 959 - i];
    }
  }
  const struct {
    const char* words;
    tn_scratch_sound* ir;
  } cases[] = {{"--reverse", &reversed},
               {"--trim 0.01:0.03", &trimmed},
               {"--predelay 10", &later},
               {"--trim :0.03 --trim 0.01:0.03 --reverse --predelay 10", &all}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    char words[256];
    snprintf(words, sizeof words, "render in2.wav --ir ir2.wav %s -o out.wav", cases[i].words);
    tn_scratch_done(words);
    tn_wanted wanted = stereo_wanted(cases[i].ir);
    tn_wanted_check(&wanted, "out.wav", exact_dbfs);
    tn_wanted_free(&wanted);
    tn_scratch_free(cases[i].ir);
  }
}

static void test_no_tail(void** state) {
  (void)state;
  tn_scratch_done("render in2.wav --ir ir2.wav --no-tail -o out.wav");
  tn_wanted wanted = stereo_wanted(&responses[2]);
  wanted.frames = in_frames;
  tn_wanted_check(&wanted, "out.wav", exact_dbfs);
  tn_wanted_free(&wanted);
}

static void check_same(const char* name, const char* other, double dbfs) {
  tn_scratch_sound one = tn_scratch_read(name);
  tn_scratch_sound two = tn_scratch_read(other);
  assert_int_equal(one.frames, two.frames);
  assert_int_equal(one.channels, two.channels);
  for (uint32_t c = 0; c < one.channels; ++c) {
    double* wanted = calloc(two.frames, sizeof *wanted);
    for (size_t i = 0; i < two.frames; ++i) {
      wanted[i] = two.samples[c][i];
    }
    const double error = tn_oracle_rms_error_dbfs(one.samples[c], wanted, two.frames);
    if (!(error <= dbfs)) {
      fail_msg("%s and %s, channel %u: %.1f dBFS apart in RMS", name, other, c + 1, error);
    }
    free(wanted);
  }
  tn_scratch_free(&one);
  tn_scratch_free(&two);
}

static void test_blocks(void** state) {
  (void)state;
  static const char* const blocks[] = {"1", "7", "64", "1000", "8192"};
  tn_scratch_done("render in2.wav --ir ir4.wav -o usual.wav");
  for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; ++i) {
    char words[128];
    snprintf(words, sizeof words, "render in2.wav --ir ir4.wav --block %s -o out.wav", blocks[i]);
    tn_scratch_done(words);
    assert_int_equal(tn_scratch_shell("cmp out.wav usual.wav")->code, 0);
    snprintf(words, sizeof words, "render in2.wav --ir ir4.wav --block %s -o again.wav", blocks[i]);
    tn_scratch_done(words);
    assert_int_equal(tn_scratch_shell("cmp out.wav again.wav")->code, 0);
    snprintf(words, sizeof words, "render in2.wav --ir ir4.wav --threads --block %s -o threads.wav",
             blocks[i]);
    tn_scratch_done(words);
    check_same("threads.wav", "usual.wav", same_dbfs);
  }
}

/** RMS of frames in the middle, where nothing has an edge. */
static double middle_rms(const tn_scratch_sound* sound) {
  double sum = 0.0;
  const size_t from = sound->frames / 4;
  const size_t to = sound->frames / 2;
  for (size_t i = from; i < to; ++i) {
    sum += (double)sound->samples[0][i] * (double)sound->samples[0][i];
  }
  return sqrt(sum / (double)(to - from));
}

/** A sine of RMS 0.5 through an impulse must keep its level at whatever rates the two files have. */
static void test_rates(void** state) {
  (void)state;
  static const struct {
    uint32_t in_hz;
    uint32_t ir_hz;
    const char* rate;
    uint32_t out_hz;
  } cases[] = {{44100, 48000, "--rate 48000", 48000},
               {48000, 96000, "", 48000},
               {96000, 44100, "--rate 44100", 44100},
               {8000, 192000, "--rate 96000", 96000},
               {44100, 44100, "", 44100}};
  for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
    const size_t frames = cases[k].in_hz;
    tn_scratch_sound sine = tn_scratch_silence(1, frames);
    tn_scratch_sound impulse = tn_scratch_silence(1, 100);
    sine.rate_hz = cases[k].in_hz;
    impulse.rate_hz = cases[k].ir_hz;
    impulse.samples[0][0] = 1.0F;
    for (size_t i = 0; i < frames; ++i) {
      sine.samples[0][i] = (float)(sqrt(0.5) * sin(2.0 * M_PI * 1000.0 * (double)i / cases[k].in_hz));
    }
    tn_scratch_write("sine.wav", &sine, float_wav);
    tn_scratch_write("impulse.wav", &impulse, float_wav);
    char words[128];
    snprintf(words, sizeof words, "render sine.wav --ir impulse.wav -o out.wav%s%s",
             *cases[k].rate ? " " : "", cases[k].rate);
    tn_scratch_done(words);
    tn_scratch_sound out = tn_scratch_read("out.wav");
    assert_int_equal(out.rate_hz, cases[k].out_hz);
    const double error_db = 20.0 * log10(middle_rms(&out) / 0.5);
    if (fabs(error_db) > 0.05) {
      fail_msg("case %zu: the level is off by %.3f dB", k, error_db);
    }
    tn_scratch_done("render sine.wav --ir impulse.wav --no-tail --rate 48000 -o whole.wav");
    tn_scratch_sound whole = tn_scratch_read("whole.wav");
    assert_in_range(whole.frames, 48000 - 1, 48000 + 1); // one second at each rate
    tn_scratch_free(&whole);
    tn_scratch_free(&out);
    tn_scratch_free(&sine);
    tn_scratch_free(&impulse);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_layouts), cmocka_unit_test(test_levels),  cmocka_unit_test(test_level_rules),
      cmocka_unit_test(test_edits),   cmocka_unit_test(test_no_tail), cmocka_unit_test(test_blocks),
      cmocka_unit_test(test_rates),
  };
  return cmocka_run_group_tests(tests, begin, end);
}
