#!/usr/bin/python3
"""Profiles of other tools in `libprofile report`, `export` and `view`: the numbers are those of the file, what it lacks is said, and what needs
iterations is refused in one sentence."""

import base64
import csv
import html.parser
import json
import zlib

from harness import expect, expect_equal, main, test

# rank: name: (calls, ms of its own)
TIMES = {0: {"main": (1, 5), "main => solve()": (2, 10), "main => solve() => MPI_Wait()": (4, 85), "main => f<int>(double)": (3, 20)},
         1: {"main": (1, 5), "main => solve()": (2, 70), "main => solve() => MPI_Wait()": (4, 5), "main => f<int>(double)": (3, 20)}}


def tau_profile(job, name="tau"):
    folder = job.folder / name
    folder.mkdir()
    for rank, rows in TIMES.items():
        lines = [f"{len(rows)} templated_functions_MULTI_TIME", "# Name Calls Subrs Excl Incl ProfileCalls #"]
        lines += [f'"{path}" {calls} 0 {ms * 1000} {ms * 1000} 0 GROUP="X"' for path, (calls, ms) in rows.items()]
        (folder / f"profile.{rank}.0.0").write_text("\n".join([*lines, "0 aggregates", ""]))
    return folder


def run(job, *command, code=0):
    result = job.run([job.tool, *command])
    expect_equal(result.code, code, f"exit code of {command}: {result.err}")
    return result


def report(job, place, *options):
    document = json.loads(run(job, "report", place, *options, "--format", "json").out)
    return {**document, **document["selection"]}


class Page(html.parser.HTMLParser):
    """The header and the columns of a page."""

    def __init__(self, text):
        super().__init__()
        self.parts, self.name = {}, None
        self.feed(text)
        self.header = json.loads(self.parts["header"])

    def handle_starttag(self, tag, attributes):
        self.name = dict(attributes).get("id") if tag == "script" else None

    def handle_data(self, data):
        if self.name:
            self.parts[self.name] = self.parts.get(self.name, "") + data

    def column(self, number):
        values, value, shift = [], 0, 0
        for byte in zlib.decompress(base64.b64decode(self.parts[f"column-{number}"])):
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                values.append(value)
                value, shift = 0, 0
        return values


@test
def a_report_of_another_tool_has_its_numbers_and_says_what_it_lacks(job):
    place = tau_profile(job)
    whole = report(job, place)
    expect_equal((whole["total"], whole["metric"], whole["unit"], whole["locations"]), (220_000_000, "time", "ns", 2), "the whole")
    functions = {row["name"]: row for row in whole["functions"]}
    expect_equal((functions["solve()"]["time"], functions["solve()"]["time_inclusive"]), (80_000_000, 170_000_000), "solve")
    expect_equal((functions["solve()"]["highest_rank"], functions["solve()"]["over_mean"]), (1, 0.75), "rank with most")
    paths = {row["name"]: row for row in whole["call_paths"]}
    expect_equal((paths["MPI_Wait()"]["time"], paths["MPI_Wait()"]["depth"]), (90_000_000, 3), "call path")
    text = run(job, "report", place, "--no-pager").out
    for words in ("no iterations, phases or source lines are read from it", "4 call paths, 2 ranks", "40.9 % MPI_Wait", "40.9 % in functions of MPI",
                  "main > solve > MPI_Wait, which has 40.9 %", "85.0 ms of its own on rank 0, 1.89 times the mean"):
        expect(words in " ".join(text.split()), f"{words!r} is not in {text}")
    expect_equal(report(job, place, "--rank", "1")["total"], 100_000_000, "one rank")
    visits = report(job, place, "--metric", "visits,time", "--top", "1")
    expect_equal((visits["total"], len(visits["functions"]), visits["functions"][0]["time"]), (20, 1, 90_000_000), "another metric")
    stacks = run(job, "report", job.write("stacks.txt", "main;f 12\nmain;g 4\n"), "--no-pager").out
    expect("no iterations, phases, numbers of calls, ranks or source lines" in " ".join(stacks.split()), "folded stacks lack ranks")


