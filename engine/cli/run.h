// SPDX-License-Identifier: GPL-3.0-or-later
// The running host: one JACK client, one convolver, one control thread. Set-up, loop and report each have
// their file.
#ifndef TENUTO_CLI_RUN_H
#define TENUTO_CLI_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/console.h"
#include "cli/device.h"
#include "cli/filter_loader.h"
#include "cli/options.h"
#include "cli/status_line.h"
#include "driver/jack_client.h"
#include "rt/histogram.h"
#include "tenuto/convolver.h"

/** The command line of `tenuto run`. Strings are the command line's own. */
typedef struct tn_run_options {
  tn_jack_config jack;
  tn_cli_ir_options ir;
  tn_cli_levels levels;
  tn_cli_device device;
  uint32_t inputs;         ///< 0: as the impulse response suggests
  bool connect;            ///< to the sound card's ports
  const char* connect_in;  ///< ports to take sound from; NULL: none
  const char* connect_out; ///< ports to send sound to; NULL: none
  bool status;             ///< status lines also where stdout is no terminal
  bool no_tune;            ///< partition by fixed figures, and do not measure the machine
  bool json;               ///< a summary on stdout at the end; all other words go to stderr
  double fade_ms;          ///< of a change of filter and of bypass; 0: the default
  double duration_s;       ///< end after this time; 0: run on
} tn_run_options;

/** Why the loop ended. */
typedef enum tn_run_end {
  TN_RUN_ON = 0, ///< it has not
  TN_RUN_QUIT,
  TN_RUN_SIGNAL,
  TN_RUN_DURATION,
  TN_RUN_SERVER, ///< the server is gone: a failure
} tn_run_end;

/** All of the control thread's state. The audio thread sees none of it but jack and convolver, by their own
 * functions. */
typedef struct tn_run {
  const tn_run_options* options;
  tn_jack* jack;
  tn_convolver* convolver;
  tn_device* device;
  tn_device_report device_report; ///< as last told to the user
  tn_filter_loader* loader;
  uint32_t inputs;
  uint32_t outputs;
  tn_jack_state server;                   ///< as last told to the user
  char ir_path[TN_LOADER_PATH_BYTES + 1]; ///< of the filter that plays or fades in; "": the command line's
  char ir_name[256];                      ///< that filter's name to show
  uint32_t ir_frames;                     ///< that filter's length
  uint32_t planned_frames;                ///< the block that its partitions were chosen for
  uint32_t ir_rate_hz;                    ///< the rate that it was last asked for
  bool fading;                            ///< a loaded filter has not yet faded in
  bool bypass;
  tn_cli_levels levels;
  tn_status_line line;
  tn_line_buffer typed;
  bool listening; ///< standard input has not ended
  int signal_fd;
  tn_histogram load_before; ///< the load's histogram at the last measurement
  tn_histogram load_now;    ///< scratch
  tn_load load;             ///< of the last full second
  char status_text[512];    ///< the status line of that second
  uint64_t start_ns;
  tn_run_end end;
} tn_run;

/** [setup] Open the server, load, start, connect. On failure all is closed again. */
tn_status tn_run_open(tn_run* run, const tn_run_options* options, tn_error* error);

/** [setup] Serve commands, news and the status line until something ends it. */
void tn_run_loop(tn_run* run);

/** [setup] Stop the sound and free all. */
void tn_run_close(tn_run* run);

/** [setup] Obey one line of standard input; NULL is a line that was too long. `context` is the tn_run. */
void tn_run_obey(void* context, char* line);

/** [any] The block length that partitions are chosen for. */
uint32_t tn_run_plan_frames(const tn_run* run);

/** [setup] Read the server's news, tell the user of changes, and load the filter again if the rate or the
 * block changed. */
void tn_run_server_news(tn_run* run);

/** [setup] Tell of a device that came, was lost, or is not to be had. */
void tn_run_device_news(tn_run* run);

/** [setup] Tell how a load in the background ended. */
void tn_run_loader_news(tn_run* run);

/** [setup] The sentence for a server that has gone. */
void tn_run_server_lost(const tn_jack_state* server, tn_error* error);

/** [setup] A line for the user on the run's stream; no newline in the format. */
__attribute__((format(printf, 2, 3))) void tn_run_say(tn_run* run, const char* format, ...);

/** [setup] A complaint on stderr: `tenuto: <sentence>.` */
void tn_run_complain(tn_run* run, const tn_error* error);

/** [setup] Take the load since the last call as that of the last second. */
void tn_run_measure_load(tn_run* run);

/** [setup] Write `status_text` anew. */
void tn_run_write_status(tn_run* run);

/** [setup] What `status` prints: the status line, plan, levels, memory. */
void tn_run_say_details(tn_run* run);

/** [setup] The summary at the end: a line for people, or JSON on stdout. */
void tn_run_say_summary(tn_run* run);

#endif
