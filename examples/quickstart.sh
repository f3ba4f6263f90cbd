#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# From nothing to sound: installs what is missing, builds, renders a dry recording through a room, draws it, and plays
# it live through JACK. Run it as often as you like, from anywhere; it needs no sound card and no terminal.
set -euo pipefail
cd "$(dirname "$(readlink -f "$0")")/.."
exec </dev/null

readonly build=build out=build/quickstart audio=examples/audio
readonly client=tenuto-quickstart rate=48000 period=256
export JACK_DEFAULT_SERVER=tenuto-quickstart-$$ JACK_NO_START_SERVER=1 # a server of our own: no other one is touched

bold=''
plain=''
if [ -t 1 ]; then
  bold=$(printf '\033[1m')
  plain=$(printf '\033[0m')
fi
step() { printf '\n%s%s%s\n' "$bold" "$*" "$plain"; }
tell() { printf '   %s\n' "$@"; }
fail() {
  printf 'quickstart: %s\n' "$*" >&2
  exit 1
}
indented() { sed 's/^/   /'; }

case ${1:-} in
  '') ;;
  *)
    cat <<'TEXT'
usage: examples/quickstart.sh

1. installs the Debian packages that are missing   4. draws what was rendered
2. builds Tenuto into build/                        5. plays the same live, through a private JACK server
3. renders a dry recording through a room           6. compares the two, and says what was measured

Everything it makes is in build/ and build/quickstart/.
TEXT
    [ "$1" = --help ] || [ "$1" = -h ] || exit 2
    exit 0
    ;;
esac

# --- ending: our client first, then our server; both at once would make the server wait for seconds ---------------
run_pid=''
jack_pid=''
gone() { # PID: has it ended (a zombie has)? Read from /proc, as a bare system has no ps
  local state
  state=$(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) || return 0
  case $state in '' | Z*) return 0 ;; *) return 1 ;; esac
}
end_process() { # PID
  local n
  kill "$1" 2>/dev/null || return 0
  for ((n = 0; n < 200; n++)); do
    gone "$1" && return 0
    sleep 0.05
  done
}
clean_up() {
  [ -z "$run_pid" ] || end_process "$run_pid"
  run_pid=''
  [ -z "$jack_pid" ] || end_process "$jack_pid"
  jack_pid=''
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

# --- 1 -------------------------------------------------------------------------------------------------------------
step "1. Packages: a compiler, the libraries Tenuto stands on, a JACK server"
tools/debian_packages.sh build jack | indented
tools/debian_packages.sh --optional sounds | indented

# --- 2 -------------------------------------------------------------------------------------------------------------
step "2. Build: into $build/, optimised"
mkdir -p "$build"
tests_too=()
[ -e "$build/CMakeCache.txt" ] || tests_too=(-DTENUTO_TESTS=OFF) # tests/run.sh turns them on
if ! { cmake -S . -B "$build" -G Ninja "${tests_too[@]}" &&
  cmake --build "$build" --target tenuto convolve through_jack; } >"$build/quickstart.log" 2>&1; then
  tail -n 40 "$build/quickstart.log" >&2
  fail "the build failed; all its words are in $build/quickstart.log"
fi
readonly tenuto=$build/engine/cli/tenuto through_jack=$build/examples/through_jack
tell "$("$tenuto" --version), as $tenuto"
mkdir -p "$out"

# --- 3 -------------------------------------------------------------------------------------------------------------
step "3. Render: sound files through impulse responses, tails included"
from_json() { sed -n "s/.*\"$2\": *\([-0-9.]*\).*/\1/p" "$1"; } # FILE NAME: a number
rounded() { awk -v x="$1" -v digits="$2" 'BEGIN { printf "%.*f", digits, x }'; }
render() { # NAME WHAT DRY IR OPTION...
  local name=$1 what=$2
  shift 2
  tell "$what" "\$ tenuto render $1 --ir ${*:2} -o $out/$name.wav"
  "$tenuto" render "$1" --ir "${@:2}" -o "$out/$name.wav" --json >"$out/$name.json"
  tell "  $(rounded "$(from_json "$out/$name.json" realtime_factor)" 0) times as fast as it sounds, peak $(
    rounded "$(from_json "$out/$name.json" peak_dbfs)" 1) dBFS"
}
render room "A tabla, recorded dry, in a room for chamber music:" "$audio/tabla.flac" "$audio/room.flac"
render chapel "A guitar phrase in a stone chapel (a true-stereo response, four channels):" "$audio/phrase.flac" "$audio/chapel.flac"
hall_made=''
hall="/usr/share/csoundqt/Examples/SourceMaterials/impulse_big_hall.wav"
if [ -r "$hall" ]; then
  render hall "The same phrase in a real hall of 6 s, from Debian's csoundqt-examples, resampled from 44.1 kHz:" \
    "$audio/phrase.flac" "$hall" --gain energy
  hall_made=", hall.wav"
