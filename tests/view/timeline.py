"""The timeline of the page (LIBPROFILE_TRACE=events): its shares are those of the report's events, and nothing of the run is a hole."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

from counters import check_series
from expectations import expect, expect_equal, test
from served import Served

STATES = {
    "point_to_point": ("MPI_Send", "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait", "MPI_Waitall", "MPI_Sendrecv", "MPI_Waitany", "MPI_Probe", "MPI_Test"),
    "collective": ("MPI_Allreduce", "MPI_Reduce", "MPI_Bcast", "MPI_Allgather", "MPI_Alltoall", "MPI_Gather", "MPI_Scan"),
    "synchronization": ("MPI_Barrier",),
    "init_exit": ("MPI_Init", "MPI_Init_thread", "MPI_Finalize"),
}
OF_FUNCTION = {name: state for state, names in STATES.items() for name in names}


def traced(context, name, memory, *command):
    folder = context.work / name
    shutil.rmtree(folder, ignore_errors=True)
    program = [command[0] if Path(command[0]).is_absolute() else f"{context.options.examples}/{command[0]}.openmpi", *command[1:]]
    done = subprocess.run([*context.start(folder), "LIBPROFILE_TRACE=events", f"LIBPROFILE_TRACE_MEMORY={memory}", *program], capture_output=True, text=True,
                          timeout=120, cwd=context.work)
    expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    told = subprocess.run([context.options.tool, "report", folder, "--format", "json", "--series", "--trace"], capture_output=True, text=True)
    expect(told.returncode == 0, told.stderr[-2000:])
    return folder, json.loads(told.stdout)


def call_paths(report):
    return {path["id"]: path for phase in report["phases"] for path in phase["call_paths"]}


def sums_between(events, paths, begin, end):
    """ns by state between two times of a thread. The innermost call counts."""
    calls = [(b, e, paths[p]["name"]) for b, e, p in zip(events["begin_ns"], events["end_ns"], events["path"])
             if b < end and e > begin and (p not in paths or paths[p]["kind"] != "region")]
    cuts = sorted({begin, end, *(min(max(t, begin), end) for b, e, _ in calls for t in (b, e))})
    sums = {}
    for a, b in zip(cuts, cuts[1:]):
        inside = [call for call in calls if call[0] <= a and call[1] >= b]
        state = OF_FUNCTION.get(max(inside)[2], "other_mpi") if inside else "computing"
        sums[state] = sums.get(state, 0) + b - a
    return sums


def kept_iterations(report):
    """By (phase, number from 0): the spans of the ranks that kept it."""
    kept = {}
    for r, events in enumerate(report["events"]):
        for part in events["parts"]:
            if part["kind"] == "iteration":
                kept.setdefault((part["phase"], part["number"] - 1), {})[r] = (part["begin_ns"], part["end_ns"])
    return kept


@test
def shares_of_an_iteration_are_those_of_the_reported_events(context):
    folder, report = traced(context, "events-whole", "4M", "hydro", "60", "8")
    paths = call_paths(report)
    seen = context.look(context.view(folder), "events")
    check_series(context, folder, seen["series"]["ofAll"])
    check_series(context, folder, seen["series"]["ofIteration"], "--iterations", str(seen["series"]["number"] + 1))
    kept = kept_iterations(report)
    expect(len(kept) > 20 and len(seen["iterations"]) > 20, f"kept are {len(kept)} iterations, seen {len(seen['iterations'])}")
    messages = 0
    for one in seen["iterations"]:
        spans = kept[one["phase"], one["number"]]
        wanted, matrix = {}, {}
        for r, (begin, end) in spans.items():
            events = report["events"][r]
            for state, ns in sums_between(events, paths, begin, end).items():
                wanted[state] = wanted.get(state, 0) + ns
            ends = events["messages"]
            for call, direction, partner, size in zip(ends["interval"], ends["direction"], ends["partner"], ends["bytes"]):
                if direction == "sent" and begin <= events["begin_ns"][call] < end:
                    key = f"{events['rank']} {partner}"
                    matrix[key] = matrix.get(key, 0) + size
        expect_equal({state: ns for state, ns in one["states"].items() if ns > 0}, {state: ns for state, ns in wanted.items() if ns > 0},
                     f"states of iteration {one['number'] + 1}")
        expect_equal({key: size for key, size in one["matrix"].items() if size > 0}, {key: size for key, size in matrix.items() if size > 0},
                     f"messages of iteration {one['number'] + 1}")
        messages += len(matrix)
        expect(0 < one["parallelism"] <= 2, f"threads that compute: {one['parallelism']}")
    expect(messages > 0, "no iteration has messages")
    # What is under the pointer, and what keys do.
    hovered = seen["hovered"]
    expect(hovered["function"] in hovered["text"] and hovered["function"].startswith("MPI_"), f"under the pointer: {hovered}")
    expect(f"rank {hovered['rank']}" in hovered["text"] and "iteration" in hovered["text"], f"under the pointer: {hovered}")
    expect(hovered["node"] > 0 and hovered["node"] == hovered["clicked"], f"a click selects the call path {hovered['clicked']}, not {hovered['node']}")
    keys = seen["keys"]
    expect(keys["w"] < keys["first"] and keys["s"] > keys["w"] and keys["a"] < keys["d"], f"keys: {keys}")
    expect_equal(keys["all"], keys["whole"], "what 0 shows")
    expect("rank 0" in keys["read"] and keys["read"] != keys["read_next"] and "rank 1" in keys["read_down"], f"read by keys: {keys}")
    expect_equal(seen["again"], seen["before"], "what the link shows again")
    # Pictures and tables.
    expect(seen["svg"].startswith("<svg") and seen["png"] == "PNG", f"{seen['svg'][:40]!r}, {seen['png']!r}")
    rows = list(csv.DictReader(seen["csv"].splitlines()))
    last = seen["iterations"][-1]
    in_it = 0
    for r, (begin, end) in kept[last["phase"], last["number"]].items():
        events = report["events"][r]
        in_it += sum(1 for b, e in zip(events["begin_ns"], events["end_ns"]) if b < end and (e > begin or b >= begin))
    expect_equal(len(rows), in_it, "calls of the selected iteration in the CSV")
    for mode, paint in seen["modes"].items():
        expect(paint["covered"] > 0.2, f"mode {mode} covers {paint}")
    expect(seen["messages"] > 0, "no line of a message is drawn")


@test
def who_sends_how_much_to_whom_is_what_the_program_sent(context):
    """No message counts at both of its ends, also where numbers do not tell which are one. The server does not know then, unless all is there."""
    program, step = f"{context.options.build}/tests/process/programs/told_messages.openmpi", 5
    for how, is_known in (("as_usual", True), ("off", True), ("swapped", False), ("freed", False)):
        folder, report = traced(context, f"events-{how}", "4M", program, "12", how)
        sent = {}
        for rank in range(2):
            for line in (context.work / f"sent.{rank}").read_text().splitlines():
                at, partner, size = map(int, line.split())
                for chosen in (None, at):
                    sums = sent.setdefault(chosen, {}).setdefault((rank, partner), [0, 0])
                    sums[0] += 1
                    sums[1] += size
        phase = next(p for p, one in enumerate(report["phases"]) if one["kind"] == "iterations")
        spans = {None: {"from": 0, "to": max(max(events["end_ns"]) for events in report["events"]) + 10**9}, step: {"phase": phase, "number": step}}
        seen = context.look(context.view(folder), "durations", json.dumps(list(spans.values())))
        for chosen, one in zip(spans, seen["of"]):
            matrix, ranks = one["matrix"], one["matrix"]["ranks"]
            pairs = {(a, b): [matrix["counts"][i * len(ranks) + k], matrix["bytes"][i * len(ranks) + k]]
                     for i, a in enumerate(ranks) for k, b in enumerate(ranks) if matrix["counts"][i * len(ranks) + k] > 0}
            expect_equal(pairs, sent[chosen], f"messages and bytes in the page, {how}, step {chosen}")
        with Served(context.options.tool, folder, "--index-from", "0") as served:
            served.header()
            for chosen, span in spans.items():
                asked = {"iteration" if name == "number" else name: value for name, value in span.items()}
                expect_equal(served.status("timeline_messages", **asked), 200 if is_known else 400, f"the server, {how}, step {chosen}")
                if is_known:
                    answer = {}
                    while "messages" not in answer:
                        answer = served.ask("timeline_messages", **asked)
                    told = {(a, b): [count, size] for a, b, count, size in answer["messages"]}
                    expect_equal(told, sent[chosen], f"messages and bytes told by the server, {how}, step {chosen}")


@test
def iterations_that_were_not_kept_have_their_sums(context):
    folder, report = traced(context, "events-few", "16K", "hydro", "400", "8")
    seen = context.look(context.view(folder), "events")
    expect(any(events["dropped_parts"] > 0 for events in report["events"]), "nothing was dropped: the test needs less memory")
    kept = kept_iterations(report)
    expect(len(seen["unkept"]) > 0, "no iteration is shown by its sums")
    phases = {}
    for one in seen["unkept"]:
        expect((one["phase"], one["number"]) not in kept or one["rank"] not in kept[one["phase"], one["number"]], f"{one} was kept")
        times = report["phases"][one["phase"]]["iteration_times"][one["rank"]]
        expect_equal(sum(one["sums"]), times[one["number"]], f"ns of iteration {one['number'] + 1} on rank {one['rank']}")
        phases.setdefault((one["phase"], one["rank"]), set()).add(one["number"])
    # Each iteration of the outermost phase is there once, by its events or by its sums.
    for (phase, rank), numbers in phases.items():
        with_events = {number for (p, number), ranks in kept.items() if p == phase and rank in ranks}
        expect_equal(sorted(numbers | with_events), list(range(len(report["phases"][phase]["iteration_times"][rank]))), f"iterations of rank {rank}")
    striped = seen["striped"]
    expect(0 < striped["alpha"] < 255 and striped["heights"] > 1, f"an iteration without events is drawn as {striped}")
    expect("sums are known" in striped["text"], f"under the pointer: {striped['text']!r}")
    expect("one iteration in" in seen["notes"] and "stripes" in seen["legend"], f"{seen['notes']!r}, {seen['legend']!r}")
