#!/usr/bin/python3
"""The events of kept iterations (LIBPROFILE_TRACE=events) equal the logs that programs write themselves (call_log.h); both ends of messages are found, and
ranks keep the same iterations, whatever their memory."""

import contextlib
import json
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import chrome, otf2_archive

from count_matrix import RANKS, logged_c_programs, logged_cxx_program, logged_fortran_programs, logged_mpi4py_program
from debian_programs import lammps, lammps_results
from harness import Skip, expect, expect_equal, main, test
from orders import left_out, logged_orders

EVENTS = {"LIBPROFILE_TRACE": "events"}


def events_of(job, folder=None):
    """The entries of events[] by rank and thread, with the name of each call path."""
    folder = folder or f"profile.{job.runs}"
    printed = job.run([job.tool, "report", job.folder / folder, "--format", "json", "--trace"])
    expect_equal(printed.code, 0, f"exit code of the report: {printed.err}")
    report = json.loads(printed.out)
    names = {path["id"]: path["name"] for phase in report["phases"] + report["threads"].get("phases", []) for path in phase["call_paths"]}
    return {(entry["rank"], entry["thread"]): entry for entry in report["events"]}, names, report


def parts_of(entry):
    """Each part with its intervals and messages: (part, [(begin, end, path)], [(interval in the part, ...)])."""
    at, message_at = 0, 0
    messages = entry["messages"]
    for part in entry["parts"]:
        last, last_message = at + part["intervals"], message_at + part["messages"]
        intervals = list(zip(entry["begin_ns"][at:last], entry["end_ns"][at:last], entry["path"][at:last]))
        yield part, intervals, [{name: column[i] for name, column in messages.items()} for i in range(message_at, last_message)]
        at, message_at = last, last_message
    expect_equal((at, message_at), (len(entry["path"]), len(messages["tag"])), "intervals and messages in parts")


def check_times(entry):
    """Parts follow each other, and have the intervals that end in them, in the order of their ends."""
    before = 0
    for part, intervals, _ in parts_of(entry):
        expect(before <= part["begin_ns"] <= part["end_ns"], f"a part begins before the one before it is over: {part}")
        before = last = part["begin_ns"]
        for begin, end, _ in intervals:
            expect(begin <= end and last <= end <= part["end_ns"], f"an interval of {begin} to {end} in {part}")
            last = end
        before = part["end_ns"]


def compare(job, command, env=None, without=()):
    ranks = RANKS[job.mpi]
    job.profile(command, ranks, options=EVENTS, env={**(env or {}), "CALL_LOG_STEPS": 1})
    expect_equal(job.last.complaints, [], "complaints")
    entries, names, _ = events_of(job)
    without = left_out(job) | set(without)
    for rank in range(ranks):
        entry = entries[rank, 0]
        check_times(entry)
        expect_equal((entry["stride"], entry["dropped_events"]), (1, 0), "all is kept")
        found = [[names[path] for _, _, path in intervals if names[path] not in without] for part, intervals, _ in parts_of(entry) if part["kind"] == "iteration"]
        expected = logged_orders(job, rank, without)
        if found and not found[-1] and len(found) == len(expected) + 1:  # the last iteration may have no call
            found.pop()
        wrong = [(number, mine, other) for number, (mine, other) in enumerate(zip(found, expected)) if mine != other]
        expect_equal(wrong[:1], [], f"{command[0]}: iterations of rank {rank} (number, found, logged)")
        expect_equal(len(found), len(expected), f"{command[0]}: number of iterations of rank {rank}")


@test
def events_of_c_programs_equal_their_logs(job):
    for program in logged_c_programs(job):
        compare(job, *program)


@test
def events_of_fortran_programs_equal_their_logs(job):
    for program in logged_fortran_programs(job):
        compare(job, *program)


@test
def events_of_cxx_bindings_equal_their_log(job):
    for program in logged_cxx_program(job):
        compare(job, *program)


@test
def events_of_mpi4py_equal_their_log(job):
    for program in logged_mpi4py_program(job):
        compare(job, *program)


def check_ends(entries):
    """The other end of a message is the other end, and nobody else's. Returns how many of each direction have none."""
    alone = {"sent": 0, "received": 0}
    all_ends = {}
    by_rank = {}
    for (rank, thread), entry in entries.items():
        for i, direction in enumerate(entry["messages"]["direction"]):
            message = {name: column[i] for name, column in entry["messages"].items()}
            sender, receiver = (rank, message["partner"]) if direction == "sent" else (message["partner"], rank)
            key = sender, receiver, message["communicator"], message["tag"], message["number"]
            by_rank.setdefault((rank, thread), []).append((key, message))
            if message["other_end"] is None:
                alone[direction] += 1
            else:
                expect((key, direction) not in all_ends, f"{key} twice")
                all_ends[key, direction] = message["bytes"]
    for (key, direction), size in all_ends.items():
        other = "received" if direction == "sent" else "sent"
        expect((key, other) in all_ends, f"no other end of {key}, {direction}")
        expect_equal(all_ends[key, other], size, f"bytes at both ends of {key}")
    return alone


