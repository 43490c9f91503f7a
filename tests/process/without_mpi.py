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
    result = job.run([job.tool, "run", "--", program])
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
