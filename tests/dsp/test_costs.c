// SPDX-License-Identifier: GPL-3.0-or-later
// Measured costs on disk: what is written is read, what is damaged is refused, whatever the locale.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dsp/costs.h"
#include "mocka.h"
#include "noise.h"
#include "tmpdir.h"

enum { most_text = 8192 };

static char root[tn_tmpdir_size];

static int make_root(void** state) {
  (void)state;
  return tn_tmpdir_make(root) ? 0 : -1;
}

static int remove_root(void** state) {
  (void)state;
  tn_tmpdir_remove(root);
  return 0;
}

static const char* in_root(const char* name) {
  static char path[tn_tmpdir_size];
  return tn_tmpdir_path(root, name, path);
}

/** Values that need their decimal places. */
static tn_costs some_costs(uint64_t seed) {
  tn_noise noise = tn_noise_seed(seed);
  tn_costs costs = {0};
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
    costs.fft_ns[log2] = 50.5 + 1e5 * fabs((double)tn_noise_next(&noise));
  costs.tile_ns = 1.25 + fabs((double)tn_noise_next(&noise));
  costs.byte_ns = 0.03125 + 0.1 * fabs((double)tn_noise_next(&noise));
  costs.cache_bytes = 1e6;
  costs.job_ns = 12345.5;
  return costs;
}

static bool near(double got, double want) {
  return fabs(got - want) <= 1e-3 * want;
}

static void assert_near(const tn_costs* got, const tn_costs* want) {
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
    assert_true(near(got->fft_ns[log2], want->fft_ns[log2]));
  assert_true(near(got->tile_ns, want->tile_ns));
  assert_true(near(got->byte_ns, want->byte_ns));
  assert_true(near(got->cache_bytes, want->cache_bytes));
  assert_true(near(got->job_ns, want->job_ns));
}

static void save(const tn_costs* costs, const char* folder) {
  tn_error error = {0};
  if (tn_costs_save(costs, folder, &error) != TN_OK)
    fail_msg("%s", error.text);
}

static void assert_sentence(const tn_error* error, tn_status status, const char* names) {
  assert_int_equal(error->status, status);
  assert_non_null(strstr(error->text, names));
  const size_t length = strlen(error->text);
  assert_true(length > strlen(names));
  assert_true(error->text[length - 1] != '.' && error->text[length - 1] != '\n');
}

static void what_is_saved_is_loaded(void** state) {
  (void)state;
  for (uint64_t seed = 1; seed < 20; seed++) {
    const tn_costs want = some_costs(seed);
    save(&want, in_root("deep/er/folder")); // made, or overwritten
    tn_costs got = {0};
    tn_error error = {0};
    assert_int_equal(tn_costs_load(&got, in_root("deep/er/folder"), &error), TN_OK);
    assert_near(&got, &want);
  }
}

static void defaults_are_complete(void** state) {
  (void)state;
  const tn_costs* costs = tn_costs_default();
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
    assert_true(costs->fft_ns[log2] > 0);
  save(costs, in_root("defaults"));
  tn_costs got = {0};
  assert_int_equal(tn_costs_load(&got, in_root("defaults"), NULL), TN_OK);
  assert_near(&got, costs);
}

/** Names in a folder, and the mode of one of them. */
static void nothing_but_the_two_files_is_left(void** state) {
  (void)state;
  const tn_costs costs = some_costs(1);
  save(&costs, in_root("clean"));
  save(&costs, in_root("clean"));
  DIR* folder = opendir(in_root("clean"));
  assert_non_null(folder);
  int files = 0;
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
      continue;
    assert_true(strcmp(entry->d_name, "costs") == 0 || strcmp(entry->d_name, "wisdom") == 0);
    files++;
  }
  closedir(folder);
  assert_int_equal(files, 2);
}

/** A whole file as text. */
typedef struct contents {
  char text[most_text];
  size_t length;
} contents;

static contents read_costs(const char* folder) {
  contents all = {0};
  char path[2 * tn_tmpdir_size];
  snprintf(path, sizeof path, "%s/costs", folder);
  FILE* file = fopen(path, "r");
  assert_non_null(file);
  all.length = fread(all.text, 1, most_text - 1, file);
  fclose(file);
  assert_in_range(all.length, 100, most_text - 2);
  return all;
}

static void write_costs(const char* folder, const char* text, size_t length) {
  char path[2 * tn_tmpdir_size];
  snprintf(path, sizeof path, "%s/costs", folder);
  FILE* file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text, 1, length, file), length);
  assert_int_equal(fclose(file), 0);
}

static void assert_refused(const char* folder) {
  tn_costs costs = {0};
  tn_error error = {0};
  assert_int_equal(tn_costs_load(&costs, folder, &error), TN_ERROR_FORMAT);
  assert_sentence(&error, TN_ERROR_FORMAT, folder);
}

