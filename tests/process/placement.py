#!/usr/bin/python3
"""Where ranks ran is in the profile: machine, processors, bindings; and what follows from that is said, but nothing else."""

import os
import shutil

from harness import Skip, expect, expect_equal, main, test


def sentences(report):
    return [loss["sentence"] for loss in report["losses"]["sentences"] if loss["kind"] == "placement"]


def profile(job, ranks, bind=None):
    command = [job.program("counters"), "waits", 4, 1]
    if bind is not None:
        if shutil.which("taskset") is None:
            raise Skip("taskset is not installed")
        command = ["taskset", "-c", bind, *command]
    return job.profile(command, ranks=ranks)


@test
def a_rank_is_where_the_kernel_says(job):
    report = profile(job, 1)
    places = report["places"]
    expect_equal(len(places["machines"]), 1, "machines")
    machine = places["machines"][0]
    expect_equal(machine["host"], report["job"]["hosts"][0], "host")
    expect_equal(machine["processors"], os.cpu_count(), "processors of the machine")
    thread = places["ranks"][0]["threads"][0]
    expect_equal(thread["allowed"], sorted(os.sched_getaffinity(0)), "processors it was allowed")
    expect(thread["last"] in thread["allowed"], f"seen on {thread}")
    expect(thread["looks"] >= 8, f"looked at {thread['looks']} times in four iterations")
    expect(thread["moves"] < thread["looks"], "moves")
    known = {one["number"]: one for one in machine["used_processors"]}
    expect_equal(thread["core"], known[thread["last"]]["core"], "core")
    with open(f"/sys/devices/system/cpu/cpu{thread['last']}/topology/physical_package_id", encoding="ascii") as file:
        expect_equal(known[thread["last"]]["package"], int(file.read()), "package")


@test
def ranks_bound_to_one_core_are_said_to_share_it(job):
    processor = min(os.sched_getaffinity(0))
    report = profile(job, 2, str(processor))
    for rank in report["places"]["ranks"]:
        expect_equal((rank["threads"][0]["allowed"], rank["threads"][0]["last"], rank["threads"][0]["moves"]), ([processor], processor, 0), "place")
    said = sentences(report)
    expect_equal(len(said), 1, f"sentences: {said}")
    expect("ranks 0-1" in said[0] and "1 processor between them" in said[0], said[0])
    text = job.run([job.tool, "report", job.folder / "profile.1"]).out
    expect("System" in text and f"core {processor}: ranks 0-1" in text, "the system section of the report")


@test
def more_ranks_than_processors_are_said_to_take_turns(job):
    allowed = len(os.sched_getaffinity(0))
    if allowed > 7 or job.mpi == "mpich":
        raise Skip("too many processors for a small job, or ranks that spin")
    said = sentences(profile(job, allowed + 1))
    expect_equal(len(said), 1, f"sentences: {said}")
    expect("took turns" in said[0], said[0])


@test
def ranks_with_a_core_each_are_not_warned_about(job):
    if len(os.sched_getaffinity(0)) < 2:
        raise Skip("one processor only")
    expect_equal(sentences(profile(job, 1)), [], "sentences about one rank")
    report = profile(job, 2)
    cores = {one["core"] for one in report["places"]["machines"][0]["used_processors"]}
    if len(cores) >= 2:
        expect_equal(sentences(report), [], "sentences about two ranks")


if __name__ == "__main__":
    main()
