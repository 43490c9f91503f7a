#!/usr/bin/python3
"""A trace that is larger than a page: large_traces.py TOOL GENERATOR. What the server says of its events is what the generator counted."""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from expectations import expect, expect_equal
from served import Served

TOOL, GENERATOR = sys.argv[1:3]
RANKS, ITERATIONS, CALLS = 4, 2400, 300
LENGTH, FIRST = CALLS * 20_000, 1_000_000
END = FIRST + ITERATIONS * LENGTH
CALLS_OF_ITERATION = sum(1 if c // 3 % 8 == 7 else 3 for c in range(0, CALLS, 3))  # of a rank, as benchmarks/large_trace.cpp makes them


def reported(folder):
    """Of each rank ns by state, from the call paths of the profile, which the generator summed up."""
    report = json.loads(subprocess.run([TOOL, "report", folder, "--format", "json"], capture_output=True, check=True).stdout)
    sums = [{} for _ in range(RANKS)]
    for phase in report["phases"]:
        for path in phase["call_paths"]:
            state = {"MPI_Allreduce": "collective"}.get(path["name"], "point_to_point" if path["name"].startswith("MPI_") else "computing")
            for rank, ns in zip(sums, path["exclusive"]["time"]):
                rank[state] = rank.get(state, 0) + ns
    return sums


def reported_functions(folder):
    """ns of all ranks by function of MPI."""
    report = json.loads(subprocess.run([TOOL, "report", folder, "--format", "json"], capture_output=True, check=True).stdout)
    sums = {}
    for phase in report["phases"]:
        for path in phase["call_paths"]:
            if path["name"].startswith("MPI_"):
                sums[path["name"]] = sums.get(path["name"], 0) + sum(path["exclusive"]["time"])
    return sums


def calls_of(served, events, location):
    """(begin, end, state) of the calls of a picture of one location."""
    first = sum(events["rows"]["intervals"][:location])
    count = events["rows"]["intervals"][location]
    begins, lengths, states = (served.numbers(events["intervals"][name])[first : first + count] for name in ("begins", "lengths", "states"))
    calls, at = [], 0
    for gap, length, state in zip(begins, lengths, states):
        at += gap
        calls.append((at, at + length, state))
    return calls


def total(sums):
    return [sum(row[s] for row in sums) for s in range(len(sums[0]))]


def check(folder):
    with Served(TOOL, folder) as served:
        header = served.header()
        events = header["events"]
        names = [state["key"] for state in events["states"]]
        expect_equal(events["indexed"], [True] * RANKS, "threads with an index")
        expect_equal(events["end"], END, "end of the timeline")
        expect_equal(sum(events["rows"]["intervals"]), 0, "calls in the page")
        expect(any("events" in note for note in events["notes"]), f"notes: {events['notes']}")

        # The whole run: what the generator counted, and the same from two halves.
        whole = served.ask("timeline_sums", **{"from": 0, "to": END})["sums"]
        expect_equal([{name: ns for name, ns in zip(names, rank) if ns} for rank in whole], reported(folder), "ns by rank and state")
        middle = FIRST + LENGTH * 711 + 12_345
        halves = [served.ask("timeline_sums", **{"from": a, "to": b})["sums"] for a, b in ((0, middle), (middle, END))]
        expect_equal([a + b for a, b in zip(*map(total, halves))], total(whole), "ns of two halves")

        # An iteration is where the generator put it, on all ranks.
        phase = next(p for p, one in enumerate(header["phases"]) if one.get("iterations"))
        own = served.ask("timeline_sums", **{"phase": phase, "iteration": 711})
        expect_equal(own["spans"], [[FIRST + LENGTH * 711, FIRST + LENGTH * 712]] * RANKS, "times of an iteration")
        expect_equal(own["sums"], served.ask("timeline_sums", **{"from": FIRST + LENGTH * 711, "to": FIRST + LENGTH * 712})["sums"], "ns of an iteration")
        for bad in ({"phase": phase, "iteration": ITERATIONS}, {"phase": 99, "iteration": 0}, {"iteration": 0}):
            expect_equal(served.status("timeline_sums", **bad), 400, f"answer to {bad}")

        # Intervals that follow each other: the same sums.
        every, count = 1_234_567, 40
        numbers = served.numbers(served.ask("timeline_totals", **{"from": middle, "every": every, "count": count, "rows": "1,3"})["totals"])
        totals = [numbers[i : i + len(names)] for i in range(0, len(numbers), len(names))]
        expect_equal(len(totals), 2 * (count + 1), "intervals of two rows, and what is before them")
        for at, (begin, end) in {0: (0, middle), 1: (middle, middle + every), count: (middle + (count - 1) * every, middle + count * every)}.items():
            own = served.ask("timeline_sums", **{"from": begin, "to": end})["sums"]
            expect_equal([totals[at], totals[count + 1 + at]], [own[1], own[3]], f"ns of interval {at}")
        good = {"from": 0, "every": 5, "count": 5, "rows": "0"}
        for bad in ({"every": 0}, {"every": "nan"}, {"count": 0}, {"count": 10**9}, {"count": 15_000, "rows": "0,1"}, {"rows": "9"}, {"from": "inf"}):
            expect_equal(served.status("timeline_totals", **{**good, **bad}), 400, f"answer to {bad}")

        # How long calls take: all of them are counted, step by step, and another selection in between changes nothing.
        def durations(**span):
            shares = []
            while True:
                answer = served.ask("timeline_durations", **span)
                if "counting" not in answer:
                    return answer, shares
                shares.append(answer["share"])
        served.ask("timeline_durations", **{"from": 0, "to": END})
        part, _ = durations(phase=phase, iteration=711)
        expect_equal(sum(one["number"] for one in part["calls"]), CALLS_OF_ITERATION * RANKS, "calls of an iteration")
        counted, shares = durations(**{"from": 0, "to": END})
        expect(shares and shares == sorted(shares) and 0 < shares[-1] < 1, f"how far the count is: {shares}")
        functions = {header["nodes"]["name"][one["node"]]: one for one in counted["calls"]}
        expect_equal({name: one["total"] for name, one in functions.items()}, reported_functions(folder), "ns by function")
        for name, one in functions.items():
            expect_equal(sum(number for _, number in one["bins"]), one["number"], f"calls of {name} in the histogram")
            expect(one["least"] <= one["median"] <= one["most"] and one["number"] * one["least"] <= one["total"] <= one["number"] * one["most"], f"{name}: {one}")
        expect_equal((counted["tasks"], counted["incomplete"], counted["too_long"]), ([], 0, 0), "tasks")
        # Several pages ask in turn: each count comes to its end.
        pages, answers, asked = [{"from": 1 + page, "to": END} for page in range(4)], {}, 0
        while len(answers) < len(pages) and asked < 10 * len(pages) * (len(shares) + 2):
            for at, span in enumerate(pages):
                if at not in answers and "counting" not in (answer := served.ask("timeline_durations", **span)):
                    answers[at] = answer
                asked += 1
        expect_equal(len(answers), len(pages), f"counts that are over after {asked} questions")
        for answer in answers.values():
            expect_equal([one["total"] for one in answer["calls"]], [one["total"] for one in counted["calls"]], "ns of calls")
        for bad in ({"from": END, "to": 0}, {"phase": phase, "iteration": ITERATIONS}, {"from": 0}, {"from": "nan", "to": 5}):
            expect_equal(served.status("timeline_durations", **bad), 400, f"answer to {bad}")

        # Who sends how much to whom.
        def messages(**span):
            while "counting" in (answer := served.ask("timeline_messages", **span)):
                pass
            return {(source, target): (number, size) for source, target, number, size in answer["messages"]}
        all_of_it, parts = messages(**{"from": 0, "to": END}), [messages(**{"from": a, "to": b}) for a, b in ((0, middle), (middle, END))]
        expect_equal(sorted(all_of_it), [(rank, (rank + 1) % RANKS) for rank in range(RANKS)], "a ring of messages")
        expect_equal({pair: tuple(sum(part[pair][i] for part in parts) for i in (0, 1)) for pair in all_of_it}, all_of_it, "messages of two halves")
        for bad in ({"from": END, "to": 0}, {"phase": phase, "iteration": ITERATIONS}, {"from": 0}):
            expect_equal(served.status("timeline_messages", **bad), 400, f"answer to {bad}")

        # A time with few calls has them; their sums are those of the index.
        begin, end = middle, middle + 2 * LENGTH
        picture = served.ask("timeline", **{"from": begin, "to": end, "pixels": 1000, "rows": "0,2"})["events"]
        expect_equal(picture["pixels"]["runs"], [0] * RANKS, "rows with pixels")
        expect(picture["exact"], "two iterations are not exact")
        expect(picture["rows"]["parts"][2] >= 3 and picture["rows"]["messages"][2] > 50 and picture["rows"]["parts"][1] == 0, f"rows: {picture['rows']}")
        calls = calls_of(served, picture, 2)
        sums = served.ask("timeline_sums", **{"from": begin, "to": end})["sums"][2]
        for state in ("point_to_point", "collective"):
            s = names.index(state)
            expect_equal(sum(max(0, min(e, end) - max(b, begin)) for b, e, own in calls if own == s), sums[s], f"ns of {state} of single calls")

        # The whole run has pixels: the states are those of the sums of each.
        for fine in ({}, {"fine": 1}):
            n = 50
            picture = served.ask("timeline", **{"from": 0, "to": END, "pixels": n, "rows": "1", **fine})["events"]
            expect_equal([runs > 0 for runs in picture["pixels"]["runs"]], [l == 1 for l in range(RANKS)], "rows with pixels")
            lengths, states = served.numbers(picture["pixels"]["lengths"]), served.numbers(picture["pixels"]["states"])
            expect_equal(sum(lengths), n, "pixels")
            pixels = [state for length, state in zip(lengths, states) for _ in range(length)]
            for x in range(0, n, 7):
                own = served.ask("timeline_sums", **{"from": round(END * x / n), "to": round(END * (x + 1) / n)})["sums"][1]
                expect_equal(pixels[x], 1 + 2 * own.index(max(own)) + 1, f"pixel {x}")

        # What cannot be asked.
        good = {"from": 0, "to": END, "pixels": 100, "rows": "0"}
        for bad in ({"from": END, "to": 0}, {"pixels": 0}, {"pixels": 10**9}, {"rows": "9"}, {"rows": ""}, {"rows": "a"}, {"to": "nan"}, {"to": "inf"}):
            expect_equal(served.status("timeline", **{**good, **bad}), 400, f"answer to {bad}")
        expect_equal(served.status("timeline", **good), 200, "answer to what can be asked")
        for bad in ({"only": "nothing"}, {"least": "-1"}, {"most": "x"}, {"on_ranks": "1-"}, {"on_threads": ","}, {"on_nodes": "a"}):
            expect_equal(served.status("timeline", **{**good, **bad}), 400, f"answer to a filter {bad}")
        series = {"series": "time", "name": "MPI_Allreduce", "from": 0, "every": END, "count": 1}
        for bad in ({"series": "nothing"}, {"every": 0}, {"every": "nan"}, {"count": 0}, {"count": 10**9}, {"from": "inf"}, {"end_from": "a"}):
            expect_equal(served.status("timeline_series", **{**series, **bad}), 400, f"answer to {bad}")
        answer = {}
        while "values" not in answer:
            answer = served.ask("timeline_series", **series)
        expect_equal(sum(values[1] - values[0] for values in answer["values"]), reported_functions(folder)["MPI_Allreduce"], "ns in a function")
    return served.said


def check_file(ranks, iterations, calls, work):
    """A page in a file has 20 MB at most, as many events as fit, and says how many are not there."""
    folder, page = work / "more", work / "view.html"
    subprocess.run([GENERATOR, folder, str(ranks), str(iterations), str(calls)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([TOOL, "view", folder, "-o", page], check=True, stdout=subprocess.DEVNULL, timeout=120)
    size, text = page.stat().st_size, page.read_text()
    expect(10_000_000 < size <= 20_000_000, f"{ranks} ranks, {iterations} iterations: the page has {size} bytes")
    events = json.loads(re.search(r'id="header">(.*?)</script>', text, re.DOTALL)[1])["events"]
    parts, rows = events["rows"]["parts"], events["rows"]
    left_out, all_of_them, lost = (int(number.replace(",", "")) for number in
                                   re.search(r"([\d,]+) of ([\d,]+) kept parts with ([\d,]+) events are not in this page", " ".join(events["notes"])).groups())
    expect_equal((parts, all_of_them, left_out), ([iterations - left_out] * ranks, iterations, iterations - parts[0]), "parts, on all ranks")
    expect(0 < left_out < iterations, f"{left_out} of {iterations} parts are left out")
    # All iterations have as many calls and messages, of which a page has each once.
    expect_equal(lost * parts[0], left_out * (sum(rows["intervals"]) + 2 * sum(rows["messages"])), "events that are left out")
    expect(any("view --serve" in note for note in events["notes"]), f"where the others are: {events['notes']}")
    expect(any("their sums are known" in note for note in events["notes"]) and min(rows["stretches"]) > 0, "sums of what is left out")
    shutil.rmtree(folder)


def main():
    work = pathlib.Path(tempfile.mkdtemp(prefix="libprofile-large-"))
    try:
        subprocess.run([GENERATOR, work / "job", str(RANKS), str(ITERATIONS), str(CALLS)], check=True, stdout=subprocess.DEVNULL)
        index = work / "job" / "profile.lprof.timeline"
        expect("index" in check(work / "job"), "nothing is said while the index is made")
        share = index.stat().st_size / (work / "job" / "profile.lprof").stat().st_size
        expect(share <= 0.05, f"the index has {100 * share:.1f} % of the profile")
        expect("index" not in check(work / "job"), "the index is made again")
        # A damaged one is made again.
        data = bytearray(index.read_bytes())
        data[-100] ^= 1
        index.write_bytes(data)
        expect("index" in check(work / "job"), "a damaged index is used")
        expect(index.read_bytes() != bytes(data), "a damaged index stays")
        shutil.rmtree(work / "job")
        check_file(4, 2870, 300, work)  # the events alone would fit
        check_file(4, 6000, 300, work)  # twice as much as fits
        check_file(300, 2000, 9, work)  # and other data of many ranks
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
