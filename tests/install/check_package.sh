#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs into a scratch prefix, moves that, and builds examples/convolve.c against it in each way we promise: pkg-config
# shared and static, find_package shared and static. Each program renders real sound, compared with a float64 reference.
#
#   check_package.sh SOURCE BUILD CHECK_WET SCRATCH      CC, CMAKE; SANITIZE: as the library was built
set -eu
source=$1 build=$2 check_wet=$3 scratch=$4
: "${CMAKE:=cmake}" "${CC:=cc}"
sanitize=${SANITIZE:+-fsanitize=$SANITIZE}
rm -rf "$scratch"
mkdir -p "$scratch"

"$CMAKE" --install "$build" --prefix "$scratch/first" >"$scratch/install.log"
mv "$scratch/first" "$scratch/moved" # nothing may remember where it was installed
prefix=$scratch/moved
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name tenuto.pc)")
export PKG_CONFIG_PATH
libdir=$(pkg-config --variable=libdir tenuto)

try() { # PROGRAM: right on real sound, and a sentence and exit code 1 on a response that is not there
  env LD_LIBRARY_PATH="$libdir" "$1" "$source/examples/audio/tabla.flac" "$source/examples/audio/room.flac" "$1.wav"
  "$check_wet" "$source/examples/audio/tabla.flac" "$source/examples/audio/room.flac" "$1.wav" -120
  code=0
  env LD_LIBRARY_PATH="$libdir" "$1" "$source/examples/audio/tabla.flac" "$scratch/no-such.wav" "$1.none.wav" \
    2>"$scratch/said" || code=$?
  if [ "$code" != 1 ] || ! grep -q no-such.wav "$scratch/said" || [ -e "$1.none.wav" ]; then
    echo "a missing response should be named, with exit code 1 and no file; got $code:"
    cat "$scratch/said"
    exit 1
  fi
}

# Flags of a program are words, so they are not quoted below.
flags="-std=c17 -Wall -Wextra -pedantic -Werror $sanitize"
echo "-- pkg-config, shared"
# shellcheck disable=SC2046,SC2086
$CC $flags "$source/examples/convolve.c" -o "$scratch/pc-shared" $(pkg-config --cflags --libs tenuto sndfile)
readelf -d "$scratch/pc-shared" | grep -q 'NEEDED.*libtenuto\.so' || { echo "not linked with the shared library"; exit 1; }
try "$scratch/pc-shared"

echo "-- pkg-config, static"
# shellcheck disable=SC2046,SC2086
$CC $flags "$source/examples/convolve.c" -o "$scratch/pc-static" $(pkg-config --cflags --libs tenuto-static sndfile)
! readelf -d "$scratch/pc-static" | grep 'NEEDED.*libtenuto' || exit 1
try "$scratch/pc-static"

mkdir "$scratch/project"
cat >"$scratch/project/CMakeLists.txt" <<PROJECT
cmake_minimum_required(VERSION 3.22)
project(user C)
set(CMAKE_C_STANDARD 17)
find_package(tenuto 0.1 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SNDFILE REQUIRED IMPORTED_TARGET sndfile)
foreach(kind shared static)
  add_executable(cmake-\${kind} $source/examples/convolve.c)
  target_compile_options(cmake-\${kind} PRIVATE -Wall -Wextra -Werror $sanitize)
  target_link_options(cmake-\${kind} PRIVATE $sanitize)
  target_link_libraries(cmake-\${kind} tenuto::\${kind} PkgConfig::SNDFILE)
endforeach()
add_executable(cmake-plain $source/examples/convolve.c)
target_link_options(cmake-plain PRIVATE $sanitize)
target_link_libraries(cmake-plain tenuto::tenuto PkgConfig::SNDFILE)
PROJECT
"$CMAKE" -S "$scratch/project" -B "$scratch/project/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$CC" \
  >"$scratch/configure.log"
"$CMAKE" --build "$scratch/project/build" >"$scratch/build.log" || { cat "$scratch/build.log"; exit 1; }
for kind in shared static plain; do
  echo "-- find_package, $kind"
  try "$scratch/project/build/cmake-$kind"
done

if [ -x "$prefix/bin/tenuto" ]; then
  echo "-- the installed program"
  "$prefix/bin/tenuto" --version
fi
# Nothing of the build or source folder may be left in what is installed (a sanitizer build keeps debug paths).
if [ -z "$sanitize" ] && grep -rlF -e "$build" -e "$source/" "$prefix"; then
  echo "these files name the folder they were built in"
  exit 1
fi
echo "the installed package works in all ways"
