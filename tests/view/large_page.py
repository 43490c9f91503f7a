"""The page of a trace that is larger than it: what it asks the server for."""

import json
import os
import re
import shutil
import subprocess

from counters import run_counted_tasks
from expectations import expect, expect_equal, test

RANKS, ITERATIONS, CALLS = 4, 2400, 300
LENGTH, FIRST = CALLS * 20_000, 1_000_000  # ns, as benchmarks/large_trace.cpp has it


@test
def causes_and_iterations_of_a_large_trace_are_in_its_page(context):
    folder = context.work / "large"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([f"{context.options.build}/benchmarks/large_trace", folder, str(RANKS), str(ITERATIONS), str(CALLS)], check=True, stdout=subprocess.DEVNULL)
    report = json.loads(subprocess.run([context.options.tool, "report", folder, "--format", "json"], capture_output=True, check=True).stdout)
    phase = next(p for p, one in enumerate(report["phases"]) if one["kind"] == "iterations")
    common = {"share": "1 %", "evidence": [], "gain": "", "next": "", "phase": phase}
    causes = [{**common, "sentence": "some on rank 2", "iterations": [100, 110, 700, 701], "ranks": [2, 3]}, {**common, "sentence": "all", "iterations": [], "ranks": []}]
    at = lambda iteration: FIRST + iteration * LENGTH
    asked = {"causes": causes, "iteration": {"phase": phase, "number": 710}, "times": [at(710), at(711)], "annotation": "first"}
    with context.serve(folder) as (_, address):
        seen = context.look(address, "large_page", json.dumps(asked), refused=True)
    for name in ("whole", "near"):  # whatever is shown of it
        some, all_of_it = seen[name]
        expect_equal([len(row) for row in some], [0, 0, 2, 0], f"marks of iterations of rank 2, {name}")
        for (begin, end), (a, b) in zip(some[2], ((at(100), at(110)), (at(700), at(701)))):
            expect(abs(begin - a) <= LENGTH / 200 and abs(end - b) <= LENGTH / 200, f"marks {name}: {begin} to {end}, iterations {a} to {b}")
        for row in all_of_it:
            expect(len(row) == 1 and abs(row[0][0] - FIRST) <= LENGTH / 200 and abs(row[0][1] - at(ITERATIONS)) <= LENGTH / 200, f"marks of all iterations: {row}")
    expect("Iteration 711" in seen["unseen"] and "4 threads" in seen["unseen"], f"shares: {seen['unseen']}")
    for name in ("seen", "in_part"):
        expect_equal(seen[name].split("\n")[1:5], seen["unseen"].split("\n")[1:5], f"shares where the iteration is {name}")
    expect_equal(seen["times"].split("\n")[1:5], seen["unseen"].split("\n")[1:5], "shares of its times, and of the iteration")
    for span in seen["selected"]:
        expect(span is not None and abs(span[0] - at(710)) <= LENGTH / 200, f"the selected iteration in the rows: {seen['selected']}")
    expect_equal((seen["refused"]["texts"], seen["refused"]["isUnsaved"]), (["first"], True), "a mark that could not be sent")
    expect("Not saved" in seen["refused"]["problem"], f"what is said of it: {seen['refused']}")
    expect_equal((seen["sent"]["texts"], seen["sent"]["isUnsaved"], seen["sent"]["problem"]), (["first", "second"], False, ""), "marks after the next one")
    expect_equal((seen["removed"]["texts"], seen["removed"]["isUnsaved"]), (["first"], False), "marks without the removed one")
    expect_equal([one["text"] for one in json.loads((folder / "annotations.json").read_text())["annotations"]], ["first"], "marks in the file")
    expect_equal(seen["live"], [[["stored", "kept"], False], [["kept", "new"], True], [["kept", "new"], False], [["kept"], True]], "marks of a page that renews itself")


