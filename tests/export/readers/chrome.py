"""Trace Event Format (the document of that name by the Chromium authors): the JSON object form, times in microseconds."""

import json

from . import Reading, expect

REQUIRED = {"X": {"pid", "tid", "ts", "dur", "name"}, "M": {"pid", "name", "args"}, "C": {"pid", "ts", "name", "args"}}


def read(place, row):
    """The iterations of the row of that name, in order, by rank: reading.iterations[rank] = [(ns, cluster)]."""
    with open(place) as file:
        document = json.load(file)
    reading, names, ends = Reading(), {}, {}
    reading.iterations = {}
    for event in document["traceEvents"]:
        expect(REQUIRED[event["ph"]] <= set(event), f"fields of {event}")
        if event["ph"] == "M" and event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
    for event in document["traceEvents"]:
        if event["ph"] != "X":
            continue
        where = event["pid"], event["tid"]
        expect(round(event["dur"] * 1000) == event["args"]["ns"], "duration")
        expect(round(event["ts"] * 1000) == ends.get(where, 0), "end to end")
        ends[where] = round(event["ts"] * 1000) + event["args"]["ns"]
        if names[where] != row:
            continue
        reading.iterations.setdefault(event["pid"], []).append((event["args"]["ns"], event["args"]["cluster"]))
        for metric in ("time", "visits", "bytes"):
            reading.add(metric, event["args"].get(metric, 0), event["pid"])
    return reading
