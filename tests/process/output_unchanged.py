#!/usr/bin/python3
"""Programs not written here: stdout, exit code and stderr are the same with and without libprofile."""

import re

import debian_programs
from harness import expect, expect_equal, main, test
from report_checks import calls


def unchanged(job, command, results, ranks=2, least_calls=100):
    """Runs both ways; compares the exit code, all of stderr, and what `results` keeps of stdout."""
    plain = job.plain(command, ranks)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, ranks)
    expected = results(plain.out)
    expect(len(expected) >= 5, f"too little to compare in stdout: {expected}")
    expect_equal(results(job.last.out), expected, "stdout")
    # ScaLAPACK's pdlacon compares an uninitialised variable on some ranks. Whether that is a denormal number, of which the
    # Fortran run-time library tells at the end, depends on what was on the stack before.
    expect_equal(*(sorted(line for line in err if "signalling: IEEE_DENORMAL" not in line)
                   for err in (job.last.err, plain.err)), "stderr")
    for rank in range(ranks):
        found = calls(report, rank)
        expect(sum(found.values()) > least_calls, f"only {found} on rank {rank}")
        expect_equal(found.get("MPI_Finalize"), 1, "MPI_Finalize")


@test
def lammps_results_are_unchanged(job):
    unchanged(job, debian_programs.lammps(job, 2000), debian_programs.lammps_results, least_calls=5000)


@test
def quantum_espresso_results_are_unchanged(job):
    unchanged(job, debian_programs.pw(job, 8), debian_programs.pw_results, least_calls=5000)


def own_lines(err):
    """stderr without what Open MPI's mpirun says of the abort: which of it comes, and in which order, is a race of its own."""
    text = "\n".join(err)
    text = re.sub(r"-{50,}\nMPI_ABORT was invoked.*?\n-{50,}", "", text, flags=re.DOTALL)
    return [line for line in text.splitlines() if line and not re.match(r"\[[\w.-]+:\d+\] ", line)]


@test
def exit_code_of_a_failing_program_is_unchanged(job):
    command = debian_programs.pw(job, 8, change=("calculation='md'", "calculation='none'"))
    plain = job.plain(command)
    measured = job.measured(command, output="failed")
    expect(plain.code != 0, "pw.x was to fail")
    expect_equal(measured.code, plain.code, "exit code")
    expect_equal(own_lines(measured.err), own_lines(plain.err), "stderr")


@test
def scalapack_results_are_unchanged(job):
    ranks = 4 if job.mpi == "openmpi" else 2
    unchanged(job, debian_programs.xdlu(job, ranks), debian_programs.xdlu_results, ranks, least_calls=10000)


@test
def netpipe_mpich_runs_as_without(job):
    job.need("NPmpich2")
    command = ["NPmpich2", "-u", "4096", "-n", "20", "-o", "/dev/null"]
    plain = job.plain(command)
    report = job.profile(command)
    expect_equal(sorted(job.last.out.splitlines()), sorted(plain.out.splitlines()), "stdout")
    found = [calls(report, rank) for rank in range(2)]
    expect(found[0]["MPI_Send"] > 100, f"odd counts: {found}")
    for rank in range(2):
        expect_equal(found[rank]["MPI_Recv"], found[1 - rank]["MPI_Send"], f"messages to rank {rank}")


@test
def examples_print_the_same_on_any_number_of_ranks(job):
    for name, arguments, phases in (("hydro", (30, 8), {"timestep": 30}),
                                    ("particles", (30, 300), {"timestep": 30}),
                                    ("solver", (6, 24), {"timestep": 6, "solver": None})):
        command = [job.example(name), *arguments]
        alone = job.plain(command, ranks=1)
        expect(alone.out.startswith(f"{name}: {arguments[0]} steps"), "unexpected output")
        for ranks in (2, 4):
            report = job.profile(command, ranks=ranks)
            expect_equal((job.last.out, job.last.err), (alone.out, alone.err), f"{name} on {ranks} ranks")
            found = {phase["name"]: phase["iterations"] for phase in report["phases"]}
            for phase, iterations in phases.items():
                expect(found.get(phase) == iterations if iterations else found.get(phase, 0) > 30,
                       f"iterations of {phase} of {name}: {found}")


@test
def example_prints_the_same_in_every_way_of_running(job):
    for name in ("adaptive_cpp", "adaptive_f90"):
        command = [job.example(name), "40", "64"]
        plain = job.plain(command)
        expect(plain.out.startswith("adaptive: 40 steps"), "unexpected output")
        report = job.profile(command)
        expect_equal(job.last.out, plain.out, "stdout with LD_PRELOAD")
        expect_equal(job.last.err, plain.err, "stderr with LD_PRELOAD")
        iterations = {phase["name"]: phase["iterations"] for phase in report["phases"]}
        expect_equal(iterations.get("timestep"), 40, "iterations of the marked loop")
        launched = job.run([*job.launcher(2), job.tool, "run", "--output", "launched." + name, "--", *command])
        expect_equal((launched.code, launched.out, launched.err), (0, plain.out, plain.err), "with libprofile run")
        expect_equal(job.report("launched." + name)["job"]["complete"], True, "completeness")


if __name__ == "__main__":
    main()
