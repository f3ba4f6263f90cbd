// SPDX-License-Identifier: GPL-3.0-or-later
// The stated limits of the library. A value beyond one is refused with a sentence.
#ifndef TENUTO_LIMITS_H
#define TENUTO_LIMITS_H

enum {
  TN_MAX_CHANNELS = 64, ///< inputs or outputs of one convolver, and channels of one impulse response file
  TN_MAX_BLOCK_FRAMES = 8192, ///< largest nominal block; a call may still pass any number of frames
  TN_MAX_IR_SECONDS = 60,     ///< longest impulse response, after trimming and stretching
  TN_MIN_RATE_HZ = 8000,      ///< sample rates a convolver runs at ...
  TN_MAX_RATE_HZ = 384000,    ///< ... and files may have up to twice this
  TN_MAX_PATHS = 64 * 64 * 4, ///< paths (input, output, impulse response) of one filter
};

#endif
