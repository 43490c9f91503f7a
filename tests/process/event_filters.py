#!/usr/bin/python3
"""The filter of events takes the same ones in all exports, in reports and in Python: those that a second implementation, on the report's JSON, takes."""

import importlib
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import chrome, otf2_archive, paraver, perfetto

from event_exports import row_name, threads_of
from events import EVENTS, events_of
from harness import Skip, expect, expect_equal, main, test
from tasks import measure, programs, rows


def wanted(entry, names, takes):
    """Calls and regions of a thread that `takes` (name, ns) takes."""
    return Counter((names[path], end - begin) for begin, end, path in zip(entry["begin_ns"], entry["end_ns"], entry["path"]) if takes(names[path], end - begin))


def exported(job, folder, name, options):
    place = job.folder / f"{Path(folder).name}.{len(list(job.folder.iterdir()))}.{name}"
    result = job.run([job.tool, "export", job.folder / folder, "--format", name, "--output", place, *options])
    expect_equal(result.code, 0, f"exit code of the export: {result.all_err}")
    return place, result.all_err


def shown(job, folder, options, place_of):
    """What each viewer's reader finds: by format and row, calls with their lengths. OTF2 and Chrome JSON have no lengths of ours or no threads' names."""
    found = {}
    place, said = exported(job, folder, "perfetto", options)
    found["perfetto"] = {key[1]: Counter((name, notes["ns"]) for _, _, name, category, notes in slices if category not in ("part", "iteration", "task"))
                         for key, slices in perfetto.read(place).slices.items()}
    trace = paraver.read(exported(job, folder, "paraver", options)[0])
    found["paraver"] = {trace.names[key]: Counter((what, ns) for _, _, kind, what, ns in own if not kind.startswith(("Iteration of", "Task")))
                        for key, own in trace.calls.items()}
    archive = otf2_archive.read(exported(job, folder, "otf2", options)[0])
    found["otf2"] = {row_name(key): Counter(name for _, _, name, iteration in own if iteration is None) for key, own in archive.calls.items()}
    events = chrome.read(exported(job, folder, "chrome", options)[0], "timestep").events
    found["chrome"] = {row_name((rank, 0)): Counter((name, ns) for _, ns, name in own if not name.startswith("timestep ")) for rank, own in events.items()}
    return found, said


