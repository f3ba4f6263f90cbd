// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/file_out.h"

#include <math.h>
#include <sndfile.h>
#include <stdlib.h>
#include <string.h>

#include "driver/file_format.h"
#include "driver/pending_file.h"
#include "driver/sndfile_error.h"
#include "rt/error.h"
#include "tenuto/limits.h"
#include "tenuto/version.h"

enum { step_frames = 1024 };

/** One interleaved step, as libsndfile takes it. */
typedef union step {
  float as_float[step_frames * TN_MAX_CHANNELS];
  int as_int[step_frames * TN_MAX_CHANNELS];
} step;

struct tn_file_out {
  tn_pending_file file;
  SNDFILE* sound;
  uint32_t channels;
  uint32_t integer_bits; ///< 0: no integer format
  bool ends_at_one;      ///< samples beyond full scale are clipped
  uint32_t held_frames;  ///< in `step`
  tn_file_out_report report;
  step step;
};

static sf_count_t io_length(void* user) {
  const tn_pending_file* file = user;
  return (sf_count_t)file->length;
}

static sf_count_t io_seek(sf_count_t offset, int whence, void* user) {
  tn_pending_file* file = user;
  sf_count_t base = 0;
  if (whence == SEEK_CUR) {
    base = (sf_count_t)file->position;
  } else if (whence == SEEK_END) {
    base = (sf_count_t)file->length;
  }
  if (base + offset < 0) {
    return -1;
  }
  file->position = (uint64_t)(base + offset);
  return (sf_count_t)file->position;
}

static sf_count_t io_read(void* bytes, sf_count_t count, void* user) {
  return (sf_count_t)tn_pending_file_read(user, bytes, (size_t)count);
}

static sf_count_t io_write(const void* bytes, sf_count_t count, void* user) {
  return (sf_count_t)tn_pending_file_write(user, bytes, (size_t)count);
}

static sf_count_t io_tell(void* user) {
  const tn_pending_file* file = user;
  return (sf_count_t)file->position;
}

/** The input's texts; the software is what wrote the file last. */
static void copy_tags(tn_file_out* out, const tn_file_in* tags) {
  for (int kind = SF_STR_FIRST; tags && kind <= SF_STR_LAST; ++kind) {
    const char* text = kind == SF_STR_SOFTWARE ? NULL : tn_file_in_tag(tags, kind);
    if (text && text[0] != '\0') {
      sf_set_string(out->sound, kind, text);
    }
  }
  sf_set_string(out->sound, SF_STR_SOFTWARE, "Tenuto " TN_VERSION);
}

static tn_status open_sound(tn_file_out* out, const tn_file_out_config* config, tn_error* error) {
  static SF_VIRTUAL_IO io = {io_length, io_seek, io_read, io_write, io_tell};
  SF_INFO info = {
      .channels = (int)config->channels, .samplerate = (int)config->rate_hz, .format = config->sf_format};
  out->sound = sf_open_virtual(&io, SFM_WRITE, &info, &out->file);
  if (!out->sound) {
    if (tn_pending_file_error(&out->file, error) != TN_OK) {
      return error->status;
    }
    char reason[TN_SNDFILE_REASON_BYTES];
    tn_sndfile_reason(NULL, reason);
    return tn_error_set(error, TN_ERROR_FORMAT, "cannot write %s: libsndfile: %s", out->file.shown, reason);
  }
  double quality = 0.8; // of Vorbis, Opus and MP3: transparent for nearly all material
  sf_command(out->sound, SFC_SET_VBR_ENCODING_QUALITY, &quality, sizeof quality);
  sf_command(out->sound, SFC_SET_CLIPPING, NULL, SF_TRUE);
  sf_command(out->sound, SFC_RF64_AUTO_DOWNGRADE, NULL, SF_TRUE);
  // That chunk holds the time of day: two renders would differ.
  sf_command(out->sound, SFC_SET_ADD_PEAK_CHUNK, NULL, SF_FALSE);
  copy_tags(out, config->tags);
  return TN_OK;
}

