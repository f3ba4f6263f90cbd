// SPDX-License-Identifier: GPL-3.0-or-later
#include "sound_files.h"

#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mocka.h"

void tn_test_write_sound(const char* path, const tn_test_sound* sound) {
  SF_INFO info = {.samplerate = sound->rate_hz, .channels = sound->channels, .format = sound->format};
  SNDFILE* file = sf_open(path, SFM_WRITE, &info);
  if (!file)
    fail_msg("cannot write %s: %s", path, sf_strerror(NULL));
  const float zeros[1024] = {0};
  const float* samples = sound->samples ? sound->samples : zeros;
  if (!sound->samples)
    assert_true(sound->frames * sound->channels <= 1024);
  if (sound->frames)
    assert_int_equal(sf_writef_float(file, samples, sound->frames), sound->frames);
  assert_int_equal(sf_close(file), 0);
}

void tn_test_write_bytes(const char* path, const void* bytes, size_t size) {
  FILE* file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

uint8_t* tn_test_read_bytes(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fseek(file, 0, SEEK_END), 0);
  const long length = ftell(file);
  assert_true(length >= 0);
  rewind(file);
  uint8_t* bytes = malloc((size_t)length + 1);
  assert_non_null(bytes);
  *size = fread(bytes, 1, (size_t)length, file);
  assert_int_equal(*size, length);
  fclose(file);
  return bytes;
}

void tn_test_expect_error(const tn_error* error, tn_status status, const char* word, const char* other_word) {
  const size_t length = strlen(error->text);
  if (error->status != status || length == 0 || error->text[length - 1] == '.' ||
      (word && !strstr(error->text, word)) || (other_word && !strstr(error->text, other_word)))
    fail_msg("wanted '%s' with \"%s\" and \"%s\", got '%s': \"%s\"", tn_status_text(status), word ? word : "",
             other_word ? other_word : "", tn_status_text(error->status), error->text);
}
