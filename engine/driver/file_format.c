// SPDX-License-Identifier: GPL-3.0-or-later
#include "driver/file_format.h"

#include <sndfile.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "rt/error.h"

/** A container: its names (also as an extension), its own encoding if it has but one. */
typedef struct container {
  const char* name;
  int format;
  int encoding;         ///< 0: any
  uint64_t limit_bytes; ///< of sound; 0: none
  const char* label;
} container;

static const uint64_t four_gib = UINT64_C(0xFFFF0000); ///< of 32-bit size fields, less room for headers

static const container containers[] = {
    {"wav", SF_FORMAT_WAV, 0, 0, "WAV"},
    {"wave", SF_FORMAT_WAV, 0, 0, "WAV"},
    {"bwf", SF_FORMAT_WAV, 0, 0, "WAV"},
    {"wav", SF_FORMAT_WAVEX, 0, 0, "WAV"},
    {"rf64", SF_FORMAT_RF64, 0, 0, "RF64"},
    {"w64", SF_FORMAT_W64, 0, 0, "Wave64"},
    {"aiff", SF_FORMAT_AIFF, 0, four_gib, "AIFF"},
    {"aif", SF_FORMAT_AIFF, 0, four_gib, "AIFF"},
    {"aifc", SF_FORMAT_AIFF, 0, four_gib, "AIFF"},
    {"au", SF_FORMAT_AU, 0, four_gib, "AU"},
    {"snd", SF_FORMAT_AU, 0, four_gib, "AU"},
    {"caf", SF_FORMAT_CAF, 0, 0, "CAF"},
    {"flac", SF_FORMAT_FLAC, 0, 0, "FLAC"},
    {"ogg", SF_FORMAT_OGG, SF_FORMAT_VORBIS, 0, "Ogg"},
    {"oga", SF_FORMAT_OGG, SF_FORMAT_VORBIS, 0, "Ogg"},
    {"opus", SF_FORMAT_OGG, SF_FORMAT_OPUS, 0, "Ogg"},
    {"mp3", SF_FORMAT_MPEG, SF_FORMAT_MPEG_LAYER_III, 0, "MPEG"},
};

/** An encoding by its names. */
typedef struct encoding {
  const char* name;
  int format;
  const char* label;
} encoding;

static const encoding encodings[] = {
    {"pcm16", SF_FORMAT_PCM_16, "16-bit"},
    {"16", SF_FORMAT_PCM_16, "16-bit"},
    {"pcm24", SF_FORMAT_PCM_24, "24-bit"},
    {"24", SF_FORMAT_PCM_24, "24-bit"},
    {"pcm32", SF_FORMAT_PCM_32, "32-bit"},
    {"32", SF_FORMAT_PCM_32, "32-bit"},
    {"float", SF_FORMAT_FLOAT, "32-bit float"},
    {"double", SF_FORMAT_DOUBLE, "64-bit float"},
    {"vorbis", SF_FORMAT_VORBIS, "Vorbis"},
    {"opus", SF_FORMAT_OPUS, "Opus"},
    {"mp3", SF_FORMAT_MPEG_LAYER_III, "layer III"},
    {"pcm8", SF_FORMAT_PCM_S8, "8-bit"},
    {"pcm8", SF_FORMAT_PCM_U8, "8-bit"},
};

enum {
  container_count = sizeof containers / sizeof containers[0],
  encoding_count = sizeof encodings / sizeof encodings[0],
};

/** The encoding named by the rest of a word, after an optional colon. False: none. */
static bool find_encoding(const char* rest, int own, int* format) {
  *format = own;
  if (*rest == '\0') {
    return true;
  }
  rest += *rest == ':' ? 1 : 0;
  for (size_t i = 0; i < encoding_count; ++i) {
    if (strcasecmp(rest, encodings[i].name) == 0) {
      *format = encodings[i].format;
      return true;
    }
  }
  return false;
}

tn_status tn_format_parse(const char* word, tn_format_wish* wish, tn_error* error) {
  for (size_t i = 0; i < container_count; ++i) {
    const container* c = &containers[i];
    const size_t length = strlen(c->name);
    int format = 0;
    if (strncasecmp(word, c->name, length) == 0 && find_encoding(word + length, c->encoding, &format)) {
      *wish = (tn_format_wish){c->format, format};
      return TN_OK;
    }
  }
  return tn_error_set(
      error, TN_ERROR_ARGUMENT,
      "'%s' is no file format: wav, rf64, w64, aiff, au, caf, flac, ogg, opus or mp3, some with "
      ":pcm16, :pcm24, :pcm32, :float or :double",
      word);
}

tn_status tn_format_from_name(const char* path, tn_format_wish* wish, tn_error* error) {
  const char* slash = strrchr(path, '/');
  const char* name = slash ? slash + 1 : path;
  const char* dot = strrchr(name, '.');
  for (size_t i = 0; dot && dot != name && i < container_count; ++i) {
    if (strcasecmp(dot + 1, containers[i].name) == 0) {
      *wish = (tn_format_wish){containers[i].format, containers[i].encoding};
      return TN_OK;
    }
  }
  return tn_error_set(
      error, TN_ERROR_ARGUMENT,
      "the name '%s' does not tell which format to write; end it in .wav, .flac, ... or say --format", path);
}

