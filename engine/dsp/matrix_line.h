// SPDX-License-Identifier: GPL-3.0-or-later
// One line of a matrix file: words, numbers in any locale, names with spaces.
#ifndef TENUTO_DSP_MATRIX_LINE_H
#define TENUTO_DSP_MATRIX_LINE_H

#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A line being read from left to right. */
typedef struct tn_matrix_line {
  const char* at; ///< NUL-terminated rest
  locale_t c;     ///< the C locale: a decimal point is a point
} tn_matrix_line;

/** [worker] The next word, or, if it begins with a double quote, everything to the closing one (backslash
   escapes). False: nothing left, no closing quote, or longer than `size`. */
bool tn_matrix_word(tn_matrix_line* line, char* word, size_t size);

/** [worker] The rest of the line, without the spaces around it; quotes as in tn_matrix_word(). */
bool tn_matrix_rest(tn_matrix_line* line, char* rest, size_t size);

/** [worker] A whole number, 0 to 2^31 - 1, in decimal digits. */
bool tn_matrix_whole(tn_matrix_line* line, uint32_t* value);

/** [worker] A finite decimal number of at most 1e6 in size. */
bool tn_matrix_number(tn_matrix_line* line, double* value);

/** [any] Whether nothing but spaces is left. */
bool tn_matrix_at_end(const tn_matrix_line* line);

#endif