@test
def both_ends_of_messages_are_found(job):
    """The program has communicators of other orders, freed ones, an inter-communicator, and messages found by a matched probe."""
    job.profile([job.program("partners"), "20"], 4, options=EVENTS)
    entries, _, report = events_of(job)
    alone = check_ends(entries)
    total = sum(len(entry["messages"]["tag"]) for entry in entries.values())
    expect(total > 500, f"{total} messages")
    expect_equal(alone, {"sent": 0, "received": 0}, "messages without their other end")
    counted = sum(sum(partner["messages"] for partner in row["partners"]) + row["others"]["messages"] + row["unknown"]["messages"]
                  for row in report["partners"]["rows"])
    expect_equal(total, counted, "messages in events, and counted")


@test
def calls_of_a_collective_operation_are_one_group(job):
    """Those of several communicators, as the program's own log has them. Operations of an inter-communicator are no group."""
    ranks = 4
    job.profile([job.program("collective_operations"), "20"], ranks, options=EVENTS)
    entries, names, _ = events_of(job)
    ranks_of = {}
    for rank in range(ranks):
        entry = entries[rank, 0]
        logged = json.loads((job.folder / f"operations.{rank}.json").read_text())
        expect(len(logged) > 300, f"{len(logged)} operations of rank {rank}")
        found = entry["collectives"]
        expect_equal([names[entry["path"][interval]] for interval in found["interval"]], [function for function, _, _ in logged], f"functions of rank {rank}")
        expect_equal(found["number"], [number for _, _, number in logged], f"numbers of rank {rank}")
        for communicator, (_, members, _) in zip(found["communicator"], logged):
            expect_equal(ranks_of.setdefault(communicator, members), members, f"ranks of communicator {communicator}")
        expect_equal(sum(part["collectives"] for part in entry["parts"]), len(found["interval"]), "operations in parts")
    expect_equal(len(set(ranks_of.values())), len(ranks_of), "communicators of the same ranks with different names")


@test
def a_rank_that_missed_a_collective_operation_is_in_no_wrong_group(job):
    for how in ("freed", "unseen"):
        result = job.measured([job.program("missed_operations"), how], output=how, options=EVENTS)
        expect_equal(result.code, 0, "exit code")
        entries, _, _ = events_of(job, how)
        expect_equal(entries[0, 0]["collectives"]["number"], [1, 2, 3, 4, 5], f"{how}: numbers of rank 0")
        numbers = [number for (rank, _), entry in entries.items() if rank == 1 for number in entry["collectives"]["number"]]
        expect_equal(numbers, [], f"{how}: numbers of rank 1")


MISSED = """from mpi4py import MPI
world, value = MPI.COMM_WORLD, bytearray(8)
for step in range(11):
    MPI.Pcontrol(0 if step == 0 and world.rank == 0 else 1)
    if world.rank == 0:
        world.Send(value, 1, 3)
    else:
        world.Recv(value, 0, 3)
"""


@test
def a_message_that_was_missed_leaves_no_wrong_pairs(job):
    """One rank does not record its first send. Numbers would be one apart from then on, and bytes are equal."""
    if job.run(["/usr/bin/python3", "-c", "import mpi4py"]).code != 0:
        raise Skip("python3-mpi4py is not installed")
    job.write("missed.py", MISSED)
    result = job.measured(["/usr/bin/python3", "missed.py"], output="missed", options=EVENTS)
    expect_equal(result.code, 0, "exit code")
    entries, _, _ = events_of(job, "missed")
    for (rank, _), entry in entries.items():
        ends = entry["messages"]["other_end"]
        expect(len(ends) >= 10, f"{len(ends)} messages of rank {rank}")
        expect_equal([end for end in ends if end is not None], [], f"other ends of messages of rank {rank}")


