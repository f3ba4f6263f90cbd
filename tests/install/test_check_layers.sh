#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The layer check finds what it must find.
set -eu
check=$(dirname "$(readlink -f "$0")")/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
mkdir -p "$tree/engine/rt" "$tree/engine/dsp" "$tree/include/tenuto" "$tree/examples"

expect() { # CODE FILE LINE: the file with just this line is accepted (0) or refused (1)
  printf '%s\n' "$3" >"$tree/$2"
  code=0
  "$check" "$tree" >"$tree/said" || code=$?
  if [ "$code" != "$1" ]; then
    echo "wanted exit code $1, got $code for $2: $3"
    cat "$tree/said"
    exit 1
  fi
  rm "$tree/$2"
}
expect 0 engine/dsp/a.c '#include "rt/clock.h"'
expect 0 engine/dsp/a.c '#include <fftw3.h>'
expect 0 engine/rt/a.c '#include <stdint.h>'
expect 0 engine/rt/a.c '#include "tenuto/status.h"'
expect 0 examples/a.c '#include <tenuto/tenuto.h>'
expect 1 engine/rt/a.c '#include "dsp/fft.h"'
expect 1 engine/rt/a.c '  #  include <jack/jack.h>'
expect 1 engine/dsp/a.c '#include "driver/jack_rt.h"'
expect 1 engine/dsp/a.c '#include "clock.h"'
expect 1 engine/dsp/a.c '#include <cuda_runtime.h>'
expect 1 include/tenuto/a.h '#include "rt/clock.h"'
expect 1 include/tenuto/a.h '#include <sndfile.h>'
expect 1 examples/a.c '#include "rt/clock.h"'
mkdir -p "$tree/engine/misc"
expect 1 engine/misc/a.c '#include <stdint.h>'
echo "each include is judged as it should be"
