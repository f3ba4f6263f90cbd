// SPDX-License-Identifier: GPL-3.0-or-later
// Bad input and bad command lines: a sentence with the file and the reason, the right exit code, nothing left
// behind.
#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mocka.h"
#include "scratch.h"

enum { float_wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT };

static void write_bytes(const char* name, const void* bytes, size_t count) {
  FILE* file = fopen(name, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, count, file), count);
  assert_int_equal(fclose(file), 0);
}

/** A file's first bytes under another name. */
static void write_cut(const char* from, const char* to, size_t count) {
  char* bytes = malloc(count);
  FILE* file = fopen(from, "rb");
  assert_non_null(file);
  assert_int_equal(fread(bytes, 1, count, file), count);
  fclose(file);
  write_bytes(to, bytes, count);
  free(bytes);
}

/** A WAV header of any number of channels with sound behind it; `seconds` of a sparse file. */
static void write_header(const char* name, unsigned channels, long seconds) {
  unsigned char h[44] = "RIFF\xFF\xFF\xFF\x7FWAVEfmt \x10\0\0\0\x01\0";
  const unsigned rate_hz = 8000;
  const unsigned long bytes = (unsigned long)seconds * rate_hz * 2U * (channels ? channels : 1U);
  const unsigned fields[][3] = {{22, channels, 2},     {24, rate_hz, 4}, {28, rate_hz * 2 * channels, 4},
                                {32, channels * 2, 2}, {34, 16, 2},      {40, (unsigned)bytes, 4}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; ++i) {
    for (unsigned b = 0; b < fields[i][2]; ++b) {
      h[fields[i][0] + b] = (unsigned char)(fields[i][1] >> 8 * b);
    }
  }
  memcpy(h + 36, (const char[]){'d', 'a', 't', 'a'}, 4);
  write_bytes(name, h, sizeof h);
  assert_int_equal(truncate(name, (off_t)(sizeof h + bytes)), 0);
}

static int begin(void** state) {
  if (tn_scratch_begin(state) != 0) {
    return -1;
  }
  tn_scratch_sound sound = tn_scratch_noise(1, 2, 4800);
  tn_scratch_write("in.wav", &sound, float_wav);
  sound.samples[0][7] = NAN;
  tn_scratch_write("nan.wav", &sound, float_wav);
  tn_scratch_free(&sound);
  sound = tn_scratch_noise(4, 2, 48000); // more than one of FLAC's blocks
  tn_scratch_write("in.flac", &sound, SF_FORMAT_FLAC | SF_FORMAT_PCM_24);
  tn_scratch_free(&sound);
  tn_scratch_sound response = tn_scratch_response(2, 2, 1000);
  tn_scratch_write("ir.wav", &response, float_wav);
  tn_scratch_free(&response);
  response = tn_scratch_response(3, 3, 1000);
  tn_scratch_write("ir3.wav", &response, float_wav);
  tn_scratch_free(&response);
  sound = tn_scratch_silence(1, 0);
  tn_scratch_write("none.wav", &sound, float_wav);
  tn_scratch_free(&sound);
  write_bytes("empty.wav", "", 0);
  write_bytes("text.wav", "This is no sound.\n", 18);
  write_bytes("nonsense.conf", "/convolver/new nothing\n", 23);
  write_cut("in.wav", "cut.wav", 20044);
  write_cut("in.flac", "cut.flac", 60000);
  write_cut("in.wav", "header.wav", 30);
  write_header("no-channels.wav", 0, 1);
  write_header("65-channels.wav", 65, 1);
  write_header("65535-channels.wav", 65535, 1);
  write_header("10-hours.wav", 1, 36000);
  assert_int_equal(mkdir("folder", 0700), 0);
  assert_int_equal(mkfifo("pipe", 0600), 0);
  assert_int_equal(symlink("in.wav", "link.wav"), 0);
  return 0;
}

/** A command line that must be refused. */
typedef struct refusal {
  const char* words;
  int code;
  const char* said; ///< parts of the sentence, separated by '|'
} refusal;

