"""`import libprofile`: the same numbers as the JSON report, without copies where that is promised."""

import importlib
import json
import sys

from harness import Skip, expect, expect_equal, main, test

COMPARED = ("time", "visits", "bytes")


def package(job):
    if not (job.build / "python").exists():
        raise Skip("the Python module is not built")
    sys.path.insert(0, str(job.build / "python"))
    return importlib.import_module("libprofile")


def totals(report, metric):
    return next(m["total"] for m in report["metrics"] if m["name"] == metric)


@test
def python_arrays_equal_the_report(job):
    libprofile = package(job)
    report = job.profile([job.example("hydro"), 60, 8])
    p = libprofile.open(job.folder / "profile.1")
    phase = next(phase for phase in report["phases"] if phase["name"] == "timestep")
    expect_equal((p.ranks, p.complete, p.main_phase, p.command), (2, True, "timestep", report["job"]["command"]), "the job")
    expect_equal([(m.name, m.unit, m.parent) for m in p.metrics], [(m["name"], m["unit"], m["parent"]) for m in report["metrics"]], "metrics")
    table = p.table(metrics=["time", "visits", "bytes"])
    for metric in COMPARED:
        expect_equal(p.totals(metric).tolist(), totals(report, metric), f"totals of {metric}")
        expect_equal(table.exclusive(metric).sum(axis=0).tolist(), totals(report, metric), f"sum of the table's {metric}")
        expect_equal(table.inclusive(metric)[0].tolist(), totals(report, metric), f"inclusive {metric} of the program")
        expect_equal(p.series(metric).astype(int).tolist(), [series[metric] for series in phase["series"]], f"series of {metric}")
    expect(not table.estimated, "the whole is exact")
    for rank in (0, 1):
        expect_equal(p.iteration_times(rank).tolist(), phase["iteration_times"][rank], f"times of rank {rank}")
        expect_equal(p.clusters(rank).tolist(), phase["cluster_of_iteration"][rank], f"clusters of rank {rank}")
        cells = table.cells(rank)
        expect_equal(int(cells["value"][cells["metric"] == 0].sum()), totals(report, "time")[rank], f"cells of rank {rank}")
    names = [table.nodes[n].name for n in range(len(table.nodes)) if "main" in table.path(n)]
    expect("MPI_Allreduce" in names, f"functions below main: {names}")


@test
def python_reconstructs_parts_as_the_export_does(job):
    libprofile = package(job)
    report = job.profile([job.example("hydro"), 40, 8])
    p = libprofile.open(job.folder / "profile.1")
    series = next(phase for phase in report["phases"] if phase["name"] == "timestep")["series"]
    part = p.table(iterations=(11, 30), ranks=[1], metrics=COMPARED)
    for metric in COMPARED:
        expect_equal(int(part.exclusive(metric).sum()), sum(series[1][metric][10:30]), f"{metric} of 20 iterations")
    expect(part.estimated and part.scope == "iterations 11-30 of timestep", f"{part.estimated}, {part.scope}")
    for metric in ("time", "visits"):
        values, estimated = p.by_iteration(metric, rank=1, iterations=(11, 30))
        expect_equal(values.shape, (20, len(p.call_paths)), "iterations x call paths")
        expect_equal(values.sum(axis=1).tolist(), series[1][metric][10:30], f"{metric} of each iteration")
        expect(metric == "time" or not estimated.any(), "visits are exact")


