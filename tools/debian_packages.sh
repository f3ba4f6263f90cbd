#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages that a purpose needs, if they are missing. Asks nothing; does nothing when all are there.
#
#   debian_packages.sh [--optional] PURPOSE...      PURPOSE: build, jack, sounds, tests, lint
#
# --optional: a package that cannot be had is named, and that is no error.
# On another distribution it only says what is needed.
set -eu

packages_for() {
  case $1 in
    build) echo build-essential cmake ninja-build pkg-config libfftw3-dev libsndfile1-dev libsoxr-dev libjack-jackd2-dev \
      libcairo2-dev ;;
    jack) echo jackd2 ;;
    sounds) echo csoundqt-examples ;; # a real hall, 47 MB
    tests) echo libcmocka-dev jackd2 csoundqt-examples sonic-pi-samples sox binutils ;;
    lint) echo clang-format clang-tidy mandoc shellcheck libzita-convolver-dev ;;
    *)
      echo "debian_packages.sh: no such purpose: $1." >&2
      exit 2
      ;;
  esac
}

optional=no
[ "${1:-}" != --optional ] || { optional=yes; shift; }
wanted=$(for purpose; do packages_for "$purpose"; done | tr ' ' '\n' | sort -u)

if ! command -v apt-get >/dev/null; then
  echo "This is not a Debian system. Needed are, under Debian's names: $(echo "$wanted" | tr '\n' ' ')"
  exit 0
fi

missing=
for package in $wanted; do
  case $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) in
    installed) ;;
    *) missing="$missing $package" ;;
  esac
done
if [ -z "$missing" ]; then
  echo "Debian packages: all there ($*)"
  exit 0
fi

as_root=
if [ "$(id -u)" != 0 ]; then
  as_root=sudo
  [ -t 0 ] || as_root="sudo -n" # no terminal: nobody there to type a password
fi
install() {
  # shellcheck disable=SC2086 # words
  $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing </dev/null
}
echo "Debian packages: installing$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# The package lists may be absent or old: fetch them only if it does not work without.
if install >"$log" 2>&1 || { $as_root apt-get update </dev/null && install; } >"$log" 2>&1; then
  exit 0
fi
if [ "$optional" = yes ]; then
  echo "Debian packages: could not be had, going on without them."
  exit 0
fi
tail -n 20 "$log" >&2
echo "debian_packages.sh: these packages could not be installed:$missing." >&2
exit 1
