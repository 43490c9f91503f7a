#!/usr/bin/python3
"""The long test of call paths: runs all modes of tests/programs/soak.cpp and callbacks.cpp with changing seeds, under each MPI, for
some minutes, and compares every path that a mark shortened with a full unwind. Not part of ctest. Prints a table; the exit code
is 1 if a path was wrong or a program crashed, hung, or printed something else than without libprofile.

    soak.py --build build/release [--minutes 10] [--mpi openmpi mpich] [--modes ...] [--rounds 1] [--marks check]
"""

import argparse
import ctypes
import random
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace

from harness import MOST_SAMPLES, PR_SET_CHILD_SUBREAPER, Job
from marks import SOAK_ROUNDS

# mode: program, its mode, rounds
MODES = {mode: ("soak", mode, rounds) for mode, rounds in SOAK_ROUNDS.items()}
MODES |= {"callbacks": ("callbacks", "soak", 2500), "callback_threads": ("callbacks", "threads", 150)}
# exits: exceptions and jumps inside callbacks, and threads that ended there
COLUMNS = ("runs", "exits", "samples", "checked", "wrong", "placed", "returns", "lost", "hangs", "crashes", "different")


def one_run(job, mode, options, seed, row):
    program, program_mode, rounds = MODES[mode]
    rounds = int(rounds * options.rounds)
    command = [job.program(program), program_mode, rounds, seed]
    row["runs"] += 1
    try:
        plain = job.plain(command, 1, timeout=300)
        job.runs += 1
        output = f"soak.{job.runs}"
        iteration = "none" if program == "callbacks" else "auto"  # whose call paths are random: there is no loop, and much to compare
        result = job.measured(command, 1, options={**MOST_SAMPLES, "LIBPROFILE_MARKS": options.marks, "LIBPROFILE_ITERATION": iteration},
                              output=output, timeout=900)
    except AssertionError as error:
        row["hangs"] += 1
        return f"{error}\n{job.last}"
    if result.code != plain.code:
        row["crashes"] += 1
        return str(result)
    if (result.out, result.err) != (plain.out, plain.err):
        row["different"] += 1
        return f"{plain}\n{result}"
    report = job.report(output)
    found = report["call_paths_found"]
    for column, name in {"checked": "paths_checked", "wrong": "paths_wrong", "placed": "marks_placed",
                         "returns": "returns_through_marks", "lost": "marks_lost"}.items():
        row[column] += found[name]
    row["exits"] += rounds if mode == "callback_threads" else sum(map(int, re.findall(r"(\d+) (?:caught|jumped)", result.out)))
    row["samples"] += report["losses"]["samples_taken"]
    shutil.rmtree(job.folder / output, ignore_errors=True)
    return f"{found}" if found["paths_wrong"] else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--mpi", nargs="+", default=["openmpi", "mpich"])
    parser.add_argument("--modes", nargs="+", default=list(MODES), choices=MODES)
    parser.add_argument("--rounds", type=float, default=1, help="length of a run, relative to that of the tests")
    parser.add_argument("--marks", default="check", choices=("check", "1"), help="1: paths are not compared, which is faster")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="of the seeds")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    build = options.build.resolve()
    seeds = random.Random(options.seed)
    end = time.monotonic() + options.minutes * 60
    rows, troubles = {}, []
    with tempfile.TemporaryDirectory(prefix="soak.") as folder:
        jobs = {mpi: Job(SimpleNamespace(library=build / "libprofile/libprofile.so", tool=build / "tools/libprofile",
                                         programs=build / "tests/process/programs", build=build, mpi=mpi), folder)
                for mpi in options.mpi}
        while time.monotonic() < end:
            for mode in options.modes:
                for mpi, job in jobs.items():
                    if time.monotonic() >= end:
                        break
                    row = rows.setdefault((mode, mpi), dict.fromkeys(COLUMNS, 0))
                    seed = seeds.randrange(1, 1 << 30)
                    trouble = one_run(job, mode, options, seed, row)
                    if trouble is not None:
                        troubles.append(f"{mode}, {mpi}, seed {seed}: {trouble}")
                        print(troubles[-1], flush=True)
    print(f"{'mode':<17}{'MPI':<9}" + "".join(f"{column:>12}" for column in COLUMNS))
    for (mode, mpi), row in rows.items():
        print(f"{mode:<17}{mpi:<9}" + "".join(f"{row[column]:>12,}" for column in COLUMNS))
    print(f"{len(troubles)} troubles; the seeds began with {options.seed}")
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