@test
def large_timelines_are_fluent(context):
    """64 threads with 10^6 calls each, and 1,000 with 10,000 iterations: frames a second while the timeline moves. Run by hand, as a busy machine is no failure."""
    busy = os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)
    for ranks, iterations, calls in ((64, 3334, 300), (1000, 10000, 6)):
        folder = context.work / "large"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([f"{context.options.build}/benchmarks/large_trace", folder, str(ranks), str(iterations), str(calls)], check=True, stdout=subprocess.DEVNULL)
        with context.serve(folder) as (_, address):
            seen = context.look(address, "timeline_speed")
        shutil.rmtree(folder)
        expect_equal(seen["rows"], 64, "rows that are shown")
        for name, one in seen.items():
            if not isinstance(one, dict):
                continue
            print(f"{ranks:5} threads, {name:20} {one['fps']:5.1f} frames a second, slowest {one['slowest_ms']:3.0f} ms, {one['cpu_ms_per_frame']:4.1f} ms of processor time each, "
                  f"{100 * one['covered']:3.0f} % of them with all that they show")
            expect(one["fps"] > 50 or busy, f"{name}: {one}")
            expect(one["cpu_ms_per_frame"] < 1000 / 30, f"{name}: {one}")  # of all of Chromium's processes


def check_curves(context, folder, name, sources, views, wrong, rounding=0):
    """A page that asks has the values of one with all events. @param rounding the server sums up states between whole ns of each clock: by how many intervals may differ"""
    asked = json.dumps({"sources": sources, "views": views, "wrong": wrong})
    whole = context.look(context.view(folder), "curves_asked", asked)
    with context.serve(folder, "--index-from", "0") as (_, address):
        seen = context.look(address, "curves_asked", asked)
    expect_equal(whole["error"], "", "what a page with all events says of expressions")
    expect_equal(seen["error"].count("larger than the page"), len(wrong), f"what is said of expressions: {seen['error']!r}")
    for view, of_page, of_server in zip(views, whole["of"], seen["of"]):
        for source, wanted, values in zip(sources, of_page, of_server, strict=True):
            expect(sum(v is not None for v in wanted) > 20, f"{name}: the test needs values of {source} in {view}: {wanted[:40]}")
            for i, (a, b) in enumerate(zip(wanted, values, strict=True)):
                expect((a is None) == (b is None) and (a is None or abs(a - b) <= (1e-9 + rounding / view["every"]) * max(1, abs(a))), f"{name}, {source} in interval {i} of {view}: {b}, with all events {a}")


