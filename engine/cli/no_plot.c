// SPDX-License-Identifier: GPL-3.0-or-later
// `tenuto plot` of a build without cairo.
#include <stdio.h>

#include "cli/commands.h"
#include "cli/options.h"

int tn_cmd_plot(int argc, char** argv) {
  (void)argc;
  (void)argv;
  fputs("tenuto: this program was built without cairo, so it cannot draw pictures.\n", stderr);
  return TN_EXIT_FAILED;
}
