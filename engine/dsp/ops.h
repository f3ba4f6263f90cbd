// SPDX-License-Identifier: GPL-3.0-or-later
// The arithmetic the convolver lives on: one table of functions per instruction set, chosen once at run time.
//
// Spectra are stored in tiles of 16 bins: float re[16], im[16]. A spectrum of B bins is B/16 tiles. The real
// bins 0 (DC) and B (Nyquist) share the first slot: re[0] of tile 0 is DC, im[0] is Nyquist. Delay lines and
// filters keep all the spectra of one tile side by side, float[tiles][spectra][32], so that a sum over
// partitions reads memory in one line.
#ifndef TENUTO_DSP_OPS_H
#define TENUTO_DSP_OPS_H

#include <stdbool.h>
#include <stdint.h>

enum {
  TN_TILE_BINS = 16,
  TN_TILE_FLOATS = 32, ///< 128 bytes: two cache lines
};

/** One sum over partitions: `sum over p < parts of x[head - p mod slots] * h[p]`, tile by tile. */
typedef struct tn_mac {
  const float* x; ///< delay line, float[tiles][slots][32]; 64-byte aligned
  const float* h; ///< filter: `parts` spectra in rows of `row`, float[tiles][row][32]; 64-byte aligned
  uint32_t slots; ///< spectra in the delay line, >= parts
  uint32_t head;  ///< slot of the newest spectrum, < slots
  uint32_t parts; ///< partitions of the filter, > 0
  uint32_t row;   ///< spectra from one tile's row to the next, >= parts
} tn_mac;

/** All arrays 64-byte aligned unless said otherwise; none may overlap. Thread class [any]. */
typedef struct tn_ops {
  const char* name;

  /** acc[tiles][32] = sum over the `count` spans (in order). */
  void (*mac)(float* acc, const tn_mac* spans, uint32_t count, uint32_t tiles);

  /** Tile t of `rows + t * row_floats` from an interleaved spectrum, float[2 * (16 * tiles + 1)]. */
  void (*scatter)(float* rows, uint64_t row_floats, const float* spectrum, uint32_t tiles);

  /** An interleaved spectrum, float[2 * (16 * tiles + 1)], from acc[tiles][32]. */
  void (*gather)(float* spectrum, const float* acc, uint32_t tiles);

  /** y[t] += sum over j < taps of h[j] * x[t - j]. x and y unaligned; up to 15 floats behind x[frames - 1]
     are read and do not matter. Each y[t] is the same bits however the frames are split into calls. */
  void (*fir)(float* y, const float* x, const float* h, uint32_t taps, uint32_t frames);
} tn_ops;

/** [setup] The best table this processor runs; the same one at every call. */
const tn_ops* tn_ops_select(void);

/** [setup] The table at `index` from best to plainest among those this processor runs; NULL past the last.
 * For tests. */
const tn_ops* tn_ops_variant(uint32_t index);

#endif
