#!/usr/bin/python3
"""Runs tests of tests/process on this system with a libprofile that was built elsewhere: the language matrix, the kill matrix, marks, which are
checked there, and tasks of OpenMP. Their programs were built by build_programs.py. `abi`: standard_abi.py, which builds its own.

Usage: suites.py PREFIX SOURCE_FOLDER BUILD_FOLDER [SUITE...]    prints Markdown: a row for each suite and MPI. Ends with 1 if a test failed.
Without a choice: languages, kills and marks."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

PREFIX, SOURCE, BUILD = map(Path, sys.argv[1:4])
SUITES = {"languages": ["every_language", "count_matrix"], "kills": ["kill_matrix"], "marks": ["marks", "callbacks"], "tasks": ["tasks"],
          "abi": ["../portability/standard_abi"]}
MPIS = ["openmpi", "mpich"]
SKIPPED = 77
VERDICTS = ["passed", "skipped", "fails without libprofile", "failed"]
LIMIT = 360 * float(os.environ.get("TEST_TIME_FACTOR", "1"))


def listed(script, mpi):
    """The tests of a script that `scripts/test` runs with this MPI, by the list that ctest has. ONCE is not looked at: here is one more MPI."""
    if script in SUITES["abi"]: # not in that list: of other systems only
        from standard_abi import tests
        return list(tests)
    text = re.sub(r"#.*", "", (SOURCE / "tests/process/CMakeLists.txt").read_text())
    text = re.sub(r"\$\{\w+\}", MPIS[0], text) # one MPI for programs that know none
    names = []
    for words in re.findall(rf"process_tests\({script}\b([^)]*)\)", text):
        options, _, tests = words.partition(" TESTS")
        of = re.search(r"MPIS((?: (?:openmpi|mpich))+)", options)
        if not of or mpi in of[1].split():
            names += tests.split("LONG")[0].split()
    return names


def outcome(script, mpi, name):
    """Which of VERDICTS, and what was said."""
    command = [sys.executable, "-B", SOURCE / f"tests/process/{script}.py", "--library", PREFIX / "lib/libprofile.so", "--tool",
               PREFIX / "bin/libprofile", "--programs", BUILD / "programs", "--build", BUILD, "--mpi", mpi, name]
    try:
        result = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return VERDICTS[3], f"not finished after {LIMIT:.0f} s"
    said = result.stdout + result.stderr
    if result.returncode in (0, SKIPPED):
        return VERDICTS[result.returncode != 0], said
    hanging = re.search(r"(?m)^not finished after \d+ s\n--- the last command ---\n\$ (.*)", said)
    hangs_without = hanging and "LD_PRELOAD=" not in hanging[1] and str(PREFIX / "bin") not in hanging[1]
    return VERDICTS[2 if hangs_without or re.search("(?m)^exit code without libprofile:", said) else 3], said


def main():
    missing = (BUILD / "missing").read_text().split()
    print("Not built here: " + (", ".join(missing) or "nothing") + "\n")
    print(f"| tests | MPI | {' | '.join(VERDICTS)} |\n|---|---|---|---|---|---|", flush=True)
    failures = 0
    for suite in sys.argv[4:] or ["languages", "kills", "marks"]:
        for mpi in MPIS:
            found = {verdict: [] for verdict in VERDICTS}
            for script in SUITES[suite]:
                for name in listed(script, mpi):
                    start = time.monotonic()
                    verdict, said = outcome(script, mpi, name)
                    if verdict in VERDICTS[2:]: # a second try, as in scripts/test: launchers on a shared machine have bad moments
                        print(f"first try of {name}.{mpi}:\n{said[-6000:]}", file=sys.stderr)
                        verdict, said = outcome(script, mpi, name)
                    found[verdict].append(name)
                    print(f"{verdict}: {name}.{mpi} ({time.monotonic() - start:.1f} s)" + (f"\n{said[-6000:]}" if verdict != "passed" else ""),
                          file=sys.stderr, flush=True)
            failures += len(found["failed"])
            print(f"| {suite} | {mpi} | {len(found['passed'])} | " + " | ".join(", ".join(found[one]) or "0" for one in VERDICTS[1:]) + " |",
                  flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