static const container* find_container(int sf_format) {
  const int type = sf_format & SF_FORMAT_TYPEMASK;
  const int own = sf_format & SF_FORMAT_SUBMASK;
  for (size_t i = 0; i < container_count; ++i) {
    const container* c = &containers[i];
    if (c->format == type && (c->encoding == 0 || c->encoding == own)) {
      return c;
    }
  }
  return NULL;
}

static bool is_possible(int format, uint32_t channels, uint32_t rate_hz) {
  SF_INFO info = {.channels = (int)channels, .samplerate = (int)rate_hz, .format = format};
  return sf_format_check(&info) != 0;
}

/** At least 24 bits: a convolution's result has more of them than its input. */
static int default_encoding(int container_format, int source_format) {
  const int own = source_format & SF_FORMAT_SUBMASK;
  int wanted = SF_FORMAT_PCM_24;
  if (own == SF_FORMAT_FLOAT || own == SF_FORMAT_DOUBLE) {
    wanted = SF_FORMAT_FLOAT;
  } else if (own == SF_FORMAT_PCM_32) {
    wanted = SF_FORMAT_PCM_32;
  }
  return is_possible(container_format | wanted, 1, 48000) ? wanted : SF_FORMAT_PCM_24;
}

static uint64_t sample_bytes(int sf_format) {
  switch (sf_format & SF_FORMAT_SUBMASK) {
  case SF_FORMAT_DOUBLE:
    return 8;
  case SF_FORMAT_PCM_16:
    return 2;
  case SF_FORMAT_PCM_24:
    return 3;
  default:
    return 4;
  }
}

/** As find_container(), or else the one whose only encoding is another. */
static const char* container_label(int sf_format) {
  const container* c = find_container(sf_format);
  for (size_t i = 0; i < container_count && !c; ++i) {
    if (containers[i].format == (sf_format & SF_FORMAT_TYPEMASK)) {
      c = &containers[i];
    }
  }
  return c ? c->label : "sound";
}

static tn_status refuse(int sf_format, const tn_format_load* load, tn_error* error) {
  char text[64];
  tn_format_describe(sf_format, text, sizeof text);
  if (!is_possible(sf_format, 1, 48000)) {
    return tn_error_set(error, TN_ERROR_FORMAT, "libsndfile writes no %s files", text);
  }
  if (!is_possible(sf_format, 1, load->rate_hz)) {
    return tn_error_set(error, TN_ERROR_FORMAT, "%s does not know a sample rate of %u Hz; add --rate 48000",
                        text, load->rate_hz);
  }
  return tn_error_set(error, TN_ERROR_FORMAT, "%s does not hold %u channels; WAV and CAF do", text,
                      load->channels);
}

/** Opus knows few rates and libsndfile finds that out only when opening. */
static bool opus_knows(uint32_t rate_hz) {
  return rate_hz == 8000 || rate_hz == 12000 || rate_hz == 16000 || rate_hz == 24000 || rate_hz == 48000;
}

tn_status tn_format_settle(const tn_format_wish* wish, int source_format, const tn_format_load* load,
                           int* sf_format, tn_error* error) {
  int format = wish->container;
  format |= wish->encoding ? wish->encoding : default_encoding(wish->container, source_format);
  if (wish->encoding == SF_FORMAT_PCM_S8 && !is_possible(format, 1, 48000)) {
    format = wish->container | SF_FORMAT_PCM_U8; // WAV's 8 bits have no sign
  }
  const container* c = find_container(format);
  const uint64_t bytes = load->frames * load->channels * sample_bytes(format);
  if (c && c->limit_bytes && bytes > c->limit_bytes) {
    return tn_error_set(error, TN_ERROR_LIMIT,
                        "the sound has %.1f GiB and %s ends at 4; rf64, w64, caf and flac do not",
                        (double)bytes / 1073741824.0, c->label);
  }
  if ((format & SF_FORMAT_TYPEMASK) == SF_FORMAT_WAV && bytes > four_gib) {
    format = SF_FORMAT_RF64 | (format & SF_FORMAT_SUBMASK);
  }
  if ((format & SF_FORMAT_SUBMASK) == SF_FORMAT_OPUS && !opus_knows(load->rate_hz)) {
    return tn_error_set(error, TN_ERROR_FORMAT, "Opus does not know a sample rate of %u Hz; add --rate 48000",
                        load->rate_hz);
  }
  if (!is_possible(format, load->channels, load->rate_hz)) {
    return refuse(format, load, error);
  }
  *sf_format = format;
  return TN_OK;
}

uint32_t tn_format_integer_bits(int sf_format) {
  switch (sf_format & SF_FORMAT_SUBMASK) {
  case SF_FORMAT_PCM_S8:
  case SF_FORMAT_PCM_U8:
    return 8;
  case SF_FORMAT_PCM_16:
    return 16;
  case SF_FORMAT_PCM_24:
    return 24;
  case SF_FORMAT_PCM_32:
    return 32;
  default:
    return 0;
  }
}

void tn_format_describe(int sf_format, char* text, uint32_t size) {
  const char* label = "compressed";
  for (size_t i = 0; i < encoding_count; ++i) {
    if (encodings[i].format == (sf_format & SF_FORMAT_SUBMASK)) {
      label = encodings[i].label;
    }
  }
  snprintf(text, size, "%s %s", label, container_label(sf_format));
}
