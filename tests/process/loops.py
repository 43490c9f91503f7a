#!/usr/bin/python3
"""The time loop of programs that mark nothing (tests/programs/loops.c) is found, and every pass is an iteration."""

import itertools
import json
import re
import resource
import subprocess
import time

from harness import expect, expect_equal, kill_all, main, test


def measured(job, kind, passes, work, ranks, output, options):
    """The program's report, which says that ranks were off the processor only for as long as the operating system has it, too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = job.measured([job.program("loops"), kind, passes, work], ranks=ranks, options=options, output=output, timeout=240)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect_equal((result.code, result.complaints), (0, []), f"{kind}: exit code and complaints")
    report = job.report(output)
    wall = sum(report["job"]["wall_ns"]) / 1e9
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    absent = sum(sum(path["exclusive"].get("time", [0])) for phase in report["phases"] for path in phase["call_paths"] if path["name"] == "(off CPU)") / 1e9
    expect(absent <= max(wall - used, 0) + wall / 10, f"{kind}: {absent:.2f} s off CPU, of {wall:.2f} s of all ranks, which used {used:.2f} s of it")
    return report


def run(job, kind, passes, work=4000, ranks=2, **options):
    job.runs += 1
    output = f"{kind}.again{job.runs}" if (job.folder / kind).exists() else kind # what is there would be kept, and read
    report = measured(job, kind, passes, work, ranks, output, options)
    loops = {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}
    said = " ".join(sentence for answer in report["answers"] if answer["key"] == "change" for sentence in answer["answers"])
    return loops, said, report


def visits(report, name):
    return sum(sum(path["exclusive"].get("visits", [0])) for phase in report["phases"] for path in phase["call_paths"]
               if path["name"] == name)


def expect_one_loop(job, kind, passes, function, **options):
    loops, said, report = run(job, kind, passes, **options)
    expect_equal(list(loops.values()), [[passes, passes]], f"{kind}: iterations of ranks")
    expect_equal(list(loops), [f"loop in {function}"], f"{kind}: name of the phase")
    expect(f"was found automatically, in {function} at loops.c:" in said, f"{kind}: {said}")
    expect_equal("; sure: nothing contradicts it" in said, all(loop["sure"] for loop in report["loops"]), f"{kind}: the report says that it is sure: {said}")
    return said, report


def expect_levels(job, kind, passes, levels, main, ranks=2, **options):
    """Loops inside each other, {function: iterations} from the outermost: each is named with the others beside it, and one is shown first."""
    report = measured(job, kind, passes, options.pop("work", 4000), ranks, f"{kind}-{ranks}", options)
    phases = {phase["name"]: phase for phase in report["phases"] if phase["kind"] == "iterations"}
    said = [sentence for answer in report["answers"] if answer["key"] == "change" for sentence in answer["answers"]]
    names = [f"loop in {function}" for function in levels]
    expect_equal({name: phase["iterations_per_rank"] for name, phase in phases.items()},
                 {f"loop in {function}": [count] * ranks for function, count in levels.items()}, f"{kind} on {ranks} ranks: iterations")
    expect_equal([name for name, phase in phases.items() if not phase.get("frame")], [f"loop in {main}"], f"{kind}: no frame")
    expect_equal({loop["phase"]: loop["inside"] for loop in report["loops"]}, dict(zip(names, ["", *names])), f"{kind}: levels")
    expect_equal(report["loops"][0]["phase"], f"loop in {main}", f"{kind}: the first of the loops")
    expect_equal([loop["missed"] for loop in report["loops"]], [0] * len(levels), f"{kind}: passes that are missed: {said}")
    expect(f'of "loop in {main}"' in said[0], f"{kind}: the first sentence: {said}")
    for inner, outer in zip(list(levels)[1:], levels):
        for one, how, other in ((inner, "inside", outer), (outer, "around", inner)):
            expect(any(text.startswith(f'"loop in {one}" was found') and f'{how} the {levels[other]:,} iterations of "loop in {other}"' in text
                       for text in said), f"{kind}: {one} {how} {other}: {said}")
    return {loop["phase"].removeprefix("loop in "): loop for loop in report["loops"]}, report


def expect_all_passes_or_doubt(job, kind, passes, **options):
    """Code does not always tell what a pass calls: then passes may be missed, but none of the loops is said to be sure."""
    loops, said, report = run(job, kind, passes, **options)
    expect(list(loops.values()) == [[passes, passes]] or not any(loop["sure"] for loop in report["loops"]), f"{loops}: {said}")


@test
def the_loop_of_a_program_is_found(job):
    expect_one_loop(job, "simple", 60, "simple")
    expect_one_loop(job, "main", 60, "main")
    expect_one_loop(job, "setup", 60, "simple")
    expect_one_loop(job, "interpreter", 60, "simple")
    expect_one_loop(job, "deep", 60, "simple")


@test
def calls_inside_operations_of_the_program_do_not_hide_the_loop(job):
    _, report = expect_one_loop(job, "operations", 60, "operations")
    expect_equal(visits(report, "MPI_Allreduce"), 2 * 61, "reductions")  # with the first one, of main
    expect(visits(report, "MPI_Type_size") >= 60, "calls of the operation")


@test
def a_loop_too_deep_to_be_followed_is_not_taken_for_another(job):
    loops, said, _ = run(job, "too_deep", 60)
    expect_equal(loops, {}, "loops")
    expect("no time loop was found" in said, said)


@test
def a_loop_with_several_callers_is_of_each_rank_once(job):
    _, report = expect_one_loop(job, "several_callers", 60, "simple")
    expect_equal([loop["ranks"] for loop in report["loops"]], [[0, 1]], "ranks of the loop")


@test
def loops_that_were_found_before_the_first_marker_are_named_as_such(job):
    loops, said, _ = run(job, "marked_late", 80, work=70000) # 5.6 s
    expect_equal(sorted(loops.values()), [[20, 20], [80, 80]], f"iterations of {loops}")
    expect("was found automatically, in simple at loops.c:" in said, said)


@test
def a_call_that_may_be_left_out_is_not_surely_of_every_pass(job):
    expect_all_passes_or_doubt(job, "seldom_around", 300)


@test
def a_call_that_a_function_of_a_library_may_leave_out_is_not_surely_of_every_pass(job):
    """Debian's LAMMPS on one rank: Neighbor::decide() jumps to check_distance(), which makes the only call of a step, or not."""
    for protection, place in itertools.product(("none", "full"), ([], ["own"])):
        name = " ".join([f"library_steps_{protection}", *place])
        result = job.measured([job.program(f"library_steps_{protection}"), 300, 3000, *place], ranks=1, output=name.replace(" ", "."), timeout=120)
        expect_equal((result.code, result.complaints), (0, []), f"{name}: exit code and complaints")
        report = job.report(name.replace(" ", "."))
        counts = [phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"]
        said = " ".join(sentence for answer in report["answers"] for sentence in answer["answers"])
        expect_equal(counts, [[300 // 50 * 47]], f"{name}: passes with the call")
        expect(not any(loop["sure"] for loop in report["loops"]) and "not sure" in said, f"{name}: {said}")


@test
def where_a_function_computes_behind_its_call_each_pass_counts(job):
    """The samples that hit there leave the mark where it is."""
    expect_one_loop(job, "computes_behind", 300, "computes_behind", work=2000)


@test
def passes_that_make_one_of_several_calls_all_count(job):
    for kind in ("either_2", "either_5", "either_30"):
        expect_one_loop(job, kind, 120, "either_call")
    expect_one_loop(job, "one_of_three", 120, "one_of_three")


@test
def where_the_code_does_not_say_what_a_pass_calls_it_is_not_sure(job):
    expect_all_passes_or_doubt(job, "one_and_other", 120)


@test
def passes_that_calls_do_not_show_are_not_surely_others(job):
    for kind in ("around_inner", "turns", "seldom_a_call", "seldom_inside", "two_seldom_inside", "seldom_at_the_end", "seldom_a_solver", "unrolled"):
        expect_all_passes_or_doubt(job, kind, 100)


@test
def what_a_report_says_of_an_unrolled_loop_tells_its_passes_apart(job):
    _, said, report = run(job, "unrolled", 100)
    named = re.search(r"the compiler may have unrolled the loop.* LIBPROFILE_ITERATION=(\S+) makes", said)
    expect(named, f"{said}: {report['loops']}")
    job.measured([job.program("loops"), "unrolled", 100, 4000], options={"LIBPROFILE_ITERATION": named[1]}, output="named", timeout=240)
    phases = job.report("named")["phases"]
    expect_equal([phase["iterations_per_rank"] for phase in phases if phase["kind"] == "iterations"], [[100, 100]], named[1])


@test
def what_follows_the_last_pass_is_not_the_time_of_the_loop(job):
    """A seventh of the time is in the loop."""
    _, said, report = run(job, "long_after", 40)
    expect(not any(loop["sure"] for loop in report["loops"]), said)
    expect("the time loop was not found" in said or "no time loop was found" in said, said)


@test
def a_branch_that_is_first_taken_late_is_not_passed_over(job):
    expect_all_passes_or_doubt(job, "either_late", 120, work=60000) # settled on after 5 s


@test
def passes_that_are_left_by_an_exception_count(job):
    for kind in ("caught_here", "caught_within", "rethrown", "with_destructors"):
        for every in (1, 2, 7):
            report = job.profile([job.program("thrown_passes"), kind, every, 70], 2)
            expect_equal([loop["iterations"] for loop in report["loops"]], [[70, 70]], f"{kind}, every {every}: {report['loops']}")
            names = [phase["name"] for phase in report["phases"] if phase["kind"] == "iterations"]
            expect(len(names) == 1 and names[0].endswith(f"::{kind}"), f"{kind}, every {every}: {names}")


@test
def where_no_mark_may_be_nothing_is_sure(job):
    """The rules of an unwinder that is part of the program are not known."""
    report = job.profile([job.program("thrown_passes_static"), "caught_here", 7, 70], 2)
    expect(report["loops"], "no loop was found")
    expect(not any(loop["sure"] for loop in report["loops"]), f"sure: {report['loops']}")


@test
def functions_that_end_by_jumping_to_mpi_are_followed(job):
    _, report = expect_one_loop(job, "tail_calls", 60, "tail_calls")
    found = report["call_paths_found"]
    expect(found["marks_placed"] == 0 or found["paths_by_libunwind"] < 60, f"call paths: {found}")


@test
def a_solver_inside_is_not_the_time_loop(job):
    expect_levels(job, "nested", 60, {"nested": 60, "solver": 390}, "solver")
    expect_one_loop(job, "stages", 60, "stages")
    expect_levels(job, "only_a_solver", 60, {"only_a_solver": 60, "solver": 300}, "solver")


@test
def loops_inside_each_other_are_phases_inside_each_other(job):
    for ranks in (1, 2, 4):
        found, report = expect_levels(job, "intervals", 30, {"intervals": 30, "advance": 300}, "advance", ranks, work=1000)
        expect(found["advance"]["sure"], f"{found}")
        for rank, wall in enumerate(report["job"]["wall_ns"]):
            expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"time of the phases of rank {rank}")
    expect_levels(job, "frames", 8, {"frames": 8, "gmres": 200}, "gmres", work=600)
    expect_levels(job, "three_levels", 8, {"three_levels": 8, "steps_of_solver": 40, "gmres": 400}, "gmres", work=2500)
    expect_levels(job, "three_levels", 30, {"three_levels": 30, "steps_of_solver": 150}, "steps_of_solver", 1, work=500) # too short for a third level
    # Where a sample has moved the mark, nobody knows when the innermost function returned.
    expect_levels(job, "smoothers", 20, {"smoothers": 20, "solver_of_smoothers": 200, "smoother": 1600}, "smoother", work=20000)


def samples_below(phase, name):
    """Of call paths through a function."""
    paths = {path["id"]: path for path in phase["call_paths"]}
    def is_below(path):
        return path["name"] == name or (path["parent"] in paths and is_below(paths[path["parent"]]))
    return sum(sum(path["exclusive"].get("samples", [0])) for path in paths.values() if is_below(path))


@test
def what_follows_a_solver_is_not_its_last_iteration(job):
    """Also where no MPI call is made there: the iteration ends when the solver's function returns. In the last 50 steps its last call
    is too deep to be followed."""
    step_us, passes = 2000, {"cut out of the log": 30, "while they come": 900} # a loop is settled on after 5 s
    for outer, inner, cases in (("assembly", "plain_solver", passes), ("assembly_around_jumps", "jumping_solver", ["cut out of the log"])):
        for when in cases:
            count = passes[when]
            when = f"{outer}, {when}"
            loops, said, report = run(job, outer, count, work=step_us, LIBPROFILE_SAMPLE="2kHz")
            steps, iterations = (loops[f"loop in {function}"] for function in (outer, inner))
            expect_equal((steps, iterations), ([count] * 2, [count * 20] * 2), when)
            phases = {phase["name"]: phase for phase in report["phases"]}
            expect_equal(samples_below(phases[f"loop in {inner}"], "assemble"), 0, f"{when}: samples of the step's own work in the solver's iterations")
            expect(samples_below(phases[f"loop in {outer}"], "assemble") > 0, f"{when}: samples of the step's own work")
            for rank, wall in enumerate(report["job"]["wall_ns"]):
                expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"{when}: time of the phases of rank {rank}")
                own = phases[f"loop in {outer}"]["wall_ns"][rank]
                expect(own >= (steps[rank] - 1) * step_us * 1500, f"{when}: {own} ns of {steps[rank]} steps are not in iterations of the solver")
            expect("until the next MPI call" not in said, said)


@test
def loops_inside_each_other_in_one_function_are_phases_inside_each_other(job):
    for ranks in (1, 2):
        result = job.measured([job.program("loops"), "nested_here", 60, 4000], ranks=ranks, output=f"here-{ranks}", timeout=120)
        expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
        report = job.report(f"here-{ranks}")
        outer, inner = (next(phase for phase in report["phases"] if phase["iterations_per_rank"] == [count] * ranks) for count in (60, 810))
        expect(all(phase["name"].startswith("loop in nested_here at loops.c:") for phase in (outer, inner)), f"{outer['name']}, {inner['name']}")
        expect_equal((bool(outer.get("frame")), bool(inner.get("frame"))), (True, False), "frames")
        expect_equal({loop["phase"]: loop["inside"] for loop in report["loops"]}, {outer["name"]: "", inner["name"]: outer["name"]}, "levels")
        for rank, wall in enumerate(report["job"]["wall_ns"]):
            expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"time of the phases of rank {rank}")


@test
def a_solver_in_few_steps_has_all_its_iterations(job):
    """Steps of different lengths, too few to be a loop by themselves."""
    iterations = sum(17 + i * 37 % 34 for i in range(6))
    for ranks in (1, 2, 4):
        found, _ = expect_levels(job, "driver", 6, {"driver": 6, "gmres": iterations}, "gmres", ranks, work=2000)
        expect(found["gmres"]["sure"] and not found["driver"]["sure"], f"{found}")
    expect_levels(job, "solver_sets", 6, {"solver_sets": 6, "gmres": 300}, "gmres", work=2000)


@test
def output_every_few_steps_is_not_the_time_loop(job):
    _, report = expect_one_loop(job, "output_sometimes", 60, "output_sometimes")
    expect_equal(visits(report, "MPI_Gather"), 2 * 6, "visits of the output")


@test
def what_is_done_at_every_second_step_is_not_the_time_loop(job):
    expect_one_loop(job, "every_second", 60, "every_second")


@test
def entries_of_a_call_site_are_passes_where_every_call_misses_some(job):
    _, report = expect_one_loop(job, "check_mostly", 60, "check_mostly")
    expect_equal([loop["call"] for loop in report["loops"]], [""], "calls that begin a pass")
    expect(not report["loops"][0]["sure"], f"sure: {report['loops']}")


@test
def one_time_loop_after_another_makes_two_phases(job):
    loops, said, _ = run(job, "two", 60)
    expect_equal(sorted(loops.values()), [[60, 60], [60, 60]], "iterations of ranks")
    expect_equal(sorted(loops), ["loop in second", "loop in simple"], "names of the phases")
    expect("in simple at loops.c:" in said and "in second at loops.c:" in said, said)


@test
def two_loops_in_one_function_are_told_apart(job):
    loops, _, _ = run(job, "two_here", 300, work=1000) # the first is settled on before the second begins
    expect_equal(sorted(loops.values()), [[300, 300], [300, 300]], "iterations of ranks")
    loops, _, report = run(job, "two_here", 60)
    expect_equal(sorted(loops.values()), [[60, 60], [60, 60]], "iterations of ranks")
    expect(all(name.startswith("loop in two_here at loops.c:") for name in loops), f"names: {loops}")
    # Each is chosen by the name that is shown, and by the one in the file.
    for phase in report["phases"]:
        for name in (phase["name"], *phase.get("recorded_as", [])):
            if phase["kind"] == "iterations":
                chosen = job.run([job.tool, "report", "two_here", "--phase", name, "--format", "json"])
                expect_equal(chosen.code, 0, f"report --phase {name}")
                expect_equal(json.loads(chosen.out)["selection"]["phase"], phase["name"], f"phase chosen by {name}")


@test
def ranks_that_go_different_ways_have_the_same_iterations(job):
    expect_one_loop(job, "ranks_apart", 60, "ranks_apart")


@test
def master_and_workers_share_a_phase_and_are_said_to_differ(job):
    loops, said, report = run(job, "master_and_workers", 60)
    expect_equal(loops, {"loop in master_and_workers": [60, 60]}, "iterations of ranks")
    expect("different call sites" in said, said)
    phase = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
    expect_equal(sorted(loop["recorded_as"] for loop in report["loops"]), sorted(phase["recorded_as"]), "names in the file")
    expect_equal(len(phase["recorded_as"]), 2, "names in the file")
    expect(not any(loop["sure"] for loop in report["loops"]), f"sure: {report['loops']}")
    for name in (phase["name"], *phase["recorded_as"]):
        file = job.folder / f"{name.replace('/', '_')}.json"
        expect_equal(job.run([job.tool, "export", "master_and_workers", "--format", "chrome", "--phase", name, "--output", file]).code, 0,
                     f"export --phase {name}")
        spans = [event for event in json.loads(file.read_text())["traceEvents"] if event["ph"] == "X" and event["cat"] == "iteration"]
        expect_equal(len(spans), 120, f"iterations in the export of {name}")


@test
def a_function_that_calls_itself_for_the_next_pass_is_a_loop(job):
    said, report = expect_one_loop(job, "recursion", 60, "recursion")
    expect("not sure: the function calls itself" in said and not report["loops"][0]["sure"], said)
    loop = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
    calls = [sum(path["exclusive"]["visits"][rank] for path in loop["call_paths"] if path["name"] == "MPI_Allreduce") for rank in (0, 1)]
    expect_equal(calls, [60, 60], "calls in the iterations")


@test
def passes_of_a_recursion_that_lie_too_deep_are_said_to_be_missing(job):
    loops, said, _ = run(job, "recursion", 600, work=200)
    iterations = next(iter(loops.values()), [0, 0])
    expect(all(500 <= count < 512 for count in iterations), f"iterations: {loops}")
    expect("lie too deep in the stack" in said, said)


@test
def no_loop_is_found_where_there_is_none(job):
    for kind in ("no_loop", "tree_walk", "cycle"):
        loops, said, _ = run(job, kind, 40)
        expect_equal(loops, {}, f"loops of {kind}")
        expect("no time loop was found" in said, f"{kind}: {said}")


@test
def a_loop_that_begins_in_a_pause_of_the_search_is_found_late_and_not_sure(job):
    passes = 1600
    for kind in ("after_many_calls", "after_many_types"):
        loops, said, report = run(job, kind, passes)
        expect_equal(list(loops), ["loop in simple"], f"{kind}: loops")
        for iterations in loops["loop in simple"]:
            expect(16 <= iterations < passes, f"{kind}: iterations: {loops}")
        expect("not sure" in said and "before it was found could not be told apart" in said, said)
        expect_equal(visits(report, "MPI_Allreduce"), 2 * (passes + 1), f"{kind}: visits")


@test
def a_loop_whose_iterations_cost_too_much_is_given_up(job):
    passes = 300000
    loops, said, report = run(job, "shrinking", passes)
    expect_equal(list(loops), ["loop in shrinking"], "loops")
    iterations = loops["loop in shrinking"]
    if max(iterations) == passes: # other processes had the processors most of the time: then it costs little of that
        phase = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
        own = sum(sum(path["exclusive"].get("time", [0])) for path in phase["call_paths"] if path["kind"] == "overhead")
        expect(own < 0.3 * sum(phase["wall_ns"]), f"{own} ns of {phase['wall_ns']}")
    else:
        expect(min(iterations) > 1000, f"iterations: {loops}")
        expect("not sure" in said and "ending them took a fifth of the time" in said, said)
    expect_equal(visits(report, "MPI_Waitall"), 2 * passes, "visits")
    for rank, wall in enumerate(report["job"]["wall_ns"]):
        expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"time of the phases of rank {rank}")


