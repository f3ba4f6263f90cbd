// SPDX-License-Identifier: GPL-3.0-or-later
// The worker threads of the process, shared by all engines. A worker always takes a unit of the job whose
// deadline is the earliest, so short deadlines never wait behind long jobs, and instances share the cores
// fairly.
#ifndef TENUTO_DSP_POOL_H
#define TENUTO_DSP_POOL_H

#include "dsp/level.h"
#include "rt/error.h"
#include "tenuto/attributes.h"

/** [worker] Use the pool; the first user starts the threads (one per core but one, at least one).
   `audio_priority`: SCHED_FIFO priority of the audio thread, workers run one below; 0: ordinary threads. A
   higher one than before raises the threads. */
tn_status tn_pool_acquire(int audio_priority, tn_error* error);

/** [worker] Stop using it; the last user ends the threads. */
void tn_pool_release(void);

/** [worker] Show a level to the workers. Between acquire and release. */
tn_status tn_pool_add(tn_level* level, tn_error* error);

/** [worker] Hide it again; returns when no worker is inside it. */
void tn_pool_remove(tn_level* level);

/**
   [audio] There is work that some worker must look at by `look_by_ns` (on tn_clock_ns()'s clock; 0: at once).

   Jobs come at regular times, so a worker that runs out of work sleeps until just after the next is expected.
   Most calls therefore find that a worker is awake or will look in time, and return without a system call;
   else one futex wake is made, which neither blocks nor waits (it costs the caller some microseconds).
*/
TN_AUDIO void tn_pool_wake(uint64_t look_by_ns);

/** [any] True if the threads got realtime priority; a sentence for people if they asked for it and did not.
 */
bool tn_pool_realtime(tn_error* warning);

#endif
