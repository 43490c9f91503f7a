#!/usr/bin/python3
"""What tasks touch: chosen counters at the borders of runs, and the NUMA nodes of what they depend on (tests/programs/task_pages.c), for GCC's runtime and
for LLVM's."""

import json
import re
from collections import Counter, defaultdict

from harness import Skip, expect, expect_equal, main, read_again, test

EVENTS = {"LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "16M"}
BLOCKS, WARM_UP, PAUSES = 80, 200, 8


def programs(job):
    return [name for name in ("task_pages_gcc", "task_pages_clang") if (job.programs / name).exists()]


def measure(job, program, nodes=None, **options):
    """What the program says of its blocks, the report, the folder, and what was said on standard error. `nodes`: of FAKE_NODES; else the kernel is asked."""
    job.runs += 1
    output = job.folder / f"profile.{job.runs}"
    command = job.preloaded([job.programs / program, BLOCKS], {**EVENTS, "LIBPROFILE_OUTPUT": output, **options})
    if nodes is not None:
        command[1] = f"LD_PRELOAD={job.programs / 'fake_nodes.so'}:{job.library}"
    result = job.run(command, env={"OMP_NUM_THREADS": 2, "FAKE_NODES": nodes or ""})
    expect_equal(result.code, 0, f"{program}: exit code: {result.err}")
    blocks = [(int(address), int(pages)) for address, pages in re.findall(r"block (\d+) (\d+)", result.out)]
    expect_equal((len(blocks), f"sum {sum(pages for _, pages in blocks)}"), (BLOCKS, result.out.splitlines()[-1]), f"{program}: its blocks")
    printed = job.run([job.tool, "report", output, "--format", "json", "--trace"])
    expect_equal(printed.code, 0, f"exit code of the report: {printed.err}")
    return blocks, json.loads(printed.out), output, result.err


def graph_of(job, output):
    printed = job.run([job.tool, "report", output, "--tasks", "--format", "json"])
    expect_equal(printed.code, 0, f"exit code: {printed.err}")
    return json.loads(printed.out)


def numbers_of(report):
    """The numbers of all tasks, in the order in which thread 0 made them."""
    return next(entry for entry in report["events"] if entry["thread"] == 0)["tasks"]["number"]


def counted(report, counter):
    """By number of a task, by how much the counter grew in its runs."""
    found = defaultdict(int)
    for entry in report["events"]:
        counts = entry["counts"]
        for of, event, name, begin, end in zip(*(counts[column] for column in ("of", "event", "counter", "begin", "end"))):
            if of == "run" and name == counter:
                found[entry["tasks"]["runs"]["task"][event]] += end - begin
    return found


@test
def tasks_have_as_many_page_faults_as_pages_that_they_touch_first(job):
    """Without samples, whose handler may touch new pages, too."""
    for program in programs(job):
        blocks, report, output, _ = measure(job, program, LIBPROFILE_METRICS="page_faults,context_switches", LIBPROFILE_SAMPLE="off")
        numbers, faults = numbers_of(report), counted(report, "page_faults")
        expect_equal(len(numbers), WARM_UP + PAUSES + 2 * BLOCKS, f"{program}: tasks")
        expect_equal(set(faults), set(numbers), f"{program}: tasks with counters")
        writers = [faults[number] for number in numbers[WARM_UP:WARM_UP + BLOCKS]]
        expect_equal(writers, [pages for _, pages in blocks], f"{program}: page faults of tasks that touch new pages")
        expect_equal([faults[number] for number in numbers[-BLOCKS:]], [0] * BLOCKS, f"{program}: of those that only read them")
        switches = counted(report, "context_switches")
        expect(all(switches[number] >= 1 for number in numbers[:WARM_UP]), f"{program}: tasks that sleep: {switches}")


@test
def values_of_counters_only_grow_and_both_readers_have_the_same(job):
    for program in programs(job):
        _, report, output, _ = measure(job, program, LIBPROFILE_METRICS="page_faults,context_switches")
        again = {location["thread"]: location["events"] for location in read_again(job, output / "profile.lprof")["locations"]}
        for entry in report["events"]:
            counts = entry["counts"]
            rows = list(zip(counts["of"], counts["event"], counts["counter"], counts["begin"], counts["end"]))
            last = Counter()
            for of, event, name, begin, end in rows:
                expect(begin <= end and last[name] <= end, f"{program}: {name} from {begin} to {end} behind {last[name]}")
                last[name] = end
            names, mine, at = ["page_faults", "context_switches"], [], {"runs": 0, "intervals": 0}
            for part in again[entry["thread"]]["parts"]:
                mine += [(of[:-1], event + at[of], names[counter], begin, end) for of, event, counter, begin, end in part["counts"]]
                at = {of: at[of] + len(part[of]) for of in at}
            expect_equal(mine, rows, f"{program}: counters of the second reader")
            processors = [run["processor"] for part in again[entry["thread"]]["parts"] for run in part["runs"]]
            expect_equal(processors, entry["tasks"]["runs"]["processor"], f"{program}: processors of runs")
            expect_equal([interval[3] for part in again[entry["thread"]]["parts"] for interval in part["intervals"]], entry["processor"],
                         f"{program}: processors of intervals")
        expect_equal(sum(part["counts"] for entry in report["events"] for part in entry["parts"]),
                     sum(len(entry["counts"]["of"]) for entry in report["events"]), f"{program}: how many parts have")


@test
def without_a_choice_no_counters_are_there(job):
    for program in programs(job):
        _, report, _, _ = measure(job, program)
        expect(all(not entry["counts"]["of"] for entry in report["events"]), f"{program}: counters")


@test
def counters_of_waits_are_those_of_their_call_paths(job):
    """Of waits that last: there each one's counters are read, and nothing else reads them without samples."""
    for program in programs(job):
        _, report, _, _ = measure(job, program, LIBPROFILE_METRICS="context_switches", LIBPROFILE_SAMPLE="off")
        booked = defaultdict(int)
        for group in (report, report["threads"]):
            for phase in group["phases"]:
                for path in phase["call_paths"]:
                    booked[path["id"]] += sum(path["exclusive"].get("context_switches", [0]))
        found = defaultdict(int)
        for entry in report["events"]:
            for of, event, begin, end in zip(*(entry["counts"][column] for column in ("of", "event", "begin", "end"))):
                if of == "interval":
                    found[entry["path"][event]] += end - begin
        expect(all(0 <= value <= booked[path] for path, value in found.items()), f"{program}: of waits {dict(found)}, booked {dict(booked)}")


def node_of(address):
    """As tests/programs/fake_nodes.c has it."""
    return address // 4096 % 3


@test
def nodes_of_what_tasks_depend_on_are_those_that_the_kernel_tells(job):
    for program in programs(job):
        for mode in ("", "late"):
            blocks, report, output, said = measure(job, program, nodes=mode)
            found = {(address, node) for entry in report["events"] for address, node in
                     zip(entry["tasks"]["dependences"]["address"], entry["tasks"]["dependences"]["node"])}
            expect_equal(found, {(address, node_of(address)) for address, _ in blocks}, f"{program} {mode}: nodes")
            pages = report["pages"][0]
            expect_equal((pages["rank"], pages["error"], pages["unknown"], pages["left_out"]), (0, 0, 0, 0), f"{program} {mode}: pages")
            expect_equal(pages["asked"], said.count("asked"), f"{program} {mode}: how often the kernel was asked")
            ranges = [[one["begin"], one["end"], one["node"]] for one in pages["ranges"]]
            expect_equal([begin for begin, *_ in ranges], sorted(address for address, _ in blocks), f"{program} {mode}: each block's first page")
            again = read_again(job, output / "profile.lprof")["pages"]
            expect_equal([(one["rank"], one["ranges"], one["asked"]) for one in again], [(0, ranges, pages["asked"])], f"{program} {mode}: second reader")
            check_graph(program, blocks, graph_of(job, output))


def check_graph(program, blocks, graph):
    """Reads, writes and shares of tasks that all run on node 0."""
    nodes = Counter(node_of(address) for address, _ in blocks)
    # Compilers do not tell `out` from `inout`.
    found = {(row["task_node"], row["data_node"]): (row["reads"], row["writes"]) for row in graph["node_accesses"]}
    expect_equal(found, {(0, node): (2 * count, count) for node, count in nodes.items()}, f"{program}: accesses by nodes")
    remote = (BLOCKS - nodes[0]) / BLOCKS
    expect_equal([round(row["remote"], 9) for row in graph["ranks"]], [round(remote, 9)], f"{program}: remote accesses")
    threads = [(row["local"], row["remote"], row["unknown"]) for row in graph["thread_accesses"]]
    expect_equal([sum(column) for column in zip(*threads)], [2 * nodes[0], 2 * (BLOCKS - nodes[0]), 0], f"{program}: accesses by thread")


@test
def a_kernel_that_refuses_is_asked_once(job):
    for program in programs(job):
        _, report, output, said = measure(job, program, nodes="refuse")
        pages = report["pages"][0]
        expect_equal((pages["error"], pages["asked"], pages["ranges"]), (1, 1, []), f"{program}: {pages}")
        expect_equal(said.count("asked"), 1, f"{program}: {said}")
        graph = graph_of(job, output)
        expect_equal((graph["node_accesses"], graph["ranks"][0]["remote"]), ([], None), f"{program}: nothing is known of nodes")


@test
def the_kernels_own_nodes_are_those_of_memory_that_was_touched(job):
    for program in programs(job):
        blocks, report, _, _ = measure(job, program)
        pages = report["pages"][0]
        if pages["error"] != 0:
            raise Skip("the kernel does not tell on which nodes pages lie")
        expect_equal(pages["unknown"], 0, f"{program}: pages that are not known")
        nodes = {node for entry in report["events"] for node in entry["tasks"]["dependences"]["node"]}
        expect(None not in nodes, f"{program}: nodes {nodes}")


@test
def lines_through_durations_and_counters_equal_numpys(job):
    """Of the tasks that all touch new pages."""
    import numpy as np
    for program in programs(job):
        _, report, output, _ = measure(job, program, LIBPROFILE_METRICS="page_faults,context_switches", LIBPROFILE_SAMPLE="off")
        durations = defaultdict(int)
        for entry in report["events"]:
            runs = entry["tasks"]["runs"]
            for begin, end, task in zip(runs["begin_ns"], runs["end_ns"], runs["task"]):
                durations[task] += end - begin
        faults = counted(report, "page_faults")
        printed = job.run([job.tool, "report", output, "--correlations", "--format", "json"])
        expect_equal(printed.code, 0, f"{program}: exit code: {printed.err}")
        rows = [row for row in json.loads(printed.out)["correlations"] if row["of"] == "tasks" and row["amount"] == "page_faults"]
        writers = [row for row in rows if row["calls"] == BLOCKS and row["least"] >= 1]  # other tasks may have some, too
        expect_equal(len(writers), 1, f"{program}: types of tasks that all touch new pages: {rows}")
        row, own = writers[0], numbers_of(report)[WARM_UP:WARM_UP + BLOCKS]
        x, y = np.array([faults[task] for task in own], float), np.array([durations[task] for task in own], float)
        expect_equal((row["calls"], row["least"], row["most"], row["time"]), (len(own), x.min(), x.max(), y.sum()), f"{program}: number, least, most and time")
        (slope, intercept), covariance = np.polyfit(x, y, 1, cov=True)
        for name, value, scale in (("pearson", np.corrcoef(x, y)[0, 1], 1), ("slope_ns", slope, abs(slope)), ("intercept_ns", intercept, y.mean()),
                                   ("slope_error_ns", 1.96 * np.sqrt(covariance[0, 0]), abs(slope))):
            expect(abs(row[name] - value) <= 1e-6 * scale, f"{program}: {name} is {row[name]}, numpy: {value}")
        text = job.run([job.tool, "report", output, "--correlations", "--width", "200"]).out
        expect("page_faults" in text and row["function"] in text, text)


@test
def python_has_counters_and_nodes_of_the_report(job):
    from python_module import package
    libprofile = package(job)
    for program in programs(job):
        blocks, report, output, _ = measure(job, program, nodes="", LIBPROFILE_METRICS="page_faults")
        p = libprofile.open(output)
        for entry in report["events"]:
            events, counts = p.events(0, entry["thread"]), entry["counts"]
            expect_equal(events.counters, ["page_faults"], f"{program}: counters")
            expect_equal([[bool(value) for value in events.counts.of_run], *(getattr(events.counts, name).tolist() for name in ("event", "begin", "end"))],
                         [[of == "run" for of in counts["of"]], *(counts[name] for name in ("event", "begin", "end"))], f"{program}: values")
            expect_equal(events.dependences.node.tolist(), entry["tasks"]["dependences"]["node"], f"{program}: nodes")
            expect_equal(events.intervals.processor.tolist(), entry["processor"], f"{program}: processors")
        pages = p.pages(0)
        expect_equal(list(zip(pages.ranges.begin.tolist(), pages.ranges.node.tolist())), [(one["begin"], one["node"]) for one in report["pages"][0]["ranges"]],
                     f"{program}: pages")
        graph, tasks = graph_of(job, output), p.tasks(0)
        expect_equal(list(zip(*(column.tolist() for column in tasks.nodes))),
                     [(row["task_node"], row["data_node"], row["reads"], row["writes"]) for row in graph["node_accesses"]], f"{program}: accesses by nodes")
        expect_equal([int(column.sum()) for column in (tasks.tasks.local, tasks.tasks.remote, tasks.tasks.unknown)],
                     [sum(row[name] for row in graph["thread_accesses"]) for name in ("local", "remote", "unknown")], f"{program}: accesses of tasks")


if __name__ == "__main__":
    main()
