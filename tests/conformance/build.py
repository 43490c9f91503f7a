"""Configures and builds the programs of the suite for one MPI, outside of the suite's source folder.

Programs that do not compile (the suite asks for MPI-4 functions that Open MPI 4 lacks, for instance) are left out: make
goes on after errors, and a program that is not there is reported as not built.
"""

import subprocess

# A plain compilation; the suite's own warnings are not our business. Old Fortran programs pass what they like.
FLAGS = {
    "CFLAGS": "-O0 -g -w",
    "CXXFLAGS": "-O0 -g -w",
    "FFLAGS": "-O0 -g -w -fallow-argument-mismatch",
    "FCFLAGS": "-O0 -g -w -fallow-argument-mismatch",
}
# Open MPI still has the functions that MPI-3 removed, but its header hides them unless asked.
OPENMPI_OLD_FUNCTIONS = " -DOMPI_OMIT_MPI1_COMPAT_DECLS=0 -DOMPI_REMOVED_USE_STATIC_ASSERT=0"


def settings(mpi):
    flags = dict(FLAGS)
    if mpi == "openmpi":
        flags["CFLAGS"] += OPENMPI_OLD_FUNCTIONS
    compilers = {"MPICC": "mpicc", "MPICXX": "mpicxx", "MPIF77": "mpif77", "MPIFC": "mpifort"}
    words = [f"{name}={program}.{mpi}" for name, program in compilers.items()]
    return words + [f"{name}={value}" for name, value in flags.items()]


def configure(suite, folder, mpi):
    if (folder / "config.status").exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    options = ["--enable-fortran=all", "--enable-threads=multiple", "--disable-perftest"]
    if mpi == "openmpi":
        options.append("--enable-strictmpi")
    with open(folder / "configure.log", "w") as log:
        subprocess.run(["nice", suite / "configure", *options, *settings(mpi)], cwd=folder, stdout=log, stderr=log, check=True)


def make(folder, jobs):
    with open(folder / "make.log", "w") as log:
        subprocess.run(["nice", "make", "-k", f"-j{jobs}"], cwd=folder, stdout=log, stderr=log, check=False)


def build(suite, folder, mpi, jobs):
    """Builds all programs; what is up to date is not built again."""
    configure(suite, folder, mpi)
    make(folder, jobs)
