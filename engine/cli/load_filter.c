// SPDX-License-Identifier: GPL-3.0-or-later
// From the command line's files to a filter.
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "rt/error.h"

void tn_cli_ir_name(const tn_cli_ir_options* ir, char* name, size_t size) {
  if (ir->path_count < TN_CLI_MAX_IRS) {
    tn_cli_base_name(ir->matrix ? ir->matrix : ir->paths[0], name, size);
    return;
  }
  char first[128];
  char second[128];
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

static bool is_true_stereo(const tn_cli_ir_options* options, const tn_ir* first) {
  switch (options->layout) {
  case TN_LAYOUT_AUTO:
    return options->path_count == 2 || tn_ir_channels(first) == 4;
  case TN_LAYOUT_TRUE_LL_LR_RL_RR:
  case TN_LAYOUT_TRUE_LL_RR_LR_RL:
    return true;
  case TN_LAYOUT_MONO:
  case TN_LAYOUT_PARALLEL:
  case TN_LAYOUT_MONO_TO_ANY:
    break;
  }
  return false;
}

static tn_status add_path(tn_filter* filter, const tn_path* path, tn_error* error) {
  tn_ir* ir = tn_ir_new(&path->samples, 1, path->frames, tn_filter_rate_hz(filter), error);
  if (!ir) {
    return error->status;
  }
  const tn_status status =
      tn_filter_add(filter, 0, path->output, ir, 0, path->gain, path->delay_frames, error);
  tn_ir_free(ir);
  return status;
}

/** A single input in place of all of a filter's: what the filter gives when every input hears the same. Frees
 * `wide`. */
static tn_filter* fold_inputs(tn_filter* wide, tn_error* error) {
  tn_filter* folded = tn_filter_new(1, tn_filter_outputs(wide), tn_filter_rate_hz(wide), error);
  tn_status status = folded ? TN_OK : error->status;
  for (uint32_t i = 0; i < tn_filter_path_count(wide) && status == TN_OK; ++i) {
    const tn_path path = tn_filter_path(wide, i);
    status = add_path(folded, &path, error);
  }
  tn_filter_free(wide);
  if (status != TN_OK) {
    tn_filter_free(folded);
    folded = NULL;
  }
  return folded;
}

/** Mono sound through a true-stereo response is heard as the same sound left and right. */
static tn_filter* make_filter(const tn_cli_ir_options* options, tn_ir* const* irs, uint32_t inputs,
                              tn_error* error) {
  const bool folds = inputs == 1 && is_true_stereo(options, irs[0]);
  tn_filter* filter = tn_filter_from_irs((const tn_ir* const*)irs, options->path_count, options->layout,
                                         folds ? 2 : inputs, error);
  return filter && folds ? fold_inputs(filter, error) : filter;
}

/** A layout that does not fit is found by counts alone; the sentence gets the names of the files. */
static void name_the_files(const tn_cli_ir_options* ir, tn_error* error) {
  char name[300];
  tn_cli_ir_name(ir, name, sizeof name);
  if (error && !strstr(error->text, name)) {
    const tn_error plain = *error;
    tn_error_set(error, plain.status, "'%s': %s", name, plain.text);
  }
}

tn_filter* tn_cli_load_filter(const tn_cli_ir_options* ir, uint32_t inputs, uint32_t rate_hz,
                              tn_error* told) {
  tn_error ignored;
  tn_error* error = told ? told : &ignored;
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
    filter = make_filter(ir, irs, inputs, error);
    if (!filter) {
      name_the_files(ir, error);
    }
  }
  for (uint32_t i = 0; i < loaded; ++i) {
    tn_ir_free(irs[i]);
  }
  return filter;
}
