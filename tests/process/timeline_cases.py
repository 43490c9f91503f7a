#!/usr/bin/python3
"""What docs/timeline.md tells of the examples holds: the shape of a wave front, page faults of first touches, both limits of the size of tasks, and tasks
that take as long as they have page faults."""

import json
from collections import Counter

from harness import expect, expect_equal, main, test

EVENTS = {"LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "256M"}


def measure(job, program, *words, **options):
    """What the program printed, `report --tasks` and the report itself."""
    job.runs += 1
    output = job.folder / f"profile.{job.runs}"
    result = job.run(job.preloaded([job.build / "examples" / program, *words], {**EVENTS, "LIBPROFILE_OUTPUT": output, **options}),
                     env={"OMP_NUM_THREADS": 2, "OMP_WAIT_POLICY": "passive"})
    expect_equal(result.code, 0, f"exit code: {result.err}")
    reports = []
    for more in (["--tasks"], []):
        printed = job.run([job.tool, "report", output, "--format", "json", *more])
        expect_equal(printed.code, 0, f"exit code of the report: {printed.err}")
        reports.append(json.loads(printed.out))
    return result.out, *reports


def wave_front(blocks, sweeps, waits):
    """Tasks by depth: a block comes after its neighbours, which is one step for each row and column, and two for each sweep before."""
    steps = Counter({0: blocks * blocks})  # that initialise
    for sweep in range(sweeps):
        begin = 1 + sweep * (2 * blocks - 1 if waits else 2)
        steps.update(begin + row + column for row in range(blocks) for column in range(blocks))
    return [count for _, count in sorted(steps.items())]


@test
def the_wave_front_has_as_many_tasks_at_each_depth_as_blocks_can_run(job):
    results = set()
    for blocks, sweeps in ((3, 60), (4, 10)):
        for waits in (True, False):
            out, tasks, _ = measure(job, "seidel", blocks, 32, sweeps, *(["wait"] if waits else []))
            results.add((blocks, out.split("sum")[1]))
            expect_equal([row["tasks"] for row in tasks["depths"]], wave_front(blocks, sweeps, waits), f"{blocks} x {blocks} blocks, waits: {waits}")
    expect_equal(len(results), 2, f"both orders compute the same: {results}")
    expect_equal((len(wave_front(3, 60, True)), len(wave_front(3, 60, False))), (301, 124), "depths that the page tells")


def page_faults(report):
    return sum(sum(metric["total"]) for group in (report, report["threads"]) for metric in group["metrics"] if metric["name"] == "page_faults")


@test
def slow_tasks_are_those_that_touch_pages_first(job):
    faults = {}
    for pages in ("small", "huge"):
        _, tasks, report = measure(job, "seidel", 4, 256, 2, *([pages] if pages == "huge" else []), LIBPROFILE_METRICS="page_faults")
        faults[pages] = page_faults(report)
        expect_equal(sorted(row["tasks"] for row in tasks["types"]), [16, 32], "initialising and relaxing tasks")
    expect(faults["small"] >= (4 * 256) ** 2 * 8 // 4096, f"a fault for each page: {faults}")
    with open("/sys/kernel/mm/transparent_hugepage/enabled") as setting:
        if "[never]" not in setting.read():
            expect(faults["huge"] < faults["small"] / 2, f"large pages have fewer faults: {faults}")


@test
def durations_follow_page_faults_until_memory_is_kept(job):
    """`pairs`: equal tasks but for the memory that they fill. malloc keeps it if the environment says so."""
    kept = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "2000000000"}
    faults, results, rows = {}, set(), {}
    for name, environment in (("new", {}), ("kept", kept)):
        out, tasks, report = measure(job, "pairs", 32, 500, 20, LIBPROFILE_METRICS="page_faults", **environment)
        results.add(out.split(",")[1])
        faults[name] = page_faults(report)
        expect_equal(sum(row["tasks"] for row in tasks["types"]), 32 * 20, "tasks")
        told = job.run([job.tool, "report", job.folder / f"profile.{job.runs}", "--correlations", "--format", "json"])
        expect_equal(told.code, 0, f"exit code of --correlations: {told.err}")
        rows[name] = [row for row in json.loads(told.out)["correlations"] if row["of"] == "tasks"]
    expect_equal(len(results), 1, f"both find the same pairs: {results}")
    (row,) = rows["new"]
    expect_equal((row["amount"], row["calls"]), ("page_faults", 32 * 20), "the correlation")
    expect(row["pearson"] > 0 and row["slope_ns"] > 0, f"durations grow with page faults: {row}")
    # Each task fills up to 1 MB in each iteration; with kept memory in the first one only.
    expect(faults["kept"] < faults["new"] / 3, f"page faults: {faults}")


@test
def tasks_are_too_small_or_too_few(job):
    """On a busy machine times are those of the best of three runs."""
    points, results, outside = 200_000, set(), {}
    for block in (16, 1024, points):
        for _ in range(3):
            out, tasks, _ = measure(job, "kmeans", points, block, 3)
            results.add(out.split("centre")[1])
            expect_equal([row["tasks"] for row in tasks["depths"]], [-(-points // block)] * 3, f"tasks that could run at once with {block} points each")
            outside[block] = min(outside.get(block, 1 << 62), tasks["ranks"][0]["outside_tasks"])
            longest = sum(row["most"] for row in tasks["types"])
            expect(tasks["ranks"][0]["span"] >= longest, f"the span is at least the longest tasks: {tasks['ranks']}")
    expect_equal(len(results), 1, f"all sizes compute the same: {results}")
    expect(outside[16] > outside[1024], f"time outside of tasks, by points in a task: {outside}")


if __name__ == "__main__":
    main()
