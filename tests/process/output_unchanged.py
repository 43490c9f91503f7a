#!/usr/bin/python3
"""Programs not written here: stdout, exit code and stderr are the same with and without libprofile."""

import debian_programs
from harness import expect, expect_equal, main, test
from report_checks import calls


def unchanged(job, command, results, ranks=2, code=0, least_calls=100):
    """Runs both ways; compares what `results` keeps of stdout, all of stderr, and the exit code; returns the report."""
    plain = job.plain(command, ranks, timeout=120)
    report = job.profile(command, ranks, timeout=120) if code == 0 else None
    measured = job.last if code == 0 else job.measured(command, ranks, output="failed", timeout=120)
    expect_equal(plain.code, code, "exit code without libprofile")
    expect_equal(measured.code, code, "exit code with libprofile")
    expected = results(plain.out)
    expect(len(expected) >= 5, f"too little to compare in stdout: {expected}")
    expect_equal(results(measured.out), expected, "stdout")
    expect_equal(sorted(measured.err), sorted(plain.err), "stderr")
    if report:
        expect_equal(job.report("profile.1")["losses"]["samples_lost"], 0, "lost samples")
        for rank in range(ranks):
            found = calls(report, rank)
            expect(sum(found.values()) > least_calls, f"only {found} on rank {rank}")
            expect_equal(found.get("MPI_Finalize"), 1, "MPI_Finalize")
    return report


@test
def lammps_results_are_unchanged(job):
    unchanged(job, debian_programs.lammps(job, 2000), debian_programs.lammps_results, least_calls=5000)


@test
def quantum_espresso_results_are_unchanged(job):
    unchanged(job, debian_programs.pw(job, 8), debian_programs.pw_results, least_calls=5000)


@test
def exit_code_of_a_failing_program_is_unchanged(job):
    command = debian_programs.pw(job, 8, change=("calculation='md'", "calculation='none'"))
    plain = job.plain(command)
    measured = job.measured(command, output="failed")
    expect(plain.code != 0, "pw.x was to fail")
    expect_equal(measured.code, plain.code, "exit code")
    expect_equal([line for line in measured.err if "task" not in line and "PID" not in line and "pid" not in line],
                 [line for line in plain.err if "task" not in line and "PID" not in line and "pid" not in line], "stderr")


@test
def scalapack_results_are_unchanged(job):
    ranks = 4 if job.mpi == "openmpi" else 2
    unchanged(job, debian_programs.xdlu(job, ranks), debian_programs.xdlu_results, ranks, least_calls=10000)


@test
def netpipe_mpich_runs_as_without(job):
    job.need("NPmpich2")
    command = ["NPmpich2", "-u", "4096", "-n", "20", "-o", "/dev/null"]
    shape = lambda out: out.splitlines()
    plain = job.plain(command)
    report = job.profile(command)
    expect_equal(shape(job.last.out), shape(plain.out), "stdout")
    for rank in range(2):
        found = calls(report, rank)
        expect(found.get("MPI_Send", 0) > 100 and found.get("MPI_Send") == found.get("MPI_Recv"), f"odd counts: {found}")


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
