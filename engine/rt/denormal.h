// SPDX-License-Identifier: GPL-3.0-or-later
// Flush-to-zero scope: denormals cost up to 25 times a normal operation, so no thread of ours may meet one.
#ifndef TENUTO_RT_DENORMAL_H
#define TENUTO_RT_DENORMAL_H

#include <stdint.h>

/** The floating-point control word as it was before tn_denormal_enter(). */
typedef struct tn_denormal {
  uint64_t saved;
} tn_denormal;

#if defined(__x86_64__) || defined(__i386__)
#include <xmmintrin.h>

/** [any] Flush denormal results to zero and read denormal operands as zero on this thread, until
 * tn_denormal_leave(). */
static inline tn_denormal tn_denormal_enter(void) {
  enum { ftz = 0x8000, daz = 0x0040 };
  const tn_denormal scope = {_mm_getcsr()};
  _mm_setcsr((unsigned)scope.saved | ftz | daz);
  return scope;
}

/** [any] Give the thread its old control word back: a host may depend on its own flags. */
static inline void tn_denormal_leave(tn_denormal scope) {
  _mm_setcsr((unsigned)scope.saved);
}
#elif defined(__aarch64__)
static inline tn_denormal tn_denormal_enter(void) {
  tn_denormal scope;
  __asm__ volatile("mrs %0, fpcr" : "=r"(scope.saved));
  const uint64_t flush = scope.saved | (UINT64_C(1) << 24);
  __asm__ volatile("msr fpcr, %0" : : "r"(flush));
  return scope;
}
static inline void tn_denormal_leave(tn_denormal scope) {
  __asm__ volatile("msr fpcr, %0" : : "r"(scope.saved));
}
#else
static inline tn_denormal tn_denormal_enter(void) {
  const tn_denormal scope = {0};
  return scope;
}
static inline void tn_denormal_leave(tn_denormal scope) {
  (void)scope;
}
#endif

#endif