@test
def curves_of_a_large_trace_are_those_of_a_page_with_all_events(context):
    folder = context.work / "curves-calls"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([f"{context.options.build}/benchmarks/large_trace", folder, "3", "40", "300"], check=True, stdout=subprocess.DEVNULL)
    middle = FIRST + 20 * LENGTH + 12_345
    views = [{"moment": [0, FIRST + 40 * LENGTH], "every": 1_000_000}, {"moment": [middle, middle + LENGTH], "every": 50_000}, {"moment": [middle + LENGTH // 2, middle + 2 * LENGTH], "every": 50_000}]
    for sources in (["threads(computing)", "threads()", "max(threads(collective)) - mean(threads(point_to_point))", "on(1, time(collective))", "d(time(point_to_point)) / dt"],
                    ["threads(MPI_Isend)", 'd(calls("MPI_*")) / dt', "time(exchange)", "calls(collective)", "received(0, 1-2)", "d(received()) / dt"],
                    ["d(bytes()) / dt", "messages(0, 1)", "d(bytes(1-2, *)) / dt"]):
        check_curves(context, folder, "calls", sources, views, ["in_flight()", "in_flight(0, 1)"])
    check_curves(context, folder, "durations", ["duration(MPI_Allreduce)", "duration(point_to_point)", "on(2, duration(exchange))"], views[:1], [])


@test
def curves_of_tasks_and_counters_of_a_large_trace_are_those_of_a_page_with_all_events(context):
    folder, report = run_counted_tasks(context, "curves-counters")
    runs = [(begin, end) for entry in report["events"] for begin, end in zip(entry["tasks"]["runs"]["begin_ns"], entry["tasks"]["runs"]["end_ns"])]
    begin, end = min(b for b, _ in runs), max(e for _, e in runs)
    every = max(1000, (end - begin) // 200 // 1000 * 1000)
    views = [{"moment": [begin, end], "every": every}, {"moment": [begin + (end - begin) // 3, begin + (end - begin) // 2], "every": (end - begin) // 900 // 100 * 100}]  # longer than five pixels
    check_curves(context, folder, "counters", ["page_faults", "d(page_faults) / dt", "max(page_faults)", "threads(task)", "threads(computing)", "threads(omp_idle)"], views, ["in_flight()"], rounding=4)


@test
def durations_of_a_large_trace_are_those_of_a_page_with_all_events(context):
    tool = f"{context.options.build}/benchmarks/large_trace"
    tasks = f"{context.options.build}/tests/unit/task_profile"
    for name, make, begin, end, iteration in (
        ("calls", [tool, "FOLDER", "3", "40", "300"], FIRST, FIRST + 40 * LENGTH, 17),
        ("seidel", [tasks, "FOLDER", "seidel", "40", "40", "3"], 1000, 60_000_000, None),
        ("fork", [tasks, "FOLDER", "fork", "11", "3"], 1000, 20_000_000, None),
    ):
        folder = context.work / f"durations-{name}"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([folder if word == "FOLDER" else word for word in make], check=True, stdout=subprocess.DEVNULL)
        at = lambda share: round(begin + share * (end - begin))
        spans = [{"from": 0, "to": end + 10}, {"from": at(0.2), "to": at(0.4)}, {"from": at(0.5), "to": at(0.9)}]
        if iteration is None:
            spans.append({**spans[0], "filter": {"kind": "tasks", "from": 1000}})  # which pictures and shares refuse
        if iteration is not None:
            report = json.loads(subprocess.run([context.options.tool, "report", folder, "--format", "json"], capture_output=True, check=True).stdout)
            spans.append({"phase": next(p for p, one in enumerate(report["phases"]) if one["kind"] == "iterations"), "number": iteration})
        whole = context.look(context.view(folder), "durations", json.dumps(spans))
        with context.serve(folder, "--index-from", "0") as (_, address):
            asked = context.look(address, "durations", json.dumps(spans), refused=iteration is None)
        expect_equal((whole["isIndexed"], asked["isIndexed"]), (False, True), "pages with an index")
        for span, all_of_it, counted in zip(spans, whole["of"], asked["of"]):
            by_name = lambda one: {**one, **{kind: sorted(one[kind], key=lambda row: row["name"]) for kind in ("tasks", "calls")}, "words": sorted(one["words"].split("\n"))}
            expect(len(all_of_it["tasks" if name != "calls" else "calls"]) > 0, f"the test needs some in {span}: {all_of_it}")
            expect_equal(by_name(counted), by_name(all_of_it), f"{name}, {span}")
            expect((counted["matrix"] is None) == (name != "calls"), f"messages of {name}: {counted['matrix']}")


def check_pixels(context, name, make, begin, end, views, count):
    """A page that asks paints what one with all events paints, and says the same of a selection."""
    folder = context.work / f"pixels-{name}"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([folder if word == "FOLDER" else word for word in make], check=True, stdout=subprocess.DEVNULL)
    at = lambda share: round(begin + share * (end - begin))
    moments = [[0, end], [at(0.3), at(0.7)], [at(0.5), at(0.501)]]
    asked = [{"moment": moment, "mode": mode, "filter": chosen, "select": {"from": at(0.2), "to": at(0.6)} if moment[0] == 0 else None, "grid": None}
             for mode, chosen in views for moment in moments[:count]]
    with context.serve(folder, "--index-from", "0") as (_, address):
        seen = context.look(address, "pixels_asked", json.dumps(asked))["of"]
    for one, of_server in zip(asked, seen):
        one["grid"] = {key: of_server[key] for key in ("from", "to", "pixels")}
    whole = context.look(context.view(folder), "pixels_asked", json.dumps(asked))["of"]
    passed = 0
    for one, a, b in zip(asked, whole, seen, strict=True):
        what = f"{name}, {one['mode']} with {one['filter']} from {one['grid']['from']:.0f} to {one['grid']['to']:.0f}"
        expect_equal(len(a["kinds"]), len(b["kinds"]), f"rows of {what}")
        for row, (of_page, of_server) in enumerate(zip(a["kinds"], b["kinds"])):
            for x, ((kind, sums), (its, _)) in enumerate(zip(of_page, of_server, strict=True)):
                close = len(sums) > 1 and sums[0] - sums[1] <= 1e-6 * sums[0]  # two that have as much: roundings decide
                expect(kind == its or close, f"{what}: row {row}, pixel {x} is {its}, with all events {kind} of {sums[:3]}")
                passed += 0 <= kind < a["n"]
            for x, (long, its) in enumerate(zip(a["longest"][row], b["longest"][row], strict=True)):
                if one["mode"] == "duration":
                    expect((long == 0) == (its == 0) and (b["isWhole"] or its == 0 or 2**-0.2 < long / its < 2**0.2), f"{what}: the longest call of row {row}, pixel {x} takes {its}, with all events {long}")
        if one["select"]:
            without_matrix = lambda words: re.split(r"\n[\d,]+ messages?, ", words)[0].strip()  # who sends how much to whom is known of single calls
            expect_equal(without_matrix(b["shares"]), without_matrix(a["shares"]), f"shares of {what}")
            expect_equal(b["matrix"], a["matrix"], f"who sends how much to whom in {what}")
            by_name = lambda lists: {kind: sorted(rows, key=lambda row: row["name"]) for kind, rows in lists.items()}
            expect_equal(by_name(b["durations"]), by_name(a["durations"]), f"durations of {what}")
    expect(passed > 1000, f"{name}: {passed} pixels have something that passes")
    expect(not all(one["isWhole"] for one in seen), "the test needs pixels")
    return seen


@test
def filters_of_a_large_trace_are_those_of_a_page_with_all_events(context):
    views = [("state", {"text": "allreduce"}), ("duration", {"text": "allreduce"}), ("state", {"from": 9000}), ("duration", {"from": 3000, "to": 3100}),
             ("state", {"ranks": "1-7", "text": "send"}), ("state", {"ranks": "0,2"}), ("state", {"inside": "exchange"}), ("state", {"text": "nothing has it"})]
    make = [f"{context.options.build}/benchmarks/large_trace", "FOLDER", "3", "40", "300"]
    seen = check_pixels(context, "calls", make, FIRST, FIRST + 40 * LENGTH, views, 3)
    expect(any(one["isWhole"] for one in seen), "the test needs single calls")


@test
def types_of_tasks_of_a_large_trace_are_those_of_a_page_with_all_events(context):
    tool = f"{context.options.build}/tests/unit/task_profile"
    views = [("type", {}), ("state", {}), ("type", {"kind": "tasks", "threads": "1-2"}), ("type", {"text": "0x1001"}), ("state", {"kind": "calls", "from": 2000}),
             ("state", {"kind": "tasks"}), ("type", {"inside": "main"}), ("state", {"kind": "regions"})]
    check_pixels(context, "seidel", [tool, "FOLDER", "seidel", "40", "40", "3"], 1000, 60_000_000, views, 1)
    check_pixels(context, "fork", [tool, "FOLDER", "fork", "11", "3"], 1000, 20_000_000, views[:5], 2)
