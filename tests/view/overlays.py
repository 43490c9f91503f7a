"""What lies over the timeline of the page: curves of derived metrics, compared with the events of the report."""

import json
import math
import random
from xml.etree import ElementTree

from expectations import expect, expect_equal, test
from made_causes import put_causes
from timeline import call_paths, traced

SHORTEST = 10000  # ns: a time without events that is no longer makes no part


class Row:
    """A thread's events, and which of its time is known. Times are those of the axis, lengths those of the rank's clock."""

    def __init__(self, events, paths, clock):
        def place(ns):
            return clock["begin"] + ns * clock["scale"]

        self.scale = clock["scale"]
        spans = sorted((part["begin_ns"], part["end_ns"]) for part in events["parts"])
        known = []
        for begin, end in spans:
            if known and begin - known[-1][1] <= (SHORTEST if clock["complete"] else 0):
                known[-1][1] = max(known[-1][1], end)
            else:
                known.append([begin, end])
        self.known = [(place(a), place(b)) for a, b in known]
        self.calls = [(place(b), place(e), paths[p]["name"] if p in paths else "?") for b, e, p in zip(events["begin_ns"], events["end_ns"], events["path"])
                      if p not in paths or paths[p]["kind"] != "region"]
        ends = events["messages"]
        self.sent = [(self.calls_at(events, place, call)[0], partner, size)
                     for call, direction, partner, size in zip(ends["interval"], ends["direction"], ends["partner"], ends["bytes"]) if direction == "sent"]
        self.received = [(self.calls_at(events, place, call)[1], partner, size)
                         for call, direction, partner, size in zip(ends["interval"], ends["direction"], ends["partner"], ends["bytes"]) if direction == "received"]

    @staticmethod
    def calls_at(events, place, call):
        return place(events["begin_ns"][call]), place(events["end_ns"][call])

    @staticmethod
    def overlap(spans, a, b):
        return sum(max(0, min(e, b) - max(s, a)) for s, e in spans)

    def known_in(self, a, b):
        return self.overlap(self.known, a, b) / self.scale

    def in_calls(self, wanted, a, b):
        """ns in these calls; no call lies in another one here."""
        return sum(self.known_in(max(s, a), min(e, b)) for s, e, name in self.calls if wanted(name) and s < b and e > a)

    def number(self, wanted, a, b):
        return sum((self.known_in(max(s, a), min(e, b)) / (e - s) * self.scale) if e > s else 1 for s, e, name in self.calls if wanted(name) and s < b and (e > a or a <= s))


def near(a, b):
    return (a is None) == (b is None) and (a is None or abs(a - b) <= 1e-6 * max(1, abs(a), abs(b)))


def compare(name, seen, wanted, limit=3):
    wrong = [(i, s, w) for i, (s, w) in enumerate(zip(seen, wanted)) if not near(s, w)]
    expect(len(seen) == len(wanted) and not wrong, f"{name}: {len(wrong)} of {len(wanted)} values differ; interval, page, events: {wrong[:limit]}")
    expect(sum(w is not None and w != 0 for w in wanted) > 5, f"{name} is hardly ever anything: {wanted[:20]}")


