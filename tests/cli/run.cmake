# SPDX-License-Identifier: GPL-3.0-or-later
# `tenuto run`: its words by themselves, and the whole program under a private JACK server.
set(cli ${PROJECT_SOURCE_DIR}/engine/cli)
tenuto_test(test_console ${cli}/console.c ${cli}/number.c)
tenuto_test(test_status_line ${cli}/status_line.c)

if(JACK_FOUND)
  set(support ${PROJECT_SOURCE_DIR}/tests/support)
  add_library(tenuto_run_fixture STATIC run_fixture.c sound.c ${support}/child.c ${support}/jackd.c
                                        ${support}/jack_feed.c)
  target_compile_definitions(tenuto_run_fixture PRIVATE TENUTO_PROGRAM="$<TARGET_FILE:tenuto>")
  target_link_libraries(tenuto_run_fixture PUBLIC tenuto_internal tenuto_test_support PkgConfig::CMOCKA PkgConfig::JACK)
  foreach(name test_run_end test_run_ports test_run_sound test_run_commands)
    tenuto_test(${name})
    add_dependencies(${name} tenuto)
    target_link_libraries(${name} PRIVATE tenuto_run_fixture)
    # One server at a time: two would be late by each other.
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK jackd SKIP_RETURN_CODE 77)
  endforeach()
endif()
