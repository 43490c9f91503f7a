#!/usr/bin/python3
"""Exports of events (LIBPROFILE_TRACE=events) for other people's viewers have what the report has: calls, iterations, messages and tasks, to the nanosecond."""

import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import otf2_archive, paraver, perfetto

from events import EVENTS, check_archive, events_of, parts_of
from harness import expect, expect_equal, main, test
from task_places import measure as measure_pages, programs as programs_with_pages
from tasks import measure, programs, rows


def exported(job, folder, name):
    place = job.folder / f"{Path(folder).name}.{name}"
    result = job.run([job.tool, "export", job.folder / folder, "--format", name, "--output", place])
    expect_equal(result.code, 0, f"exit code of the export: {result.err}")
    return place


def close(shown, own):
    """The common axis has its own scale."""
    return abs(shown - own) <= 2 + own // 100_000


def row_name(place):
    return f"rank {place[0]}" + (f" thread {place[1]}" if place[1] else "")


def expected_of(entry, names):
    """What the report says of a thread: calls with their own lengths, and numbers and lengths of iterations."""
    calls = Counter((names[path], end - begin) for begin, end, path in zip(entry["begin_ns"], entry["end_ns"], entry["path"]))
    iterations = [(part["number"], part["end_ns"] - part["begin_ns"]) for part in entry["parts"] if part["kind"] == "iteration"]
    return calls, iterations


def messages_of(entries, size=True):
    """(sender, receiver, tag, bytes) of all with both ends."""
    return Counter((rank, message["partner"], message["tag"], message["bytes"]) for (rank, _), entry in entries.items()
                   for message in ({name: column[i] for name, column in entry["messages"].items()} for i in range(len(entry["messages"]["tag"])))
                   if message["direction"] == "sent" and message["other_end"] is not None)


