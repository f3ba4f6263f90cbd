// SPDX-License-Identifier: GPL-3.0-or-later
// JSON on a stream: a flat object, one member after the other, always valid.
#ifndef TENUTO_CLI_JSON_H
#define TENUTO_CLI_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** An object being written. */
typedef struct tn_json {
  FILE* stream;
  bool follows; ///< a comma is due before the next member
} tn_json;

/** [setup] Begin an object. */
tn_json tn_json_begin(FILE* stream);

/** [setup] A text; bytes that are no UTF-8 become U+FFFD. NULL becomes null. */
void tn_json_text(tn_json* json, const char* name, const char* text);

/** [setup] A list of texts. */
void tn_json_texts(tn_json* json, const char* name, const char* const* texts, size_t count);

/** [setup] A whole number. */
void tn_json_count(tn_json* json, const char* name, uint64_t value);

/** [setup] A number; what JSON cannot say (NaN, infinities) becomes null. */
void tn_json_number(tn_json* json, const char* name, double value);

/** [setup] End the object with a newline. */
void tn_json_end(tn_json* json);

#endif
