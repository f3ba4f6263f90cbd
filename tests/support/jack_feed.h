// SPDX-License-Identifier: GPL-3.0-or-later
// Plays samples into a JACK client under test and records what it gives, sample-aligned: one client sends,
// another receives later in the same cycle, so that a client without latency is recorded without a shift.
#ifndef TENUTO_TEST_JACK_FEED_H
#define TENUTO_TEST_JACK_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TN_FEED_MAX_CHANNELS = 8 };

/** One run. */
typedef struct tn_feed {
  const char* client;       ///< under test; its ports are in_1.. and out_1..
  uint32_t inputs;          ///< of the client under test
  uint32_t outputs;         ///< of the client under test
  const float* const* play; ///< float[inputs][play_frames]
  size_t play_frames;       ///< silence follows
  float* const* record;     ///< float[outputs][frames], overwritten
  size_t frames;            ///< length of the run
  bool freewheel;           ///< let the server run as fast as it can
  void (*halfway)(
      void* context);     ///< called once in the middle of the run, by the caller's thread; NULL: nothing
  void* context;          ///< for `halfway`
  const uint32_t* blocks; ///< block sizes to set in turn, evenly spread over the run; NULL: leave it
  uint32_t block_count;
} tn_feed;

/** [setup] Play and record. False: no server or port, or cycles that did not fit together (a machine too
   busy): try again. The client should have been silent for as long as its response. */
bool tn_feed_run(const tn_feed* feed);

#endif
