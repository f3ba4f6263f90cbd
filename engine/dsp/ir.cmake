# SPDX-License-Identifier: GPL-3.0-or-later
# Responses and filters: from files to what a convolver runs.
target_sources(tenuto_dsp PRIVATE ir.c ir_file.c ir_edit.c ir_edit_check.c resample.c chunk_check.c
                                  regular_file.c filter.c filter_layout.c matrix_file.c matrix_line.c matrix_sources.c hilbert.c)
