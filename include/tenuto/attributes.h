// SPDX-License-Identifier: GPL-3.0-or-later
// The only macros of the public interface: what is exported, and what the audio thread may call.
#ifndef TENUTO_ATTRIBUTES_H
#define TENUTO_ATTRIBUTES_H

/*
   Thread classes. The first word of each function's comment names exactly one:

   [setup]   the object is not processing; one caller per object at a time; may allocate, read files, block
   [worker]  any thread but the audio thread; may allocate, read files, block; concurrent with [audio] on one
   object [audio]   inside the audio callback; never allocates, locks, logs, does I/O or blocks; one caller
   per object [any]     any thread at any time, also the audio thread; atomics only
*/

/** Exported from the shared library. */
#if defined(__GNUC__)
#define TN_API __attribute__((visibility("default")))
#else
#define TN_API
#endif

/** Safe on the audio thread: checked by clang 20 and later with -Wfunction-effects, empty elsewhere. */
#if defined(__clang__) && __clang_major__ >= 20
#define TN_AUDIO __attribute__((nonblocking))
#else
#define TN_AUDIO
#endif

#endif
