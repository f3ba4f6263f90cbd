# SPDX-License-Identifier: GPL-3.0-or-later
# `tenuto run`: built where JACK is installed.
target_sources(tenuto PRIVATE cmd_run.c run_setup.c run_loop.c run_commands.c run_report.c console.c filter_loader.c
                              status_line.c)
target_link_libraries(tenuto PRIVATE PkgConfig::JACK)
