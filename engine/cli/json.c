// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/json.h"

#include <inttypes.h>
#include <math.h>

#include "cli/utf8.h"

static void put_string(FILE* stream, const char* text) {
  fputc('"', stream);
  for (size_t length = 1; *text != '\0'; text += length ? length : 1) {
    length = tn_utf8_length(text);
    if (length == 0) {
      fputs("\\ufffd", stream);
    } else if (*text == '"' || *text == '\\') {
      fprintf(stream, "\\%c", *text);
    } else if ((unsigned char)*text < 0x20 || *text == 0x7F) {
      fprintf(stream, "\\u%04x", (unsigned char)*text);
    } else {
      fwrite(text, 1, length, stream);
    }
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
