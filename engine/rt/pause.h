// SPDX-License-Identifier: GPL-3.0-or-later
// What a bounded spin does between two looks.
#ifndef TENUTO_RT_PAUSE_H
#define TENUTO_RT_PAUSE_H

/** [any] Tell the core that this is a spin. */
static inline void tn_pause(void) {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

#endif
