#!/usr/bin/python3
"""Times `libprofile compare` of two synthetic runs of 64 ranks and about 10,000 iterations with the values of each.

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
        for arguments in ([], ["--iterations", "100:5000"], ["--over-time"]):
            seconds = []
            for _ in range(repetitions + 1):  # the first one reads the files into the cache
                start = time.perf_counter()
                subprocess.run([build / "tools/libprofile", "compare", "old", "new", *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)
                seconds.append(time.perf_counter() - start)
            print(f"compare old new {' '.join(arguments)}: median {sorted(seconds[1:])[repetitions // 2]:.3f} s of {repetitions} runs, longest {max(seconds[1:]):.3f} s")
        print(f"memory up to {resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024} MiB")


main()