@test
def curves_are_what_the_reported_events_say(context):
    folder, report = traced(context, "events-curves", "4M", "hydro", "60", "8")
    paths, page = call_paths(report), context.view(folder)
    names = sorted({paths[p]["name"] for events in report["events"] for p in events["path"] if p in paths and paths[p]["kind"] != "region"})
    receive = next(name for name in ("MPI_Recv", "MPI_Waitall", "MPI_Wait", "MPI_Sendrecv") if name in names)
    every, sources = 250_000, [
        "threads(computing)", f"threads({receive})", f"duration({receive})", "d(bytes(0, 1)) / dt", "in_flight()", f"d(calls({receive})) / dt",
        "max(threads(computing)) - min(threads(computing))", "on(1, threads(computing))", "1 - (threads(computing) + 2 * 0.25) / threads()",
        "bytes()", "d(received(*, 0-1)) / dt", "d(bytes()) / d(messages())", f"sum(threads({receive}))", f"mean(d(time({receive}))) / dt",
        'threads("MPI_*") + threads(computing) - threads()']
    first = min(part["begin_ns"] for events in report["events"] for part in events["parts"] if part["kind"] == "iteration") // every
    last = max(part["end_ns"] for events in report["events"] for part in events["parts"]) // every + 1
    seen = context.look(page, "curves", json.dumps({"sources": sources, "first": first, "end": last, "every": every}))
    rows = [Row(events, paths, clock) for events, clock in zip(report["events"], seen["rows"])]
    wanted = {source: [] for source in sources}
    for i in range(first, last):
        a, b = i * every, (i + 1) * every
        known = [row.known_in(a, b) for row in rows]
        there = sum(ns > 1e-3 for ns in known)
        if there == 0:
            for list_ in wanted.values():
                list_.append(None)
            continue
        dt = sum(known) / there
        is_receive, is_call = (lambda name: name == receive), (lambda name: True)
        computing = [ns - row.in_calls(is_call, a, b) for row, ns in zip(rows, known)]
        receiving = [row.in_calls(is_receive, a, b) for row in rows]
        calls = sum(row.number(is_receive, a, b) for row in rows)
        sent = [(t, r, to, size) for r, row in enumerate(rows) for t, to, size in row.sent if a <= t < b]
        shares = [c / ns for c, ns in zip(computing, known) if ns > 1e-3]
        flying = 0
        for sender, row in enumerate(rows):
            for receiver, other in enumerate(rows):
                # In the order in which they were sent: hydro has one neighbour, and messages do not overtake each other.
                begins, ends = [t for t, to, _ in row.sent if to == receiver], [t for t, of, _ in other.received if of == sender]
                flying += sum(row.known_in(max(s, a), min(e, b)) for s, e in zip(begins, ends) if e > s and s < b and e > a)
        all_sent = sum(size for row in rows for t, _, size in row.sent if t < b)
        received = sum(size for row in rows for t, _, size in row.received if a <= t < b)
        values = [
            sum(computing) / dt, sum(receiving) / dt, sum(receiving) / calls / 1e9 if calls > 1e-12 else None,
            sum(size for _, r, to, size in sent if (r, to) == (0, 1)) / dt * 1e9, flying / dt, calls / dt * 1e9, max(shares) - min(shares),
            computing[1] / known[1] if known[1] > 1e-3 else None, 1 - (sum(computing) / dt + 0.5) / there, all_sent, received / dt * 1e9,
            sum(size for *_, size in sent) / len(sent) if sent else None,
            sum(r / ns for r, ns in zip(receiving, known) if ns > 1e-3), sum(receiving) / there / dt, None]
        for source, value in zip(sources, values):
            wanted[source].append(value)
    for source, values in zip(sources[:-1], seen["values"]):
        compare(source, values, wanted[source])
    # A thread is in a call, or computes.
    expect(all(v is None or abs(v) < 1e-6 for v in seen["values"][-1]), f"calls, computing and all threads: {seen['values'][-1][:10]}")
    expect_equal(seen["in_parts"], seen["values"][0], "a curve that is asked for in parts")
    # Counters are lines between the times when they were read.
    def counter(values, i):
        at = (i - 0.7) / 1.31
        k = min(int(max(at, 0)), 48)
        return values[0] if at <= 0 else values[49] if at >= 49 else values[k] + (at - k) * (values[k + 1] - values[k])

    cycles, energy = [1000 + i * i * 7 for i in range(50)], list(range(50))
    for j, i in enumerate(range(1, 60)):
        before, after = counter(cycles, i), counter(cycles, i + 1)
        grown = counter(energy, i + 1) - counter(energy, i)
        a, b = (first + i) * every, (first + i + 1) * every
        known = [ns for ns in (row.known_in(a, b) for row in rows) if ns > 1e-3]
        values = {"PAPI_TOT_CYC": 2 * after, "d(PAPI_TOT_CYC) / dt": 2 * (after - before) / (sum(known) / len(known)) * 1e9 if known else None,
                  "d(PAPI_TOT_CYC) / d(energy)": 2 * (after - before) / grown if grown else None, "max(d(PAPI_TOT_CYC))": after - before, "on(1, energy)": 0}
        for source, value in values.items():
            seen_value = seen["counted"][source][j]
            if known and not (source.startswith("max") and len(known) < len(rows)):
                expect((seen_value is None) == (value is None) and (value is None or abs(seen_value - value) <= 1e-4 * max(1, abs(value))), f"{source} in interval {i}: {seen_value}, not {value}")

    # A pixel has the least and the largest of its intervals.
    pixels = seen["pixels"]
    for x in range(40):
        inside = [i for i in range(math.ceil(x * 7.3 - 1e-9), math.ceil((x + 1) * 7.3 - 1e-9)) if first <= i < last]
        values = [wanted[sources[0]][i - first] for i in inside if wanted[sources[0]][i - first] is not None]
        if len(inside) < 7 or not values:
            continue
        expect(near(pixels["least"][x], min(values)) and near(pixels["most"][x], max(values)), f"pixel {x}: {pixels['least'][x]}, {pixels['most'][x]}, not {values}")
        expect(near(pixels["mean"][x], sum(values) / len(values)), f"mean of pixel {x}")
    expect("threads(computing)" in seen["headings"] and any("per" in text for text in seen["headings"]), f"texts of the picture: {seen['headings']}")
    # What is saved has all that is seen, and the words of the colours.
    texts = [element.text for element in ElementTree.fromstring(seen["svg"]).iter("{http://www.w3.org/2000/svg}text")]
    for word in ("rank 0", "1", "threads(computing)", "d(bytes())/dt", "in_flight()", "computing", "MPI point-to-point"):
        expect(word in texts, f"no text of the SVG is {word!r}: {texts}")
    expect(any("hydro" in text and " to " in text for text in texts) and "stroke" in seen["svg"], f"texts of the SVG: {texts[:5]}")
    png = seen["png"]
    expect(png["width"] == seen["canvas"]["width"] and png["height"] > seen["canvas"]["height"], f"the PNG: {png}, the picture {seen['canvas']}")
    heights = seen["heights"]
    expect(heights["three"] > heights["two"] > heights["over"], f"heights {heights}")
    expect("threads(computing)" in seen["ready"] and "d(bytes()) / dt" in seen["ready"], f"ready-made are {seen['ready']}")
    expect_equal(seen["typed"], "threads(computing); d(bytes())/dt; in_flight()", "what is typed after a choice")
    for source in ("threads(computing) = ", "d(bytes())/dt = ", "in_flight() = "):
        expect(source in seen["readout"], f"under the pointer: {seen['readout']!r}")
    expect_equal(seen["state"], {"sources": seen["typed"], "every": 1000000, "isOver": True}, "the state")
    expect_equal(seen["again"], seen["state"], "what the link shows again")
    expect_equal(seen["hidden"], "", "curves after they were hidden")