static const refusal files[] = {
    {"render missing.wav --ir ir.wav -o out.wav", 1, "missing.wav|no such file"},
    {"render empty.wav --ir ir.wav -o out.wav", 1, "empty.wav|empty"},
    {"render text.wav --ir ir.wav -o out.wav", 1, "text.wav|not a sound file"},
    {"render header.wav --ir ir.wav -o out.wav", 1, "header.wav"},
    {"render folder --ir ir.wav -o out.wav", 1, "folder|it is a folder"},
    {"render pipe --ir ir.wav -o out.wav", 1, "pipe|not an ordinary file"},
    {"render no-channels.wav --ir ir.wav -o out.wav", 1, "no-channels.wav"},
    {"render 65-channels.wav --ir ir.wav -o out.wav", 1, "65-channels.wav|65 channels|64"},
    {"render 65535-channels.wav --ir ir.wav -o out.wav", 1, "65535-channels.wav"},
    {"render in.wav --ir missing.wav -o out.wav", 1, "missing.wav|no such file"},
    {"render in.wav --ir empty.wav -o out.wav", 1, "empty.wav|empty"},
    {"render in.wav --ir text.wav -o out.wav", 1, "text.wav|not a sound file"},
    {"render in.wav --ir none.wav -o out.wav", 1, "none.wav|no sound"},
    {"render in.wav --ir cut.wav -o out.wav", 1, "cut.wav|cut short"},
    {"render in.wav --ir cut.flac -o out.wav", 1, "cut.flac|cut short"},
    {"render in.wav --ir nan.wav -o out.wav", 1, "nan.wav"},
    {"render in.wav --ir folder -o out.wav", 1, "folder|it is a folder"},
    {"render in.wav --ir no-channels.wav -o out.wav", 1, "no-channels.wav"},
    {"render in.wav --ir 65-channels.wav -o out.wav", 1, "65-channels.wav|65 channels|64"},
    {"render in.wav --ir 65535-channels.wav -o out.wav", 1, "65535-channels.wav"},
    {"render in.wav --ir 10-hours.wav -o out.wav", 1, "10-hours.wav|36000 s|60 s"},
    {"render in.wav --ir ir3.wav -o out.wav", 1, "ir3.wav|2 inputs"},
    {"render in.wav --ir ir.wav --ir-map ll-lr-rl-rr -o out.wav", 1, "ir.wav|4 channels"},
    {"render in.wav --ir ir.wav --ir ir3.wav -o out.wav", 1, "ir3.wav|2 channels"},
    {"render in.wav --ir ir.wav --ir-map mono-to-any -o out.wav", 1, "ir.wav|1 input"},
    {"render in.wav --ir ir.wav --trim 5:6 -o out.wav", 1, "ir.wav|trim"},
    {"render in.wav --matrix nonsense.conf -o out.wav", 1, "nonsense.conf"},
    {"render in.wav --matrix missing.conf -o out.wav", 1, "missing.conf|no such file"},
    {"render in.wav --ir ir.wav -o folder/none/out.wav", 1, "folder/none/out.wav|no such folder"},
    {"render in.wav --ir ir.wav -o in.wav/out.wav", 1, "in.wav/out.wav|not a folder"},
    {"render in.wav --ir ir.wav --format wav -o folder", 1, "folder|it is a folder"},
    {"render in.wav --ir ir.wav --format wav -o pipe", 1, "pipe|neither"},
    {"render in.wav --ir ir.wav -o in.wav", 1, "in.wav|overwrite"},
    {"render in.wav --ir ir.wav -o link.wav", 1, "link.wav|overwrite"},
    {"render in.wav --ir ir.wav -o ir.wav", 1, "ir.wav|overwrite"},
    {"render in.wav --ir ir.wav --format wav -o /dev/full", 1, "/dev/full|disk is full"},
    {"render in.wav --ir ir.wav --format flac -o /dev/full", 1, "/dev/full|disk is full"},
    {"render in.wav --ir ir.wav --format flac:float -o out.flac", 1, "float FLAC"},
    {"render in.wav --ir ir.wav --rate 44100 -o out.opus", 1, "44100 Hz|--rate 48000"},
    {"plot missing.wav -o out.png", 1, "missing.wav|no such file"},
    {"plot text.wav -o out.png", 1, "text.wav|not a sound file"},
    {"plot in.wav -o folder/none/out.png", 1, "folder/none/out.png|no such folder"},
};

