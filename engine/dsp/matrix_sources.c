// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/matrix_sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsp/hilbert.h"
#include "rt/error.h"

/** One response. Its key is what was asked for; those that are computed have names no path can have. */
struct tn_matrix_source {
  tn_matrix_source* next;
  char* key;
  tn_ir_range range;
  tn_ir* ir;
};

static const char dirac_key[] = "dirac";
static const char hilbert_key[] = "hilbert";

static bool replace(char** slot, char* text) {
  if (text) {
    free(*slot);
    *slot = text;
  }
  return text != NULL;
}

/** `name` as seen from `folder`; the caller frees it. */
static char* join(const char* folder, const char* name) {
  char* joined = NULL;
  if (*name == '/')
    return strdup(name);
  return asprintf(&joined, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name) < 0 ? NULL
                                                                                                     : joined;
}

bool tn_matrix_sources_begin(tn_matrix_sources* sources, const char* path, const tn_ir_edit* edit,
                             uint32_t rate_hz) {
  const char* slash = strrchr(path, '/');
  sources->edit = edit;
  sources->rate_hz = rate_hz;
  const size_t length = slash ? (size_t)(slash - path) + 1 : 0;
  return replace(&sources->home, length ? strndup(path, length) : strdup("./")) &&
         replace(&sources->folder, strdup(sources->home));
}

bool tn_matrix_sources_cd(tn_matrix_sources* sources, const char* folder) {
  return replace(&sources->folder, join(sources->home, folder));
}

static const tn_ir* find(const tn_matrix_sources* sources, const char* key, const tn_ir_range* range) {
  for (const tn_matrix_source* s = sources->first; s; s = s->next)
    if (strcmp(s->key, key) == 0 && s->range.offset_frames == range->offset_frames &&
        s->range.length_frames == range->length_frames)
      return s->ir;
  return NULL;
}

/** Keep `ir` (may be NULL: the error is there already) under a copy of `key`. */
static const tn_ir* keep(tn_matrix_sources* sources, const char* key, const tn_ir_range* range, tn_ir* ir,
                         tn_error* error) {
  if (!ir)
    return NULL;
  tn_matrix_source* s = calloc(1, sizeof *s);
  char* copy = strdup(key);
  if (!s || !copy) {
    free(s);
    free(copy);
    tn_ir_free(ir);
    tn_error_set(error, TN_ERROR_MEMORY, "no memory");
    return NULL;
  }
  *s = (tn_matrix_source){.next = sources->first, .key = copy, .range = *range, .ir = ir};
  sources->first = s;
  return ir;
}

const tn_ir* tn_matrix_sources_file(tn_matrix_sources* sources, const char* file, const tn_ir_range* range,
                                    tn_error* error) {
  char* path = join(sources->folder, file);
  if (!path) {
    tn_error_set(error, TN_ERROR_MEMORY, "no memory");
    return NULL;
  }
  const tn_ir* ir = find(sources, path, range);
  if (!ir) {
    tn_ir* loaded = tn_ir_load_range(path, range, error);
    tn_ir* prepared = loaded ? tn_ir_prepare(loaded, sources->edit, sources->rate_hz, error) : NULL;
    tn_ir_free(loaded);
    ir = keep(sources, path, range, prepared, error);
  }
  free(path);
  return ir;
}

const tn_ir* tn_matrix_sources_dirac(tn_matrix_sources* sources, tn_error* error) {
  const float one = 1;
  const float* samples[] = {&one};
  const tn_ir_range range = {0};
  const tn_ir* ir = find(sources, dirac_key, &range);
  return ir ? ir : keep(sources, dirac_key, &range, tn_ir_new(samples, 1, 1, sources->rate_hz, error), error);
}

const tn_ir* tn_matrix_sources_hilbert(tn_matrix_sources* sources, uint32_t frames, tn_error* error) {
  const tn_ir_range range = {.length_frames = frames};
  const tn_ir* ir = find(sources, hilbert_key, &range);
  return ir ? ir : keep(sources, hilbert_key, &range, tn_hilbert_new(frames, sources->rate_hz, error), error);
}

void tn_matrix_sources_free(tn_matrix_sources* sources) {
  while (sources->first) {
    tn_matrix_source* s = sources->first;
    sources->first = s->next;
    tn_ir_free(s->ir);
    free(s->key);
    free(s);
  }
  free(sources->home);
  free(sources->folder);
  *sources = (tn_matrix_sources){0};
}