@test
def what_is_wrong_with_an_expression_is_said(context):
    folder, report = traced(context, "events-curves", "4M", "hydro", "60", "8")
    wrong = [  # position and a part of the sentence
        ("threads(computng)", 8, "do you mean computing?"), ("thread(computing)", 0, "do you mean threads?"), ("threads(mpi_isendd)", 8, "do you mean MPI_Isend?"),
        ("1 +", 3, "not the end"), ("(1 + 2", 6, '")" should be here'), ("1 2", 2, "too much"), ("d(threads(computing))/dt", 2, "increase of a total"),
        ("bytes() + time(computing)", 8, "cannot be added"), ("bytes(0)", 7, '"," should be here'), ("bytes(0, x)", 9, "a rank should be here"),
        ("bytes(3-1, 0)", 6, "before"), ("calls(computing)", 6, "not called"), ("computing", 0, "threads(computing)"), ("threads", 0, "parentheses"),
        ('threads("MPI_', 8, 'second "'), ("1 $ 2", 2, '"$" has no meaning'), ("cycles", 0, "no counter"), ("(" * 60 + "1" + ")" * 60, 40, "deeply"), ("1+" * 400 + "1", 500, "500"),
        ("d(d(bytes()))", 2, "increase of a total"), ("d(remote())", 2, "no NUMA nodes"), ("calls(task)", 6, "no calls"), ("duration(task)", 9, "no calls"), ('threads("omp_*")', 8, "one by one"), ("max(1, 2)", 5, '")" should be here'), ("", 0, "nothing"), ('threads("")', 8, "no state"), ("1e999 * bytes()", -1, "")]
    # Numbers alone are what another language says.
    chance, sums = random.Random(7), []

    def made(depth):
        if depth == 0 or chance.random() < 0.2:
            return str(chance.choice([chance.randrange(1, 100), round(chance.random() * 10, 3), "2.5e1", "1e-2"]))
        kind = chance.randrange(6)
        if kind == 4:
            return f"-{made(depth - 1)}"
        if kind == 5:
            return f"({made(depth - 1)})"
        return f"{made(depth - 1)} {'+-*/'[kind]}{chance.choice(['', ' '])}{made(depth - 1)}"

    while len(sums) < 300:
        source = made(4)
        try:
            sums.append((source, eval(source)))
        except ZeroDivisionError:
            pass
    every = 1_000_000
    first = report["events"][0]["parts"][0]["begin_ns"] // every
    sources = [source for source, *_ in wrong] + [source for source, _ in sums]
    seen = context.look(context.view(folder), "curves", json.dumps({"sources": ["threads(computing)", *sources], "first": first, "end": first + 60, "every": every}))
    answers = seen["values"][1:]
    for (source, at, part), answer in zip(wrong, answers):
        if at < 0:
            expect(answer == [None] * 60, f"{source!r} has values: {answer}")
            continue
        expect(isinstance(answer, dict) and answer["at"] == at and part in answer["message"] and answer["length"] > 0, f"{source[:80]!r}: {answer}, not {at} {part!r}")
    for (source, value), answer in zip(sums, answers[len(wrong):]):
        values = {v for v in answer if v is not None} if isinstance(answer, list) else answer
        expect(len(values) == 1 and near(next(iter(values)), value), f"{source} is {values}, not {value}")
    said = seen["wrong"]
    expect("computng" in said["text"] and "^^^^^^^^" in said["text"] and "character 29" in said["text"] and said["shown"] == 1 and said["invalid"] == "true", f"{said}")
    expect(seen["hostile"]["images"] == 0 and "<img" in seen["hostile"]["text"], f"{seen['hostile']}")


