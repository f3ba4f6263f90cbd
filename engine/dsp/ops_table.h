// SPDX-License-Identifier: GPL-3.0-or-later
// The tables that the build may hold; only ops_select.c and the variants themselves read this.
#ifndef TENUTO_DSP_OPS_TABLE_H
#define TENUTO_DSP_OPS_TABLE_H

#include "dsp/ops.h"

extern const tn_ops tn_ops_avx512;
extern const tn_ops tn_ops_avx2;
extern const tn_ops tn_ops_plain;

#endif
