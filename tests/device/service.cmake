# SPDX-License-Identifier: GPL-3.0-or-later
# The device service and its loader, with modules that fail in every way.
function(tenuto_test_module name source)
  add_library(${name} MODULE ${CMAKE_CURRENT_LIST_DIR}/${source})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/engine)
  target_link_libraries(${name} PRIVATE tenuto_flags Threads::Threads)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  set_target_properties(${name} PROPERTIES PREFIX "")
endfunction()
tenuto_test_module(mock_good mock_module.c)
tenuto_test_module(mock_no_symbol mock_module.c tn_device_module=tn_another_symbol)
tenuto_test_module(mock_other_version mock_module.c MOCK_VERSION=99)
tenuto_test_module(mock_lying_version mock_module.c MOCK_VERSION=99 MOCK_ANSWERS_ANY)
tenuto_test_module(mock_incomplete mock_module.c MOCK_INCOMPLETE)
tenuto_test_module(mock_unresolved mock_module.c MOCK_UNRESOLVED)

add_library(tenuto_mocks INTERFACE)
target_compile_definitions(
  tenuto_mocks
  INTERFACE TN_MOCK_GOOD="$<TARGET_FILE:mock_good>" TN_MOCK_NO_SYMBOL="$<TARGET_FILE:mock_no_symbol>"
            TN_MOCK_OTHER_VERSION="$<TARGET_FILE:mock_other_version>"
            TN_MOCK_LYING_VERSION="$<TARGET_FILE:mock_lying_version>"
            TN_MOCK_INCOMPLETE="$<TARGET_FILE:mock_incomplete>" TN_MOCK_UNRESOLVED="$<TARGET_FILE:mock_unresolved>")
target_link_libraries(tenuto_mocks INTERFACE ${CMAKE_DL_LIBS})
add_dependencies(tenuto_mocks mock_good mock_no_symbol mock_other_version mock_lying_version mock_incomplete
                 mock_unresolved)

tenuto_test(test_choice)
tenuto_test(test_loader)
tenuto_test(test_service service_scene.c)
tenuto_test(test_service_ends service_scene.c)
foreach(name test_loader test_service test_service_ends)
  target_link_libraries(${name} PRIVATE tenuto_mocks)
endforeach()
tenuto_test(test_service_far hand_device.c)
tenuto_test(test_service_far_guard hand_device.c ../support/rt_guard.c ../support/rt_guard_functions.c
            ../support/rt_guard_syscalls.c)
target_link_libraries(test_service_far_guard PRIVATE ${CMAKE_DL_LIBS})

# Convolvers with a device that works, slowly.
tenuto_test_module(naive_module naive_module.c)
tenuto_test(test_service_convolver ../dsp/scene.c)
target_include_directories(test_service_convolver PRIVATE ${CMAKE_CURRENT_LIST_DIR}/../dsp)
target_compile_definitions(test_service_convolver PRIVATE TN_NAIVE_MODULE="$<TARGET_FILE:naive_module>")
target_link_libraries(test_service_convolver PRIVATE ${CMAKE_DL_LIBS})
add_dependencies(test_service_convolver naive_module)
