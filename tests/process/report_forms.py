#!/usr/bin/python3
"""Every form of the report holds the same numbers, to the last digit that it prints, as JSON and the exports; what cannot be
answered is refused in one sentence; a terminal gets colours and a pager, a file gets neither."""

import csv
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import termios
from pathlib import Path

from debian_programs import lammps
from harness import expect, expect_equal, main, test

UNITS = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9, "B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "%": 0.01, "x": 1, "": 1, "M": 1e6}


def measured(job, command, **more):
    report = job.profile(command, **more)
    return report, job.folder / f"profile.{job.runs}"


def reported(job, profile, *options, code=0):
    result = job.run([job.tool, "report", profile, *options])
    expect_equal(result.code, code, f"exit code of the report with {options}")
    return result


def selection(job, profile, *options):
    return json.loads(reported(job, profile, *options, "--format", "json").out)


def interval(text):
    """The numbers that are printed so: half a unit of the last digit to both sides."""
    found = re.fullmatch(r"([+-]?)([\d,]+(?:\.(\d+))?)(?:e([+-]\d+))? ?(ns|µs|ms|s|[KMG]i?B?|B|%|x|)", text)
    assert found, f"no number: {text!r}"
    sign, digits, decimals, exponent, unit = found.groups()
    scale = UNITS[unit] * 10.0 ** int(exponent or 0)
    value = float(digits.replace(",", "")) * scale * (-1 if sign == "-" else 1)
    half = 0.5000001 * 10.0 ** -len(decimals or "") * scale
    return value - half, value + half


def check_number(text, number, what):
    if number is None:
        expect_equal(text, "", what)
        return
    low, high = interval(text)
    # An amount with three digits may stand for a hundred: 12.3 thousand is written out, so half a last digit is enough everywhere.
    expect(low <= number <= high, f"{what}: {text} is not {number}")