@test
def marks_of_causes_are_their_iterations_on_their_ranks(context):
    for name, memory, steps in (("marks-whole", "4M", 60), ("marks-few", "16K", 400)):
        folder, report = traced(context, name, memory, "hydro", str(steps), "8")
        page = context.view(folder)
        ranges = [([3, 4, 10, 13, 30, 31], [1, 2]), ([20, 40], [])]
        header, phase = put_causes(page, [
            {"sentence": "Ranks <img src=x onerror=document.title=1> compute longer", "iterations": ranges[0][0], "ranks": ranges[0][1]},
            {"sentence": "All ranks are longer", "iterations": ranges[1][0], "ranks": []},
            {"sentence": "Rank 0 is longer over the whole run", "phase": -1, "iterations": [], "ranks": [0, 1]}], "libprofile report")
        seen = context.look(page, "cause_marks")
        kept = {(r, part["number"] - 1): part for r, events in enumerate(report["events"]) for part in events["parts"] if part["kind"] == "iteration"}
        for c, (iterations, ranks) in enumerate(ranges):
            named = [i for a, b in zip(iterations[::2], iterations[1::2]) for i in range(a, b)]
            for r, clock in enumerate(seen["rows"]):
                times = seen["times"][c][r]
                if ranks and not ranks[0] <= clock["rank"] < ranks[1]:
                    expect_equal(times, [], f"marks of cause {c + 1} on rank {r}")
                    continue
                place = lambda ns: clock["begin"] + ns * clock["scale"]
                for i in named:
                    part = kept.get((r, i))
                    if part:
                        begin, end = place(part["begin_ns"]), place(part["end_ns"])
                        expect(any(b - 1 <= begin and end <= e + 1 for b, e in times), f"iteration {i + 1} of rank {r} has no mark of cause {c + 1}: {times[:5]}")
                wanted = sum(report["phases"][phase]["iteration_times"][r][i] for i in named) * clock["scale"]
                marked = sum(e - b for b, e in times)
                expect(abs(marked - wanted) <= 1e-6 * wanted + 2 * len(named), f"cause {c + 1} on rank {r} marks {marked} ns, its iterations have {wanted}")
        expect_equal(seen["times"][2], [[[0, header["events"]["end"]]], []], "marks of the whole run of rank 0")
        expect_equal([one["cause"] for one in seen["clicked"]], [0, 1, 2], "causes that clicks in the lanes chose")
        expect_equal(seen["clicked"][1]["a"], {"phase": phase, "from": 20, "to": 40, "ranks": None}, "the selection of cause 2")
        expect("<img" in seen["clicked"][0]["words"] and "All ranks are longer" in seen["clicked"][1]["words"], f"under the pointer: {seen['clicked']}")
        expect(seen["title"] != "1", "a sentence ran as a program")
        drawn = seen["drawn"]
        expect(drawn["missed"] == 0 and (drawn["in"] > 0 or memory == "16K"), f"marks that are drawn: {drawn}")
        expect_equal(seen["keys"], [0, 1, 0], "causes that keys choose")


