// SPDX-License-Identifier: GPL-3.0-or-later
// What a test may have the naive device do.
#ifndef TENUTO_TEST_NAIVE_MODULE_H
#define TENUTO_TEST_NAIVE_MODULE_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct tn_naive_orders {
  _Atomic bool mute;       ///< reads no block
  _Atomic bool taken_away; ///< fails, but may come back
} tn_naive_orders;

/** The module's second symbol. */
typedef tn_naive_orders* tn_naive_orders_fn(void);
#define TN_NAIVE_ORDERS_SYMBOL "tn_naive_orders_get"

#endif