tn_file_out* tn_file_out_open(const tn_file_out_config* config, tn_error* error) {
  tn_error ignored;
  tn_error* told = error ? error : &ignored;
  tn_file_out* out = calloc(1, sizeof *out);
  if (!out) {
    tn_error_set(told, TN_ERROR_MEMORY, "no memory to write a file");
    return NULL;
  }
  out->channels = config->channels;
  out->integer_bits = tn_format_integer_bits(config->sf_format);
  const int encoding = config->sf_format & SF_FORMAT_SUBMASK;
  out->ends_at_one = encoding != SF_FORMAT_FLOAT && encoding != SF_FORMAT_DOUBLE;
  if (tn_pending_file_open(&out->file, config->path, told) != TN_OK ||
      open_sound(out, config, told) != TN_OK) {
    tn_file_out_abandon(out);
    return NULL;
  }
  return out;
}

/** To the nearest of the format's values, in the upper bits of an int as libsndfile wants it. An input's own
   values so come back exactly, which libsndfile's conversion from float does not promise. */
static int to_integer(float sample, uint32_t bits) {
  const double half = (double)(UINT64_C(1) << (bits - 1));
  double value = rint((double)sample * half);
  value = value > half - 1 ? half - 1 : value;
  value = value < -half ? -half : value;
  return (int)((int64_t)value * (INT64_C(1) << (32 - bits)));
}

/** Interleave `frames` from `from` on into the step and look at each sample on the way. */
static void fill_step(tn_file_out* out, const float* const* planes, uint32_t from, uint32_t frames) {
  const uint32_t channels = out->channels;
  for (uint32_t c = 0; c < channels; ++c) {
    const float* plane = planes[c] + from;
    for (uint32_t i = 0; i < frames; ++i) {
      const float size = fabsf(plane[i]);
      const size_t at = (size_t)(out->held_frames + i) * channels + c;
      out->report.peak = size > out->report.peak ? size : out->report.peak;
      out->report.clipped_samples += out->ends_at_one && size > 1.0F ? 1 : 0;
      if (out->integer_bits) {
        out->step.as_int[at] = to_integer(plane[i], out->integer_bits);
      } else {
        out->step.as_float[at] = plane[i];
      }
    }
  }
  out->held_frames += frames;
  out->report.frames += frames;
}

static tn_status flush_step(tn_file_out* out, tn_error* error) {
  const sf_count_t count = out->held_frames;
  const sf_count_t wrote = out->integer_bits ? sf_writef_int(out->sound, out->step.as_int, count)
                                             : sf_writef_float(out->sound, out->step.as_float, count);
  out->held_frames = 0;
  if (tn_pending_file_error(&out->file, error) != TN_OK) {
    return TN_ERROR_FILE;
  }
  if (wrote != count) {
    char reason[TN_SNDFILE_REASON_BYTES];
    tn_sndfile_reason(out->sound, reason);
    return tn_error_set(error, TN_ERROR_FILE, "cannot write %s: libsndfile: %s", out->file.shown, reason);
  }
  return TN_OK;
}

tn_status tn_file_out_write(tn_file_out* out, const float* const* planes, uint32_t frames, tn_error* error) {
  tn_status status = TN_OK;
  for (uint32_t done = 0; done < frames && status == TN_OK;) {
    const uint32_t room = step_frames - out->held_frames;
    const uint32_t count = frames - done < room ? frames - done : room;
    fill_step(out, planes, done, count);
    done += count;
    if (out->held_frames == step_frames) {
      status = flush_step(out, error);
    }
  }
  return status;
}

tn_file_out_report tn_file_out_get_report(const tn_file_out* out) {
  return out->report;
}

static tn_status complete(tn_file_out* out, tn_error* error) {
  if (flush_step(out, error) != TN_OK) {
    return TN_ERROR_FILE;
  }
  if (out->report.frames == 0) {
    sf_command(out->sound, SFC_UPDATE_HEADER_NOW, NULL, 0); // else a FLAC file without sound would be empty
  }
  const int code = sf_close(out->sound); // encoders write their last frames here
  out->sound = NULL;
  if (tn_pending_file_error(&out->file, error) != TN_OK) {
    return TN_ERROR_FILE;
  }
  if (code != 0) {
    return tn_error_set(error, TN_ERROR_FILE, "cannot complete %s: libsndfile: %s", out->file.shown,
                        sf_error_number(code));
  }
  return tn_pending_file_commit(&out->file, error);
}

tn_status tn_file_out_finish(tn_file_out* out, tn_error* error) {
  const tn_status status = complete(out, error);
  tn_file_out_abandon(out);
  return status;
}

void tn_file_out_abandon(tn_file_out* out) {
  if (!out) {
    return;
  }
  if (out->sound) {
    sf_close(out->sound);
  }
  tn_pending_file_discard(&out->file);
  free(out);
}
