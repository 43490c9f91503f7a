#!/usr/bin/python3
"""How fast `libprofile view --serve` answers for a large trace: served_timeline.py TOOL FOLDER [PICTURES].

Starts the server as a user does, asks for the page and the first picture, then for PICTURES (100) random zooms and pans of 40 rows of 1,400 pixels, as the
page asks for them, and prints times, memory and the size of the index. Drop the page cache yourself if the disk is to be measured, too."""

import pathlib
import random
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "view"))
from served import Served  # noqa: E402

WIDTH, ROWS = 1400, 40


def main():
    tool, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    pictures = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    index = folder / "profile.lprof.timeline"
    was_there = index.exists()
    random.seed(1)
    with Served(tool, folder) as served:
        served_after = time.monotonic() - served.begin
        header = served.header()
        events, ranks = header["events"], len(header["locations"]["rank"])
        rows = min(ROWS, ranks)

        def ask(begin, end, first, **more):
            start = time.monotonic()
            answer = served.get("timeline", **{"from": begin, "to": end, "pixels": WIDTH, "rows": ",".join(str(first + r) for r in range(rows)), **more})
            return time.monotonic() - start, b'"exact":true' in answer.replace(b" ", b"")

        ask(0, events["end"], 0)
        first_after = time.monotonic() - served.begin
        times, exact, fine = [], 0, []
        for _ in range(pictures):
            width = events["end"] * 0.5 ** random.uniform(0, 24)
            begin = random.uniform(0, events["end"] - width)
            first = random.randrange(ranks - rows + 1)
            seconds, is_exact = ask(begin, begin + width, first)
            times.append(1000 * seconds)
            exact += is_exact
            if not is_exact:
                fine.append(1000 * ask(begin, begin + width, first, fine=1)[0])
        start = time.monotonic()
        served.ask("timeline_sums", **{"from": events["end"] * 0.31, "to": events["end"] * 0.62})
        sums = 1000 * (time.monotonic() - start)
        # How long calls take, of all and of a hundredth: step by step, with pictures in between, as the page asks.
        counts, pauses = [], []
        for begin, end in ((0, events["end"]), (0.41 * events["end"], 0.42 * events["end"])):
            start, answer, steps, between = time.monotonic(), {"counting": ""}, 0, []
            while "counting" in answer:
                answer = served.ask("timeline_durations", **{"from": begin, "to": end})
                steps += 1
                if steps % 20 == 0:
                    between.append(1000 * ask(*sorted(random.uniform(0, events["end"]) for _ in range(2)), 0)[0])
            counts.append((sum(one["number"] for one in answer["calls"]), time.monotonic() - start - sum(between) / 1000))
            pauses += between
        # What passes a filter, and time in a function: step by step, with pictures in between.
        whole, part = (0, events["end"]), (0.41 * events["end"], 0.42 * events["end"])
        filters = []
        for words, (begin, end), chosen in (
            ("the longest calls, whole run", whole, {"least": 11_990}),
            ("a function, a hundredth", part, {"with": "allreduce"}),
            ("a function, whole run", whole, {"with": "allreduce"}),
            ("a name that nothing has, whole run", whole, {"with": "nothing"}),
        ):
            start, between, steps, answer = time.monotonic(), [], 0, {"counting": ""}
            question = {"from": begin, "to": end, "pixels": WIDTH, "rows": ",".join(str(r) for r in range(rows)), **chosen}
            while "counting" in answer:
                answer = served.ask("timeline", **question)["events"]
                steps += 1
                if steps % 20 == 0:
                    between.append(1000 * ask(*sorted(random.uniform(0, events["end"]) for _ in range(2)), 0)[0])
            filters.append((words, time.monotonic() - start - sum(between) / 1000))
            pauses += between
        series = []
        for words, (begin, end) in (("a hundredth", part), ("whole run", whole)):
            start, answer = time.monotonic(), {"counting": ""}
            while "counting" in answer:
                answer = served.ask("timeline_series", **{"series": "time", "name": "MPI_Waitall", "from": begin, "every": (end - begin) / 280, "count": 280})
            series.append((words, time.monotonic() - start))
        every = events["end"] / 280
        start = time.monotonic()
        for r in range(0, ranks, 5):
            served.ask("timeline_totals", **{"from": 0, "every": every, "count": 280, "rows": ",".join(str(r + i) for i in range(min(5, ranks - r)))})
        totals = time.monotonic() - start
        memory = served.memory()
    size = (folder / "profile.lprof").stat().st_size
    print(f"{size / 2**30:.2f} GiB, index {100 * index.stat().st_size / size:.2f} %{'' if was_there else ', which was made'}")
    print(f"address after {served_after:.2f} s, first picture after {first_after:.2f} s")
    print(f"{pictures} pictures: median {statistics.median(times):.1f} ms, 95 % below {sorted(times)[int(0.95 * pictures)]:.1f} ms, most {max(times):.1f} ms; {exact} exact")
    if fine:
        print(f"exact ones of the others: median {statistics.median(fine):.1f} ms, most {max(fine):.1f} ms")
    for calls, seconds in counts:
        print(f"durations of {calls:.3g} calls: {seconds:.1f} s")
    print(f"pictures while they are counted: median {statistics.median(pauses):.1f} ms, most {max(pauses):.1f} ms")
    for words, seconds in filters:
        print(f"filter of {rows} rows, {words}: {seconds:.1f} s")
    for words, seconds in series:
        print(f"280 intervals of {ranks} threads, time in a function, {words}: {seconds:.1f} s")
    print(f"280 intervals of {ranks} threads for curves: {totals:.2f} s")
    print(f"shares of a selection: {sums:.1f} ms; peak of memory {memory / 2**20:.0f} MiB")


if __name__ == "__main__":
    main()
