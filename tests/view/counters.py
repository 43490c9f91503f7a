"""Counters that were read at the borders of tasks, in the page: those of the report."""

import json
import shutil
import subprocess
from collections import defaultdict

import numpy
from expectations import expect, expect_equal, test


def run_counted_tasks(context, name):
    """Runs a program of tasks with a counter, once for each `name`. Returns the folder of its profile, and its report with the trace."""
    program, folder = f"{context.options.build}/tests/process/programs/task_pages_gcc", context.work / name
    shutil.rmtree(folder, ignore_errors=True)
    settings = {"LD_PRELOAD": context.options.library, "LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events", "LIBPROFILE_METRICS": "page_faults",
                "LIBPROFILE_SAMPLE": "off", "LIBPROFILE_OUTPUT": str(folder), "OMP_NUM_THREADS": "2"}
    done = subprocess.run(["env", *(f"{key}={value}" for key, value in settings.items()), program, "80"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    report = json.loads(subprocess.run([context.options.tool, "report", folder, "--format", "json", "--trace"], capture_output=True, check=True).stdout)
    return folder, report


@test
def counters_of_tasks_in_the_page_are_those_of_the_report(context):
    folder, report = run_counted_tasks(context, "events-counters")
    readings, increases = {}, defaultdict(int)
    for entry in report["events"]:
        counts, runs, own = entry["counts"], entry["tasks"]["runs"], set()
        for of, event, begin, end in zip(counts["of"], counts["event"], counts["begin"], counts["end"]):
            times = runs if of == "run" else entry
            own |= {(times["begin_ns"][event], begin), (times["end_ns"][event], end)}
            if of == "run":
                increases[runs["task"][event]] += end - begin
        readings[entry["rank"], entry["thread"]] = sorted(own)
    seen = context.look(context.view(folder), "counters")
    for row in seen["rows"]:
        (name, shown), = row["counters"]
        expected = readings[row["rank"], row["thread"]]
        expect_equal(name, "page_faults", "the counter")
        expect_equal(list(zip(shown["times"], shown["values"])), [(ns, value - expected[0][1]) for ns, value in expected], f"readings of thread {row['thread']}")
    number = seen["task"]["number"]
    expect(f"page_faults +{increases[number]}" in seen["task"]["facts"], f"facts of task {number}, which had {increases[number]}: {seen['task']['facts'][:600]}")
    grown = sum(list_[-1][1] - list_[0][1] for list_ in readings.values())
    expect(abs(seen["whole"][0] - grown) <= 1e-6 * grown, f"increase over the whole run: {seen['whole']}, readings: {grown}")
    expect(any("page_faults" in text for text in seen["headings"]), f"no curve of the counter: {seen['headings']}")
    check_scatter(context, folder, seen)


def check_scatter(context, folder, seen):
    """The pairs behind the scatter plot are those of `report --correlations`."""
    told = check_series(context, folder, seen["series"])
    first = told[0]
    error = first["slope_error_ns"] / first["slope_ns"]
    expect(first["r_squared"] < 0.5 or f"± {100 * error:.1f}\u202f%" in seen["words"], f"{seen['words']}: {error}")
    expect(f"r² {first['r_squared']:.2f}" in seen["words"] and len(seen["names"]) == len(seen["series"]), f"{seen['words']}, {seen['names']}; {first}")
    cells = {(round(x), round(y)) for x, y in zip(seen["series"][0]["amounts"], seen["series"][0]["durations"])}
    expect(2 <= seen["drawn"] <= len(cells) + 2, f"{seen['drawn']} rectangles for {len(cells)} different points")
    found = seen["found"]
    expect(found and found["task"] and f"Task {found['task']['number']:,}" in found["facts"], f"a click on a point: {found}")
    lines = seen["csv"].splitlines()
    column = lines[0].split(",").index("page_faults [count]")
    sums = sum(int(line.split(",")[column] or 0) for line in lines[1:] if line.split(",")[2] == "task")
    expect_equal(sums, int(sum(sum(series["amounts"]) for series in seen["series"] if series["isOfTasks"])), "page faults of the tasks in the CSV")


def check_series(context, folder, shown, *choice):
    """Series of the page: the rows of `report --correlations` for all calls of a function, which are returned."""
    report = subprocess.run([context.options.tool, "report", folder, "--correlations", "--format", "json", "--top", "1000", *choice], capture_output=True, check=True)
    told = [row for row in json.loads(report.stdout)["correlations"] if row["rank"] is None]
    expected = {(row["of"] == "tasks", row["amount"], row["calls"], row["time"]): row for row in told}
    expect(len(expected) >= 1 and len(told) == len(expected), f"correlations of the report: {told}")
    for series in shown:
        x, y = numpy.array(series["amounts"]), numpy.array(series["durations"])
        row = expected.pop((series["isOfTasks"], series["amount"], len(x), y.sum()), None)
        expect(row is not None, f"{series['name']}: {len(x)} of {y.sum()} ns, but the report has {told}")
        if row["slope_ns"] is not None:
            slope, intercept = numpy.polyfit(x, y, 1)
            expect(abs(slope - row["slope_ns"]) <= 1e-6 * abs(slope) and abs(intercept - row["intercept_ns"]) <= 1e-6 * y.max(), f"{row}: {slope}, {intercept}")
    expect(not expected, f"not in the page: {expected}")
    return told
