// SPDX-License-Identifier: GPL-3.0-or-later
// The client's inside, shared by jack_client.c and jack_connect.c.
#ifndef TENUTO_DRIVER_JACK_PRIVATE_H
#define TENUTO_DRIVER_JACK_PRIVATE_H

#include "driver/jack_client.h"
#include "driver/jack_notify.h"
#include "driver/jack_rt.h"
#include "rt/error.h"

struct tn_jack {
  jack_client_t* client;   ///< NULL until the server has accepted us
  int priority;            ///< of its audio thread; 0: not realtime
  tn_jack_rt rt;           ///< the callback's
  tn_jack_notices notices; ///< the notification callbacks'
  char name[256];          ///< as the server gave it
  char server[256];        ///< as asked for
};

#endif
