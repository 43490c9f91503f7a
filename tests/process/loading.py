#!/usr/bin/python3
"""Ways in which programs are loaded: plug-ins, immediate binding, a private MPI, helper processes on the way."""

import re
import shutil

from harness import expect, expect_equal, main, test
from report_checks import calls

EXPECTED = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Allreduce": 7, "MPI_Finalize": 1}


def check_plugin_report(report):
    for rank in range(2):
        expect_equal(calls(report, rank), EXPECTED, f"calls of rank {rank}")


@test
def mpi_in_a_plugin_opened_locally_is_measured(job):
    command = [job.programs / "plugin_host", job.program("plugin_mpi")]
    report = job.profile(command)
    expect_equal((job.last.out, job.last.err), ("plugin: 1\n", []), "output")
    check_plugin_report(report)


@test
def immediate_binding_changes_nothing(job):
    plugin = [job.programs / "plugin_host", job.program("plugin_mpi")]
    check_plugin_report(job.profile(["env", "LD_BIND_NOW=1", *plugin]))
    report = job.profile(["env", "LD_BIND_NOW=1", job.program("life"), "work"])
    expect_equal(calls(report, 1)["MPI_Allreduce"], 10, "calls")
    result = job.run(["env", "LD_BIND_NOW=1", f"LD_PRELOAD={job.library}", "/bin/true"])
    expect_equal((result.code, result.all_err), (0, ""), "a program without MPI")


@test
def plugin_opened_with_immediate_global_binding_is_measured(job):
    """As Python does with sys.setdlopenflags, and as hosts with MPI in another plug-in do."""
    check_plugin_report(job.profile(["env", "LD_BIND_NOW=1", job.programs / "plugin_host", job.program("plugin_mpi"), "global"]))


@test
def programs_at_fixed_and_random_addresses_are_measured(job):
    source = [job.source / "tests/programs/life.c", f"-I{job.source}/include", "-O1"]
    for name, flags in {"fixed": ["-no-pie", "-fno-pie"], "random": ["-pie", "-fPIE"],
                        "now": ["-pie", "-fPIE", "-Wl,-z,now", "-Wl,-z,relro"]}.items():
        job.compile(f"mpicc.{job.mpi}", *flags, *source, "-o", name)
        report = job.profile([job.folder / name, "work"])
        expect_equal(calls(report, 1)["MPI_Allreduce"], 10, f"{name}: calls")