@test
def ranks_keep_the_same_iterations_in_little_memory(job):
    job.profile([job.example("hydro"), 3000, 8], options={**EVENTS, "LIBPROFILE_TRACE_MEMORY": "16k"})
    entries, _, report = events_of(job)
    kept = {}
    for (rank, _), entry in entries.items():
        check_times(entry)
        expect(entry["stride"] > 8, f"stride {entry['stride']}")
        numbers = {part["number"] for part in entry["parts"] if part["kind"] == "iteration"}
        in_turn = {part["number"] for part in entry["parts"] if part["kind"] == "iteration" and "turn" in part["reasons"]}
        expect_equal(in_turn, set(range(1, 3001, entry["stride"])), f"iterations of rank {rank} that have their turn")
        expect_equal(sum("slow" in part["reasons"] for part in entry["parts"]) <= 4, True, "slow ones")
        kept[rank] = numbers
    coarser = min(kept.values(), key=len)
    expect(2 * len(kept[0] & kept[1]) >= len(coarser), f"{len(kept[0] & kept[1])} of {len(coarser)} iterations are shared")
    times = next(phase for phase in report["phases"] if phase["name"] == "timestep")["iteration_times"]
    for (rank, _), entry in entries.items():
        for part in entry["parts"]:
            if part["kind"] == "iteration":
                expect_equal(part["end_ns"] - part["begin_ns"], times[rank][part["number"] - 1], f"length of iteration {part['number']}")


@test
def time_without_iterations_is_cut_into_windows(job):
    job.profile([job.example("hydro"), 1500, 8], options={**EVENTS, "LIBPROFILE_ITERATION": "none"})
    job.profile([job.program("loops"), "plain", 400], options={**EVENTS, "LIBPROFILE_ITERATION": "none"})
    entries, _, _ = events_of(job)
    windows = {rank: {part["number"] for part in entry["parts"]} for (rank, _), entry in entries.items()}
    for (rank, _), entry in entries.items():
        check_times(entry)
        expect_equal({part["kind"] for part in entry["parts"]}, {"window"}, f"parts of rank {rank}")
    expect(windows[0] & windows[1], f"no window is shared: {windows}")


@test
def a_killed_rank_keeps_the_events_of_its_snapshot(job):
    job.run([*job.launcher(2), *job.preloaded([job.program("mortal"), "kill", 0, 40, job.folder],
                                              {**EVENTS, "LIBPROFILE_OUTPUT": job.folder / "killed", "LIBPROFILE_CHECKPOINT": "20ms"})])
    entries, _, _ = events_of(job, "killed")
    for entry in entries.values():
        check_times(entry)
    expect(entries, "no rank has events")


@test
def a_killed_rank_keeps_events_beyond_its_first_snapshot(job):
    """The journal has none: snapshots between iterations keep them. How many depends on how long a snapshot takes."""
    job.run([*job.launcher(2), *job.preloaded([job.program("mortal"), "kill", 0, 400, job.folder],
                                              {**EVENTS, "LIBPROFILE_OUTPUT": job.folder / "killed"})])
    entries, _, report = events_of(job, "killed")
    times = max((one["iteration_times"] for one in report["phases"] if "iteration_times" in one), key=lambda one: len(one[0]))
    for (rank, thread), entry in entries.items():
        check_times(entry)
        iterations = len(times[rank])
        if thread == 0:
            last = max(part["number"] for part in entry["parts"] if part["kind"] == "iteration")
            expect(iterations >= 400 and last >= 20, f"rank {rank} has events up to iteration {last} of {iterations}")
    expect(entries, "no rank has events")


@test
def snapshots_of_all_ranks_come_at_the_same_times(job):
    """At multiples of a period of real time: else ranks that wait for each other wait for each one's snapshot in turn."""
    period, folder, seen, times = 0.25, job.folder / "snapshots", {}, {0: [], 1: []}
    program = threading.Thread(target=job.run, args=([*job.launcher(2), *job.preloaded(
        [job.program("loops"), "simple", 1500, 8000], {**EVENTS, "LIBPROFILE_OUTPUT": folder, "LIBPROFILE_CHECKPOINT": "250ms"})],))
    program.start()
    while program.is_alive():
        for rank, list_ in times.items():
            with contextlib.suppress(OSError):
                file = (folder / f"rank-{rank}.lprof").stat().st_ino
                if seen.get(rank, file) != file:
                    list_.append(time.time())
                seen[rank] = file
        time.sleep(0.002)
    program.join()
    for rank, list_ in times.items():
        expect(len(list_) >= 4, f"snapshots of rank {rank} after its first: {list_}")
        late = [at % period for at in list_]
        expect(sum(one < 0.4 * period for one in late) >= 0.75 * len(late), f"rank {rank}: s after a multiple of {period} s: {late}")


