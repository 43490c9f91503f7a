#!/usr/bin/python3
"""Where a pass of a time loop begins (tests/programs/pass_starts.c): at what comes in each pass, also where passes change in kind later."""

import re

from harness import expect, expect_equal, main, test

EARLY = {"LIBPROFILE_MEMORY": "3M"}  # the log is full soon, so the loop is settled on early


def found(job, kind, passes, work, ranks=2, options=None):
    """Iterations of the ranks by phase, and the loops of the report."""
    report = job.profile([job.program("pass_starts"), kind, passes, work], ranks, options=options, timeout=120)
    phases = {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}
    return phases, report["loops"], report


def expect_passes(job, kind, passes, iterations, work=1000, **more):
    phases, loops, report = found(job, kind, passes, work, **more)
    expect_equal(list(phases), [f"loop in {kind}"], f"{kind}: loops: {loops}")
    counts = next(iter(phases.values()))
    expect(all(abs(count - iterations) <= 1 for count in counts), f"{kind}: iterations of ranks: {counts}: {loops}")
    expect(counts == [iterations] * len(counts) or not loops[0]["sure"], f"{kind}: sure of {counts}: {loops}")
    return loops, report


@test
def passes_begin_at_what_the_code_says_comes_in_each(job):
    for kind in ("neighbours", "branches", "one_inside"):
        loops, _ = expect_passes(job, kind, 120, 120)
        expect(loops[0]["sure"], f"{kind}: {loops}")


@test
def what_the_first_pass_leaves_out_begins_none(job):
    for kind in ("first_left_out", "first_left_out_inside", "first_differs"):
        loops, report = expect_passes(job, kind, 60, 60)
        counts = next(phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations")
        expect_equal(counts, [60, 60], f"{kind}: {loops}")


@test
def a_call_that_comes_several_times_in_a_pass_later_begins_no_more_passes(job):
    """At first the exchange makes one call of each kind."""
    loops, _ = expect_passes(job, "adaptive", 100, 800, work=4000, options=EARLY)
    expect(not loops[0]["sure"], f"a step has eight of them: {loops}")
    for kind in ("adaptive_here", "subcycles"):
        expect_passes(job, kind, 600, 600, work=500, options=EARLY)
    _, loops, _ = found(job, "solver_later", 600, 500, options=EARLY)
    outer = [loop for loop in loops if not loop["inside"]]  # those inside are long enough for a level on some machines
    expect(len(outer) == 1 and all(abs(count - 600) <= 1 for count in outer[0]["iterations"]), f"solver_later: {loops}")
    expect(outer[0]["iterations"] == [600, 600] or not outer[0]["sure"], f"solver_later: sure of {loops}")


@test
def a_loop_around_in_the_same_function_that_shows_late_goes_around_the_inner(job):
    phases, loops, _ = found(job, "many_stages", 40, 40000, options=EARLY) # stages of 100 us: never too short to be iterations
    expect_equal((len(loops), any(loop["replaced"] or loop["sure"] for loop in loops)), (2, False), f"{phases}: {loops}")
    inner, = (loop for loop in loops if loop["inside"])
    outer, = (loop for loop in loops if loop["phase"] == inner["inside"])
    for count in outer["iterations"]:
        expect_equal(count + outer["missed"], 40, f"steps with those before: {phases}: {loops}")
    for count in inner["iterations"]:
        expect_equal(count + inner["missed"], 40 * 400, f"stages with those before: {phases}: {loops}")


@test
def a_loop_whose_passes_are_too_short_to_be_iterations_is_named(job):
    phases, loops, report = found(job, "short_passes", 20000, 0)
    said = " ".join(sentence for answer in report["answers"] if answer["key"] == "change" for sentence in answer["answers"])
    expect_equal((phases, loops), ({}, []), "iterations")
    named = re.search(r"no time loop was found: there is a loop in short_passes at pass_starts.c:\d+, but its passes take ([0-9.]+) us", said)
    expect(named and 0 < float(named[1]) < 30, said)


if __name__ == "__main__":
    main()
