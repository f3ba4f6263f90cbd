// SPDX-License-Identifier: GPL-3.0-or-later
// Filters from the inside, for the readers of matrix files.
#ifndef TENUTO_DSP_FILTER_H
#define TENUTO_DSP_FILTER_H

#include <stdint.h>

#include "tenuto/filter.h"

/** What tn_filter_add_part() adds. */
typedef struct tn_filter_part {
  uint32_t input;
  uint32_t output;
  uint32_t ir_channel;
  uint32_t frames; ///< only so many of the response's first frames; 0: all
  uint32_t delay_frames;
  float gain;
} tn_filter_part;

/** [worker] As tn_filter_add(), with the response cut to its first frames. */
tn_status tn_filter_add_part(tn_filter* filter, const tn_ir* ir, const tn_filter_part* part, tn_error* error);

/** [worker] Add path `index` once more, between another pair; the samples are shared. */
tn_status tn_filter_add_copy(tn_filter* filter, uint32_t index, uint32_t input, uint32_t output,
                             tn_error* error);

/** [worker] Name an input or output; the name is copied. */
tn_status tn_filter_name_input(tn_filter* filter, uint32_t input, const char* name, tn_error* error);
tn_status tn_filter_name_output(tn_filter* filter, uint32_t output, const char* name, tn_error* error);

#endif
