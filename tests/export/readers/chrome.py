"""Trace Event Format (the document of that name by the Chromium authors): the JSON object form, times in microseconds."""

import json

from . import Reading, expect

REQUIRED = {"X": {"pid", "tid", "ts", "dur", "name"}, "M": {"pid", "name", "args"}, "C": {"pid", "ts", "name", "args"},
            "i": {"pid", "tid", "ts", "name", "s"}, "s": {"pid", "tid", "ts", "id", "name", "cat"}, "f": {"pid", "tid", "ts", "id", "name", "cat", "bp"}}


def read(place, row):
    """The iterations of the row of that name, in order, by rank: reading.iterations[rank] = [(ns, cluster)], and when they begin:
    reading.begins[rank]. Sums of call paths: reading.sums[rank][function], own times. Typical
    iterations: reading.typical[rank, phase] = [(iterations, [(name, count, begin, ns)])], events in the order of their begins. Events of
    kept iterations: reading.events[rank] = [(begin, ns, name)], and arrows of messages: reading.arrows[id] = {"s": (rank, at), "f": (rank, at)}."""
    with open(place) as file:
        document = json.load(file)
    reading, names, ends = Reading(), {}, {}
    reading.iterations, reading.begins, reading.sums, reading.typical = {}, {}, {}, {}
    reading.events, reading.arrows = {}, {}
    open_slices = {}
    for event in document["traceEvents"]:
        expect(REQUIRED[event["ph"]] <= set(event), f"fields of {event}")
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
    for event in document["traceEvents"]:
        if event["ph"] in "sf":
            ends_of_arrow = reading.arrows.setdefault(event["id"], {})
            expect(event["ph"] not in ends_of_arrow, f"an arrow has one {event['ph']}")
            ends_of_arrow[event["ph"]] = event["pid"], event["ts"]
        if event["ph"] != "X":
            continue
        where = event["pid"], event["tid"]
        begin, length, own = round(event["ts"] * 1000), round(event["dur"] * 1000), event["args"]["ns"]
        end = begin + length
        is_kept = names[where].startswith("events of kept")
        expect(abs(length - own) <= (0 if event["cat"] != "iteration" and not is_kept else 2 + own // 1000), "duration") # its own clock may go a little wrong
        if names[where].startswith("call paths"):
            stack = open_slices.setdefault(where, [])
            while stack and stack[-1] <= begin:
                stack.pop()
            expect(not stack or end <= stack[-1], f"{event['name']} ends after its caller")
            stack.append(end)
            own = reading.sums.setdefault(event["pid"], {})
            own[event["name"]] = own.get(event["name"], 0) + event["args"]["own_ns"]
            continue
        if is_kept:
            reading.events.setdefault(event["pid"], []).append((begin, own, event["name"]))
            continue
        if event["cat"] in ("order", "typical"):
            if event["cat"] == "order":
                reading.typical.setdefault((event["pid"], names[where].split(":")[0]), []).append((event["args"]["iterations"], []))
            orders = reading.typical[event["pid"], names[where].split(":")[0]]
            if event["cat"] == "order":
                open_slices[where] = begin
            else:
                orders[-1][1].append((event["name"], event["args"]["count"], begin - open_slices[where], own))
            continue
        expect(begin >= ends.get(where, 0), "one after the other")
        ends[where] = end
        if names[where] != row:
            continue
        cluster = event["args"]["cluster"]
        expect(event["name"] == (f"{row} (no cluster)" if cluster is None else f"{row} cluster {cluster}"), f"name of a slice: {event['name']}")
        reading.begins.setdefault(event["pid"], []).append(begin)
        reading.iterations.setdefault(event["pid"], []).append((event["args"]["ns"], event["args"]["cluster"]))
        for metric in ("time", "visits", "bytes"):
            reading.add(metric, event["args"].get(metric, 0), event["pid"])
    return reading
