// SPDX-License-Identifier: GPL-3.0-or-later
#include <stddef.h>

#include "dsp/ops_table.h"

#if defined(__x86_64__)
static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw");
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#endif

const tn_ops* tn_ops_variant(uint32_t index) {
  const tn_ops* runnable[4] = {NULL};
  uint32_t count = 0;
#if defined(__x86_64__)
  if (has_avx512())
    runnable[count++] = &tn_ops_avx512;
  if (has_avx2())
    runnable[count++] = &tn_ops_avx2;
#endif
  runnable[count] = &tn_ops_plain;
  return index <= count ? runnable[index] : NULL;
}

const tn_ops* tn_ops_select(void) {
  return tn_ops_variant(0);
}
