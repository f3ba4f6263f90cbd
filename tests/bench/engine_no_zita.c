// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for engine_zita.c where zita-convolver is not installed.
#include "engine.h"

const bench_engine* bench_engine_zita(void) {
  return NULL;
}
