#!/usr/bin/python3
"""Measures what the end of a job costs: additional time of MPI_Finalize, memory and bytes per rank (docs/scaling.md).

Usage: benchmarks/finalize.py [--mpi openmpi|mpich] [--iterations N] [--repeat N] [RANKS...]
Needs a build (scripts/test makes one). All ranks run on this machine, so the time of N ranks is that of N / (processors) one after another.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
                "--mca", "btl_vader_single_copy_mechanism", "none"],
    "mpich": ["mpirun.mpich"],
}
LINE = re.compile(r"rank (\d+) of \d+: finalize ([\d.]+) s, of the processor ([\d.]+) s, memory (\d+) KiB before, (\d+) KiB after")


def run(mpi, ranks, command, environment):
    settings = ["env", *(f"{name}={value}" for name, value in environment.items())]
    done = subprocess.run([*LAUNCHERS[mpi], "-n", str(ranks), *settings, *map(str, command)], capture_output=True, text=True, timeout=1800)
    found = {int(rank): (float(s), float(cpu), int(before), int(after)) for rank, s, cpu, before, after in LINE.findall(done.stdout)}
    if done.returncode != 0 or len(found) != ranks:
        sys.exit(f"{' '.join(done.args)}\nexit code {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return found


def kib(value):
    return f"{value / 1024:.1f} MiB" if value >= 10240 else f"{value:.0f} KiB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--iterations", type=int, default=10000)
    parser.add_argument("--paths", type=int, default=200, help="call paths per rank, of 12 frames each")
    parser.add_argument("--repeat", type=int, default=3, help="runs of which the fastest counts")
    parser.add_argument("ranks", nargs="*", type=int, default=[2, 8, 32, 64, 128, 256])
    options = parser.parse_args()
    build = Path(__file__).resolve().parents[1] / "build"
    program = build / "release" / "tests" / "process" / "programs" / f"paths.{options.mpi}"
    library = build / "install" / "lib" / "libprofile.so"
    for needed in (program, library):
        if not needed.exists():
            sys.exit(f"{needed} is missing: build first (scripts/test)")
    print("| ranks | call paths | MPI_Finalize without | beyond it | processor time of all ranks beyond it | memory grows in it: first rank, "
          "others at most | bytes per rank |")
    print("|--:|---|--:|--:|--:|--:|--:|", flush=True)
    for ranks in options.ranks:
        for mode, name in (("same", "the same"), ("apart", "each its own")):
            command = [program, options.iterations, options.paths, mode]
            plain, measured, plain_cpu, cpu, best = [], [], [], [], None
            for _ in range(options.repeat):
                found = run(options.mpi, ranks, command, {}).values()
                plain.append(max(s for s, *_ in found))
                plain_cpu.append(sum(used for _, used, *_ in found))
                folder = tempfile.mkdtemp()
                environment = {"LD_PRELOAD": library, "LIBPROFILE_OUTPUT": f"{folder}/out", "LIBPROFILE_QUIET": 1}
                found = run(options.mpi, ranks, command, environment)
                measured.append(max(s for s, *_ in found.values()))
                cpu.append(sum(used for _, used, *_ in found.values()))
                best = found
                size = (Path(folder) / "out" / "profile.lprof").stat().st_size
                shutil.rmtree(folder)
            growth = {rank: after - before for rank, (_, _, before, after) in best.items()}
            others = max(kilobytes for rank, kilobytes in growth.items() if rank != 0)
            print(f"| {ranks} | {name} | {min(plain):.2f} s | {min(measured) - min(plain):.2f} s | {min(cpu) - min(plain_cpu):.2f} s | "
                  f"{kib(growth[0])}, {kib(others)} | "
                  f"{kib(size / ranks / 1024)} |", flush=True)


if __name__ == "__main__":
    main()
