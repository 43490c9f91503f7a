#!/usr/bin/env python3
"""Measures what compiler instrumentation costs a C++ program of many small calls, without and with the filter from its first run.

Usage: benchmarks/instrumented.py [--rounds N] [--mpi openmpi|mpich] [--steps N] [--cells N]
Compiles tests/programs/small_calls.cpp plainly and with libprofile-c++, measures once, makes the filter by `libprofile filter`,
compiles again with it, and then runs all in turns (the slow ones with fewer steps). Prints for each the median of its ratios to the
plain program without libprofile, with quartiles. Needs an installed build (scripts/test makes one).
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

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/release"
LIBRARY = BUILD / "libprofile/libprofile.so"
TOOL = BUILD / "tools/libprofile"
WRAPPER = ROOT / "scripts/compilers/libprofile-c++"


def run(command, settings):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.monotonic()
    done = subprocess.run(["env", *settings, *map(str, command)], capture_output=True, text=True)
    wall = time.monotonic() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def compare(scratch, steps, rounds, kinds):
    ratios = {name: [] for name in kinds}
    for i in range(-1, rounds):
        times, texts = {}, set()
        for name in list(kinds) if i % 2 else reversed(kinds):
            program, settings = kinds[name]
            _, times[name], text = run([scratch / program, *steps], settings)
            texts.add(text)
            for old in scratch.glob("profile*"):
                shutil.rmtree(old)
        if len(texts) != 1:
            sys.exit(f"results differ: {texts}")
        if i >= 0:
            for name in kinds:
                ratios[name].append(times[name] / times["plain"])
            print(f"{i + 1:3}: plain {times['plain']:.2f} s; " + ", ".join(f"{times[name] / times['plain']:.3f}" for name in list(kinds)[1:]), flush=True)
    for name, values in list(ratios.items())[1:]:
        low, middle, high = statistics.quantiles(values, n=4)
        print(f"{name:45} processor time x {middle:.3f}  (quartiles {low:.3f} .. {high:.3f}, {len(values)} rounds)", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--steps", type=int, default=800)
    parser.add_argument("--cells", type=int, default=50000)
    arguments = parser.parse_args()
    scratch = Path(tempfile.mkdtemp())
    compiler, flags = f"mpicxx.{arguments.mpi}", ["-O2", "-g"]
    source = ROOT / "tests/programs/small_calls.cpp"
    steps = [str(arguments.steps), str(arguments.cells)]
    subprocess.run([compiler, *flags, source, "-o", scratch / "plain"], check=True)
    subprocess.run([WRAPPER, f"--cc={compiler}", *flags, source, "-o", scratch / "instrumented"], check=True)
    preload = [f"LD_PRELOAD={LIBRARY}", "LIBPROFILE_QUIET=1"]
    first = scratch / "first"
    run([scratch / "instrumented", str(max(arguments.steps // 40, 1)), steps[1]], [*preload, f"LIBPROFILE_OUTPUT={first}"])
    made = subprocess.run([TOOL, "filter", first], check=True, capture_output=True, text=True)
    print(made.stderr.strip())
    rules = scratch / "small_calls.filter"
    rules.write_text(made.stdout)
    subprocess.run([WRAPPER, f"--cc={compiler}", f"--filter={rules}", *flags, source, "-o", scratch / "filtered"], check=True)
    measured = [*preload, f"LIBPROFILE_OUTPUT={scratch}/profile"]
    at_run_time = [*measured, f"LIBPROFILE_FILTER={rules}"]
    few = [str(max(arguments.steps // 20, 1)), steps[1]]
    compare(scratch, steps, arguments.rounds, {
        "plain": ("plain", []),
        "plain, measured": ("plain", measured),
        "compiled with the filter, measured": ("filtered", measured),
    })
    compare(scratch, few, max(arguments.rounds // 3, 2), {  # these runs are 10 to 100 times as long
        "plain": ("plain", []),
        "instrumented, without libprofile": ("instrumented", []),
        "instrumented, measured": ("instrumented", measured),
        "instrumented, measured, filter at run time": ("instrumented", at_run_time),
    })
    if shutil.which("clang++"):
        clang = {**os.environ, "OMPI_CXX": "clang++", "MPICH_CXX": "clang++"}
        subprocess.run([compiler, *flags, source, "-o", scratch / "plain"], check=True, env=clang)
        subprocess.run([WRAPPER, "--xray", f"--cc={compiler}", *flags, source, "-o", scratch / "sleds"], check=True, env=clang)
        shutil.rmtree(first)
        run([scratch / "sleds", str(max(arguments.steps // 40, 1)), steps[1]], [*preload, f"LIBPROFILE_OUTPUT={first}"])
        rules.write_text(subprocess.run([TOOL, "filter", first], check=True, capture_output=True, text=True).stdout)
        compare(scratch, steps, max(arguments.rounds // 2, 2), {
            "plain": ("plain", []),
            "Clang's XRay, without libprofile": ("sleds", []),
            "Clang's XRay, measured": ("sleds", measured),
            "Clang's XRay, measured, filter at run time": ("sleds", at_run_time),
        })
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