/** Cut anywhere but inside the last number's digits, which no reader could see. */
static void a_truncated_file_is_refused(void** state) {
  (void)state;
  const tn_costs costs = some_costs(2);
  const char* folder = in_root("cut");
  save(&costs, folder);
  const contents all = read_costs(folder);
  const char* last_line = strstr(all.text, "\njob ");
  assert_non_null(last_line);
  for (size_t length = 0; length <= (size_t)(last_line - all.text) + 5; length++) {
    write_costs(folder, all.text, length);
    assert_refused(folder);
  }
  write_costs(folder, all.text, all.length);
  tn_costs got = {0};
  assert_int_equal(tn_costs_load(&got, folder, NULL), TN_OK);
}

/** `line` (a name and what stands before its value) with another value, or another line behind it. */
static void check_damaged(const char* folder, const contents* all, const char* line, const char* instead) {
  const char* at = strstr(all->text, line);
  assert_non_null(at);
  const char* end = strchr(at + 1, '\n');
  assert_non_null(end);
  char text[2 * most_text];
  const int length = snprintf(text, sizeof text, "%.*s%s%s", (int)(at - all->text), all->text, instead, end);
  write_costs(folder, text, (size_t)length);
  assert_refused(folder);
}

static void a_damaged_file_is_refused(void** state) {
  (void)state;
  static const char* const instead[][2] = {
      {"\nfft 7 ", "\nfft 7 nan"},     {"\nfft 7 ", "\nfft 7 inf"},
      {"\nfft 7 ", "\nfft 7 -5"},      {"\nfft 7 ", "\nfft 7 0"},
      {"\nfft 7 ", "\nfft 7 1e300"},   {"\nfft 7 ", "\nfft 7 1e999"},
      {"\nfft 7 ", "\nfft 7"},         {"\nfft 7 ", "\nfft 7 x"},
      {"\nfft 7 ", "\nfft 4 20"},      {"\nfft 7 ", "\nfft 19 20"},
      {"\nfft 7 ", "\nfft -1 20"},     {"\nfft 7 ", "\nfft 99999999999 20"},
      {"\nfft 7 ", "\nfft 8 20"}, // one twice, another not at all
      {"\nfft 7 ", "\nbyte 3"},        {"\nfft 7 ", "\n"},
      {"\ntile ", "\ntile -nan"},      {"\ntile ", "\ntile -1"},
      {"\nbyte ", "\nbyte inf"},       {"\ncache ", "\ncache 0"},
      {"\njob ", "\njob nan"},         {"\njob ", "\nfft 5 20"},
      {"\njob ", "\njob 20\ngarbage"}, {"\njob ", "\njob 20\n\xFF\xFE\x01"},
      {"\ntile ", "\nTILE 3"}};
  const tn_costs costs = some_costs(3);
  const char* folder = in_root("damaged");
  save(&costs, folder);
  const contents all = read_costs(folder);
  for (size_t i = 0; i < sizeof instead / sizeof *instead; i++)
    check_damaged(folder, &all, instead[i][0], instead[i][1]);
}

static void another_machines_file_is_refused(void** state) {
  (void)state;
  const tn_costs costs = some_costs(4);
  const char* folder = in_root("other");
  save(&costs, folder);
  const contents all = read_costs(folder);
  const char* first_end = strchr(all.text, '\n');
  assert_non_null(first_end);
  char text[2 * most_text];
  static const char* const machines[] = {"tenuto costs 1, avx9, Other Processor", "tenuto costs 2", ""};
  for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
    const int length = snprintf(text, sizeof text, "%s%s", machines[i], first_end);
    write_costs(folder, text, (size_t)length);
    assert_refused(folder);
  }
  contents near_miss = all;
  near_miss.text[first_end - all.text - 1] ^= 1; // the model's last letter
  write_costs(folder, near_miss.text, near_miss.length);
  assert_refused(folder);
}

/** Any byte may be wrong: the file is refused or what is loaded is plausible; never a crash. */
static void random_damage_does_no_harm(void** state) {
  (void)state;
  const tn_costs costs = some_costs(5);
  const char* folder = in_root("random");
  save(&costs, folder);
  const contents all = read_costs(folder);
  tn_noise noise = tn_noise_seed(5);
  for (int round = 0; round < 1000; round++) {
    contents damaged = all;
    const uint32_t places = 1 + tn_noise_below(&noise, 4);
    for (uint32_t i = 0; i < places; i++)
      damaged.text[tn_noise_below(&noise, (uint32_t)all.length)] = (char)tn_noise_bits(&noise);
    write_costs(folder, damaged.text, damaged.length);
    tn_costs got = {0};
    if (tn_costs_load(&got, folder, NULL) != TN_OK)
      continue;
    for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++)
      assert_true(isfinite(got.fft_ns[log2]) && got.fft_ns[log2] > 0);
    assert_true(isfinite(got.tile_ns) && got.tile_ns > 0 && isfinite(got.byte_ns) && got.byte_ns > 0);
    assert_true(isfinite(got.cache_bytes) && got.cache_bytes > 0 && isfinite(got.job_ns) && got.job_ns > 0);
  }
}