@test
def lammps_is_the_same_with_events_and_all_its_messages_have_both_ends(job):
    command = lammps(job, 1000)
    plain = job.plain(command)
    job.profile(command, options={**EVENTS, "LIBPROFILE_ITERATION": "LAMMPS_NS::Neighbor::decide"})
    expect_equal(lammps_results(job.last.out), lammps_results(plain.out), "results")
    entries, names, report = events_of(job)
    expect_equal(check_ends(entries), {"sent": 0, "received": 0}, "messages without their other end")
    visits = {}
    for phase in report["phases"]:
        for path in phase["call_paths"]:
            if path["kind"] == "mpi":
                visits[path["name"]] = visits.get(path["name"], 0) + sum(path["exclusive"].get("visits", [0]))
    seen = {}
    for entry in entries.values():
        for path in entry["path"]:
            seen[names[path]] = seen.get(names[path], 0) + 1
    for name in ("MPI_Send", "MPI_Irecv", "MPI_Wait", "MPI_Allreduce"):
        expect_equal(seen.get(name), visits.get(name), f"calls of {name}")


@test
def exported_events_are_those_of_the_report(job):
    """Each slice, and one arrow for each message of which both ends were kept, which does not go back in time."""
    job.profile([job.example("hydro"), 200, 8], options={**EVENTS, "LIBPROFILE_TRACE_MEMORY": "64k"})
    folder = f"profile.{job.runs}"
    entries, names, report = events_of(job, folder)
    exported = job.run([job.tool, "export", job.folder / folder, "--format", "chrome", "--output", job.folder / "chrome"])
    expect_equal(exported.code, 0, "exit code of the export")
    found = chrome.read(next((job.folder / "chrome").rglob("*.json")) if (job.folder / "chrome").is_dir() else job.folder / "chrome", "timestep")
    check_archive(job, folder, entries, names)
    arrows = 0
    for (rank, _), entry in entries.items():
        expected = sorted((end - begin, names[path]) for begin, end, path in zip(entry["begin_ns"], entry["end_ns"], entry["path"]))
        expect_equal(sorted((ns, name) for _, ns, name in found.events[rank])[:len(expected)], expected, f"events of rank {rank}")
        arrows += sum(end is not None for end in entry["messages"]["other_end"])
    expect(arrows > 0, "there are messages with both ends")
    expect_equal(2 * len(found.arrows), arrows, "ends of arrows")
    for number, ends in found.arrows.items():
        expect_equal(set(ends), {"s", "f"}, f"ends of arrow {number}")
        expect(ends["s"][1] <= ends["f"][1] + 1, f"arrow {number} ends before it begins: {ends}")


def check_archive(job, folder, entries, names):
    """An archive of OTF2 has the events of the report, and its messages with both ends."""
    exported = job.run([job.tool, "export", job.folder / folder, "--format", "otf2", "--output", job.folder / f"{folder}.otf2"])
    expect_equal(exported.code, 0, f"exit code of the export: {exported.err}")
    archive = otf2_archive.read(job.folder / f"{folder}.otf2")
    sent = 0
    for place, entry in entries.items():
        events = sorted((names[path], end - begin) for part, intervals, _ in parts_of(entry) for begin, end, path in intervals if begin >= part["begin_ns"])
        found = sorted((name, end - begin) for begin, end, name, number in archive.calls[place] if number is None)
        clipped = len(found) - len(events)  # began before their part
        expect(clipped >= 0 and len(found) == len(entry["path"]), f"events of {place}: {len(found)} of {len(entry['path'])}")
        if clipped == 0:
            differing = [(a, b) for a, b in zip(found, events) if a[0] != b[0] or abs(a[1] - b[1]) > 1 + b[1] // 100_000]  # the common axis has its own scale
            expect_equal(differing[:1], [], f"events of {place} (archive, report)")
        iterations = [number for _, _, _, number in archive.calls[place] if number is not None]
        expect_equal(iterations, [part["number"] for part in entry["parts"] if part["kind"] == "iteration"], f"iterations of {place}")
        sent += sum(end is not None for end, way in zip(entry["messages"]["other_end"], entry["messages"]["direction"]) if way == "sent")
    expect_equal((len(archive.messages), archive.unmatched), (sent, 0), "messages, and those with one end")
    for message in archive.messages:
        expect(message[5] <= message[6], f"a message arrives before it is sent: {message}")
    return archive


@test
def another_reader_of_otf2_finds_the_events_of_the_report(job):
    job.profile([job.programs / f"lost_time.{job.mpi}", "gather", 20, 60], 2, options=EVENTS)
    entries, names, _ = events_of(job)
    archive = check_archive(job, f"profile.{job.runs}", entries, names)
    expect(len(archive.messages) >= 2 * 60, f"messages: {len(archive.messages)}")
    job.profile([job.programs / f"lost_time.{job.mpi}", "none", 0, 60], 2)
    refused = job.run([job.tool, "export", job.folder / f"profile.{job.runs}", "--format", "otf2"])
    expect(refused.code == 1 and "LIBPROFILE_TRACE=events" in "".join(refused.complaints), f"without events: {refused.complaints}")


if __name__ == "__main__":
    main()