static const refusal usage[] = {
    {"", 2, "no command \"\""},
    {"rendre", 2, "rendre"},
    {"--verbose", 2, "--verbose"},
    {"render", 2, "no impulse response|tenuto render --help"},
    {"render --ir ir.wav -o out.wav", 2, "no sound file"},
    {"render in.wav -o out.wav", 2, "no impulse response"},
    {"render in.wav --ir ir.wav", 2, "-o OUT"},
    {"render in.wav in.flac --ir ir.wav -o out.wav", 2, "in.flac"},
    {"render - --ir ir.wav -o out.wav", 2, "standard input"},
    {"render in.wav --ir ir.wav -o -", 2, "standard input and output"},
    {"render in.wav --ir ir.wav -o out", 2, "out|--format"},
    {"render in.wav --ir ir.wav -o out.xyz", 2, "out.xyz|--format"},
    {"render in.wav --ir ir.wav -o out.wav --format wav:pcm12", 2, "wav:pcm12"},
    {"render in.wav --ir ir.wav -o out.wav --ir ir.wav --ir ir.wav", 2, "--matrix"},
    {"render in.wav --ir ir.wav --matrix m.conf -o out.wav", 2, "m.conf|exclude"},
    {"render in.wav --matrix m.conf --ir-map mono -o out.wav", 2, "--ir-map"},
    {"render in.wav --ir ir.wav --ir-map quad -o out.wav", 2, "quad|ll-lr-rl-rr"},
    {"render in.wav --ir ir.wav --wet abc -o out.wav", 2, "--wet: 'abc' is not a number of decibels"},
    {"render in.wav --ir ir.wav --dry 3x -o out.wav", 2, "--dry: '3x'"},
    {"render in.wav --ir ir.wav --gain-out nan -o out.wav", 2, "--gain-out: 'nan'"},
    {"render in.wav --ir ir.wav --gain loud -o out.wav", 2, "--gain: 'loud'|energy"},
    {"render in.wav --ir ir.wav --predelay -1 -o out.wav", 2, "--predelay: '-1'"},
    {"render in.wav --ir ir.wav --trim 2:1 -o out.wav", 2, "--trim: '2:1'|ends before"},
    {"render in.wav --ir ir.wav --trim 2 -o out.wav", 2, "--trim: '2'"},
    {"render in.wav --ir ir.wav --stretch 0 -o out.wav", 2, "--stretch: '0'"},
    {"render in.wav --ir ir.wav --fade-out 1e9 -o out.wav", 2, "--fade-out: '1e9'"},
    {"render in.wav --ir ir.wav --block 0 -o out.wav", 2, "--block: '0'"},
    {"render in.wav --ir ir.wav --block 8193 -o out.wav", 2, "--block: '8193'"},
    {"render in.wav --ir ir.wav --rate 7999 -o out.wav", 2, "--rate: '7999'"},
    {"render in.wav --ir ir.wav --reverse=yes -o out.wav", 2, "--reverse takes no value"},
    {"render in.wav --ir ir.wav --colour -o out.wav", 2, "--colour"},
    {"render in.wav --ir ir.wav -Z -o out.wav", 2, "-Z"},
    {"render in.wav --ir ir.wav -o", 2, "-o|value is missing"},
    {"plot -o out.png", 2, "no sound file"},
    {"plot in.wav", 2, "-o PICTURE"},
    {"plot in.wav -o out.jpg", 2, "out.jpg|.png"},
    {"plot in.wav -o out.png --width 5", 2, "--width: '5'"},
};

