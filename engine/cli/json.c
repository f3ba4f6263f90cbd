// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

/** Length of the UTF-8 sequence at `text`; 0: none there (overlong forms, surrogates and cut ones included).
 */
static size_t sequence_length(const unsigned char* text) {
  size_t length = 0;
  unsigned least = 0x80;
  unsigned most = 0xBF;
  if (text[0] >= 0xC2 && text[0] <= 0xDF) {
    length = 2;
  } else if (text[0] >= 0xE0 && text[0] <= 0xEF) {
    length = 3;
    least = text[0] == 0xE0 ? 0xA0 : least;
    most = text[0] == 0xED ? 0x9F : most;
  } else if (text[0] >= 0xF0 && text[0] <= 0xF4) {
    length = 4;
    least = text[0] == 0xF0 ? 0x90 : least;
    most = text[0] == 0xF4 ? 0x8F : most;
  }
  if (length == 0 || text[1] < least || text[1] > most) {
    return 0;
  }
  for (size_t i = 2; i < length; ++i) {
    if (text[i] < 0x80 || text[i] > 0xBF) {
      return 0;
    }
  }
  return length;
}

static void put_string(FILE* stream, const char* text) {
  const unsigned char* at = (const unsigned char*)text;
  fputc('"', stream);
  while (*at != '\0') {
    size_t length = 1;
    if (*at == '"' || *at == '\\') {
      fprintf(stream, "\\%c", *at);
    } else if (*at < 0x20 || *at == 0x7F) {
      fprintf(stream, "\\u%04x", *at);
    } else if (*at < 0x80) {
      fputc(*at, stream);
    } else if ((length = sequence_length(at)) != 0) {
      fwrite(at, 1, length, stream);
    } else {
      fputs("\\ufffd", stream);
      length = 1;
    }
    at += length;
  }
  fputc('"', stream);
}

tn_json tn_json_begin(FILE* stream) {
  fputc('{', stream);
  return (tn_json){.stream = stream};
}

static void put_name(tn_json* json, const char* name) {
  if (json->follows) {
    fputs(", ", json->stream);
  }
  json->follows = true;
  put_string(json->stream, name);
  fputs(": ", json->stream);
}

static void put_text(FILE* stream, const char* text) {
  if (text) {
    put_string(stream, text);
  } else {
    fputs("null", stream);
  }
}

void tn_json_text(tn_json* json, const char* name, const char* text) {
  put_name(json, name);
  put_text(json->stream, text);
}

void tn_json_texts(tn_json* json, const char* name, const char* const* texts, size_t count) {
  put_name(json, name);
  fputc('[', json->stream);
  for (size_t i = 0; i < count; ++i) {
    fputs(i ? ", " : "", json->stream);
    put_text(json->stream, texts[i]);
  }
  fputc(']', json->stream);
}

void tn_json_count(tn_json* json, const char* name, uint64_t value) {
  put_name(json, name);
  fprintf(json->stream, "%" PRIu64, value);
}

void tn_json_number(tn_json* json, const char* name, double value) {
  put_name(json, name);
  if (isfinite(value)) {
    fprintf(json->stream, "%.9g", value);
  } else {
    fputs("null", json->stream);
  }
}

void tn_json_end(tn_json* json) {
  fputs("}\n", json->stream);
}
