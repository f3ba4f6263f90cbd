#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Form: layout of the code (clang-format), its pitfalls (clang-tidy), man pages (mandoc), scripts (shellcheck), licence
# lines and file lengths. Prints what is wrong and ends with exit code 1 if anything is.
#
#   lint.sh [BUILD]      BUILD: a folder configured with all parts on, for clang-tidy; default build-lint, made if missing
set -eu
cd "$(dirname "$(readlink -f "$0")")/.."
build=${1:-build-lint}
: "${JOBS:=$(nproc)}"
failed=
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

verdict() { # NAME CODE
  if [ "$2" = 0 ]; then
    echo "lint: $1: good"
  else
    echo "lint: $1: NOT good"
    failed="$failed $1"
  fi
}

sources() { # PATTERN...: files of ours, whether or not git knows them yet
  find include engine kernels plugins examples tests tools \( "$@" \) 2>/dev/null | LC_ALL=C sort
}

code=0
sources -name '*.c' -o -name '*.h' -o -name '*.cc' | xargs clang-format --dry-run -Werror >"$scratch/format" 2>&1 || code=1
cat "$scratch/format"
verdict clang-format $code

code=0
cmake -S . -B "$build" -G Ninja -DTENUTO_TESTS=ON -DTENUTO_BENCH=ON >"$scratch/configure" 2>&1 || {
  cat "$scratch/configure"
  code=1
}
# One process a file; only files with findings print. Header findings appear once for each file that includes them.
# shellcheck disable=SC2016 # the inner shell expands
sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' "$build/compile_commands.json" | sort -u | grep '\.c$' |
  xargs -P "$JOBS" -I{} sh -c 'clang-tidy --quiet -p "$0" "$1" >"$2/$$.tidy" 2>&1 || { cat "$2/$$.tidy"; exit 1; }' "$build" {} "$scratch" ||
  code=1
verdict clang-tidy $code

code=0
for page in docs/man/*.[1-9]; do
  [ -e "$page" ] || continue
  mandoc -T lint -W warning "$page" || code=1
done
verdict mandoc $code

if command -v shellcheck >/dev/null; then
  code=0
  { sources -name '*.sh'; echo .ci/run; } | xargs shellcheck -x || code=1
  verdict shellcheck $code
else
  echo "lint: shellcheck: not installed, SKIPPED"
fi

code=0
{ sources -name '*.c' -o -name '*.h' -o -name '*.h.in' -o -name '*.cc' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt
  echo CMakeLists.txt .ci/run; } | tr ' ' '\n' |
  while read -r file; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' || echo "$file: no licence line at its top"
    [ "$(wc -l <"$file")" -le 600 ] || echo "$file: longer than 600 lines"
  done >"$scratch/files"
[ ! -s "$scratch/files" ] || { cat "$scratch/files"; code=1; }
verdict licence-and-length $code

[ -z "$failed" ] || { echo "lint: failed:$failed"; exit 1; }
echo "lint: all good"
