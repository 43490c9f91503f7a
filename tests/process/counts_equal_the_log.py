#!/usr/bin/python3
"""Visits and bytes in the report equal the log that the program wrote itself (tests/programs/traffic.c)."""

import json

from harness import expect_equal, main, test
from report_checks import calls, sums


def compare(job, ranks, options=None):
    report = job.profile([job.program("traffic"), "7"], ranks, options=options)
    for rank in range(ranks):
        log = json.loads((job.folder / f"log.{rank}.json").read_text())
        expect_equal(sorted({phase["name"] for phase in report["phases"]}), sorted(log), "phases")
        for phase, logged in log.items():
            where = f"rank {rank}, phase {phase!r}: "
            expect_equal(calls(report, rank, phase), logged["calls"], where + "calls")
            logged_metrics = {name: value for name, value in logged["metrics"].items() if value}
            expect_equal(sums(report, rank, phase), logged_metrics, where + "metrics")


@test
def visits_and_bytes_equal_the_programs_log(job):
    compare(job, 2)


@test
def visits_and_bytes_are_exact_with_one_cluster(job):
    compare(job, 2, {"LIBPROFILE_CLUSTERS": 1})


@test
def visits_and_bytes_are_exact_without_equivalence(job):
    compare(job, 2, {"LIBPROFILE_CLUSTERS": 3, "LIBPROFILE_EQUIVALENCE": "none", "LIBPROFILE_SAMPLE": 0})


@test
def visits_and_bytes_equal_the_log_of_four_ranks(job):
    compare(job, 4)


if __name__ == "__main__":
    main()
