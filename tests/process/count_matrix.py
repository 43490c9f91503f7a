#!/usr/bin/python3
"""The programs of tests/programs/matrix call every function of MPI, class by class and in every language: what the report
says per function equals what the program logged, and the program's results are those it has without libprofile."""

import ctypes
import json
import re

from harness import HAS_MPICH_5, HAS_OPENMPI_5, HAS_OPENMPI_6, WITHOUT_NETWORK, Skip, expect_equal, main, test

# A job: program arguments and environment.
ONE_SIDED = {"OMPI_MCA_osc": WITHOUT_NETWORK}
ONE_SIDED_JOBS = {"openmpi": [([], ONE_SIDED)]}
FILE_JOBS = {"openmpi": [([], {"OMPI_MCA_io": "ompio"})]}
if not HAS_OPENMPI_6: # which has no ROMIO
    FILE_JOBS["openmpi"].append((["blocking"], {"OMPI_MCA_io": "romio341" if HAS_OPENMPI_5 else "romio321"}))

# Program -> settings of its test. `large`: there is a second build with the large-count functions of MPI 4.
C_PROGRAMS = {
    "messages": {"large": True},
    "requests": {"large": True},
    "persistent": {"large": True},
    "collectives": {"large": True},
    "inter": {"large": True},
    "neighbours": {"large": True},
    "one_sided": {"large": True, "jobs": ONE_SIDED_JOBS},
    "files": {"large": True, "jobs": FILE_JOBS},
    "communicators": {},
    "datatypes": {"large": True},
    "callbacks": {"jobs": ONE_SIDED_JOBS},
    "environment": {"jobs": ONE_SIDED_JOBS},
    "ports": {},
    "removed": {},
    "sessions": {},
}
RANKS = {"openmpi": 3, "mpich": 2}  # MPICH's ranks do not yield the processor


def by_function(report, rank):
    """{(function, metric): value} of the MPI call paths of one rank, without times and zeros."""
    found = {}
    for phase in report["phases"]:
        for path in phase["call_paths"]:
            if path["kind"] != "mpi":
                continue
            for metric, values in path["exclusive"].items():
                if metric not in ("time", "samples", "visits_timed_together") and values[rank]:
                    key = (path["name"], metric)
                    found[key] = found.get(key, 0) + values[rank]
    return found


def logged(job, rank):
    entries = json.loads((job.folder / f"calls.{rank}.json").read_text())
    return {(function, metric): value for function, metric, value in entries if value}


def differences(found, expected):
    """{function: {metric: (expected, found)}}"""
    result = {}
    for function, metric in sorted({*found, *expected}):
        pair = expected.get((function, metric), 0), found.get((function, metric), 0)
        if pair[0] != pair[1]:
            result.setdefault(function, {})[metric] = pair
    return result


def sorted_lines(text):
    return sorted(text.splitlines())


def without_large(values):
    """Those of large-count functions with those of the others."""
    together = {}
    for (function, metric), value in values.items():
        key = (function.removesuffix("_c"), metric)
        together[key] = together.get(key, 0) + value
    return together


def compare(job, command, ranks, env=None, without=(), may_be_large=False):
    """`without`: functions that are not compared, since the language's binding calls them for itself or not at all. `may_be_large`: the binding
    calls large-count functions where MPI has them."""
    plain = job.plain(command, ranks, env=env)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, ranks, env=env)
    measured = job.last
    expect_equal(measured.complaints, [], "complaints")
    expect_equal(sorted_lines(measured.out), sorted_lines(plain.out), "stdout")
    expect_equal(sorted(measured.err), sorted(plain.err), "stderr")
    wrong = {}
    for rank in range(ranks):
        found, expected = by_function(report, rank), logged(job, rank)
        if may_be_large:
            found = without_large(found)
        wrong_here = differences(found, expected)
        for function in without:
            wrong_here.pop(function, None)
        if wrong_here:
            wrong[f"rank {rank}"] = wrong_here
    expect_equal(wrong, {}, "functions and metrics whose values (logged, reported) differ")


def matrix_program(job, name):
    program = job.program(f"matrix_{name}")
    if not program.exists():
        raise Skip(f"{program.name} was not built")
    return program


def ways_to_run(name, mpi):
    """(whether with large counts, arguments, environment) of the jobs of a C program."""
    ways = C_PROGRAMS[name].get("jobs", {}).get(mpi, [([], None)])
    yield from ((False, arguments, env) for arguments, env in ways)
    if C_PROGRAMS[name].get("large"):
        yield True, [], ways[0][1]


def c_program_commands(job, name):
    """(command, environment); none of what was not built."""
    for is_large, arguments, env in ways_to_run(name, job.mpi):
        program = job.program(f"matrix_{name}{'_large' if is_large else ''}")
        if program.exists():
            yield [program, *arguments], env


def logged_c_programs(job):
    """(command, environment, functions that the library cannot see) of each program and way to start it."""
    for name in C_PROGRAMS:
        for command, env in c_program_commands(job, name):
            yield command, env, ()


def without_ucx(job):
    return ONE_SIDED if job.mpi == "openmpi" else None


def logged_fortran_programs(job):
    for binding in FORTRAN_BINDINGS:
        for program in FORTRAN_PROGRAMS:
            yield [matrix_program(job, f"{program}_{binding}")], without_ucx(job), FORTRAN_UNSEEN[job.mpi]


def logged_cxx_program(job):
    yield [matrix_program(job, "cxx_bindings")], without_ucx(job), CXX_CALLS[job.mpi]


