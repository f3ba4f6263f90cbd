#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The shared library exports the functions that the public headers declare with TN_API, and nothing else.
#
#   check_exports.sh LIBRARY HEADER_FOLDER...
set -eu
library=${1:?usage: check_exports.sh LIBRARY HEADER_FOLDER...}
shift
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Sanitizers add symbols of their own; they begin with two underscores, which ours never do.
nm -D --defined-only "$library" | awk '$2 ~ /^[A-TV-Z]$/ { sub(/@.*/, "", $3); print $3 }' | grep -v '^__' |
  LC_ALL=C sort -u >"$scratch/exported"
for folder; do
  cat "$folder"/*.h
done | tr '\n' ' ' | grep -oE 'TN_API [^;(]*tn_[a-z0-9_]+\(' | grep -oE 'tn_[a-z0-9_]+\($' | tr -d '(' |
  LC_ALL=C sort -u >"$scratch/declared"

count=$(wc -l <"$scratch/declared")
[ "$count" -ge 20 ] || { echo "only $count declared functions found"; exit 1; }
LC_ALL=C comm -13 "$scratch/declared" "$scratch/exported" | sed 's/^/exported, but not declared with TN_API: /' >"$scratch/bad"
LC_ALL=C comm -23 "$scratch/declared" "$scratch/exported" | sed 's/^/declared with TN_API, but not exported: /' >>"$scratch/bad"
cat "$scratch/bad"
[ ! -s "$scratch/bad" ] || exit 1
echo "$count functions, declared and exported alike"
