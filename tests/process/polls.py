#!/usr/bin/python3
"""Programs that ask again and again (tests/programs/polls.c): every call counts, and their time is right in sum."""

import re

from harness import check_exit_line, expect, expect_equal, main, test


def call_paths(report):
    """Of all phases: a loop may have been found."""
    return [path for phase in report["phases"] for path in phase["call_paths"]]


def polled(job, mode, function, ranks=1, **options):
    """Calls of `function` as counted by the program, its seconds, and the values of the report's function."""
    output = mode + "".join(options.values())
    result = job.measured([job.program("polls"), mode], ranks=ranks, options=options, output=output)
    expect_equal((result.code, result.complaints), (0, []), f"{mode}: exit code and complaints")
    calls, messages, seconds = re.search(r"(\d+) calls, (\d+) messages, ([\d.]+) s", result.out).groups()
    report = job.report(output)
    check_exit_line(result.exit_lines[0], report)
    values = {"time": 0, "visits": 0, "visits_timed_together": 0, "p2p_receive_communications": 0}
    for path in call_paths(report):
        if path["name"] == function:
            for name in values:
                values[name] += path["exclusive"].get(name, [0] * ranks)[ranks - 1]
    return int(calls), int(messages), float(seconds), values, report


@test
def polls_in_a_tight_loop_take_the_time_of_the_loop(job):
    calls, _, seconds, values, report = polled(job, "tight", "MPI_Iprobe")
    expect_equal(values["visits"], calls, "visits")
    expect(values["visits_timed_together"] > 0.8 * calls, f"only {values['visits_timed_together']} of {calls} timed together")
    overhead = sum(path["exclusive"].get("time", [0])[0] for path in call_paths(report)
                   if path["kind"] == "overhead")
    together = (values["time"] + overhead) / 1e9
    expect(0.5 * seconds < together < 1.05 * seconds + 0.05, f"{together} s in {seconds} s")


@test
def polls_are_counted_while_signal_handlers_call_mpi(job):
    # The handler's call may even begin an iteration.
    for options in ({}, {"LIBPROFILE_CALLPATHS": "0"}, {"LIBPROFILE_ITERATION": "MPI_Comm_rank"}):
        calls, _, seconds, values, _ = polled(job, "interrupted", "MPI_Iprobe", **options)
        expect_equal(values["visits"], calls, f"visits with {options}")
        expect(values["time"] / 1e9 < seconds, "more time than there was")
        expect(values["visits_timed_together"] > 1000, f"only {values['visits_timed_together']} of {calls} timed together")


def caller_of(path, paths):
    """The name of the function two calls above a call of MPI."""
    by_id = {each["id"]: each for each in paths}
    return by_id[by_id[path["parent"]]["parent"]]["name"]


@test
def polls_from_one_place_are_told_apart_by_function_and_caller(job):
    for rate in ("auto", "2000", "0"):  # a sample moves the mark inwards
        output = f"callers{rate}"
        result = job.measured([job.program("polls"), "callers"], ranks=1, options={"LIBPROFILE_SAMPLE": rate}, output=output)
        expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
        made, counted, together = {}, {}, 0
        for caller, any_calls, some_calls in re.findall(r"(\w+): (\d+) MPI_Testany, (\d+) MPI_Testsome", result.out):
            made[caller, "MPI_Testany"], made[caller, "MPI_Testsome"] = int(any_calls), int(some_calls)
        for phase in job.report(output)["phases"]:
            for path in phase["call_paths"]:
                if path["name"] not in ("MPI_Testany", "MPI_Testsome"):
                    continue
                key = caller_of(path, phase["call_paths"]), path["name"]
                counted[key] = counted.get(key, 0) + path["exclusive"]["visits"][0]
                together += path["exclusive"].get("visits_timed_together", [0])[0]
        expect_equal(counted, made, f"calls with LIBPROFILE_SAMPLE={rate}")
        expect(together > 0.5 * sum(made.values()), f"only {together} of {sum(made.values())} timed together")


@test
def computing_between_polls_is_not_polling(job):
    calls, _, seconds, values, _ = polled(job, "apart", "MPI_Test")
    expect_equal(values["visits"], calls, "visits")
    # MPI may yield in a test, and a machine that does other things, too, then takes its time; the computing takes 0.2 s.
    expect(values["time"] / 1e9 < seconds + 0.08, f"{values['time'] / 1e9} s, but {seconds} s in MPI_Test")


@test
def polls_that_find_something_are_counted_with_it(job):
    for mode, function in (("mixed", "MPI_Testany"), ("between", "MPI_Test")):
        for callpaths in ("1", "0"):
            calls, messages, seconds, values, _ = polled(job, mode, function, LIBPROFILE_CALLPATHS=callpaths)
            expect_equal((values["visits"], values["p2p_receive_communications"]), (calls, messages), f"{mode}: visits and messages")
            expect(values["time"] / 1e9 < seconds, f"{mode}: more time than there was")


@test
def the_poll_that_copies_a_message_has_its_time(job):
    for callpaths in ("1", "0"):
        calls, _, seconds, values, _ = polled(job, "copies", "MPI_Test", ranks=2, LIBPROFILE_CALLPATHS=callpaths)
        expect_equal(values["visits"], calls, "visits")
        # On a machine that does other things, too, a poll that is not timed may lose its processor.
        expect(0.3 * seconds - 0.02 < values["time"] / 1e9 < 1.2 * seconds + 0.02, f"{values['time'] / 1e9} s, but {seconds} s in MPI_Test")


if __name__ == "__main__":
    main()
