#!/usr/bin/python3
"""Threads are measured apart and end as they did; children of the application are not part of the job."""

import json

from harness import expect, expect_equal, main, test
from report_checks import calls


def thread_calls(report):
    """For each thread but the main ones: (rank, its calls)."""
    threads = report["threads"]
    return [(where["rank"], dict(sorted(calls(report, number, group=threads).items()))) for number, where in enumerate(threads["locations"])]


def same_output(job, mode, timeout=60):
    """Runs mode of tests/programs/threads.cpp both ways; returns the report."""
    command = [job.program("threads"), mode]
    plain = job.plain(command, timeout=timeout)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, timeout=timeout)
    expect_equal(sorted(job.last.out.splitlines()), sorted(plain.out.splitlines()), "stdout")
    expect_equal(job.last.err, plain.err, "stderr")
    return report


@test
def mpi_calls_of_threads_are_counted_per_thread(job):
    report = same_output(job, "messages")
    found = [(rank, made) for rank, made in thread_calls(report) if made]
    expected = [(rank, {"MPI_Sendrecv": number}) for rank in range(2) for number in (100, 200, 300)]
    expect_equal(sorted(found, key=str), sorted(expected, key=str), "calls of the threads")
    for rank in range(2):
        expect_equal(calls(report, rank), {"MPI_Init_thread": 1, "MPI_Comm_rank": 1, "MPI_Comm_dup": 3, "MPI_Comm_free": 3,
                                           "MPI_Barrier": 1, "MPI_Finalize": 1}, f"calls of main thread {rank}")
    sent = [metric["total"] for metric in report["threads"]["metrics"] if metric["name"] == "p2p_bytes_sent"][0]
    expect_equal(sorted(sent), [400, 400, 800, 800, 1200, 1200], "bytes sent")


@test
def concurrent_traffic_of_threads_equals_their_logs(job):
    """Messages, one-sided calls, waits and tests of several threads at once, sampled 1000 times a second."""
    report = job.profile([job.program("concurrent")], options={"LIBPROFILE_SAMPLE": 1000}, timeout=80)
    expect_equal((job.last.out, job.last.err), ("", []), "output")
    expected = []
    for rank in range(2):
        for log in json.loads((job.folder / f"log.{rank}.json").read_text()):
            expected.append((rank, log["sent"], log["received"], log["calls"]))
    threads = {metric["name"]: metric["total"] for metric in report["threads"]["metrics"]}
    found = [(rank, threads["p2p_bytes_sent"][number], threads["p2p_bytes_received"][number], made)
             for number, (rank, made) in enumerate(thread_calls(report)) if made]
    expect_equal(sorted(found, key=str), sorted(expected, key=str), "(rank, bytes sent, bytes received, calls) of the threads")
    for rank in range(2):
        expect_equal(calls(report, rank), {"MPI_Init_thread": 1, "MPI_Comm_rank": 1, "MPI_Comm_dup": 3, "MPI_Win_allocate": 3,
                                           "MPI_Win_free": 3, "MPI_Comm_free": 3, "MPI_Finalize": 1}, f"main thread {rank}")
    expect(report["losses"]["samples_taken"] > 10, f"only {report['losses']['samples_taken']} samples")


@test
def exceptions_in_threads_are_unaffected(job):
    report = same_output(job, "exceptions")
    for rank, made in thread_calls(report):
        expect_equal(made, {"MPI_Barrier": 4000}, f"calls of a thread of rank {rank}")


@test
def thread_exit_and_cancellation_are_unaffected(job):
    report = same_output(job, "ends")
    found = [made for _, made in thread_calls(report) if made]
    expect_equal(found, [{"MPI_Barrier": 21}] * 40, "calls of the exiting threads")


@test
def mpi_in_another_than_the_main_thread_is_measured(job):
    report = same_output(job, "elsewhere")
    found = [made for _, made in thread_calls(report) if made]
    main_calls = [calls(report, rank) for rank in range(2)]
    everything = [made for made in [*found, *main_calls] if made]
    expect_equal(everything, [{"MPI_Init_thread": 1, "MPI_Comm_rank": 1, "MPI_Barrier": 1, "MPI_Finalize": 1}] * 2, "calls")


@test
def threads_too_short_to_be_shown_are_counted_with_their_time(job):
    """By their own clocks; with samples, those that have one are shown instead."""
    for samples in (0, 100):
        report = job.profile([job.program("threads"), "short"], options={"LIBPROFILE_SAMPLE": samples}, timeout=60)
        own = [int(line) for line in job.last.err]
        losses = report["losses"]
        shown = len(report["threads"]["locations"])
        expect_equal((len(own), losses["threads_short"] + shown), (2, 2 * 200), "threads counted")
        if samples == 0:
            expect_equal(shown, 0, "threads shown")
            expect_equal(losses["per_rank"]["threads_short"], [200, 200], "of each rank")
            expect(sum(own) <= losses["threads_short_ns"] <= 1.5 * sum(own), f"{losses['threads_short_ns']} ns, by their own clocks {sum(own)}")
        text = " ".join(job.run([job.tool, "report", job.folder / f"profile.{job.runs}"]).out.split())
        expect("not shown, without a sample" in text, "nothing is said")


@test
def threads_that_outlive_finalize_are_no_harm(job):
    report = same_output(job, "detached")
    expect(len(report["threads"]["locations"]) >= 6, "the running threads are not in the report")


@test
def children_of_the_application_are_not_part_of_the_job(job):
    command = [job.program("life"), "children"]
    plain = job.plain(command)
    report = job.profile(command)
    expect_equal(sorted(job.last.out.splitlines()), sorted(plain.out.splitlines()), "stdout")
    expect_equal(plain.out.count("fork, exit: 11"), 2, "children that exit with 11")
    expect_equal(job.output_folders(), [], "other output folders")
    names = {phase["name"] for phase in report["phases"]}
    expect_equal(names, {"", "step"}, "phases: those of a child do not belong there")


@test
def children_under_libprofile_run_are_not_part_of_the_job(job):
    command = [job.program("life"), "children"]
    plain = job.plain(command)
    result = job.run([*job.launcher(2), job.tool, "run", "--", *command])
    expect_equal((result.code, sorted(result.out.splitlines())), (0, sorted(plain.out.splitlines())), "the job")
    expect_equal(len(result.said), 1, "lines")
    expect_equal(len(job.output_folders()), 1, "output folders")


@test
def exec_from_inside_keeps_the_job_intact(job):
    report = job.profile([job.program("life"), "exec"])
    expect_equal((job.last.out, job.last.err), ("life: 2 ranks\n", []), "output")
    for rank in range(2):
        expect_equal(calls(report, rank)["MPI_Allreduce"], 10, f"calls of rank {rank}")
    job.profile([job.program("life"), "exec_after"])
    expect_equal((job.last.out, job.last.err), ("life: 2 ranks\n", []), "output when exec comes after Finalize")


if __name__ == "__main__":
    main()
