#!/usr/bin/python3
"""Programs at the ends of the scale, and systems that refuse what we ask for (tests/programs/extremes.cpp)."""

import os
import shutil

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls


def extreme(job, *arguments, options=None, folded=False):
    """One rank; its output must be the same with and without us. The report, whose sums are checked as always."""
    command = [job.program("extremes"), *arguments]
    plain = job.plain(command, 1)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, 1, options=options, folded=folded)
    expect_equal((job.last.out, job.last.err), (plain.out, plain.err), "the program")
    return report


def all_calls(report, function):
    """Of the main thread and all others."""
    others = next(metric for metric in report["threads"]["metrics"] if metric["name"] == "visits")
    return calls(report, 0).get(function, 0), sum(others["total"])


@test
def a_thousand_threads_have_their_calls(job):
    report = extreme(job, "threads", 1000)
    expect_equal(len(report["threads"]["locations"]), 1000, "locations of threads")
    expect(all_calls(report, "MPI_Comm_rank")[1] >= 2000, "calls of threads are missing")


@test
def more_call_paths_than_memory_keep_every_call(job):
    """2^17 call paths into a megabyte: most of them are folded, none of the calls is lost, and it is said once. Iterations that come when
    the megabyte is full are there."""
    report = extreme(job, "late", 17, options={"LIBPROFILE_MEMORY": "1M"}, folded=True)
    expect_equal(calls(report, 0)["MPI_Comm_rank"], (1 << 17) + 3, "calls")
    expect_equal([(phase["name"], phase["iterations"]) for phase in report["phases"][1:]], [("step", 2)], "iterations")
    expect_equal(calls(report, 0, "step")["MPI_Comm_rank"], 3, "calls in them")
    expect_equal(len(job.last.complaints), 1, "complaints")


@test
def iterations_without_room_are_not_said_to_be_unmarked(job):
    """A name for each step uses up the memory before the iterations come: they are lost, and that is what is said, not that none were marked."""
    count = 1000
    report = extreme(job, "names", count, options={"LIBPROFILE_MEMORY": "1M"}, folded=True)
    expect_equal(calls(report, 0)["MPI_Comm_rank"], count + 3, "calls")
    expect("step" not in [phase["name"] for phase in report["phases"]], "there was room for the iterations")
    expect(" no iterations kept, " in job.last.exit_lines[0], f"exit line: {job.last.exit_lines}")
    expect_equal(len(job.last.complaints), 1, "complaints")
    answer = next(answer["answers"] for answer in report["answers"] if answer["key"] == "change")
    expect(len(answer) == 1 and "Memory ran out" in answer[0] and "MPI_Pcontrol" not in answer[0], f"what changes: {answer}")


@test
def many_call_paths_are_all_there(job):
    """2^15 MPI calls, each on a path of its own: nothing is folded under the default quota."""
    report = extreme(job, "paths", 15)
    expect_equal(calls(report, 0)["MPI_Comm_rank"], 1 << 15, "calls")


@test
def a_hundred_thousand_iterations_are_all_there(job):
    count = 100000
    report = extreme(job, "iterations", count)
    expect_equal([phase["iterations"] for phase in report["phases"] if phase["name"] == "step"], [count], "iterations")
    expect_equal(calls(report, 0, "step")["MPI_Comm_rank"], count + (count + 2) // 3, "calls")


@test
def recursion_of_a_hundred_thousand_frames_is_cut_and_counted(job):
    report = extreme(job, "deep", 100000, options={"LIBPROFILE_SAMPLE": 1000})
    expect(all_calls(report, "MPI_Comm_rank")[1] >= 1000, "calls of the thread are missing")
    expect(report["losses"]["partial_paths"] > 0, "paths of 100,000 frames are not partial")


@test
def refused_system_calls_are_no_harm(job):
    """Containers refuse what we would like to use: perf, timers, barriers of other threads, memory of other processes."""
    report = extreme(job, "seccomp", "iterations", 1000)
    expect_equal(calls(report, 0, "step")["MPI_Comm_rank"], 1334, "calls")


@test
def a_system_without_proc_is_no_harm(job):
    """The rank itself sees an empty /proc; its launcher, which needs it, does not."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        raise Skip("hiding /proc takes root and unshare")
    hidden = ["unshare", "--mount", "sh", "-c", "mount -t tmpfs none /proc && exec \"$@\"", "sh"]
    if job.run([*hidden, "true"]).code != 0:
        raise Skip("no mounts in this container")
    command = [job.program("extremes"), "iterations", 1000]
    plain = job.run([*job.launcher(1), *hidden, *command])
    if plain.code != 0:
        raise Skip("this MPI needs /proc itself")
    result = job.run([*job.launcher(1), *hidden, *job.preloaded(command, {"LIBPROFILE_OUTPUT": job.folder / "hidden"})])
    expect_equal((result.code, result.out, result.err), (0, plain.out, plain.err), "the program")
    report = job.report("hidden")
    expect_equal(calls(report, 0, "step")["MPI_Comm_rank"], 1334, "calls")
    for tool in (job.tool, os.path.relpath(job.tool, job.folder)):
        result = job.run([*hidden, tool, "run", "--output", job.folder / "run", "--", job.programs / "without_mpi"])
        expect_equal((result.code, result.out, len(result.said), len(result.exit_lines)), (5, "caught 6000\n", 1, 1), "libprofile run")


if __name__ == "__main__":
    main()
