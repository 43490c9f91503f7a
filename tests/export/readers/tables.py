"""CSV tables (RFC 4180), read by Python's csv module."""

import csv
import os

from . import Reading, expect


def table(place, name):
    with open(os.path.join(place, name), newline="") as file:
        rows = list(csv.DictReader(file, strict=True))
    expect(all(None not in row and None not in row.values() for row in rows), f"{name}: as many fields as columns")
    return rows


def read(place):
    reading = Reading()
    paths = {int(row["call_path"]): row for row in table(place, "call_paths.csv")}
    for number, row in paths.items():
        expect(number == 0 or int(row["parent"]) < number, "parents come first")
    reading.estimated = 0
    for row in table(place, "values.csv"):
        expect(int(row["call_path"]) in paths and int(row["value"]) > 0, f"{row}")
        reading.add(row["metric"], int(row["value"]), int(row["rank"]), paths[int(row["call_path"])]["name"] if row["call_path"] != "0" else "(no call path)")
        reading.estimated += int(row["estimated"])
    reading.names = {row["name"] for row in paths.values()}
    reading.lines = {row["name"]: (row["file"], int(row["line"])) for row in paths.values() if row["line"]}
    reading.phases, reading.iterations, reading.clusters, reading.locations = (table(place, name + ".csv") for name in ("phases", "iterations", "clusters", "locations"))
    return reading
