#!/usr/bin/python3
"""Builds the test programs of this repository with the compilers and the MPIs that PATH finds first, for suites.py.

Usage: build_programs.py SOURCE_FOLDER BUILD_FOLDER [CMAKE OPTIONS]    leaves BUILD_FOLDER/programs, the log BUILD_FOLDER/log and
BUILD_FOLDER/missing: the names, one a line, of programs that these compilers and MPIs cannot build."""

import re
import subprocess
import sys
from pathlib import Path


def main():
    source, build, *options = sys.argv[1:]
    subprocess.run(["cmake", "-S", f"{source}/tests/portability", "-B", build, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    result = subprocess.run(["ninja", "-C", build, "-k", "0"], capture_output=True, text=True)
    (Path(build) / "log").write_text(result.stdout)
    missing = sorted(set(re.findall(r"(?m)^FAILED: (?:\[code=\d+\] )?programs/(\S+)", result.stdout)))
    (Path(build) / "missing").write_text("".join(f"{name}\n" for name in missing))


if __name__ == "__main__":
    main()
