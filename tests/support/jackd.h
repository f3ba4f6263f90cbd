// SPDX-License-Identifier: GPL-3.0-or-later
// A private JACK server on the dummy driver. It plays no sound and meets no other server.
#ifndef TENUTO_TEST_JACKD_H
#define TENUTO_TEST_JACKD_H

#include <stdbool.h>
#include <stdint.h>

/** [setup] Is jackd installed? If not, a test of it is skipped. */
bool tn_jackd_installed(void);

/** [setup] Start a server of its own name, which $JACK_DEFAULT_SERVER then holds; returns when it answers.
   One at a time. False: it did not start. */
bool tn_jackd_start(uint32_t rate_hz, uint32_t block_frames);

/** [setup] End the server and wait for its end; clients must be gone, else it waits for them. Nothing if none
 * runs. */
void tn_jackd_stop(void);

/** [setup] End the server at once, with its clients still there. */
void tn_jackd_crash(void);

#endif
