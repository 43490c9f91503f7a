#!/usr/bin/python3
"""What `libprofile diagnose` promises for threads that wait for each other, against the same work without the cause (tests/programs/team_loss.c)."""

import json

from harness import Skip, expect, expect_equal, main, test

ROUNDS = 400
WORK_MS = {"critical": 1.2, "single": 1.6, "turns": 1.2, "unequal": 1.2}  # of a round without the cause
ATTEMPTS = 6


def loss(job, program, kind, attempt):
    """What the run takes longer with the cause in ns, and the finding; nothing if other programs used the processors."""
    removed = job.run([job.programs / program, f"{kind}_removed", ROUNDS], env={"OMP_NUM_THREADS": 2})
    expect_equal(removed.code, 0, f"exit code of {kind}_removed")
    if float(removed.out) > 1.15 * WORK_MS[kind] * ROUNDS:
        return None
    output = job.folder / f"{program}.{kind}.{attempt}"
    options = {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": output, "LIBPROFILE_SAMPLE": "1kHz"}
    result = job.run(job.preloaded([job.programs / program, kind, ROUNDS], options), env={"OMP_NUM_THREADS": 2})
    expect_equal(result.code, 0, f"exit code of {kind}")
    printed = job.run([job.tool, "diagnose", output, "--format", "json"])
    expect_equal(printed.code, 0, f"exit code of diagnose: {printed.err}")
    return (float(result.out) - float(removed.out)) * 1e6, json.loads(printed.out)["diagnoses"]


def expect_gain(job, kind, cause, function):
    programs = [name for name in ("team_loss_gcc", "team_loss_clang") if (job.programs / name).exists()]
    expect("team_loss_gcc" in programs, "no test program")
    for program in programs:
        tried = []
        for attempt in range(ATTEMPTS):
            found = loss(job, program, kind, attempt)
            if found is None:
                continue
            true, diagnoses = found
            right = [one for one in diagnoses if one["cause"] == cause and one["function"] == function]
            if right and 0.75 <= right[0]["gain"]["ns"] / true <= 1.25:
                break
            tried.append((true, [(one["cause"], one["gain"]["ns"], one["sentence"]) for one in diagnoses]))
        else:
            if not tried:
                raise Skip("other programs use the processors")
            raise AssertionError(f"{program} {kind}: {tried}")


@test
def waiting_for_a_critical_section_is_what_the_run_gains_without_it(job):
    expect_gain(job, "critical", "thread_locks", "locked")


@test
def waiting_for_single_constructs_is_what_the_run_gains_if_they_are_shared(job):
    expect_gain(job, "single", "unequal_threads", "singles")


@test
def threads_that_have_more_in_turn_gain_what_they_wait(job):
    expect_gain(job, "turns", "unequal_threads", "shared")


@test
def a_thread_with_more_work_gains_what_the_others_wait(job):
    expect_gain(job, "unequal", "unequal_threads", "shared")


if __name__ == "__main__":
    main()
