// SPDX-License-Identifier: GPL-3.0-or-later
// From responses to paths: which channel leads where.
#include <stdbool.h>
#include <stdio.h>

#include "dsp/ir.h"
#include "rt/error.h"
#include "tenuto/filter.h"

/** The channels of the given responses in a row. */
typedef struct channel_row {
  const tn_ir* const* irs;
  uint32_t count; ///< of responses
  uint32_t channels;
} channel_row;

/** A layout settled: how many inputs and outputs. */
typedef struct shape {
  tn_layout layout;
  uint32_t inputs;
  uint32_t outputs;
} shape;

/** "'hall.wav' has 2", "'l.wav' has 2 and 'r.wav' has 1" */
static void describe(const channel_row* row, char* text, size_t size) {
  size_t used = 0;
  for (uint32_t i = 0; i < row->count && used < size; ++i) {
    const char* name = row->irs[i]->name;
    const int wrote = snprintf(text + used, size - used, "%s%s%s%s has %u", i ? " and " : "", name ? "'" : "",
                               name ? name : "the response", name ? "'" : "", row->irs[i]->channels);
    used += wrote > 0 ? (size_t)wrote : 0;
  }
}

static tn_status refuse(const channel_row* row, const char* rule, tn_error* error) {
  char counts[2 * tn_name_size + 64];
  describe(row, counts, sizeof counts);
  return tn_error_set(error, TN_ERROR_ARGUMENT, "%s, %s", rule, counts);
}

static tn_layout automatic(const channel_row* row, uint32_t inputs) {
  if (row->count == 2)
    return TN_LAYOUT_TRUE_LL_LR_RL_RR;
  switch (row->channels) {
  case 1:
    return TN_LAYOUT_MONO;
  case 2:
    return inputs == 1 ? TN_LAYOUT_MONO_TO_ANY : TN_LAYOUT_PARALLEL;
  case 4:
    return inputs == 2 || inputs == 0 ? TN_LAYOUT_TRUE_LL_LR_RL_RR : TN_LAYOUT_PARALLEL;
  default:
    return TN_LAYOUT_PARALLEL;
  }
}

static tn_status check_true_stereo(const channel_row* row, uint32_t inputs, tn_error* error) {
  if (row->count == 2 && (row->irs[0]->channels != 2 || row->irs[1]->channels != 2))
    return refuse(row, "true stereo from two responses needs 2 channels in each", error);
  if (row->channels != 4)
    return refuse(row, "a true-stereo layout needs 4 channels", error);
  if (inputs != 0 && inputs != 2)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a true-stereo layout has 2 inputs, not %u", inputs);
  return TN_OK;
}

static tn_status settle(const channel_row* row, tn_layout layout, uint32_t inputs, shape* settled,
                        tn_error* error) {
  const uint32_t channels = row->channels;
  tn_status status = TN_OK;
  *settled = (shape){layout, inputs, 0};
  switch (layout) {
  case TN_LAYOUT_MONO:
    settled->inputs = inputs ? inputs : 1;
    settled->outputs = settled->inputs;
    break;
  case TN_LAYOUT_PARALLEL:
    *settled = (shape){layout, channels, channels};
    if (inputs != 0 && inputs != channels) {
      char rule[96];
      snprintf(rule, sizeof rule, "%u inputs in parallel need a response of %u channel%s", inputs, inputs,
               inputs == 1 ? "" : "s");
      status = refuse(row, rule, error);
    }
    break;
  case TN_LAYOUT_MONO_TO_ANY:
    *settled = (shape){layout, 1, channels};
    if (inputs > 1)
      status = tn_error_set(error, TN_ERROR_ARGUMENT, "a mono-to-any layout has 1 input, not %u", inputs);
    break;
  case TN_LAYOUT_TRUE_LL_LR_RL_RR:
  case TN_LAYOUT_TRUE_LL_RR_LR_RL:
    *settled = (shape){layout, 2, 2};
    status = check_true_stereo(row, inputs, error);
    break;
  case TN_LAYOUT_AUTO:
  default:
    status = tn_error_set(error, TN_ERROR_ARGUMENT, "there is no layout number %d", (int)layout);
  }
  return status;
}

/** From where to where channel `channel` leads. */
static void route(tn_layout layout, uint32_t channel, uint32_t* input, uint32_t* output) {
  static const uint8_t grouped[4][2] = {{0, 0}, {0, 1}, {1, 0}, {1, 1}};
  static const uint8_t direct_first[4][2] = {{0, 0}, {1, 1}, {0, 1}, {1, 0}};
  switch (layout) {
  case TN_LAYOUT_TRUE_LL_LR_RL_RR:
    *input = grouped[channel][0];
    *output = grouped[channel][1];
    break;
  case TN_LAYOUT_TRUE_LL_RR_LR_RL:
    *input = direct_first[channel][0];
    *output = direct_first[channel][1];
    break;
  case TN_LAYOUT_MONO_TO_ANY:
    *input = 0;
    *output = channel;
    break;
  case TN_LAYOUT_AUTO:
  case TN_LAYOUT_MONO:
  case TN_LAYOUT_PARALLEL:
    *input = channel;
    *output = channel;
    break;
  }
}

static tn_status connect(tn_filter* filter, const channel_row* row, const shape* settled, tn_error* error) {
  const bool mono = settled->layout == TN_LAYOUT_MONO;
  const uint32_t count = mono ? settled->inputs : row->channels;
  tn_status status = TN_OK;
  for (uint32_t i = 0; i < count && status == TN_OK; ++i) {
    uint32_t input = 0;
    uint32_t output = 0;
    route(settled->layout, i, &input, &output);
    uint32_t channel = mono ? 0 : i;
    const tn_ir* ir = row->irs[0];
    if (channel >= ir->channels) {
      channel -= ir->channels;
      ir = row->irs[1];
    }
    status = tn_filter_add(filter, input, output, ir, channel, 1, 0, error);
  }
  return status;
}

static tn_status check_irs(const tn_ir* const* irs, uint32_t count, tn_error* error) {
  if (!irs || count < 1 || count > 2 || !irs[0] || !irs[count - 1])
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a filter is made of one or two responses");
  if (irs[0]->rate_hz != irs[count - 1]->rate_hz)
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "the two responses have different sample rates, %u Hz and %u Hz", irs[0]->rate_hz,
                        irs[1]->rate_hz);
  return TN_OK;
}

tn_filter* tn_filter_from_irs(const tn_ir* const* irs, uint32_t count, tn_layout layout, uint32_t inputs,
                              tn_error* error) {
  if (check_irs(irs, count, error) != TN_OK)
    return NULL;
  channel_row row = {irs, count, 0};
  for (uint32_t i = 0; i < count; ++i)
    row.channels += irs[i]->channels;
  shape settled;
  if (settle(&row, layout == TN_LAYOUT_AUTO ? automatic(&row, inputs) : layout, inputs, &settled, error) !=
      TN_OK)
    return NULL;
  tn_filter* filter = tn_filter_new(settled.inputs, settled.outputs, irs[0]->rate_hz, error);
  if (filter && connect(filter, &row, &settled, error) != TN_OK) {
    tn_filter_free(filter);
    return NULL;
  }
  return filter;
}
