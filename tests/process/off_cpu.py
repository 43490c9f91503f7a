#!/usr/bin/python3
"""Time off the processor has the function that it was in (tests/programs/off_cpu.c, which writes down what is true)."""

from harness import expect, expect_equal, main, test

REPEATS = 8


def truth_of(log):
    """By function: wall time, time off the processor, the part of that in calls that wait; ns."""
    return {name: [int(number) for number in numbers] for name, *numbers in (line.split() for line in log.read_text().splitlines())}


def below(phases, function, is_off, rank=0):
    """Time of a rank at all call paths through the function, on the processor or off it."""
    total = 0
    for phase in phases:
        inside = set()
        for path in phase["call_paths"]:  # parents come first
            if path["name"] == function or path["parent"] in inside:
                inside.add(path["id"])
                if (path["kind"] == "off_cpu") == is_off:
                    total += path["exclusive"].get("time", [0])[rank]
    return total


def profile(job, *mode, **more):
    log = job.folder / "truth"
    report = job.profile([job.program("off_cpu"), log, REPEATS, *mode], timeout=110, **more)
    return report, truth_of(log)


def expect_waits_in_their_functions(report, truth, least):
    phases = report["phases"]
    for function in ("nap", "store", "contend", "pause_between"):
        _, off, waited = truth[function]
        waits = REPEATS * (1 if function == "pause_between" else 3)
        if waited < 20e6 * waits:  # a disk as fast as memory: nothing is longer than samples are apart
            expect_equal(function, "store", "a function that did not wait")
            continue
        found = below(phases, function, True)
        # Others may take the processor in between, too: that counts if it is long.
        expect(least * waited <= found <= 1.1 * off, f"{function}: {found / 1e6:.1f} ms off the processor, "
               f"waited {waited / 1e6:.1f} ms, did not run for {off / 1e6:.1f} ms")


@test
def sleep_locks_files_and_page_faults_are_in_known_functions(job):
    report, truth = profile(job)
    expect_waits_in_their_functions(report, truth, 0.9)
    # rest() itself makes no sample: what is known of its sleep is the caller.
    expect_equal(below(report["phases"], "rest", True), 0, "time in a function that nobody saw")
    text = job.run([job.tool, "report", f"profile.{job.runs}"]).out
    expect("% (off CPU) in " in text.split("most in:")[1].split("What changes")[0], "the first screen does not name the functions")
    wall, off, _ = truth["touch"]
    found = below(report["phases"], "touch", False)
    expect(0.9 * (wall - off) <= found <= 1.1 * (wall - off), f"{found / 1e6:.1f} ms of {(wall - off) / 1e6:.1f} ms")


@test
def the_search_for_the_loop_takes_waits_along(job):
    report, truth = profile(job, "unmarked")
    loops = [phase for phase in report["phases"] if phase["kind"] == "iterations"]
    expect_equal(len(loops), 1, "loops")
    expect_waits_in_their_functions(report, truth, 0.75)


@test
def samples_of_wall_time_count_nothing_twice(job):
    report, truth = profile(job, options={"LIBPROFILE_SAMPLE_CLOCK": "wall"})
    for function, (wall, off, _) in truth.items():
        found = below(report["phases"], function, True)
        expect(found <= 1.1 * off + 20e6, f"{function}: {found / 1e6:.1f} ms off the processor of {off / 1e6:.1f} ms")


if __name__ == "__main__":
    main()
