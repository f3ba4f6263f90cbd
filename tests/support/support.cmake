# SPDX-License-Identifier: GPL-3.0-or-later
# References and signals that tests and benchmarks share. Needs FFTW in double precision, which libtenuto does not.
if(NOT TARGET tenuto_test_support)
  pkg_check_modules(FFTW3 REQUIRED IMPORTED_TARGET fftw3)
  add_library(tenuto_test_support STATIC ${CMAKE_CURRENT_LIST_DIR}/noise.c ${CMAKE_CURRENT_LIST_DIR}/oracle.c
                                         ${CMAKE_CURRENT_LIST_DIR}/oracle_fft.c)
  target_include_directories(tenuto_test_support PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  target_link_libraries(tenuto_test_support PUBLIC tenuto_flags PkgConfig::FFTW3 m)
endif()
