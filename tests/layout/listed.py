#!/usr/bin/python3
"""Every test function of real processes and of the page is in its folder's CMakeLists.txt: one that is not would never run.

Usage: listed.py SOURCE_FOLDER"""

import re
import sys
from pathlib import Path

TEST = re.compile(r"^@test\ndef (\w+)\(", re.MULTILINE)


def not_listed(script, listing):
    words = set(re.findall(r"\w+", listing))
    return [name for name in TEST.findall(script) if name not in words]


def main():
    assert not_listed("@test\ndef one(job):\n    pass\n\n\n@test\ndef two(job):\n", "process_tests(numbers TESTS\n  one)") == ["two"]
    failed, tests = False, 0
    for folder in (Path(sys.argv[1]) / "tests" / name for name in ("process", "view")):
        listing = (folder / "CMakeLists.txt").read_text()
        for path in sorted(folder.glob("*.py")):
            text = path.read_text()
            tests += len(TEST.findall(text))
            for name in not_listed(text, listing):
                print(f"{path}: {name} is in no list of {folder / 'CMakeLists.txt'}")
                failed = True
    assert tests > 100, f"only {tests} tests were found"
    print(f"{tests} tests" + ("" if failed else ": all are listed"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