def check_perfetto(job, folder, entries, names):
    trace = perfetto.read(exported(job, folder, "perfetto"))
    by_row = {thread: (process, slices) for (process, thread), slices in trace.slices.items()}
    expect_equal(set(by_row), {row_name(place) for place, entry in entries.items() if entry["parts"]}, "rows")
    for place, entry in entries.items():
        if not entry["parts"]:
            continue
        process, slices = by_row[row_name(place)]
        expect(process.startswith(f"rank {place[0]} on "), f"process of {place}: {process}")
        calls, iterations = expected_of(entry, names)
        found = Counter((name, notes["ns"]) for _, _, name, category, notes in slices if category not in ("part", "iteration", "task"))
        expect_equal(found - calls, Counter(), f"slices of {place} that the report does not have")
        expect_equal(calls - found, Counter(), f"calls of {place} without a slice")
        own = [(int(name.split()[-1]), notes["ns"]) for _, _, name, category, notes in slices if category == "part" and name != "window"]
        expect_equal(own, iterations, f"iterations of {place}")
        for begin, end, name, _, notes in slices:
            expect(end - begin <= notes["ns"] + 2 + notes["ns"] // 100_000, f"{name} of {place} is longer than it was")
    messages = [(source, target) for source, target in trace.flows if "omp" not in source[1] and source[1] != "task creation" and source[1].startswith("MPI_")]
    expect_equal(len(messages), sum(messages_of(entries).values()), "flows of messages")
    expect_equal(trace.open_flows - open_tasks(entries), 0, "flows without an end")
    ends = Counter((source[0][0].split()[1], target[0][0].split()[1]) for source, target in messages)
    pairs = Counter()
    for (sender, receiver, _, _), count in messages_of(entries).items():
        pairs[str(sender), str(receiver)] += count
    expect_equal(ends, pairs, "ranks that messages lead from and to")
    return trace


def open_tasks(entries):
    """Tasks whose creation was kept, and not their end."""
    created = {(place[0], number) for place, entry in entries.items() for number in entry.get("tasks", {}).get("number", [])}
    over = {(place[0], task) for place, entry in entries.items() if "tasks" in entry
            for task, is_over in rows(entry["tasks"]["runs"], "task", "is_over") if is_over}
    return len(created - over)


def check_paraver(job, folder, entries, names):
    trace = paraver.read(exported(job, folder, "paraver"))
    by_row = {name: place for place, name in trace.names.items()}
    expect_equal(set(by_row), {row_name(place) for place, entry in entries.items() if entry["parts"]}, "rows")
    for place, entry in entries.items():
        if not entry["parts"]:
            continue
        own = trace.calls.get(by_row[row_name(place)], [])
        calls, iterations = expected_of(entry, names)
        found = Counter((what, ns) for _, _, kind, what, ns in own if not kind.startswith(("Iteration of", "Task")))
        expect_equal((found - calls, calls - found), (Counter(), Counter()), f"calls of {place}: too many, missing")
        expect_equal([(what, ns) for _, _, kind, what, ns in own if kind.startswith("Iteration of")], iterations, f"iterations of {place}")
        kept = sum(part["end_ns"] - part["begin_ns"] for part in entry["parts"])
        traced = sum(end - begin for begin, end, state in trace.states[by_row[row_name(place)]] if state != "Tracing Disabled")
        expect(abs(traced - kept) <= 2 * len(entry["parts"]) + kept // 100_000, f"kept time of {place}: {traced} and {kept} ns")
        for begin, end, kind, what, ns in own:
            expect(end - begin <= ns + 2 + ns // 100_000, f"{what} of {place} is longer than it was")
    rank_of = {place: int(name.split()[1]) for name, place in by_row.items()}
    found = Counter((rank_of[sender], rank_of[receiver], tag, size) for sender, receiver, _, _, size, tag in trace.communications)
    expect_equal(found, messages_of(entries), "communications")
    expect(all(sent <= received for _, _, sent, received, _, _ in trace.communications), "messages go forward in time")
    return trace


@test
def viewers_get_the_calls_iterations_and_messages_of_the_report(job):
    """All of a run, and what little memory kept."""
    for command, options in (([job.example("hydro"), 200, 8], {"LIBPROFILE_TRACE_MEMORY": "64k"}),
                             ([job.programs / f"lost_time.{job.mpi}", "gather", 20, 60], {}), ([job.program("partners"), "20"], {})):
        job.profile(command, 2 if "partners" not in str(command[0]) else 4, options={**EVENTS, **options})
        folder = f"profile.{job.runs}"
        entries, names, _ = events_of(job, folder)
        trace = check_perfetto(job, folder, entries, names)
        expect(trace.flows, f"{command[0]}: there are messages")
        check_paraver(job, folder, entries, names)


@test
def a_chosen_part_of_the_events_is_exported_alone(job):
    job.profile([job.example("hydro"), 40, 8], options=EVENTS)
    folder = f"profile.{job.runs}"
    entries, _, _ = events_of(job, folder)
    for name, reader in (("perfetto", perfetto), ("paraver", paraver)):
        place = job.folder / f"part.{name}"
        result = job.run([job.tool, "export", job.folder / folder, "--format", name, "--iterations", "11:12", "--rank", 1, "--output", place])
        expect_equal(result.code, 0, f"exit code: {result.err}")
        trace = reader.read(place)
        if name == "perfetto":
            found = [item[2].split()[-1] for items in trace.slices.values() for item in items if item[3] == "part"]
            expect_equal((found, trace.flows), (["11", "12"], []), "iterations and flows")
        else:
            found = [what for items in trace.calls.values() for _, _, kind, what, _ in items if kind.startswith("Iteration of timestep")]
            expect_equal((found, trace.communications), ([11, 12], []), "iterations and communications")
        refused = job.run([job.tool, "export", job.folder / folder, "--format", name, "--rank", 7, "--output", "x"])
        expect(refused.code == 1 and "no data of rank 7" in refused.all_err, f"another rank: {refused.all_err}")


@test
def perfetto_has_the_counters_of_the_report(job):
    """At both ends of each task, from 0 on, on a track of each thread."""
    for program in programs_with_pages(job):
        _, report, output, _ = measure_pages(job, program, LIBPROFILE_METRICS="page_faults,context_switches")
        trace, expected = perfetto.read(exported(job, output, "perfetto")), {}
        for place, entry in threads_of(report).items():
            first = {}
            for counter, begin, end in rows(entry["counts"], "counter", "begin", "end"):
                start = first.setdefault(counter, begin)
                expected.setdefault((row_name(place), counter), []).extend((begin - start, end - start))
        found = {(thread, counter): [value for _, value in values] for ((_, thread), counter), values in trace.counters.items()}
        expect_equal(found, expected, f"{program}: values of counters")
        expect(any(max(values) > 0 for values in found.values()), f"{program}: no counter grows")
        for values in trace.counters.values():
            expect(all(at >= 0 for at, _ in values), f"{program}: times {values[:4]}")


def threads_of(report):
    return {(entry["rank"], entry["thread"]): entry for entry in report["events"]}


def runs_of(entry):
    return Counter((task, end - begin) for task, begin, end in rows(entry["tasks"]["runs"], "task", "begin_ns", "end_ns"))


@test
def viewers_get_the_tasks_of_the_report(job):
    """Both runtimes: creations, runs, and what leads from one to the other."""
    for program in programs(job):
        _, report, output = measure(job, program, 5)
        entries = threads_of(report)
        names = {path["id"]: path["name"] for group in (report, report["threads"]) for phase in group.get("phases", []) for path in phase["call_paths"]}
        trace, prv = check_perfetto(job, output, entries, names), check_paraver(job, output, entries, names)
        archive = otf2_archive.read(exported(job, output, "otf2"))
        created = {number: place for place, entry in entries.items() for number in entry["tasks"]["number"]}
        by_row = {name: place for place, name in prv.names.items()}
        for place, entry in entries.items():
            key = next((key for key in trace.slices if key[1] == row_name(place)), None)
            if key is None:
                continue
            slices = [item for item in trace.slices[key] if item[3] == "task"]
            expect_equal(Counter((notes["task"], notes["ns"]) for *_, notes in slices), runs_of(entry), f"{program}: runs of {place} in Perfetto")
            expect(all(name not in ("(no call path)", "") for _, _, name, _, _ in slices), f"{program}: tasks have names")
            expect_equal([notes["task"] for *_, notes in trace.instants.get(key, [])], entry["tasks"]["number"], f"{program}: creations of {place}")
            own = prv.points.get(by_row[row_name(place)], [])
            expect_equal([value for _, name, value in own if name.startswith("Task created")], entry["tasks"]["number"], f"{program}: creations in Paraver")
            expect_equal(Counter(ns for _, _, kind, _, ns in prv.calls.get(by_row[row_name(place)], []) if kind.startswith("Task")),
                         Counter(ns for _, ns in runs_of(entry).elements()), f"{program}: runs of {place} in Paraver")
            expect_equal([task for at, task in archive.created.get(place, [])], entry["tasks"]["number"], f"{program}: creations of {place} in OTF2")
            over = [task for task, is_over in rows(entry["tasks"]["runs"], "task", "is_over") if is_over]
            expect_equal(Counter(task for _, task in archive.completed.get(place, [])), Counter(over), f"{program}: tasks that are over on {place} in OTF2")
        leads = Counter((source[0][1], target[0][1]) for source, target in trace.flows if source[1] == "task creation")
        first = Counter()
        for place, entry in entries.items():
            for task, is_resumed in rows(entry["tasks"]["runs"], "task", "is_resumed"):
                if not is_resumed:
                    first[row_name(created[task]), row_name(place)] += 1
        expect_equal(leads, first, f"{program}: flows from creations to the first run")
        expect(sum(leads.values()) > 100, f"{program}: {leads}")


if __name__ == "__main__":
    main()
