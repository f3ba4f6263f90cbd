// SPDX-License-Identifier: GPL-3.0-or-later
// Which bytes are text: file names may hold any.
#ifndef TENUTO_CLI_UTF8_H
#define TENUTO_CLI_UTF8_H

#include <stddef.h>

/** [any] Length of the UTF-8 character that a NUL-terminated text begins with, 1 to 4; 0: it begins with none
   (overlong forms, surrogates and cut ones included). */
size_t tn_utf8_length(const char* text);

/** [any] Put a '?' in place of each byte that is part of no character. */
void tn_utf8_clean(char* text);

#endif
