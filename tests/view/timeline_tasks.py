"""Tasks of OpenMP in the timeline of the page: types, times and dependences are those of the report and of its raw events, with every filter."""

import csv
import json
import pathlib
import os
import shutil
import subprocess
import sys
from collections import Counter

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "export"))
from readers import perfetto

from expectations import expect, expect_equal, test

WAITS = {"omp taskwait": "omp_task_wait", "omp taskgroup": "omp_task_wait", "omp barrier": "omp_barrier", "omp implicit barrier": "omp_barrier", "omp idle": "omp_idle"}


def reported(context, folder, *words):
    told = subprocess.run([context.options.tool, "report", folder, "--format", "json", *words], capture_output=True, text=True)
    expect(told.returncode == 0, told.stderr[-2000:])
    return json.loads(told.stdout)


def measured(context, runtime, *words, threads=3):
    """None: there is no program for this runtime."""
    folder = context.work / f"events-tasks-{runtime}"
    shutil.rmtree(folder, ignore_errors=True)
    program = f"{context.options.build}/tests/process/programs/tasks_{runtime}"
    if not os.path.exists(program):
        expect(runtime != "gcc", "no test program")
        return None
    settings = {"LD_PRELOAD": context.options.library, "LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "64M",
                "LIBPROFILE_OUTPUT": str(folder), "OMP_NUM_THREADS": str(threads)}
    done = subprocess.run(["env", *(f"{key}={value}" for key, value in settings.items()), program, *words], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    return folder


def types_of(report, **part):
    """By name: what the table of types says, in whole ns."""
    rows = report["types"]
    return {f"{row['function']} {row['source']}".strip(): [row["tasks"], row["time"], row["least"], row["median"], row["most"], round(row["stolen"] * row["tasks"])]
            for row in rows if all(row[key] == value for key, value in part.items())}


def shown_types(statistics):
    return {one["name"]: [one["count"], one["total"], one["least"], one["median"], one["most"], one["stolen"]] for one in statistics}


def names_of(events):
    """Of all call paths: those that the phases list, and those of tasks."""
    names = {}
    for entry in events["events"]:
        names.update({path["id"]: path["name"] for path in entry["tasks"]["call_paths"]})
    for group in (events, events["threads"]):
        names.update({path["id"]: path["name"] for phase in group["phases"] for path in phase["call_paths"]})
    return names


def sums_of(entry, names, begin, end):
    """ns by state of one thread between two times: the innermost counts, and a parallel region is around all."""
    spans = [(b, e, 1, WAITS.get(names[p], "openmp")) for b, e, p in zip(entry["begin_ns"], entry["end_ns"], entry["path"]) if names[p] != "omp parallel"]
    runs = entry["tasks"]["runs"]
    spans += [(b, e, 0, "task") for b, e in zip(runs["begin_ns"], runs["end_ns"])]
    cuts = sorted({begin, end, *(min(max(time, begin), end) for span in spans for time in span[:2])})
    sums = {}
    for a, b in zip(cuts, cuts[1:]):
        # The one that began last is the innermost; at the same time the one that ends first; a call lies in a task.
        inside = [(span[0], -span[1], span[2], span[3]) for span in spans if span[0] <= a and span[1] >= b]
        state = max(inside)[3] if inside else "computing"
        sums[state] = sums.get(state, 0) + b - a
    return sums


@test
def tasks_of_the_page_are_those_of_the_report(context):
    for runtime in ("gcc", "clang"):
        folder = measured(context, runtime, "4")
        if folder:
            check_page(context, folder)


def check_page(context, folder):
    report, raw = reported(context, folder, "--tasks"), reported(context, folder, "--trace")
    seen = context.look(context.view(folder), "tasks")
    expect_equal(len(report["stretches"]), 1, "stretches with tasks")
    expect(report["ranks"][0]["incomplete"] == 0, "the test needs a program whose tasks are all kept")
    # Statistics of types: those of the report, from all tasks.
    expect_equal(shown_types(seen["all"]["tasks"]), types_of(report), "types of tasks, of the whole run")
    for one in seen["all"]["tasks"]:
        expect(abs(one["mean"] * one["count"] - one["total"]) < 1e-3, f"mean of {one}")
    expect_equal(sum(seen["all"]["histogram"]), sum(one["count"] for one in seen["all"]["tasks"]), "tasks in the histogram")
    # States of each thread, and how many threads compute.
    names, wanted = names_of(raw), {}
    for entry in raw["events"]:
        for part in entry["parts"]:
            for state, ns in sums_of(entry, names, part["begin_ns"], part["end_ns"]).items():
                wanted[state] = wanted.get(state, 0) + ns
    shares = seen["all"]["shares"]
    expect_equal({state: ns for state, ns in shares["states"].items() if ns > 0}, {state: ns for state, ns in wanted.items() if ns > 0}, "states")
    expect_equal(shares["parallelism"], (wanted["computing"] + wanted["task"]) / shares["length"], "threads that compute, in tasks or not")
    # Each task, as it is recorded.
    found = {task["number"]: task for task in seen["tasks"]}
    expect_equal(len(found), len(seen["tasks"]), "tasks with numbers of their own")
    runs = {}
    for entry in raw["events"]:
        list_of = entry["tasks"]["runs"]
        for task, begin, end in zip(list_of["task"], list_of["begin_ns"], list_of["end_ns"]):
            runs.setdefault(task, []).append([begin, end, entry["thread"]])
    count = 0
    for entry in raw["events"]:
        tasks = entry["tasks"]
        needs = {}
        for task, kind, address in zip(tasks["dependences"]["task"], tasks["dependences"]["kind"], tasks["dependences"]["address"]):
            needs.setdefault(task, []).append([kind, address])
        for i, number in enumerate(tasks["number"]):
            task = found[number]
            expect_equal([task["thread"], task["creator"], task["created"]], [entry["thread"], tasks["creator"][i], tasks["created_ns"][i]], f"creation of task {number}")
            expect_equal(task["runs"], sorted(runs[number]), f"stretches of task {number}")
            expect_equal(task["needs"], needs.get(i, []), f"dependences of task {number}")
            count += 1
    expect_equal(len(found), count, "tasks")
    # What is under the pointer, and what a click shows.
    at = seen["pointed"]
    expect(f"task {at['number']:,} " in at["text"] and at["type"] in at["text"] and at["need"] in at["text"] and "created" in at["text"], f"under the pointer: {at}")
    expect_equal(at["clicked"], {"rank": 0, "number": at["number"]}, "the task that a click selects")
    for words in (f"Task {at['number']:,} ", at["type"], at["need"], "1 stretch", "dependence"):
        expect(words in at["facts"], f"the facts do not say {words!r}: {at['facts']!r}")
    expect(at["node"] > 0 and at["source"] == at["node"], f"the button of the source selects {at['source']}, not {at['node']}")
    expect_equal(seen["again"], seen["before"], "what the link shows again")
    for mode in ("state", "type", "task_duration"):
        expect(seen["modes"][mode]["colors"] > 3 and seen["modes"][mode]["covered"] > 0.02, f"mode {mode}: {seen['modes'][mode]}")
    expect(seen["lines"]["with"] > seen["lines"]["without"], f"lines from creations: {seen['lines']}")


@test
def tasks_of_an_iteration_are_those_of_the_report(context):
    for words in (["seidel", "8", "8", "3"], ["fork", "6", "4"]):
        folder = context.work / f"made-up-{words[0]}"
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([f"{context.options.build}/tests/unit/task_profile", folder, *words], check=True)
        report = reported(context, folder, "--tasks")
        seen = context.look(context.view(folder), "tasks")
        expect_equal(report["stretches"][0]["kind"], "iteration", "what was kept")
        expect_equal(shown_types(seen["iteration"]["tasks"]), types_of(report), f"types of tasks in the iteration of {words[0]}")


def expect_exported(context, folder, options, rows, all_rows):
    """An export with the filter of these options has the events that the CSV of the page has, some of all."""
    place = context.work / "filtered.perfetto"
    place.unlink(missing_ok=True)
    told = subprocess.run([context.options.tool, "export", folder, "--format", "perfetto", "--output", place, *options], capture_output=True, text=True)
    expect(told.returncode == 0, told.stderr)
    exported = Counter((int((row.split() + ["thread", "0"])[3]), notes["ns"], notes.get("task", 0)) for (_, row), slices in perfetto.read(place).slices.items()
                       for _, _, _, category, notes in slices if category not in ("part", "iteration"))
    shown = Counter((int(row["thread"]), int(row["duration [ns]"]), int(row["task"] or 0)) for row in rows)
    expect(0 < sum(shown.values()) < all_rows, f"some pass the filter {options}: {sum(shown.values())} of {all_rows}")
    expect_equal(exported, shown, f"events of an export with the filter {options}, and of the CSV")


@test
def a_filter_holds_for_picture_statistics_and_csv(context):
    folder = measured(context, "gcc", "4")
    raw = reported(context, folder, "--trace")
    page = context.view(folder)
    seen = context.look(page, "filters")
    whole = seen["none"]
    types = shown_types(whole["tasks"])
    expect(len(types) > 5 and len(whole["calls"]) > 2, f"the test needs types of tasks and calls: {whole}")
    text = seen["text"]
    expect(0 < sum(text in name.lower() for name in types) < len(types), f"the test needs a text that some types have: {text!r}")
    # By kind, text, rank.
    expect_equal(seen["tasks"]["tasks"], whole["tasks"], "tasks, if only tasks pass")
    expect_equal(seen["tasks"]["calls"], [], "calls, if only tasks pass")
    expect_equal([seen["calls"]["tasks"], seen["calls"]["calls"]], [[], whole["calls"]], "what is left, if only calls pass")
    expect_equal([seen["regions"]["tasks"], seen["regions"]["calls"]], [[], []], "tasks and calls, if only regions pass")
    expect_equal(shown_types(seen["by_text"]["tasks"]), {name: numbers for name, numbers in types.items() if text in name.lower()}, "types with the text")
    expect_equal(seen["rank"], {**whole, "csv": seen["rank"]["csv"], "opaque": seen["rank"]["opaque"]}, "the only rank")
    expect_equal([seen["no_rank"]["tasks"], seen["no_rank"]["calls"], seen["no_rank"]["shares"]], [[], [], {}], "a rank that is not there")
    # By duration: tasks by their own times, as they come without a filter.
    low, high = seen["limits"]
    inside = sorted(ns for one in whole["tasks"] for ns in one["durations"] if low <= ns <= high)
    expect(0 < len(inside) < sum(one["count"] for one in whole["tasks"]), "the test needs limits that divide the tasks")
    expect_equal(sorted(ns for one in seen["by_duration"]["tasks"] for ns in one["durations"]), inside, "own times within the limits")
    # What is saved has what passes.
    def rows(name):
        return list(csv.DictReader(seen[name]["csv"].splitlines()))
    runs = [(entry["thread"], begin, end - begin, task) for entry in raw["events"] for task, begin, end in
            zip(entry["tasks"]["runs"]["task"], entry["tasks"]["runs"]["begin_ns"], entry["tasks"]["runs"]["end_ns"])]
    saved = [(int(row["thread"]), int(row["begin [ns]"]), int(row["duration [ns]"]), int(row["task"])) for row in rows("tasks")]
    expect_equal(sorted(saved), sorted(runs), "stretches in the CSV, if only tasks pass")
    expect_equal({row["state"] for row in rows("tasks")}, {"task"}, "states in the CSV, if only tasks pass")
    expect_equal({row["function"] for row in rows("by_text") if row["state"] == "task"}, {name for name in types if text in name.lower()}, "types in the CSV")
    expect(all(low <= int(row["own time [ns]"]) <= high for row in rows("by_duration") if row["state"] == "task"), "own times in the CSV")
    # The same filter takes the same events for an export.
    for name, options in (("tasks", ["--only", "tasks"]), ("calls", ["--only", "calls"]), ("by_text", ["--with", text]), ("by_caller", ["--inside", "nested"]), ("thread", ["--thread", "1-2"]),
                          ("by_duration", ["--only", "tasks", "--from", f"{low}ns", "--to", f"{high}ns"])):
        expect_exported(context, folder, options, rows(name), len(rows("none")))
    expect_equal(len(rows("no_rank")), 0, "rows of a rank that is not there")
    # What does not pass is pale.
    expect(seen["tasks"]["opaque"] < whole["opaque"] and seen["no_rank"]["opaque"] == 0 < seen["tasks"]["opaque"] and seen["rank"]["opaque"] == whole["opaque"],
           {name: seen[name]["opaque"] for name in seen if isinstance(seen[name], dict) and "opaque" in seen[name]})
    # What makes no sense is said, and changes nothing.
    for name, words in (("crossed", "from is longer than to"), ("list", "7-4 is not a list"), ("time", "soon is not a time")):
        told = seen["refused"][name]
        expect(words in told["text"] and "true" in told["invalid"] and told["unchanged"], f"{name}: {told}")
    expect_equal(seen["refused"]["right"], {"text": "", "invalid": [], "unchanged": False}, "after it was put right")
    expect_equal([seen["hostile"][name] for name in ("from", "to", "threads", "ranOn")], [0, None, "", ""], "of a link that makes no sense")
    # The link has it, and the inputs show it.
    expect_equal(seen["again"], seen["before"], "the filter that the link leads to")
    expect_equal(seen["inputs"], {"kind": "tasks", "text": text, "from": "1.50\u202fµs", "to": "2.00\u202fs", "ranks": "0,3-7"}, "inputs")
    expect(os.path.getsize(page) < 2e6, "the page is small")