@test
def annotations_are_saved_beside_the_profile(context):
    folder, _ = traced(context, "annotations", "4M", "hydro", "60", "8")
    file = folder / "annotations.json"
    file.unlink(missing_ok=True)
    marks = [{"share": 0.9, "row": 1, "text": "slow <b>here</b>"}, {"share": 0.8, "row": 0, "text": "all wait", "all": True}, {"share": 0.95, "row": 0, "text": "\u202egone", "by": "button"}]
    with context.serve(folder) as (_, address):
        seen = context.look(address, "annotations", json.dumps({"marks": marks, "changes": [{"text": "slow", "becomes": "slower <img src=x onerror=document.title=1>"},
                                                                                           {"text": "all wait"}]}))
        stored = json.loads(file.read_text())["annotations"]
        expect_equal([one["text"] for one in seen["list"]], ["all wait", "slow <b>here</b>", "\u202egone"], "marks that were made, in the order of time")
        expect_equal(["rank" in one for one in seen["list"]], [False, True, True], "marks of one row")
        expect(seen["list"][1]["rank"] == 1 and seen["span"] is None, f"a mark of rank 1 that selects nothing: {seen['list'][1]}, {seen['span']}")
        for word in ("all wait", "slow &#60;b&#62;here&#60;/b&#62;", " gone"):
            expect(word in seen["texts"], f"no flag says {word!r}: {seen['texts']}")
        expect("annotations.json" in seen["note"] and "only" not in seen["note"], f"the note says {seen['note']!r}")
        expect(all(text in read for text, read in zip(("all wait", "all wait", "slow"), seen["read"])) or "all wait" in " ".join(seen["read"]), f"read by keys: {seen['read']}")
        expect(seen["form"]["hidden"] is False and seen["form"]["text"] in seen["hovered"], f"a click on a flag: {seen['form']}, {seen['hovered']}")
        expect_equal(sorted((one["text"], one["ns"]) for one in stored), sorted((one["text"], one["ns"]) for one in seen["after"]), "what is in the file")
        expect_equal(len(stored), 2, "annotations in the file after one was removed")
        expect("file" not in seen, "a served page that has saved all offers a file")
        expect(seen["images"] == 0 and seen["title"] != "1", "a text became a part of the page")
        # The page is opened again, while somebody else adds one.
        stored.append({"id": "other1", "ns": 1000, "text": "from elsewhere"})
        file.write_text(json.dumps({"annotations": stored}))
        again = context.look(address, "annotations", json.dumps({}))
        expect_equal([one["text"] for one in again["at_first"]], ["from elsewhere", *[one["text"] for one in seen["after"]]], "what a page shows that is opened again")
        # A broken file is told, and stays as it is.
        file.write_text('{"annotations": [{"id": 1}]}')
        broken = context.look(address, "annotations", json.dumps({"marks": marks[:1]}), refused=True)
        expect_equal(broken["at_first"], again["at_first"] if broken["at_first"] else [], "what a page shows of a broken file")
        expect("annotation 1" in broken["note"] and "Not saved" in broken["note"], f"the note says {broken['note']!r}")
        expect_equal(file.read_text(), '{"annotations": [{"id": 1}]}', "the broken file")
        expect(json.loads(broken["file"])["annotations"], "what could not be saved is not in the file that the page gives")
    # In a file, they are those of the folder, and new ones are given as a file that the next page has.
    file.write_text(json.dumps({"annotations": stored}))
    static = context.look(context.view(folder), "annotations", json.dumps({"marks": marks[1:2]}))
    expect_equal([one["text"] for one in static["at_first"]], [one["text"] for one in again["at_first"]], "annotations of the written page")
    expect("in this page only" in static["note_after"] and static["file_name"] == "annotations.json", f"the note says {static['note_after']!r}")
    file.write_text(static["file"])
    last = context.look(context.view(folder), "annotations", json.dumps({}))
    expect_equal(last["at_first"], static["after"], "annotations of the next page")


