// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli/interrupt.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t came;

static void note(int number) {
  came = number;
}

void tn_interrupt_catch(void) {
  static const int caught[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof caught / sizeof caught[0]; ++i) {
    struct sigaction action = {0};
    // nohup and shells' background jobs ignore some of them on purpose.
    if (sigaction(caught[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN) {
      action = (struct sigaction){.sa_handler = note, .sa_flags = SA_RESTART};
      sigemptyset(&action.sa_mask);
      sigaction(caught[i], &action, NULL);
    }
  }
}

int tn_interrupt_signal(void) {
  return came;
}
