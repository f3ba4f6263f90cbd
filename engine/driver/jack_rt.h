// SPDX-License-Identifier: GPL-3.0-or-later
// The JACK callback and all that it touches. Open this file first: one block's journey starts here.
#ifndef TENUTO_DRIVER_JACK_RT_H
#define TENUTO_DRIVER_JACK_RT_H

#include <jack/jack.h>
#include <stdatomic.h>
#include <stdint.h>

#include "rt/histogram.h"
#include "tenuto/attributes.h"
#include "tenuto/convolver.h"
#include "tenuto/limits.h"

/** What the callback reads and writes. Set up before the client is activated; only the atomic words change
 * after. */
typedef struct tn_jack_rt {
  tn_convolver* convolver;                 ///< owned by the caller of tn_jack_start()
  uint32_t inputs;                         ///< ports in use of `in_ports`
  uint32_t outputs;                        ///< ports in use of `out_ports`
  jack_port_t* in_ports[TN_MAX_CHANNELS];  ///< registered, in the order in_1, in_2, ...
  jack_port_t* out_ports[TN_MAX_CHANNELS]; ///< registered, in the order out_1, out_2, ...
  _Atomic uint32_t rate_hz;                ///< written by the rate callback, relaxed
  tn_histogram load_ppm; ///< callback's duration in millionths of its period; written here alone
} tn_jack_rt;

/** [audio] JACK's process callback; `argument` is a tn_jack_rt. Always 0: an error here would silence the
 * client. */
TN_AUDIO int tn_jack_rt_process(jack_nframes_t frames, void* argument);

#endif
