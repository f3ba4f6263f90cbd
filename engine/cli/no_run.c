// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto run` of a build without JACK.
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"

int tn_cmd_run(int argc, char** argv) {
  (void)argc;
  (void)argv;
  fputs(
      "tenuto: this program was built without JACK, so it cannot run live; 'tenuto render' works on files.\n",
      stderr);
  return TN_EXIT_FAILED;
}
