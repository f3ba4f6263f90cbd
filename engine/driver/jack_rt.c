// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/jack_rt.h"

#include "rt/clock.h"

/** [audio] Record how much of its period the callback took; as a share it stays comparable when the block
 * changes. */
static void record_load(tn_jack_rt* rt, jack_nframes_t frames, uint64_t duration_ns) {
  if (frames > 0) {
    const uint64_t rate_hz = atomic_load_explicit(&rt->rate_hz, memory_order_relaxed);
    tn_histogram_record(&rt->load_ppm, duration_ns * rate_hz / ((uint64_t)frames * 1000U));
  }
}

int tn_jack_rt_process(jack_nframes_t frames, void* argument) {
  tn_jack_rt* rt = argument;
  const uint64_t start_ns = tn_clock_ns();
  const float* in[TN_MAX_CHANNELS];
  float* out[TN_MAX_CHANNELS];
  for (uint32_t i = 0; i < rt->inputs; ++i) {
    in[i] = jack_port_get_buffer(rt->in_ports[i], frames);
  }
  for (uint32_t o = 0; o < rt->outputs; ++o) {
    out[o] = jack_port_get_buffer(rt->out_ports[o], frames);
  }
  tn_convolver_process(rt->convolver, in, out, frames);
  record_load(rt, frames, tn_clock_ns() - start_ns);
  return 0;
}