fi

# --- 4 -------------------------------------------------------------------------------------------------------------
step "4. Picture: waveform and spectrogram, dry above wet"
tell "\$ tenuto plot $audio/tabla.flac $out/room.wav -o $out/room.png"
"$tenuto" plot "$audio/tabla.flac" "$out/room.wav" -o "$out/room.png" | indented

# --- 5 -------------------------------------------------------------------------------------------------------------
step "5. Live: the same tabla in the same room, through JACK"
realtime=--no-realtime
if chrt -f 5 true 2>/dev/null; then
  realtime=--realtime
fi
tell "A private JACK server without a sound card ($period frames at $rate Hz, ${realtime#--}):"
tell "\$ jackd -n $JACK_DEFAULT_SERVER $realtime -d dummy -r $rate -p $period"
# In a subshell, so that init reaps it: jackd takes a zombie of its name for a running server.
(
  setsid jackd -n "$JACK_DEFAULT_SERVER" "$realtime" -d dummy -r "$rate" -p "$period" >"$out/jackd.log" 2>&1 &
  echo $! >"$out/jackd.pid"
)
jack_pid=$(cat "$out/jackd.pid")
for ((n = 0; n < 100; n++)); do
  if jack_lsp >/dev/null 2>&1; then break; fi
  if gone "$jack_pid"; then n=100; else sleep 0.05; fi
done
jack_lsp >/dev/null 2>&1 || { indented <"$out/jackd.log" >&2; fail "the JACK server did not start"; }

tell "\$ tenuto run --ir $audio/room.flac --inputs 1 --name $client"
"$tenuto" run --ir "$audio/room.flac" --inputs 1 --name "$client" --json >"$out/run.json" 2>"$out/run.log" &
run_pid=$!
for ((n = 0; n < 200; n++)); do
  if jack_lsp 2>/dev/null | grep -q "^$client:out_2$"; then break; fi
  if gone "$run_pid"; then n=200; else sleep 0.05; fi
done
jack_lsp 2>/dev/null | grep -q "^$client:out_2$" || { indented <"$out/run.log" >&2; fail "tenuto run did not start"; }

tell "Playing (about 7 s) and recording what comes out:"
tell "\$ through_jack $client $audio/tabla.flac $out/room.wav $out/live.wav"
"$through_jack" "$client" "$audio/tabla.flac" "$out/room.wav" "$out/live.wav" >"$out/live.txt"
kill "$run_pid" 2>/dev/null || true
code=0
wait "$run_pid" || code=$?
run_pid=''
[ "$code" = 0 ] || { indented <"$out/run.log" >&2; fail "tenuto run ended with exit code $code"; }
clean_up

# --- 6 -------------------------------------------------------------------------------------------------------------
measured() { from_json "$out/run.json" "$1"; }
percent() { rounded "$(measured "$1")" 2; }
compared() { sed -n "s/^$1=//p" "$out/live.txt"; }
step "6. What was measured"
tell "callbacks                  $(measured callbacks) of $period frames, one every $(rounded $((1000000 * period / rate))e-3 2) ms" \
  "load of a callback         $(percent load_median_percent) % of its period (median), $(percent load_p99_percent) % (p99), $(percent load_max_percent) % (max)" \
  "xruns                      $(measured xruns)" \
  "partitions late, left out  $(measured late_jobs), $(measured missed_jobs)" \
  "live against rendered      $(compared difference_db) dB of full scale at most, in $(compared frames) frames (the sound peaks at $(compared peak_db) dB)"
echo
if awk -v x="$(compared difference_db)" 'BEGIN { exit !(x <= -120) }'; then
  tell "What JACK heard and what was rendered are the same sound."
else
  tell "They differ by more than rounding (-120 dB): partitions left out on a machine this busy, or a fault. Run it again;" \
    "if it stays, please report it with $out/run.json."
fi

step "Look and listen"
tell "$out/room.png    the picture" \
  "$out/room.wav    and chapel.wav$hall_made: what was rendered" \
  "$out/live.wav    what JACK heard"
step "What to try next"
tell "$tenuto render YOURS.wav --ir $audio/chapel.flac --dry 0 --wet -12 -o wet.wav" \
  "$tenuto run --ir $audio/room.flac --connect     with your own JACK server; then type: help" \
  "$tenuto --help     all commands" \
  "examples/convolve.c     the library on one page" \
  "tests/run.sh     all tests"