def markdown_tables(text):
    """By title: heading -> list of cells, a dictionary per row."""
    tables, title, heads = {}, None, None
    for line in text.splitlines():
        if line.startswith("## "):
            title, heads = line[3:], None
        elif line.startswith("|") and title:
            cells = [cell.replace("\\", "").replace("&nbsp;", "").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if heads is None:
                heads = cells
                tables[title] = []
            elif not set(cells[0]) <= set("-: "):
                tables[title].append(cells)
    return tables


def check_table(rows, json_rows, columns, what):
    """Columns: position in Markdown, key in JSON."""
    expect(rows and len(rows) <= len(json_rows), f"rows of {what}: {len(rows)} of {len(json_rows)}")
    for row, expected in zip(rows, json_rows):
        for position, key in columns:
            value = expected[key]
            text = row[position]
            if key == "change" and text.endswith("x"):
                value += 1
            check_number(text, value, f"{key} in {what}")


@test
def forms_of_a_selection_agree(job):
    report, profile = measured(job, [job.example("hydro"), 60, 8])
    for options in ([], ["--phase", "timestep"], ["--iterations", "11:30"], ["--rank", "1", "--iterations", "5:"], ["--path", "exchange"]):
        options = [*options, "--top", "1000"]
        found = selection(job, profile, *options)
        tables = markdown_tables(reported(job, profile, *options, "--format", "markdown").out)
        check_table(tables["Functions"], found["functions"], [(0, "share"), (1, "time")], f"functions of {options}")
        check_table(tables["Call paths"], found["call_paths"], [(0, "share"), (1, "time_inclusive"), (2, "time")], f"call paths of {options}")
        expect_equal(len(tables["Call paths"]), len(found["call_paths"]), "call paths")
        check_table(tables["Totals"], found["totals"], [(1, "total"), (2, "share")], f"totals of {options}")
        rows = list(csv.DictReader(io.StringIO(reported(job, profile, *options, "--format", "csv").out)))
        expect_equal([(int(r["time_inclusive"]), int(r["time"]), r["path"]) for r in rows],
                     [(r["time_inclusive"], r["time"], r["path"]) for r in found["call_paths"]], f"call paths of {options} in CSV")
        # Text has the same cells as Markdown.
        text = reported(job, profile, *options, "--width", "1000").out
        for row in tables["Functions"]:
            expect(any(all(cell in line for cell in row) for line in text.splitlines()), f"no line with {row}")
        if "--path" not in options:
            expect_equal(sum(r["time"] for r in found["call_paths"]), found["selection"]["time"], f"sum over the call paths of {options}")


@test
def selections_are_those_of_the_exports_and_the_whole_report(job):
    report, profile = measured(job, [job.example("hydro"), 60, 8])
    phase = next(p for p in report["phases"] if p["name"] == "timestep")
    totals = lambda found: {row["metric"]: row["total"] for row in found["totals"]}
    whole = totals(selection(job, profile, "--top", "5"))
    for metric in report["metrics"]:
        expect_equal(whole.get(metric["name"], 0), sum(metric["total"]), metric["name"])
    for first, last in ((1, 60), (11, 30), (60, 60)):
        found = totals(selection(job, profile, "--iterations", f"{first}:{last}"))
        for metric in ("time", "visits", "bytes", "mpi"):
            expected = sum(sum(s[metric][first - 1:last]) for s in phase["series"])
            expect_equal(found[metric], expected, f"{metric} of iterations {first}:{last}")
        job.runs += 1
        place = job.folder / f"export.{job.runs}"
        result = job.run([job.tool, "export", profile, "--format", "csv", "--metric", "time", "--iterations", f"{first}:{last}", "--output", place])
        expect_equal(result.code, 0, "exit code of the export")
        names = {row["call_path"]: row["name"] for row in csv.DictReader(open(place / "call_paths.csv"))}
        exported, shown = {}, {}
        for row in csv.DictReader(open(place / "values.csv")):
            exported[names[row["call_path"]]] = exported.get(names[row["call_path"]], 0) + int(row["value"])
        for row in selection(job, profile, "--iterations", f"{first}:{last}")["functions"]:
            shown[row["function"]] = shown.get(row["function"], 0) + row["time"]
        mpi = lambda values: {name: value for name, value in values.items() if name.startswith("MPI_")}
        expect_equal(mpi(shown), mpi(exported), f"times of MPI functions in iterations {first}:{last}")


@test
def comparisons_are_of_the_selections(job):
    report, profile = measured(job, [job.example("hydro"), 60, 8])
    found = selection(job, profile, "--compare", "1:20", "41:60")
    for side, choice in (("a", "1:20"), ("b", "41:60")):
        part = selection(job, profile, "--iterations", choice)
        totals = {row["metric"]: row["total"] for row in part["totals"]}
        for row in found["totals"]:
            expect_equal(row[side], totals.get(row["metric"], 0) / 40, f"{row['metric']} of side {side}")
        times = {row["path"]: row["time_inclusive"] for row in part["call_paths"]}
        for row in found["call_paths"]:
            expect_equal(row[side], times.get(row["path"], 0) / 40, f"{row['path']} of side {side}")
    tables = markdown_tables(reported(job, profile, "--compare", "1:20", "41:60", "--format", "markdown").out)
    check_table(tables["Functions"], found["functions"], [(0, "a"), (1, "b"), (2, "difference"), (3, "change"), (4, "error")], "functions")
    for row in found["functions"]:
        if row["function"].startswith("MPI_"):
            expect(row["error"] is not None, f"no error bound for {row['function']}")
    ranks = selection(job, profile, "--compare", "rank=0", "rest")
    time = next(row for row in ranks["totals"] if row["metric"] == "time")
    expect_equal([time["a"], time["b"]], next(m["total"] for m in report["metrics"] if m["name"] == "time"), "time of the two ranks")


@test
def what_cannot_be_answered_is_refused_in_one_sentence(job):
    _, profile = measured(job, [job.example("hydro"), 20, 8])
    for options, code, words in (
            (["--metric", "tme"], 1, 'did you mean "time"'),
            (["--phase", "timestp"], 1, 'did you mean "timestep"'),
            (["--iterations", "21:30"], 1, "it has the iterations 1:20"),
            (["--iterations", "15:30"], 1, "no iteration 30; it has the iterations 1:20"),
            (["--compare", "1:6", "7:21"], 1, "no iteration 21; it has the iterations 1:20"),
            (["--itterations", "1:5"], 2, "did you mean --iterations?"),
            (["--zzz"], 2, "no option --zzz;"),
            (["one", "more"], 2, "one more were not expected"),
            (["--iterations", "0:3"], 2, "counted from 1"),
            (["--rank", "2"], 1, "the job had the ranks 0-1"),
            (["--rank", "x"], 2, "--rank x"),
            (["--path", "no such function"], 1, "no call path has"),
            (["--metric", "mpi_file_io"], 1, "nothing was measured"),
            (["--compare", "1:10"], 2, "--compare"),
            (["--compare", "1:10", "rank=1"], 2, "not one of each"),
            (["--compare", "1:10", "11:20", "--iterations", "1:5"], 2, "leave out --iterations"),
            (["--compare", "1:10", "11:20", "--metric", "time,bytes"], 2, "one metric at a time"),
            (["--series", "--format", "json", "--rank", "0"], 2, "leave out"),
            (["--series"], 2, "--format json"),
            (["--width", "90", "--format", "csv"], 2, "--width is for text"),
            (["--format", "yaml"], 2, "json, csv, markdown"),
            (["--top", "0"], 2, "--top")):
        result = reported(job, profile, *options, code=code)
        expect_equal(result.out, "", f"output with {options}")
        expect(words in result.all_err and len(result.all_err.splitlines()) == 1, f"message with {options}: {result.all_err}")


@test
def functions_with_callers_and_lines_have_the_sums_of_the_tree(job):
    _, profile = measured(job, [job.example("hydro"), 120, 16], options={"LIBPROFILE_SAMPLE": "1000Hz"})
    for options in (["--rank", "0-1"], ["--iterations", "11:30"], ["--rank", "1"], ["--metric", "mpi"], ["--metric", "visits,bytes"], ["--path", "exchange"], ["--threads"]):
        tree, found = selection(job, profile, *options), selection(job, profile, *options, "--bottom-up")
        metrics = options[1].split(",") if options[:1] == ["--metric"] else ["time"]
        for metric in metrics:
            own = sum(row[metric] for row in tree["call_paths"])
            expect_equal(sum(row[metric] for row in found["bottom_up"] if row["depth"] == 0), own, f"{metric} of all functions with {options}")
            by_name = {}
            for row in tree["functions"]:
                by_name[row["function"]] = by_name.get(row["function"], 0) + row[metric]
            shown = {("[inlined] " if row["kind"] == "inlined" else "") + row["name"]: row[metric] for row in found["bottom_up"] if row["depth"] == 0}
            expect_equal({name: value for name, value in by_name.items() if value}, {name: value for name, value in shown.items() if value}, f"{metric} by function with {options}")
            sums = {}
            for row in found["bottom_up"]:  # callers follow what they call, and have no more than it
                sums[row["depth"]] = [row[metric], 0]
                if row["depth"]:
                    sums[row["depth"] - 1][1] += row[metric]
                    expect(sums[row["depth"] - 1][1] <= sums[row["depth"] - 1][0], f"the callers have more than what they call: {row}")
        rows = list(csv.DictReader(io.StringIO(reported(job, profile, *options, "--bottom-up", "--format", "csv").out)))
        expect_equal([(int(r["depth"]), r["name"]) for r in rows], [(r["depth"], r["name"]) for r in found["bottom_up"]], f"CSV with {options}")
    tree = selection(job, profile, "--rank", "0-1")
    for name in ("flux", "advance", "main"):
        lines = selection(job, profile, "--source", name)
        own = sum(row["time"] for row in tree["functions"] if row["function"].removeprefix("[inlined] ").split("::")[-1] == name)
        expect_equal(sum(row["time"] for row in lines["lines"]), own, f"own time of the lines of {name}")
        expect_equal(lines["selection"]["function_time"], own, f"own time of {name}")
        inclusive = sum(row["time_inclusive"] for row in tree["call_paths"] if row["name"].split("::")[-1] == name)
        expect_equal(lines["selection"]["function_time_inclusive"], inclusive, f"time of {name} with what it calls")
    hottest = max(lines["lines"], key=lambda row: row["time_inclusive"])  # a sample may hit a line of the C++ library that became part of main
    expect_equal(Path(hottest["file"]).name, "hydro.cpp", "the file of main")
    for row in lines["lines"]:
        expect_equal(row["source"], Path(row["file"]).read_text().splitlines()[row["line"] - 1].expandtabs(), f"line {row['line']} of {row['file']}")
    advance = next(row for row in lines["lines"] if row["called"] and "advance" in row["called"])
    expect("advance(" in advance["source"], f"the line that calls advance: {advance}")
    shown = reported(job, profile, "--source", "main").out
    expect(advance["source"].strip()[:20] in shown and "Lines of " in shown, f"the text has no source:\n{shown}")


@test
def functions_of_lammps_have_all_of_its_time(job):
    """A program that nobody here wrote: many call paths, recursion, no debug information."""
    report, profile = measured(job, lammps(job, 200))
    for options in (["--rank", "0-1"], ["--rank", "1"], ["--threads"]):
        found = selection(job, profile, *options, "--bottom-up")
        functions = [row for row in found["bottom_up"] if row["depth"] == 0]
        expect_equal(sum(row["time"] for row in functions), found["selection"]["time"], f"own time of all functions with {options}")
        for row in found["bottom_up"]:
            expect(row["time"] <= row["time_inclusive"] <= found["selection"]["time"], f"own time, time with what is called, and all time: {row}")
    whole = sum(next(m["total"] for m in report["metrics"] if m["name"] == "time"))
    expect_equal(selection(job, profile, "--bottom-up")["selection"]["time"], whole, "time of the whole run")
    lines = selection(job, profile, "--source", "LAMMPS_NS::Verlet::run")
    expect_equal([row["line"] for row in lines["lines"] if row["file"] == ""], [None] * sum(row["file"] == "" for row in lines["lines"]), "lines that are not known")
    expect(lines["lines"][0]["file"] or "lines are not known in" in " ".join(lines["notes"]), f"what is said of lines that are not known: {lines['notes']}")


@test
def a_source_file_may_be_elsewhere_or_anything(job):
    """What cannot be shown is said, and the figures are there without it."""
    _, profile = measured(job, [job.example("hydro"), 60, 8])
    whole = selection(job, profile, "--source", "advance")
    figures = [(row["line"], row["time"], row["time_inclusive"], row["calls"]) for row in whole["lines"]]
    source = Path(whole["lines"][0]["file"])
    folder = job.folder / "moved"
    folder.mkdir()
    moved = folder / "hydro.cpp"

    def mapped(*maps):
        options = [option for map in (maps or [f"{source.parent}={folder}"]) for option in ("--source-map", map)]
        found = selection(job, profile, "--source", "advance", *options)
        expect_equal([(row["line"], row["time"], row["time_inclusive"], row["calls"]) for row in found["lines"]], figures, f"figures with {maps}")
        reported(job, profile, "--source", "advance", *options)
        return found["lines"][0]["source"], " ".join(found["notes"])

    def replaced(make):
        """The source that is found if the recorded path leads nowhere, and the moved file is this."""
        if moved.is_dir():
            moved.rmdir()
        else:
            moved.unlink(missing_ok=True)
        make()
        return mapped()

    # The map comes first, and where it has no file the recorded path is still tried.
    line = whole["lines"][0]["line"]
    moved.write_text("\n" * (line - 1) + "here it is\n" + "\n" * 1000)
    text, notes = mapped()
    expect(text == "here it is" and "newer than hydro." in notes, f"a newer source: {text!r}, {notes}")
    os.utime(moved, (1, 1))
    expect_equal(mapped(), ("here it is", ""), "an older source")
    expect_equal(mapped(f"{source.parent}=/nowhere", f"{source.parent}/={folder}/")[0], "here it is", "the second map")
    moved.write_text("short\n")
    os.utime(moved, (1, 1))
    text, notes = mapped()
    expect(text is None and "has 1 line only" in notes, f"a short source: {text!r}, {notes}")
    original = whole["lines"][0]["source"]
    for make in (moved.mkdir, lambda: moved.write_bytes(b"a\0b"), lambda: os.truncate(os.open(moved, os.O_CREAT | os.O_WRONLY), 1 << 34), lambda: os.mkfifo(moved),
                 lambda: moved.symlink_to("/dev/zero"), lambda: moved.symlink_to(moved)):
        expect_equal(replaced(make)[0], original, "the recorded path after a map without a readable file")
    # A profile whose source is nowhere: the same map onto a folder that does not exist, from names that were stored.
    names = profile / "names.lprof"
    expect(names.exists(), "the profile has no names of its own")
    text = reported(job, profile, "--source", "advance", "--source-map", "/x=/y").out
    expect("advance" in text, "a map that does not fit")
    for options, code, words in ((["--source", "advanc"], 0, ""), (["--source", "avdance"], 1, 'did you mean "advance"?'), (["--source", "exchange_"], 1, "may be several functions"),
                                 (["--source", "MPI_Waitall"], 1, "--path MPI_Waitall"), (["--source", "advance", "--source-map", "/x"], 2, "is not OLD=NEW"),
                                 (["--source", "advance", "--source-map", "=/x"], 2, "is not OLD=NEW"), (["--source-map", "/x=/y"], 2, "--source-map is for --source"),
                                 (["--source", "advance", "--bottom-up"], 2, "two reports"), (["--bottom-up", "--compare", "1:5", "6:9"], 2, "leave out --compare")):
        result = reported(job, profile, *options, code=code)
        expect(words in result.all_err and (code == 0 or len(result.all_err.splitlines()) == 1), f"message with {options}: {result.all_err}")


@test
def mistyped_commands_get_the_nearest_name(job):
    for typed, words in (("repot", "did you mean report?"), ("veiw", "did you mean view?"), ("exprt", "did you mean export?"),
                         ("qqqqqq", "no command qqqqqq;")):
        result = job.run([job.tool, typed])
        expect_equal((result.code, result.out, len(result.all_err.splitlines())), (2, "", 1), f"exit code, output and lines with {typed}")
        expect(words in result.all_err, f"message with {typed}: {result.all_err}")


def on_terminal(job, profile, *options, columns=90, environment=None):
    """What the report writes to a terminal of so many columns."""
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    settings = {"TERM": "xterm", "LANG": "C.UTF-8", "PATH": os.environ["PATH"], **(environment or {})}
    process = subprocess.Popen([job.tool, "report", profile, *options], stdin=follower, stdout=follower, stderr=follower,
                               env=settings, cwd=job.folder)
    os.close(follower)
    out = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        out += part
    os.close(leader)
    expect_equal(process.wait(timeout=30), 0, "exit code on a terminal")
    return out.decode()


@test
def terminals_get_colours_and_a_pager_and_files_neither(job):
    _, profile = measured(job, [job.example("hydro"), 20, 8])
    plain = reported(job, profile).out
    expect("\x1b" not in plain, "colours in a file")
    expect(plain.index("Where the time goes") < plain.index("What changes over time") < plain.index("Which ranks differ")
           < plain.index("What libprofile cost") < plain.index("Phases"), "order of the first screen")
    expect(plain[:plain.index("Phases")].count("\n") < 50, "the answers do not fit a screen")
    shown = on_terminal(job, profile, "--no-pager")
    expect("\x1b[" in shown, "no colours on a terminal")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    too_long = [line for line in bare.splitlines() if len(line) > 90 and "libprofile report" not in line and str(job.folder) not in line]
    expect(not too_long, f"wider than the terminal: {too_long}")
    expect("\x1b" not in on_terminal(job, profile, "--no-pager", environment={"NO_COLOR": "1"}), "colours in spite of NO_COLOR")
    expect_equal(on_terminal(job, profile, environment={"PAGER": "cat > paged"}), "", "what goes past the pager")
    expect("Where the time goes" in (job.folder / "paged").read_text(), "the pager got nothing")
    expect("Where the time goes" in on_terminal(job, profile, environment={"PAGER": "no-such-program 2>/dev/null"}), "nothing without a pager")
    expect_equal(on_terminal(job, profile, environment={"PAGER": "head -n 1 > paged"}), "", "a pager that ends early")
    job.run([job.tool, "report", profile])
    (job.folder / "paged").unlink()
    json.loads(on_terminal(job, profile, "--format", "json", environment={"PAGER": "cat > paged"}))
    expect(not (job.folder / "paged").exists(), "JSON goes through the pager")


if __name__ == "__main__":
    main()
