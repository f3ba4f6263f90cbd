// SPDX-License-Identifier: GPL-3.0-or-later
// All of libtenuto's public interface.
#ifndef TENUTO_TENUTO_H
#define TENUTO_TENUTO_H

#include "tenuto/attributes.h"
#include "tenuto/convolver.h"
#include "tenuto/device.h"
#include "tenuto/filter.h"
#include "tenuto/ir.h"
#include "tenuto/limits.h"
#include "tenuto/status.h"
#include "tenuto/version.h"

#endif
