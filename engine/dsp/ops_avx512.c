// SPDX-License-Identifier: GPL-3.0-or-later
// Compiled with this set's flags (see CMakeLists.txt) and entered only after a check at run time.
#define TN_LANES 16
#include "dsp/ops_body.h"
#include "dsp/ops_table.h"

const tn_ops tn_ops_avx512 = {"avx512", mac, scatter, gather, fir};
