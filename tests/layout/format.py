#!/usr/bin/python3
"""All C and C++ files are as clang-format lays them out (version 14, .clang-format), with lines of at most 160 columns.

Usage: format.py SOURCE_FOLDER. Exit code 77: there is no clang-format 14."""

import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDERS = ["format", "include", "libprofile", "wrappers", "tools", "python", "benchmarks", "tests"]
NOT_LAID_OUT = Path("tests/programs")
WIDTH = 160
BATCH = 50  # files


def formatter():
    for name in ("clang-format-14", "clang-format"):
        path = shutil.which(name)
        if path and re.search(r"version 14\.", subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout):
            return path
    return None


def main():
    root, program = Path(sys.argv[1]), formatter()
    if program is None:
        print("clang-format 14 was not found")
        return 77
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*")) if path.suffix in {".cpp", ".hpp", ".h", ".c"}]

    # Many at a time: loading the program takes longer than formatting a file.
    def complaints(batch):
        found = subprocess.run([program, "--dry-run", "-Werror", *batch], capture_output=True, text=True)
        names = dict.fromkeys(re.findall(r"^(.*?):\d+:\d+: error: ", found.stderr, re.MULTILINE))
        if (found.returncode == 0) != (not names):
            sys.exit(f"{program} failed: {found.stderr}")
        return [f"{name}: clang-format would change it" for name in names]

    with ThreadPoolExecutor() as pool:
        wrong = [line for lines in pool.map(complaints, (files[i : i + BATCH] for i in range(0, len(files), BATCH))) for line in lines]
    for path in files:
        if NOT_LAID_OUT not in path.relative_to(root).parents:
            wrong += [f"{path}:{number}: {len(line)} columns" for number, line in enumerate(path.read_text().splitlines(), 1) if len(line) > WIDTH]
    print("\n".join(wrong) or f"{len(files)} files")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
