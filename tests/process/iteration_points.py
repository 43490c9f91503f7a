#!/usr/bin/python3
"""LIBPROFILE_ITERATION names a function, a line, a code address or an MPI call: each pass is an iteration, and the program is as it was."""

import os
import re
import subprocess

import debian_programs
from harness import Skip, expect, expect_equal, main, test

VARIANTS = ["", "_o0", "_o2", "_o3", "_cet"]


def passes_of(job, command, point, ranks=1, plain=None, run=False, more=None):
    """Measures with the iteration point; returns iterations by phase, complaints and the report. stdout must be as without."""
    job.runs += 1
    folder = f"iteration_points.{job.runs}"
    if plain is None:
        plain = job.plain(command, ranks).out
    options = {"LIBPROFILE_ITERATION": point, "LIBPROFILE_OUTPUT": job.folder / folder, **(more or {})}
    if run:
        result = job.run([*job.launcher(ranks), job.tool, "run", "--", *command], env=options)
    else:
        result = job.measured(command, ranks, options=options)
    expect_equal((result.code, result.out), (0, plain), f"{point}: exit code and stdout")
    report = job.report(folder)
    found = {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}
    return found, " ".join(result.complaints), report


def expect_passes(job, command, point, passes, ranks=1, name=None, **more):
    found, said, report = passes_of(job, command, point, ranks, **more)
    expect_equal((found, said), ({name or point: [passes] * ranks}, ""), f"{command}: iterations of {point}, and complaints")
    return report


def expect_refusal(job, command, point, words):
    found, said, _ = passes_of(job, command, point)
    expect_equal(found, {}, f"iterations of {point}")
    expect(words in said and said.count("libprofile:") == 1, f"{point}: {said}")
    return said


KINDS = {
    "local": "local_step",
    "arguments": "many_arguments",
    "variable": "variable_arguments",
    "wide": "wide_step",
    "hidden": "Hidden::advance",
    "template": "model::Engine::apply",
    "switch": "switching",
    "tiny": "tiny",
    "branch": "branch_first",
    "exceptions": "model::Engine::advance",
    "call_first": "call_first",
}


def every_kind(job, variant):
    program = job.program(f"iteration_points{variant}")
    for kind, function in KINDS.items():
        expect_passes(job, [program, kind, 50], function, 50)


@test
def entries_of_functions_begin_iterations(job):
    every_kind(job, "")


@test
def entries_of_functions_begin_iterations_whatever_the_compiler_has_done(job):
    for variant in VARIANTS[1:]:
        every_kind(job, variant)


@test
def every_rank_has_its_passes(job):
    expect_passes(job, [job.program("iteration_points"), "exceptions", 60], "model::Engine::advance", 60, ranks=2)


@test
def a_mangled_name_tells_overloads_apart(job):
    command = [job.program("iteration_points"), "overloaded", 40]
    for point in ("model::overloaded", "model::overloaded(int, double)", "model::overloaded<int>"):
        said = expect_refusal(job, command, point, "several functions called" if point.isidentifier() or point[-1] == "d" else "without parameters")
        expect("_ZN5model10overloadedEd" in said and "_ZN5model10overloadedEi" in said, f"the symbols are not named: {said}")
    expect_passes(job, command, "_ZN5model10overloadedEd", 40)


@test
def a_stripped_program_is_entered_at_an_offset(job):
    program = job.program("iteration_points_o2")
    names = job.run(["nm", program]).out
    offset = re.search(r"0*([0-9a-f]+) T _Z14many_arguments", names)[1]
    stripped = job.folder / "stripped"
    expect_equal(job.run(["strip", "-o", stripped, program]).code, 0, "strip")
    expect_passes(job, [stripped, "arguments", 50], f"stripped+0x{offset}", 50)
    for point in ("many_arguments", "step", "tick"): # with and without functions of libraries that are called nearly so
        said = expect_refusal(job, [stripped, "arguments", 50], point, "stripped")
        expect("did you mean" not in said, said)
    expect_refusal(job, [stripped, "arguments", 50], f"stripped+0x{int(offset, 16) + 1:x}", "neither the first instruction")


@test
def several_points_may_have_one_name(job):
    command = [job.program("iteration_points"), "overloaded", 40]
    expect_passes(job, command, "either=_ZN5model10overloadedEd,_ZN5model10overloadedEi", 80, name="either")
    # One that cannot be followed: then none is.
    expect_refusal(job, command, "either=_ZN5model10overloadedEd,loop_at_entry", 'passes of "loop_at_entry" cannot be followed: a loop jumps back')
    expect_passes(job, command, "=_ZN5model10overloadedEd, many_arguments", 40, name="_ZN5model10overloadedEd, many_arguments")


@test
def functions_of_libraries_begin_iterations(job):
    expect_passes(job, [job.program("iteration_points_linked"), "exceptions", 50], "model::Engine::advance", 50)


@test
def procedures_of_fortran_begin_iterations(job):
    command = [job.program("iteration_points_fortran"), 50]
    for point, passes in {"model::advance": 50, "advance": 50, "outside": 50, "inside": 100}.items():
        expect_passes(job, command, point, passes)


