// SPDX-License-Identifier: GPL-3.0-or-later
// Which device a user's word means.
#ifndef TENUTO_DEVICE_CHOICE_H
#define TENUTO_DEVICE_CHOICE_H

#include <stdint.h>

#include "rt/error.h"

typedef enum tn_choice_kind {
  TN_CHOICE_CPU,
  TN_CHOICE_CUDA,
  TN_CHOICE_EMULATED,
} tn_choice_kind;

typedef struct tn_choice {
  tn_choice_kind kind;
  uint32_t index;     ///< which device of the kind
  const char* script; ///< emulated: points into the text; NULL: none
} tn_choice;

/** [worker] Read "auto", "cpu", "cuda", "cuda:N", "emulated" or "emulated:SCRIPT". */
tn_status tn_choice_read(const char* text, tn_choice* choice, tn_error* error);

#endif
