#!/usr/bin/python3
"""Programs with the standard ABI of MPI 5 are measured: those of the matrix, compiled unchanged with the generated mpi.h and linked with a
libmpi_abi.so.0 that translates to MPICH (standard_abi_shim.py)."""

from pathlib import Path

import count_matrix
import standard_abi_shim
from harness import expect, expect_equal, main, test


def build(job, name, *more, others=()):
    library, output, sources = job.folder / "libmpi_abi.so.0", job.folder / name, job.source / "tests/programs/matrix"
    shim = job.write("shim.c", standard_abi_shim.source(job.source / "wrappers/mpi/standard_abi"))
    job.compile("mpicc.mpich", "-c", "-w", "-O1", "-fPIC", *more, shim, "-o", "shim.o")
    job.compile("cc", "-shared", f"-Wl,-soname,{library.name}", "shim.o", "-ldl", "-o", library)  # not linked with MPICH
    header = job.build / "wrappers/generated/standard_abi"
    job.compile("cc", "-O1", "-g", "-std=gnu11", "-w", f"-I{header}", sources / f"{name}.c", sources / "call_log.c", *others, library,
                f"-Wl,-rpath,{job.folder}", "-ldl", "-o", output)
    return [output]


def add_test(name):
    def compare(job):
        count_matrix.compare(job, build(job, name), 2)

    compare.__name__ = f"counts_of_{name}_with_the_standard_abi_equal_the_log"
    test(compare)


@test
def of_two_libraries_the_one_is_measured_that_the_program_calls(job):
    job.need("mpicc.openmpi")
    bindings = Path(job.run(["mpicc.openmpi", "--showme:libdirs"]).out.split()[0]) / "libmpi_mpifh.so"  # it brings its MPI library
    count_matrix.compare(job, build(job, "messages", others=["-Wl,--no-as-needed", bindings]), 2)


@test
def a_draft_of_the_standard_abi_is_named_and_the_job_runs_unmeasured(job):
    program = build(job, "messages", "-DDRAFT")
    plain = job.plain(program)
    result = job.measured(program)
    expect_equal((result.code, sorted(result.out.splitlines())), (0, sorted(plain.out.splitlines())), "exit code and output")
    expect_equal(len(result.said), 1, "number of lines")
    expect("none of the ABIs" in result.said[0] and "libmpi_abi.so.0" in result.said[0], result.said[0])


for program in ("messages", "requests", "persistent", "collectives", "inter"):
    add_test(program)

if __name__ == "__main__":
    main()
