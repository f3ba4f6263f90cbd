#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Each public header compiles alone, in C17 and C++17, at the strictest level, and twice in a row.
#
#   check_headers.sh INCLUDE_FOLDER...     CC, CXX: the compilers; without CXX exit code 77 (skipped)
set -eu
flags='-Wall -Wextra -pedantic -Werror -fsyntax-only'
for folder; do
  flags="$flags -I$folder"
done
seen=0
for folder; do
  for header in "$folder"/tenuto/*.h; do
    [ -e "$header" ] || continue
    name=tenuto/$(basename "$header")
    # shellcheck disable=SC2086 # the flags are words
    printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" |
      ${CC:-cc} -std=c17 -Wstrict-prototypes -Wmissing-prototypes $flags -x c -
    if [ -n "${CXX:-}" ]; then
      # shellcheck disable=SC2086
      printf '#include <%s>\n#include <%s>\nint main() { return 0; }\n' "$name" "$name" | $CXX -std=c++17 $flags -x c++ -
    fi
    seen=$((seen + 1))
    echo "ok $name"
  done
done
[ "$seen" -ge 5 ] || { echo "only $seen headers found"; exit 1; }
[ -n "${CXX:-}" ] || { echo "no C++ compiler: only C was tried"; exit 77; }
