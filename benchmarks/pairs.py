#!/usr/bin/env python3
"""Whole runs with and without libprofile in alternating pairs: median ratios of wall and of processor time.

Usage: benchmarks/pairs.py [--rounds N] [--warm-up N] [--variable NAME=VALUE]... -- COMMAND ...
The command is an mpirun line in which PRELOAD stands in front of the program, as in
    benchmarks/pairs.py -- mpirun -n 2 PRELOAD lmp -in in.crack
Each round runs both, the order alternates. Prints a line per round and the medians with their quartiles.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent.parent / "build/install/lib/libprofile.so"


def with_library(folder, variables):
    """Settings for a job with libprofile, which writes into the folder."""
    return [f"LD_PRELOAD={LIBRARY}", f"LIBPROFILE_OUTPUT={folder}/profile", *variables]


def with_settings(command, settings):
    """The command, with the settings in PRELOAD's place."""
    at = command.index("PRELOAD")
    return [*command[:at], "env", *settings, *command[at + 1 :]]


def expect_success(line, code, errors):
    if code != 0:
        sys.exit(f"{' '.join(line)}: exit code {code}\n{errors}")


def run(command, settings):
    """Wall and processor time of one run in s. The command must succeed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    line = with_settings(command, settings)
    result = subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect_success(line, result.returncode, result.stderr.decode(errors="replace"))
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def summary(name, ratios):
    low, middle, high = statistics.quantiles(ratios, n=4)
    print(f"{name}: median ratio {middle:.4f}, quartiles {low:.4f} .. {high:.4f}, {len(ratios)} pairs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--warm-up", type=int, default=1)
    parser.add_argument("--variable", action="append", default=[])
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp()
    with_us = with_library(scratch, arguments.variable)
    wall, cpu = [], []
    for i in range(-arguments.warm_up, arguments.rounds):
        order = (True, False) if i % 2 else (False, True)
        times = {measured: run(arguments.command, with_us if measured else []) for measured in order}
        for old in Path(scratch).glob("profile*"):
            shutil.rmtree(old)
        if i < 0:
            continue
        wall.append(times[True][0] / times[False][0])
        cpu.append(times[True][1] / times[False][1])
        print(f"{i + 1:3}: wall {times[False][0]:.3f} s x {wall[-1]:.4f}   processor {times[False][1]:.3f} s x {cpu[-1]:.4f}", flush=True)
    summary("wall", wall)
    summary("processor", cpu)
    os.rmdir(scratch)


if __name__ == "__main__":
    main()
