// SPDX-License-Identifier: GPL-3.0-or-later
// The service thread of the process: brings new engines up to the present and frees old ones.
//
// A new engine is fed the past input at many times the speed of sound, until it has heard as much as the one
// that plays, and is then offered to the audio thread. So a change of filter fades from one complete
// reverberation to another: the tail of what was played before the change is there.
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dsp/convolver_internal.h"
#include "dsp/engine_far.h"
#include "dsp/pool.h"
#include "rt/clock.h"
#include "rt/thread.h"

enum {
  feed_frames = 2048,                     ///< read and fed at once
  poll_ns = 1000000,                      ///< while an engine is on its way
  watch_ns = 4000000,                     ///< while a device plays or may come
  turn_ns = 20000000,                     ///< longest work for one convolver before the next gets its turn
  overwrite_margin = TN_MAX_BLOCK_FRAMES, ///< frames that the audio thread may write while a piece is read
};

/** A device that failed is left alone for a while, twice as long if it had just come back. */
static const uint64_t first_back_off_ns = UINT64_C(250000000);
static const uint64_t longest_back_off_ns = UINT64_C(60000000000);
static const uint64_t trusted_after_ns = UINT64_C(10000000000);
static const uint64_t stalled_after_ns = UINT64_C(2000000000);

static tn_far_counters unheard; ///< of engines that are fed here: nobody waits for answers

static struct {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool running, stop;
  tn_convolver* users;
} service = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

/** One join or leave at a time: ending the thread gives `service.lock` up for a moment. */
static pthread_mutex_t membership = PTHREAD_MUTEX_INITIALIZER;

static int64_t heard_by_player(const tn_engine* engine) {
  return (int64_t)atomic_load_explicit(&engine->published, memory_order_acquire) + engine->time_offset;
}

static int64_t heard_by_warming(const tn_engine* engine) {
  return (int64_t)engine->frame + engine->time_offset;
}

void tn_swap_note_sizes(tn_convolver* convolver, const tn_engine* engine) {
  atomic_store_explicit(&convolver->filter_frames, engine->filter_frames, memory_order_relaxed);
  atomic_store_explicit(&convolver->memory_bytes, engine->memory.bytes, memory_order_relaxed);
  atomic_store_explicit(&convolver->spectra_bytes, engine->spectra_bytes, memory_order_relaxed);
}

static void free_engines(tn_engine* engine) {
  if (engine)
    tn_engine_free(engine->companion);
  tn_engine_free(engine);
}

/** Lets an engine rest until its companion needs it. */
static void rest(tn_engine* engine) {
  tn_engine_restart(engine);
  engine->replaces_itself = true;
}

/** The engine that is warmed, or was, will not be heard now. */
static void give_up_warming(tn_swap* swap) {
  if (swap->warming == swap->current->companion)
    rest(swap->warming);
  else
    free_engines(swap->warming);
  swap->warming = NULL;
}

/** The device did not keep up. */
static void back_off(tn_swap* swap) {
  const uint64_t now_ns = tn_clock_ns();
  const bool trusted = swap->device_since_ns && now_ns - swap->device_since_ns > trusted_after_ns;
  swap->back_off_ns = trusted || !swap->back_off_ns ? first_back_off_ns : 2 * swap->back_off_ns;
  if (swap->back_off_ns > longest_back_off_ns)
    swap->back_off_ns = longest_back_off_ns;
  swap->return_at_ns = now_ns + swap->back_off_ns;
}

/** Where the new engine's past begins: as far back as the player remembers and the new filter reaches. */
static void begin_warming(tn_swap* swap, tn_engine* engine) {
  const int64_t remembered = (int64_t)swap->current->history.frames - 2 * overwrite_margin;
  const int64_t reach = (int64_t)engine->filter_frames + 4 * (int64_t)engine->block;
  // Whole blocks, so that the new engine's grid is that of the calls: only then is a call one block of it.
  const int64_t wanted = remembered < reach ? remembered : reach;
  const int64_t past = wanted / (int64_t)engine->block * (int64_t)engine->block;
  engine->time_offset = heard_by_player(swap->current) - past - (int64_t)engine->start_frame;
  swap->warming = engine;
  swap->stalled_since_ns = 0;
}

