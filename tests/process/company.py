#!/usr/bin/python3
"""Another tool on MPI's profiling interface in the same process: both see every call once, in either order.

The other tool prints what it would print alone, and our report has the calls it has alone (tests/programs/pmpi_tool.c).
"""

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls

WORK = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Allreduce": 10, "MPI_Finalize": 1}
ALONE = ["tool: 1 inits, 10 allreduces, 0 barriers"] * 2


def tool(job, name):
    return job.programs / f"tool_{name}.{job.mpi}"


def run_with(job, preload, command, output):
    start = ["env", f"LD_PRELOAD={':'.join(map(str, preload))}", f"LIBPROFILE_OUTPUT={job.folder / output}"]
    return job.run([*job.launcher(2), *start, *command])


def lines_of_tool(result):
    return [line for line in result.err if line]


def both_count(job, preload, command, output, lines=None, expected=None):
    """The job, the tool's lines and the calls in our report are as they must be; says nothing but the exit line."""
    result = run_with(job, preload, command, output)
    expect_equal(result.code, 0, f"{output}: exit code")
    expect_equal(lines_of_tool(result), ALONE if lines is None else lines, f"{output}: the other tool's lines")
    expect_equal((len(result.exit_lines), result.complaints), (1, []), f"{output}: our lines")
    report = job.report(output)
    for rank in range(2):
        expect_equal(calls(report, rank), expected or WORK, f"{output}: calls of rank {rank}")
    return result


def either_order(job, other, command, **more):
    both_count(job, [other, job.library], command, "the other first", **more)
    both_count(job, [job.library, other], command, "we first", **more)


@test
def a_tool_on_the_profiling_interface_works_in_either_order(job):
    either_order(job, tool(job, "pmpi"), [job.program("life"), "work"])


@test
def a_tool_that_interposes_pmpi_works_in_either_order(job):
    either_order(job, tool(job, "interposing"), [job.program("life"), "work"])


@test
def a_tool_that_looks_up_the_next_mpi_function_works_or_is_named(job):
    other, command = tool(job, "next"), [job.program("life"), "work"]
    both_count(job, [other, job.library], command, "the other first")
    result = run_with(job, [job.library, other], command, "we first")
    expect_equal((result.code, lines_of_tool(result)), (0, ALONE), "the job and the other tool")
    expect_equal(len(result.said), 1, "lines")
    expect(f"{other} wraps MPI functions" in result.said[0] and f"LD_PRELOAD={other}:" in result.said[0],
           f"the line does not name the tool and the order: {result.said[0]}")


@test
def libprofile_run_puts_itself_behind_the_other_tool(job):
    for name in ("pmpi", "interposing", "next"):
        result = job.run([*job.launcher(2), "env", f"LD_PRELOAD={tool(job, name)}", job.tool, "run", "--output", name, "--",
                          job.program("life"), "work"])
        expect_equal((result.code, lines_of_tool(result), len(result.said)), (0, ALONE, 1), f"{name}: the job")
        expect_equal(calls(job.report(name), 1), WORK, f"{name}: calls")


@test
def a_tool_linked_into_the_program_counts_too(job):
    flags = ["-O1", f"-I{job.source}/include"]
    source = [job.source / "tests/programs/life.c"]
    shared = job.folder / "libtool.so"
    shared.symlink_to(tool(job, "pmpi"))
    job.compile(f"mpicc.{job.mpi}", *flags, "-DTOOL_KIND=1", *source, job.source / "tests/programs/pmpi_tool.c", "-o", "static")
    job.compile(f"mpicc.{job.mpi}", *flags, *source, shared, f"-Wl,-rpath,{job.folder}", "-o", "shared")
    for name in ("static", "shared"):
        both_count(job, [job.library], [job.folder / name, "work"], f"output {name}")


@test
def two_tools_beside_us_count_as_without_us(job):
    """PMPI cannot be stacked by itself: of two tools of that kind the first one wins, as without us."""
    one, other, command = tool(job, "pmpi"), tool(job, "interposing"), [job.program("life"), "work"]
    for number, order in enumerate(((one, other), (other, one))):
        alone = lines_of_tool(run_with(job, order, command, "none"))
        for place in range(3):
            preload = [*order[:place], job.library, *order[place:]]
            both_count(job, preload, command, f"order {number}, place {place}", lines=alone)


@test
def a_tool_that_wraps_fortran_works_in_either_order(job):
    for name in ("calls_mpifh", "calls_usempi", "calls_f08"):
        command = [job.program(name)]
        if not command[0].exists():
            raise Skip(f"{command[0].name} was not built: no Fortran compiler for this MPI")
        other = tool(job, "fortran")
        alone = run_with(job, [other], command, "none")
        report = job.profile(command)
        for order in ((other, job.library), (job.library, other)):
            output = f"{name}, {'we first' if order[1] == other else 'the other first'}"
            result = run_with(job, order, command, output)
            expect_equal((result.code, result.out, sorted(result.err)), (0, alone.out, sorted(alone.err)), f"{output}: the job")
            expect_equal(len(result.said), 1, f"{output}: our lines")
            for rank in range(2):
                expect_equal(calls(job.report(output), rank), calls(report, rank), f"{output}: calls of rank {rank}")


@test
def functions_looked_up_by_name_are_measured(job):
    """ctypes, Julia and plug-ins without a dependency on MPI ask the loader for the names."""
    job.write("named.c", """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        int main(void) {
            int (*init)(int*, char***) = (int (*)(int*, char***))dlsym(RTLD_DEFAULT, "MPI_Init");
            int (*wtime)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PMPI_Finalize");
            return init == 0 || wtime == 0 || init(0, 0) != 0 || wtime() != 0;
        }""")
    libraries = ["-Wl,--no-as-needed", {"openmpi": "-l:libmpi.so.40", "mpich": "-l:libmpich.so.12"}[job.mpi]]
    job.compile("gcc", "named.c", *libraries, "-o", "named")
    report = job.profile([job.folder / "named"])
    expect_equal(calls(report, 1), {"MPI_Init": 1, "MPI_Finalize": 1}, "calls")


if __name__ == "__main__":
    main()
