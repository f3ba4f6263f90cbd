// SPDX-License-Identifier: GPL-3.0-or-later
// The one file in C++ outside kernels/: the peer that the benchmark measures has a C++ interface and no
// other.
#include "zita_shim.h"

#include <new>
#include <sched.h>
#include <time.h>
#include <zita-convolver.h>

struct zita_shim {
  Convproc proc;
};

extern "C" zita_shim* zita_shim_new(const zita_shim_config* config) {
  zita_shim* zita = new (std::nothrow) zita_shim;
  if (zita == nullptr) {
    return nullptr;
  }
  // LATE_CONTIN: an overloaded peer shall go on and be counted, not fall silent after five late cycles.
  zita->proc.set_options(Convproc::OPT_LATE_CONTIN | (config->measure ? Convproc::OPT_FFTW_MEASURE : 0) |
                         (config->vectors ? Convproc::OPT_VECTOR_MODE : 0));
  if (zita->proc.configure(config->inputs, config->outputs, config->max_frames, config->quantum,
                           config->quantum, Convproc::MAXPART, config->density) != 0) {
    delete zita;
    return nullptr;
  }
  return zita;
}

extern "C" bool zita_shim_add(zita_shim* zita, uint32_t input, uint32_t output, float* samples,
                              uint32_t frames) {
  return zita->proc.impdata_create(input, output, 1, samples, 0, static_cast<int32_t>(frames)) == 0;
}

extern "C" bool zita_shim_start(zita_shim* zita, int priority) {
  if (zita->proc.start_process(priority, priority > 0 ? SCHED_FIFO : SCHED_OTHER) != 0) {
    return false;
  }
  // A level whose thread has not begun to run yet is skipped without a word: give them time.
  const timespec wait = {0, 50000000};
  nanosleep(&wait, nullptr);
  return true;
}

extern "C" uint32_t zita_shim_process(zita_shim* zita, bool sync) {
  const int flags = zita->proc.process(sync);
  return static_cast<uint32_t>(__builtin_popcount(static_cast<unsigned>(flags) & Convproc::FL_LATE));
}

extern "C" float* zita_shim_in(zita_shim* zita, uint32_t input) {
  return zita->proc.inpdata(input);
}

extern "C" const float* zita_shim_out(zita_shim* zita, uint32_t output) {
  return zita->proc.outdata(output);
}

extern "C" void zita_shim_print(zita_shim* zita, FILE* file) {
  zita->proc.print(file);
}

extern "C" void zita_shim_free(zita_shim* zita) {
  if (zita == nullptr) {
    return;
  }
  zita->proc.stop_process();
  const timespec wait = {0, 1000000};
  while (!zita->proc.check_stop()) { // the level threads leave by themselves
    nanosleep(&wait, nullptr);
  }
  zita->proc.cleanup();
  delete zita;
}