def private_mpi(job):
    """A copy of the MPI library that only an rpath leads to; the flags that link a program to it."""
    name = {"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[job.mpi]
    listing = job.run(["ldd", job.program("life")]).out
    folder = job.folder / "private"
    folder.mkdir()
    library = re.search(rf"{re.escape(name)} => (\S+)", listing)[1]
    shutil.copy(library, folder / name)
    includes = [word for word in job.run([f"mpicc.{job.mpi}", "-show"]).out.split() if word.startswith("-I")]
    return folder / name, [*includes, f"-I{job.source}/include", "-O1", folder / name, f"-Wl,-rpath,{folder}"]


@test
def mpi_found_by_rpath_only_is_measured(job):
    library, flags = private_mpi(job)
    programs = job.source / "tests/programs"
    job.compile("gcc", programs / "life.c", *flags, "-o", "life")
    job.compile("gcc", "-shared", "-fPIC", programs / "plugin_mpi.c", *flags, "-o", "plugin.so")
    expect(f"=> {library}" in job.run(["ldd", job.folder / "life"]).out, "the copy is not used")
    report = job.profile([job.folder / "life", "work"])
    expect_equal(job.last.err, [], "stderr")
    expect_equal(calls(report, 1)["MPI_Allreduce"], 10, "calls")
    check_plugin_report(job.profile([job.programs / "plugin_host", job.folder / "plugin.so"]))


@test
def first_calls_in_a_constructor_and_in_another_thread_do_not_wait_for_each_other(job):
    """dlopen holds the loader's lock while it runs constructors."""
    job.write("plugin.c", "void in_constructor(void); __attribute__((constructor)) static void run(void) { in_constructor(); }")
    job.write("host.c", """
        #include <dlfcn.h>
        #include <mpi.h>
        #include <pthread.h>
        #include <unistd.h>
        static volatile int begun;
        static void* other_thread(void* unused) {
            int flag;
            while (!begun) {}
            MPI_Initialized(&flag);
            return unused;
        }
        void in_constructor(void) {
            int flag;
            begun = 1;
            usleep(DELAY);
            MPI_Initialized(&flag);
        }
        int main(void) {
            pthread_t thread;
            if (pthread_create(&thread, 0, other_thread, 0) != 0 || dlopen("./plugin.so", RTLD_NOW) == 0)
                return 2;
            return pthread_join(thread, 0);
        }""")
    job.compile("gcc", "-shared", "-fPIC", "plugin.c", "-o", "plugin.so")
    for delay in (0, 20000):
        job.compile(f"mpicc.{job.mpi}", "-rdynamic", f"-DDELAY={delay}", "host.c", "-o", "host", "-pthread")
        for _ in range(5):
            result = job.run(job.preloaded([job.folder / "host"]), timeout=15)
            expect_equal((result.code, result.out), (0, ""), "the process")


def job_with_helpers(job):
    return ["sh", "-c", f"ls / > /dev/null; /usr/bin/python3 -c 'import subprocess; subprocess.run([\"true\"])' | cat; "
                        f"exec {job.program('life')} children"]


@test
def helpers_of_a_job_with_exported_preload_leave_nothing(job):
    """mpirun, its daemons, shells, ls, Python and the program's children load the library, and nobody notices."""
    command = [*job.launcher(2), *job_with_helpers(job)]
    plain = job.run(command)
    result = job.run(command, env={"LD_PRELOAD": job.library})
    expect_equal((result.code, sorted(result.out.splitlines()), result.err),
                 (plain.code, sorted(plain.out.splitlines()), plain.err), "the job")
    expect_equal((result.code, len(result.said)), (0, 1), "exit code, lines")
    names = [path.name for path in job.output_folders()]
    expect_equal(len(names), 1, f"output folders {names}")
    expect(names[0].startswith(f"libprofile-{job.program('life').name}-"), f"the folder is not the program's: {names}")


@test
def helpers_of_a_job_under_libprofile_run_leave_nothing(job):
    for output, command in {"inside": [*job.launcher(2), job.tool, "run", "--", *job_with_helpers(job)],
                            "outside": [job.tool, "run", "--", *job.launcher(2), *job_with_helpers(job)]}.items():
        folder = job.folder / output
        folder.mkdir()
        result = job.run(command, cwd=folder)
        expect_equal((result.code, len(result.said)), (0, 1), f"{output}: exit code, lines")
        expect_equal(len(list(folder.glob("libprofile-*"))), 1, f"{output}: output folders")


@test
def exceptions_of_a_plugin_keep_their_unwinder(job):
    """A preloaded library that pulls in libunwind would replace libgcc_s's unwinder in C programs with C++ plug-ins."""
    command = [job.programs / "plugin_host", job.programs / "plugin_throws"]
    for start in (job.preloaded([]), [job.tool, "run", "--"]):
        result = job.run(["env", "LD_DEBUG=bindings", f"LD_DEBUG_OUTPUT={job.folder}/bindings", *start, *command])
        expect_equal((result.code, result.out), (0, "plugin: thrown\n"), "the process")
    bound = []
    for file in job.folder.glob("bindings.*"):
        bound += re.findall(r"binding file \S*libstdc\+\+\S* \[0\] to (\S+) \[0\]: \w+ symbol `_Unwind_RaiseException'",
                            file.read_text(errors="replace"))
    expect(len(bound) >= 2, f"no bindings found: {bound}")
    expect(all("libgcc_s" in library for library in bound), f"bound to another unwinder: {bound}")


@test
def an_mpi_that_is_not_known_is_named_and_the_program_runs(job):
    job.write("strange.c", """
int PMPI_Init(int* c, char*** v) { return 0; }
int MPI_Init(int* c, char*** v) { return 0; }
int PMPI_Comm_rank(long comm, int* rank) { return *rank = 41, 0; }
int MPI_Comm_rank(long comm, int* rank) { return *rank = 41, 0; }
int PMPI_Get_library_version(char* text, int* length) {
    __builtin_strcpy(text, "Strange MPI 7.2\\nbuilt on a Friday");
    return 0;
}
int MPI_Finalize(void) { return 0; }
int PMPI_Finalize(void) { return 0; }
""")
    job.write("uses.c", """
#include <stdio.h>
int MPI_Init(int*, char***), MPI_Comm_rank(long, int*), MPI_Finalize(void);
int main(void) {
    int rank = 0;
    MPI_Init(0, 0);
    MPI_Comm_rank(0, &rank);
    printf("rank %d\\n", rank);
    MPI_Finalize();
    return 4;
}
""")
    job.compile("gcc", "-w", "-shared", "-fPIC", "strange.c", "-o", "libmpi_strange.so")
    job.compile("gcc", "-w", "uses.c", "-o", "uses", "./libmpi_strange.so", f"-Wl,-rpath,{job.folder}")
    result = job.run(job.preloaded([job.folder / "uses"], {}))
    expect_equal((result.code, result.out), (4, "rank 41\n"), "the program")
    expect_equal(len(result.said), 1, "lines of libprofile")
    expect("libmpi_strange.so, Strange MPI 7.2" in result.said[0], result.said[0])


@test
def library_needs_nothing_but_libc(job):
    listing = job.run(["readelf", "-d", job.library]).out
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
    strange = [name for name in libraries if not name.startswith(("libc.so", "libm.so", "libdl.", "ld-linux", "libpthread", "librt.so"))]
    # libpthread, libdl and librt are parts of glibc, empty since 2.34.
    expect_equal(strange, [], "libraries that every measured process would have to load")


if __name__ == "__main__":
    main()
