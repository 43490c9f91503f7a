#!/usr/bin/python3
"""Programs that are hard on a library in their process: stacks, signals and threads (tests/programs/harsh.c)."""

from harness import expect, expect_equal, main, test
from report_checks import calls


def survives(job, mode, rate):
    """One rank, many samples; the program notices by itself when something is wrong."""
    command = [job.program("harsh"), mode]
    plain = job.plain(command, 1)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, 1, options={"LIBPROFILE_SAMPLE": rate})
    expect_equal((job.last.code, job.last.out, job.last.err), (0, plain.out, plain.err), "the program")
    return report


@test
def calls_left_by_longjmp_are_forgotten(job):
    report = survives(job, "leave", 5000)
    found = calls(report, 0)
    expect_equal((found["MPI_Send"], found["MPI_Iprobe"]), (6, 6000), "calls")


@test
def handlers_on_small_alternate_stacks_survive(job):
    survives(job, "altstack", 10000)


@test
def the_sampling_signal_is_not_seen_by_the_program(job):
    report = survives(job, "masked", 1000)
    expect(report["losses"]["samples_taken"] > 0, "no samples while all signals are blocked")


@test
def handlers_for_all_signals_are_the_programs_own(job):
    survives(job, "reset", 1000)


@test
def markers_and_snapshots_in_handlers_that_interrupt_libprofile_are_no_harm(job):
    command = [job.program("harsh"), "marking"]
    plain = job.plain(command, 1)
    for checkpoint in ("10s", "off"):
        result = job.measured(command, 1, output=f"marking.{checkpoint}", options={"LIBPROFILE_CHECKPOINT": checkpoint})
        expect_equal((result.code, result.out, result.err), (0, plain.out, plain.err), f"the program, checkpoints {checkpoint}")
        expect_equal(job.run([job.tool, "report", job.folder / f"marking.{checkpoint}"]).code, 0, "the report")


@test
def threads_before_mpi_init_are_measured(job):
    report = survives(job, "early", 100)
    expect_equal(len(report["threads"]["locations"]), 2, "threads")
    samples = [metric for metric in report["threads"]["metrics"] if metric["name"] == "samples"]
    expect(sum(samples[0]["total"]) > 5, "the threads have no samples")


@test
def short_lived_threads_do_not_use_up_the_memory(job):
    report = survives(job, "churn", 100)
    expect_equal(report["losses"]["threads_lost"], 0, "threads lost")
    expect(len(report["threads"]["locations"]) < 100, "threads without a trace have locations")


if __name__ == "__main__":
    main()
