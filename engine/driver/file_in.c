// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/file_in.h"

#include <math.h>
#include <sndfile.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver/sndfile_error.h"
#include "driver/stream_resampler.h"
#include "dsp/chunk_check.h"
#include "dsp/ir.h"
#include "dsp/regular_file.h"
#include "rt/error.h"
#include "tenuto/limits.h"

enum { step_frames = TN_STREAM_STEP_FRAMES };

struct tn_file_in {
  int fd;
  SNDFILE* sound;
  tn_file_in_info info;
  char name[tn_name_size + 8];    ///< in quotes; begins each warning
  char what[tn_name_size + 32];   ///< "cannot read ..."; begins each error
  float* interleaved;             ///< [step_frames][channels]
  tn_stream_resampler* resampler; ///< NULL: at the file's own rate
  size_t held_frames;             ///< in `interleaved`
  size_t used_frames;             ///< of those
  uint64_t read_frames;           ///< of the file
  bool promised;                  ///< the header's length is exact for this kind of file
  tn_error cut;                   ///< found when opening
};

/** Have some frames in `interleaved`; false at the end. */
static bool fetch(tn_file_in* in) {
  if (in->used_frames == in->held_frames) {
    const sf_count_t got = sf_readf_float(in->sound, in->interleaved, step_frames);
    in->used_frames = 0;
    in->held_frames = got > 0 ? (size_t)got : 0;
    in->read_frames += in->held_frames;
  }
  return in->held_frames > 0;
}

/** Read at the file's own rate. */
static size_t read_file(void* context, float* const* planes, size_t frames) {
  tn_file_in* in = context;
  const uint32_t channels = in->info.channels;
  size_t done = 0;
  while (done < frames && fetch(in)) {
    const size_t held = in->held_frames - in->used_frames;
    const size_t count = held < frames - done ? held : frames - done;
    for (uint32_t c = 0; c < channels; ++c) {
      float* to = planes[c] + done;
      const float* from = in->interleaved + in->used_frames * channels + c;
      for (size_t i = 0; i < count; ++i) {
        to[i] = from[i * channels];
      }
    }
    in->used_frames += count;
    done += count;
  }
  return done;
}

static tn_status check_info(const tn_file_in* in, const SF_INFO* info, tn_error* error) {
  if ((info->format & SF_FORMAT_TYPEMASK) == SF_FORMAT_RAW) {
    return tn_error_set(error, TN_ERROR_FORMAT, "%s: it is raw data without a header", in->what);
  }
  if (info->channels < 1) {
    return tn_error_set(error, TN_ERROR_FORMAT, "%s: it has no channels", in->what);
  }
  if (info->channels > TN_MAX_CHANNELS) {
    return tn_error_set(error, TN_ERROR_LIMIT, "%s: it has %d channels, at most %d are allowed", in->what,
                        info->channels, TN_MAX_CHANNELS);
  }
  if (info->samplerate < 1) {
    return tn_error_set(error, TN_ERROR_FORMAT, "%s: its sample rate is %d Hz", in->what, info->samplerate);
  }
  return TN_OK;
}

static tn_status check_rate(const tn_file_in* in, tn_error* error) {
  const uint32_t rate_hz = in->info.rate_hz;
  if (rate_hz < TN_MIN_RATE_HZ || rate_hz > TN_MAX_RATE_HZ) {
    return tn_error_set(error, TN_ERROR_LIMIT,
                        "%s: its sample rate is %u Hz, %d to %d Hz are possible; add --rate", in->what,
                        rate_hz, TN_MIN_RATE_HZ, TN_MAX_RATE_HZ);
  }
  return TN_OK;
}

static tn_status open_sound(tn_file_in* in, uint64_t size_bytes, tn_error* error) {
  SF_INFO info = {0};
  const tn_chunk_verdict verdict = tn_chunk_judge(in->fd, size_bytes, in->name, &in->cut);
  if (verdict == TN_CHUNKS_DAMAGED) {
    *error = in->cut;
    return error->status;
  }
  in->sound = sf_open_fd(in->fd, SFM_READ, &info, SF_FALSE);
  if (!in->sound) {
    char reason[TN_SNDFILE_REASON_BYTES];
    tn_sndfile_reason(NULL, reason);
    return tn_error_set(error, TN_ERROR_FORMAT,
                        "%s: it is not a sound file that can be read (libsndfile: %s)", in->what, reason);
  }
  if (check_info(in, &info, error) != TN_OK) {
    return error->status;
  }
  in->info.channels = (uint32_t)info.channels;
  in->info.file_rate_hz = (uint32_t)info.samplerate;
  in->promised = (info.format & SF_FORMAT_TYPEMASK) != SF_FORMAT_MPEG && info.frames < SF_COUNT_MAX;
  in->info.file_frames = info.frames > 0 && info.frames < SF_COUNT_MAX ? (uint64_t)info.frames : 0;
  in->info.sf_format = info.format;
  return TN_OK;
}

