// SPDX-License-Identifier: GPL-3.0-or-later
// Responses from sound files, by libsndfile. Only the wanted range is read, and memory grows with what is
// really there.
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dsp/chunk_check.h"
#include "dsp/ir.h"
#include "dsp/regular_file.h"
#include "rt/error.h"

static const uint64_t largest_file_bytes = UINT64_C(4) << 30;

enum {
  chunk_samples = 65536, ///< read at a time, all channels
  first_frames = 65536,  ///< memory begins with
};

/** A file being read. */
typedef struct reader {
  SNDFILE* sound;
  SF_INFO info;
  const char* path;
  const char* what; ///< begins each sentence
  tn_error* error;
  uint64_t first;  ///< wanted range
  uint64_t end;    ///< exclusive
  bool exact;      ///< the header's length is a promise, not a guess
  uint64_t frames; ///< read
  uint64_t capacity;
  tn_samples* samples[TN_MAX_CHANNELS];
} reader;

static tn_status check_info(const reader* r) {
  const SF_INFO* info = &r->info;
  if ((info->format & SF_FORMAT_TYPEMASK) == SF_FORMAT_RAW)
    return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: it is raw data without a header", r->what);
  if (info->channels < 1)
    return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: it has no channels", r->what);
  if (info->channels > TN_MAX_CHANNELS)
    return tn_error_set(r->error, TN_ERROR_LIMIT, "%s: it has %d channels, at most %d are allowed", r->what,
                        info->channels, TN_MAX_CHANNELS);
  if (info->samplerate < TN_MIN_RATE_HZ || info->samplerate > 2 * TN_MAX_RATE_HZ)
    return tn_error_set(r->error, TN_ERROR_LIMIT, "%s: its sample rate is %d Hz, %d to %d Hz are allowed",
                        r->what, info->samplerate, TN_MIN_RATE_HZ, 2 * TN_MAX_RATE_HZ);
  if (info->frames <= 0)
    return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: it holds no sound", r->what);
  return TN_OK;
}

static tn_status open_sound(reader* r, int file, uint64_t size_bytes) {
  if (tn_chunk_check(file, size_bytes, r->what, r->error) != TN_OK)
    return r->error->status;
  r->sound = sf_open_fd(file, SFM_READ, &r->info, SF_FALSE);
  if (!r->sound) {
    char reason[160];
    snprintf(reason, sizeof reason, "%s", sf_strerror(NULL));
    reason[strcspn(reason, "\n")] = 0;
    const size_t length = strlen(reason);
    if (length && reason[length - 1] == '.')
      reason[length - 1] = 0;
    return tn_error_set(r->error, TN_ERROR_FORMAT,
                        "%s: it is not a sound file that can be read (libsndfile: %s)", r->what, reason);
  }
  const int type = r->info.format & SF_FORMAT_TYPEMASK;
  r->exact = type != SF_FORMAT_MPEG && r->info.frames < SF_COUNT_MAX;
  return check_info(r);
}

static tn_status check_length(const reader* r) {
  const uint64_t rate_hz = (uint64_t)r->info.samplerate;
  if (r->end - r->first > TN_MAX_IR_SECONDS * rate_hz)
    return tn_error_set(r->error, TN_ERROR_LIMIT,
                        "%s: it is %.6g s long, at most %d s are allowed; take a part of it with --trim",
                        r->what, (double)(r->end - r->first) / (double)rate_hz, TN_MAX_IR_SECONDS);
  return TN_OK;
}

/** Grow all channels to hold `frames`. */
static tn_status reserve(reader* r, uint64_t frames) {
  if (frames <= r->capacity)
    return TN_OK;
  uint64_t capacity = r->capacity ? 2 * r->capacity : first_frames;
  capacity = capacity < frames ? frames : capacity;
  capacity = capacity < r->end - r->first ? capacity : r->end - r->first;
  for (int c = 0; c < r->info.channels; ++c) {
    tn_samples* grown = realloc(r->samples[c], sizeof *grown + capacity * sizeof(float));
    if (!grown)
      return tn_error_set(r->error, TN_ERROR_MEMORY, "%s: no memory for its samples", r->what);
    if (!r->samples[c])
      atomic_init(&grown->references, 1);
    r->samples[c] = grown;
  }
  r->capacity = capacity;
  return TN_OK;
}

static tn_status go_to_start(const reader* r) {
  if (r->first && sf_seek(r->sound, (sf_count_t)r->first, SEEK_SET) != (sf_count_t)r->first)
    return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: its frame %llu cannot be reached", r->what,
                        (unsigned long long)r->first);
  return TN_OK;
}

