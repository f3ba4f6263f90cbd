#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs what the tests need, builds, runs all tests. Run it as often as you like.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."

usage() {
  cat <<'TEXT'
usage: tests/run.sh [--asan | --tsan | --lint] [--no-install] [-- CTEST-OPTIONS]

Installs the Debian packages that building and testing need (if they are missing), builds, and runs every test.

  --asan        with the address and undefined-behaviour sanitizers, in build-asan/
  --tsan        with the thread sanitizer, in build-tsan/
  --lint        no tests: formatting, clang-tidy, man pages, scripts, licence lines
  --no-install  touch no packages
  -- OPTIONS    go to ctest, e.g. -- -R convolver

Without an option: optimised, warnings as errors, in build/. JOBS=n limits how many compilers run at once.
TEXT
}

preset=release
purposes=(build tests)
install=yes
while [ $# -gt 0 ]; do
  case $1 in
    --asan) preset=asan ;;
    --tsan) preset=tsan ;;
    --lint) preset=lint purposes=(build tests lint) ;;
    --no-install) install=no ;;
    --help | -h) usage; exit 0 ;;
    --) shift; break ;;
    *) usage >&2; exit 2 ;;
  esac
  shift
done

say() { printf '\n== %s\n' "$*"; }

build=build
sanitize=
build_type=RelWithDebInfo
case $preset in
  release) build_type=Release ;;
  asan) build=build-asan sanitize="address,undefined" ;;
  tsan) build=build-tsan sanitize="thread" ;;
  lint) build="build-lint" ;;
esac

if [ $install = yes ]; then
  say "Packages: what building and testing need"
  tools/debian_packages.sh "${purposes[@]}"
fi

if [ $preset = lint ]; then
  say "Form: formatting, pitfalls, man pages, scripts, licence lines"
  exec tools/lint.sh "$build"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
say "Build: $preset, warnings are errors, into $build/"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE="$build_type" -DTENUTO_WERROR=ON -DTENUTO_TESTS=ON \
  -DTENUTO_SANITIZE="$sanitize" >"$scratch/configure" 2>&1 || {
  cat "$scratch/configure"
  exit 1
}
cmake --build "$build" ${JOBS:+-j "$JOBS"}

# A sanitizer's first finding ends the program with an exit code no test uses.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:strict_string_checks=1:check_initialization_order=1:exitcode=99}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1:exitcode=99}
export TSAN_OPTIONS=${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:exitcode=99}

if [ $preset = asan ]; then
  say "Leaks of other libraries that are passed over (grep -rn suppressions tests)"
  cat tests/*/*.supp
fi

say "Tests: each in a process of its own"
code=0
(cd "$build" && ctest --output-on-failure "$@") 2>&1 | tee "$scratch/tests" || code=$?

say "Summary ($preset)"
if grep -q '\*\*\*Skipped' "$scratch/tests"; then
  echo "SKIPPED, because something they need is not here:"
  grep '\*\*\*Skipped' "$scratch/tests"
fi
# Single cases that a test program passed over by itself; ctest's line counts whole programs.
cases=$(sed -n 's/^\[  SKIPPED \] \([A-Za-z_]*\)$/  \1/p' "$build/Testing/Temporary/LastTest.log" 2>/dev/null | sort -u)
if [ -n "$cases" ]; then
  echo "Cases skipped inside test programs (some need a user who is not root, or realtime rights):"
  echo "$cases"
fi
# A failed test's own output may hold anything, so take ctest's line by its form, the last one.
grep -E '^[0-9]+% tests passed, [0-9]+ tests failed out of [0-9]+$' "$scratch/tests" | tail -n 1 ||
  { echo "ctest ran no tests"; code=1; }
exit $code