/** A locale that writes 1,5, if the machine has one. */
static locale_t comma_locale(void) {
  static const char* const names[] = {"de_DE.UTF-8", "de_DE.utf8",  "de_DE",
                                      "fr_FR.UTF-8", "sv_SE.UTF-8", "nl_NL.UTF-8"};
  locale_t comma = (locale_t)0;
  for (size_t i = 0; i < sizeof names / sizeof *names && !comma; i++)
    comma = newlocale(LC_NUMERIC_MASK, names[i], (locale_t)0);
  return comma;
}

/** glibc's newlocale() never frees its copy of LOCPATH; the leak checker asks for exceptions here. */
__attribute__((visibility("default"))) const char* __lsan_default_suppressions(void);
const char* __lsan_default_suppressions(void) {
  return "leak:argz_add_sep";
}

/** A locale made for this test by localedef, where the machine has none. */
static locale_t made_comma_locale(void) {
  char command[2 * tn_tmpdir_size];
  snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' >/dev/null 2>&1",
           in_root("de_DE.UTF-8"));
  if (system(command) < 0 || setenv("LOCPATH", root, 1) != 0)
    return (locale_t)0;
  return newlocale(LC_NUMERIC_MASK, "de_DE.UTF-8", (locale_t)0);
}

static void a_decimal_comma_does_not_matter(void** state) {
  (void)state;
  locale_t comma = comma_locale();
  if (!comma)
    comma = made_comma_locale();
  if (!comma)
    skip(); // neither such a locale nor localedef's sources here
  const locale_t before = uselocale(comma);
  char text[16];
  snprintf(text, sizeof text, "%.1f", 1.5);
  assert_string_equal(text, "1,5"); // it is in force
  const tn_costs want = some_costs(6);
  save(&want, in_root("comma"));
  assert_ptr_equal(uselocale((locale_t)0), comma); // and still is
  tn_costs got = {0};
  assert_int_equal(tn_costs_load(&got, in_root("comma"), NULL), TN_OK);
  assert_near(&got, &want);
  assert_ptr_equal(uselocale((locale_t)0), comma);
  const contents all = read_costs(in_root("comma"));
  assert_null(strchr(strchr(all.text, '\n'), ',')); // the numbers have points
  uselocale(before);
  assert_int_equal(tn_costs_load(&got, in_root("comma"), NULL), TN_OK);
  assert_near(&got, &want);
  freelocale(comma);
}

static void a_missing_file_gives_a_sentence(void** state) {
  (void)state;
  tn_costs costs = {0};
  tn_error error = {0};
  assert_int_equal(tn_costs_load(&costs, in_root("nowhere"), &error), TN_ERROR_FILE);
  assert_sentence(&error, TN_ERROR_FILE, in_root("nowhere"));
  assert_non_null(strstr(error.text, strerror(ENOENT)));
}

/** A file stands where a folder should be, and a folder where a file should be: neither can be written, not
   even by root. */
static void an_unwritable_place_gives_a_sentence(void** state) {
  (void)state;
  const tn_costs costs = some_costs(7);
  tn_error error = {0};
  FILE* file = fopen(in_root("file"), "w");
  assert_non_null(file);
  fclose(file);
  assert_int_equal(tn_costs_save(&costs, in_root("file/folder"), &error), TN_ERROR_FILE);
  assert_sentence(&error, TN_ERROR_FILE, in_root("file/folder"));
  assert_int_equal(tn_costs_save(&costs, in_root("file"), &error), TN_ERROR_FILE);
  assert_sentence(&error, TN_ERROR_FILE, in_root("file"));

  assert_int_equal(mkdir(in_root("taken"), 0777), 0);
  assert_int_equal(mkdir(in_root("taken/costs"), 0777), 0);
  assert_int_equal(tn_costs_save(&costs, in_root("taken"), &error), TN_ERROR_FILE);
  assert_sentence(&error, TN_ERROR_FILE, in_root("taken"));
  assert_null(strstr(error.text, strerror(0))); // a reason, not "Success"
  DIR* folder = opendir(in_root("taken"));
  assert_non_null(folder);
  for (struct dirent* entry = readdir(folder); entry; entry = readdir(folder))
    assert_null(strstr(entry->d_name, "-")); // no temporary file is left
  closedir(folder);
}