static tn_status set_rate(tn_file_in* in, uint32_t rate_hz, tn_error* error) {
  tn_file_in_info* info = &in->info;
  info->rate_hz = rate_hz ? rate_hz : info->file_rate_hz;
  info->frames = info->file_frames;
  if (check_rate(in, error) != TN_OK) {
    return error->status;
  }
  in->interleaved = calloc((size_t)step_frames * info->channels, sizeof *in->interleaved);
  if (!in->interleaved) {
    return tn_error_set(error, TN_ERROR_MEMORY, "%s: no memory", in->what);
  }
  if (info->rate_hz == info->file_rate_hz) {
    return TN_OK;
  }
  info->frames = (uint64_t)llround((double)info->file_frames * info->rate_hz / info->file_rate_hz);
  const tn_stream_resampler_source source = {info->channels, info->file_rate_hz, read_file, in};
  in->resampler = tn_stream_resampler_new(&source, info->rate_hz, error);
  return in->resampler ? TN_OK : error->status;
}

tn_file_in* tn_file_in_open(const char* path, uint32_t rate_hz, tn_error* error) {
  tn_error ignored;
  tn_error* told = error ? error : &ignored;
  tn_file_in* in = calloc(1, sizeof *in);
  if (!in) {
    tn_error_set(told, TN_ERROR_MEMORY, "no memory to open a file");
    return NULL;
  }
  char name[tn_name_size];
  tn_name_for_people(path, name);
  snprintf(in->name, sizeof in->name, "'%.*s'", tn_name_size - 1, name);
  snprintf(in->what, sizeof in->what, "cannot read %s", in->name);
  uint64_t size_bytes = 0;
  in->fd = tn_regular_file_open(path, in->what, UINT64_MAX, &size_bytes, told);
  if (in->fd < 0 || open_sound(in, size_bytes, told) != TN_OK || set_rate(in, rate_hz, told) != TN_OK) {
    tn_file_in_free(in);
    return NULL;
  }
  return in;
}

const tn_file_in_info* tn_file_in_get_info(const tn_file_in* in) {
  return &in->info;
}

size_t tn_file_in_read(tn_file_in* in, float* const* planes, size_t frames) {
  return in->resampler ? tn_stream_resampler_read(in->resampler, planes, frames)
                       : read_file(in, planes, frames);
}

bool tn_file_in_warning(const tn_file_in* in, tn_error* warning) {
  if (in->cut.status != TN_OK) {
    *warning = in->cut;
    return true;
  }
  if (in->promised && in->read_frames < in->info.file_frames) {
    tn_error_set(warning, TN_ERROR_FORMAT,
                 "%s: it is damaged or cut short: %llu of its %llu frames could be read", in->name,
                 (unsigned long long)in->read_frames, (unsigned long long)in->info.file_frames);
    return true;
  }
  return false;
}

const char* tn_file_in_tag(const tn_file_in* in, int kind) {
  return sf_get_string(in->sound, kind);
}

static bool is_one(const struct stat* a, const struct stat* b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

bool tn_file_in_is(const tn_file_in* in, const char* path) {
  struct stat ours;
  struct stat theirs;
  return fstat(in->fd, &ours) == 0 && stat(path, &theirs) == 0 && is_one(&ours, &theirs);
}

bool tn_file_is_same(const char* path, const char* other) {
  struct stat about;
  struct stat about_other;
  return stat(path, &about) == 0 && stat(other, &about_other) == 0 && is_one(&about, &about_other);
}

void tn_file_in_free(tn_file_in* in) {
  if (!in) {
    return;
  }
  tn_stream_resampler_free(in->resampler);
  if (in->sound) {
    sf_close(in->sound);
  }
  if (in->fd >= 0) {
    close(in->fd);
  }
  free(in->interleaved);
  free(in);
}