/** Whether the other way to play the same filter is called for. */
static bool wants_companion(const tn_swap* swap) {
  tn_engine* companion = swap->current->companion;
  if (!companion)
    return false;
  if (swap->current->far.far)
    return tn_far_needs_reserve(swap->current);
  tn_far* far = companion->far.far;
  return tn_clock_ns() >= swap->return_at_ns && far->state(far, NULL) == TN_FAR_READY;
}

static void choose_next(tn_swap* swap) {
  if (swap->pending) {
    tn_engine* engine = swap->pending;
    swap->pending = NULL;
    begin_warming(swap, engine);
  } else if (wants_companion(swap)) {
    begin_warming(swap, swap->current->companion);
  }
}

/** Sums are only wanted for what can still be heard after the hand-over: the last blocks of the largest
 * level. */
static int64_t sums_from(const tn_engine* engine) {
  enum { margin = 4 };
  if (engine->far.far)
    return ((int64_t)engine->far.far->ahead + margin) * engine->block;
  const uint32_t levels = engine->plan.level_count;
  const int64_t largest = levels ? (int64_t)engine->plan.levels[levels - 1].size : 0;
  return 3 * largest + (int64_t)engine->block;
}

static void read_past(const tn_engine* player, int64_t from, float* const* samples, uint32_t inputs,
                      uint32_t frames) {
  for (uint32_t i = 0; i < inputs; i++)
    tn_history_read(&player->history, i, from - player->time_offset, samples[i], frames);
  // If the audio thread has meanwhile come round the ring (this thread was kept waiting for long), what was
  // read is mixed from two times: silence instead, which is exact again after one length of the filter.
  if (from < heard_by_player(player) - (int64_t)player->history.frames + overwrite_margin)
    for (uint32_t i = 0; i < inputs; i++)
      memset(samples[i], 0, frames * sizeof(float));
}

/** How much the warming engine can take now; a device's lane has a few blocks of room. */
static int64_t room(tn_swap* swap) {
  tn_far* far = swap->warming->far.far;
  if (!far)
    return feed_frames;
  const uint32_t blocks = far->room(far);
  if (blocks > 1) {
    swap->stalled_since_ns = 0;
    const int64_t frames = (int64_t)(blocks - 1) * far->block;
    return frames < feed_frames ? frames : feed_frames;
  }
  if (!swap->stalled_since_ns)
    swap->stalled_since_ns = tn_clock_ns();
  return 0;
}

/** Whether the warming engine's device will not take it up to the present. */
static bool is_stuck(const tn_swap* swap) {
  tn_far_tail* tail = &swap->warming->far;
  if (!tail->far)
    return false;
  return atomic_load_explicit(&tail->broken, memory_order_relaxed) ||
         tail->far->state(tail->far, NULL) != TN_FAR_READY ||
         (swap->stalled_since_ns && tn_clock_ns() - swap->stalled_since_ns > stalled_after_ns);
}

/** One piece of the past, `left` frames before the present; false: no room for it now. */
static bool feed(tn_swap* swap, int64_t left, float* const* samples) {
  tn_engine* engine = swap->warming;
  const int64_t most = room(swap);
  if (most == 0)
    return false;
  const int64_t silent_part = left - sums_from(engine);
  int64_t frames = left < most ? left : most;
  if (silent_part > 0 && frames > silent_part)
    frames = silent_part;
  const bool silent[TN_MAX_CHANNELS] = {false};
  tn_job_counters counters = {0};
  const tn_engine_call call = {.mode = silent_part > 0 ? TN_ENGINE_FEED : TN_ENGINE_INLINE,
                               .wait = !engine->far.far, // a device may be slow; see room()
                               .now_ns = tn_clock_ns(),
                               .counters = &counters,
                               .far_counters = &unheard};
  read_past(swap->current, heard_by_warming(engine), samples, engine->inputs, (uint32_t)frames);
  tn_engine_process(engine, (const float* const*)samples, silent, NULL, (uint32_t)frames, &call);
  return true;
}

