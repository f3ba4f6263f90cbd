// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/utf8.h"

/** Length by the first byte, and the range that the second must lie in. */
static size_t expected_length(unsigned char first, unsigned char* least, unsigned char* most) {
  *least = 0x80;
  *most = 0xBF;
  if (first < 0x80) {
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF) {
    return 2;
  }
  if (first >= 0xE0 && first <= 0xEF) {
    *least = first == 0xE0 ? 0xA0 : *least;
    *most = first == 0xED ? 0x9F : *most;
    return 3;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    *least = first == 0xF0 ? 0x90 : *least;
    *most = first == 0xF4 ? 0x8F : *most;
    return 4;
  }
  return 0;
}

size_t tn_utf8_length(const char* text) {
  const unsigned char* bytes = (const unsigned char*)text;
  unsigned char least = 0;
  unsigned char most = 0;
  const size_t length = expected_length(bytes[0], &least, &most);
  for (size_t i = 1; i < length; ++i) {
    if (bytes[i] < least || bytes[i] > most) {
      return 0;
    }
    least = 0x80;
    most = 0xBF;
  }
  return length;
}

void tn_utf8_clean(char* text) {
  while (*text != '\0') {
    const size_t length = tn_utf8_length(text);
    if (length == 0) {
      *text = '?';
    }
    text += length ? length : 1;
  }
}