@test
def all_exports_and_data_frames_have_what_the_filter_takes(job):
    job.profile([job.example("hydro"), 40, 8], options=EVENTS)
    folder = f"profile.{job.runs}"
    entries, names, _ = events_of(job, folder)
    lengths = sorted(end - begin for entry in entries.values() for begin, end in zip(entry["begin_ns"], entry["end_ns"]))
    middle = lengths[len(lengths) // 2]
    chosen = ((["--with", "waitALL"], {"with_text": "waitALL"}, lambda name, ns: "waitall" in name.lower()),
              (["--from", f"{middle}ns"], {"least_ns": middle}, lambda name, ns: ns >= middle),
              (["--only", "calls", "--to", f"{middle / 1000}us"], {"only": "calls", "most_ns": middle}, lambda name, ns: ns <= middle),
              (["--only", "regions"], {"only": "regions"}, lambda name, ns: False))
    for options, fields, takes in chosen:
        expected = {row_name(place): wanted(entry, names, takes) for place, entry in entries.items()}
        found, said = shown(job, folder, options, row_name)
        all_events, passed = len(lengths), sum(sum(own.values()) for own in expected.values())
        expect(f"{all_events - passed:,} of {all_events:,} calls" in said, f"what was left out: {said}")
        for form, by_row in found.items():
            for row, own in expected.items():
                own = Counter(name for name, _ in own.elements()) if form == "otf2" else own
                expect_equal(by_row.get(row, Counter()), own, f"{form} with {options}: {row}")
        frame = data_frame(job, folder, fields)
        rows_of_frame = defaultdict(Counter)
        for rank, name, begin, end in zip(frame["rank"], frame["function"], frame["begin_ns"], frame["end_ns"]):
            rows_of_frame[row_name((rank, 0))][name, end - begin] += 1
        expect_equal({row: own for row, own in expected.items() if own}, dict(rows_of_frame), f"the data frame with {options}")


def data_frame(job, folder, fields):
    package = job.build / "python"
    if not (package / "libprofile").is_dir():
        raise Skip("the Python module was not built")
    sys.path.insert(0, str(package))
    libprofile = importlib.import_module("libprofile")
    return libprofile.open(str(job.folder / folder)).events_dataframe(libprofile.EventFilter(**fields))


@test
def tasks_pass_by_type_and_own_time(job):
    """In Perfetto, the report and the data frame: the runs of the tasks whose type has the text, and whose own time is long enough."""
    for program in programs(job):
        _, report, output = measure(job, program, 5)
        entries = threads_of(report)
        package = job.build / "python"
        sys.path.insert(0, str(package))
        libprofile = importlib.import_module("libprofile")
        profile = libprofile.open(str(output))
        graph = profile.tasks(0)
        types = [f"{kind.function} {kind.source}".lower() for kind in graph.types]
        takes = {number for number, kind, ns, complete in zip(graph.tasks.number, graph.tasks.type, graph.tasks.duration_ns, graph.tasks.complete)
                 if "nested" in types[kind] and (ns >= 1000 or not complete)}
        expect(0 < len(takes) < len(graph.tasks.number), f"some pass: {len(takes)}")
        options = ["--only", "tasks", "--with", "Nested", "--from", "1us"]
        trace = perfetto.read(exported(job, output, "perfetto", options)[0])
        found = Counter(notes["task"] for slices in trace.slices.values() for *_, category, notes in slices if category == "task")
        expected = Counter(task for entry in entries.values() for task, in rows(entry["tasks"]["runs"], "task") if task in takes)
        expect_equal(found, expected, f"{program}: runs of tasks")
        others = {category for slices in trace.slices.values() for *_, category, _ in slices} - {"task", "part", "iteration"}
        expect_equal(others, set(), "no calls")
        created = {notes["task"] for own in trace.instants.values() for *_, notes in own}
        expect_equal(created, takes, f"{program}: creations")
        frame = profile.tasks_dataframe(libprofile.EventFilter(only="tasks", with_text="nested", least_ns=1000))
        expect_equal(set(frame["number"]), takes, f"{program}: the data frame")
        printed = job.run([job.tool, "report", output, "--tasks", *options, "--format", "json"])
        expect_equal(printed.code, 0, f"exit code: {printed.all_err}")


@test
def a_filter_for_what_is_not_there_is_refused(job):
    job.profile([job.example("hydro"), 20, 8], options=EVENTS)
    folder = job.folder / f"profile.{job.runs}"
    for options, words in ((["--with", "waital"], None), (["--with", "MPI_Waitalk"], 'the nearest one is "MPI_Waitall"'), (["--only", "task"], "did you mean tasks?"),
                           (["--thread", "7"], "no event is of it; there are 0"), (["--node", "99"], "--node 99"), (["--reads", "0"], "--reads 0"),
                           (["--inside", "no such function"], "no function on the call path"), (["--from", "long"], "--from long is no time"),
                           (["--from", "2ms", "--to", "1ms"], "is longer than"), (["--processor", "1-"], "is not a list")):
        result = job.run([job.tool, "export", folder, "--format", "perfetto", "--output", job.folder / f"x{options[1]}".replace(" ", ""), *options])
        expect_equal(result.code != 0, words is not None, f"{options}: {result.all_err}")
        expect(words is None or words in result.all_err, f"{options}: {result.all_err}")
    for command in (["export", folder, "--format", "folded", "--with", "x"], ["report", folder, "--with", "x"]):
        refused = job.run([job.tool, *command])
        expect(refused.code == 2 and "--with chooses events" in refused.all_err, f"{command[0]}: {refused.all_err}")


if __name__ == "__main__":
    main()
