#!/usr/bin/env python3
"""Records jobs whose every iteration is kept in full: material to cluster again, any number of times, in any way.

    record.py [--build build/release] [--store] FOLDER [NAME...]

makes FOLDER/NAME for each recording below, or for the named ones; --store also puts those marked so beside this
script as NAME.lprof.xz. Times differ from one making to the next, structure and results do not.
"""

import argparse
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
LAMMPS = Path("/usr/share/lammps/examples")
LAUNCHER = ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca",
            "mpi_yield_when_idle", "1", "--mca", "btl_vader_single_copy_mechanism", "none"]
SETTINGS = {"LIBPROFILE_CLUSTERS": "off", "LIBPROFILE_SAMPLE": "100Hz"}
MOST_STORED = 150_000  # bytes

# name: ranks, program and arguments, folder to copy and run in
RECORDINGS = {
    "hydro": (8, ["hydro", "200", "20"], None),
    "particles": (4, ["particles", "240", "3000"], None),
    "solver": (4, ["solver", "40", "160"], None),
    "adaptive": (4, ["adaptive_cpp", "250", "256"], None),
    "crack": (4, ["lammps_iterations", "in.crack", "20"], LAMMPS / "crack"),
    "deposit": (2, ["lammps_iterations", "in.deposit.atom", "40"], LAMMPS / "deposit"),
    "melt": (2, ["lammps_iterations", "in.melt", "1"], LAMMPS / "melt"),
    # Where iterations are alike: the step of times must follow them, and whole iterations are most of what there is.
    "long-solver": (2, ["solver", "400", "60"], None),
    "long-adaptive": (2, ["adaptive_cpp", "1500", "128"], None),
    # Smaller ones of the same kinds, kept in the repository.
    "small-hydro": (8, ["hydro", "100", "12"], None),
    "small-particles": (4, ["particles", "160", "2000"], None),
    "small-solver": (2, ["solver", "24", "96"], None),
    "small-adaptive": (4, ["adaptive_cpp", "120", "128"], None),
    "small-crack": (2, ["lammps_iterations", "in.crack", "40"], LAMMPS / "crack"),
    "small-deposit": (2, ["lammps_iterations", "in.deposit.atom", "100"], LAMMPS / "deposit"),
}


def record(name, build, target, to_store):
    ranks, program, inputs = RECORDINGS[name]
    binary, library = build / f"examples/{program[0]}.openmpi", build / "libprofile/libprofile.so"
    shutil.rmtree(target, ignore_errors=True)
    work = target.with_name(name + ".work")  # LAMMPS writes beside its input
    shutil.rmtree(work, ignore_errors=True)
    if inputs is not None:
        shutil.copytree(inputs, work)
    else:
        work.mkdir(parents=True)
    if to_store:  # the paths in a stored profile say nothing about the machine
        binary, library = (Path(shutil.copy2(file, work)) for file in (binary, library))
    settings = {**SETTINGS, "LIBPROFILE_OUTPUT": str(target), "LD_PRELOAD": str(library)}
    command = [*LAUNCHER, "-n", str(ranks), "env", *(f"{key}={value}" for key, value in settings.items()),
               str(binary), *program[1:]]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("LIBPROFILE_", "LD_"))}
    try:
        subprocess.run(command, cwd=work, env={**environment, "OMP_NUM_THREADS": "1"}, check=True, timeout=300)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def store(name, target):
    files = sorted(target.glob("*.lprof"))
    if len(files) != 1:
        sys.exit(f"record.py: {target} has {len(files)} profiles, expected one")
    packed = lzma.compress(files[0].read_bytes(), preset=9 | lzma.PRESET_EXTREME)
    if len(packed) > MOST_STORED:
        sys.exit(f"record.py: {name} has {len(packed)} bytes, more than {MOST_STORED}: make it smaller")
    (HERE / f"{name.removeprefix('small-')}.lprof.xz").write_bytes(packed)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build/release")
    parser.add_argument("--store", action="store_true", help="keep the small ones in the repository")
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", choices=[*RECORDINGS, []], metavar="NAME")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    for name in options.names or RECORDINGS:
        target = options.folder.resolve() / name
        to_store = options.store and name.startswith("small-")
        record(name, options.build.resolve(), target, to_store)
        if to_store:
            store(name, target)


if __name__ == "__main__":
    main()