@test
def python_views_are_safe(job):
    """Read-only, and alive after the profile; mistakes are exceptions with a sentence."""
    libprofile = package(job)
    job.profile([job.example("hydro"), 20, 8])
    p = libprofile.open(job.folder / "profile.1")
    times, cells = p.iteration_times(0), p.table().cells(0)
    expected = times.tolist(), cells["value"].tolist()
    del p
    noise = [list(range(1000)) for _ in range(1000)]
    expect_equal((times.tolist(), cells["value"].tolist()), expected, "views after their profile")
    expect(len(noise) == 1000 and not times.flags.writeable and not cells.flags.owndata, "views are read-only")
    p = libprofile.open(job.folder / "profile.1")
    for mistake, kind, words in ((lambda: libprofile.open(job.folder / "nothing"), OSError, "nothing"),
                                 (lambda: p.series("tim"), KeyError, "no metric"),
                                 (lambda: p.series("time", phase="x"), KeyError, "no phase"),
                                 (lambda: p.iteration_times(7), KeyError, "rank 7"),
                                 (lambda: p.table(ranks=[7]), ValueError, "rank 7"),
                                 (lambda: p.table(iterations=(0, 3)), ValueError, "counted from 1"),
                                 (lambda: p.table(iterations=(15, 900)), ValueError, "no iteration 900"),
                                 (lambda: p.table(iterations="1..3"), ValueError, "one number"),
                                 (lambda: p.table(iterations=1.5), ValueError, "one number"),
                                 (lambda: p.table(iterations=(1, 2, 3)), ValueError, "one number"),
                                 (lambda: p.table(ranks="one"), ValueError, "neither"),
                                 (lambda: p.table(ranks=-1), ValueError, "neither"),
                                 (lambda: p.table(ranks="1-0"), ValueError, "neither"),
                                 (lambda: p.table(ranks=[0.7]), ValueError, "neither"),
                                 (lambda: p.table(iterations=(1, 2.7)), ValueError, "one number"),
                                 (lambda: p.table(iterations=(True, 2)), ValueError, "one number"),
                                 (lambda: libprofile.compare(p.table(), p.table(iterations=1)), ValueError, "for both or for neither"),
                                 (lambda: p.by_iteration("bytes", 0), KeyError, "not stored"),
                                 (lambda: p.table().cells(9), IndexError, "places")):
        try:
            mistake()
        except kind as error:
            expect(words in str(error), f"{error!r}")
        else:
            raise AssertionError(f"no error that says {words!r}")


@test
def python_selections_are_as_people_write_them(job):
    libprofile = package(job)
    report = job.profile([job.example("hydro"), 20, 8])
    p = libprofile.open(job.folder / "profile.1")
    expect_equal(libprofile.__version__, report["job"]["version"], "version of the module")
    for written, meant in (({"iterations": 5}, {"iterations": (5, 5)}), ({"iterations": "3:7"}, {"iterations": (3, 7)}), ({"iterations": "3-7"}, {"iterations": (3, 7)}),
                           ({"ranks": 1}, {"ranks": [1]}), ({"ranks": "0-1"}, {"ranks": [0, 1]}), ({"metrics": "time"}, {"metrics": ["time"]})):
        expect_equal(p.table(**written).exclusive("time").tolist(), p.table(**meant).exclusive("time").tolist(), f"table({written})")
    times = p.iteration_times(0)
    expect_equal((times[1:] - times[:-1]).tolist(), [b - a for a, b in zip(times.tolist(), times.tolist()[1:])], "differences of times")
    expect((p.table().exclusive("time").dtype.kind, p.totals().dtype.kind, p.by_iteration("time", 0)[0].dtype.kind, p.table().cells(0)["value"].dtype.kind) == ("i",) * 4, "types")
    a, b = p.table(iterations=(1, 3)), p.table(iterations=(11, 20), ranks=1)
    both = libprofile.compare(a, b)
    for side, (table, iterations) in enumerate(((a, 6), (b, 10))):
        for values, mine in ((both.exclusive("time"), table.exclusive("time")), (both.inclusive("time"), table.inclusive("time"))):
            expect(abs(values[:, side].sum() - mine.sum() / iterations) < 1, "sums of a comparison")
    expect_equal(len({tuple(both.path(n)) + (node.kind, node.module, node.file) for n, node in enumerate(both.nodes)}), len(both.nodes), "nodes that differ")
    expect(all(node.parent <= n for n, node in enumerate(both.nodes)), "parents come first")
    frame = both.dataframe()
    expect(abs((frame["b"] - frame["a"] - frame["difference"]).abs().max()) < 1, "differences")


