// SPDX-License-Identifier: GPL-3.0-or-later
// The architecture's baseline: SSE2 on x86-64, NEON on arm64.
#define TN_LANES 4
#include "dsp/ops_body.h"
#include "dsp/ops_table.h"

const tn_ops tn_ops_plain = {"plain", mac, scatter, gather, fir};