@test
def what_needs_iterations_is_refused_by_name_for_other_tools(job):
    place = tau_profile(job)
    for command, name in ((["report", "--iterations", "1:2"], "--iterations"), (["report", "--phase", "x"], "--phase"), (["report", "--follow"], "--follow"),
                          (["report", "--compare", "rank=0", "rest"], "--compare"), (["report", "--bottom-up"], "--bottom-up"),
                          (["export", "--format", "csv", "--iterations", "1"], "--iterations"), (["export", "--format", "csv", "--phase", "x"], "--phase"),
                          (["export", "--format", "chrome"], "--format chrome"), (["export", "--format", "dot"], "--format dot"),
                          (["report", "--tasks"], "--tasks"), (["view", "--serve"], "--serve"),
                          (["view", "--with-source"], "--with-source")):
        result = run(job, command[0], place, *command[1:], code=2)
        expect_equal(len(result.complaints), 1, f"lines of {command}")
        expect(f"{name} does not fit" in result.complaints[0] and "TAU" in result.complaints[0], f"{name} is not named")
    expect("no rank 7" in run(job, "report", place, "--rank", "7", code=1).complaints[0], "a rank that is not there")
    expect('no metric "x"' in run(job, "export", place, "--format", "csv", "--metric", "x", code=1).complaints[0], "a metric that is not there")


@test
def every_format_without_iterations_is_written_from_another_tool(job):
    place = tau_profile(job)
    own = {name.removesuffix("()"): row["time"] for name, row in ((row["name"], row) for row in report(job, place)["functions"])}
    for name in ("hpctoolkit", "caliper", "cubex", "speedscope", "folded", "pprof", "extrap", "csv"):
        output = job.folder / f"written.{name}"
        run(job, "export", place, "--format", name, "--output", output)
        if name == "extrap":
            lines = [json.loads(line) for line in output.read_text().splitlines()]
            expect_equal({line["params"]["p"] for line in lines}, {2}, "ranks")
            continue
        again = report(job, output)
        expect_equal(again["total"], 220_000_000, f"total of {name}")
        rows = {row["name"].removesuffix("()").replace("f<int>(double)", "f"): row["time"] for row in again["functions"] if row["time"]}
        expect_equal(rows, {key.replace("f<int>(double)", "f"): value for key, value in own.items() if value}, f"functions of {name}")
    with open(job.folder / "written.csv" / "values.csv", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["metric"] == "time"]
    expect_equal(sum(int(row["value"]) for row in rows if row["rank"] == "1"), 100_000_000, "rank 1")
    expect(not (job.folder / "written.csv" / "iterations.csv").exists(), "no table of iterations is made up")
    one = job.folder / "one.csv"
    run(job, "export", place, "--format", "csv", "--rank", "0", "--metric", "visits", "--output", one)
    expect_equal(report(job, one)["total"], 10, "chosen rank and metric")


@test
def the_page_of_another_tool_has_its_trees_and_no_iterations(job):
    place, output = tau_profile(job), job.folder / "page.html"
    run(job, "view", place, "--output", output)
    page = Page(output.read_text())
    header = page.header
    expect_equal([row["name"] for row in header["metrics"]], ["time", "visits"], "metrics")
    expect_equal([phase["kind"] for phase in header["phases"]], ["outside"], "phases")
    expect("maps" not in header["phases"][0] and header["strip"] is None and header["lines"] == [], "nothing is made up")
    counts, keys, values = (page.column(header["totals"][name]) for name in ("counts", "keys", "mantissas"))
    sums, at = {}, 0
    for rank, count in enumerate(counts):
        key = 0
        for i in range(at, at + count):
            key += keys[i]
            sums[header["nodes"]["name"][key // 2], header["columns"][key % 2], rank] = values[i]
        at += count
    expect_equal((sums["solve()", "time", 0], sums["solve()", "time", 1], sums["MPI_Wait()", "visits", 1]), (10_000_000, 70_000_000, 4), "cells")
    expect("phases" in header["job"]["losses"][0]["sentence"], "what it lacks")


main()
