"""speedscope's file format, checked against the schema that speedscope publishes (speedscope-schema.json beside this file)."""

import json
from pathlib import Path

import jsonschema  # Debian's python3-jsonschema

from . import Reading, expect

SCHEMA = json.loads((Path(__file__).parent / "speedscope-schema.json").read_text())


def read(place):
    with open(place) as file:
        document = json.load(file)
    jsonschema.validate(document, SCHEMA)
    frames = document["shared"]["frames"]
    reading = Reading()
    for profile in document["profiles"]:
        title, _, metric = profile["name"].partition(", ")
        metric = metric or "time"
        expect(profile["unit"] == "nanoseconds" or metric != "time", "unit of times")
        expect(len(profile["samples"]) == len(profile["weights"]), "a weight for each stack")
        expect(all(isinstance(w, int) for w in profile["weights"]), "integers")
        expect(profile["endValue"] - profile["startValue"] == sum(profile["weights"]), "range of the values")
        expect(all(0 <= f < len(frames) for stack in profile["samples"] for f in stack), "frames of the stacks")
        if title == "all ranks":
            reading.totals[metric] = sum(profile["weights"])
        else:
            rank = reading.by_rank.setdefault(int(title.split()[1]), {})
            rank[metric] = rank.get(metric, 0) + sum(profile["weights"])
    reading.names = {frame["name"] for frame in frames}
    reading.lines = {frame["name"]: (frame["file"], frame["line"]) for frame in frames if "line" in frame}
    return reading
