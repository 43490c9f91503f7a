#!/usr/bin/python3
"""Visits and bytes in the report equal the log that the program wrote itself (tests/programs/traffic.c)."""

from harness import main, test
from report_checks import check_log


def compare(job, ranks, options=None):
    check_log(job.folder, job.profile([job.program("traffic"), "7"], ranks, options=options), ranks)


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
