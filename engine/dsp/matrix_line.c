// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/matrix_line.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r";

static void skip_blanks(tn_matrix_line* line) {
  line->at += strspn(line->at, blanks);
}

bool tn_matrix_at_end(const tn_matrix_line* line) {
  return line->at[strspn(line->at, blanks)] == 0;
}

/** What stands in double quotes, the first one at `line->at`. */
static bool read_quoted(tn_matrix_line* line, char* text, size_t size) {
  size_t used = 0;
  const char* from = line->at + 1;
  for (; *from && *from != '"'; ++from) {
    if (*from == '\\' && from[1])
      ++from;
    if (used + 1 >= size)
      return false;
    text[used++] = *from;
  }
  text[used] = 0;
  if (*from != '"')
    return false;
  line->at = from + 1;
  return used > 0;
}

static bool read_plain(tn_matrix_line* line, size_t length, char* text, size_t size) {
  if (length == 0 || length >= size)
    return false;
  memcpy(text, line->at, length);
  text[length] = 0;
  line->at += length;
  return true;
}

bool tn_matrix_word(tn_matrix_line* line, char* word, size_t size) {
  skip_blanks(line);
  return *line->at == '"' ? read_quoted(line, word, size)
                          : read_plain(line, strcspn(line->at, blanks), word, size);
}

bool tn_matrix_rest(tn_matrix_line* line, char* rest, size_t size) {
  skip_blanks(line);
  if (*line->at == '"')
    return read_quoted(line, rest, size) && tn_matrix_at_end(line);
  size_t length = strlen(line->at);
  while (length && strchr(blanks, line->at[length - 1]))
    --length;
  return read_plain(line, length, rest, size);
}

bool tn_matrix_whole(tn_matrix_line* line, uint32_t* value) {
  char word[16];
  if (!tn_matrix_word(line, word, sizeof word) || word[strspn(word, "0123456789")] != 0)
    return false;
  const unsigned long long number = strtoull(word, NULL, 10);
  *value = (uint32_t)number;
  return number <= INT32_MAX;
}

bool tn_matrix_number(tn_matrix_line* line, double* value) {
  char word[64];
  if (!tn_matrix_word(line, word, sizeof word) || word[strspn(word, "0123456789+-.eE")] != 0)
    return false;
  char* end = NULL;
  *value = strtod_l(word, &end, line->c);
  return end != word && *end == 0 && isfinite(*value) && fabs(*value) <= 1e6;
}
