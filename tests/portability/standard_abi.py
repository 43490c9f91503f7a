#!/usr/bin/python3
"""The C programs of tests/programs/matrix with the standard ABI of MPI 5: compiled with the mpi.h of one library that has it, run with libmpi_abi of
another. Where there is none, tests are skipped (and tests/process/standard_abi.py has a stand-in).

Usage: as the scripts of tests/process"""

import re
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "process"))
import count_matrix  # noqa: E402
from harness import Skip, expect_equal, main, test, tests  # noqa: E402

tests.clear() # those of count_matrix

OTHER = {"mpich": "openmpi", "openmpi": "mpich"}
HEADERS = {"mpich": "mpi_abi_mpich/include", "openmpi": "openmpi/include/standard_abi"}
NOT_OF_THE_STANDARD = {"mpich": {"MPI_Psend_init", "MPI_Precv_init"}, "openmpi": set()} # their counts are int
# What Open MPI does differently in them, for which its own mpi.h would define OPEN_MPI.
OF_OPENMPI = ("files", "callbacks", "ports")
FLAGS = ["-O1", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-Wno-stringop-overflow", "-Wno-stringop-overread", "-Wno-deprecated-declarations"]


def found(pattern):
    files = sorted(Path("/usr/lib").glob(f"*-linux-gnu*/{pattern}"))
    if not files:
        raise Skip(f"this system has no {pattern}")
    return files[0]


def build(job, name, *more):
    library = job.folder / "libmpi_abi.so.1"
    if not library.exists():
        library.symlink_to(found(f"libmpi_abi_{job.mpi}.so.1.*"))
    sources, output = job.source / "tests/programs/matrix", job.folder / (name + "".join(more))
    flags = [*FLAGS, f"-I{found(HEADERS[OTHER[job.mpi]])}", *more]
    if job.mpi == "openmpi" and name in OF_OPENMPI:
        flags.append("-DOPEN_MPI")
    job.compile("cc", *flags, sources / f"{name}.c", sources / "call_log.c", library, f"-Wl,-rpath,{job.folder}", "-ldl", "-o", output)
    return output


@test
def values_and_declarations_are_those_of_the_librarys_header(job):
    ours = job.source / "wrappers/mpi/standard_abi"
    rows = re.findall(r"(?m)^constant +.* (\w+) +(\S+)$", (ours / "abi.table").read_text())
    declarations = [line for line in (ours / "abi.prototypes").read_text().splitlines()
                    if line.startswith("int ") and not NOT_OF_THE_STANDARD[job.mpi] & set(re.findall(r"\w+", line))]
    assert len(rows) > 40 and len(declarations) > 500
    checks = "".join(f'    if ((intptr_t){name} != {value}) puts("{name}");\n' for name, value in rows)
    program = job.write("values.c", "#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\n" + "\n".join(declarations) +
                        "\n_Static_assert(sizeof(MPI_Status) == 32 && sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8 && sizeof(MPI_Offset) == 8, \"\");\n"
                        f"int main(void) {{\n{checks}    return 0;\n}}\n")
    job.compile("cc", "-std=gnu11", f"-I{found(HEADERS[job.mpi])}", program, "-o", "values")
    expect_equal(job.run([job.folder / "values"]).out, "", "constants with other values")


def add_test(name):
    def compare(job):
        for is_large, arguments, env in count_matrix.ways_to_run(name, job.mpi):
            program = build(job, name, *(["-DLARGE_COUNTS"] if is_large else []))
            count_matrix.compare(job, [program, *arguments], count_matrix.RANKS[job.mpi], env)

    compare.__name__ = f"counts_of_{name}_equal_the_log"
    test(compare)


for c_program in count_matrix.C_PROGRAMS:
    if c_program != "removed": # which the ABI does not have
        add_test(c_program)

if __name__ == "__main__":
    main()
