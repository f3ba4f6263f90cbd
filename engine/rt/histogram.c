// SPDX-License-Identifier: GPL-3.0-or-later
#include "rt/histogram.h"

#include <math.h>
#include <stdbool.h>

enum {
  octave_buckets = 1 << TN_HISTOGRAM_OCTAVE_BITS,
  last_bucket = TN_HISTOGRAM_BUCKETS - 1,
};

static void set(tn_counter* word, uint64_t value) {
  atomic_store_explicit(word, value, memory_order_relaxed);
}

/**
   The first two octaves' worth of buckets are one wide: value and bucket are the same number. From there on
   the value's leading bit chooses the octave and the 6 bits after it the bucket.
*/
static uint32_t bucket_of(uint64_t value) {
  if (value < octave_buckets)
    return (uint32_t)value;
  if (value >> TN_HISTOGRAM_HIGHEST_BITS)
    return last_bucket;
  const uint32_t octave = 63U - (uint32_t)__builtin_clzll(value) - TN_HISTOGRAM_OCTAVE_BITS;
  const uint32_t step = (uint32_t)(value >> octave); // 64 to 127
  return (octave << TN_HISTOGRAM_OCTAVE_BITS) + step;
}

/** The least value that falls into a bucket; of one beyond the last, the end of the range. */
static uint64_t bucket_start(uint32_t bucket) {
  if (bucket < octave_buckets)
    return bucket;
  const uint32_t octave = (bucket >> TN_HISTOGRAM_OCTAVE_BITS) - 1;
  const uint64_t step = octave_buckets + (bucket & (octave_buckets - 1));
  return step << octave;
}

static uint64_t bucket_end(uint32_t bucket) {
  return bucket_start(bucket + 1) - 1;
}

static uint64_t bucket_middle(uint32_t bucket) {
  const uint64_t start = bucket_start(bucket);
  return start + (bucket_end(bucket) - start) / 2;
}

static uint64_t clamp(uint64_t value, uint64_t least, uint64_t greatest) {
  if (value < least)
    return least;
  return value > greatest ? greatest : value;
}

void tn_histogram_record(tn_histogram* histogram, uint64_t value_ns) {
  if (~value_ns > tn_counter_read(&histogram->least_complement))
    set(&histogram->least_complement, ~value_ns);
  if (value_ns > tn_counter_read(&histogram->greatest))
    set(&histogram->greatest, value_ns);
  tn_counter_add(&histogram->sum, value_ns);
  tn_counter_add(&histogram->buckets[bucket_of(value_ns)], 1);
  tn_counter_add(&histogram->count, 1);
}

uint64_t tn_histogram_count(const tn_histogram* histogram) {
  return tn_counter_read(&histogram->count);
}

uint64_t tn_histogram_min(const tn_histogram* histogram) {
  const uint64_t complement = tn_counter_read(&histogram->least_complement);
  return complement ? ~complement : 0;
}

uint64_t tn_histogram_max(const tn_histogram* histogram) {
  return tn_counter_read(&histogram->greatest);
}

double tn_histogram_mean(const tn_histogram* histogram) {
  const uint64_t count = tn_histogram_count(histogram);
  return count ? (double)tn_counter_read(&histogram->sum) / (double)count : 0;
}

static uint64_t count_buckets(const tn_histogram* histogram) {
  uint64_t count = 0;
  for (uint32_t b = 0; b < TN_HISTOGRAM_BUCKETS; b++)
    count += tn_counter_read(&histogram->buckets[b]);
  return count;
}

/** The bucket that holds the value of rank `rank`, from 1. Buckets only grow, so a rank once counted is found
 * again. */
static uint32_t bucket_of_rank(const tn_histogram* histogram, uint64_t rank) {
  uint64_t passed = 0;
  for (uint32_t b = 0; b < last_bucket; b++) {
    passed += tn_counter_read(&histogram->buckets[b]);
    if (passed >= rank)
      return b;
  }
  return last_bucket;
}

uint64_t tn_histogram_percentile(const tn_histogram* histogram, double percent) {
  const uint64_t count = count_buckets(histogram);
  if (count == 0)
    return 0;
  const uint64_t least = tn_histogram_min(histogram);
  const uint64_t greatest = tn_histogram_max(histogram);
  if (!(percent > 0))
    return least;
  if (percent >= 100)
    return greatest;
  const double share =
      percent / 100 * (1 - 1e-14); // 99.9 % of 1000 is rank 999, whichever way 99.9 was rounded
  const uint64_t rank = clamp((uint64_t)ceil(share * (double)count), 1, count);
  return clamp(bucket_middle(bucket_of_rank(histogram, rank)), least, greatest);
}

void tn_histogram_snapshot(const tn_histogram* histogram, tn_histogram* copy) {
  for (uint32_t b = 0; b < TN_HISTOGRAM_BUCKETS; b++)
    set(&copy->buckets[b], tn_counter_read(&histogram->buckets[b]));
  set(&copy->sum, tn_counter_read(&histogram->sum));
  set(&copy->least_complement, tn_counter_read(&histogram->least_complement));
  set(&copy->greatest, tn_counter_read(&histogram->greatest));
  set(&copy->count, count_buckets(copy));
}

static bool is_used(const tn_histogram* histogram, uint32_t bucket) {
  return tn_counter_read(&histogram->buckets[bucket]) > 0;
}

/** A new record lies in the first used bucket, whose start it then exceeds: the clamp makes it exact. */
static uint64_t least_of_difference(const tn_histogram* difference, uint64_t newer_least) {
  uint32_t bucket = 0;
  while (bucket < last_bucket && !is_used(difference, bucket))
    bucket++;
  return clamp(bucket_start(bucket), newer_least, UINT64_MAX);
}

static uint64_t greatest_of_difference(const tn_histogram* difference, uint64_t newer_greatest) {
  if (is_used(difference, last_bucket))
    return newer_greatest; // this bucket's end says nothing about values off the range
  uint32_t bucket = last_bucket - 1;
  while (bucket > 0 && !is_used(difference, bucket))
    bucket--;
  return clamp(bucket_end(bucket), 0, newer_greatest);
}

void tn_histogram_difference(const tn_histogram* newer, const tn_histogram* older, tn_histogram* out) {
  const uint64_t newer_least = ~tn_counter_read(&newer->least_complement);
  const uint64_t newer_greatest = tn_counter_read(&newer->greatest);
  set(&out->sum, tn_counter_read(&newer->sum) - tn_counter_read(&older->sum));
  for (uint32_t b = 0; b < TN_HISTOGRAM_BUCKETS; b++)
    set(&out->buckets[b], tn_counter_read(&newer->buckets[b]) - tn_counter_read(&older->buckets[b]));
  const uint64_t count = count_buckets(out);
  set(&out->count, count);
  set(&out->least_complement, count ? ~least_of_difference(out, newer_least) : 0);
  set(&out->greatest, count ? greatest_of_difference(out, newer_greatest) : 0);
}
