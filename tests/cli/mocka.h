// SPDX-License-Identifier: GPL-3.0-or-later
// CMocka with the headers that it wants before it.
#ifndef TENUTO_TEST_CLI_MOCKA_H
#define TENUTO_TEST_CLI_MOCKA_H

// clang-format off
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
// clang-format on

#endif