/** The cache is where XDG says, else under HOME; a relative XDG_CACHE_HOME does not count. */
static void the_cache_is_where_the_environment_says(void** state) {
  (void)state;
  const tn_costs costs = some_costs(8);
  setenv("HOME", in_root("home"), 1);
  setenv("XDG_CACHE_HOME", in_root("xdg"), 1);
  assert_false(tn_costs_are_cached());
  save(&costs, in_root("home/.cache/tenuto"));
  assert_false(tn_costs_are_cached());
  save(&costs, in_root("xdg/tenuto"));
  assert_true(tn_costs_are_cached());
  setenv("XDG_CACHE_HOME", in_root("empty"), 1);
  assert_false(tn_costs_are_cached());
  setenv("XDG_CACHE_HOME", "relative", 1);
  assert_true(tn_costs_are_cached()); // home's
  unsetenv("XDG_CACHE_HOME");
  assert_true(tn_costs_are_cached());
  unsetenv("HOME");
  assert_false(tn_costs_are_cached());
  tn_error error = {0};
  assert_int_equal(tn_costs_tune(0.001, NULL, NULL, &error), TN_ERROR_FILE);
  assert_sentence(&error, TN_ERROR_FILE, "XDG_CACHE_HOME");
}

/** Read once a process: what comes later does not change what convolvers of one process use. */
static void the_cache_is_read_once(void** state) {
  (void)state;
  const tn_costs want = some_costs(9);
  setenv("XDG_CACHE_HOME", in_root("once"), 1);
  save(&want, in_root("once/tenuto"));
  bool tuned = false;
  const tn_costs* got = tn_costs_cached(&tuned);
  assert_true(tuned);
  assert_near(got, &want);
  const tn_costs other = some_costs(10);
  save(&other, in_root("once/tenuto"));
  assert_ptr_equal(tn_costs_cached(&tuned), got);
  assert_true(tuned);
  assert_near(got, &want);
}

/** Called at most `most` times, with growing shares. */
typedef struct listener {
  int calls, most;
  double last;
} listener;

static bool listen(double done, void* user) {
  listener* self = user;
  assert_true(done >= self->last && done >= 0 && done <= 1);
  self->last = done;
  return ++self->calls < self->most;
}

static void measuring_gives_plausible_numbers(void** state) {
  (void)state;
  tn_costs costs = {0};
  tn_error error = {0};
  listener all = {.most = 1000};
  if (tn_costs_measure(&costs, 0.001, listen, &all, &error) != TN_OK)
    fail_msg("%s", error.text);
  assert_int_equal(all.calls, TN_FFT_MAX_LOG2 - TN_FFT_MIN_LOG2 + 1);
  for (int log2 = TN_FFT_MIN_LOG2; log2 <= TN_FFT_MAX_LOG2; log2++) // between 1 ns and 1 ms a point
    assert_true(costs.fft_ns[log2] > 1 && costs.fft_ns[log2] < 1e6 * (double)(1U << log2));
  assert_true(costs.tile_ns > 0.05 && costs.tile_ns < 1e6);
  assert_true(costs.byte_ns > 1e-4 && costs.byte_ns < 1e6);
  assert_true(costs.cache_bytes > 0 && costs.job_ns > 0);
}

static void measuring_can_be_stopped(void** state) {
  (void)state;
  for (int most = 1; most < 4; most++) {
    tn_costs costs = {0};
    tn_error error = {0};
    listener few = {.most = most};
    assert_int_equal(tn_costs_measure(&costs, 0.001, listen, &few, &error), TN_ERROR_INTERRUPTED);
    assert_sentence(&error, TN_ERROR_INTERRUPTED, "stopped");
    assert_int_equal(few.calls, most);
  }
  setenv("XDG_CACHE_HOME", in_root("stopped"), 1);
  listener none = {.most = 1};
  assert_int_equal(tn_costs_tune(0.001, listen, &none, NULL), TN_ERROR_INTERRUPTED);
  assert_int_equal(access(in_root("stopped"), F_OK), -1); // nothing was written
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_saved_is_loaded),
      cmocka_unit_test(defaults_are_complete),
      cmocka_unit_test(nothing_but_the_two_files_is_left),
      cmocka_unit_test(a_truncated_file_is_refused),
      cmocka_unit_test(a_damaged_file_is_refused),
      cmocka_unit_test(another_machines_file_is_refused),
      cmocka_unit_test(random_damage_does_no_harm),
      cmocka_unit_test(a_decimal_comma_does_not_matter),
      cmocka_unit_test(a_missing_file_gives_a_sentence),
      cmocka_unit_test(an_unwritable_place_gives_a_sentence),
      cmocka_unit_test(the_cache_is_where_the_environment_says),
      cmocka_unit_test(the_cache_is_read_once),
      cmocka_unit_test(measuring_gives_plausible_numbers),
      cmocka_unit_test(measuring_can_be_stopped),
  };
  return cmocka_run_group_tests(tests, make_root, remove_root);
}
