#!/usr/bin/env python3
"""What `libprofile compare --over-time` finds between two real runs of one program, of which the second one has a known change
(tests/programs/changed_steps.c), and how often it finds one between equal runs of it and of LAMMPS. 2 ranks, one run a side.

Usage: benchmarks/live_regressions.py FOLDER [--mpi openmpi mpich] [--percent 5 10 20] [--steps 4000] [--equal 10] [--lammps 10]
Needs a build (scripts/test makes one), and two processors for itself. Runs are recorded into FOLDER; those that are there already are judged again.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--bind-to", "core", "--mca", "btl_vader_single_copy_mechanism", "none", "-n", "2"],
    "mpich": ["mpirun.mpich", "-bind-to", "core", "-n", "2"],
}
CRACK = Path("/usr/share/lammps/examples/crack/in.crack")
# By change: functions of which one is named, its rank (None: all of them), how it is told, and the first and last changed step of n.
EXPECTED = {
    "function": (("solve",), None, ("unknown", "speed"), lambda n: (n // 2, n - 1)),
    "rank": (("refine",), "1", ("unknown", "speed"), lambda n: (0, n - 1)),
    "part": (("refine",), "1", ("unknown", "speed"), lambda n: (n * 4 // 10, n * 6 // 10 - 1)),
    "bytes": (("MPI_Sendrecv",), None, ("work",), lambda n: (n // 2, n - 1)),
    "allreduce": (("MPI_Allreduce",), None, ("work",), lambda n: (0, n - 1)),
    "output": (("format_lines", "MPI_Gather"), None, ("unknown", "work"), lambda n: (0, n - 1)),
    "unoptimised": (("assemble", "solve", "update"), None, ("unknown", "speed"), lambda n: (0, n - 1)),
}
OTHER_STEPS = ("dropped", "inserted", "longer")


def record(folder, launcher, command, cwd):
    if (folder / "profile.lprof").exists() or any(folder.glob("*.lprof")):
        return
    settings = ["env", f"LD_PRELOAD={ROOT}/build/install/lib/libprofile.so", f"LIBPROFILE_OUTPUT={folder}"]
    result = subprocess.run([*launcher, *settings, *map(str, command)], cwd=cwd, capture_output=True, text=True, timeout=300)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {result.returncode}\n{result.stderr}")


def compared(before, after):
    command = [ROOT / "build/install/bin/libprofile", "compare", before, after, "--over-time", "--format", "json"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {result.stderr}")
    return json.loads(result.stdout)


def changes_of(comparison):
    return [segment for segment in comparison["segments"] if not segment["chance"]]


def partner(change, before, steps, some):
    """The step of the second run that is the one of the first run, from 0; None: there is none."""
    if change == "dropped":
        return before if before < steps // 3 else None if before < steps // 3 + some else before - some
    return before + some if change == "inserted" else before


def judge(change, percent, comparison, steps):
    """What is right of it: the segment, and of what differs most among computing, MPI calls and waits the function, its rank, its class; or partners."""
    if change in OTHER_STEPS:
        some = int(percent / 100 * steps)
        pairs = [(row["iteration_before"] - 1, row["iteration_after"] - 1) for row in comparison["iterations"]]
        common = [b for b in range(steps) if partner(change, b, steps, some) is not None]
        right = sum(partner(change, b, steps, some) == a for b, a in pairs)
        return {"partners": right / len(common) >= 0.99, "no change": not changes_of(comparison)}
    functions, ranks, classes, range_of = EXPECTED[change]
    slower = [segment for segment in changes_of(comparison) if segment["difference"] > 0]
    if not slower:
        return {"segment": False, "function": False, "ranks": False, "class": False}
    worst = max(slower, key=lambda segment: segment["difference"])
    first, last = range_of(steps)
    got = {i for segment in slower for i in range(segment["first_before"] - 1, segment["last_before"])}
    wanted = set(range(first, last + 1))
    rows = [row for row in comparison["functions"] if row["segment"] == worst["segment"] and row["difference"] > 0]
    firsts = {row["kind"]: row for row in reversed(rows)}.values()  # of each kind the one with the largest difference
    named = [row for row in firsts if row["function"] in functions]
    placed = [row for row in named if ranks is None or row["ranks"] == ranks]
    return {"segment": len(got & wanted) / len(got | wanted) >= 0.9, "function": bool(named), "ranks": bool(placed),
            "class": any(row["change"] in classes for row in placed)}


def lammps_input(folder):
    text = CRACK.read_text().replace("dimension", "processors 2 1 1\ndimension", 1)
    path = folder / "in.crack"
    path.write_text(text)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mpi", choices=LAUNCHERS, nargs="+", default=list(LAUNCHERS))
    parser.add_argument("--percent", type=float, nargs="+", default=[5, 10, 20])
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--equal", type=int, default=10, help="pairs of equal runs of changed_steps")
    parser.add_argument("--lammps", type=int, default=10, help="pairs of equal runs of LAMMPS")
    parser.add_argument("--lammps-command", default="lmp")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    folder = options.folder.resolve()
    found = judged = alarms = equal = 0
    for mpi in options.mpi:
        program = ROOT / f"build/release/tests/process/programs/changed_steps.{mpi}"
        slow = ROOT / f"build/release/tests/process/programs/changed_steps_unoptimised.{mpi}"
        for k in range(options.equal + (options.lammps if mpi == "openmpi" else 0)):
            is_lammps = k >= options.equal
            command = [options.lammps_command, "-in", lammps_input(folder), "-log", "none", "-screen", "none"] if is_lammps else [program, "none", 0, options.steps]
            sides = [folder / f"{mpi}.{'lammps' if is_lammps else 'none'}.{k}.{side}" for side in ("before", "after")]
            for side in sides:
                record(side, LAUNCHERS[mpi], command, folder)
            comparison = compared(*sides)
            changes = changes_of(comparison)
            equal += 1
            alarms += bool(changes)
            print(f"{mpi} equal {'LAMMPS' if is_lammps else 'changed_steps'} {k}: {len(changes)} changes", flush=True)
            for segment in changes:
                print(f"    {segment['first_before']}-{segment['last_before']}: {segment['each_after'] / segment['each_before'] - 1:+.1%}, evidence: {segment['evidence']}")
        for change in [*EXPECTED, *OTHER_STEPS]:
            for percent in options.percent if change not in ("unoptimised", "longer") else options.percent[:1]:
                sides = [folder / f"{mpi}.{change}.{percent:g}.{side}" for side in ("before", "after")]
                record(sides[0], LAUNCHERS[mpi], [program, "none", 0, options.steps], folder)
                after = [slow, "none", 0, options.steps] if change == "unoptimised" else [program, change, percent, options.steps]
                record(sides[1], LAUNCHERS[mpi], after, folder)
                right = judge(change, percent, compared(*sides), options.steps)
                judged += 1
                found += all(right.values())
                wrong = [name for name, good in right.items() if not good]
                print(f"{mpi} {change} {percent:g} %: {'found' if not wrong else 'not right: ' + ', '.join(wrong)}", flush=True)
    print(f"{found} of {judged} changes found whole; {alarms} of {equal} equal pairs have a change")


if __name__ == "__main__":
    main()
