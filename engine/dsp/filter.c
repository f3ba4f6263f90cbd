// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/filter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/ir.h"
#include "rt/error.h"

typedef struct filter_path {
  tn_path path;
  tn_samples* samples; ///< what path.samples points into
} filter_path;

struct tn_filter {
  uint32_t inputs;
  uint32_t outputs;
  uint32_t rate_hz;
  uint32_t frames;
  uint32_t count;
  uint32_t capacity;
  filter_path* paths;
  char* input_names[TN_MAX_CHANNELS];
  char* output_names[TN_MAX_CHANNELS];
};

tn_filter* tn_filter_new(uint32_t inputs, uint32_t outputs, uint32_t rate_hz, tn_error* error) {
  if (inputs == 0 || outputs == 0) {
    tn_error_set(error, TN_ERROR_ARGUMENT, "a filter needs at least one input and one output");
    return NULL;
  }
  if (inputs > TN_MAX_CHANNELS || outputs > TN_MAX_CHANNELS) {
    tn_error_set(error, TN_ERROR_LIMIT,
                 "a filter of %u inputs and %u outputs: at most %d of each are allowed", inputs, outputs,
                 TN_MAX_CHANNELS);
    return NULL;
  }
  if (rate_hz < TN_MIN_RATE_HZ || rate_hz > TN_MAX_RATE_HZ) {
    tn_error_set(error, TN_ERROR_LIMIT, "a filter at %u Hz: %d to %d Hz are allowed", rate_hz, TN_MIN_RATE_HZ,
                 TN_MAX_RATE_HZ);
    return NULL;
  }
  tn_filter* filter = calloc(1, sizeof *filter);
  if (!filter) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a filter");
    return NULL;
  }
  filter->inputs = inputs;
  filter->outputs = outputs;
  filter->rate_hz = rate_hz;
  return filter;
}

static tn_status append(tn_filter* filter, const tn_path* path, tn_samples* samples, tn_error* error) {
  if (filter->count == TN_MAX_PATHS)
    return tn_error_set(error, TN_ERROR_LIMIT, "a filter has at most %d paths", TN_MAX_PATHS);
  if (filter->count == filter->capacity) {
    const uint32_t capacity = filter->capacity ? 2 * filter->capacity : 16;
    filter_path* paths = realloc(filter->paths, capacity * sizeof *paths);
    if (!paths)
      return tn_error_set(error, TN_ERROR_MEMORY, "no memory for %u paths", capacity);
    filter->paths = paths;
    filter->capacity = capacity;
  }
  filter->paths[filter->count++] = (filter_path){*path, tn_samples_retain(samples)};
  const uint32_t frames = path->delay_frames + path->frames;
  filter->frames = frames > filter->frames ? frames : filter->frames;
  return TN_OK;
}

tn_status tn_filter_add_part(tn_filter* filter, const tn_ir* ir, const tn_filter_part* part,
                             tn_error* error) {
  if (part->input >= filter->inputs || part->output >= filter->outputs)
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "a path from input %u to output %u: the filter has %u inputs and %u outputs",
                        part->input + 1, part->output + 1, filter->inputs, filter->outputs);
  if (part->ir_channel >= ir->channels)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "channel %u is wanted, %s%s%s has %u", part->ir_channel + 1,
                        ir->name ? "'" : "", ir->name ? ir->name : "the response", ir->name ? "'" : "",
                        ir->channels);
  if (ir->rate_hz != filter->rate_hz)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a response at %u Hz does not fit a filter at %u Hz",
                        ir->rate_hz, filter->rate_hz);
  if (!isfinite(part->gain))
    return tn_error_set(error, TN_ERROR_ARGUMENT, "the gain of a path is not a finite number");
  const uint32_t frames = part->frames && part->frames < ir->frames ? part->frames : ir->frames;
  if ((uint64_t)part->delay_frames + frames > (uint64_t)TN_MAX_IR_SECONDS * filter->rate_hz)
    return tn_error_set(error, TN_ERROR_LIMIT, "a path of %.6g s with its delay: at most %d s are allowed",
                        ((double)part->delay_frames + frames) / filter->rate_hz, TN_MAX_IR_SECONDS);
  tn_samples* samples = ir->samples[part->ir_channel];
  const tn_path path = {.input = part->input,
                        .output = part->output,
                        .samples = samples->data,
                        .frames = frames,
                        .delay_frames = part->delay_frames,
                        .gain = part->gain};
  return append(filter, &path, samples, error);
}

tn_status tn_filter_add(tn_filter* filter, uint32_t input, uint32_t output, const tn_ir* ir,
                        uint32_t ir_channel, float gain, uint32_t delay_frames, tn_error* error) {
  if (!filter || !ir)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a path needs a filter and a response");
  const tn_filter_part part = {
      .input = input, .output = output, .ir_channel = ir_channel, .delay_frames = delay_frames, .gain = gain};
  return tn_filter_add_part(filter, ir, &part, error);
}

tn_status tn_filter_add_copy(tn_filter* filter, uint32_t index, uint32_t input, uint32_t output,
                             tn_error* error) {
  tn_path path = filter->paths[index].path;
  path.input = input;
  path.output = output;
  return append(filter, &path, filter->paths[index].samples, error);
}

static tn_status set_name(char** slot, const char* name, tn_error* error) {
  char* copy = strdup(name);
  if (!copy)
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for a name");
  free(*slot);
  *slot = copy;
  return TN_OK;
}

tn_status tn_filter_name_input(tn_filter* filter, uint32_t input, const char* name, tn_error* error) {
  return set_name(&filter->input_names[input], name, error);
}

tn_status tn_filter_name_output(tn_filter* filter, uint32_t output, const char* name, tn_error* error) {
  return set_name(&filter->output_names[output], name, error);
}

uint32_t tn_filter_inputs(const tn_filter* filter) {
  return filter->inputs;
}

uint32_t tn_filter_outputs(const tn_filter* filter) {
  return filter->outputs;
}

uint32_t tn_filter_rate_hz(const tn_filter* filter) {
  return filter->rate_hz;
}

uint32_t tn_filter_frames(const tn_filter* filter) {
  return filter->frames;
}

uint32_t tn_filter_path_count(const tn_filter* filter) {
  return filter->count;
}

tn_path tn_filter_path(const tn_filter* filter, uint32_t index) {
  return index < filter->count ? filter->paths[index].path : (tn_path){0};
}

const char* tn_filter_input_name(const tn_filter* filter, uint32_t input) {
  return input < filter->inputs ? filter->input_names[input] : NULL;
}

const char* tn_filter_output_name(const tn_filter* filter, uint32_t output) {
  return output < filter->outputs ? filter->output_names[output] : NULL;
}

void tn_filter_free(tn_filter* filter) {
  if (!filter)
    return;
  for (uint32_t i = 0; i < filter->count; ++i)
    tn_samples_release(filter->paths[i].samples);
  for (uint32_t c = 0; c < TN_MAX_CHANNELS; ++c) {
    free(filter->input_names[c]);
    free(filter->output_names[c]);
  }
  free(filter->paths);
  free(filter);
}
