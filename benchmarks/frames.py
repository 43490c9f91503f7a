#!/usr/bin/python3
"""How long questions to frames take, and how much memory: the figures of docs/analysis.md.

    frames.py BUILD FOLDER RANKS NODES [--cores N]

Makes FOLDER with large_profile where it is missing (12 bytes a value on disk, twice that with totals), and asks each question in a
process of its own, with the files in the cache. The numbers are compared with those of numpy on truth.f64.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

QUESTIONS = ("first", "imbalance", "verbose", "all")


def literal(folder, ranks, nodes):
    """Chopper's definition on a matrix: mean, max and imbalance of each node over ranks, and percentiles. Without the program."""
    import numpy as np
    values = np.fromfile(folder / "truth.f64").reshape(ranks, nodes)
    mean, most = values.mean(axis=0), values.max(axis=0)
    return mean, most, most / mean, values


def ask(build, folder, ranks, nodes, question):
    sys.path.insert(0, str(build / "python"))
    import numpy as np

    import libprofile

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    seconds = {}
    start = time.perf_counter()

    def lap(name):
        nonlocal start
        seconds[name] = round(time.perf_counter() - start, 4)
        start = time.perf_counter()
    frame = libprofile.frame(folder, "time")
    lap("frame")
    if question in ("first", "imbalance", "all"):
        result = frame.load_imbalance()
        lap("load_imbalance")
    if question in ("verbose", "all"):
        result = frame.load_imbalance(verbose=True)
        lap("verbose")
    if question == "all":
        frame.hot_path()
        lap("hot_path")
        frame.to_callgraph()
        lap("to_callgraph")
    memory = round(peak())
    if question != "first":
        mean, most, imbalance, values = literal(folder, ranks, nodes)
        order = np.argsort(result["node"])  # nodes are numbered as the generator's call paths
        for name, wanted in (("mean", mean), ("max", most), ("imbalance", imbalance)):
            np.testing.assert_allclose(result["time." + name][order], wanted, rtol=1e-12)
        if "time.percentiles" in result:
            some = slice(0, nodes, max(1, nodes // 1000))
            np.testing.assert_allclose(result["time.percentiles"][order][some], np.percentile(values[:, some], [0, 25, 50, 75, 100], axis=0).T, rtol=1e-12)
    print(json.dumps({"question": question, "seconds": seconds, "all": round(sum(seconds.values()), 3), "peak_MiB": memory}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("ranks", type=int)
    parser.add_argument("nodes", type=int)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--ask", choices=QUESTIONS)
    options = parser.parse_args()
    if options.ask:
        return ask(options.build, options.folder, options.ranks, options.nodes, options.ask)
    if not (options.folder / "profile.lprof").exists():
        needed = options.ranks * options.nodes * 32
        if shutil.disk_usage(options.folder.parent).free < 2 * needed:
            sys.exit(f"{needed >> 20} MiB are needed beside as much that stays free")
        subprocess.run([options.build / "benchmarks/large_profile", options.folder, str(options.ranks), str(options.nodes)], check=True)
    (options.folder / "totals.lprof").unlink(missing_ok=True)
    cores = sorted(os.sched_getaffinity(0))[:options.cores]
    for question in QUESTIONS:
        command = [sys.executable, __file__, options.build, options.folder, str(options.ranks), str(options.nodes), "--ask", question]
        subprocess.run(["taskset", "-c", ",".join(map(str, cores)), *command], check=True)
    for file in sorted(options.folder.iterdir()):
        print(f"{file.name}: {file.stat().st_size >> 20} MiB")


main()
