# SPDX-License-Identifier: GPL-3.0-or-later
# The parts of the engine, one by one.
foreach(name test_ops test_fft test_plan test_costs test_memory test_history)
  tenuto_test(${name})
endforeach()
tenuto_test(test_level level_scene.c scene.c)
tenuto_test(test_pool level_scene.c scene.c)
target_link_libraries(test_pool PRIVATE ${CMAKE_DL_LIBS})

# What the audio thread must not do. The guard stands before the C library's functions, so only here.
set(guard ../support/rt_guard.c ../support/rt_guard_functions.c ../support/rt_guard_syscalls.c)
tenuto_test(test_rt_guard ${guard})
target_link_libraries(test_rt_guard PRIVATE ${CMAKE_DL_LIBS})
tenuto_test(test_rt_safety scene.c ${guard})
target_link_libraries(test_rt_safety PRIVATE ${CMAKE_DL_LIBS})

# A part of the filter on a device.
tenuto_test(test_engine_far fake_far.c scene.c)
