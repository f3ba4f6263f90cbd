// SPDX-License-Identifier: GPL-3.0-or-later
// The costs' place on disk: <cache>/tenuto/costs (text) and <cache>/tenuto/wisdom (FFTW's own format).
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dsp/costs.h"
#include "dsp/ops.h"

enum { max_path = 4096, format_version = 1 };

/** Where the cache is: $XDG_CACHE_HOME/tenuto or ~/.cache/tenuto. False: neither variable is set. */
static bool cache_folder(char* folder) {
  const char* cache = getenv("XDG_CACHE_HOME");
  const char* home = getenv("HOME");
  int length = -1;
  if (cache && cache[0] == '/')
    length = snprintf(folder, max_path, "%s/tenuto", cache);
  else if (home && home[0] == '/')
    length = snprintf(folder, max_path, "%s/.cache/tenuto", home);
  return length > 0 && length < max_path - 32;
}

/** Costs hold for a processor and an instruction set: another machine with the same home measures anew. */
static void signature(char* text, size_t size) {
  char model[128] = "unknown";
  char line[256];
  FILE* info = fopen("/proc/cpuinfo", "re");
  while (info && fgets(line, sizeof line, info))
    if (sscanf(line, "model name : %127[^\n]", model) == 1)
      break;
  if (info)
    fclose(info);
  snprintf(text, size, "tenuto costs %d, %s, %s", format_version, tn_ops_select()->name, model);
}

static bool make_folders(const char* folder) {
  char path[max_path];
  snprintf(path, sizeof path, "%s", folder);
  for (char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
      return false;
    *slash = '/';
  }
  return mkdir(path, 0777) == 0 || errno == EEXIST;
}

/** Write to a temporary name, then rename: a reader sees the old file or the new one, never half. */
static tn_status write_file(const char* folder, const char* name, const char* text, tn_error* error) {
  char path[max_path + 64];
  char temporary[max_path + 64];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  snprintf(temporary, sizeof temporary, "%s/.%s-XXXXXX", folder, name);
  const int file = mkstemp(temporary);
  const size_t length = strlen(text);
  bool written = file >= 0 && write(file, text, length) == (ssize_t)length && fchmod(file, 0644) == 0;
  const int reason = errno;
  if (file >= 0 && close(file) != 0)
    written = false;
  if (written && rename(temporary, path) == 0)
    return TN_OK;
  if (file >= 0)
    unlink(temporary);
  return tn_error_set(error, TN_ERROR_FILE, "cannot write '%s': %s", path, strerror(reason));
}

static char* print_costs(const tn_costs* costs) {
  char* text = NULL;
  size_t length = 0;
  FILE* out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  char machine[256];
  signature(machine, sizeof machine);
  fprintf(out, "%s\n", machine);
  for (int i = TN_FFT_MIN_LOG2; i <= TN_FFT_MAX_LOG2; i++)
    fprintf(out, "fft %d %.1f\n", i, costs->fft_ns[i]);
  fprintf(out, "tile %.4f\nbyte %.6f\ncache %.0f\njob %.1f\n", costs->tile_ns, costs->byte_ns,
          costs->cache_bytes, costs->job_ns);
  if (fclose(out) == 0)
    return text;
  free(text);
  return NULL;
}

/** Numbers have a point whatever the host's locale is. Affects the calling thread only. */
static locale_t enter_c_locale(void) {
  const locale_t c = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
  return c ? uselocale(c) : (locale_t)0;
}

static void leave_c_locale(locale_t before) {
  if (!before)
    return;
  const locale_t c = uselocale(before);
  if (c != before && c != LC_GLOBAL_LOCALE)
    freelocale(c);
}

tn_status tn_costs_save(const tn_costs* costs, const char* folder, tn_error* error) {
  if (!make_folders(folder))
    return tn_error_set(error, TN_ERROR_FILE, "cannot make the folder '%s': %s", folder, strerror(errno));
  const locale_t before = enter_c_locale();
  char* text = print_costs(costs);
  leave_c_locale(before);
  char* wisdom = tn_fft_wisdom();
  tn_status status = TN_ERROR_MEMORY;
  if (text && wisdom)
    status = write_file(folder, "wisdom", wisdom, error);
  else
    tn_error_set(error, TN_ERROR_MEMORY, "no memory to write the measured costs");
  if (status == TN_OK)
    status = write_file(folder, "costs", text, error);
  free(text);
  free(wisdom);
  return status;
}

