"""Extra-P's JSON lines (extrap/fileio/file_reader/jsonlines_file_reader.py): a measurement a line."""

import json

from . import Reading, expect, nanoseconds


def read(place, locations):
    """Values are means over the locations."""
    reading, sums, seen, parameters = Reading(), {}, set(), None
    with open(place) as file:
        for line in file:
            data = json.loads(line)
            parameters = parameters or data["params"]
            expect(data["params"] == parameters, "the same parameters in each line of a run")
            expect(all(isinstance(value, (int, float)) for value in parameters.values()), "parameters are numbers")
            key = data["callpath"], data["metric"]
            expect(key not in seen, f"{key} is there twice: it would count as a repetition")
            seen.add(key)
            value = data["value"] * locations
            reading.add(data["metric"], nanoseconds(value) if data["metric"] == "time" else round(value))
            reading.names.update(data["callpath"].split("->"))
    reading.parameters = parameters
    return reading
