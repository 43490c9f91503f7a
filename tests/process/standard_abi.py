#!/usr/bin/python3
"""Programs with the standard ABI of MPI 5 are measured: those of the matrix, compiled unchanged with the generated mpi.h and linked with a
libmpi_abi.so.0 that translates to MPICH (standard_abi_shim.py)."""

import count_matrix
import standard_abi_shim
from harness import main, test


def add_test(name):
    def compare(job):
        library, output, sources = job.folder / "libmpi_abi.so.0", job.folder / name, job.source / "tests/programs/matrix"
        shim = job.write("shim.c", standard_abi_shim.source(job.source / "wrappers/mpi/standard_abi"))
        job.compile("mpicc.mpich", "-c", "-w", "-O1", "-fPIC", shim, "-o", "shim.o")
        job.compile("cc", "-shared", f"-Wl,-soname,{library.name}", "shim.o", "-ldl", "-o", library)  # not linked with MPICH
        header = job.build / "wrappers/generated/standard_abi"
        job.compile("cc", "-O1", "-g", "-std=gnu11", "-w", f"-I{header}", sources / f"{name}.c", sources / "call_log.c", library,
                    f"-Wl,-rpath,{job.folder}", "-ldl", "-o", output)
        count_matrix.compare(job, [output], 2)

    compare.__name__ = f"counts_of_{name}_with_the_standard_abi_equal_the_log"
    test(compare)


for program in ("messages", "requests", "persistent", "collectives", "inter"):
    add_test(program)

if __name__ == "__main__":
    main()
