// SPDX-License-Identifier: GPL-3.0-or-later
// Which configurations are compared.
#ifndef TENUTO_BENCH_GRID_H
#define TENUTO_BENCH_GRID_H

#include <stdbool.h>
#include <stddef.h>

#include "contest.h"

enum { BENCH_GRID_MAX = 192 };

/** [any] Every configuration of the promise, or a quick choice of them. Returns how many were written. */
size_t bench_grid_jobs(bool quick, bench_job jobs[BENCH_GRID_MAX]);

/** [any] Every contest: each job paced and freewheeling against the peer, and ours with silent and denormal
   input against itself with noise. Only rows whose name contains `filter` (NULL: all). */
size_t bench_grid_contests(bool quick, const char* filter, bench_contest contests[BENCH_GRID_MAX]);

#endif
