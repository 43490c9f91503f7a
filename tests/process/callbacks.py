#!/usr/bin/python3
"""What programs do inside MPI's callbacks is as without libprofile, at its highest sampling rate: exceptions, jumps, looks at the stack, ends of
threads and of the process (tests/programs/callbacks.cpp). The long form is that of soak.py."""

import re

from harness import MOST_SAMPLES, expect, expect_equal, main, masked, test

OPTIONS = {**MOST_SAMPLES, "LIBPROFILE_ITERATION": "none"}


def as_without(job, ranks, *arguments, marks="1"):
    """Runs the program without and with libprofile; returns the counters."""
    command = [job.program("callbacks"), *arguments]
    plain = job.plain(command, ranks)
    expect_equal(plain.code, 0, "exit code of the program by itself")
    job.runs += 1
    output = f"profile.{job.runs}"
    result = job.measured(command, ranks, options={**OPTIONS, "LIBPROFILE_MARKS": marks}, output=output, timeout=120)
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), f"{arguments} with LIBPROFILE_MARKS={marks}")
    found = job.report(output)["call_paths_found"]
    expect_equal((found["paths_wrong"], found["marks_lost"]), (0, 0), "wrong paths and lost marks")
    expect(found["marks_placed"] > 0, "nothing was marked")
    return found


@test
def exceptions_and_jumps_inside_callbacks_are_as_without(job):
    found = as_without(job, 1, "soak", 1200, 1, marks="check")
    expect(found["paths_checked"] > 1000, "hardly a path was checked")
    as_without(job, 2, "soak", 2500, 2)


@test
def threads_end_inside_callbacks_as_without(job):
    as_without(job, 1, "threads", 150, 1)


@test
def processes_end_inside_callbacks_as_without(job):
    """Without a launcher: that of MPICH now and then gives another exit code than the process, with and without libprofile."""
    for how in ("exit", "quick_exit", "_exit", "abort", "uncaught", "pthread_exit", "cancel"):
        command = [job.program("callbacks"), how, 200, 1]
        plain = job.run(command)
        result = job.run(job.preloaded(command, {**OPTIONS, "LIBPROFILE_OUTPUT": job.folder / how}))
        expect(plain.code != 0, f"the program came back after {how}")
        expect_equal((result.code, masked(result.out)), (plain.code, masked(plain.out)), how)
        if how not in ("abort", "uncaught"):  # there MPI shows the stack, on which the wrappers are
            expect_equal(list(map(masked, result.err)), list(map(masked, plain.err)), f"stderr of {how}")


@test
def operations_beyond_those_that_are_followed_are_counted(job):
    plain = job.plain([job.program("many_operations")], 1)
    result = job.measured([job.program("many_operations")], 1, output="many")
    expect_equal((result.code, result.out), (plain.code, plain.out), "the job with libprofile")
    expect_equal(result.out, f"{sum(range(300)) + 300}\n", "what the operations have done")
    expect_equal(job.report("many")["losses"]["operations_lost"], 300 - 256, "operations that are not followed")
    text = job.run([job.tool, "report", job.folder / "many"]).out
    expect("44 operations of the program (MPI_Op_create)" in text, text)


@test
def tracebacks_of_crashes_inside_mpi_are_complete(job):
    """The run-time library of Fortran reads debug information while it looks at the stack: long enough for many samples."""
    def shown(result):
        return [name for name in re.findall(r"^#\d+ .* in (\S+)", result.all_err, re.MULTILINE) if name != "???" and "libprofile" not in name]

    plain = job.plain([job.program("crashes_in_mpi")], 1)
    expect("main" in shown(plain), f"the program by itself shows {shown(plain)}")
    for rate in ("100", "10kHz", "10kHz"):
        job.runs += 1
        result = job.measured([job.program("crashes_in_mpi")], 1, options={"LIBPROFILE_SAMPLE": rate}, output=f"profile.{job.runs}")
        expect_equal((result.code, shown(result)), (plain.code, shown(plain)), f"what is shown with {rate}")


if __name__ == "__main__":
    main()
