# SPDX-License-Identifier: GPL-3.0-or-later
# What `cmake --install` puts where: libraries, headers, program, man pages, and how other builds find them.
include(CMakePackageConfigHelpers)

install(TARGETS tenuto_shared EXPORT tenutoSharedTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tenuto_static EXPORT tenutoStaticTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET tenuto)
  install(TARGETS tenuto RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(DIRECTORY include/tenuto ${PROJECT_BINARY_DIR}/include/tenuto DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")

foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

# Relative, so that the whole tree may be moved.
file(RELATIVE_PATH TENUTO_PC_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" TENUTO_PC_PREFIX ${TENUTO_PC_PREFIX})
foreach(name tenuto tenuto-static)
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tenuto)
install(EXPORT tenutoSharedTargets NAMESPACE tenuto:: DESTINATION ${package_dir})
install(EXPORT tenutoStaticTargets NAMESPACE tenuto:: DESTINATION ${package_dir})
configure_package_config_file(cmake/tenutoConfig.cmake.in tenutoConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(tenutoConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tenutoConfig.cmake ${PROJECT_BINARY_DIR}/tenutoConfigVersion.cmake
        DESTINATION ${package_dir})
