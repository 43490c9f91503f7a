#!/usr/bin/env python3
"""Iterations that traces show of loops nobody here wrote: the rows of the table in docs/time-series-analysis.md.

Usage: benchmarks/foreign_loops.py [--mpi openmpi|mpich]
Needs the build of the preset release. ScaLAPACK is measured under both MPIs, LAMMPS under Open MPI, NWChem under MPICH; what is
not installed is left out. Actual is what the program printed, or size / block, times 2 ranks: never what libprofile counted.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build/release"
TOOL = BUILD / "tools/libprofile"
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1",
                "--mca", "btl_vader_single_copy_mechanism", "none"],
    "mpich": ["mpirun.mpich"],
}
SETTINGS = ["LIBPROFILE_TRACE=1", "LIBPROFILE_SAMPLE=1kHz", "LIBPROFILE_OUTPUT=profile", "OMP_NUM_THREADS=1",
            f"LD_PRELOAD={BUILD}/libprofile/libprofile.so"]
RANKS = 2
LONG, SIZE, BLOCK = 12000, 800, 50
CRACK = Path("/usr/share/lammps/examples/crack/in.crack")
NWCHEM = """start w
memory 400 mb
geometry units angstroms noautosym
 O 0.0 0.0 0.0
 H 0.0 0.76 0.59
 H 0.0 -0.76 0.59
end
basis
 * library 6-31g**
end
dft
 xc b3lyp
 grid fine
end
task dft energy
"""
SCF = "0x2314bc"  # the innermost loop of NWChem's SCF driver, in the stripped program of nwchem-mpich 7.0.2-4


def factorisations(mpi, folder):
    """Pairs of a command and a function, whose outermost loop is meant."""
    library = Path(f"/usr/lib/x86_64-linux-gnu/libscalapack-{mpi}.so.2.2")
    if not library.exists():
        return
    program = folder / "factorisations"
    subprocess.run([f"mpicc.{mpi}", "-O2", "-o", program, HERE / "factorisations.c", library], check=True)
    for name in ("qr", "ql", "lq", "rq", "lu", "orgqr", "orgql", "orglq", "orgrq"):
        function = "pdgetrf_" if name == "lu" else f"pd{name}_" if name.startswith("org") else f"pdge{name}f_"
        yield f"ScaLAPACK {function}", [program, name, LONG, SIZE, BLOCK], function


def programs(mpi, folder):
    yield from factorisations(mpi, folder)
    if mpi == "openmpi" and shutil.which("lmp") and CRACK.exists():
        (folder / "in.crack").write_text(re.sub(r"(?m)^run\s+\d+", "run 100", CRACK.read_text().replace("block 0 100 0 40", "block 0 400 0 160")))
        yield "LAMMPS crack", ["lmp", "-in", "in.crack", "-log", "none"], "LAMMPS_NS::Verlet::run"
    if mpi == "mpich" and shutil.which("nwchem.mpich"):
        (folder / "w.nw").write_text(NWCHEM)
        yield "NWChem DFT", ["nwchem.mpich", "w.nw"], SCF


def steps(name, out):
    """What the program itself says about one rank."""
    if name.startswith("ScaLAPACK"):
        outside = 2 if "pdorgqr" in name or "pdorglq" in name else 1  # blocks that are done before or after the loop
        return int(out.split()[0]) - outside
    if name.startswith("LAMMPS"):
        return int(re.search(r"Loop time of .* for (\d+) steps", out)[1])
    return len(re.findall(r"(?m)^ d= ?\d+,ls=", out))


def row(mpi, folder, name, command, loop_name):
    shutil.rmtree(folder / "profile", ignore_errors=True)
    line = [*LAUNCHERS[mpi], "-n", str(RANKS), "env", *SETTINGS, *map(str, command)]
    run = subprocess.run(line, cwd=folder, capture_output=True, text=True, errors="replace", timeout=120)
    told = subprocess.run([TOOL, "diagnose", folder / "profile", "--format", "json", "--top", "1000"], capture_output=True, text=True)
    if run.returncode != 0 or told.returncode != 0:
        sys.exit(f"{name}, {mpi}: exit code {run.returncode}\n{run.stderr}{told.stderr}")
    trace = json.loads(told.stdout)["trace"]
    found = [loop for loop in trace["loops"] if loop_name in loop["call_path"][-1]]
    actual = steps(name, run.stdout) * RANKS
    if not found or actual == 0:
        print(f"| {mpi} | {name} | not found | | | {actual} |", flush=True)
        return
    loop = max(found, key=lambda one: one["ns"])
    periods = loop["ns"] / (actual / RANKS) / trace["period_ns"]
    print(f"| {mpi} | {name} | {periods:.0f} | {loop['accepted']} | {loop['rejected']} | {actual} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=sorted(LAUNCHERS), action="append")
    chosen = parser.parse_args().mpi or sorted(LAUNCHERS)
    print("| MPI | loop | periods an iteration | accepted | rejected | actual |\n|---|---|--:|--:|--:|--:|")
    for mpi in chosen:
        with tempfile.TemporaryDirectory() as name:
            for one in programs(mpi, Path(name)):
                row(mpi, Path(name), *one)


if __name__ == "__main__":
    os.environ.pop("LD_PRELOAD", None)
    main()