@test
def hostile_annotations_do_no_harm(context):
    folder, _ = traced(context, "annotations", "4M", "hydro", "60", "8")
    file = folder / "annotations.json"
    texts = ["</script><script>document.title=1</script>", "<img src=x onerror=document.title=1>", "a\u0000b\u001b[31m\u202e\u2028", "x" * 500, "&amp;\"'`${1}"]
    file.write_text(json.dumps({"annotations": [{"id": f"i{i}", "ns": ns, "text": texts[i % 5], **({"rank": i % 7, "thread": i % 2} if i % 3 else {})}
                                                for i, ns in enumerate([0, 1, 2**53 - 1, *[400_000_000 + 50_000 * i for i in range(1900)]])]}))
    seen = context.look(context.view(folder), "annotations", json.dumps({}))
    expect_equal(len(seen["at_first"]), 1903, "annotations in the page")
    expect(seen["images"] == 0 and seen["title"] != "1", "a text became a part of the page")
    for content in ("[" * 100000, '{"annotations": 1}', "\x00", '{"annotations": [{"id": "a", "ns": 1, "text": {}}]}'):
        file.write_text(content)
        seen = context.look(context.view(folder), "annotations", json.dumps({}))
        expect(seen["at_first"] == [] and "annotations" in seen["note_at_first"], f"of {content[:40]!r} the page says {seen['note_at_first']!r}")
    # A page whose data somebody changed.
    file.unlink()
    page = context.view(folder)
    text = page.read_text()
    expect('"list":[]' in text, "the page has no list of annotations")
    page.write_text(text.replace('"list":[]', '"list":[null,7,{"id":"<b>","ns":1,"text":"x"},{"id":"a","ns":-1,"text":"x"},{"id":"b","ns":5,"text":7},{"id":"c","ns":9,"text":"good","rank":3000000}]', 1))
    seen = context.look(page, "annotations", json.dumps({}))
    expect_equal([one["text"] for one in seen["at_first"]], ["good"], "annotations that make sense")
