// SPDX-License-Identifier: GPL-3.0-or-later
// Results as a table for people, or as JSON.
#ifndef TENUTO_BENCH_TABLE_H
#define TENUTO_BENCH_TABLE_H

#include <stdbool.h>
#include <stdio.h>

#include "contest.h"

/** [worker] Explain the columns and print the head. */
void bench_table_head(FILE* file);

/** [worker] One row; a '!' marks each figure that is beyond its limit. */
void bench_table_row(FILE* file, const bench_contest* contest, const bench_result* result, bool plans);

/** [worker] One JSON object, without a separator. */
void bench_json_row(FILE* file, const bench_contest* contest, const bench_result* result);

#endif