@test
def nothing_is_looked_for_if_so_asked(job):
    for choice in ("none", "marker"):
        loops, said, _ = run(job, "simple", 40, LIBPROFILE_ITERATION=choice)
        expect_equal(loops, {}, f"loops with {choice}")
        expect("this profile has no iterations" in said, said)


@test
def passes_before_a_loop_was_found_are_cut_out_exactly(job):
    # The log holds some hundred passes, so most come when the loop is known.
    loops, said, report = run(job, "nested", 400, LIBPROFILE_MEMORY="3M", LIBPROFILE_CHECKPOINT="50ms")
    expect("was found automatically, in nested at loops.c:" in said, said)
    iterations = loops["loop in nested"]
    expect_equal((visits(report, "MPI_Waitall"), visits(report, "MPI_Allreduce")), (800, 2 * 2601), "visits")
    for rank, wall in enumerate(report["job"]["wall_ns"]):
        expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"time of the phases of rank {rank}")
    loop = next(phase for phase in report["phases"] if phase["name"] == "loop in nested")
    waits = [sum(path["exclusive"]["visits"][rank] for path in loop["call_paths"] if path["name"] == "MPI_Waitall") for rank in (0, 1)]
    expect_equal(waits, iterations, "visits inside the loop")
    # A machine that is busy with other things may hide the loop for as long as the first log lasts; then that is said.
    missed = next(loop["missed"] for loop in report["loops"] if loop["phase"] == "loop in nested")
    expect(min(iterations) + missed >= 399 and max(iterations) <= 400, f"{loops}: {report['loops']}")