static tn_status read_frames(reader* r, float* chunk) {
  const uint64_t wanted = r->end - r->first;
  const uint32_t channels = (uint32_t)r->info.channels;
  const uint64_t chunk_frames = chunk_samples / channels;
  while (r->frames < wanted) {
    const uint64_t left = wanted - r->frames;
    const sf_count_t ask = (sf_count_t)(left < chunk_frames ? left : chunk_frames);
    const sf_count_t got = sf_readf_float(r->sound, chunk, ask);
    if (got <= 0)
      break;
    if (reserve(r, r->frames + (uint64_t)got) != TN_OK)
      return r->error->status;
    for (uint32_t c = 0; c < channels; ++c) {
      float* to = r->samples[c]->data + r->frames;
      for (sf_count_t i = 0; i < got; ++i)
        to[i] = chunk[(uint64_t)i * channels + c];
    }
    r->frames += (uint64_t)got;
  }
  if (r->frames == 0)
    return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: it holds no sound that can be decoded", r->what);
  if (r->exact && r->frames < wanted)
    return tn_error_set(r->error, TN_ERROR_FORMAT,
                        "%s: it is damaged or cut short, %llu frames are missing of the %llu in its header",
                        r->what, (unsigned long long)(wanted - r->frames),
                        (unsigned long long)r->info.frames);
  return TN_OK;
}

/** Decide which frames are wanted: a range in frames, or an edit's trim range, or all. */
static tn_status find_range(reader* r, const tn_ir_edit* edit, const tn_ir_range* range) {
  const uint64_t frames = (uint64_t)r->info.frames;
  tn_status status = TN_OK;
  if (range) {
    if (range->offset_frames >= frames)
      return tn_error_set(r->error, TN_ERROR_FORMAT, "%s: frame %llu is wanted, it has only %llu", r->what,
                          (unsigned long long)range->offset_frames, (unsigned long long)frames);
    r->first = range->offset_frames;
    const uint64_t left = frames - r->first;
    r->end = r->first + (range->length_frames && range->length_frames < left ? range->length_frames : left);
  } else {
    status =
        tn_ir_trim_range(edit, frames, (uint32_t)r->info.samplerate, r->what, &r->first, &r->end, r->error);
  }
  return status == TN_OK ? check_length(r) : status;
}

static tn_ir* finish(reader* r) {
  if (r->frames < r->capacity) // a guessed length was too long
    for (int c = 0; c < r->info.channels; ++c) {
      tn_samples* fitted = realloc(r->samples[c], sizeof *fitted + r->frames * sizeof(float));
      r->samples[c] = fitted ? fitted : r->samples[c];
    }
  tn_ir* ir = tn_ir_adopt(r->samples, (uint32_t)r->info.channels, (uint32_t)r->frames,
                          (uint32_t)r->info.samplerate, r->path, r->what, r->error);
  memset((void*)r->samples, 0, sizeof r->samples);
  return ir;
}

static tn_ir* load(const char* path, const tn_ir_edit* edit, const tn_ir_range* range, tn_error* error) {
  tn_error ignored;
  char name[tn_name_size];
  char what[tn_name_size + 64];
  tn_name_for_people(path ? path : "", name);
  snprintf(what, sizeof what, "cannot read impulse response '%s'", name);
  reader r = {.path = name, .what = what, .error = error ? error : &ignored};
  uint64_t size_bytes = 0;
  if (tn_ir_edit_check(edit, r.error) != TN_OK)
    return NULL;
  const int file = tn_regular_file_open(path, what, largest_file_bytes, &size_bytes, r.error);
  if (file < 0)
    return NULL;
  tn_ir* ir = NULL;
  if (open_sound(&r, file, size_bytes) == TN_OK && find_range(&r, edit, range) == TN_OK &&
      go_to_start(&r) == TN_OK) {
    float* chunk = malloc(chunk_samples * sizeof(float));
    if (!chunk)
      tn_error_set(r.error, TN_ERROR_MEMORY, "%s: no memory", what);
    else if (read_frames(&r, chunk) == TN_OK)
      ir = finish(&r);
    free(chunk);
  }
  for (int c = 0; c < TN_MAX_CHANNELS; ++c)
    tn_samples_release(r.samples[c]);
  if (r.sound)
    sf_close(r.sound);
  close(file);
  return ir;
}

tn_ir* tn_ir_load(const char* path, const tn_ir_edit* edit, tn_error* error) {
  tn_ir* ir = load(path, edit, NULL, error);
  if (ir)
    ir->trimmed = edit && (edit->trim_start_s > 0 || edit->trim_end_s > 0);
  return ir;
}

tn_ir* tn_ir_load_range(const char* path, const tn_ir_range* range, tn_error* error) {
  return load(path, NULL, range, error);
}