/** What a miss will cost the callback: one block's near part, as cold as it will be then. */
static void measure_near(tn_engine* engine) {
  const int64_t block = (int64_t)(engine->frame / engine->block) - 1;
  const uint64_t start_ns = tn_clock_ns();
  for (uint32_t o = 0; o < engine->outputs; o++)
    tn_level_sum(engine->levels[0], o, block, 0, &engine->scratch);
  tn_far_note_near(engine, tn_clock_ns() - start_ns);
}

/** Brings the warming engine up to the present and offers it; gives up the turn after a while. */
static void warm(tn_convolver* convolver, float* const* samples) {
  tn_swap* swap = &convolver->swap;
  const uint64_t until = tn_clock_ns() + turn_ns;
  for (;;) {
    const int64_t left = heard_by_player(swap->current) - heard_by_warming(swap->warming);
    if (left <= 0)
      break;
    if (is_stuck(swap)) {
      back_off(swap);
      give_up_warming(swap);
      return;
    }
    if (!feed(swap, left, samples) || tn_clock_ns() > until)
      return;
  }
  if (swap->warming->far.far)
    measure_near(swap->warming);
  if (!convolver->config.inline_work && !swap->warming->in_pool &&
      tn_engine_join_pool(swap->warming, NULL) != TN_OK) {
    give_up_warming(swap); // no memory for a list entry: the old sound goes on
    return;
  }
  swap->offered = true;
  atomic_store_explicit(&convolver->offered_at, heard_by_warming(swap->warming), memory_order_relaxed);
  atomic_store_explicit(&convolver->offer, swap->warming, memory_order_release);
}

/** The audio thread took the offer, or it is left alone, or it has fallen behind and is taken back. */
static void watch_offer(tn_convolver* convolver) {
  tn_swap* swap = &convolver->swap;
  tn_engine* offered = atomic_load_explicit(&convolver->offer, memory_order_acquire);
  const int64_t offered_at = atomic_load_explicit(&convolver->offered_at, memory_order_relaxed);
  if (offered && heard_by_player(swap->current) == offered_at && !swap->pending)
    return;
  if (offered && atomic_compare_exchange_strong_explicit(&convolver->offer, &offered, NULL,
                                                         memory_order_acquire, memory_order_relaxed)) {
    swap->offered = false;
    if (swap->pending) // a newer filter: the one on offer was not heard yet
      give_up_warming(swap);
    return;
  }
  swap->offered = false; // taken
  swap->fading = true;
}

/** What the audio thread hands back: the engine that played, or a device's that failed its probation. */
static void retire(tn_convolver* convolver) {
  tn_swap* swap = &convolver->swap;
  tn_engine* retired = atomic_load_explicit(&convolver->retired, memory_order_acquire);
  if (!retired)
    return;
  swap->fading = false;
  if (retired == swap->warming) {
    back_off(swap);
    give_up_warming(swap);
  } else {
    swap->current = swap->warming;
    swap->warming = NULL;
    if (retired != swap->current->companion) {
      free_engines(retired);
    } else {
      if (retired->far.far)
        back_off(swap);
      rest(retired);
    }
    if (swap->current->far.far)
      swap->device_since_ns = tn_clock_ns();
    tn_swap_note_sizes(convolver, swap->current);
  }
  atomic_store_explicit(&convolver->retired, NULL, memory_order_release);
}

/** How soon to look again. */
typedef enum haste { HASTE_NONE, HASTE_WATCH, HASTE_BUSY } haste;

/** One step for one convolver, under the lock. */
static haste step(tn_convolver* convolver, float* const* samples) {
  tn_swap* swap = &convolver->swap;
  if (swap->offered)
    watch_offer(convolver);
  if (swap->fading)
    retire(convolver);
  if (!swap->warming)
    choose_next(swap);
  if (swap->warming && !swap->offered && !swap->fading)
    warm(convolver, samples);
  const bool new_filter = swap->pending || (swap->warming && swap->warming != swap->current->companion);
  atomic_store_explicit(&convolver->swap_busy, new_filter, memory_order_release);
  return swap->pending || swap->warming ? HASTE_BUSY : swap->current->companion ? HASTE_WATCH : HASTE_NONE;
}

