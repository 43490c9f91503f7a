#!/usr/bin/python3
"""Times `libprofile compare` of two synthetic runs of 64 ranks and about 10,000 iterations with the values of each, and `libprofile view` of both.

Usage: compare.py BUILD_FOLDER [REPETITIONS]"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def main():
    build, repetitions = Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory() as folder:
        for name, iterations in (("old", 10000), ("new", 10100)):
            subprocess.run([build / "tests/unit/big_profile", name, "64", str(iterations), "64", "series"], cwd=folder, check=True)
        page = Path(folder) / "page.html"
        commands = (["compare"], ["compare", "--iterations", "100:5000"], ["compare", "--over-time"], ["view", "-o", page])
        for command, *arguments in commands:
            seconds = []
            for _ in range(repetitions + 1):  # the first one reads the files into the cache
                start = time.perf_counter()
                subprocess.run([build / "tools/libprofile", command, "old", "new", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
                seconds.append(time.perf_counter() - start)
            print(f"{command} old new {' '.join(map(str, arguments))}: median {sorted(seconds[1:])[repetitions // 2]:.3f} s of {repetitions} runs, longest {max(seconds[1:]):.3f} s")
        print(f"a page of {page.stat().st_size / 1e6:.2f} MB")
        print(f"memory up to {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")


main()