@test
def lines_of_functions_begin_iterations(job):
    source = (job.source / "tests/programs/iteration_points.cpp").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if text.endswith("// LINE"))
    for variant in VARIANTS:
        command = [job.program(f"iteration_points{variant}"), "line", 50]
        expect_passes(job, command, f"call_of_a_line:{line}", 50, run=True)
        second = source.index(next(text for text in source if text.endswith("// SECOND LINE"))) + 1
        for name in ("", "lines="):
            points = f"call_of_a_line:{line},call_of_a_line:{second}"
            expect_passes(job, command, name + points, 100, name=name[:-1] or points, run=True)
    expect_refusal(job, command, f"call_of_a_line:{line}", "`libprofile run`")
    expect_refusal(job, command, f"iteration_points.cpp:{line}", "not by the file")
    expect_refusal(job, command, f"no_such_thing:{line}", 'there is no function "no_such_thing"')
    found, said, _ = passes_of(job, command, "call_of_a_line:1", run=True)
    expect_equal(found, {}, "iterations of a line without code")
    expect("no code for line 1" in said, said)


@test
def calls_of_mpi_begin_iterations(job):
    command = [job.program("iteration_points"), "exceptions", 50]
    # Engine::advance and run call it by turns.
    for point, passes in {"MPI_Allreduce": 100, "run/MPI_Allreduce": 100, "main/run/MPI_Allreduce": 100,
                          "model::Engine::advance/MPI_Allreduce": 50}.items():
        expect_passes(job, command, point, passes)
    found, said, report = passes_of(job, command, "exchange/run/MPI_Allreduce") # the other way round
    expect_equal(found, {}, "iterations of a path that there is not")
    expect("never passed" in said, said)
    expect_refusal(job, command, "MPI_Alreduce", "did you mean MPI_Allreduce")
    found, said, _ = passes_of(job, command, "run/MPI_Allreduce", more={"LIBPROFILE_CALLPATHS": 0})
    expect_equal((found, "LIBPROFILE_CALLPATHS=0" in said), ({}, True), f"without call paths: {said}")


@test
def what_cannot_be_followed_is_said_and_the_program_runs(job):
    command = [job.program("iteration_points"), "loop_at_entry", 50]
    expect_refusal(job, command, "loop_at_entry", "jumps back to its first instructions")
    expect_refusal(job, [job.program("iteration_points"), "call_in_loop", 50], "call_in_loop", "jumps back to its first instructions")
    expect_refusal(job, [job.program("iteration_points"), "call_behind_branch", 50], "call_behind_branch", "begins with a call")
    said = expect_refusal(job, command, "many_argument", "did you mean many_arguments")
    expect("inlined" in said, said)
    expect_refusal(job, command, "malloc", "but in the C library")
    # The profile says why, too, also where stderr must not.
    found, said, _ = passes_of(job, command, "loop_at_entry", more={"LIBPROFILE_QUIET": 1})
    text = " ".join(job.run([job.tool, "report", job.folder / f"iteration_points.{job.runs}"]).out.split())
    expect_equal((found, said), ({}, ""), "with LIBPROFILE_QUIET=1")
    expect("cannot be followed: a loop jumps back to its first instructions" in text, text)
    for point in ("tick", "inl", "burn"): # strsep, sinl and brk are not what is meant
        expect("did you mean" not in expect_refusal(job, command, point, "inlined"), "a function of a system library is proposed")
    expect_refusal(job, command, "no/such/thing", "there is no function")
    expect_refusal(job, [job.program("iteration_points"), "before", 50], "many_arguments", "threads")


@test
def functions_of_plugins_begin_iterations_from_the_next_call_of_mpi_on(job):
    """Also where all paths of MPI calls are known by then, and where the program names the file from the folder it is in."""
    plugin = job.programs / "plugin_step.so"
    for name in (plugin, os.path.relpath(plugin, job.folder)):
        expect("/" in str(name), name)
        command = [job.program("point_later"), name, 50]
        found, said, report = passes_of(job, command, "later_step", ranks=2)
        expect_equal(found, {"later_step": [49, 49]}, f"{name}: passes, without the one before the first call of MPI")
        expect("until a library that has it is loaded" in said and said.count("libprofile:") == 1, said)
    expect_refusal(job, command, "latest_step_of_all", "there is no function")


@test
def a_thread_that_is_awake_for_a_moment_is_waited_for(job):
    """As those of MPI are. While one runs, code cannot be changed. On a machine that is full the moment may be too short: one run of ten does."""
    command = [job.program("point_later"), job.programs / "plugin_step.so", 50, "awake"]
    plain = job.plain(command, 1).out
    for _ in range(10):
        found, said, report = passes_of(job, command, "later_step", plain=plain)
        if found:
            return expect_equal(found, {"later_step": [49]}, "passes")
    raise AssertionError(said)


@test
def threads_have_passes_of_their_own(job):
    found, said, report = passes_of(job, [job.program("iteration_points"), "threads", 200], "many_arguments")
    expect("other threads did" in said, said)
    result = job.run([job.tool, "report", job.folder / f"iteration_points.{job.runs}", "--threads"])
    expect_equal((found, result.code), ({}, 0), "iterations of the main thread")


@test
def markers_of_the_program_give_way_to_an_iteration_point(job):
    program = job.build / f"examples/hydro.{job.mpi}"
    if not program.exists():
        raise Skip("the examples are not built")
    found, said, _ = passes_of(job, [program, 20, 8], "MPI_Allreduce")
    expect_equal((list(found), said), (["MPI_Allreduce"], ""), "phases and complaints")


@test
def the_steps_of_lammps_are_its_iterations(job):
    command = debian_programs.lammps(job, 200)
    for point, passes in {"Neighbor::decide": 200, "LAMMPS_NS::Modify::initial_integrate": 200}.items():
        result = job.measured(command, 2, options={"LIBPROFILE_ITERATION": point}, output=point.replace(":", "_"))
        expect_equal((result.code, result.complaints), (0, []), f"{point}: exit code and complaints")
        report = job.report(point.replace(":", "_"))
        found = {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}
        expect_equal(found, {point: [passes, passes]}, "iterations")


if __name__ == "__main__":
    main()
