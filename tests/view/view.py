"""The page of `libprofile view`, in Chromium: its numbers are those of the report, it looks as it should, and it is fast.

Each function is one ctest test. A test is skipped, with a sentence, if something it needs is missing (node, npm, the packages of viewer/,
Chromium).
"""

import argparse
import contextlib
import csv
import filecmp
import http.client
import json
import math
import os
import random
import shutil
import signal
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path

import counters  # their tests are in the list, too
import large_page  # its tests are in the list, too
import machine
import overlays
import places
import timeline
import timeline_tasks
from expectations import expect, expect_equal, test, tests
from made_causes import put_causes

SKIPPED = 77


class Skip(Exception):
    pass


def run(command, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **more)
    expect(done.returncode == 0, f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


class Context:
    def __init__(self, options):
        self.options = options
        self.work = Path(options.build) / "view-tests"
        self.work.mkdir(parents=True, exist_ok=True)

    def modules(self):
        """A copy of viewer/ with its packages."""
        for program in ("node", "npm"):
            if shutil.which(program) is None:
                raise Skip(f"{program} is not installed; the built page in viewer/dist is used as it is")
        if int(run(["node", "--version"]).lstrip("v").split(".")[0]) < 20:
            raise Skip("node is older than version 20, which Vite needs; the built page in viewer/dist is used as it is")
        source, copy = Path(self.options.source) / "viewer", self.work / "viewer"
        copy.mkdir(exist_ok=True)
        shutil.rmtree(copy / "src", ignore_errors=True)
        shutil.copytree(source / "src", copy / "src")
        for name in ("package.json", "package-lock.json", "tsconfig.json", "vite.config.js"):
            shutil.copy(source / name, copy / name)
        installed, lock = copy / "installed.lock", copy / "package-lock.json"
        if not (copy / "node_modules").exists() or not installed.exists() or not filecmp.cmp(lock, installed, shallow=False):
            done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=copy, capture_output=True, text=True)
            if done.returncode != 0:
                raise Skip("npm ci cannot install the packages of viewer/package-lock.json: " + done.stderr.strip()[-300:])
            shutil.copy(lock, installed)
        return copy

    def look(self, page, action, *more, refused=False):
        """@param refused the page asks for what the server refuses"""
        chromium = shutil.which("chromium") or shutil.which("chromium-browser")
        if chromium is None:
            raise Skip("chromium is not installed")
        copy = self.modules()
        shots = self.work / "pictures"
        shots.mkdir(exist_ok=True)
        script = Path(self.options.source) / "tests/view/page.mjs"
        result = json.loads(run(["node", script, copy, chromium, page, shots, action, *more], timeout=280))
        problems = [p for p in result["problems"] if not (refused and "the server responded with a status of 400" in p)]
        expect_equal(problems, [], "what the page complained about")
        expect_equal(result["requests"], [], "what the page wanted from a network")
        return result

    def big(self, name, ranks, iterations, series=False):
        folder = self.work / name
        run([self.options.big_profile, folder, ranks, iterations, 16, *(["series"] if series else [])])
        return folder

    def recorded(self, name):
        """A profile from tests/recordings."""
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        packed = Path(self.options.source) / "tests/recordings" / (name + ".lprof.xz")
        with open(folder / "profile.lprof", "wb") as out:
            subprocess.run(["xz", "-dc", packed], stdout=out, check=True)
        return folder

    def view(self, folder, *more):
        page = self.work / (Path(folder).name + ".html")
        run([self.options.tool, "view", folder, "-o", page, *more])
        return page

    @contextlib.contextmanager
    def serve(self, folder, *more):
        """The process of libprofile view --serve, and its address."""
        process = subprocess.Popen([self.options.tool, "view", folder, "--serve", *more], stdout=subprocess.PIPE, text=True)
        try:
            address = process.stdout.readline().strip()
            expect(address.startswith("http://127.0.0.1:") and address.endswith("/"), f"the first line is {address!r}")
            yield process, address
        finally:
            process.kill()
            process.wait()

    def start(self, folder):
        """What comes before further settings and the program."""
        return ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--mca", "mpi_yield_when_idle", "1", "-n", "2", "env",
                f"LD_PRELOAD={self.options.library}", f"LIBPROFILE_OUTPUT={folder}"]

    def measured(self, name, *command, ended_well=True, sample="100Hz", trace=False, order=False):
        """The profile of an example on two ranks."""
        if not shutil.which("mpirun.openmpi"):
            raise Skip("mpirun.openmpi is not installed")
        folder = self.work / name
        shutil.rmtree(folder, ignore_errors=True)
        program = command[0] if Path(command[0]).is_absolute() else f"{self.options.examples}/{command[0]}.openmpi"
        done = subprocess.run([*self.start(folder), f"LIBPROFILE_SAMPLE={sample}", f"LIBPROFILE_TRACE={int(trace)}", f"LIBPROFILE_ORDER={int(order)}", program, *map(str, command[1:])], capture_output=True, text=True, timeout=120)
        expect((done.returncode == 0) == ended_well, f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
        return folder

    def report(self, folder):
        return json.loads(run([self.options.tool, "report", folder, "--format", "json", "--series"]))

    def part(self, folder, *choice):
        """Totals by metric in the report of a part, and its text."""
        command = [self.options.tool, "report", folder, *choice]
        return {row["metric"]: row["total"] for row in json.loads(run([*command, "--format", "json"]))["totals"]}, run(command)


@test
def the_committed_page_is_what_its_source_builds(context):
    copy = context.modules()
    run(["npm", "run", "build"], cwd=copy)
    built, committed = copy / "dist/view.html", Path(context.options.source) / "viewer/dist/view.html"
    expect(filecmp.cmp(built, committed, shallow=False),
           f"viewer/dist/view.html is older than viewer/src: run `npm ci && npm run build` in viewer/ and commit the result ({built} is the new one)")


@test
def the_viewer_source_is_laid_out_by_prettier(context):
    copy = context.modules()
    checked = subprocess.run(["npm", "run", "--silent", "check"], cwd=copy, capture_output=True, text=True)
    expect(checked.returncode == 0, f"run `npm ci && npm run format` in viewer/ and commit the result:\n{checked.stdout}{checked.stderr}")


def check_first_screen(context, folder, report, seen):
    """Its sentences are exactly those of the text report."""
    text = " ".join(run([context.options.tool, "report", folder, "--width", "100"]).split())
    expect(" ".join(seen["job"].split()) in text, f"the report does not say {seen['job']!r}")
    expect_equal([card["title"] for card in seen["cards"]], [answer["question"] for answer in report["answers"]], "questions")
    for card, answer in zip(seen["cards"], report["answers"]):
        for sentence in answer["answers"]:
            if answer["key"] == "time" and (sentence is answer["answers"][0] or sentence.startswith("most in: ")):  # a table and a list
                for part in sentence.replace("+-", "±").removeprefix("most in: ").removesuffix(" (mean over ranks)").split(", "):
                    expect(all(word in card["text"] for word in part.split(" ", 2)), f"the page does not say {part!r}, but {card['text']!r}")
                continue
            wanted = sentence[0].upper() + sentence[1:]
            expect(wanted in card["text"], f"the page does not say {wanted!r}, but {card['text']!r}")
            expect(" ".join(sentence.split()) in text, f"the text report does not say {sentence!r}")
    for loss in report["losses"]["sentences"]:
        if loss["group"] != "remark" and loss["kind"] != "samples_lost":
            expect(loss["sentence"][1:] in seen["warning"], f"the page does not say {loss['sentence']!r}, but {seen['warning']!r}")


def check_selections(context, folder, report, seen):
    """The page and the report say the same about a part."""
    if seen["iterations"] is None or len(report["job"]["wall_ns"]) < 2:
        return
    phase, selected = seen["iterations"]["name"], seen["selected"]
    if not report["threads"]["locations"]:
        for key, choice in {"phase": ["--phase", phase], "rank": ["--rank", "1"]}.items():
            for name, value in context.part(folder, *choice)[0].items():
                expect_equal(selected[key]["metrics"][name], value, f"{name} of the {key}")
    said = selected["range"]["says"].replace("\u202f", " ")
    totals, text = context.part(folder, "--phase", phase, "--iterations", "11:20")
    if "Measured" in said and "estimated from clusters" not in text:  # then the page has the exact times of iterations
        if "time" in seen["iterations"]["maps"]:
            expect_equal(sum(seen["iterations"]["maps"]["time"]["sum"][10:20]), totals["time"], "time of the range")
        number = said.split("of these iterations: ", 1)[1].split(" exactly", 1)[0]
        line = next(line for line in text.split("\nTotals")[1].splitlines() if line.startswith("  Total "))
        expect(f" {number} " in line, f"the page says {number!r} of the iterations, the report {line!r}")


def check_numbers(context, folder):
    report, seen = context.report(folder), context.look(context.view(folder), "numbers")
    totals = {}
    for group in (report, report["threads"]):
        for metric in group["metrics"]:
            totals[metric["name"]] = totals.get(metric["name"], 0) + sum(metric["total"])
    for name, value in totals.items():
        expect_equal(seen["whole"]["metrics"][name], value, f"metric {name} of the whole run")
    time = next(m["total"] for m in report["metrics"] if m["name"] == "time")
    expect_equal(seen["whole"]["ranks"], time, "time per rank")
    expect(seen["whole"]["exact"], "the whole run is an estimate")
    # The rows show rounded values, the tooltips all digits.
    rows = {row["title"].split(":")[0]: row["title"].splitlines()[-1].replace("\u202f", "").replace(",", "") for row in seen["tree"]}
    expect_equal(rows["Total"], f"{totals['time']}ns", "the tooltip of the metric Total")
    line = next(line for line in seen["csv"].splitlines() if line.split(",")[1] == "Total")
    expect_equal(int(float(line.split(",")[3])), totals["time"], "Total in the CSV")
    check_first_screen(context, folder, report, seen)
    check_selections(context, folder, report, seen)
    expect_equal("INCOMPLETE" in seen["badge"], not report["job"]["complete"], "INCOMPLETE")
    phases = {phase["name"]: phase for phase in report["phases"]}
    shown = seen["iterations"]
    if shown is None:
        return report, seen
    phase = phases[shown["name"]]
    times = phase["iteration_times"]
    columns = list(zip(*[t for t in times if t]))
    wall = shown["maps"]["iteration_time"]
    if len({len(t) for t in times if t}) == 1:
        expect_equal(wall["maximum"], [max(c) for c in columns], "maximum over ranks")
        expect_equal(wall["minimum"], [min(c) for c in columns], "minimum over ranks")
        expect_equal(wall["sum"], [sum(c) for c in columns], "sum over ranks")
        middle = [sorted(c) for c in columns]
        expect_equal(wall["median"], [(c[(len(c) - 1) // 2] + c[len(c) // 2]) / 2 for c in middle], "median over ranks")
    for rank, series in enumerate(phase.get("series") or []):
        for name, values in (series or {}).items():
            if name == "time":  # with the phases inside
                values = times[rank]
            if name in shown["maps"] and shown["maps"][name]["values"] and None not in values:
                expect_equal(shown["maps"][name]["values"][rank][:len(values)], values, f"{name} of rank {rank} by iteration")
    for rank, (names, profiles) in enumerate(zip(phase["cluster_names"], phase["cluster_profiles"], strict=True)):
        named = [[name, profile["size"]] for name, profile in zip(names, profiles)]
        expect_equal(sorted(shown["clusters"][rank]), sorted(named), f"names and sizes of the clusters of rank {rank}")
    for name, one in shown["maps"].items():
        expect_equal(one["outside"], 0, f"values of {name} whose colour stands for others")
    # A whole phase is exact. A part of its iterations is an estimate, close to what was measured.
    selected = seen["selected"]
    threads = next((p for p in report["threads"]["phases"] if p["name"] == shown["name"]), {"wall_inclusive_ns": []})
    expect_equal(selected["phase"]["metrics"]["time"], sum(phase["wall_inclusive_ns"]) + sum(threads["wall_inclusive_ns"]), "time of the phase")
    # Full recordings have a cluster per iteration, so that a range is exact as well.
    expect_equal("stimate" in selected["range"]["says"], not selected["range"]["exact"], "whether a range says that it is an estimate")
    expect_equal(selected["rank"]["metrics"]["time"] + selected["rest"]["metrics"]["time"], totals["time"], "rank 1 and the rest")
    expect_equal(seen["again"]["metrics"], selected["range"]["metrics"], "what the link leads to")
    if "time" in shown["maps"] and not report["threads"]["locations"]:
        truth = sum(shown["maps"]["time"]["sum"][10:20])
        if selected["range"]["exact"]:
            expect_equal(selected["range"]["metrics"]["time"], truth, "time of a range")
        expect(abs(selected["range"]["metrics"]["time"] - truth) <= 0.25 * truth, f"estimate {selected['range']['metrics']['time']} of {truth}")
    return report, seen


@test
def numbers_of_a_real_job_equal_the_report(context):
    for name in ("adaptive", "hydro"):
        check_numbers(context, context.recorded(name))


def spelled_as_in_the_report(context, numbers):
    return run([context.options.spelled_numbers], input="".join(f"{unit} {value!r}\n" for unit, value in numbers)).splitlines()


@test
def numbers_are_spelled_as_in_the_report(context):
    """In words and tables of the page: at the borders between units, ties, and random numbers."""
    choice = random.Random(7)
    numbers = [("ns", v) for v in (0, 1, 0.5, 1.5, 2.5, 999, 999.4, 999.5, 1000, 9995, 99950, 999499, 999500, 999499999, 999.5e6, 1e9, 9.995e9, 119.99e9, 120e9, 7199e9, 7200e9, 1e15)]
    numbers += [("bytes", v) for v in (0, 1, 999, 1000, 1023, 1024, 10240, 1023 * 1024, 2**30, 2**40, 2**53)]
    numbers += [("count", v) for v in (0, 1, 0.5, 0.25, 99.5, 99.95, 100.5, 999, 1000, 123456, 9999999, 1e7, 999.4e6, 999.5e6, 1e12, 2**53)]
    numbers += [("share", v) for v in (0, 1e-6, 0.00094, 0.00095, 0.0005, 0.0025, 0.01, 0.125, 0.9999, 1, 12.5)]
    for unit, most in (("ns", 40), ("bytes", 50), ("count", 50), ("share", 0)):
        numbers += [(unit, 2 ** choice.uniform(-12 if unit == "share" else 0, most)) for _ in range(200)]
        numbers += [(unit, float(round(2 ** choice.uniform(0, most)))) for _ in range(200) if unit != "share"]
    file = context.work / "numbers.json"
    file.write_text(json.dumps(numbers))
    seen = context.look(context.view(context.big("small", 12, 300)), "numbers", file)
    spelled = spelled_as_in_the_report(context, numbers)
    for number, page, text in zip(numbers, seen["spelled"], spelled, strict=True):
        expect_equal(page, text, f"the page's words for {number}")


@test
def numbers_of_a_synthetic_job_equal_the_report(context):
    folder = context.big("small", 12, 300)
    check_numbers(context, folder)


def asked(address, path, method="GET", headers=None):
    connection = http.client.HTTPConnection(address.split("/")[2], timeout=20)
    connection.request(method, path, headers=headers or {})
    response = connection.getresponse()
    return response.status, response.read()


@test
def only_who_has_the_token_is_served(context):
    folder = context.big("served", 3, 40)
    with context.serve(folder) as (process, address):
        token = address.split("/")[3]
        expect_equal(len(token), 32, "digits of the token")
        wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
        for path in ("/", "/index.html", "/favicon.ico", "/" + token, f"/{wrong}/", f"/{token}0/", f"/{token.upper()}x/", "//", f"/{wrong}/map?phase=0&metric=mpi",
                     f"/x/../{token}/", "/" + "a" * 5000 + "/"):
            expect_equal(asked(address, path)[0], 403, f"the status of {path[:60]} without the token")
        expect(b"synthetic" not in asked(address, "/")[1], "a refusal tells of the profile")
        status, page = asked(address, f"/{token}/")
        expect(status == 200 and b"synthetic" in page, f"the page has status {status}")
        port = address.split("/")[2].split(":")[1]
        for host, expected in {f"localhost:{port}": 200, "127.0.0.1": 200, "localhost:8888": 200, "[::1]:1": 200, "example.org": 421, f"example.org:{port}": 421,
                               "localhost.example.org": 421, "127.0.0.1.example.org": 421, "": 421, "[::1": 421, "127.0.0.2": 421}.items():
            status, text = asked(address, f"/{token}/", headers={"Host": host})
            expect((status, b"synthetic" in text) == (expected, expected == 200), f"the status for the host {host!r} is {status}")
        for path, expected in {"..": 404, "../../etc/passwd": 404, "profile.lprof": 404, "map": 400, "map?phase=99&metric=mpi": 400, "map?phase=-1&metric=mpi": 400,
                               "map?phase=0&metric=nonsense": 400, "row?phase=0&metric=mpi&rank=99": 400, "profile?phase=0&from=5&to=5": 400,
                               "profile?phase=0&from=x&to=5": 400, "profile?phase=0&from=0&to=99999999999999999999": 400}.items():
            expect_equal(asked(address, f"/{token}/{path}")[0], expected, f"the status of {path}")
        for method in ("POST", "PUT", "DELETE"):
            expect_equal(asked(address, f"/{token}/map?phase=0&metric=mpi", method)[0], 405, f"the status of {method}")
        # No other interface.
        port = int(address.split("/")[2].split(":")[1])
        listening = [line.split()[1] for name in ("tcp", "tcp6") if Path("/proc/net", name).exists()
                     for line in Path("/proc/net", name).read_text().splitlines()[1:] if line.split()[3] == "0A"]
        expect_equal([a for a in listening if a.endswith(f":{port:04X}")], [f"0100007F:{port:04X}"], "where it listens")
        # A silent connection does not keep others waiting.
        with contextlib.ExitStack() as silent:
            for _ in range(3):
                silent.enter_context(contextlib.closing(http.client.HTTPConnection(address.split("/")[2]))).connect()
            begin = time.monotonic()
            expect_equal(asked(address, f"/{token}/alive?page=x")[0], 204, "the status of alive")
            expect(time.monotonic() - begin < 4, "an idle connection keeps others waiting")
        process.send_signal(signal.SIGINT)
        expect_equal(process.wait(20), 0, "the exit code after Ctrl-C")


@test
def the_server_ends_with_its_page(context):
    folder = context.big("served", 3, 40)
    with context.serve(folder) as (process, address):
        path = "/" + address.split("/")[3] + "/"
        for name in ("alive?page=a", "alive?page=b"):
            expect_equal(asked(address, path + name)[0], 204, "the status of " + name)
        asked(address, path + "closed?page=a", "POST")
        time.sleep(12)
        expect_equal(process.poll(), None, "whether it ended while one of two pages was open")
        asked(address, path + "closed?page=b", "POST")
        expect_equal(process.wait(30), 0, "the exit code after the page was closed")
    with context.serve(folder, "--idle", "2") as (process, address):
        expect_equal(process.wait(20), 0, "the exit code when no page was opened")


@test
def a_served_page_gets_what_is_not_in_it(context):
    folder = context.measured("hydro-served", "hydro", 120, 8)
    report = context.report(folder)
    with context.serve(folder) as (process, address):
        seen = context.look(address, "served")
        expect_equal(seen["before"], ["iteration_time"], "the maps in the page")
        phase = next(p for p in report["phases"] if p["name"] == seen["mpi"]["name"])
        series = [s["mpi"] for s in phase["series"]]
        expect_equal(seen["mpi"]["sum"], [sum(c) for c in zip(*series)], "MPI time by iteration, over ranks")
        expect_equal(seen["mpi"]["rank"], series[1], "MPI time of rank 1")
        expect(seen["timeline"]["covered"] > 0.3, f"the timeline is empty: {seen['timeline']}")
        out = context.work / "served.csv"
        for key, options in {"range": [], "rank": ["--rank", "1"]}.items():
            shutil.rmtree(out, ignore_errors=True)
            run([context.options.tool, "export", folder, "--format", "csv", "--metric", "all", "--phase", phase["name"], "--iterations", "11:20", *options, "--output", out])
            totals = {}
            for row in csv.DictReader(open(out / "values.csv")):
                totals[row["metric"]] = totals.get(row["metric"], 0) + int(row["value"])
            for name, value in totals.items():
                expect_equal(seen[key]["metrics"][name], value, f"{name} of iterations 10 to 19, {key}")
            expect_equal(seen[key]["map"], "mpi", "the map of a link")
        expect_equal(seen["range"]["metrics"]["mpi"], sum(sum(s[10:20]) for s in series), "MPI time of the range")
        # The page says the sum of the errors that the report prints, in the same format.
        rows = json.loads(run([context.options.tool, "report", folder, "--phase", phase["name"], "--iterations", "11:20", "--metric", "mpi", "--format", "json"]))["call_paths"]
        bound = sum(row["error"] for row in rows if row["kind"] == "mpi" and row["error"] is not None)
        expect_equal(seen["range"]["bound"], bound, "error bound of the range")
        spelled = run([context.options.spelled_numbers], input=f"ns {bound}\n").strip()
        expect(f"±{spelled} in all" in seen["range"]["says"].replace("\u202f", " "), f"the page says {seen['range']['says']!r}, not {spelled!r}")
        expect_equal(seen["others"]["metrics"]["mpi"] + seen["range"]["metrics"]["mpi"], sum(map(sum, series)), "MPI time of the range and of the others")
        # Each call path of MPI has a bound. The bound of an iteration is absolute: it is wide for call paths with very little time.
        for name, one in seen["range"]["functions"].items():
            expect(one["error"] < 1e18, f"{name} has no error bound")
        largest = max(seen["range"]["functions"].values(), key=lambda one: one["value"])
        expect(largest["error"] < 0.5 * largest["value"], f"the MPI function with most time: {largest}")
        expect("sums are exact" in seen["range"]["says"], f"the page says {seen['range']['says']!r}")
        expect_equal(process.wait(40), 0, "the exit code after the browser was closed")


def rows_from_below(context, folder, *choice):
    """Own and inclusive time by the names from a function up to its outermost caller, as the report has them."""
    rows, chain = {}, []
    for row in json.loads(run([context.options.tool, "report", folder, "--bottom-up", "--threads", "--format", "json", *choice]))["bottom_up"]:
        del chain[row["depth"]:]
        chain.append(f"{row['kind']} {row['name']}")
        rows[" < ".join(chain)] = [row["time"], row["time_inclusive"]]
    return rows


@test
def functions_and_their_callers_are_those_of_the_report(context):
    for name in ("adaptive", "hydro"):
        folder = context.recorded(name)
        report, seen = context.report(folder), context.look(context.view(folder), "bottom_up")
        total = seen["whole"]["total"]
        expect_equal(sum(own for chain, (own, _) in seen["whole"]["rows"].items() if " < " not in chain), total, "own time of all functions")
        phase = max((p for p in report["phases"] if p["kind"] == "iterations"), key=lambda p: sum(p["wall_inclusive_ns"]))["name"]
        for part, choice in (("whole", []), ("rank", ["--rank", "1"]), ("phase", ["--phase", phase])):
            expect_equal(seen[part]["rows"], rows_from_below(context, folder, *choice), f"rows of the {part}")
        expect_equal((seen["focused"], seen["hidden"]), ("function-tree", 0), "the tree that keys go to, and the height of the other one")
        shown = seen["shown"]
        expect_equal([row["level"] for row in shown[:2]], [1, 2], "levels of the first function and its caller")
        functions = [row["value"] for row in shown if row["level"] == 1]
        expect(functions == sorted(functions, reverse=True) and functions[0] == max(own for own, _ in seen["whole"]["rows"].values()), f"order of the functions: {functions}")
        expect_equal(len(set(seen["selected"].values())), 1, f"the own value of what is selected, over its ranks: {seen['selected']}")
        expect_equal(seen["again"], seen["link"], "what the link leads to")
        lines = list(csv.reader(seen["csv"].splitlines()))
        expect_equal(lines[0][3:5], ["exclusive [ns]", "inclusive [ns]"], "head of the CSV")
        expect_equal(sum(float(line[3]) for line in lines[1:] if line[0] == "0"), total, "own time of the functions in the CSV")


@test
def errors_of_sampled_times_are_those_of_the_report(context):
    """The page calculates them in TypeScript, the report in C++."""
    folder = context.measured("hydro-errors", "hydro", 120, 12, sample="2kHz")
    phase = next(p for p in context.report(folder)["phases"] if p["name"] == "timestep")["name"]
    choices = {"whole": [], "rank": ["--rank", "1"], "phase": ["--phase", phase], "range": ["--phase", phase, "--iterations", "11:20"],
               "long": ["--phase", phase, "--iterations", "6:60", "--rank", "1"], "one": ["--phase", phase, "--iterations", "31"]}

    def is_near(value, wanted, part=0.003, rest=0):  # the page has rounded numbers of samples and times of iterations
        return abs(value - wanted) <= part * wanted + rest + 50

    def check(seen, served):
        for part, choice in choices.items():
            chain, compared = [], 0
            rows = json.loads(run([context.options.tool, "report", folder, "--bottom-up", "--threads", "--format", "json", *choice]))["bottom_up"]
            for row in rows:
                del chain[row["depth"]:]
                chain.append(f"{row['kind']} {row['name']}")
                own, error = seen[part].get(" < ".join(chain), (0, 0))
                is_sampled = chain[0].split()[0] in ("frame", "inlined")
                if row["error"] is None or row["time"] == 0 or (error < 0 and not is_sampled):
                    continue  # a page does not always know how far MPI calls of some iterations may be off
                if error == 0 and not is_sampled:  # whole clusters are exact; the report adds up single iterations, each with its bound
                    expect(abs(own - row["time"]) <= row["error"] + 50, f"time of {chain} in the {part}: {own}, in the report {row['time']} ± {row['error']}")
                    continue
                compared += 1 if is_sampled and row["error"] > 0 else 0
                expect(is_near(error, row["error"]), f"error of {chain} in the {part}, served: {served}: {error}, in the report {row['error']}")
                what = f"time of {chain} in the {part}, served: {served}: {own}, in the report {row['time']}"
                # In a file the times of some iterations are estimates: means of clusters, times one ratio for all of them.
                expect(is_near(own, row["time"], 0) if served else is_near(own, row["time"], 0.01, row["error"]), what)
            expect(compared >= 5, f"only {compared} sampled rows in the {part}")
        rows = json.loads(run([context.options.tool, "report", folder, "--threads", "--phase", phase, "--compare", "11:20", "41:60", "--format", "json"]))["call_paths"]
        errors = [(row["path"], row["error"], seen["compared"][row["path"]]) for row in rows if row["path"] in seen["compared"]]
        known = [(path, wanted, error) for path, wanted, error in errors if wanted is not None and error >= 0]
        expect(len(known) >= 5, f"only {len(known)} differences are known, served: {served}")
        # Where samples hit a path on one side only, the page may not know the other side's error (docs/view.md).
        far = [(path, wanted, error) for path, wanted, error in known if not is_near(error, wanted)]
        expect(len(far) <= len(known) / 5, f"errors of differences, served: {served}: {far}")
        expect("95 %" in seen["said"].replace("\u202f", " ") and "may be chance" in seen["said"], f"the page says {seen['said']!r}")
        expect(any(seen["ranks"]), "no errors of ranks")

    check(context.look(context.view(folder), "errors"), False)
    with context.serve(folder) as (_, address):
        check(context.look(address, "errors"), True)


@test
def the_lines_of_a_function_are_those_of_the_report(context):
    folder = context.measured("hydro-lines", "hydro", 120, 12)

    def lines(name, *choice, metric="time"):
        found = json.loads(run([context.options.tool, "report", folder, "--source", name, "--threads", "--metric", metric, "--format", "json", *choice]))
        return found["selection"]["function"], [[row["line"], row[f"{metric}_inclusive"], row[metric], row["source"] or ""] for row in found["lines"]]

    def expect_lines(seen, wanted, what, with_text=True):
        function, rows = wanted
        expect_equal((seen["function"], seen["lines"]), (function, [[*row[:3], row[3] if with_text else ""] for row in rows]), what)
        expect_equal(seen["plain"] > 0, with_text, f"lines without values of {what}")

    phase = next(p for p in context.report(folder)["phases"] if p["name"] == "timestep")["name"]
    choices = {"whole": {}, "range": {"choice": ["--phase", phase, "--iterations", "11:20"]}, "rank": {"choice": ["--rank", "1"]}, "others": {"choice": ["--rank", "0"]}, "mpi": {"metric": "mpi"}}
    with context.serve(folder) as (_, address):
        seen = context.look(address, "lines")
        for part, options in choices.items():
            for name, shown in seen[part].items():
                expect_lines(shown, lines(name, *options.get("choice", []), metric=options.get("metric", "time")), f"lines of {name}, {part}, served")
        expect("all other iterations" in seen["rest"]["says"], f"what is said of all other iterations: {seen['rest']['says']!r}")
        expect_equal(seen["focused"], "source", "what 5 leads to")
    for options, with_text in (([], False), (["--with-source"], True)):
        seen = context.look(context.view(folder, *options), "lines")
        for part in choices:  # a file has those of the whole run, and says so
            expect_lines(seen[part]["advance"], lines("advance"), f"lines of advance, {part}, file with {options}", with_text)
            expect_equal("of the whole run" in seen[part]["advance"]["says"], part != "whole", f"what is said of {part}: {seen[part]['advance']['says']!r}")
        expect_equal("shows the source" in seen["whole"]["advance"]["says"], not with_text, "how to see the source")
        expect("Select a function" in seen["nothing"], f"what is said without a function: {seen['nothing']!r}")
        expect_equal(*seen["of_call"], "the function of a call")
    # Another place, and none.
    page = context.view(folder, "--with-source", "--source-map", f"{Path(context.options.source) / 'examples'}=/nowhere").read_text()
    expect("exchange_pressure(block);" in page, "the recorded path after a map without the file")
    expect("exchange_pressure(block);" not in context.view(folder).read_text(), "source in a file that nobody asked for")


@test
def incomplete_profiles_say_so(context):
    folder = context.big("damaged", 4, 100)
    file = folder / "profile.lprof"
    data = bytearray(file.read_bytes())
    data[len(data) - 300] ^= 0xFF
    file.write_bytes(bytes(data))
    _, seen = check_numbers(context, folder)
    expect("INCOMPLETE" in seen["badge"] and "incomplete" in seen["warning"], f"the page says {seen['warning']!r}")


@test
def what_a_killed_job_does_not_tell_is_not_known(context):
    """In the file and served: the journal has the time of these iterations, but not their inner phases."""
    program = Path(context.options.build) / "tests/process/programs/nested.openmpi"
    if not program.exists():
        raise Skip(f"{program} is not built")
    folder = context.measured("killed", program, "20", "12", ended_well=False)
    def check(seen):
        for name, values in (("selected", 1), ("compared", 2)):
            rows = {row[0].lstrip("▸▾"): row[1:] for row in seen[name]["rows"]}
            expect(not any("not known" in cell for cell in rows["Total"]), f"the time: {rows['Total']}")
            for metric in ("Execution", "Call path visits"):
                known = [cell for cell in rows.get(metric, [])[:values] if "not known" not in cell]
                expect(not known, f"{metric} {name}: {rows.get(metric)}")
            expect("is not known" in seen[name]["says"] and "Exact: sums" not in seen[name]["says"], f"the page says {seen[name]['says']!r}")
        for map, said in seen["maps"].items():
            expect_equal(["not known" in text for text in said], [map not in ("iteration_time", "time")] * 2, f"what is said of {map}: {said}")
    check(context.look(context.view(folder), "untold"))
    with context.serve(folder) as (_, address):
        check(context.look(address, "untold"))


def maximal_runs(scores):
    """All maximal scoring subsequences by their definition: the largest one, then those on its left and on its right."""
    found, parts = [], [(0, len(scores))]
    while parts:
        first, end = parts.pop()
        best, total, start = (0, 0, 0), 0, first
        for i in range(first, end):
            if total <= 0:
                total, start = 0, i
            total += scores[i]
            if total > best[0]:
                best = (total, start, i + 1)
        if best[0] > 0:
            found.append(best[1:])
            parts += [(first, best[1]), (best[2], end)]
    return found


def hottest_runs(values, medians):
    """Rank, begin, end and excess of the runs in which a rank takes longer, the hottest first."""
    runs = []
    for rank, row in enumerate(values):
        more = [value - median for value, median in zip(row, medians)]
        for begin, end in maximal_runs([m - 0.03 * median for m, median in zip(more, medians)]):
            excess = sum(more[begin:end])
            if excess > 0.002 * sum(medians):
                runs.append((rank, begin, end, excess))
    return sorted(runs, key=lambda run: -run[3])[:5]


def check_deviations(context, folder):
    report = context.report(folder)
    phase = max((p for p in report["phases"] if p["kind"] == "iterations"), key=lambda p: sum(p["wall_inclusive_ns"]))
    values = {"iteration_time": phase["iteration_times"], **({"mpi": [series["mpi"] for series in phase["series"]]} if any(phase.get("series") or []) else {})}
    ranks, iterations, choice = len(values["iteration_time"]), len(values["iteration_time"][0]), random.Random(5)
    cells = [(choice.randrange(ranks), choice.randrange(iterations)) for _ in range(60)] + [(13 % ranks, 7), (0, 0), (ranks - 1, iterations - 1)]
    file = context.work / "cells.json"
    file.write_text(json.dumps(cells))
    seen = context.look(context.view(folder), "deviations", file)
    expect_equal(seen["before"], [None, True], "deviations and their list, before they are chosen")
    expect_equal(seen["focused"], "measure", "what follows the list of metrics")
    for name, rows in values.items():
        shown = seen["metrics"][name]
        medians = [statistics.median(column) for column in zip(*rows)]
        expect(shown["hottest_is_seen"], f"{name}: the hottest cell vanishes among others in its pixel")
        wanted = hottest_runs(rows, medians)
        is_exact = all(run["error"] == 0 for run in shown["runs"]) and not any("≈" in said for said in shown["said"])
        expect_equal(is_exact, ranks * iterations <= 600_000, f"{name}: whether the page has exact values")
        if is_exact:
            expect_equal([(run["rank"], run["from"], run["to"]) for run in shown["runs"]], [run[:3] for run in wanted], f"{name}: the hottest runs")
        for run in shown["runs"]:
            row, part = rows[run["rank"]], range(run["from"], run["to"])
            excess = sum(row[i] - medians[i] for i in part)
            expect(abs(run["excess"] - excess) <= run["error"] + 1e-6 * abs(excess), f"{name}: {run}, but it is {excess}")
            expect(abs(run["median"] - sum(medians[i] for i in part)) <= 1, f"{name}: the median rank of {run}")
        # Words of the list and under the pointer, in the report's spelling.
        numbers, sentences = [], []
        for rank, i in cells:
            value, median = rows[rank][i], medians[i]
            numbers += [("ns", value), ("ns", abs(value - median)), ("share", abs(value - median) / median), ("ns", median)]
        for run in shown["runs"]:
            numbers += [("ns", run["excess"]), ("share", run["excess"] / run["median"]), ("ns", run["median"])]
        spelled = iter(spelled_as_in_the_report(context, numbers))
        for (rank, i), said, level in zip(cells, shown["said"], shown["levels"], strict=True):
            value, off, share, median = (next(spelled) for _ in range(4))
            deviation = rows[rank][i] - medians[i]
            if not is_exact:  # the truth lies within what the tooltip says of its step
                expect(f"median rank's {median}" in said, f"{name}: {said!r}")
                continue
            wanted_level = 128 + math.floor(127 * max(-1, min(1, deviation / medians[i] / shown["limit"])) + 0.5)
            expect_equal(level, wanted_level, f"{name}: level of rank {rank}, iteration {i + 1}")
            words = f"as the median rank's {median}" if deviation == 0 else f"{off} ({share}) {'above' if deviation > 0 else 'below'} the median rank's {median}"
            expect(f" {value} (" in said and words in said, f"{name}: {said!r} does not say {value!r} and {words!r}")
        for run, text in zip(shown["runs"], shown["listed"], strict=True):
            excess, share, median = (next(spelled) for _ in range(3))
            first, last = f"{run['from'] + 1:,}", f"{run['to']:,}"
            iterations_of = f"iteration {last}" if run["to"] - run["from"] == 1 else f"iterations {first}–{last} "
            for part in (f"+{excess}", f"rank {run['rank']} ", iterations_of, f"{share} above the median rank's {median}"):
                expect(part in text, f"{name}: {text!r} does not say {part!r}")
    # Functions of runs over all iterations, from the exact values of the phase. The page compares with up to 64 ranks.
    step = -(-ranks // 64)
    for run, function in zip(seen["metrics"]["iteration_time"]["runs"], seen["metrics"]["iteration_time"]["functions"]):
        if (run["from"], run["to"]) == (0, iterations):
            more = {}
            for path in phase["call_paths"]:
                if path["kind"] in ("frame", "inlined", "mpi") and (times := path["exclusive"].get("time")):
                    more[path["name"]] = more.get(path["name"], 0) + times[run["rank"]] - statistics.mean(times[::step])
            expect_equal(function, max(more, key=more.get), f"the function of {run}")
    last = list(seen["metrics"].values())[-1]
    if last["runs"]:
        hottest = last["runs"][0]
        expect_equal([seen["selected"][key] for key in ("from", "to", "ranks")], [hottest["from"], hottest["to"], [hottest["rank"], hottest["rank"] + 1]], "what a click selects")
        expect_equal(seen["pressed"], ["true"] + ["false"] * (len(last["runs"]) - 1), "which run of the list is selected")
    expect("show=deviation" in seen["link"], f"the link is {seen['link']!r}")
    expect_equal(seen["again"], last, "what the link leads to")
    if "counts" in seen:
        expect_equal(seen["counts"], [None, True, True], "a map of counts: deviations, the choice is off, the list is away")
    return seen


@test
def deviations_from_the_median_rank_are_those_of_the_report(context):
    """Of a page with exact values, one that has steps only, and a real job."""
    for folder in (context.big("deviations", 120, 200, series=True), context.big("deviations-in-steps", 310, 2000, series=True)):
        seen = check_deviations(context, folder)
        for name, shown in seen["metrics"].items():
            expect(shown["runs"][0]["rank"] % 97 == 13 and "on node" in shown["listed"][0], f"{name}: these ranks are slower by 30 %, but the first one is {shown['listed'][0]!r}")
    check_deviations(context, context.recorded("crack"))


def strips_of(structure, iterations, window):
    """The strips that `libprofile structure` tells, as lists of (from, to, state), each window with the state of most of its iterations."""
    strips = {}
    for span in structure["strips"]:
        strips.setdefault(f"{span['fold']} {span['group']}", []).append((span["first"] - 1, span["last"], span["state"]))
    for name, strip in strips.items() if window > 1 else ():
        states = [state for first, last, state in strip for _ in range(first, last)]
        expect_equal(len(states), iterations, f"iterations of {name}")
        thin = []
        for first in range(0, iterations, window):
            inside = states[first : first + window]
            thin.append((first, min(first + window, iterations), max(inside, key=lambda state: (state is not None, inside.count(state), -inside.index(state)))))
        strips[name] = thin
    return strips


def joined(strip):
    """Spans in the same state as one."""
    spans = []
    for first, last, state, *_ in strip:
        if spans and spans[-1][2] == state:
            spans[-1][1] = last
        else:
            spans.append([first, last, state])
    return spans


def check_skew(structure, seen):
    """Of a point of several iterations, what is furthest apart in them."""
    window, rows, points = seen["window"], structure["iterations"], seen["points"]
    expect_equal(len(points), -(-len(rows) // window), "points")
    for p, point in enumerate(points):
        inside = rows[p * window : (p + 1) * window]
        expect_equal((point["from"], point["to"]), (p * window, min((p + 1) * window, seen["iterations"])), f"iterations of point {p}")
        for ours, theirs, rank, sign in (("behind", "behind", "most_behind", 1), ("ahead", "ahead", "most_ahead", -1)):
            most = max(inside, key=lambda row: sign * row[theirs])
            expect(abs(point[ours] - sign * most[theirs]) <= 1, f"{ours} in point {p}: {point} {most}")
            expect_equal(point["most" + ours.capitalize()], most[rank], f"rank that is most {ours} in point {p}")
        most = max(inside, key=lambda row: row["most_dissimilarity"])
        expect(abs(point["most"] - most["most_dissimilarity"]) <= 1e-4, f"calls without a partner in point {p}: {point} {most}")
        mean = sum(row["dissimilarity"] for row in inside) / len(inside)
        expect(abs(point["mean"] - mean) <= 1e-4, f"mean of calls without a partner in point {p}: {point} {mean}")
    expect(seen["skew"].startswith("up to iteration") and seen["skew"] in [point["text"] for point in points], f"under the pointer: {seen['skew']!r}")


def check_groups(context, folder):
    structure = json.loads(run([context.options.tool, "structure", folder, "--format", "json"]))
    seen = context.look(context.view(folder), "groups")
    shown = [group for group in structure["groups"] if group["level"] == structure["selection"]["level"]]
    several = len(shown) > 1
    expect_equal([(one["name"], one["count"]) for one in seen["groups"]],
                 [("all", structure["selection"]["processes"]), *((group["group"], group["processes"]) for group in shown[:12] if several)], "groups")
    expected = {name: joined(strip) for name, strip in strips_of(structure, seen["iterations"], seen["window"]).items()}
    expect_equal({name: joined(strip) for name, strip in seen["strips"].items() if not name.startswith("rank")}, expected, "strips")
    expect(any(name.startswith("rank") for name in seen["strips"]), "strips of single ranks")
    for name, strip in seen["strips"].items():
        expect_equal((strip[0][0], strip[-1][1]), (0, seen["iterations"]), f"begin and end of {name}")
        expect(all(ranks <= seen["groups"][0]["count"] for *_, ranks in strip), f"ranks of {name}")
    last = seen["groups"][-1]
    expect_equal(seen["lines"], [len(seen["groups"]), len(seen["groups"]) + len(last["rows"]), len(seen["groups"])], "strips before, with the last group unfolded, after")
    expect_equal(seen["open"], "true", "the unfolded group says so")
    middle = next(span for span in seen["strips"][f"dominating {last['name']}"] if span[1] > seen["iterations"] // 2)
    expect((middle[2] or "none") in seen["readout"], f"{middle[2]} in {seen['readout']!r}")
    check_skew(structure, seen)
    check_strip_keys(seen)
    expect_equal([(call["depth"], call["name"], call["class"]) for call in seen["merged"]],
                 [(call["depth"], call["name"], call["class"]) for call in structure.get("merged", [])], "merged calls")
    expect_equal([row[:1] + row[2:] for row in seen["merged_rows"]], [[call["name"], call["ranks"], call["times"]] for call in seen["merged"]], "rows of merged calls")
    pairs = lambda flat: [flat[i : i + 2] for i in range(0, len(flat), 2)]
    expect_equal((seen["clicked"]["from"], seen["clicked"]["to"], seen["clicked"]["ranks"]), (middle[0], middle[1], pairs(last["ranks"])), "what a click on a strip selects")
    if several:
        expect_equal((seen["chosen"]["from"], seen["chosen"]["to"], seen["chosen"]["ranks"]), (0, seen["iterations"], pairs(seen["groups"][1]["ranks"])), "a click in the list")
        for group, text in zip(shown, seen["listed"]):
            expect(group["part"] is None or group["part"].split(":")[0] in text, f"how {group['group']} parts: {text!r}")
    return seen


def check_strip_keys(seen):
    """What the arrow keys read is there, part by part, and Enter selects it."""
    keys, width = seen["keys"], 1200  # pixels that a strip has at least
    expect_equal((keys["order"][0], set(keys["order"][1:]), keys["live"]), (0, {-1}, "polite"), "strips in the order of Tab")
    first, second, back, end, below = keys["read"]
    strip = seen["strips"]["dominating all"]
    expect("all ranks, iteration" in first and (strip[0][2] or "none") in first, f"{strip[0]}: {first!r}")
    if len(strip) > 1 and strip[0][1] > seen["iterations"] / width:
        expect((strip[1][2] or "none") in second and back == first, f"{strip[:2]}: {second!r}, {back!r}")
    expect(f"{seen['iterations']:d}" in end and (strip[-1][2] or "none") in end, f"{strip[-1]}: {end!r}")
    expect(not below.startswith("all ranks"), f"the strip below: {below!r}")
    expect_equal(keys["entered"]["to"], seen["iterations"], "what Enter selects at the end")
    expect(keys["skew_order"] == 0 and keys["skew"].startswith("up to iteration"), f"how far ranks run apart: {keys['skew']!r}")
    names = ["all ranks", *(f"group {one['name']}" for one in seen["groups"][1:])]
    expect(seen["svg"].startswith("<svg") and all(f">{name}</text>" in seen["svg"] for name in names) and "Calls without a partner" in seen["svg"], f"the SVG has not all of {names}")
    expect_equal(seen["png"], "PNG", "the kind of the PNG file")
    if "other" in seen:
        expect(seen["other"][0] not in seen["phase"] and seen["other"][1].endswith(f"the graph above shows {seen['other'][0]}:"), f"the graph shows another phase: {seen['other']}")
    expect(seen["phase"].startswith("iterations of ") and "graph above" not in seen["phase"], f"the phase of the strips: {seen['phase']!r}")


@test
def groups_of_ranks_and_their_strips_are_those_of_structure(context):
    """Of a real job, of ranks that are alike over more iterations than a strip has points, and of a job whose ranks have different roles."""
    check_groups(context, context.recorded("crack"))
    expect("other" in check_groups(context, context.recorded("solver")), "the recorded solver has another phase with iterations")
    seen = check_groups(context, context.big("groups", 40, 9000, series=True))
    expect_equal(seen["window"], 3, "iterations in a point")
    several = check_groups(context, context.measured("sender", Path(context.options.build) / "tests/process/programs/lost_time.openmpi", "serial", 0, 200, order=True))
    expect_equal({row[1] for row in several["merged_rows"] if row[0] in ("MPI_Send", "MPI_Recv", "MPI_Sendrecv")}, {"not all", "all, equally often"}, "who calls what")
    expect(len(several["groups"]) > 1, f"groups of a sender and a receiver: {several['groups']}")


@test
def a_page_that_renews_itself_keeps_the_strips_as_they_are(context):
    """Fold, unfolded groups and the merged calls of a job that runs."""
    if not shutil.which("mpirun.openmpi"):
        raise Skip("mpirun.openmpi is not installed")
    folder = context.work / "live"
    shutil.rmtree(folder, ignore_errors=True)
    program = Path(context.options.build) / "tests/process/programs/lost_time.openmpi"
    job = subprocess.Popen([*context.start(folder), "LIBPROFILE_ORDER=1", "LIBPROFILE_CHECKPOINT=500ms", program, "serial", "0", "100000"],
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        with context.serve(folder, "--follow", "--every", "0.5") as (_, address):
            seen = context.look(address, "live")
    finally:
        job.terminate()
        job.wait(timeout=30)
    before, after = seen["before"], seen["after"]
    expect(after["iterations"] > before["iterations"] and after["end"] == after["iterations"], f"strips of a later state: {seen}")
    for key in ("lines", "fold", "choices", "merged", "focused"):
        expect_equal(after[key], before[key], f"{key} after the page renewed itself")
    expect_equal(before["focused"][0], "BUTTON", "what has the focus")
    for key in ("rests", "rested"):
        expect(seen[key].startswith("all ranks, iteration"), f"under a pointer that {key}: {seen[key]!r}")
    expect(seen["read"][1].startswith("rank ") and seen["read"][0][0] == "CANVAS", f"what keys read: {seen['read']}")
    expect_equal((seen["read_later"][0], seen["read_later"][1].split(",")[0]), (seen["read"][0], seen["read"][1].split(",")[0]), "what keys read, after the page renewed itself")
    expect_equal((before["lines"], before["fold"], before["choices"], before["merged"]), (4, "use", 3, True), "what was chosen")


@test
def regions_are_listed_and_have_their_own_iterations(context):
    """Named regions with counters, from the fuzzing corpus, which has real profiles."""
    folder = context.work / "regions"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    shutil.copy(Path(context.options.source) / "tests/fuzz/corpus/counters.lprof", folder / "profile.lprof")
    report, seen = context.report(folder), context.look(context.view(folder), "regions")
    rows = report["regions"]["rows"]
    expect_equal(seen["rows"][0], ["region", "visits", "time", "own time", "per visit", "page_faults", "perf::PAGE-FAULTS"], "head of the list")
    plain = [[cell.replace("\u202f", "").replace("\u2009", "").replace(",", "") for cell in row] for row in seen["rows"][1:]]
    expect_equal([(row[0].split()[:2], row[1], row[5], row[6]) for row in plain],
                 [([row["kind"], row["name"]], str(row["visits"]), str(row["counters"]["page_faults"]), str(row["counters"]["perf::PAGE-FAULTS"])) for row in rows], "regions")
    step = next(phase for phase in report["phases"] if phase["name"] == "step")
    known = {path["name"]: sum(path["exclusive"]["region_time"]) for path in step["call_paths"] if path["kind"] == "region"}
    expect(set(known) == {"whole", "outer", "touch", "still", "again"}, f"{known}")
    for name, value in known.items():
        drawn = seen["maps"][f"region:{name}"]
        expect(drawn["exact"], f"the iterations of {name} are estimates")
        expect_equal(sum(drawn["sum"]), value, f"time of {name} in all iterations")
    expect_equal(seen["chosen"], {"map": f"region:{rows[0]['name']}", "listed": f"region:{rows[0]['name']}"}, "what a click shows")


def numbers_in(ranges):
    """Of ranges [first, last] that count from 1, as numbers from 0."""
    return [i for first, last in ranges or [] for i in range(first - 1, last)]


@test
def causes_select_their_ranks_and_iterations(context):
    """A job without a trace and a cause put into its page: scattered ranks and iterations, a name that is no text."""
    page = context.view(context.big("causes", 8, 400, series=True))
    put_causes(page, [
        {"sentence": "Ranks <img src=x onerror=document.title=1> compute longer", "iterations": [3, 4, 10, 13, 300, 301], "ranks": [1, 2, 4, 6]},
        {"sentence": "All ranks are longer", "iterations": [100, 200], "ranks": []},
        {"sentence": "Rank 3 is longer over the whole run", "phase": -1, "iterations": [], "ranks": [3, 4]}], "libprofile report causes <b>")
    seen = context.look(page, "causes")
    scattered = {"iterations": [3, 10, 11, 12, 300], "ranks": [1, 4, 5]}
    expect_equal(seen["lists"], [scattered, {"iterations": list(range(100, 200)), "ranks": list(range(8))}, {"iterations": [], "ranks": [3]}], "what a click in the list selects")
    expect_equal(seen["marks"], seen["lists"], "what a click on a mark of the strip selects")
    expect_equal(seen["timeline"], scattered, "what a click on a mark of the timeline selects")
    expect_equal(seen["linked"], scattered, "what the link leads to")
    expect_equal(seen["sum"], seen["measured"], "the estimate's sum is that of the selected iterations")
    expect("img src=x" in seen["text"] and "libprofile report causes <b>" in seen["text"] and "Saves" in seen["text"], f"the cause says {seen['text']!r}")
    expect(seen["title"] != "1", "a sentence ran as a program")
    expect_equal(seen["expanded"], ["true", "false", "false"], "which cause is open")
    expect_equal(seen["closed"], {"iterations": [], "ranks": list(range(8))}, "the second click selects the whole run")
    expect("LIBPROFILE_TRACE=1" in seen["notes"], f"the notes say {seen['notes']!r}")
    expect(seen["paint"]["covered"] > 0.5 and seen["paint"]["colors"] > 2, f"the strip is empty: {seen['paint']}")
    expect_equal(seen["lit"], 0, "pixels of the strip that are bright and not selected, or the other way round")
    expect("rank 2" in seen["hover"] and "iteration ≈" in seen["hover"], f"under the pointer: {seen['hover']!r}")
    expect_equal((seen["keys"]["zoomed"], seen["keys"]["whole"]), (True, True), "zooming by keys")


@test
def the_strip_of_a_traced_job_sums_up_to_the_diagnosis(context):
    program = Path(context.options.build) / "tests/process/programs/lost_time.openmpi"
    if not program.exists():
        raise Skip(f"{program} is not built")
    folder = context.measured("traced", program, "range", "60", "400", sample="1kHz", trace=True)
    diagnosed = json.loads(run([context.options.tool, "diagnose", folder, "--format", "json"]))
    seen = context.look(context.view(folder), "strip")
    trace = diagnosed["trace"]
    close = lambda a, b: abs(a - b) <= 1e-6 * max(a, b) + 2
    # On the axis; the diagnosis takes the ranks' own clocks, some parts per million faster or slower.
    clocks = context.report(folder)["clocks"]
    own = [(e - b) * clock["own_ns"] / clock["axis_ns"] for b, e, clock in zip(seen["begin"], seen["end"], clocks)]
    expect(close(max(own), trace["run_ns"]), f"the longest rank: {own}, {trace['run_ns']}, clocks {clocks}")
    loops = {}
    for loop in trace["loops"]:
        loops.setdefault(loop["call_path"][-1], []).append(loop["ns"])
    drawn = {}
    for name, ns in zip(seen["names"], seen["times"]):
        if name.startswith("loop "):
            drawn.setdefault(name, []).append(ns)
    for name, list_ns in drawn.items():
        for ns in list_ns:
            expect(any(close(ns, known) for known in loops[name]), f"{name} takes {ns} in the strip, and {loops[name]} in the diagnosis")
    expect(len(drawn) > 0, "no loop is drawn")
    lost = {}
    for segment in trace["segments"]:
        for path in segment["paths"]:
            lost[" > ".join(path["call_path"])] = lost.get(" > ".join(path["call_path"]), 0) + 1
    expect_equal(len(seen["significant"]), len(lost), "significant call paths")
    expect_equal(sorted(map(sorted, seen["clusters"])), sorted(map(sorted, trace["clusters"])), "clusters")
    count = {one["ranks"] and tuple(one["ranks"]): one for one in diagnosed["diagnoses"]}
    expect_equal([one["sentence"] for one in diagnosed["diagnoses"]], [one["sentence"] for one in seen["causes"]], "causes")
    for cause, one in zip(diagnosed["diagnoses"], seen["causes"]):
        expect_equal(one["selected"]["ranks"], cause["ranks"] or [0, 1], f"ranks of {cause['sentence']}")
        if cause["iterations"] is not None:
            expect_equal(one["selected"]["iterations"], numbers_in(cause["iterations"]), f"iterations of {cause['sentence']}")
    expect((1,) in count, f"the planted cause is not there: {[c['sentence'] for c in diagnosed['diagnoses']]}")
    # Each depth has colours, a click selects what is under the pointer, and the link keeps all of it.
    expect(all(paint["covered"] > 0.5 for paint in seen["depths"]), f"depths: {seen['depths']}")
    expect_equal(seen["clicked"]["node"], seen["clicked"]["wanted"], "the call path that a click selects")
    expect_equal(seen["clicked"]["ranks"], [1], "the rank that a click selects")
    expect_equal(seen["again"], seen["before"], "depth, rows, time and cause after the link was opened")


@test
def long_traces_make_a_small_page(context):
    """64 ranks with 65,536 samples each; names of functions stay text."""
    page = context.work / "long.html"
    measured = json.loads(run([context.options.traced_page, context.big("long", 64, 500), page, 65536]))
    print(json.dumps(measured))
    expect(measured["bytes"] < 3e6, f"the page has {measured['bytes']} bytes")
    seen = context.look(page, "strip")
    expect_equal(sorted(map(len, seen["clusters"])), [32, 32], "clusters of ranks")
    expect_equal(sorted(map(sorted, seen["clusters"])), [list(range(0, 64, 2)), list(range(1, 64, 2))], "clusters of ranks")
    waited = sum(ns for name, ns in zip(seen["names"], seen["times"]) if name == "MPI_Allreduce")
    expect(abs(waited - measured["waited"]) < 1e-3 * waited, f"the strip has {waited} ns in MPI_Allreduce, the traces {measured['waited']}")
    expect(any('work&amp;"' in name for name in seen["names"]), f"{seen['names'][:10]}")
    expect_equal(seen["heights"], [1, 1], "heights of the clusters")


@test
def names_cannot_break_out_of_the_page(context):
    """A name in a profile may be anything. It stays text."""
    folder = context.big("names", 2, 50)
    file = folder / "profile.lprof"
    evil = b"</script><img src=x onerror=document.title=1>"
    data = file.read_bytes()
    expect(b"./synthetic" in data, "the command is not there")
    page = context.view(folder)
    text = page.read_text()
    # The page with another command in its data.
    text = text.replace('"command":"./synthetic"', '"command":' + json.dumps(evil.decode()).replace("<", "\\u003c"))
    page.write_text(text)
    seen = context.look(page, "numbers")
    expect("img" in seen["title"], f"the title is {seen['title']!r}")


@test
def several_runs_are_side_by_side_as_compare_has_them(context):
    """Numbers, sentences and chance are those of libprofile compare, in a file and served."""
    runs = [context.measured(f"side-{name}", "hydro", steps, 48) for name, steps in (("a1", 30), ("a2", 30), ("b1", 45), ("b2", 45))]
    names = [f"old={runs[0]},{runs[1]}", f"new={runs[2]},{runs[3]}"]
    said = json.loads(run([context.options.tool, "compare", *names, "--format", "json"]))
    page = context.work / "side.html"
    run([context.options.tool, "view", *names, "-o", page])
    seen = context.look(page, "side")
    expect(said["answers"][0]["question"].replace("+-", "±") in seen["head"], f"the page says {seen['head']!r}, compare {said['answers'][0]!r}")
    kinds = {row["kind"]: row for row in said["kinds"]}
    rows = seen["trees"]["kinds"]["rows"]
    for row in rows:
        if row["parent"] < 0:
            expected = kinds[row["name"]]
            for number, what in ((row["values"][0], "before"), (row["values"][1], "after"), (row["errors"][0], "error")):
                expect(abs(number - (expected[what] or 0)) <= 2 + 1e-6 * abs(number), f"{what} of {row['name']}: {number} in the page, {expected[what]}")
    for name, tree in seen["trees"].items():
        tops = [row for row in tree["rows"] if row["parent"] < 0]
        parts = len(tops) if name == "ranks" else 1
        for group, what in enumerate(("before", "after")):
            total = sum(row["values"][group] for row in tops) / parts
            expect(abs(total - kinds["all"][what]) < 0.01 * kinds["all"][what], f"{name}: {what} is {total}, not {kinds['all'][what]}")
    functions = {}  # compare has the instances of a template in one row
    for row in seen["trees"]["callers"]["rows"]:
        if row["parent"] < 0:
            key = (row["name"], row["place"].split(":")[0])
            functions[key] = functions.get(key, 0) + row["values"][1]
    told = [(functions[key], row) for row in said["functions"] if not row["below"] and row["kind"] == "computing"
            and (key := (row["function"], Path(row["file"]).name)) in functions]
    expect(len(told) > 3, f"only {len(told)} functions are in both")
    for shown, row in told:
        expect(abs(shown - row["after"]) <= 10, f"{shown} and {row}")
    differences = [abs(row["values"][1] - row["values"][0]) for row in (seen["trees"]["callers"]["rows"][r["row"]] for r in seen["callers"] if r["level"] == 1)]
    expect_equal(differences, sorted(differences, reverse=True), "the order of functions by difference")
    for shown in (*seen["first"], *seen["kinds"]):
        expect("within chance" not in shown["title"] or shown["signs"] == ["chance"], f"a difference within chance is not grey: {shown}")
    expect(len(set(seen["colors"])) == 4, f"signs have the colours {seen['colors']}")
    expect(" found" in seen["found"] and seen["next"].startswith("1 of "), f"the search says {seen['found']!r}, {seen['next']!r}")
    expect_equal(seen["csv"].count("\n"), len(seen["trees"]["callers"]["rows"]) + 1, "lines of the CSV")
    expect(seen["narrow"] <= 0, f"the page is {seen['narrow']} wider than the window")
    with context.serve(names[0], names[1]) as (_, address):
        expect_equal(context.look(address, "side")["trees"], seen["trees"], "what is served")


def over_time(context, names):
    """What compare says of the runs over time as JSON, what their page shows, and the page."""
    said = json.loads(run([context.options.tool, "compare", *names, "--over-time", "--format", "json"]))
    page = context.work / "over-time.html"
    run([context.options.tool, "view", *names, "-o", page])
    return said, context.look(page, "over_time"), page


def sentences_of(said):
    """Of each run against the first: what compare says of it, and of its changes, each with the sentences below."""
    runs = []
    for answer in said["answers"]:
        if "the iterations of" in answer["question"] and (not runs or answer["question"] != runs[-1][0][0]):
            runs.append([])
        if not runs[-1] or runs[-1][-1][0] != answer["question"]:
            runs[-1].append((answer["question"], []))
        runs[-1][-1][1].append(answer["answer"])
    return runs


def check_over_time(said, seen, group, name):
    """Pairs, gaps, segments, sentences and functions of a run against the first one."""
    of_run = {key: [row for row in said[key] if row["run"] == name] for key in ("alignments", "segments", "functions", "iterations")}
    pairs, parts = of_run["iterations"], seen["parts"]
    expect_equal(sum(part["pairs"] for part in parts), len(pairs), "pairs")
    expect_equal(sum(part["aloneBefore"] for part in parts), round(of_run["alignments"][0]["alone_before"]), "iterations without a partner, before")
    expect_equal(sum(part["aloneAfter"] for part in parts), round(of_run["alignments"][0]["alone_after"]), "iterations without a partner, after")
    at, total, places = 0, 0, []
    for part in parts:
        inside = pairs[at:at + part["pairs"]]
        for k, pair in enumerate(inside):
            places.append(part["from"] + k)  # exact if a point is one place
        at += part["pairs"]
        total += sum(pair["after"] - pair["before"] for pair in inside)
        expect(abs(part["sum"] - total) <= 2, f"{part['sum']} up to place {part['to']}, but {total}")
        for key in ("before", "after"):
            expect(abs(part[key] - sum(pair[key] for pair in inside)) <= 2, f"{key} of {part}: {inside}")
        if not inside:
            continue
        expect(part["firstBefore"] < inside[0]["iteration_before"] <= inside[-1]["iteration_before"] <= part["firstBefore"] + part["pairs"] + part["aloneBefore"], f"{part}: {inside}")
        expect(part["firstAfter"] < inside[0]["iteration_after"] <= inside[-1]["iteration_after"] <= part["firstAfter"] + part["pairs"] + part["aloneAfter"], f"{part}: {inside}")
        for which, value in enumerate((lambda p: p["before"], lambda p: p["after"], lambda p: p["after"] - p["before"])):
            expect(abs(part["least"][which] - min(map(value, inside))) <= 2 and abs(part["most"][which] - max(map(value, inside))) <= 2, f"extremes of {part}: {inside}")
    expect_equal(len(seen["segments"]), len(of_run["segments"]), "segments")
    at = 0
    for shown, listed, segment in zip(seen["segments"], seen["listed"], of_run["segments"]):
        for key, other in (("pairs", "iterations"), ("total", "difference"), ("before", "each_before"), ("after", "each_after"), ("error", "each_error"), ("chance", "chance")):
            expect_equal(shown[key], segment[other], f"{key} of segment {segment['segment']}")
        if seen["window"] == 1:
            expect_equal((shown["from"], shown["to"]), (places[at], places[at + shown["pairs"] - 1] + 1), f"places of segment {segment['segment']}")
        at += shown["pairs"]
        functions = [row for row in of_run["functions"] if row["segment"] == segment["segment"]]
        expect_equal(len(shown["functions"]) + shown["left_out"], len(functions), "functions")
        for one, cells, row in zip(shown["functions"], listed["functions"], functions):
            expect_equal([one[key] for key in ("difference", "error", "kind", "change", "function", "caller", "ranks")],
                         [row[key] for key in ("difference", "error", "kind", "change", "function", "caller", "ranks")], "a function")
            expect_equal((cells[2:5], cells[6]), ([row["kind"], row["change"], row["function"]], row["ranks"]), "cells of a function")
    words = lambda text: text.replace("+-", "±")
    answers = sentences_of(said)[group]  # of the run, and then of its changes
    expect_equal(seen["said"], words(answers[0][0]), "the first sentence")
    for remark in answers[0][1]:
        expect(words(remark) in seen["notes"], f"the page does not say {remark!r}, but {seen['notes']!r}")
    changes = [(shown, listed) for shown, listed in zip(seen["segments"], seen["listed"]) if shown["change"]]
    for (shown, listed), answer in zip(changes, answers[1:]):
        expect(words(answer[0])[1:] in listed["head"], f"{listed['head']!r} does not say {answer[0]!r}")
        expect_equal([f"{amount}{' ' if amount else ''}{use}: {text}" for amount, use, text in listed["lines"]],
                     [] if not shown["lines"] else [words(line) for line in answer[1]], "lines of a change")
    expect_equal(len(changes), len(answers) - 1, "changes")
    return changes


def lost_time(context, name, cause, part, iterations):
    return context.measured(name, Path(context.options.build) / "tests/process/programs/lost_time.openmpi", cause, part, iterations, sample="1kHz")


@test
def runs_over_time_are_those_of_compare(context):
    """Of a known change, in a file and served: rank 1 takes longer in iterations 161 to 240."""
    runs = [lost_time(context, "over-none", "none", 0, 400), lost_time(context, "over-range", "range", 200, 400)]
    said, seen, _ = over_time(context, runs)
    changes = check_over_time(said, seen["groups"][0], 0, "over-range")
    worst = max((shown for shown, _ in changes), key=lambda one: one["total"])
    number = seen["groups"][0]["segments"].index(worst)
    large = [shown for shown, _ in changes if shown["total"] > 0.05e9]  # a machine that is busy for a while divides the change
    expect(abs(large[0]["from"] - 160) < 16 and abs(large[-1]["to"] - 240) < 16 and sum(one["total"] for one in large) > 1.4e9, f"the change is {large}")
    expect(("work", "1") in [(one["function"], one["ranks"]) for one in worst["functions"][:3]], f"functions of it: {worst['functions'][:3]}")
    expect(seen["painted"]["covered"] > 0.1 and seen["dark"]["covered"] > 0.1, f"the picture is empty: {seen['painted']}")
    pairs = said["iterations"]
    for place, text in seen["read"]:
        pair = pairs[place]
        expect(text.startswith(f"iteration {place + 1} of over-none, {place + 1} of over-range: "), text)
        for value in (pair["before"], pair["after"]):
            expect(f"{value / 1e6:.2f} ms" in text or f"{value / 1e6:.1f} ms" in text, f"{value} is not in {text!r}")
        difference = (pair["after"] - pair["before"]) / 1e3
        sign = "+" if difference > 0 else "−"
        expect(f"difference {sign}" in text and f"segment {next(i for i, s in enumerate(seen['groups'][0]['segments'], 1) if s['from'] <= place < s['to'])}" in text, text)
    expect("zoom" in seen["unread"], f"beside the picture the text is {seen['unread']!r}")
    expect_equal(seen["clicked"], [number, [i == number for i in range(len(seen["groups"][0]["segments"]))], -1], "segments that clicks select")
    keys = seen["keys"]
    expect(keys["zoomed"][1] - keys["zoomed"][0] < 0.3 * 400 and keys["moved"][0] > keys["zoomed"][0], f"keys zoom and move: {keys}")
    expect(keys["first"][0].startswith("iteration ") and keys["first"][1] == "polite" and keys["next"][1] == keys["first"][2] + 1, f"keys read one iteration after the other: {keys}")
    entered = seen["groups"][0]["segments"][keys["entered"]]
    expect(entered["from"] <= keys["next"][1] < entered["to"], f"Enter selects {entered} at {keys['next']}")
    expect_equal((keys["down"], keys["whole"]), (0, [0, 400]), "the first segment; all")
    expect_equal((seen["link"], seen["linked"]), (f"#segment={number + 1}", number), "the address of a segment, and where it leads")
    before, after, selected = seen["dragged"]
    expect(after[0] > before[0] and abs((after[1] - after[0]) - (before[1] - before[0])) < 1e-6 and selected == 0, f"a drag moves: {seen['dragged']}")
    expect(seen["svg"].startswith("<svg") and "polyline" in seen["svg"] and " slower</text>" in seen["svg"], "the SVG is no picture of a change")
    expect_equal(seen["png"], "PNG", "the kind of the PNG file")
    rows = list(csv.reader(seen["csv"].splitlines()))
    expect_equal([(int(row[0]), int(row[1])) for row in rows[1:]], [(pair["iteration_before"], pair["iteration_after"]) for pair in pairs], "pairs in the CSV")
    expect(abs(float(rows[-1][8]) - sum(pair["after"] - pair["before"] for pair in pairs)) <= 2, f"the last row is {rows[-1]}")
    expect(seen["narrow"] <= 0, f"the page is {seen['narrow']} wider than the window")
    with context.serve(*map(str, runs)) as (_, address):
        served = context.look(address, "over_time")
    expect_equal((served["groups"][0]["parts"], served["groups"][0]["listed"]), (seen["groups"][0]["parts"], seen["groups"][0]["listed"]), "what is served")


@test
def iterations_without_a_partner_are_gaps(context):
    """Of a shorter run, of a part of a run, and of more iterations than the axis has points. Of three runs each can be chosen."""
    runs = [lost_time(context, "over-none", "none", 0, 400), lost_time(context, "over-short", "none", 0, 300)]
    said, seen, _ = over_time(context, runs)
    check_over_time(said, seen["groups"][0], 0, "over-short")
    expect_equal(said["alignments"][0]["alone_before"], 100, "the last ones of the longer run")
    expect_equal(seen["read"][-1][1], "iteration 400 of over-none has no partner in over-short", "what is said of a gap")
    expect(">only over-none</text>" in seen["svg"], "the picture does not name the gap")
    part = context.work / "over-part.html"
    run([context.options.tool, "view", *runs, "--iterations", "101:200", "-o", part])
    of_part = json.loads(run([context.options.tool, "compare", *runs, "--over-time", "--iterations", "101:200", "--format", "json"]))
    shown = context.look(part, "over_time")["groups"][0]
    expect_equal((shown["places"], shown["parts"][0]["firstBefore"]), (100, 100), "the chosen iterations")
    expect_equal(len(of_part["iterations"]), 100, "their pairs")
    three = [context.big("over-old", 8, 10000, series=True), context.big("over-new", 8, 10100, series=True), context.big("over-like", 8, 9000, series=True)]
    said, seen, page = over_time(context, three)
    expect_equal(seen["choices"], ["over-new", "over-like"], "runs that can be chosen")
    expect(page.stat().st_size < 3e6, f"the page has {page.stat().st_size} bytes")
    for number, name in enumerate(seen["choices"]):
        shown = seen["groups"][number]
        check_over_time(said, shown, number, name)
        expect(shown["window"] == 3 and len(shown["parts"]) <= 4096, f"{len(shown['parts'])} points of {shown['window']}")


@test
def runs_that_cannot_be_aligned_say_so(context):
    """No iterations, another metric than time, another tool. The rest of the page is there, and so are other runs."""
    hydro = f"{context.options.examples}/hydro.openmpi"
    loop = context.measured("over-loop", "hydro", 30, 48)
    again = context.measured("over-again", "hydro", 30, 48)
    none = context.measured("over-nothing", "/usr/bin/env", "LIBPROFILE_ITERATION=none", hydro, 30, 48)
    page = context.work / "over-why.html"
    stacks = context.work / "over.folded"
    stacks.write_text("main;solve 100\nmain;write 20\n")
    other = context.work / "over-other.folded"
    other.write_text("main;solve 90\nmain;write 30\n")
    for arguments, why in (([loop, none], "has no iterations"), ([none, loop], "has no iterations"), ([loop, again, "--metric", "bytes"], "compared by time, not by bytes"),
                           ([stacks, other], "is of another tool and has no iterations")):
        run([context.options.tool, "view", *arguments, "-o", page])
        seen = context.look(page, "over_time")
        expect_equal(seen["choices"], [], "runs that can be chosen")
        shown = seen["absent"]
        expect(shown["said"].startswith("Not compared over time: ") and why in shown["said"] and shown["said"].count(". ") == 0, f"{arguments}: {shown['said']!r}")
        expect_equal((shown["body"], shown["tools"]), (False, False), "a picture of nothing")
        expect(seen["trees"]["paths"] > 1, f"call paths of {arguments}: {seen['trees']}")
    run([context.options.tool, "view", loop, none, again, "-o", page])
    seen = context.look(page, "over_time")
    expect_equal(seen["choices"], ["over-nothing", "over-again"], "runs that can be chosen")
    expect("has no iterations" in seen["groups"][0]["said"] and not seen["groups"][0]["body"], f"{seen['groups'][0]}")
    said = json.loads(run([context.options.tool, "compare", loop, again, "--over-time", "--format", "json"]))
    check_over_time(said, seen["groups"][1], 0, "over-again")


@test
def the_page_looks_as_it_should(context):
    seen = context.look(context.view(context.recorded("adaptive")), "looks")
    expect(seen["timeline"]["covered"] > 0.3 and seen["timeline"]["colors"] > 50, f"the timeline is empty: {seen['timeline']}")
    expect(seen["icicle"]["covered"] > 0.3 and seen["icicle"]["colors"] > 10, f"the icicle is empty: {seen['icicle']}")
    expect(seen["dragged"]["to"] > seen["dragged"]["from"] and seen["dragged"]["phase"] >= 0, f"dragging selected {seen['dragged']}")
    expect("a=" in seen["fragment"], f"the fragment is {seen['fragment']!r}")
    expect(not seen["helpAfterEscape"], "Escape does not close the help")
    expect(seen["matches"] > 0, "the search found nothing")
    count = int(seen["found"][0].split()[0])
    expect_equal(seen["found"], [f"{count} found", f"1 of {count}", f"{min(2, count)} of {count}", f"1 of {count}"], "where the search is")
    expect(seen["afterSearch"][0] != "search" and seen["afterSearch"][1:] == ["", ""], f"after Escape the search keeps {seen['afterSearch']}")
    expect_equal(seen["typed"], [["2-3", 1, 3, False, False], *[[text, 1, 3, True, True] for text in ("abc", "100000", "5-3", "1-3,7-9", "0")]], "selections that make no sense")
    expect_equal(seen["cleared"][2:], [False, False], "what was refused, after Clear")
    expect(seen["hot"] > 0, "the hot path is empty")
    expect(seen["svg"].startswith("<svg") and "polyline" in seen["svg"] and "<image" in seen["svg"], "the SVG is no picture")
    expect_equal(seen["png"], "PNG", "the kind of the PNG file")
    expect(seen["wide"] <= 0 and seen["narrow"] <= 0, f"the page is wider than the window: {seen['wide']}, {seen['narrow']}")


@test
def large_profiles_are_fluent(context):
    """1,000 ranks by 10,000 iterations: the page below 10 MB; over 30 frames a second."""
    page = context.view(context.big("big", 1000, 10000, series=True), "--metric", "iteration_time")
    size = page.stat().st_size
    seen = context.look(page, "speed")
    print(json.dumps({"page_bytes": size, **{k: v for k, v in seen.items() if k not in ("problems", "requests")}}, indent=1))
    expect(size < 10e6, f"the page has {size} bytes")
    expect(max(seen["moved"]) < 0.002, f"shares of pixels that panning has wrong: {seen['moved']}")
    # A busy machine makes a page slow, but changes processor time less. It is that of all processes of Chromium, with everything that a
    # graphics card would do. Below 33 ms of one core per frame it is 30 frames a second on any machine.
    busy = os.getloadavg()[0] > 1.5 * (os.cpu_count() or 1)
    expect(seen["start_ms"] < 2000 or busy, f"the page starts in {seen['start_ms']} ms")
    for name in ("map_whole", "map_pan", "map_zoom", "deviation_whole", "deviation_pan", "deviation_zoom", "deviation_unfolded_pan", "deviation_unfolded_zoom", "tree_scroll", "ranks_scroll"):
        expect(seen[name]["fps"] > 30 or busy, f"{name}: {seen[name]}")
        expect(seen[name]["cpu_ms_per_frame"] < 1000 / 30, f"{name}: {seen[name]}")


def main():
    parser = argparse.ArgumentParser()
    for name in ("--tool", "--library", "--examples", "--big-profile", "--spelled-numbers", "--traced-page", "--build", "--source"):
        parser.add_argument(name, required=True)
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    context = Context(options)
    for name in options.names:
        try:
            tests[name](context)
        except Skip as reason:
            print(f"skipped: {reason}")
            return SKIPPED
        except Exception:
            traceback.print_exc()
            return 1
        print(f"passed: {name}")
    return 0


sys.exit(main())
