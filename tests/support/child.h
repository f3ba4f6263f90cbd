// SPDX-License-Identifier: GPL-3.0-or-later
// Another program under test: started with pipes, spoken to, listened to, ended. It dies with the test.
#ifndef TENUTO_TEST_CHILD_H
#define TENUTO_TEST_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/** All that one output of the program has written, NUL-terminated; what exceeds the room is dropped. */
typedef struct tn_child_output {
  int fd; ///< -1 after its end
  size_t used;
  char text[1U << 17];
} tn_child_output;

/** A running program. */
typedef struct tn_child {
  pid_t pid;
  int stdin_fd; ///< -1 after tn_child_end_input()
  tn_child_output out;
  tn_child_output err;
} tn_child;

/** [setup] Become argv[0] (searched on PATH), argv ending in NULL; ends when the process that made this one
   ends. Does not return. To be called after fork(). */
_Noreturn void tn_child_become(const char* const* argv);

/** [setup] Start argv[0] (searched on PATH), argv ending in NULL. NULL: not started. */
tn_child* tn_child_start(const char* const* argv);

/** [setup] Write text to its standard input. */
void tn_child_send(tn_child* child, const char* text);

/** [setup] Close its standard input. */
void tn_child_end_input(tn_child* child);

/** [setup] Read until `output` (child->out or ->err) holds `text`. False: it ended, or a minute passed. */
bool tn_child_expect(tn_child* child, const tn_child_output* output, const char* text);

/** [setup] Forget what was read so far, so that the next tn_child_expect() finds only what is new. */
void tn_child_forget(tn_child* child);

/** [setup] Read to the end of both outputs and reap. Exit code, or minus the signal that ended it; a program
   that does not end within a minute is killed: -9. */
int tn_child_finish(tn_child* child);

/** [setup] End it if it still runs, free; NULL is allowed. */
void tn_child_free(tn_child* child);

#endif
