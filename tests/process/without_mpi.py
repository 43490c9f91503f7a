#!/usr/bin/python3
"""Processes without MPI are left alone, unless they use markers or `libprofile run` started them."""

from harness import expect, expect_equal, main, test
from report_checks import totals

PYTHON = ["/usr/bin/python3", "-c", "import ctypes, json, subprocess; subprocess.run(['true']); print('out'); exit(4)"]


def alone(job, command, code, **more):
    plain = job.run(command, **more)
    measured = job.run(job.preloaded(command), **more)
    expect_equal(plain.code, code, "exit code without libprofile")
    expect_equal((measured.code, measured.out, measured.all_err), (plain.code, plain.out, plain.all_err), "the process")
    expect_equal([path.name for path in job.output_folders()], [], "output folders")


@test
def processes_without_mpi_are_left_alone(job):
    alone(job, ["/bin/true"], 0)
    alone(job, ["/bin/sh", "-c", "ls /nowhere | cat; exit 3"], 3)
    alone(job, [job.programs / "without_mpi"], 5)
    alone(job, PYTHON, 4)
    alone(job, ["/bin/bash", "-c", "ulimit -n 4; echo $((1 + 1)); kill -TERM $$"], -15)


@test
def processes_without_mpi_under_mpirun_are_left_alone(job):
    command = [*job.launcher(2), *job.preloaded(["/bin/sh", "-c", "echo alive"])]
    result = job.run(command)
    expect_equal((result.code, result.out, result.all_err), (0, "alive\nalive\n", ""), "the job")
    expect_equal(job.output_folders(), [], "output folders")


STUB = """
    int MPI_Init(int* count, char*** words) { return 0; }
    int MPI_Comm_rank(int comm, int* rank) { *rank = 10 * ME; return 0; }
    int MPI_Allreduce(const void* in, void* out, int n, int type, int op, int comm) { *(double*)out = *(const double*)in; return 0; }
    int MPI_Finalize(void) { return 0; }
"""
USE_OF_STUB = """
    #include <stdio.h>
    int MPI_Init(int*, char***), MPI_Comm_rank(int, int*), MPI_Allreduce(const void*, void*, int, int, int, int), MPI_Finalize(void);
    int run(void) {
        int rank = -1;
        double x = 3, y = 0;
        int code = MPI_Init(0, 0);
        MPI_Comm_rank(0, &rank);
        MPI_Allreduce(&x, &y, 1, 0, 0, 0);
        MPI_Finalize();
        return printf("init %d rank %d y %g\\n", code, rank, y) < 0;
    }
"""
HOST = """
    #include <dlfcn.h>
    int main(int count, char** files) { // all are open before the first runs
        void* handles[9];
        for (int i = 1; i < count; ++i)
            if ((handles[i] = dlopen(files[i], RTLD_NOW | RTLD_LOCAL)) == 0)
                return 1;
        for (int i = 1; i < count; ++i)
            ((int (*)(void))dlsym(handles[i], "run"))();
        return 0;
    }
"""


def compile_stubs(job):
    """`app`: linked with libstub1.so. For `host`: two libraries that have stubs of their own in them, and one linked with its."""
    for name, text in {"stub.c": STUB, "use.c": USE_OF_STUB, "host.c": HOST, "main.c": "int run(void); int main(void) { return run(); }"}.items():
        job.write(name, text)
    here = [f"-L{job.folder}", f"-Wl,-rpath,{job.folder}"]
    for i in (1, 4):
        job.compile("gcc", "-shared", "-fPIC", f"-DME={i}", "stub.c", "-o", f"libstub{i}.so")
    for i in (2, 3):
        job.compile("gcc", "-shared", "-fPIC", f"-DME={i}", "stub.c", "use.c", "-o", f"own{i}.so")
    job.compile("gcc", "-shared", "-fPIC", "use.c", *here, "-lstub4", "-o", "linked.so")
    job.compile("gcc", "main.c", "use.c", *here, "-lstub1", "-o", "app")
    job.compile("gcc", "host.c", "-o", "host")
    return [job.folder / "host", *(job.folder / name for name in ("own2.so", "own3.so", "linked.so"))]


@test
def programs_with_a_serial_stub_of_mpi_reach_it(job):
    """libmpiseq, mpi-serial and the like: MPI_X without PMPI_X."""
    host = compile_stubs(job)
    alone(job, [job.folder / "app"], 0)
    expect_equal(job.last.out, "init 0 rank 10 y 3\n", "the program")
    alone(job, host, 0)
    expect_equal(job.last.out, "".join(f"init 0 rank {rank} y 3\n" for rank in (20, 30, 40)), "each library has its own stub")


@test
def calls_by_the_profiling_name_reach_a_stub_without_it(job):
    compile_stubs(job)
    job.write("weak.c", "#pragma weak PMPI_Comm_rank\n"
                        "int PMPI_Comm_rank(int, int*); int MPI_Init(int*, char***);\n"
                        "int main(void) { int rank = -1; MPI_Init(0, 0); return PMPI_Comm_rank ? PMPI_Comm_rank(0, &rank), rank : 77; }")
    job.compile("gcc", "weak.c", f"-L{job.folder}", f"-Wl,-rpath,{job.folder}", "-lstub1", "-o", "weak")
    expect_equal(job.run([job.folder / "weak"]).code, 77, "exit code without libprofile")
    result = job.run(job.preloaded([job.folder / "weak"]))
    expect_equal((result.code, result.all_err, job.output_folders()), (10, "", []), "the process")


@test
def libprofile_run_makes_a_program_with_a_stub_a_job_of_one_rank(job):
    compile_stubs(job)
    result = job.run([job.tool, "run", "--", job.folder / "app"])
    expect_equal((result.code, result.out, result.err, len(result.said)), (0, "init 0 rank 10 y 3\n", [], 1), "the process")
    report = job.report()
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (1, True), "ranks and completeness")


@test
def markers_make_a_process_a_job_of_one_rank(job):
    result = job.run(job.preloaded([job.programs / "without_mpi", "markers"]))
    expect_equal((result.code, result.out, result.err), (5, "caught 7000\n", []), "the process")
    expect_equal(len(result.said), 1, "lines")
    report = job.report()
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (1, True), "ranks and completeness")
    expect_equal([(p["name"], p["iterations"]) for p in report["phases"]], [("", 1), ("step", 20)], "phases")


@test
def libprofile_run_makes_a_process_a_job_of_one_rank(job):
    program = job.programs / "without_mpi"
    # A thread without a sample is no location, and the shortest of these three takes some 10 ms.
    result = job.run([job.tool, "run", "--", program], env={"LIBPROFILE_SAMPLE": "2kHz"})
    expect_equal((result.code, result.out, result.err), (5, "caught 6000\n", []), "the process")
    expect_equal(len(result.exit_lines), 1, "exit lines")
    report = job.report()
    expect_equal(report["job"]["ranks"], 1, "ranks")
    expect_equal(report["job"]["command"], f"{program}", "command")
    expect(totals(report)["time"][0] < result.seconds * 1e9, "more time than passed")
    expect_equal(len(report["threads"]["locations"]), 3, "threads")


@test
def libprofile_run_measures_python_and_not_its_children(job):
    result = job.run([job.tool, "run", "--output", "python", "--", *PYTHON])
    expect_equal((result.code, result.out, result.err), (4, "out\n", []), "the process")
    expect_equal(len(result.said), 1, "lines")
    job.report("python")
    expect_equal(job.output_folders(), [], "other output folders")


if __name__ == "__main__":
    main()
