#!/usr/bin/python3
"""`libprofile report --tasks` and `export --format dot` of made-up programs: what they say has the numbers of the graph, all forms agree, and
what cannot be answered is refused in one sentence.

Usage: tasks_command_test.py LIBPROFILE TASK_PROFILE [FOLDER_OF_THE_PYTHON_PACKAGE]"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TOOL, MAKE = Path(sys.argv[1]), Path(sys.argv[2])
ROWS, COLUMNS, THREADS = 6, 9, 3


def run(*arguments, code=0):
    result = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True)
    assert result.returncode == code, f"{arguments}: exit code {result.returncode}: {result.stderr}"
    return result.stdout if code == 0 else result.stderr


def made(folder, *arguments):
    subprocess.run([MAKE, folder, *map(str, arguments)], check=True)
    return folder


def refused(code, words, *arguments):
    message = run(*arguments, code=code)
    assert words in message and len(message.strip().splitlines()) <= 2, f"{arguments}: {message}"


def check_report(seidel):
    text, wide = run("report", seidel, "--tasks", "--ascii"), run("report", seidel, "--tasks", "--ascii", "--width", 200)
    report = json.loads(run("report", seidel, "--tasks", "--format", "json"))
    tasks = ROWS * COLUMNS
    words = " ".join(text.split())
    assert f"{tasks} tasks in iteration 40 of rank 0: work " in words and "of the span is in seidel+0x1000" in words, text
    depths = [row["tasks"] for row in report["depths"]]
    assert depths == [min(d + 1, ROWS, COLUMNS, ROWS + COLUMNS - 1 - d) for d in range(ROWS + COLUMNS - 1)], depths
    (rank,), (part,) = report["ranks"], report["stretches"]
    assert rank["tasks"] == part["tasks"] == tasks and rank["threads"] == THREADS and rank["incomplete"] == 0, rank
    assert (part["kind"], part["first"], part["last"]) == ("iteration", 40, 40), part
    assert rank["work"] == rank["outside_tasks"] + sum(row["time"] for row in report["depths"]), rank
    assert rank["work"] == rank["outside_tasks"] + sum(row["time"] for row in report["types"]), rank
    assert rank["span"] == sum(row["time"] for row in report["critical_steps"]) == sum(row["time"] for row in report["critical_paths"]), rank
    assert 10_000 * ROWS < rank["span"] < rank["work"] and abs(rank["parallelism"] - rank["work"] / rank["span"]) < 1e-9, rank
    # A row for each depth, with as many tasks as its bar is long.
    rows = re.findall(r"^ +(\d+) +(\d+) +\S+ (?:ns|us|ms|s) +(\d+) +(#+)$", wide, re.MULTILINE)
    assert [int(row[1]) for row in rows] == depths, wide
    assert [len(row[3]) for row in rows] == [round(30 * n / max(depths)) for n in depths], wide
    assert max(map(len, text.splitlines())) <= 100, text
    assert run("report", seidel, "--tasks", "--iterations", 40, "--rank", 0, "--format", "markdown").count("|") > 100


def check_dot(seidel, fork):
    dot = run("export", seidel, "--format", "dot", "--output", "-")
    tasks = set(re.findall(r"^    (r0t\d+) \[", dot, re.MULTILINE))
    assert len(tasks) == ROWS * COLUMNS, dot
    edges = re.findall(r"^    (r0t\d+) -> (r0t\d+);$", dot, re.MULTILINE)
    number = lambda i, j: f"r0t{i * COLUMNS + j + 1}"
    wanted = {(number(i, j), number(i + 1, j)) for i in range(ROWS - 1) for j in range(COLUMNS)}
    wanted |= {(number(i, j), number(i, j + 1)) for i in range(ROWS) for j in range(COLUMNS - 1)}
    assert set(edges) == wanted and len(edges) == len(wanted), dot
    some = run("export", seidel, "--format", "dot", "--output", "-", "--depth", "0:1")
    assert set(re.findall(r"^    (r0t\d+) \[", some, re.MULTILINE)) == {number(0, 0), number(0, 1), number(1, 0)}, some
    leaves = run("export", fork, "--format", "dot", "--output", "-", "--type", "0x1001")
    assert len(re.findall(r"^    r0t\d+ \[", leaves, re.MULTILINE)) == 2**5, leaves
    created = run("export", fork, "--format", "dot", "--output", "-").count("[style=dashed]")
    assert created == 2**6 - 2, created
    for text in (dot, some, leaves):
        assert text.count("{") == text.count("}") and text.count('"') % 2 == 0, text


def check_refusals(folder, seidel):
    none = made(folder / "none", "none", 2)
    refused(1, "there are no tasks of OpenMP in the events that were kept", "report", none, "--tasks")
    refused(1, "LIBPROFILE_TRACE=events records them", "export", none, "--format", "dot", "--output", "-")
    refused(1, "there are no tasks of OpenMP", "report", seidel, "--tasks", "--iterations", "3")
    refused(1, "has no iteration 60", "report", seidel, "--tasks", "--iterations", "60")
    refused(1, "there is no rank 7", "report", seidel, "--tasks", "--rank", "7")
    refused(1, "none of 54 tasks has this type or depth", "export", seidel, "--format", "dot", "--output", "-", "--type", "nothing")
    refused(2, "is no range", "export", seidel, "--format", "dot", "--depth", "9:3", "--output", "-")
    refused(2, "--depth is for --format dot", "export", seidel, "--format", "folded", "--depth", "1:3", "--output", "-")
    for options, words in (
        (["--metric", "bytes"], "--metric is for call paths"),
        (["--path", "main"], "--path chooses call paths"),
        (["--compare", "1:2", "3:4"], "--compare shows metrics"),
        (["--bottom-up"], "--bottom-up is another report"),
        (["--threads"], "--threads is not needed"),
    ):
        refused(2, words, "report", seidel, "--tasks", *options)


def check_python(seidel):
    sys.path.insert(0, sys.argv[3])
    import libprofile  # of the package that was built

    report = json.loads(run("report", seidel, "--tasks", "--format", "json"))
    profile = libprofile.open(str(seidel))
    for graph in (profile.tasks(0), profile.tasks(0, iterations=40)):
        (rank,) = report["ranks"]
        assert (graph.complete, graph.work_ns, graph.span_ns, graph.implicit_ns) == tuple(rank[key] for key in ("tasks", "work", "span", "outside_tasks"))
        assert graph.depths.tasks.tolist() == [row["tasks"] for row in report["depths"]]
        assert graph.critical_path.ns.tolist() == [row["time"] for row in report["critical_steps"]]
        assert [type.sum_ns for type in graph.types] == [row["time"] for row in report["types"]]
        assert graph.tasks.duration_ns.sum() == graph.depths.ns.sum() == graph.work_ns - graph.implicit_ns and not any(graph.missing.values())
        assert (graph.tasks.runs == 1).all() and (graph.runs.begin_ns == graph.tasks.begin_ns).all()
        assert all(graph.tasks.depth[before] < graph.tasks.depth[after] for before, after in zip(*graph.dependences))
    assert profile.tasks(0, iterations=3).complete == 0


with tempfile.TemporaryDirectory() as name:
    work = Path(name)
    wave = made(work / "seidel", "seidel", ROWS, COLUMNS, THREADS)
    forks = made(work / "fork", "fork", 5, 4)
    check_report(wave)
    check_dot(wave, forks)
    check_refusals(work, wave)
    if len(sys.argv) > 3:
        check_python(wave)
    print("tasks are reported and exported")