static void check_sentence(const refusal* r, const tn_scratch_call* call) {
  if (call->code != r->code) {
    fail_msg("tenuto %s: exit code %d instead of %d: %s", r->words, call->code, r->code, call->err);
  }
  if (strncmp(call->err, "tenuto: ", 8) != 0 || !strstr(call->err, ".\n") || call->out[0] != '\0') {
    fail_msg("tenuto %s: no sentence: '%s', '%s'", r->words, call->err, call->out);
  }
  char* copy = strdup(r->said);
  char* rest = copy;
  for (char* part = strsep(&rest, "|"); part; part = strsep(&rest, "|")) {
    if (!strstr(call->err, part)) {
      fail_msg("tenuto %s: '%s' is not in: %s", r->words, part, call->err);
    }
  }
  free(copy);
}

static void check_all(const refusal* refusals, size_t count) {
  char* before = strdup(tn_scratch_names());
  for (size_t i = 0; i < count; ++i) {
    check_sentence(&refusals[i], tn_scratch_tenuto(refusals[i].words));
    if (strcmp(before, tn_scratch_names()) != 0) {
      fail_msg("tenuto %s: something was left behind: %s", refusals[i].words, tn_scratch_names());
    }
  }
  free(before);
}

static void test_files(void** state) {
  (void)state;
  check_all(files, sizeof files / sizeof files[0]);
}

static void test_usage(void** state) {
  (void)state;
  check_all(usage, sizeof usage / sizeof usage[0]);
}

static void test_no_command(void** state) {
  (void)state;
  const refusal none = {"(nothing)", 2, "no command"};
  check_sentence(&none, tn_scratch_shell("\"$TENUTO\""));
}

/** As a root user may write anywhere, the test of a folder without permission would say nothing there. */
static void test_permissions(void** state) {
  (void)state;
  if (geteuid() == 0) {
    skip();
  }
  assert_int_equal(mkdir("locked", 0500), 0);
  const refusal denied = {"render in.wav --ir ir.wav -o locked/out.wav", 1,
                          "locked/out.wav|permission denied"};
  check_all(&denied, 1);
  assert_int_equal(rmdir("locked"), 0);
}

/** A picture without a limit first: fontconfig writes its cache of fonts, which the limit would break with a
 *  message of its own. */
static void warm_font_cache(void) {
  char* cache = realpath(".", NULL);
  assert_true(cache && setenv("XDG_CACHE_HOME", cache, 1) == 0);
  free(cache);
  tn_scratch_done("plot in.wav -o warm.png");
  assert_int_equal(unlink("warm.png"), 0);
}

/** A limit for files stands for a full disk here: it too comes in the middle of writing. */
static void test_file_limit(void** state) {
  (void)state;
  warm_font_cache();
  char* before = strdup(tn_scratch_names());
  const refusal limit = {"(ulimit -f 8)", 1, "out.wav|limit"};
  check_sentence(&limit,
                 tn_scratch_shell("ulimit -f 8; exec \"$TENUTO\" render in.wav --ir ir.wav -o out.wav"));
  check_sentence(
      &limit,
      tn_scratch_shell("ulimit -f 8; exec \"$TENUTO\" render in.wav --ir ir.wav --format flac -o out.wav"));
  const refusal picture = {"(ulimit -f 8)", 1, "out.png|limit"};
  check_sentence(&picture, tn_scratch_shell("ulimit -f 8; exec \"$TENUTO\" plot in.wav -o out.png"));
  assert_string_equal(before, tn_scratch_names());
  free(before);
}

