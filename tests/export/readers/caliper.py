"""Caliper's JSON-split format, as cali-query writes it and Hatchet's CaliperReader and Thicket read it."""

import json

from . import Reading, expect, nanoseconds

THICKET = {"cluster", "jobsize", "numhosts", "launchdate", "launchday", "user", "executablepath", "libraries", "compiler",
           "compilerversion", "threads", "problem_size", "iterations", "elapsed_time", "figure_of_merit", "mpi.world.size",
           "cali.caliper.version", "cali.channel", "num_processes"}


def read(place):
    with open(place) as file:
        document = json.load(file)
    data, columns, about, nodes = (document[key] for key in ("data", "columns", "column_metadata", "nodes"))
    expect(len(columns) == len(about), "metadata of each column")
    path = columns.index("path")
    expect(about[path]["is_value"] is False and all(a["is_value"] for i, a in enumerate(about) if i != path), "value columns")
    for i, node in enumerate(nodes):
        expect(node["column"] == "path" and node["label"] and node.get("parent", -1) < i, f"node {i}")
    expect(sorted(row[path] for row in data) == list(range(len(nodes))), "one row for each node")
    expect(all(len(row) == len(columns) for row in data), "a value for each column")
    metadata = {key: value for key, value in document.items() if key not in ("data", "columns", "column_metadata", "nodes")}
    expect(THICKET <= set(metadata), f"metadata without {THICKET - set(metadata)}")
    expect(all(isinstance(value, (str, int, float)) for value in metadata.values()), "metadata are scalars")
    reading = Reading()
    for name in columns:
        if not name.startswith("sum#"):
            continue
        metric = name[len("sum#"):].replace("time.duration", "time")
        unit = nanoseconds if metric == "time" else round
        column = {key: columns.index(key + name) for key in ("", "min#", "max#", "avg#", "inclusive#")}
        rows = {row[path]: row for row in data}
        below = {node: 0 for node in rows}
        for node in range(len(nodes) - 1, -1, -1):  # children come after their parents
            row = rows[node]
            expect(unit(row[column["inclusive#"]]) == unit(row[column[""]]) + below[node], f"inclusive {metric} of node {node}")
            expect(row[column["min#"]] <= row[column["avg#"]] * (1 + 1e-9) and row[column["avg#"]] <= row[column["max#"]] * (1 + 1e-9), f"statistics of {metric} of node {node}")
            if "parent" in nodes[node]:
                below[nodes[node]["parent"]] += unit(row[column["inclusive#"]])
            reading.add(metric, unit(row[column[""]]))
    reading.names = {node["label"] for node in nodes}
    reading.metadata = metadata
    return reading
