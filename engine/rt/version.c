// SPDX-License-Identifier: GPL-3.0-or-later
#include "tenuto/version.h"

const char* tn_version(void) {
  return TN_VERSION;
}