def logged_mpi4py_program(job):
    yield ["/usr/bin/python3", job.source / "tests/programs/matrix/mpi4py_calls.py"], without_ucx(job), python_calls(job)


def add_c_test(name):
    def compare_all(job):
        matrix_program(job, name)
        for command, env in c_program_commands(job, name):
            compare(job, command, RANKS[job.mpi], env)

    compare_all.__name__ = f"counts_of_{name}_equal_the_log"
    test(compare_all)


for c_program in C_PROGRAMS:
    add_c_test(c_program)

# What the Fortran bindings do by functions of their own library that are no MPI functions (docs/limits.md).
FORTRAN_UNSEEN = {
    "openmpi": ("MPI_Comm_create_keyval", "MPI_Comm_get_attr", "MPI_Comm_set_attr", *(["MPI_Info_get"] if HAS_OPENMPI_5 else []),
                # the binding's own calls, for the sizes of arrays
                *(["MPI_Topo_test", "MPI_Dist_graph_neighbors_count"] if HAS_OPENMPI_6 else [])),
    "mpich": ("MPI_Comm_get_attr", "MPI_Comm_set_attr"),
}
FORTRAN_BINDINGS = ("mpif_h", "use_mpi", "use_mpi_f08")
FORTRAN_PROGRAMS = ("fortran_objects", "fortran_messages", "fortran_collectives", "fortran_memory")


def add_fortran_test(binding):
    def compare_all(job):
        env = without_ucx(job)
        programs = [job.program(f"matrix_{program}_{binding}") for program in FORTRAN_PROGRAMS]
        built = [program for program in programs if program.exists()]
        if not built:
            raise Skip(f"no program was built for {binding}")
        for program in built:
            compare(job, [program], RANKS[job.mpi], env, without=FORTRAN_UNSEEN[job.mpi])

    compare_all.__name__ = f"counts_of_{binding}_equal_the_log"
    test(compare_all)


for fortran_binding in FORTRAN_BINDINGS:
    add_fortran_test(fortran_binding)


# Not called by any program: the end of the job, new processes, and what this MPI does not have.
UNCALLED = {"MPI_Abort", "MPI_Comm_spawn", "MPI_Comm_spawn_multiple"}
UNCALLED_OF = {
    "openmpi": set(),
    # Debian's MPICH has no ports
    "mpich": {"MPI_Close_port", "MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join"},
}


def wrapped_functions(job):
    """Those of functions.table that the MPI library has."""
    table = (job.source / "wrappers/mpi/functions.table").read_text()
    names = set()
    for name, large in re.findall(r"(?m)^wrap\s+(\w+)(\[_c\])?", table):
        names |= {name, name + "_c"} if large else {name}
    library = ctypes.CDLL({"openmpi": "libmpi.so.40", "mpich": "libmpich.so.12"}[job.mpi])
    return {name for name in names if hasattr(library, name)}


@test
def every_function_is_called_by_a_program(job):
    called = set()
    for name in C_PROGRAMS:
        for command, env in c_program_commands(job, name):
            if job.plain(command, RANKS[job.mpi], env=env).code != 0:  # what MPI does not let it do stands there
                text = (job.source / f"tests/programs/matrix/{name}.c").read_text()
                for function in re.findall(r"(?:CALL|CALL_FAILS|SIZED)\((\w+)", text):
                    called |= {f"MPI_{function}", f"MPI_{function}_c"}
                continue
            for rank in range(RANKS[job.mpi]):
                called |= {function for function, _ in logged(job, rank)}
    missing = wrapped_functions(job) - called - UNCALLED - UNCALLED_OF[job.mpi]
    expect_equal(sorted(missing), [], "functions that no program calls")


# What the C++ bindings call for themselves and cannot be told from the application (docs/limits.md): inlined into it, or
# through their own public functions. Open MPI's make keyvals without an MPI function.
CXX_CALLS = {
    "openmpi": ("MPI_Initialized", "MPI_Comm_test_inter", "MPI_Topo_test", "MPI_Cartdim_get", "MPI_Comm_size",
                "MPI_Comm_create_keyval"),
    "mpich": ("MPI_Comm_size", "MPI_Errhandler_free", *(["MPI_Op_create"] if HAS_MPICH_5 else [])), # that one by a function of its library
}


@test
def counts_of_cxx_bindings_equal_the_log(job):
    env = without_ucx(job)
    compare(job, [matrix_program(job, "cxx_bindings")], RANKS[job.mpi], env, without=CXX_CALLS[job.mpi])


def python_calls(job):
    """mpi4py is an application to MPI: what it asks for itself counts, too, and is not in the script's log."""
    found = job.run(["/usr/bin/python3", "-c", "import mpi4py, numpy; print(mpi4py.__version__)"])
    if found.code != 0:
        raise Skip("python3-mpi4py and python3-numpy are not installed")
    since_version_4 = ("MPI_Get_version", "MPI_Topo_test", "MPI_Type_get_extent_x")
    return ("MPI_Comm_rank", "MPI_Comm_set_errhandler", "MPI_Comm_size", "MPI_Comm_test_inter", "MPI_File_set_errhandler", "MPI_Finalized",
            "MPI_Get_count", "MPI_Initialized", "MPI_Type_get_extent", "MPI_Win_set_errhandler",
            *(since_version_4 if int(found.out.partition(".")[0]) >= 4 else ()))


@test
def counts_of_mpi4py_equal_the_log(job):
    without = python_calls(job)
    script = ["/usr/bin/python3", job.source / "tests/programs/matrix/mpi4py_calls.py"]
    compare(job, script, RANKS[job.mpi], ONE_SIDED, without, may_be_large=True)


if __name__ == "__main__":
    main()
