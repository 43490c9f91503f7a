#!/usr/bin/python3
"""How durations go with bytes (report --correlations) is what numpy makes of the events that the report lists one by one."""

import csv
import io
import json
import math
from collections import defaultdict

import numpy as np

from events import EVENTS, events_of, parts_of
from harness import expect, expect_equal, main, test


def pairs_of(entries, names, is_chosen=lambda part: True):
    """By function, rank and partner (None: all): durations and bytes of the calls with messages."""
    found = defaultdict(lambda: ([], []))
    for (rank, _), entry in entries.items():
        for part, intervals, messages in parts_of(entry):
            calls = defaultdict(list)
            for message in messages if is_chosen(part) else []:
                calls[message["interval"]].append(message)
            first = calls and entry_begin(entry, part)
            for at, own in calls.items():
                begin, end, path = intervals[at - first]
                partners = {message["partner"] for message in own}
                keys = [(names[path], None, None)] + ([(names[path], rank, *partners)] if len(partners) == 1 and None not in partners else [])
                for key in keys:
                    found[key][0].append(end - begin)
                    found[key][1].append(sum(message["bytes"] for message in own))
    return found


def entry_begin(entry, part):
    """The position of the part's first interval."""
    return sum(other["intervals"] for other in entry["parts"][:entry["parts"].index(part)])


def check(rows, pairs):
    several = {function for function, rank, _ in pairs if rank is not None and sum(key[0] == function and key[1] is not None for key in pairs) > 1}
    expected = {key: value for key, value in pairs.items() if key[1] is None or key[0] in several}
    found = {(row["function"], row["rank"], row["partner"]): row for row in rows}
    expect_equal(set(found), set(expected), "functions and pairs of ranks")
    for key, (durations, sizes) in expected.items():
        row = found[key]
        expect_equal((row["calls"], row["time"], row["least"], row["most"]), (len(sizes), sum(durations), min(sizes), max(sizes)), f"sums of {key}")
        if len(set(sizes)) == 1:
            expect_equal((row["pearson"], row["slope_ns"]), (None, None), f"{key}: all sizes are the same")
            continue
        slope, intercept = np.polyfit(sizes, durations, 1)
        r = np.corrcoef(sizes, durations)[0, 1]
        for name, value, scale in (("pearson", r, 1), ("r_squared", r * r, 1), ("slope_ns", slope, abs(slope)), ("intercept_ns", intercept, np.mean(durations))):
            expect(math.isclose(row[name], value, rel_tol=1e-6, abs_tol=1e-6 * scale), f"{name} of {key}: {row[name]}, numpy: {value}")


def report_of(job, folder, *options):
    printed = job.run([job.tool, "report", job.folder / folder, "--correlations", *options])
    expect_equal(printed.code, 0, f"exit code: {printed.err}")
    return printed.out


@test
def lines_through_durations_and_bytes_equal_numpys(job):
    from python_module import package
    for command, ranks in (([job.example("hydro"), 60, 8], 2), ([job.program("partners"), "20"], 4)):
        job.profile(command, ranks, options=EVENTS)
        folder = f"profile.{job.runs}"
        entries, names, _ = events_of(job, folder)
        rows = json.loads(report_of(job, folder, "--format", "json"))["correlations"]
        pairs = pairs_of(entries, names)
        expect(len(pairs) > 3, f"functions and pairs: {list(pairs)}")
        check(rows, pairs)
        table = list(csv.DictReader(io.StringIO(report_of(job, folder, "--format", "csv"))))
        expect_equal([(row["function"], row["calls"], row["rank"]) for row in table],
                     [(row["function"], str(row["calls"]), "" if row["rank"] is None else str(row["rank"])) for row in rows], "the table as CSV")
        expect("What the durations depend on" in report_of(job, folder), "the report as text")
        series = package(job).open(job.folder / folder).correlations()
        expect_equal([(one.function, one.rank, one.partner, len(one.amounts), int(one.durations_ns.sum())) for one in series],
                     [(row["function"], row["rank"], row["partner"], row["calls"], row["time"]) for row in rows], "series in Python")
        expect_equal({(one.function, one.rank, one.partner): sorted(zip(one.durations_ns, one.amounts)) for one in series},
                     {key: sorted(zip(*pairs[key])) for key in ((one.function, one.rank, one.partner) for one in series)}, "pairs in Python")


@test
def correlations_of_a_part_are_of_its_calls_only(job):
    job.profile([job.example("hydro"), 60, 8], options=EVENTS)
    folder = f"profile.{job.runs}"
    entries, names, _ = events_of(job, folder)
    rows = json.loads(report_of(job, folder, "--format", "json", "--iterations", "11:30", "--rank", "1"))["correlations"]
    check(rows, pairs_of({place: entry for place, entry in entries.items() if place[0] == 1}, names,
                         lambda part: part["kind"] == "iteration" and 11 <= part["number"] <= 30))
    for options, words in ((["--tasks"], "another report"), (["--metric", "time"], "--metric"), (["--path", "x"], "--path")):
        refused = job.run([job.tool, "report", job.folder / folder, "--correlations", *options])
        expect(refused.code == 2 and words in refused.all_err, f"with {options}: {refused.all_err}")
    job.profile([job.example("hydro"), 5, 8])
    refused = job.run([job.tool, "report", job.folder / f"profile.{job.runs}", "--correlations"])
    expect(refused.code == 1 and "LIBPROFILE_TRACE=events" in refused.all_err, f"without events: {refused.all_err}")


if __name__ == "__main__":
    main()
