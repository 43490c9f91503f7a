#!/usr/bin/python3
"""How long profiles of other tools take to read, and runs to unify: the sizes of docs/analysis.md, on generated data of known sums.

foreign_profiles.py --build build/release [--repeat 5]
"""

import argparse
import random
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def write_hpctoolkit(folder, nodes, ranks, metrics):
    """A database of version 3 as HPCToolkit lays it out: half of the metrics are inclusive. Returns the sum of the first metric in ns."""
    folder.mkdir()
    source = random.Random(7)
    children = [[] for _ in range(nodes)]
    for node in range(1, nodes):
        children[source.randrange(max(0, node - 200), node)].append(node)
    names = "".join(f'<Procedure i="{i}" n="function_{i}(int, double)"/>' for i in range(1500))
    parts, open_nodes = [], [(0, False)]
    while open_nodes:
        node, is_end = open_nodes.pop()
        if is_end:
            parts.append("</PF>")
            continue
        parts.append(f'<PF i="{node + 1}" s="{node + 1}" l="{node % 900 + 1}" lm="1" f="1" n="{node % 1500}">')
        open_nodes.append((node, True))
        open_nodes.extend((child, False) for child in children[node])
    types = ["exclusive" if m < metrics // 2 else "inclusive" for m in range(metrics)]
    database = "".join(f'<MetricDB i="{m}" n="M{m} ({types[m][0].upper()})" t="{types[m]}" db-glob="*.metric-db" db-id="{m}" db-num-metrics="{metrics}"/>'
                       for m in range(1, metrics))
    (folder / "experiment.xml").write_text(
        '<?xml version="1.0"?>\n<HPCToolkitExperiment version="2.0"><SecCallPathProfile><SecHeader><MetricDBTable>'
        f'<MetricDB i="0" n="CPUTIME (sec) (E)" t="exclusive" db-glob="*.metric-db" db-id="0" db-num-metrics="{metrics}"/>{database}</MetricDBTable>'
        f'<LoadModuleTable><LoadModule i="1" n="/bin/app"/></LoadModuleTable><FileTable><File i="1" n="app.c"/></FileTable>'
        f'<ProcedureTable>{names}</ProcedureTable></SecHeader><SecCallPathProfileData>{"".join(parts)}</SecCallPathProfileData>'
        "</SecCallPathProfile></HPCToolkitExperiment>\n")
    numbers, total = np.random.default_rng(7), 0
    for rank in range(ranks):
        values = numbers.integers(1, 1000, (nodes, metrics)).astype(">f8")
        total += int(values[:, 0].sum()) * 10**9
        head = b"HPCPROF-metricdb__00.10b" + struct.pack(">ii", nodes, metrics)
        (folder / f"app-{rank:06}-000-a8c00001-{rank + 1}-0.metric-db").write_bytes(head + values.tobytes())
    return total


def best(repeat, function):
    walls, processor = [], []
    for _ in range(repeat):
        begin, used = time.perf_counter(), time.process_time()
        result = function()
        walls.append(time.perf_counter() - begin)
        processor.append(time.process_time() - used)
    return result, f"{min(walls):.3f} s, {min(processor):.3f} s of processor time (best of {repeat})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    import libprofile
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        total = write_hpctoolkit(folder / "large", 29586, 64, 8)
        frame, took = best(options.repeat, lambda: libprofile.frame(folder / "large"))
        assert frame.sums("time").sum() == total, "the database was not read whole"
        print(f"HPCToolkit 3, 64 ranks x 29,586 nodes, 4 exclusive and 4 inclusive metrics: {took}")
        total = write_hpctoolkit(folder / "small", 1000, 64, 2)
        subprocess.run([options.build / "tools/libprofile", "export", folder / "small", "--format", "cubex", "--metric", "time", "--output",
                        folder / "small.cubex"], check=True, stdout=subprocess.DEVNULL)
        frame, took = best(options.repeat, lambda: libprofile.frame(folder / "small.cubex"))
        assert frame.sums("time").sum() == total, "the file was not read whole"
        print(f".cubex of 64,000 values: {took}")
    source = random.Random(3)
    nodes = [(0, "app")] + [(source.randrange(max(0, n - 200), n), f"function_{source.randrange(1500)}") for n in range(1, 30000)]
    values = {"time": np.random.default_rng(3).integers(1, 1000, (30000, 1)).astype(float)}
    runs = [libprofile.make_frame([nodes[0]] + [(parent, name + (f".constprop.{run}" if n % 50 == run else "")) for n, (parent, name) in enumerate(nodes[1:])],
                                  [(0, 0)], values) for run in range(32)]
    unified, took = best(options.repeat, lambda: libprofile.unify(runs))
    assert all(frame.sums("time").sum() == values["time"].sum() for frame in unified.frames), "unifying lost values"
    print(f"32 runs of 30,000 nodes unified to {unified.frames[0].node_count}: {took}")


main()
