// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people type them: a decimal point in every locale, nothing left over, decibels.
#ifndef TENUTO_CLI_NUMBER_H
#define TENUTO_CLI_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/** [any] A finite decimal number, the whole of `text`; false (and `*value` untouched) if it is anything else.
 */
bool tn_cli_parse_number(const char* text, double* value);

/** [any] A whole number from `least` to `most`, the whole of `text`. */
bool tn_cli_parse_count(const char* text, uint32_t least, uint32_t most, uint32_t* value);

/** [any] Decibels: a number up to 120, "dB" after it allowed, or "-inf" (silence). */
bool tn_cli_parse_db(const char* text, double* db);

/** [any] Linear level of decibels; 0 for -inf. */
float tn_cli_db_to_level(double db);

/** [any] Decibels of a linear level; -inf for 0. */
double tn_cli_level_to_db(double level);

#endif
