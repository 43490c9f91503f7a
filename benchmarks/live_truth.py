#!/usr/bin/env python3
"""What `libprofile diagnose` finds in real processes that lose a known part of their time (tests/programs/lost_time.c), 2 ranks.

Usage: benchmarks/live_truth.py [--mpi openmpi|mpich] [--percent 2 5 20] [--iterations 2000] [--clean 10] [--trace] [--causes NAME ...]
Needs a build (scripts/test makes one), and two processors for itself: runs that others disturb are repeated, and left out if they stay disturbed.
A rank without a processor is no false finding if the kernel counted half of that time or more as waiting for one.
A cause that diagnose leaves open besides the one it names counts as `open` if it is the planted one: found, but not told from the other. `yes, or X`
is the planted one with X left open. Under `function` stands what was named instead of the one with the work.
`gain` is what diagnose promises, as a multiple of what was planted; `wall` as a multiple of what the loop took longer than without the cause.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "--mca",
                "btl_vader_single_copy_mechanism", "none", "-n", "2"],
    "mpich": ["mpirun.mpich", "-n", "2"],
}
COMPUTING_MS = 2.17  # of an iteration, without the cause
# How long files, messages and waking up take is not known beforehand: so many times what is planted.
ROOM = {"io": 1.5, "io_all": 1.5, "sleep": 1.5, "volume": 2.5}
TWICE = ("late_sender", "gather")  # two ranks compute what is planted, one after the other, or one does for both; without the cause both at a time
# By cause of lost_time: causes that are right, ranks, function, and which iterations. None: not judged.
EXPECTED = {
    "steady": (("imbalance",), [1], "refine", None),
    "range": (("imbalance",), [1], "refine", lambda i, n: n * 4 // 10 <= i < n * 6 // 10),
    "ramp": (("imbalance",), [1], "refine", None),
    "moving": (("imbalance",), [0, 1], "refine", None),
    "serial": (("serialisation",), None, None, None),
    "gather": (("serialisation",), [0], "collect", lambda i, n: i % 25 == 12),
    "late_sender": (("late_sender",), [0], "MPI_Recv", None),
    "late_root": (("late_root",), [0], "prepare", None),
    "slow": (("slow_machine",), [1], None, None),
    "noise": (("noise",), [0, 1], None, None),
    "growth": (("growing_work",), None, "refine", None),
    "growth_counts": (("growing_work",), None, "refine", None),
    "periodic": (("periodic_work",), None, "refine", lambda i, n: i % 20 == 7),
    "warm_up": (("warm_up",), None, "refine", lambda i, n: i < n // 20),
    "io": (("input_output",), [0], "write_results", lambda i, n: i % 25 == 12),
    "io_all": (("input_output",), None, "write_results", lambda i, n: i % 25 == 12),
    "sleep": (("off_processor",), [1], None, None),
    "volume": (("communication_volume",), None, None, lambda i, n: i >= n // 2),
}


def run(options, cause, percent, folder):
    """The time of the loop in ms, the diagnosis, and for how many ms each rank waited for a processor."""
    program = ROOT / f"build/release/tests/process/programs/lost_time.{options.mpi}"
    settings = ["env", f"LD_PRELOAD={ROOT}/build/install/lib/libprofile.so", f"LIBPROFILE_OUTPUT={folder}", f"LIBPROFILE_TRACE={int(options.trace)}"]
    command = [*LAUNCHERS[options.mpi], *settings, str(program), cause, str(percent), str(options.iterations), "delays"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {result.returncode}\n{result.stderr}")
    least = max(0.1, min(1.0, percent / 2)) if percent else 1
    told = subprocess.run([ROOT / "build/install/bin/libprofile", "diagnose", folder, "--format", "json", "--least", str(least)], capture_output=True, check=True)
    ms, delays = result.stdout.splitlines()
    return float(ms), json.loads(told.stdout), [float(delay) for delay in delays.split()]


def undisturbed(options, cause, percent, folder, without=None):
    """@param without: ms that the loop takes without a cause, if that is known"""
    added = 2 if cause in TWICE else 1
    for attempt in range(3):
        ms, diagnosis, delays = run(options, cause, percent, f"{folder}/{cause}.{percent}.{attempt}")
        planted = options.iterations * COMPUTING_MS * ROOM.get(cause, 1) * added * percent / 100
        if ms <= 1.04 * ((without or 1.04 * options.iterations * COMPUTING_MS) + planted):
            return ms, diagnosis, delays
    return None, None, None


def was_without_processor(found, delays):
    """By the kernel, which knows nothing of iterations."""
    waited = sum(delays[rank] for rank in found["ranks"] or range(len(delays)))
    return found["cause"] == "off_processor" and waited >= found["gain"]["ns"] / 2e6


def iterations_of(found):
    return {i - 1 for first, last in found["iterations"] or [] for i in range(first, last + 1)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--percent", type=float, nargs="+", default=[2, 5, 20])
    parser.add_argument("--iterations", type=int, default=2000)
    parser.add_argument("--clean", type=int, default=10)
    parser.add_argument("--trace", action="store_true", help="with LIBPROFILE_TRACE=1")
    parser.add_argument("--causes", nargs="+", default=list(EXPECTED))
    options = parser.parse_args()
    n = options.iterations
    with tempfile.TemporaryDirectory() as folder:
        clean, false, true = [], [], []
        for k in range(options.clean):
            ms, diagnosis, delays = undisturbed(options, "none", 0, f"{folder}/{k}.")
            if ms is not None:
                clean.append(ms)
                for found in diagnosis["diagnoses"]:
                    (true if was_without_processor(found, delays) else false).append(f"{found['sentence']} ({found['gain']['ns'] / 1e6:.0f} ms of {ms:.0f} ms; "
                                                                                     f"ranks waited {', '.join(f'{delay:.0f}' for delay in delays)} ms)")
        print(f"{options.mpi}: {len(clean)} clean runs of {options.clean} undisturbed, false findings in them: {len(false)}, "
              f"true ones of ranks without a processor: {len(true)}")
        for sentence in false + true:
            print(f"    {sentence}")
        without = statistics.median(clean) if clean else None
        print("\n| cause | planted | found | ranks | function | iterations | gain | wall | other findings |\n|---|--:|---|---|---|---|--:|--:|--:|")
        for cause in options.causes:
            causes, ranks, function, is_in = EXPECTED[cause]
            for percent in [100] if cause == "serial" else options.percent:  # of two ranks, one after the other
                ms, diagnosis, delays = undisturbed(options, cause, percent, folder, without)
                if ms is None:
                    print(f"| {cause} | {percent:g} % | disturbed | | | | | | |", flush=True)
                    continue
                right = [found for found in diagnosis["diagnoses"] if found["cause"] in causes]
                is_open = not right
                right = right or [found for found in diagnosis["diagnoses"] if found["alternative"] in causes]
                others = [f"{found['cause']} {100 * found['gain']['ns'] / (ms * 1e6):.1f} %" for found in diagnosis["diagnoses"]
                          if found not in right[:1] and not was_without_processor(found, delays)]
                cells = ["no", "", "", "", "", ""]
                if right:
                    found = right[0]
                    planted = percent / 100 * COMPUTING_MS * n
                    longer = ms - without - (planted if cause in TWICE else 0) if without else 0
                    said = lambda good: "yes" if good else "no"
                    wanted = {i for i in range(n) if is_in(i, n)} if is_in else None
                    got = iterations_of(found)
                    cells = ["open" if is_open else f"yes, or {found['alternative']}" if found["alternative"] else "yes", "-" if ranks is None else said(found["ranks"] == ranks),
                             "-" if function is None else "yes" if function in (found["function"] or "") else found["function"] or "none",
                             "-" if wanted is None else f"{len(got & wanted) / max(1, len(got | wanted)):.2f}",
                             f"{found['gain']['ns'] / 1e6 / planted:.2f}",
                             f"{found['gain']['ns'] / 1e6 / longer:.2f}" if longer > 0 else "-"]
                print(f"| {cause} | {percent:g} % | {' | '.join(cells)} | {', '.join(others) or '0'} |", flush=True)


if __name__ == "__main__":
    main()
