"""NUMA nodes of tasks and of their data in the timeline of the page, compared with the report and with what is raw in its events: of a made-up program on a
machine with four nodes (tests/unit/tools_task_machine.hpp), and of a program to which a made-up kernel tells on which nodes its pages lie."""

import csv
import json
import shutil
import subprocess
from collections import Counter

from expectations import expect, expect_equal, test
from timeline_tasks import expect_exported, reported

NODES, THREADS = 4, 9
KINDS = [tuple(bytes.fromhex(code)) for code in ("56b4e9", "e69f00", "009e73", "cc79a7")]
WARM = [tuple(bytes.fromhex(code)) for code in ("e9eef4", "f7e5b8", "f3ba66", "e07e30", "9e3a0e")]
UNKNOWN = (130, 130, 130)


def node_of_processor(number):
    """Processors of the made-up machine; the one of the last thread is not known."""
    return None if number is None else (number - 10) % NODES


def is_read(kind):
    return kind != "out"


def is_written(kind):
    return kind != "in"


class Task:
    """From the raw events."""

    def __init__(self, number):
        self.number, self.node, self.needs, self.end = number, None, [], 0
        self.longest = -1  # ns; a stretch may take no time

    def main(self, wanted):
        counts = Counter(node for kind, node in self.needs if node is not None and wanted(kind))
        return min((-count, node) for node, count in counts.items())[1] if counts else -1

    def accesses(self):
        known = [node for _, node in self.needs if node is not None and self.node is not None]
        local = sum(node == self.node for node in known)
        return {"local": local, "remote": len(known) - local, "unknown": len(self.needs) - len(known)}

    def share(self):
        sums = self.accesses()
        known = sums["local"] + sums["remote"]
        return sums["remote"] / known if known else None


def tasks_of(raw, node_of):
    tasks = {}
    for entry in raw["events"]:
        needs = entry["tasks"]["dependences"]
        for number in entry["tasks"]["number"]:
            tasks[number] = Task(number)
        for task, kind, node in zip(needs["task"], needs["kind"], needs["node"]):
            tasks[entry["tasks"]["number"][task]].needs.append((kind, node))
    for entry in raw["events"]:
        runs = entry["tasks"]["runs"]
        for number, begin, end, processor in zip(runs["task"], runs["begin_ns"], runs["end_ns"], runs["processor"]):
            task = tasks[number]
            if end - begin > task.longest:
                task.node, task.longest, task.end = node_of(processor), end - begin, end
    return tasks


def matrix_of(tasks):
    cells, sums = {}, Counter()
    for task in tasks:
        sums.update(task.accesses())
        for kind, node in task.needs:
            if node is not None and task.node is not None:
                cell = cells.setdefault((task.node, node), [0, 0])
                cell[0] += is_read(kind)
                cell[1] += is_written(kind)
    return {"cells": [[*nodes, *cells[nodes]] for nodes in sorted(cells)], **{name: sums[name] for name in ("local", "remote", "unknown")}}


def numbers(matrix):
    return {name: matrix[name] for name in ("cells", "local", "remote", "unknown")}


def warmth(share, least):
    x = min(0.99999, least + (1 - least) * share) * (len(WARM) - 1)
    return tuple(round(a + (b - a) * (x - int(x))) for a, b in zip(WARM[int(x)], WARM[int(x) + 1]))


def expect_colors(found, tasks, color, what):
    expect(len(found) == len(tasks), f"{what}: {len(found)} of {len(tasks)} tasks are wide enough")
    for number, seen in found.items():
        wanted = color(tasks[int(number)])
        expect(seen[3] == 255 and all(abs(a - b) <= 1 for a, b in zip(seen, wanted)), f"{what}: task {number} has {seen}, not {wanted}")