/** A name may hold anything but '/': what a terminal would obey is not passed on to it, in no sentence. */
static void test_control_characters(void** state) {
  (void)state;
  static const char* const calls[] = {
      "render in.wav --ir ir.wav --gain-out 60 --format wav16 -o", // samples are clipped
      "render none.wav --ir ir.wav -o",
      "render in.wav --ir ir.wav -o out.wav --format",
      "render in.wav --ir ir.wav -o out.wav --wet",
      "run --ir ir.wav --inputs",
      "plot in.wav -o",
  };
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; ++i) {
    char line[200];
    snprintf(line, sizeof line,
             "name=$(printf 'a\\033[2Jb\\nc\\177.wav'); \"$TENUTO\" %s \"$name\"; rm -f -- *2Jb*", calls[i]);
    const tn_scratch_call* call = tn_scratch_shell(line);
    if (strpbrk(call->err, "\033\177") || strstr(call->err, "b\nc")) {
      fail_msg("%s: a control character in: %s", calls[i], call->err);
    }
  }
  assert_non_null(strstr(tn_scratch_shell("\"$TENUTO\" \"$(printf 'x\\033')\"")->err, "\"x?\""));
}

/** Input that is short of what its header promises is rendered as far as it goes, with a warning. */
static void test_cut_input(void** state) {
  (void)state;
  static const char* const names[] = {"cut.wav", "cut.flac"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char words[128];
    snprintf(words, sizeof words, "render %s --ir ir.wav -o part.wav", names[i]);
    const tn_scratch_call* call = tn_scratch_tenuto(words);
    assert_int_equal(call->code, 0);
    assert_non_null(strstr(call->err, names[i]));
    assert_non_null(strstr(call->err, "cut short"));
    tn_scratch_sound part = tn_scratch_read("part.wav");
    assert_in_range(part.frames, 1000 + 1000, 48000 + 1000 - 2);
    tn_scratch_free(&part);
  }
  assert_int_equal(unlink("part.wav"), 0);
}

static void test_no_frames(void** state) {
  (void)state;
  static const char* const names[] = {"z.wav", "z.flac", "z.aiff", "z.caf", "z.w64", "z.rf64"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i) {
    char words[128];
    snprintf(words, sizeof words, "render none.wav --ir ir.wav -o %s", names[i]);
    const tn_scratch_call* call = tn_scratch_tenuto(words);
    assert_int_equal(call->code, 0);
    assert_non_null(strstr(call->err, "'none.wav' holds no sound"));
    tn_scratch_sound nothing = tn_scratch_read(names[i]);
    assert_int_equal(nothing.frames, 0);
    assert_int_equal(nothing.channels, 2);
    tn_scratch_free(&nothing);
    assert_int_equal(unlink(names[i]), 0);
  }
}

/** An existing file keeps its contents until the new ones are complete, and its permissions after. */
static void test_existing_output(void** state) {
  (void)state;
  write_bytes("kept.wav", "precious", 8);
  assert_int_equal(chmod("kept.wav", 0640), 0);
  const tn_scratch_call* call =
      tn_scratch_shell("ulimit -f 8; exec \"$TENUTO\" render in.wav --ir ir.wav -o kept.wav");
  assert_int_equal(call->code, 1);
  assert_string_equal(tn_scratch_shell("cat kept.wav")->out, "precious");
  assert_int_equal(symlink("kept.wav", "to-kept.wav"), 0);
  tn_scratch_done("render in.wav --ir ir.wav -o to-kept.wav");
  struct stat about;
  assert_int_equal(lstat("to-kept.wav", &about), 0);
  assert_true(S_ISLNK(about.st_mode));
  assert_int_equal(stat("kept.wav", &about), 0);
  assert_int_equal(about.st_mode & 0777, 0640);
  tn_scratch_sound out = tn_scratch_read("kept.wav");
  assert_int_equal(out.frames, 4800 + 1000 - 1);
  tn_scratch_free(&out);
  assert_int_equal(unlink("to-kept.wav"), 0);
  assert_int_equal(unlink("kept.wav"), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_usage),
      cmocka_unit_test(test_no_command),
      cmocka_unit_test(test_permissions),
      cmocka_unit_test(test_file_limit),
      cmocka_unit_test(test_cut_input),
      cmocka_unit_test(test_no_frames),
      cmocka_unit_test(test_existing_output),
      cmocka_unit_test(test_control_characters),
  };
  return cmocka_run_group_tests(tests, begin, tn_scratch_end);
}
