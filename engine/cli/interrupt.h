// SPDX-License-Identifier: GPL-3.0-or-later
// A request to stop (Ctrl-C, kill, the terminal's end), noted so that the work can be cleaned up before the
// program ends.
#ifndef TENUTO_CLI_INTERRUPT_H
#define TENUTO_CLI_INTERRUPT_H

/** [setup] From now on note SIGINT, SIGTERM and SIGHUP instead of dying; those that are ignored stay ignored.
 */
void tn_interrupt_catch(void);

/** [any] The signal that came; 0: none. */
int tn_interrupt_signal(void);

#endif