@test
def nodes_of_tasks_and_of_their_data_are_those_of_the_report(context):
    folder = context.work / "places"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([f"{context.options.build}/tests/unit/task_profile", folder, "places", "8", "10", str(NODES), str(THREADS)], check=True)
    report, raw = reported(context, folder, "--tasks"), reported(context, folder, "--trace")
    tasks = tasks_of(raw, node_of_processor)
    expect(any(task.node is None for task in tasks.values()) and len({task.node for task in tasks.values()}) == NODES + 1, "the test needs tasks on all nodes")
    chosen = next(number for number, task in tasks.items() if task.accesses()["local"] > 0 and task.accesses()["remote"] > 0)
    every = (max(task.end for task in tasks.values()) + 40) // 40 + 1
    sources = ["accesses()", "d(remote()) / d(accesses())", "reads(1, 2)", "d(writes(*, 0-1))", "max(accesses())"]
    seen = context.look(context.view(folder), "places", json.dumps({"task": chosen, "sources": sources, "every": every}))
    # Task by task, as recorded.
    expect_equal({one["number"]: [one["node"], one["accesses"], one["read"], one["written"], one["data"]] for one in seen["tasks"]},
                 {task.number: [-1 if task.node is None else task.node, task.accesses(), task.main(is_read), task.main(is_written),
                                [-1 if node is None else node for _, node in task.needs]] for task in tasks.values()}, "nodes of tasks")
    # The matrix is that of the report, and that of the raw events.
    whole = seen["whole"]
    expect_equal(whole["cells"], [[row["task_node"], row["data_node"], row["reads"], row["writes"]] for row in report["node_accesses"]], "accesses by nodes")
    expect_equal(numbers(whole), matrix_of(tasks.values()), "accesses by nodes, from the events")
    expect_equal([whole[name] for name in ("local", "remote", "unknown")],
                 [sum(row[name] for row in report["thread_accesses"]) for name in ("local", "remote", "unknown")], "local and remote ones")
    share = whole["remote"] / (whole["local"] + whole["remote"])
    expect_equal(round(share, 9), round(report["ranks"][0]["remote"], 9), "share of remote accesses")
    expect(f"{100 * share:.1f} %" in seen["words"] and "go to another NUMA node" in seen["words"], f"what the page says: {seen['words']}")
    clock = seen["clock"]

    def place(ns):
        return clock["begin"] + ns * clock["scale"]
    half = seen["half"]
    inside = [task for task in tasks.values() if place(task.end) <= half["to"]]
    expect(0 < len(inside) < len(tasks), "the test needs tasks in the first half")
    expect_equal(numbers(half["matrix"]), matrix_of(inside), "accesses by nodes in a half of the time")
    check_filter(seen, tasks)
    rows = {name: list(csv.DictReader(text.splitlines())) for name, text in seen["places"].items()}
    for name, options in (("thread", ["--thread", "1,3-4"]), ("ran_on", ["--node", "1-2"])):
        expect_exported(context, folder, options, rows[name], len(rows["none"]))
    expect_equal(seen["link"][0].get("ranOn"), "1-2", "nodes in the link on which events ended")
    check_curves(seen, tasks, every, place)
    check_colors(seen, tasks)
    check_shades(seen)
    # The facts of a task.
    task, facts = tasks[chosen], seen["facts"]
    ran = next(row[1] for row in facts if row[0] == "ran")
    sums = task.accesses()
    expect(ran.startswith(f"on NUMA node {task.node}; {sums['remote']} of {sums['local'] + sums['remote']} accesses remote"), f"where it ran: {ran}")
    head = next(i for i, row in enumerate(facts) if row[:3] == ["kind", "address", "on node"])
    expect_equal([(row[0], row[2]) for row in facts[head + 1:]], [(kind, "unknown" if node is None else str(node)) for kind, node in task.needs], "its data")
    expect(seen["bytes"] < 2e6, f"the page has {seen['bytes']} bytes")


def check_filter(seen, tasks):
    for access, wanted in (("", lambda kind: True), ("read", is_read), ("written", is_written)):
        found = seen["filtered"][access]
        passing = [task for task in tasks.values() if any(node in (1, 2) and wanted(kind) for kind, node in task.needs)]
        expect(0 < len(passing) < len(tasks), "the test needs tasks that do not pass")
        expect_equal(found["tasks"], len(passing), f"tasks that pass {access!r}")
        expect_equal(numbers(found), matrix_of(passing), f"accesses of tasks that pass {access!r}")
        rows = list(csv.DictReader(found["csv"].splitlines()))
        expect_equal(sorted((int(row["task"]), row["node"], int(row["local accesses"]), int(row["remote accesses"])) for row in rows),
                     sorted((task.number, "" if task.node is None else str(task.node), task.accesses()["local"], task.accesses()["remote"]) for task in passing), "CSV")
        expect_equal(found["shown"], "1-2", "the input")
    expect_equal(seen["link"][1], seen["link"][0], "the filter of the link")
    expect_equal([seen["link"][1][name] for name in ("nodes", "access")], ["1-2", "written"], "nodes of the filter")