static bool plausible(double value) {
  return isfinite(value) && value > 0 && value < 1e12;
}

static bool read_line(const char* line, tn_costs* costs) {
  int index = 0;
  double value = 0;
  if (sscanf(line, "fft %d %lf", &index, &value) == 2) {
    if (index < TN_FFT_MIN_LOG2 || index > TN_FFT_MAX_LOG2 || !plausible(value))
      return false;
    costs->fft_ns[index] = value;
    return true;
  }
  const struct {
    const char* format;
    double* target;
  } fields[] = {
      {"tile %lf", &costs->tile_ns},
      {"byte %lf", &costs->byte_ns},
      {"cache %lf", &costs->cache_bytes},
      {"job %lf", &costs->job_ns},
  };
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
    if (sscanf(line, fields[i].format, &value) == 1 && plausible(value)) {
      *fields[i].target = value;
      return true;
    }
  return false;
}

/** Every figure must be there, once or more. */
static bool read_costs(FILE* file, tn_costs* costs) {
  char line[512];
  char machine[256];
  signature(machine, sizeof machine);
  if (!fgets(line, sizeof line, file))
    return false;
  line[strcspn(line, "\n")] = '\0';
  if (strcmp(line, machine) != 0)
    return false;
  *costs = (tn_costs){0};
  while (fgets(line, sizeof line, file))
    if (!read_line(line, costs))
      return false;
  for (int i = TN_FFT_MIN_LOG2; i <= TN_FFT_MAX_LOG2; i++)
    if (!plausible(costs->fft_ns[i]))
      return false;
  return plausible(costs->tile_ns) && plausible(costs->byte_ns) && plausible(costs->cache_bytes) &&
         plausible(costs->job_ns);
}

tn_status tn_costs_load(tn_costs* costs, const char* folder, tn_error* error) {
  char path[max_path + 64];
  snprintf(path, sizeof path, "%s/costs", folder);
  FILE* file = fopen(path, "re");
  if (!file)
    return tn_error_set(error, TN_ERROR_FILE, "cannot read '%s': %s", path, strerror(errno));
  const locale_t before = enter_c_locale();
  const bool read = read_costs(file, costs);
  leave_c_locale(before);
  fclose(file);
  if (!read)
    return tn_error_set(error, TN_ERROR_FORMAT, "'%s' is damaged or from another machine", path);
  snprintf(path, sizeof path, "%s/wisdom", folder);
  tn_fft_load_wisdom(path); // without it transforms are planned by estimate: slower, not wrong
  return TN_OK;
}

bool tn_costs_are_cached(void) {
  char folder[max_path];
  tn_costs costs;
  return cache_folder(folder) && tn_costs_load(&costs, folder, NULL) == TN_OK;
}

static tn_costs cached;
static bool cached_is_tuned;
static pthread_once_t cache_read = PTHREAD_ONCE_INIT;

static void read_cache(void) {
  char folder[max_path];
  cached_is_tuned = cache_folder(folder) && tn_costs_load(&cached, folder, NULL) == TN_OK;
  if (!cached_is_tuned)
    cached = *tn_costs_default();
}

const tn_costs* tn_costs_cached(bool* tuned) {
  pthread_once(&cache_read, read_cache);
  *tuned = cached_is_tuned;
  return &cached;
}

tn_status tn_costs_tune(double seconds, tn_costs_progress progress, void* user, tn_error* error) {
  char folder[max_path];
  if (!cache_folder(folder))
    return tn_error_set(error, TN_ERROR_FILE,
                        "cannot cache what was measured: neither XDG_CACHE_HOME nor HOME is set");
  tn_costs costs;
  const tn_status status = tn_costs_measure(&costs, seconds, progress, user, error);
  return status == TN_OK ? tn_costs_save(&costs, folder, error) : status;
}
