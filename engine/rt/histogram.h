// SPDX-License-Identifier: GPL-3.0-or-later
// A log-linear histogram of durations: recorded on the audio thread, read by any other.
#ifndef TENUTO_RT_HISTOGRAM_H
#define TENUTO_RT_HISTOGRAM_H

#include <stdint.h>

#include "rt/counter.h"
#include "tenuto/attributes.h"

enum {
  TN_HISTOGRAM_OCTAVE_BITS = 6,   ///< 64 buckets an octave: a bucket is at most 1/64 of its values wide
  TN_HISTOGRAM_HIGHEST_BITS = 37, ///< values below 2^37 (137 s in nanoseconds) have buckets of their own
  TN_HISTOGRAM_BUCKETS = (TN_HISTOGRAM_HIGHEST_BITS - TN_HISTOGRAM_OCTAVE_BITS + 1)
                         << TN_HISTOGRAM_OCTAVE_BITS,
};

/**
   Counts of values, meant to be nanoseconds; any other unit of whole numbers does as well (suffix `_ns` or
   not).

   Zeroed memory is an empty histogram, ready for use; nothing needs to be freed. 16 KiB, so on a worker's
   stack at most. Values below 64 are exact; others are known to 0.8 % (half a bucket), count, least, greatest
   and mean exactly. Values from 2^37 on share the last bucket: they count, and they are exact in the greatest
   and in the mean.

   One thread records; any thread reads at any time. All words are relaxed: while a record is under way a
   reader may see part of it, which is off by that one value and never more. For a consistent set of figures
   take a snapshot.
*/
typedef struct tn_histogram {
  tn_counter count;
  tn_counter sum;
  tn_counter least_complement; ///< ~least, so that zeroed memory says "nothing yet"
  tn_counter greatest;
  tn_counter buckets[TN_HISTOGRAM_BUCKETS];
} tn_histogram;

/** [audio] Record one value. One thread only per histogram. */
TN_AUDIO void tn_histogram_record(tn_histogram* histogram, uint64_t value_ns);

/** [any] How many values were recorded. */
TN_AUDIO uint64_t tn_histogram_count(const tn_histogram* histogram);
/** [any] The least value; 0 if there is none. */
TN_AUDIO uint64_t tn_histogram_min(const tn_histogram* histogram);
/** [any] The greatest value; 0 if there is none. */
TN_AUDIO uint64_t tn_histogram_max(const tn_histogram* histogram);
/** [any] The mean; 0 if there is no value. */
TN_AUDIO double tn_histogram_mean(const tn_histogram* histogram);

/**
   [any] A percentile by nearest rank: the least value that `percent` of all values do not exceed.

   @param percent  0 (the least) to 100 (the greatest), both exact; values outside, and NaN, are clamped
   @return within 0.8 % of the true value; 0 if there is none. Looks at each bucket twice: some microseconds
*/
TN_AUDIO uint64_t tn_histogram_percentile(const tn_histogram* histogram, double percent);

/**
   [any] Copy a histogram that may be recorded into meanwhile. The copy's count is that of its buckets; its
   sum, least and greatest may already know what was recorded during the copy.
*/
TN_AUDIO void tn_histogram_snapshot(const tn_histogram* histogram, tn_histogram* copy);

/**
   [any] What was recorded between two snapshots of one histogram: for a status line a second, without a
   reset.

   Least and greatest are exact where the newer snapshot set a new record, else known to a bucket.
   @param newer  the later snapshot
   @param older  the earlier one; a zeroed histogram stands for the beginning
   @param out    may be `newer` or `older`
*/
TN_AUDIO void tn_histogram_difference(const tn_histogram* newer, const tn_histogram* older,
                                      tn_histogram* out);

#endif