def check_curves(seen, tasks, every, place):
    def steps(wanted):
        """By interval."""
        list_of = [0] * 40
        for task in tasks.values():
            for kind, node in task.needs:
                if node is not None and task.node is not None and wanted(task, kind, node):
                    list_of[int(place(task.end) // every)] += 1
        return list_of
    total, remote = steps(lambda *_: True), steps(lambda task, kind, node: node != task.node)
    found = seen["curves"]
    running, sums = 0, []
    for count in total:
        running += count
        sums.append(running)

    def same(curve, wanted, what):
        pairs = [(a, b) for a, b in zip(curve, wanted) if a is not None]
        expect(len(pairs) > 10 and all(abs(a - b) < 1e-9 for a, b in pairs), f"{what}: {pairs}")
    same(found[0], sums, "accesses()")
    expect_equal([a is not None for a in found[1]], [n > 0 for n in total], "where there is a share")
    same(found[1], [a / b if b else None for a, b in zip(remote, total)], "share of remote accesses")
    cell = next(cell for cell in seen["whole"]["cells"] if cell[:2] == [1, 2])
    expect_equal(max(a for a in found[2] if a is not None), cell[2], "reads(1, 2)")
    same(found[3], steps(lambda task, kind, node: is_written(kind) and node < 2), "d(writes(*, 0-1))")
    expect("d(remote()) / d(accesses())" in seen["ready"], f"curves to choose: {seen['ready']}")


def check_colors(seen, tasks):
    def of_node(node):
        return UNKNOWN if node < 0 else KINDS[node]

    def of_share(task, shades):
        share = task.share()
        return UNKNOWN if share is None else warmth(int(share * (shades - 1) + 0.5) / (shades - 1), 0.25)
    expect_colors(seen["colors"]["read_map"]["of"], tasks, lambda task: of_node(task.main(is_read)), "nodes of reads")
    expect_colors(seen["colors"]["write_map"]["of"], tasks, lambda task: of_node(task.main(is_written)), "nodes of writes")
    expect_colors(seen["colors"]["remote"]["of"], tasks, lambda task: of_share(task, 11), "remote accesses")
    expect_colors(seen["two"]["of"], tasks, lambda task: of_share(task, 2), "two shades")
    for mode in ("read_map", "write_map"):
        expect(all(f"node {node}" in seen["colors"][mode]["legend"] for node in range(NODES)), seen["colors"][mode]["legend"])
    expect("100 %" in seen["colors"]["remote"]["legend"] and "50" in seen["colors"]["remote"]["legend"], seen["colors"]["remote"]["legend"])
    expect_equal({mode: seen["colors"][mode]["again"] for mode in seen["colors"]}, {mode: mode for mode in seen["colors"]}, "modes in the link")


def check_shades(seen):
    for mode in ("duration", "task_duration"):
        found = seen["shades"][mode]
        expect_equal([found["usual"]["count"], found["usual"]["invalid"]], [33, "false"], f"{mode}: shades that nobody has chosen")
        wanted = {"least": 50000, "most": 200000, "count": 5, "invalid": "false"}
        expect_equal(found["chosen"], wanted, f"{mode}: shades")
        for wrong in ("one", "crossed"):
            expect_equal(found[wrong], {**wanted, "invalid": "true"}, f"{mode}: what makes no sense changes nothing")
    # 100 µs lie in the middle of the limits.
    expect_equal({tuple(color[:3]) for color in seen["shades"]["task_duration"]["colors"].values()}, {warmth(0.5, 0.12)}, "colours of tasks of 100 µs")
    expect_equal(seen["shades"]["link"][1], seen["shades"]["link"][0], "shades of the link")
    expect_equal(seen["shades"]["hostile"], {"remote": {"from": 0, "to": 0, "count": 4}}, "of a link that makes no sense")


@test
def nodes_that_a_kernel_told_are_in_the_page(context):
    programs = f"{context.options.build}/tests/process/programs"
    folder = context.work / "places-kernel"
    shutil.rmtree(folder, ignore_errors=True)
    settings = {"LD_PRELOAD": f"{programs}/fake_nodes.so:{context.options.library}", "LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events",
                "LIBPROFILE_TRACE_MEMORY": "16M", "LIBPROFILE_OUTPUT": str(folder), "OMP_NUM_THREADS": "2", "FAKE_NODES": ""}
    done = subprocess.run(["env", *(f"{key}={value}" for key, value in settings.items()), f"{programs}/task_pages_gcc", "80"], capture_output=True, text=True, timeout=60)
    expect(done.returncode == 0, f"the program ended with {done.returncode}: {done.stderr[-2000:]}")
    report, raw = reported(context, folder, "--tasks"), reported(context, folder, "--trace")
    number = next(entry["tasks"]["number"][task] for entry in raw["events"] for task in entry["tasks"]["dependences"]["task"])
    seen = context.look(context.view(folder), "places", json.dumps({"task": number, "sources": ["accesses()"], "every": 1000000}))
    expect_equal(seen["whole"]["cells"], [[row["task_node"], row["data_node"], row["reads"], row["writes"]] for row in report["node_accesses"]], "accesses by nodes")
    expect_equal(len(seen["whole"]["cells"]), 3, "nodes that the made-up kernel tells")
    tasks = tasks_of(raw, lambda processor: 0)
    expect_equal({one["number"]: [one["read"], one["written"], one["accesses"]] for one in seen["tasks"]},
                 {task.number: [task.main(is_read), task.main(is_written), task.accesses()] for task in tasks.values()}, "tasks")


@test
def without_nodes_of_pages_there_are_no_maps_of_them(context):
    folder = context.work / "no-places"
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([f"{context.options.build}/tests/unit/task_profile", folder, "seidel", "4", "4", "3"], check=True)
    seen = context.look(context.view(folder), "places", "{}")
    expect_equal([seen["modes"], seen["inputs"]], [["state", "duration", "type", "task_duration", "kind"], False], "what the page offers")