@test
def python_has_clocks_and_partners(job):
    libprofile = package(job)
    report = job.profile([job.program("partners"), 4], 4)
    p = libprofile.open(job.folder / "profile.1")
    clocks = p.clocks()
    expect_equal([{key: value for key, value in clock._asdict().items() if key not in ("rank", "common")} for clock in clocks], report["clocks"], "clocks")
    expect_equal([(clock.rank, clock.common) for clock in clocks], [(rank, True) for rank in range(4)], "ranks")
    for clock in clocks:
        for time in (0, 1, 10**6, clock.own_ns):
            expect(abs(int(clock.on_axis([time])[0]) - clock.begin_ns - time * clock.axis_ns // clock.own_ns) <= 1, f"time {time} on the axis")
    messages, rows, sums = p.partners(), [], {}
    for row in report["partners"]["rows"]:
        others = [{"rank": -1, **row["others"]}, {"rank": -2, **row["unknown"]}]
        for partner in (partner for partner in row["partners"] + others if partner["messages"] != 0):
            rows.append((row["rank"], row["thread"], row["function"], row["direction"] == "sent", *partner.values()))
            if row["direction"] == "sent" and partner["rank"] >= 0:
                sums[row["rank"], partner["rank"]] = sums.get((row["rank"], partner["rank"]), 0) + partner["bytes"]
    names = [p.call_paths[path].name for path in messages.path]
    expect_equal(list(zip(messages.rank.tolist(), messages.thread.tolist(), names, (messages.sent == 1).tolist(), messages.partner.tolist(),
                          messages.messages.tolist(), messages.bytes.tolist())), rows, "messages")
    matrix = messages.matrix(4)
    expect_equal((matrix.shape, messages.lost), ((4, 4), 0), "shape, and lost messages")
    expect_equal({key: int(matrix[key]) for key in sums}, sums, "what was sent")
    expect_equal(int(matrix.sum()), sum(sums.values()), "all that was sent")


@test
def python_aligns_the_iterations_of_two_runs(job):
    libprofile = package(job)
    for iterations in (40, 60):
        job.profile([job.example("hydro"), iterations, 8], options={"LIBPROFILE_ORDER": 1})
    a, b = libprofile.open(job.folder / "profile.1"), libprofile.open(job.folder / "profile.2")
    alignment = libprofile.align(a, b)
    expect_equal((alignment.by, alignment.different, alignment.other_order, alignment.before.tolist()), ("structure", 0, 0, list(range(40))), "alignment")
    expect_equal(alignment.after.tolist(), list(range(40)), "the first 40 steps of 60 have partners")
    forced = libprofile.align(a, b, by="progress")
    expect_equal((forced.by, forced.after[-1]), ("progress", 59), "forced")
    result = libprofile.regressions(a, [b], iterations="11:20", ranks=[1])
    printed = json.loads(job.run([job.tool, "compare", "profile.1", "profile.2", "--over-time", "--iterations", "11:20", "--rank", "1", "--format", "json"]).out)
    for part in ("segments", "functions", "changed_calls", "events", "iterations"):
        expect_equal([{**row, "run": ""} for row in result[part]], [{**row, "run": ""} for row in printed[part]], f"{part} as the command prints them")
    expect(result["events"] and not result["changed_calls"], f"the typical step, in which nothing changed: {result['changed_calls']}")
    for wrong in (lambda: libprofile.align(a, b, by="time"), lambda: libprofile.regressions(a, []), lambda: libprofile.align(a, b, phase="none")):
        try:
            wrong()
        except ValueError as error:
            expect(str(error), "a sentence")
        else:
            expect(False, "what makes no sense is refused")


@test
def python_has_the_samples_and_waits_of_a_trace(job):
    libprofile = package(job)
    result = job.measured([job.program("long_calls"), 10, job.folder], output="calls", options={"LIBPROFILE_TRACE": "1", "LIBPROFILE_SAMPLE": "1kHz"})
    expect_equal(result.code, 0, "exit code")
    p = libprofile.open(job.folder / "calls")
    for said in json.loads(job.run([job.tool, "report", job.folder / "calls", "--format", "json", "--trace"]).out)["traces"]:
        trace = p.trace(said["rank"], said["thread"])
        for got, lists in ((trace.samples, said), (trace.waits, said["waits"])):
            expect_equal({name: values.tolist() for name, values in got._asdict().items()}, {name: lists[name] for name in got._fields}, "arrays")
        expect_equal((trace.stride, trace.dropped, trace.waits_dropped, trace.longest_dropped_ns),
                     (said["stride"], said["dropped"], said["waits"]["dropped"], said["waits"]["longest_dropped_ns"]), "numbers")
        expect("MPI_Reduce_local" in {p.call_paths[path].name for path in trace.waits.path}, "names of waits")
    contexts = p.contexts()
    expect(all(node.parent < at for at, node in enumerate(contexts) if at > 0) and contexts[0].parent == 0, "parents come first")
    whole, calls = contexts[0], [node for node in contexts if node.name == "MPI_Reduce_local"]
    expect(calls and all(15e6 < node.ns for node in calls), f"a call that sleeps 20 ms: {calls}")
    expect(abs(sum(node.own_ns * times(contexts, at) for at, node in enumerate(contexts)) - whole.ns) < 1e-3 * whole.ns, "own times are the run")


@test
def python_has_the_events_of_kept_iterations(job):
    libprofile = package(job)
    result = job.measured([job.example("hydro"), 60, 8], output="events", options={"LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "32k"})
    expect_equal(result.code, 0, "exit code")
    p = libprofile.open(job.folder / "events")
    said = json.loads(job.run([job.tool, "report", job.folder / "events", "--format", "json", "--trace"]).out)["events"]
    expect_equal(len(said), 2, "threads with events")
    for entry in said:
        events = p.events(entry["rank"], entry["thread"])
        expect_equal((events.stride, events.window_ns, events.dropped_parts, events.dropped_events),
                     tuple(entry[name] for name in ("stride", "window_ns", "dropped_parts", "dropped_events")), "numbers")
        expect_equal({name: values.tolist() for name, values in events.intervals._asdict().items()}, {name: entry[name] for name in events.intervals._fields},
                     "intervals")
        expect_equal([(int(number) + 1, begin, end, count) for kind, number, begin, end, count in
                      zip(events.parts.iteration, events.parts.number, events.parts.begin_ns, events.parts.end_ns, events.parts.intervals) if kind == 1],
                     [(part["number"], part["begin_ns"], part["end_ns"], part["intervals"]) for part in entry["parts"] if part["kind"] == "iteration"], "iterations")
        expect_equal([None if end < 0 else int(end) for end in events.messages.other_end], entry["messages"]["other_end"], "other ends")
        for name in ("interval", "tag", "bytes", "communicator"):
            expect_equal(getattr(events.messages, name).tolist(), entry["messages"][name], name)
        expect_equal({name: values.tolist() for name, values in events.collectives._asdict().items()}, entry["collectives"], "collective operations")
        expect(len(entry["collectives"]["number"]) > 60, "collective operations of iterations")
        expect("MPI_Waitall" in {p.call_paths[path].name for path in events.intervals.path}, "names of calls")


def times(contexts, at):
    """How often the node is in the run."""
    product = 1
    while at != 0:
        product *= contexts[at].count if contexts[at].kind == "iteration" else 1
        at = contexts[at].parent
    return product


@test
def python_diagnoses_as_the_command_does(job):
    libprofile = package(job)
    job.profile([job.example("hydro"), 60, 16])
    p = libprofile.open(job.folder / "profile.1")
    for options, choice in (([], {}), (["--iterations", "5:50"], {"iterations": (5, 50)}), (["--phase", "timestep", "--least", "5"], {"phase": "timestep", "least": 0.05})):
        said = job.run([job.tool, "diagnose", job.folder / "profile.1", "--format", "json", "--top", 1000, *options])
        expect_equal(p.diagnose(**choice), json.loads(said.out), f"diagnose {options}")
    for choice, words in (({"least": 0}, "share"), ({"iterations": (1, 900)}, "no iteration"), ({"phase": ""}, "no iterations")):
        try:
            p.diagnose(**choice)
        except ValueError as error:
            expect(words in str(error), f"{error!r}")
        else:
            raise AssertionError(f"no error for {choice}")


@test
def python_compares_ranks_as_the_command_does(job):
    libprofile = package(job)
    job.profile([job.example("hydro"), 120, 16], options={"LIBPROFILE_TRACE": 1, "LIBPROFILE_SAMPLE": "1kHz"})
    p = libprofile.open(job.folder / "profile.1")
    for options, choice in (([], {}), (["--level", "pairs", "--iterations", "5:50", "--rank", "0-1"], {"level": "pairs", "iterations": (5, 50), "ranks": "0-1"})):
        said = json.loads(job.run([job.tool, "structure", job.folder / "profile.1", "--format", "json", *options]).out)
        found = p.structure(**choice)
        expect(said["by_samples"], "pairs of ranks with traces")
        for key in said.keys() - {"command"}:
            expect_equal(found[key], said[key], f"{key} of structure {options}")
    m = p.imbalance_map()
    expect_equal(m.deviation.shape, (len(m.rank), len(m.median)), "ranks and iterations")
    expect_equal(list(m.median.astype(float)), [row["median_computing"] for row in p.structure()["iterations"]], "medians")
    expect(abs(importlib.import_module("numpy").median(m.deviation, axis=0)).max() < 8, "the median rank deviates from itself")
    strip = p.fold("outliers", state="kind")
    expect_equal(int(strip.length.sum()), len(m.median), "iterations of a strip")
    pair = p.timeline(1, 0)
    expect_equal(float(pair.dissimilarity.max()), 0.0, "ranks of hydro make the same calls")
    expect_equal(pair.events, [], "events without an order")
    job.profile([job.example("hydro"), 60, 8], options={"LIBPROFILE_ORDER": 1})
    ordered = libprofile.open(job.folder / "profile.2")
    events, own = ordered.timeline(1, 0).events, ordered.timeline(0, 1).events
    expect(events and all(event.begin_here >= 0 and event.length_there > 0 for event in events), f"events of two ranks: {events}")
    expect_equal([(e.call, e.caller, e.begin_here, e.length_here) for e in events], [(e.call, e.caller, e.begin_there, e.length_there) for e in own],
                 "the same from the other side")
    rows = {row["rank"]: row for row in p.structure(reference=0)["rows"]}
    expect(abs(float(pair.skew_ns.sum()) - rows[1]["skew"]) < 1e4, f"skew {pair.skew_ns.sum()}, by the command {rows[1]['skew']}")
    for call, words in ((lambda: p.fold("most"), "most"), (lambda: p.fold(state="x"), "x"), (lambda: p.structure(level="x"), "x"), (lambda: p.fold(phase=""), "no iterations"),
                        (lambda: p.structure(ranks=99), "99"), (lambda: p.fold(depth=0), "depth")):
        try:
            call()
        except ValueError as error:
            expect(words in str(error), f"{error!r}")
        else:
            raise AssertionError(f"no error with {words}")


@test
def python_has_the_machine(job):
    libprofile = package(job)
    folder = job.folder / "temporary"
    folder.mkdir()
    for output, settings in (("four", ["HWLOC_SYNTHETIC=package:2 l3:2 [numa(memory=1073741824)] core:2 pu:2"]), ("by_hand", None)):
        program = [job.program("counters"), "waits", 4, 1]
        if settings is None:
            job.measured(program, output=output)
        else:
            result = job.run([*job.launcher(2), "env", f"TMPDIR={folder}", *settings, job.tool, "run", "--output", job.folder / output, "--", *program])
            expect_equal(result.code, 0, f"exit code; said: {result.all_err}")
    rows = json.loads(job.run([job.tool, "report", job.folder / "four", "--machine", "--format", "json"]).out)["machine"]
    p = libprofile.open(job.folder / "four")
    machine = p.machine()
    expect_equal(p.machine(1).root, machine.root, "the machine of rank 1")
    expect_equal([(part.type, part.number, part.size) for part in machine.root.walk()], [(row["type"], row["number"], row["size"]) for row in rows], "parts")
    depths = lambda part, depth=0: [depth, *(inner for child in part.children for inner in depths(child, depth + 1))]
    expect_equal(depths(machine.root), [row["depth"] for row in rows], "depths")
    expect_equal((machine.host, machine.ranks, machine.nodes), (rows[0]["host"], [0, 1], [0, 1, 2, 3]), "host, ranks and NUMA nodes")
    expect(machine.source.startswith("hwloc "), machine.source)
    expect_equal([child.type for child in machine.root.children], ["package", "package"], "parts of the machine")
    places = {rank["rank"]: rank["threads"][0]["last"] for rank in job.report("four")["places"]["ranks"]}
    seen = {thread: part.number for part in machine.root.walk() for thread in part.threads}
    expect_equal({rank: seen[rank, 0] for rank in (0, 1)}, places, "processors on which main threads were last seen")
    expect(machine.distances.shape in ((0, 0), (4, 4)), f"distances: {machine.distances.shape}")
    expect_equal(job.run([job.build / "tests/unit/task_profile", job.folder / "made_up", "places", 4, 4, 3, 5]).code, 0, "exit code of task_profile")
    made_up = libprofile.open(job.folder / "made_up").machine()
    distances = [[10 if i == k else 11 + 2 * i + k for k in range(3)] for i in range(3)]  # tests/unit/tools_task_machine.hpp
    expect_equal((made_up.nodes, made_up.distances.tolist()), ([0, 1, 2], distances), "distances of a made-up machine")
    expect_equal([thread for part in made_up.root.walk() for thread in part.threads], [(0, 0), (0, 3), (0, 1), (0, 2)], "its threads, in the order of processors")
    for call, kind, words in ((lambda: libprofile.open(job.folder / "by_hand").machine(), ValueError, "libprofile run"), (lambda: p.machine(2), KeyError, "rank 2")):
        try:
            call()
        except kind as error:
            expect(words in str(error), f"{error!r}")
        else:
            raise AssertionError(f"no error with {words}")


@test
def python_data_frames_hold_the_report(job):
    libprofile = package(job)
    report = job.profile([job.example("hydro"), 20, 8])
    p = libprofile.open(job.folder / "profile.1")
    frame = p.table(metrics=["time", "visits"]).dataframe()
    expect_equal(frame["time"].groupby("rank").sum().tolist(), totals(report, "time"), "time by rank")
    expect_equal(frame.loc[0]["time (inc)"].tolist(), totals(report, "time"), "the program's inclusive time")
    iterations = p.iterations_dataframe()
    phase = next(phase for phase in report["phases"] if phase["name"] == "timestep")
    expect_equal([iterations.loc[rank]["wall_ns"].tolist() for rank in (0, 1)], phase["iteration_times"], "iteration times")
    expect_equal(iterations.loc[(1, 3), "visits"], phase["series"][1]["visits"][2], "visits of iteration 3 of rank 1")


if __name__ == "__main__":
    main()
