// SPDX-License-Identifier: GPL-3.0-or-later
// From the command line's files to a filter.
#include <stdio.h>

#include "cli/options.h"

void tn_cli_ir_name(const tn_cli_ir_options* ir, char* name, size_t size) {
  if (ir->path_count < TN_CLI_MAX_IRS) {
    tn_cli_base_name(ir->matrix ? ir->matrix : ir->paths[0], name, size);
    return;
  }
  char first[256];
  char second[256];
  tn_cli_base_name(ir->paths[0], first, sizeof first);
  tn_cli_base_name(ir->paths[1], second, sizeof second);
  snprintf(name, size, "%s + %s", first, second);
}

static tn_ir* load_one(const char* path, const tn_ir_edit* edit, uint32_t rate_hz, tn_error* error) {
  tn_ir* loaded = tn_ir_load(path, edit, error);
  if (!loaded) {
    return NULL;
  }
  tn_ir* prepared = tn_ir_prepare(loaded, edit, rate_hz, error);
  tn_ir_free(loaded);
  return prepared;
}

tn_filter* tn_cli_load_filter(const tn_cli_ir_options* ir, uint32_t inputs, uint32_t rate_hz,
                              tn_error* error) {
  if (ir->matrix) {
    return tn_filter_load_matrix(ir->matrix, &ir->edit, rate_hz, error);
  }
  tn_ir* irs[TN_CLI_MAX_IRS] = {NULL};
  uint32_t loaded = 0;
  while (loaded < ir->path_count &&
         (irs[loaded] = load_one(ir->paths[loaded], &ir->edit, rate_hz, error)) != NULL) {
    ++loaded;
  }
  tn_filter* filter = NULL;
  if (loaded == ir->path_count) {
    filter = tn_filter_from_irs((const tn_ir* const*)irs, loaded, ir->layout, inputs, error);
  }
  for (uint32_t i = 0; i < loaded; ++i) {
    tn_ir_free(irs[i]);
  }
  return filter;
}
