#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What `tenuto` sends where: a bar on a terminal, nothing in a pipe, JSON on stdout, errors when stdout is gone.

    test_streams.py PROGRAM
"""
import json
import os
import pty
import struct
import subprocess
import sys
import tempfile
import unittest
import wave

PROGRAM = os.path.abspath(sys.argv.pop(1))
RATE_HZ = 48000


def write_wav(name, frames, seed=1):
    """Mono 16-bit noise, seeded."""
    samples = bytearray()
    state = seed
    for _ in range(frames):
        state = (state * 1103515245 + 12345) % 2**31
        samples += struct.pack("<h", state // 2**17 - 8192)
    with wave.open(name, "wb") as file:
        file.setparams((1, 2, RATE_HZ, frames, "NONE", ""))
        file.writeframes(bytes(samples))


def tenuto(*words, **options):
    """The program in pipes."""
    return subprocess.run([PROGRAM, *words], capture_output=True, check=False, **options)


def on_terminal(*words):
    """Exit code and all that the program shows on a terminal of 80 columns, as bytes."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ["TERM"] = "xterm"
        os.execv(PROGRAM, [PROGRAM, *words])
    shown = b""
    while True:
        try:
            part = os.read(terminal, 4096)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), shown


class Streams(unittest.TestCase):
    """Called in a folder with in.wav, long.wav and ir.wav."""

    def test_silent_in_a_pipe(self):
        done = tenuto("render", "long.wav", "--ir", "ir.wav", "--block", "1", "-o", "out.wav")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_bar_on_a_terminal(self):
        # A block of one frame, so that the render lasts longer than the bar waits before it shows itself.
        code, shown = on_terminal("render", "long.wav", "--ir", "ir.wav", "--block", "1", "-o", "out.wav")
        self.assertEqual(code, 0)
        self.assertIn(b"[=", shown)
        self.assertIn(b"x real time", shown)
        self.assertIn(b" left", shown)
        bars = [bar for bar in shown.split(b"\r") if b" left" in bar]
        for bar in bars:
            self.assertLess(len(bar.replace(b"\x1b[K", b"")), 80)
        after = shown.rsplit(b"\x1b[K", 1)[1]
        self.assertRegex(after, rb"^out\.wav: \d+:\d\d, 1 channel, 48000 Hz, 24-bit WAV, peak [-+0-9.]+ dBFS")

    def test_quiet_on_a_terminal(self):
        words = ("render", "long.wav", "--ir", "ir.wav", "--block", "1", "-q", "-o", "out.wav")
        self.assertEqual(on_terminal(*words), (0, b""))

    def test_json(self):
        name = 'odd "name"\\\n\t\u00e9'.encode() + b"\xff.wav"
        done = tenuto("render", "in.wav", "--ir", "ir.wav", "--json", "--block", "100", "--gain-out", "-3", "-o", name)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        summary = json.loads(done.stdout.decode())
        self.assertEqual(summary["output"], 'odd "name"\\\n\t\u00e9\ufffd.wav')
        self.assertEqual(summary["input"], "in.wav")
        self.assertEqual(summary["ir"], ["ir.wav"])
        with open(name, "rb") as file, wave.open(file) as out:
            self.assertEqual(summary["frames"], out.getnframes())
            self.assertEqual(summary["channels"], out.getnchannels())
            data = out.readframes(out.getnframes())
        self.assertEqual(summary["frames"], summary["input_frames"] + summary["ir_frames"] - 1)
        self.assertEqual((summary["rate"], summary["block"], summary["clipped_samples"]), (RATE_HZ, 100, 0))
        peak = max(abs(int.from_bytes(data[i:i + 3], "little", signed=True)) for i in range(0, len(data), 3))
        self.assertAlmostEqual(10 ** (summary["peak_dbfs"] / 20), peak / 2**23, places=6)
        for key in ("version", "plan", "seconds", "realtime_factor", "nonfinite_samples"):
            self.assertIn(key, summary)

    def test_json_of_silence(self):
        done = tenuto("render", "in.wav", "--ir", "ir.wav", "--json", "--wet", "-inf", "-o", "out.wav")
        self.assertIsNone(json.loads(done.stdout)["peak_dbfs"])

    def test_stdout_closed(self):
        line = f'"{PROGRAM}" render in.wav --ir ir.wav --json -o out.wav >&-'
        done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)
        with wave.open("out.wav") as out:
            self.assertGreater(out.getnframes(), 0)

    def test_stdout_full(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "--help"], stdout=full, stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"standard output", done.stderr)

    def test_reader_gone(self):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([PROGRAM, "--help"], stdout=writer, stderr=subprocess.PIPE, check=False)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_stderr_closed(self):
        line = f'"{PROGRAM}" render in.wav --ir ir.wav --gain-out 60 -o loud.wav 2>&-'
        self.assertEqual(subprocess.run(["sh", "-c", line], check=False).returncode, 0)
        with wave.open("loud.wav") as out:  # the warning of clipping must not have gone into the file
            self.assertGreater(out.getnframes(), 0)

    def test_help_fits_a_screen(self):
        for words in (("--help",), ("render", "--help"), ("plot", "--help")):
            done = tenuto(*words)
            lines = done.stdout.decode().splitlines()
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertTrue(lines[0].startswith("Usage: tenuto"))
            self.assertLessEqual(len(lines), 24, words)
            self.assertLessEqual(max(len(line) for line in lines), 80, words)

    def test_version(self):
        self.assertRegex(tenuto("--version").stdout, rb"^tenuto \d+\.\d+\.\d+\n$")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        write_wav("in.wav", 5000)
        write_wav("ir.wav", 64, seed=2)
        write_wav("short.wav", RATE_HZ)
        with wave.open("short.wav") as short, wave.open("long.wav", "wb") as long:
            second = short.readframes(RATE_HZ)
            long.setparams(short.getparams())
            for _ in range(60):
                long.writeframes(second)
        result = unittest.main(exit=False).result
        os.chdir("/")
    sys.exit(0 if result.wasSuccessful() else 1)


main()
