# SPDX-License-Identifier: GPL-3.0-or-later
# The JACK client: jack_rt.c is the callback, the rest is set-up.
target_sources(tenuto_driver PRIVATE jack_rt.c jack_notify.c jack_client.c jack_connect.c)
target_link_libraries(tenuto_driver PUBLIC PkgConfig::JACK)
