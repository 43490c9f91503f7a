#!/usr/bin/python3
"""Times of ranks lie on one axis: of one machine exactly, of machines with other clocks as exactly as is said (tests/programs/clocks.c).

A time namespace has a monotonic clock of its own, ahead of the machine's by what one chooses. For MPI and for libprofile, its processes are on
another machine in this respect, and the true difference is known."""

import json

from harness import Skip, expect, expect_equal, main, read_again, test

STEPS = 60
AHEAD = {1: 1000, 2: 70000}  # s, by rank


def in_time_namespaces(job, command):
    """The command for ranks, of which some have clocks of their own."""
    if job.run(["unshare", "-T", "--monotonic", 1000, "true"]).code != 0:
        raise Skip("no time namespaces")
    cases = "".join(f"{rank}) exec unshare -T --monotonic {ahead} \"$@\" ;; " for rank, ahead in AHEAD.items())
    return ["sh", "-c", f'case "${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}" in {cases}esac; exec "$@"', "sh", *command]


def begun(job, rank):
    return [tuple(int(word) for word in line.split()) for line in (job.folder / f"log.{rank}").read_text().splitlines()]


def on_axis(clock, ns):
    return clock["begin_ns"] + ns * clock["axis_ns"] / clock["own_ns"]


def check_begins(job, report, origins, ranks):
    """Begins on the axis are those of the log. `origins`: what the clock of the axis showed at its beginning, as the log of each rank counts, and how
    far that may be wrong."""
    phase = next(phase for phase in report["phases"] if phase["name"] == "step")
    for rank in range(ranks):
        log, begins, times = begun(job, rank), phase["iteration_begins"][rank], phase["iteration_times"][rank]
        expect(STEPS - 1 <= len(begins) == len(times) <= len(log) == STEPS, f"{len(begins)} begins and {len(times)} times of rank {rank}")
        clock, (origin, wrong) = report["clocks"][rank], origins[rank]
        for i, (before, after) in enumerate(log[:len(begins)]):
            gap = begins[i] - (begins[i - 1] + times[i - 1] if i > 0 else 0)
            early = wrong + max(gap, 0) / 1000 + 2000 if i > 0 else wrong + 2000
            begin = origin + on_axis(clock, begins[i])
            expect(before - early <= begin <= after + wrong + 2000,
                   f"iteration {i + 1} of rank {rank} began {begin - before:.0f} ns after {before}, not within {after - before} ns")


def first_origin(job, output, name="profile.lprof", *options):
    clocks = read_again(job, job.folder / output / name, *options)["clocks"]
    return clocks, min(clock["origin_ns"] + clock["offset_ns"] for clock in clocks)


@test
def ranks_of_one_machine_have_one_axis(job):
    report = job.profile([job.program("clocks"), STEPS, job.folder])
    clocks, origin = first_origin(job, "profile.1")
    expect_equal([(clock["is_measured"], clock["offset_ns"]) for clock in clocks], [(0, 0)] * 2, "no messages")
    expect_equal([clock["uncertainty_ns"] for clock in report["clocks"]], [0, 0], "it is exact")
    check_begins(job, report, [(origin, 0)] * 2, 2)
    drawn = [event for event in picture(job, "profile.1")[0]["traceEvents"] if event.get("cat") == "iteration"]
    starts = {(event["pid"], event["args"]["iteration"]): event["ts"] * 1000 for event in drawn}
    expect_equal(min(starts.values()), 0, "where the picture begins")
    for rank in range(2):
        for i, (before, after) in enumerate(begun(job, rank)):
            shown = starts[rank, i + 1] - starts[0, 1]
            true = before - begun(job, 0)[0][0]
            expect(abs(shown - true) < 200000 + 2 * (after - before), f"iteration {i + 1} of rank {rank} is at {shown}, by the log {true}")


def picture(job, output):
    result = job.run([job.tool, "export", job.folder / output, "--format", "chrome"])
    return json.loads((job.folder / f"{output}.trace.json").read_text()), result.all_err


@test
def clocks_of_machines_are_compared_as_exactly_as_is_said(job):
    command = in_time_namespaces(job, [job.program("clocks"), STEPS, job.folder])
    plain = job.plain(command, 3)
    result = job.measured(command, 3, output="apart")
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    expect_equal((sorted(result.out.splitlines()), result.err), (sorted(plain.out.splitlines()), plain.err), "what the program says")
    report = job.report("apart")
    clocks, origin = first_origin(job, "apart")
    expect_equal(len({clock["id"] for clock in clocks}), 3, "clocks")
    origins = [(origin, 0)]
    for rank, clock in enumerate(clocks):
        wrong = abs(clock["offset_ns"] + AHEAD.get(rank, 0) * 10**9)
        expect(clock["is_measured"] == 1 and wrong <= clock["uncertainty_ns"] < 10**7, f"clock of rank {rank} is {wrong} ns off: {clock}")
        expect_equal(report["clocks"][rank]["uncertainty_ns"], clock["uncertainty_ns"], "uncertainty")
        if rank > 0:
            origins.append((origin + AHEAD[rank] * 10**9, clock["uncertainty_ns"]))
    check_begins(job, report, origins, 3)
    expect("clocks of different machines were compared" in picture(job, "apart")[1], "the export does not say how exact it is")


@test
def killed_ranks_keep_the_axis_and_their_begins(job):
    job.run([*job.launcher(2), *job.preloaded([job.program("clocks"), STEPS, job.folder, 1], {"LIBPROFILE_OUTPUT": job.folder / "killed"})])
    report = job.report("killed")
    origins = [first_origin(job, "killed", f"rank-{rank}.lprof", "--scan")[1] for rank in range(2)]
    check_begins(job, report, [(min(origins), 0)] * 2, 2)
    lost = report["partners"]["lost"]
    sent = sum(partner["messages"] for row in report["partners"]["rows"] for partner in row["partners"] if row["direction"] == "sent")
    expect(0 < sent <= 2 * STEPS and lost == 0, f"{sent} messages with partners")
    expect_equal(job.run([job.tool, "recover", job.folder / "killed"]).code, 0, "recover")
    recovered = job.report("killed")
    for key in ("clocks", "partners"):
        expect_equal(recovered[key], report[key], f"{key} after recover")
    for one, other in zip(report["phases"], recovered["phases"]):
        expect_equal(other.get("iteration_begins"), one.get("iteration_begins"), "begins after recover")


@test
def killed_ranks_of_different_machines_count_from_their_own_start(job):
    command = in_time_namespaces(job, [job.program("clocks"), STEPS, job.folder, 1])
    job.run([*job.launcher(2), *job.preloaded(command, {"LIBPROFILE_OUTPUT": job.folder / "killed"})])
    report = job.report("killed")
    expect(report["clocks"][0] is not None and report["clocks"][1] is None, f"clocks: {report['clocks']}")
    text = picture(job, "killed")[1]
    expect("the time of 1 of 2 ranks counts from" in text, text)


if __name__ == "__main__":
    main()