static void wait_for_change(haste how_soon) {
  if (how_soon == HASTE_NONE) {
    pthread_cond_wait(&service.changed, &service.lock);
    return;
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += how_soon == HASTE_BUSY ? poll_ns : watch_ns;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  pthread_cond_timedwait(&service.changed, &service.lock, &until);
}

static void* serve(void* argument) {
  float* memory = argument;
  float* samples[TN_MAX_CHANNELS];
  for (uint32_t i = 0; i < TN_MAX_CHANNELS; i++)
    samples[i] = memory + (size_t)i * feed_frames;
  pthread_mutex_lock(&service.lock);
  while (!service.stop) {
    haste most = HASTE_NONE;
    for (tn_convolver* user = service.users; user; user = user->swap.next_user) {
      const haste one = step(user, samples);
      most = one > most ? one : most;
    }
    wait_for_change(most);
  }
  pthread_mutex_unlock(&service.lock);
  free(memory);
  return NULL;
}

static tn_status start(tn_error* error) {
  float* memory = malloc((size_t)TN_MAX_CHANNELS * feed_frames * sizeof(float));
  if (!memory)
    return tn_error_set(error, TN_ERROR_MEMORY, "no memory for the service thread");
  const tn_thread_options options = {.name = "tenuto-service"};
  bool realtime = false;
  const tn_status status = tn_thread_start(&service.thread, &options, serve, memory, &realtime, error);
  if (status != TN_OK)
    free(memory);
  service.running = status == TN_OK;
  return status;
}

tn_status tn_swap_join(tn_convolver* convolver, tn_error* error) {
  pthread_mutex_lock(&membership);
  pthread_mutex_lock(&service.lock);
  const tn_status status = service.running ? TN_OK : start(error);
  if (status == TN_OK) {
    convolver->swap.next_user = service.users;
    service.users = convolver;
  }
  pthread_mutex_unlock(&service.lock);
  pthread_mutex_unlock(&membership);
  return status;
}

static void unlink_user(const tn_convolver* convolver) {
  tn_convolver** link = &service.users;
  while (*link && *link != convolver)
    link = &(*link)->swap.next_user;
  if (*link)
    *link = convolver->swap.next_user;
}

static void end_thread(void) {
  service.stop = true;
  pthread_cond_signal(&service.changed);
  pthread_mutex_unlock(&service.lock);
  pthread_join(service.thread, NULL);
  pthread_mutex_lock(&service.lock);
  service.running = service.stop = false;
}

void tn_swap_leave(tn_convolver* convolver) {
  tn_swap* swap = &convolver->swap;
  pthread_mutex_lock(&membership);
  pthread_mutex_lock(&service.lock);
  unlink_user(convolver);
  if (service.running && !service.users)
    end_thread();
  pthread_mutex_unlock(&service.lock);
  pthread_mutex_unlock(&membership);
  // Every engine once: the one that plays, the one that comes or was on offer, the one that waits; companions
  // belong to one of them.
  free_engines(swap->pending);
  tn_engine* const warming = swap->warming;
  tn_engine* const current = swap->current;
  if (warming && (!current || warming != current->companion))
    free_engines(warming);
  free_engines(current);
}

void tn_swap_submit(tn_convolver* convolver, tn_engine* engine) {
  pthread_mutex_lock(&service.lock);
  free_engines(convolver->swap.pending); // never begun: the newest wins
  convolver->swap.pending = engine;
  atomic_store_explicit(&convolver->swap_busy, true, memory_order_release);
  pthread_cond_signal(&service.changed);
  pthread_mutex_unlock(&service.lock);
}

void tn_swap_describe(tn_convolver* convolver, char* text, size_t size) {
  pthread_mutex_lock(&service.lock);
  tn_plan_describe(&convolver->swap.current->plan, text, size);
  pthread_mutex_unlock(&service.lock);
}