@test
def an_outer_loop_that_shows_late_goes_around_the_inner(job):
    loops, said, report = run(job, "late", 60, work=2400, ranks=1) # 77,000 messages between ranks take minutes on a busy machine
    expect(min(loops["loop in late"]) >= 6 and max(loops["loop in late"]) <= 60, f"iterations: {loops}")
    expect(min(loops["loop in solver"]) >= 18000 + 30 * 1000, f"iterations: {loops}")
    missed = next(loop["missed"] for loop in report["loops"] if loop["phase"] == "loop in late")
    expect_equal(loops["loop in late"][0] + missed, 60, "iterations, and passes before the first of them")
    expect('iterations of "loop in late"' in said and "found later and replaced it" not in said, said)
    expect_equal({loop["phase"]: loop["inside"] for loop in report["loops"]}, {"loop in late": "", "loop in solver": "loop in late"}, "levels")


@test
def a_loop_far_inside_that_fills_the_log_does_not_hide_the_time_loop(job):
    loops, said, report = run(job, "much_inside", 30, work=100, LIBPROFILE_MEMORY="3M")
    expect_equal(loops["loop in much_inside"], [30, 30], "iterations") # those inside may last long enough on a busy machine
    expect_equal(visits(report, "MPI_Allreduce"), 2 * (1 + 30 * 600), "visits")
    for rank, wall in enumerate(report["job"]["wall_ns"]):
        expect_equal(sum(phase["wall_ns"][rank] for phase in report["phases"]), wall, f"time of the phases of rank {rank}")


