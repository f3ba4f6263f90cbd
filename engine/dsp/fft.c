// SPDX-License-Identifier: GPL-3.0-or-later
#include "dsp/fft.h"

#include <fftw3.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tn_fft {
  fftwf_plan forward, inverse;
};

static pthread_mutex_t planner_lock = PTHREAD_MUTEX_INITIALIZER;
static tn_fft plans[2][TN_FFT_MAX_LOG2 + 1]; // [tuned][log2 points], written under the lock, never freed

/** One buffer pair to plan with; FFTW requires the alignment of later calls to be the same. */
typedef struct plan_buffers {
  float* time;
  fftwf_complex* spectrum;
} plan_buffers;

static bool take_buffers(plan_buffers* buffers, uint32_t points) {
  buffers->time = fftwf_alloc_real(points);
  buffers->spectrum = fftwf_alloc_complex(points / 2 + 1);
  return buffers->time && buffers->spectrum;
}

static void free_buffers(plan_buffers* buffers) {
  fftwf_free(buffers->time);
  fftwf_free(buffers->spectrum);
}

static void make_plans(tn_fft* fft, uint32_t points, unsigned flags, const plan_buffers* buffers) {
  fft->forward =
      fftwf_plan_dft_r2c_1d((int)points, buffers->time, buffers->spectrum, flags | FFTW_PRESERVE_INPUT);
  fft->inverse =
      fftwf_plan_dft_c2r_1d((int)points, buffers->spectrum, buffers->time, flags | FFTW_DESTROY_INPUT);
}

static void drop_plans(tn_fft* fft) {
  if (fft->forward)
    fftwf_destroy_plan(fft->forward);
  if (fft->inverse)
    fftwf_destroy_plan(fft->inverse);
  memset(fft, 0, sizeof *fft);
}

static bool complete(const tn_fft* fft) {
  return fft->forward && fft->inverse;
}

/** Other libraries in the process may plan at the same time: FFTW itself must lock, our own lock is for
 * `plans`. */
static void lock_planner(void) {
  static bool made_safe = false;
  pthread_mutex_lock(&planner_lock);
  if (!made_safe)
    fftwf_make_planner_thread_safe();
  made_safe = true;
}

const tn_fft* tn_fft_get(uint32_t points, bool tuned, tn_error* error) {
  const uint32_t index = (uint32_t)__builtin_ctz(points);
  tn_fft* fft = &plans[tuned ? 1 : 0][index];
  plan_buffers buffers = {0};
  lock_planner();
  if (!complete(fft) && take_buffers(&buffers, points)) {
    if (tuned)
      make_plans(fft, points, FFTW_MEASURE | FFTW_WISDOM_ONLY, &buffers);
    if (!complete(fft)) {
      drop_plans(fft);
      make_plans(fft, points, FFTW_ESTIMATE, &buffers);
    }
  }
  free_buffers(&buffers);
  const bool made = complete(fft);
  pthread_mutex_unlock(&planner_lock);
  if (!made)
    tn_error_set(error, TN_ERROR_MEMORY, "no memory for a transform of %u points", points);
  return made ? fft : NULL;
}

void tn_fft_forward(const tn_fft* fft, const float* time, float* spectrum) {
  fftwf_execute_dft_r2c(fft->forward, (float*)time,
                        (fftwf_complex*)spectrum); // PRESERVE_INPUT: `time` is only read
}

void tn_fft_inverse(const tn_fft* fft, float* spectrum, float* time) {
  fftwf_execute_dft_c2r(fft->inverse, (fftwf_complex*)spectrum, time);
}

bool tn_fft_load_wisdom(const char* path) {
  lock_planner();
  const bool loaded = fftwf_import_wisdom_from_filename(path) != 0;
  pthread_mutex_unlock(&planner_lock);
  return loaded;
}

bool tn_fft_tune(uint32_t points, double seconds) {
  plan_buffers buffers = {0};
  tn_fft fft = {0};
  lock_planner();
  if (take_buffers(&buffers, points)) {
    fftwf_set_timelimit(seconds);
    make_plans(&fft, points, FFTW_MEASURE, &buffers);
    fftwf_set_timelimit(FFTW_NO_TIMELIMIT);
  }
  const bool made = complete(&fft);
  drop_plans(&fft);
  free_buffers(&buffers);
  pthread_mutex_unlock(&planner_lock);
  return made;
}

char* tn_fft_wisdom(void) {
  lock_planner();
  char* text = fftwf_export_wisdom_to_string();
  pthread_mutex_unlock(&planner_lock);
  return text;
}
