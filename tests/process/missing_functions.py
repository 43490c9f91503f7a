#!/usr/bin/python3
"""Programs and libraries that look whether MPI has a function, and call another one if it does not (as mpi4py's packages on PyPI), do so with
libprofile as without."""

from harness import expect, expect_equal, main, test
from report_checks import calls

SOURCE = r"""
#include <mpi.h>
#include <stdio.h>
#pragma weak MPI_Send_c
#pragma weak PMPI_Send_c
#pragma weak MPI_Comm_attach_buffer
int MPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int PMPI_Send_c(const void*, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
int MPI_Comm_attach_buffer(MPI_Comm, void*, int);
static int (*volatile in_data)(MPI_Comm, void*, int) = MPI_Comm_attach_buffer;

static int send(int x) { return MPI_Send_c ? MPI_Send_c(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD) : MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD); }

void NAME(void) {
    int is_there;
    MPI_Initialized(&is_there);
    MPI_Initialized(&is_there);
    printf("%d %d %d %d: %d\n", MPI_Send_c != 0, PMPI_Send_c != 0, MPI_Comm_attach_buffer != 0, in_data != 0, send(1));
}
"""
MAIN = r"""
#include <dlfcn.h>
void in_library(void);
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    in_program();
    in_library();
    ((void (*)(void))dlsym(dlopen(argv[1], RTLD_NOW), "in_plugin"))();
    MPI_Finalize();
    return 0;
}
"""


@test
def functions_that_the_library_lacks_stay_null_for_programs_that_ask(job):
    source = job.write("asks.c", SOURCE)
    job.write("main.c", SOURCE.replace("NAME", "in_program") + MAIN)
    for linking in ("now", "lazy"):
        for where in ("library", "plugin"):
            job.compile(f"mpicc.{job.mpi}", "-O1", "-w", "-fPIC", "-shared", f"-DNAME=in_{where}", f"-Wl,-z,{linking}", source, "-o", f"lib{where}.so")
        library = job.folder / "liblibrary.so"
        program = job.folder / f"asks_{linking}"
        job.compile(f"mpicc.{job.mpi}", "-O1", "-w", f"-Wl,-z,{linking}", job.folder / "main.c", library, f"-Wl,-rpath,{job.folder}", "-ldl", "-o", program)
        command = [program, job.folder / "libplugin.so"]
        plain = job.plain(command)
        expect(len(plain.out.splitlines()) == 6 and all(line.endswith(": 0") for line in plain.out.splitlines()), f"the program fails: {plain.out}")
        report = job.profile(command)
        expect_equal(sorted(job.last.out.splitlines()), sorted(plain.out.splitlines()), "which functions there are")
        name = "MPI_Send_c" if plain.out.startswith("1") else "MPI_Send"
        expect_equal(calls(report, 0).get(name), 3, f"calls of {name}")


if __name__ == "__main__":
    main()