@test
def slow_passes_do_not_hide_the_time_loop(job):
    """When the log is full, that is in the middle of such a pass, the loop is not over because its next pass does not come for long."""
    loops, _, report = run(job, "disturbed", 60, LIBPROFILE_MEMORY="3M")
    expect_equal(loops["loop in disturbed"], [60, 60], "iterations")
    expect_equal(visits(report, "MPI_Allreduce"), 2 * (1 + 60 * 600), "visits")


@test
def found_iterations_outlive_their_ranks(job):
    """A snapshot of the time before the loop was known must not contradict what was cut out of that time afterwards."""
    program = [job.program("loops"), "master_and_workers", 1000000, 500]
    command = [*job.launcher(2), *job.preloaded(program, {"LIBPROFILE_OUTPUT": job.folder / "killed"})]
    with subprocess.Popen([str(word) for word in command], env=job.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True):
        time.sleep(10) # a loop is settled on after 5 s
        kill_all()
    report = job.report("killed")
    found = [phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"]
    expect_equal(len(found), 1, f"loops: {found}")
    for rank, count in enumerate(found[0]):
        expect(count > 500, f"rank {rank} has {count} iterations")
    expect([loop["share"] > 0.5 for loop in report["loops"]] == [True, True], f"what was found: {report['loops']}")


@test
def a_loop_that_the_code_proves_is_not_waited_for(job):
    """A job that is killed after two seconds has the iterations that it closed; other loops are settled on after five."""
    for program, kind in (("loops", "simple"), ("loops", "solves"), ("unproved_loops", "cleaned"), ("unproved_loops_fixed", "cleaned")):
        folder = f"{program}-{kind}"
        command = [*job.launcher(2), *job.preloaded([job.program(program), kind, 1000000, 500], {"LIBPROFILE_OUTPUT": job.folder / folder})]
        with subprocess.Popen([str(word) for word in command], env=job.environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True):
            time.sleep(3) # one second of which may go to the launcher
            kill_all()
        report = job.report(folder)
        found = [phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"]
        expect(len(found) == 1 and min(found[0]) > 500, f"{folder}: loops: {found}")


@test
def what_jumps_alone_do_not_show_is_waited_for(job):
    """Recursion, long jumps, exceptions, calls that come later or stay away, a second loop, markers (tests/programs/unproved_loops.cpp)."""
    for kind, passes, work, loops in (
            ("rare_branch", 500, 2000, {"rare_branch": 500}), ("changes", 500, 2000, {"changes": 500}),
            ("jumps_at_ends", 500, 2000, {"jumps_at_ends": 500}), ("jumps_to_mpi", 500, 2000, {"jumps_to_mpi": 500}),
            ("long_jumps", 7, 8000, {"long_jumps": 7, "solver": 280}), ("recursive", 7, 8000, {"recursive": 7}),
            ("restarts", 7, 8000, {"restarts": 7, "solver": 280}), ("restarts_afterwards", 7, 8000, {"restarts_afterwards": 7, "solver": 280}), ("in_succession", 300, 2000, {"first": 300, "second": 60}),
            ("marked_afterwards", 400, 4000, {"first": 100, "pcontrol-1000": 400})):
        result = job.measured([job.program("unproved_loops"), kind, passes, work], output=kind, timeout=120)
        expect_equal((result.code, result.complaints), (0, []), f"{kind}: exit code and complaints")
        report = job.report(kind)
        expect_equal({phase["name"].removeprefix("loop in "): phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"},
                     {name: [count, count] for name, count in loops.items()}, f"{kind}: iterations of ranks")
        said = " ".join(sentence for answer in report["answers"] for sentence in answer["answers"])
        expect("mark the loop" not in said, f"{kind}: {said}")


if __name__ == "__main__":
    main()
