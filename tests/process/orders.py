#!/usr/bin/python3
"""In which order events come in iterations (LIBPROFILE_ORDER) equals the logs that programs write themselves: every call of the programs of
tests/programs/matrix, in all languages (call_log.h)."""

import json
import re
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import chrome

from count_matrix import RANKS, logged_c_programs, logged_cxx_program, logged_fortran_programs, logged_mpi4py_program
from harness import expect, expect_equal, main, test

ORDER = {"LIBPROFILE_ORDER": 1, "LIBPROFILE_SAMPLE": "1kHz"}


def left_out(job):
    """Functions that are in no sequence: polls, and what switches the measurement."""
    table = (job.source / "wrappers/mpi/functions.table").read_text()
    return {name for name in re.findall(r"(?m)^wrap\s+(MPI_\w+)(?:\[_c\])?\s+\w+\s+(?:poll|control)\b", table)}


def logged_orders(job, rank, without):
    """The calls of each iteration in the order of the program's log."""
    steps = {}
    for step, function in json.loads((job.folder / f"order.{rank}.json").read_text()):
        steps.setdefault(step, [])
        if function not in without:
            steps[step].append(function)
    return [steps.get(step, []) for step in range(max(steps) + 1)]


def orders(phase, at, without=()):
    """The same by the profile; None for an iteration whose order is not known."""
    order = phase["order"][at]
    lists = []
    for one in order["timelines"]:
        events = [(event["name"], event["count"]) for event in one["timeline"] if event["kind"] == "mpi"]
        lists.append([name for name, count in events if name not in without for _ in range(count)])
    return [None if number is None else lists[number] for number in order["sequence_of_iteration"]]


def check_times(phase, at):
    """Events lie in their iterations, and end in the order in which they are listed."""
    order, times = phase["order"][at], phase["iteration_times"][at]
    for number, one in enumerate(order["timelines"]):
        mine = [time for time, of in zip(times, order["sequence_of_iteration"]) if of == number]
        expect_equal(len(mine), one["iterations"], "iterations of a sequence")
        end = 0
        for event in one["timeline"]:
            expect(event["begin"] <= event["begin_most"] <= max(mine) and event["length_most"] <= max(mine), f"an event in iterations of {mine}: {event}")
            expect(event["begin"] + event["length"] >= end - 2, f"an event ends before the one that was over before it: {event}")
            end = event["begin"] + event["length"]


def compare(job, command, env=None, without=()):
    ranks = RANKS[job.mpi]
    report = job.profile(command, ranks, options=ORDER, env={**(env or {}), "CALL_LOG_STEPS": 1})
    expect_equal(job.last.complaints, [], "complaints")
    phase = next(phase for phase in report["phases"] if phase["name"] == "log")
    without = left_out(job) | set(without)
    for rank in range(ranks):
        found, expected = orders(phase, rank, without), logged_orders(job, rank, without)
        if found and not found[-1] and len(found) == len(expected) + 1:  # the last iteration may have no call
            found.pop()
        wrong = [(number, mine, other) for number, (mine, other) in enumerate(zip(found, expected)) if mine != other]
        expect_equal(wrong[:1], [], f"{command[0]}: iterations of rank {rank} (number, found, logged)")
        expect_equal(len(found), len(expected), f"{command[0]}: number of iterations of rank {rank}")
        check_times(phase, rank)


@test
def orders_of_c_programs_equal_their_logs(job):
    for program in logged_c_programs(job):
        compare(job, *program)


@test
def orders_of_fortran_programs_equal_their_logs(job):
    for program in logged_fortran_programs(job):
        compare(job, *program)


@test
def orders_of_cxx_bindings_equal_their_log(job):
    for program in logged_cxx_program(job):
        compare(job, *program)


@test
def orders_of_mpi4py_equal_their_log(job):
    for program in logged_mpi4py_program(job):
        compare(job, *program)


OPENMP_BY_CHANCE = {"omp critical", "omp lock", "omp ordered", "omp single", "omp taskwait", "omp taskgroup", "omp idle"}


def events_by_name(phase, at):
    """Events of all iterations by kind and name, from the timelines, which must all be there."""
    found = {}
    order = phase["order"][at]
    expect_equal((order["iterations_without"], order["untimed"]), (0, 0), f"iterations of {phase['name']!r} whose order is not known")
    for one in order["timelines"]:
        for event in one["timeline"]:
            if "phase" not in event:
                key = event["kind"], event["name"]
                found[key] = found.get(key, 0) + event["count"] * one["iterations"]
    return found


def visits_by_name(phase, at, without):
    found = {}
    for path in phase["call_paths"]:
        visits = path["exclusive"].get("visits", [0] * (at + 1))[at]
        if path["kind"] in ("mpi", "openmp", "region") and path["name"] not in without and visits:
            key = path["kind"], path["name"]
            found[key] = found.get(key, 0) + visits
    return found


@test
def all_visits_in_iterations_are_in_timelines(job):
    """Of MPI, named regions and OpenMP; with iterations inside others. Phases without iterations lie in iterations here."""
    without = left_out(job) | OPENMP_BY_CHANCE
    for command in ([job.example("hydro"), 50, 10], [job.program("regions")], [job.program("nested"), 20]):
        report = job.profile(command, options=ORDER)
        phases = [phase for phase in report["phases"] if phase["kind"] == "iterations"]
        expect(phases, f"{command[0]}: iterations")
        inside = [phase for phase in report["phases"] if phase["kind"] == "aggregate"]
        for rank in range(2):
            found, visits = Counter(), Counter()
            for phase in phases:
                found.update(events_by_name(phase, rank))
                check_times(phase, rank)
            for phase in phases + inside:
                visits.update(visits_by_name(phase, rank, without))
            expect_equal(found, visits, f"{command[0]}, rank {rank}: events")


