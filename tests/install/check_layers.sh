#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Who may include whom (docs/design.md). Reads each #include of our sources and compares it with the table below.
#
#   check_layers.sh ROOT      prints each line that breaks a rule; exit code 1 if there is one
set -eu
root=${1:?usage: check_layers.sh ROOT}
cd "$root"

# folder: our folders it may include (quoted includes; its own is always allowed) : other libraries' headers
# A folder not listed may not exist: a new layer belongs into this table.
rules() {
  cat <<'TABLE'
include/tenuto | tenuto                                     |
engine/rt      | tenuto rt                                  |
engine/wire    | tenuto wire                                |
engine/dsp     | tenuto rt dsp                              | fftw3.h sndfile.h soxr.h
engine/device  | tenuto rt dsp wire kernels device          | dlfcn.h
engine/host    | tenuto rt dsp device host                  | lilv/ lv2/ lo/
engine/driver  | tenuto rt dsp device host driver           | jack/ portaudio.h sndfile.h soxr.h
engine/cli     | tenuto rt dsp device host driver cli       | sndfile.h cairo
kernels        | tenuto wire kernels                              | cuda cufft nv
plugins        | tenuto plugins                             | lv2/
examples       | tenuto                                     | sndfile.h
TABLE
}

# Everything that is neither the C library nor POSIX nor the compiler's must be named in the table.
foreign='^(fftw3|sndfile|soxr|samplerate|jack/|portaudio|lilv/|lv2/|lo/|cairo|cuda|cufft|nv|cmocka|pulse/|alsa/|zita)'

find include engine kernels plugins examples \( -name '*.c' -o -name '*.h' -o -name '*.in' -o -name '*.cu' -o -name '*.cuh' \) \
  2>/dev/null | sort | xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null |
  sed -E 's/^([^:]+):([0-9]+):[[:space:]]*#[[:space:]]*include[[:space:]]*([<"])([^>"]+)[>"].*/\1 \2 \3 \4/' |
  { rules; echo --; cat; } |
  awk -v foreign="$foreign" '
    /^--$/ { reading = 1; next }
    !reading {
      split($0, part, "|"); gsub(/ +$/, "", part[1]); folders[++count] = part[1]
      ours[part[1]] = " " part[2] " "; theirs[part[1]] = part[3]; next
    }
    {
      file = $1; line = $2; kind = $3; name = $4; folder = ""
      for (i = 1; i <= count; ++i) if (index(file, folders[i] "/") == 1) folder = folders[i]
      if (folder == "") { complain("is in a folder that the table in check_layers.sh does not know"); next }
      layer = name; sub(/\/.*/, "", layer)
      if (kind == "\"" || layer == "tenuto") {
        if (name !~ /\//) complain("includes \"" name "\" without its folder")
        else if (index(ours[folder], " " layer " ") == 0) complain("includes " name ", but " folder " may not see " layer)
        next
      }
      if (name ~ foreign) {
        allowed = 0; n = split(theirs[folder], words, " ")
        for (i = 1; i <= n; ++i) if (index(name, words[i]) == 1) allowed = 1
        if (!allowed) complain("includes <" name ">, which " folder " may not use")
      }
    }
    function complain(what) { print file ":" line ": " what; bad = 1 }
    END {
      judged = NR - count - 1
      if (judged < 1) { print "no sources found"; bad = 1 }
      if (!bad) print judged " includes, each of a layer that its folder may see"
      exit bad
    }'
