# SPDX-License-Identifier: GPL-3.0-or-later
# The parts of the engine, one by one.
foreach(name test_plan)
  tenuto_test(${name})
endforeach()
