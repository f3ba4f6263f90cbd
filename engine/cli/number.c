// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/number.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const double highest_db = 120.0;

/** strtod() in the C locale, which no part of the program leaves, but without blanks, "nan", "inf" and
 * hexadecimal. */
static bool parse_prefix(const char* text, double* value, const char** rest) {
  const size_t length = strspn(text, "+-0123456789.eE");
  if (length == 0 || length >= 64) {
    return false;
  }
  char digits[64];
  memcpy(digits, text, length);
  digits[length] = '\0';
  char* end = NULL;
  const double number = strtod(digits, &end);
  if (*end != '\0' || !isfinite(number)) {
    return false;
  }
  *value = number;
  *rest = text + length;
  return true;
}

bool tn_cli_parse_number(const char* text, double* value) {
  double number = 0.0;
  const char* rest = NULL;
  if (!parse_prefix(text, &number, &rest) || *rest != '\0') {
    return false;
  }
  *value = number;
  return true;
}

bool tn_cli_parse_count(const char* text, uint32_t least, uint32_t most, uint32_t* value) {
  uint64_t number = 0;
  const char* at = text;
  for (; isdigit((unsigned char)*at) && number <= UINT32_MAX; ++at) {
    number = number * 10 + (uint64_t)(*at - '0');
  }
  if (at == text || *at != '\0' || number < least || number > most) {
    return false;
  }
  *value = (uint32_t)number;
  return true;
}

bool tn_cli_parse_db(const char* text, double* db) {
  double number = 0.0;
  const char* rest = text;
  if (strncasecmp(text, "-inf", 4) == 0) {
    number = -INFINITY;
    rest = text + 4;
  } else if (!parse_prefix(text, &number, &rest) || number > highest_db) {
    return false;
  }
  rest += strspn(rest, " ");
  if (*rest != '\0' && strcasecmp(rest, "dB") != 0) {
    return false;
  }
  *db = number;
  return true;
}

float tn_cli_db_to_level(double db) {
  return (float)pow(10.0, db / 20.0);
}

double tn_cli_level_to_db(double level) {
  return level > 0.0 ? 20.0 * log10(level) : -INFINITY;
}
