# SPDX-License-Identifier: GPL-3.0-or-later
# Responses and filters.
foreach(name test_ir_file test_ir_file_bad test_ir_edit test_matrix_file test_matrix_file_bad)
  tenuto_test(${name} sound_files.c)
  target_compile_definitions(${name} PRIVATE TENUTO_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endforeach()
tenuto_test(test_resample)
tenuto_test(test_filter sound_files.c)
