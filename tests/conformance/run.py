#!/usr/bin/env python3
"""Runs MPICH's test suite without and with libprofile and compares. See docs/conformance.md.

    tests/conformance/run.py --mpi openmpi --install build/install
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import build
import compare
import results
import source
import suite
from job import Jobs, kill_all
from report_checks import check_report

PROJECT = Path(__file__).resolve().parents[2]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=["openmpi", "mpich"], required=True)
    parser.add_argument("--install", type=Path, default=PROJECT / "build/install", help="where libprofile is installed")
    parser.add_argument("--cache", type=Path, default=PROJECT / "build/conformance", help="for the suite and its programs")
    parser.add_argument("--results", type=Path, help="folder for the results (default: the cache)")
    parser.add_argument("--only", default="", metavar="REGEX", help="programs whose line (folder/name ranks arguments) matches")
    parser.add_argument("--part", default="1/1", metavar="N/M", help="the n-th of m parts: every m-th program")
    parser.add_argument("--ranks", type=int, default=4, help="most ranks of a program")
    parser.add_argument("--limit", type=float, default=60, help="seconds that a program may take")
    parser.add_argument("--jobs", type=int, default=2, help="compilers at the same time")
    parser.add_argument("--algorithms", action="store_true", help="also every algorithm of MPICH's collectives")
    parser.add_argument("--everywhere", action="store_true", help="preload into the launcher and spawned processes, too")
    parser.add_argument("--check-reports", action="store_true", help="the sums in every report must hold, too")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="LIBPROFILE_* option")
    parser.add_argument("--no-build", action="store_true", help="the programs are up to date")
    return parser.parse_args()


def selected(options):
    lists = suite.LISTS + ([suite.ALGORITHMS] if options.algorithms else [])
    found = suite.programs(options.cache / "suite", options.cache / options.mpi, options.ranks, lists)
    found = [one for one in found if re.search(options.only, one.title)]
    number, parts = map(int, options.part.split("/"))
    return found[number - 1::parts]


def report_checker(tool):
    """A function that says what is wrong with the report of a measurement; nothing if all is well."""
    def check(folder):
        answer = subprocess.run([tool, "report", folder, "--format", "json"], capture_output=True, text=True, timeout=60)
        if answer.returncode != 0:
            return answer.stderr.strip() or f"exit code {answer.returncode}"
        try:
            check_report(json.loads(answer.stdout), repairs=None)
        except AssertionError as error:
            return str(error)
        return ""
    return check


def run_all(jobs, programs, limit, done):
    """Appends to `done` as it goes, so that an interrupted run has results, too."""
    for number, program in enumerate(programs, 1):
        if os.access(Path(jobs.build, program.folder, program.name), os.X_OK):
            done.append(compare.compare(jobs, program, limit))
        else:
            done.append(compare.Comparison(program, compare.NOT_BUILT, [], []))
        seconds = "/".join(f"{runs[0].seconds:.1f}" for runs in (done[-1].plain, done[-1].measured) if runs)
        print(f"{number} of {len(programs)}: {done[-1].verdict}: {program.title} {seconds}", flush=True)


def main():
    options = arguments()
    options.cache = options.cache.resolve()
    programs_folder = options.cache / options.mpi
    if not options.no_build:
        build.build(source.unpack(options.cache), programs_folder, options.mpi, options.jobs)
    tool = options.install.resolve() / "bin/libprofile"
    jobs = Jobs(options.mpi, programs_folder, options.install.resolve() / "lib/libprofile.so",
                dict(word.split("=", 1) for word in options.set), options.everywhere,
                report_checker(tool) if options.check_reports else None)
    start = time.monotonic()
    comparisons = []
    try:
        run_all(jobs, selected(options), options.limit, comparisons)
    except KeyboardInterrupt:
        kill_all()
    where = options.results or options.cache
    where.mkdir(parents=True, exist_ok=True)
    (where / f"results-{options.mpi}.json").write_text(results.as_json(comparisons))
    text = f"{options.mpi}, {(time.monotonic() - start) / 60:.0f} minutes\n\n" + results.summary(comparisons)
    (where / f"results-{options.mpi}.txt").write_text(text)
    print(text)
    sys.exit(any(one.verdict == compare.DIFFERS for one in comparisons))


if __name__ == "__main__":
    main()
