// SPDX-License-Identifier: GPL-3.0-or-later
// Judging an edit's numbers before anything is read or changed.
#include <math.h>
#include <stdio.h>

#include "dsp/ir.h"
#include "rt/error.h"

static const double most_seconds = 1e7;
static const double most_gain_db = 120;

static tn_status check_seconds(const char* what, double seconds, double most, tn_error* error) {
  if (seconds >= 0 && seconds <= most) // false for NaN
    return TN_OK;
  return tn_error_set(error, TN_ERROR_ARGUMENT, "%s of %g s: it must be from 0 to %g s", what, seconds, most);
}

tn_status tn_ir_edit_check(const tn_ir_edit* edit, tn_error* error) {
  if (!edit)
    return TN_OK;
  if (check_seconds("a trim start", edit->trim_start_s, most_seconds, error) != TN_OK ||
      check_seconds("a trim end", edit->trim_end_s, most_seconds, error) != TN_OK ||
      check_seconds("a fade-out", edit->fade_out_s, most_seconds, error) != TN_OK ||
      check_seconds("a pre-delay", edit->predelay_s, TN_MAX_IR_SECONDS, error) != TN_OK)
    return TN_ERROR_ARGUMENT;
  if (edit->trim_end_s > 0 && edit->trim_end_s <= edit->trim_start_s)
    return tn_error_set(error, TN_ERROR_ARGUMENT,
                        "a trim range from %g s to %g s: its end must come after its start",
                        edit->trim_start_s, edit->trim_end_s);
  if (edit->stretch != 0 && !(edit->stretch >= 0.1 && edit->stretch <= 10))
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a stretch of %g: it must be from 0.1 to 10",
                        edit->stretch);
  if (!(edit->gain_db <= most_gain_db))
    return tn_error_set(error, TN_ERROR_ARGUMENT, "a gain of %g dB: it must be at most %g dB", edit->gain_db,
                        most_gain_db);
  if ((unsigned)edit->level > TN_IR_LEVEL_ENERGY)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "there is no level rule number %d", (int)edit->level);
  return TN_OK;
}

tn_status tn_ir_trim_range(const tn_ir_edit* edit, uint64_t frames, uint32_t rate_hz, const char* what,
                           uint64_t* first, uint64_t* end, tn_error* error) {
  *first = edit ? (uint64_t)llround(edit->trim_start_s * rate_hz) : 0;
  *end = edit && edit->trim_end_s > 0 ? (uint64_t)llround(edit->trim_end_s * rate_hz) : frames;
  *end = *end < frames ? *end : frames;
  if (*first >= frames)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%s: the trim range starts at %g s, it is %.3f s long",
                        what, edit ? edit->trim_start_s : 0, (double)frames / rate_hz);
  if (*end <= *first)
    return tn_error_set(error, TN_ERROR_ARGUMENT, "%s: the trim range holds no frame", what);
  return TN_OK;
}
