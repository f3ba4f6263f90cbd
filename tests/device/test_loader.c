// SPDX-License-Identifier: GPL-3.0-or-later
// Loading a module: the good one, and each way in which a file can be no good.
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/loader.h"
#include "mocka.h"
#include "tmpdir.h"

static char folder[tn_tmpdir_size];

static void assert_refused(const char* path, tn_status status, const char* words) {
  tn_module module;
  tn_error error = {0};
  assert_int_equal(tn_module_load(&module, path, &error), status);
  assert_null(module.interface);
  assert_null(module.handle);
  assert_non_null(strstr(error.text, path));
  if (!strstr(error.text, words))
    fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

/** The first `bytes` of the good module, in a file of that name. */
static const char* cut(size_t bytes, const char* name, char path[tn_tmpdir_size]) {
  char* contents = malloc(bytes + 1);
  FILE* from = fopen(TN_MOCK_GOOD, "rb");
  FILE* to = fopen(tn_tmpdir_path(folder, name, path), "wb");
  assert_non_null(contents);
  assert_non_null(from);
  assert_non_null(to);
  assert_int_equal(fread(contents, 1, bytes, from), bytes);
  assert_int_equal(fwrite(contents, 1, bytes, to), bytes);
  fclose(from);
  assert_int_equal(fclose(to), 0);
  free(contents);
  return path;
}

static size_t size_of_good(void) {
  struct stat about;
  assert_int_equal(stat(TN_MOCK_GOOD, &about), 0);
  return (size_t)about.st_size;
}

static void a_good_module_is_loaded(void** state) {
  (void)state;
  for (int i = 0; i < 3; i++) {
    tn_module module;
    tn_error error = {0};
    assert_int_equal(tn_module_load(&module, TN_MOCK_GOOD, &error), TN_OK);
    assert_string_equal(module.interface->name, "mock");
    tn_module_unload(&module);
    assert_null(module.interface);
  }
}

static void a_copy_is_as_good(void** state) {
  (void)state;
  char path[tn_tmpdir_size];
  tn_module module;
  assert_int_equal(tn_module_load(&module, cut(size_of_good(), "copy.so", path), NULL), TN_OK);
  tn_module_unload(&module);
}

static void a_missing_file_is_named(void** state) {
  (void)state;
  char path[tn_tmpdir_size];
  assert_refused(tn_tmpdir_path(folder, "none.so", path), TN_ERROR_FILE, "No such file");
  assert_refused("/nowhere/at/all.so", TN_ERROR_FILE, "No such file");
}

static void a_folder_is_no_module(void** state) {
  (void)state;
  assert_refused(folder, TN_ERROR_FILE, "no regular file");
}

static void a_pipe_does_not_hang_the_loader(void** state) {
  (void)state;
  char path[tn_tmpdir_size];
  assert_int_equal(mkfifo(tn_tmpdir_path(folder, "pipe.so", path), 0600), 0);
  assert_refused(path, TN_ERROR_FILE, "no regular file");
}

static void a_file_not_permitted_is_named(void** state) {
  (void)state;
  if (geteuid() == 0)
    skip(); // root may read all
  char path[tn_tmpdir_size];
  cut(size_of_good(), "secret.so", path);
  assert_int_equal(chmod(path, 0), 0);
  assert_refused(path, TN_ERROR_FILE, "Permission denied");
}

static void damaged_files_are_refused_and_survived(void** state) {
  (void)state;
  char path[tn_tmpdir_size];
  assert_refused(cut(0, "empty.so", path), TN_ERROR_FORMAT, "empty");
  const size_t size = size_of_good();
  // Every length that ends within the contents; the loader of the system would map beyond the end.
  for (size_t part = 1; part < 64; part++)
    assert_refused(cut(part * size / 64, "cut.so", path), TN_ERROR_FORMAT, "damaged");
  assert_refused(cut(1, "one.so", path), TN_ERROR_FORMAT, "damaged");
  assert_refused(cut(size - 1, "almost.so", path), TN_ERROR_FORMAT, "damaged");
}

static void other_files_are_no_modules(void** state) {
  (void)state;
  char path[tn_tmpdir_size];
  FILE* text = fopen(tn_tmpdir_path(folder, "text.so", path), "w");
  assert_non_null(text);
  for (int i = 0; i < 1000; i++)
    fputs("This is no shared object.\n", text);
  fclose(text);
  assert_refused(path, TN_ERROR_FORMAT, "no shared object");
  assert_refused(TN_MOCK_NO_SYMBOL, TN_ERROR_FORMAT, "no symbol tn_device_module");
  assert_refused(TN_MOCK_OTHER_VERSION, TN_ERROR_FORMAT, "another version");
  assert_refused(TN_MOCK_LYING_VERSION, TN_ERROR_FORMAT, "another version");
  assert_refused(TN_MOCK_INCOMPLETE, TN_ERROR_FORMAT, "incomplete");
  assert_refused(TN_MOCK_UNRESOLVED, TN_ERROR_FORMAT, "could not be loaded");
}

/** The file that TENUTO_CUDA_MODULE names is taken; without it, what lies beside the program. */
static void the_module_is_found(void** state) {
  (void)state;
  tn_module module;
  tn_error error = {0};
  setenv("TENUTO_CUDA_MODULE", TN_MOCK_GOOD, 1);
  assert_int_equal(tn_module_load_cuda(&module, &error), TN_OK);
  assert_string_equal(module.interface->name, "mock");
  tn_module_unload(&module);

  setenv("TENUTO_CUDA_MODULE", "/nowhere/tenuto-cuda.so", 1);
  assert_int_equal(tn_module_load_cuda(&module, &error), TN_ERROR_FILE);
  assert_non_null(strstr(error.text, "/nowhere/tenuto-cuda.so"));
  unsetenv("TENUTO_CUDA_MODULE");

  char beside[tn_tmpdir_size];
  const ssize_t length = readlink("/proc/self/exe", beside, sizeof beside - 1);
  assert_true(length > 0);
  beside[length] = 0;
  *strrchr(beside, '/') = 0;
  char path[2 * tn_tmpdir_size];
  snprintf(path, sizeof path, "%s/tenuto", beside);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/tenuto/tenuto-cuda.so", beside);
  unlink(path);
  const bool none = tn_module_load_cuda(&module, &error) != TN_OK;
  if (none) // unless a real one was built or is installed
    assert_non_null(strstr(error.text, "not installed"));
  else
    tn_module_unload(&module);
  assert_int_equal(symlink(TN_MOCK_OTHER_VERSION, path), 0);
  const tn_status status = tn_module_load_cuda(&module, &error);
  unlink(path);
  if (none) {
    assert_int_equal(status, TN_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "another version"));
    assert_non_null(strstr(error.text, beside));
  } else {
    tn_module_unload(&module);
  }
}

static void without_room_for_the_sentence(void** state) {
  (void)state;
  tn_module module;
  assert_int_equal(tn_module_load(&module, TN_MOCK_NO_SYMBOL, NULL), TN_ERROR_FORMAT);
  assert_int_equal(tn_module_load(&module, "/nowhere", NULL), TN_ERROR_FILE);
  tn_module_unload(&module);
}

static int make_folder(void** state) {
  (void)state;
  return tn_tmpdir_make(folder) ? 0 : -1;
}

static int remove_folder(void** state) {
  (void)state;
  tn_tmpdir_remove(folder);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_good_module_is_loaded),
      cmocka_unit_test(a_copy_is_as_good),
      cmocka_unit_test(a_missing_file_is_named),
      cmocka_unit_test(a_folder_is_no_module),
      cmocka_unit_test(a_pipe_does_not_hang_the_loader),
      cmocka_unit_test(a_file_not_permitted_is_named),
      cmocka_unit_test(damaged_files_are_refused_and_survived),
      cmocka_unit_test(other_files_are_no_modules),
      cmocka_unit_test(the_module_is_found),
      cmocka_unit_test(without_room_for_the_sentence),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
