#!/usr/bin/python3
"""MPI call counts equal those of an independent counter (counter/), per function and rank, in the same run.

The counter is a second preloaded library in front of ours, so this is also the test of stacking with another tool. Left
out of the comparison is only what libprofile passes through on purpose: the `pass` rows of wrappers/mpi/functions.table
(clocks, address arithmetic, the MPI_T interface).
"""

import fnmatch
import re

import debian_programs
from harness import expect, expect_equal, main, test
from report_checks import calls


LIBRARY = {"openmpi": r"libmpi\.so", "mpich": r"libmpich\.so"}


def passed_through(job):
    table = (job.source / "wrappers/mpi/functions.table").read_text()
    return re.findall(r"(?m)^pass\s+(\S+)", table)


def library_of(job, program, name):
    """The path of the library among those the program loads whose soname begins with `name`, or None."""
    listing = job.run(["ldd", program]).out
    found = re.search(rf"{name}\S* => (\S+)", listing)
    return found and found[1]


def build_counter(job, language, library):
    here = job.source / "tests/process/counter"
    job.compile("/usr/bin/python3", here / "generate.py", language, library, f"{language}.S")
    job.compile("gcc", "-O1", "-fPIC", "-shared", here / "counter.c", f"{language}.S", "-o", f"{language}.so", "-ldl")
    return job.folder / f"{language}.so"


def build_counters(job, program):
    counters = [build_counter(job, "c", library_of(job, program, LIBRARY[job.mpi]))]
    bindings = library_of(job, program, "libmpi_mpifh")  # MPICH's Fortran functions call the C ones
    return counters + ([build_counter(job, "fortran", bindings)] if bindings else [])


def counted(job, rank):
    """MPI function -> calls, C and Fortran names together."""
    counts = {}
    for line in (job.folder / f"counts.{job.runs}.{rank}").read_text().splitlines():
        name, number = line.split()
        if name.endswith("_"):
            name = "MPI_" + name.rstrip("_").removeprefix("mpi_").capitalize()
        counts[name] = counts.get(name, 0) + int(number)
    return counts


def compare(job, command, counters, ranks=2, least=100):
    job.runs += 1
    preload = ":".join(map(str, [*counters, job.library]))
    output = job.folder / f"profile.{job.runs}"
    environment = [f"LD_PRELOAD={preload}", f"COUNTER_OUTPUT={job.folder}/counts.{job.runs}", f"LIBPROFILE_OUTPUT={output}"]
    result = job.run([*job.launcher(ranks), "env", *environment, *command])
    expect_equal(result.code, 0, "exit code")
    expect_equal(result.complaints, [], "complaints")
    report = job.report(output)
    for rank in range(ranks):
        found = calls(report, rank)
        expected = counted(job, rank)
        for pattern in passed_through(job):
            for name in fnmatch.filter(expected, pattern):
                del expected[name]
        # Fortran symbols do not tell where the words of a name begin.
        expected = {name.capitalize(): number for name, number in expected.items()}
        found = {name.capitalize(): number for name, number in found.items()}
        differences = {name: (expected.get(name, 0), found.get(name, 0)) for name in {*expected, *found}
                       if expected.get(name, 0) != found.get(name, 0)}
        expect_equal(differences, {}, f"rank {rank}: functions whose numbers (counter, libprofile) differ")
        expect(sum(found.values()) > least, f"only {sum(found.values())} calls")


@test
def calls_of_lammps_equal_an_independent_count(job):
    command = debian_programs.lammps(job, 1000)
    compare(job, command, build_counters(job, "/usr/bin/lmp"), least=4000)


@test
def calls_of_quantum_espresso_equal_an_independent_count(job):
    command = debian_programs.pw(job, 4)
    compare(job, command, build_counters(job, "/usr/bin/pw.x"), least=4000)


@test
def calls_of_scalapack_equal_an_independent_count(job):
    ranks = 4 if job.mpi == "openmpi" else 2
    command = debian_programs.xdlu(job, ranks)
    compare(job, command, build_counters(job, command[0]), ranks, least=10000)


@test
def calls_of_netpipe_equal_an_independent_count(job):
    program = {"openmpi": "NPopenmpi", "mpich": "NPmpich2"}[job.mpi]
    job.need(program)
    command = [program, "-u", "4096", "-n", "20", "-o", "/dev/null"]
    compare(job, command, build_counters(job, f"/usr/bin/{program}"))


@test
def calls_of_the_examples_equal_an_independent_count(job):
    for name in ("adaptive_cpp", "adaptive_f90"):
        example = job.example(name)
        compare(job, [example, "40", "64"], build_counters(job, example))


if __name__ == "__main__":
    main()