@test
def threads_of_openmp_have_the_order_of_their_own_events(job):
    for program in ("openmp_gcc", "openmp_clang"):
        if not (job.programs / program).exists():
            continue
        output = job.folder / program
        result = job.run(job.preloaded([job.programs / program, "regions", 20], {**ORDER, "LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": output}),
                         env={"OMP_NUM_THREADS": 2})
        expect_equal(result.code, 0, "exit code")
        report = job.report(output)
        step = next(phase for phase in report["phases"] if phase["name"] == "step")
        expect_equal(events_by_name(step, 0), visits_by_name(step, 0, OPENMP_BY_CHANCE), f"{program}: events of the main thread")
        worker = next(phase for phase in report["threads"]["phases"] if phase["name"] == "step")
        found, visits = events_by_name(worker, 0), visits_by_name(worker, 0, OPENMP_BY_CHANCE)
        expect_equal(set(found), set(visits), f"{program}: events of the worker")
        for key, number in visits.items():  # what it waits for at the end of the last iteration is over after it
            expect(abs(number - found[key]) <= 1, f"{program}: {key}: {number} visits, {found[key]} events")


@test
def exported_typical_iterations_have_the_means_of_the_timelines(job):
    report = job.profile([job.example("hydro"), 50, 10], options=ORDER)
    output = job.folder / "typical.json"
    expect_equal(job.run([job.tool, "export", job.folder / "profile.1", "--format", "chrome", "--output", output]).code, 0, "exit code")
    reading = chrome.read(output, "timestep")
    for phase in (phase for phase in report["phases"] if phase["kind"] == "iterations"):
        for rank in range(2):
            timelines = sorted((one for one in phase["order"][rank]["timelines"] if one["timeline"]), key=lambda one: -one["iterations"])[:10]
            expected = [(one["iterations"], sorted((event["begin"], event["name"] if "name" in event else f"phase {event['phase']}", event["count"], event["length"])
                                                   for event in one["timeline"])) for one in timelines]
            found = [(iterations, sorted((begin, name, count, ns) for name, count, begin, ns in events))
                     for iterations, events in reading.typical[rank, phase["name"]]]
            expect_equal(found, expected, f"typical iterations of {phase['name']} on rank {rank}")


@test
def passes_before_a_loop_was_found_have_no_order(job):
    report = job.profile([job.program("loops"), "nested", 400, 1000], options=ORDER)
    loop = next(phase for phase in report["phases"] if phase["name"].startswith("loop in nested"))
    for rank in range(2):
        order = loop["order"][rank]
        numbers = order["sequence_of_iteration"]
        known = [number is not None for number in numbers]
        expect_equal(len(numbers), len(loop["iteration_times"][rank]), "iterations")
        expect_equal(order["iterations_without"], known.count(False), "iterations without an order")
        expect(known[-2] and known == sorted(known), f"iterations whose order is known come last: {known}")
        expect_equal({event["name"] for one in order["timelines"] for event in one["timeline"] if event.get("kind") == "mpi"} & {"MPI_Waitall"}, {"MPI_Waitall"},
                     "a call of each pass")


@test
def structure_says_why_no_order_is_known(job):
    """The loop of a short run is found when it is over."""
    report = job.profile([job.program("loops"), "nested", 20, 1000], options=ORDER)
    loops = [phase for phase in report["phases"] if phase["name"].startswith("loop in nested")]
    expect(loops and all(one["iterations_without"] == 20 for one in loops[0]["order"]), f"a loop that was found at the end: {loops and loops[0]['order']}")
    said = job.run([job.tool, "structure", job.folder / "profile.1"])
    expect_equal((said.code, said.out.count("the order of calls is known of no iteration")), (0, 1), f"once: {said.out}")


@test
def a_killed_rank_keeps_the_orders_of_its_snapshot(job):
    job.run([*job.launcher(2), *job.preloaded([job.program("mortal"), "kill", 0, 40, job.folder],
                                              {"LIBPROFILE_OUTPUT": job.folder / "killed", "LIBPROFILE_ORDER": 1, "LIBPROFILE_CHECKPOINT": "20ms"})])
    report = job.report("killed")
    loop = next(phase for phase in report["phases"] if phase["name"] == "step")
    for rank in range(2):
        order = loop.get("order", [None] * 2)[rank]
        if order is not None:
            numbers = order["sequence_of_iteration"]
            expect_equal(len(numbers), len(loop["iteration_times"][rank]), f"iterations of rank {rank}")
            known = [number is not None for number in numbers]
            expect(known == sorted(known, reverse=True), f"iterations of the snapshot come first: {known}")


@test
def without_memory_iterations_without_a_timeline_are_counted(job):
    report = job.profile([job.example("adaptive_cpp"), 300, 20], options={**ORDER, "LIBPROFILE_ORDER_MEMORY": "16k"})
    phase = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
    for rank in range(2):
        order = phase["order"][rank]
        lost = sum(one["iterations"] for one in order["timelines"] if one["timeline"] is None)
        expect_equal(order["untimed"], lost, "iterations of sequences without a timeline")
        expect_equal(order["unnumbered"] <= order["iterations_without"], True, "iterations without a number")


@test
def without_the_option_there_is_no_order(job):
    report = job.profile([job.example("hydro"), 20, 10])
    expect_equal([phase["name"] for phase in report["phases"] if "order" in phase], [], "phases with an order")


if __name__ == "__main__":
    main()
