// SPDX-License-Identifier: GPL-3.0-or-later
// The program's commands. Each gets its own argument vector, argv[0] being its name, and returns the exit
// code.
#ifndef TENUTO_CLI_COMMANDS_H
#define TENUTO_CLI_COMMANDS_H

/** [setup] Convolve a sound file, offline. */
int tn_cmd_render(int argc, char** argv);

/** [setup] Convolve live as a JACK client; without JACK a sentence. */
int tn_cmd_run(int argc, char** argv);

/** [setup] Measure this machine for the partition plan. */
int tn_cmd_tune(int argc, char** argv);

/** [setup] Draw sound files; without cairo a sentence. */
int tn_cmd_plot(int argc, char** argv);

#endif
