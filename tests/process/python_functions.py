#!/usr/bin/python3
"""The functions of a Python script are in the call paths of its samples and MPI calls, with file and line, and its time loop is found."""

from harness import Skip, expect, expect_equal, main, test

NESTED = ["<module>", "main", "step", "Solver.advance"]


def script(job):
    version = job.run(["/usr/bin/python3", "-c", "import mpi4py, numpy, sys; print(*sys.version_info[:2])"])
    if version.code != 0:
        raise Skip("python3-mpi4py and python3-numpy are not installed")
    if version.out.split() != ["3", "11"]:
        raise Skip("Python's frames are read in version 3.11 only")
    return job.source / "tests/programs/python_functions.py"


def line_of(file, mark):
    return next(number for number, text in enumerate(file.read_text().splitlines(), 1) if f"# {mark}" in text)


def all_paths(report):
    """The call paths of each phase, of main threads and others."""
    return [phase["call_paths"] for group in (report, report["threads"]) for phase in group["phases"]]


def chains(report):
    """For each call path of each phase: itself and its callers, from the outermost."""
    for listed in all_paths(report):
        paths = {path["id"]: path for path in listed}
        for path in listed:
            chain = [path]
            while chain[0]["parent"] is not None:
                chain.insert(0, paths[chain[0]["parent"]])
            yield chain


def python_names(chain):
    return [path["name"] for path in chain if path["kind"] == "python"]


def same_outcome(job, file, seconds, options):
    plain = job.plain(["/usr/bin/python3", file, seconds], timeout=seconds + 60)
    measured = job.measured(["/usr/bin/python3", file, seconds], options=options, output="profile", timeout=seconds + 60)
    expect_equal((measured.code, measured.out, len(measured.complaints)), (plain.code, plain.out, 0), "exit code, output and complaints")
    expect_equal(plain.code, 3, "exit code")


def calls_are_in_their_functions(job, file, report):
    found = {}
    for chain in chains(report):
        if chain[-1]["name"] == "MPI_Allreduce" and sum(chain[-1]["exclusive"]["visits"]) != 0:
            callers = [path for path in chain if path["kind"] == "python"]
            if callers and callers[-1]["name"] in ("exchange", "gather"):
                expect_equal([path["name"] for path in callers], [*NESTED, callers[-1]["name"]], "functions around the call")
                expect_equal(callers[-1]["file"], str(file), "file")
                expect(chain[-2]["kind"] == "frame" and "MPI." in chain[-2]["module"], f"mpi4py calls MPI: {chain[-2]}")
                counts = found.setdefault((callers[-1]["name"], callers[-1]["line"]), [0, 0])
                counts[:] = [a + b for a, b in zip(counts, chain[-1]["exclusive"]["visits"])]
    places = [("exchange", line_of(file, "EXCHANGE")), ("gather", line_of(file, "GATHER"))]
    expect_equal(sorted(found), sorted(places), "functions and lines that call MPI_Allreduce")
    expect(found[places[0]] == found[places[1]], f"both are called equally often: {found}")


def samples_are_in_their_functions(report):
    names, times = set(), 0
    for chain in chains(report):
        if sum(chain[-1]["exclusive"]["time"]) != 0:
            names.add(tuple(python_names(chain)))
            times += sum(chain[-1]["exclusive"]["time"]) if "kernel" in python_names(chain) else 0
    expect((*NESTED, "kernel") in names, f"samples in kernel: {sorted(names)[:20]}")
    expect(times > 0, "time in kernel")


@test
def functions_and_lines_of_scripts_are_in_call_paths(job):
    file = script(job)
    same_outcome(job, file, 3, {"LIBPROFILE_SAMPLE": "1kHz"})
    report = job.report("profile")
    calls_are_in_their_functions(job, file, report)
    samples_are_in_their_functions(report)
    threads = {path["name"] for paths in all_paths(report) for path in paths if path["kind"] == "python"}
    expect("other_threads" in threads, f"functions of the other threads: {sorted(threads)}")
    text = job.run([job.tool, "report", job.folder / "profile"]).out
    for word in ("Solver.advance", "exchange", "kernel", "python_functions.py", "MPI_Allreduce in exchange", "MPI_Allreduce in gather"):
        expect(word in text, f"{word} in the report")
    for form in ("folded", "speedscope", "csv"):
        exported = job.run([job.tool, "export", job.folder / "profile", "--format", form, "--output", job.folder / form])
        expect_equal(exported.code, 0, f"exit code of export --format {form}: {exported.all_err}")
        parts = sorted((job.folder / form).iterdir()) if (job.folder / form).is_dir() else [job.folder / form]
        content = "".join(part.read_text() for part in parts)
        expect(all(word in content for word in ("Solver.advance", "exchange", "kernel")), f"functions in {form}")


@test
def switched_off_there_are_no_python_functions(job):
    file = script(job)
    job.measured(["/usr/bin/python3", file, 1], options={"LIBPROFILE_PYTHON": "0"}, output="profile")
    expect_equal([name for chain in chains(job.report("profile")) for name in python_names(chain)], [], "Python functions")


@test
def an_interpreter_that_begins_late_and_again_shows_its_functions(job):
    """The interpreter is there from the start, so each path before it begins might have had Python functions."""
    plain = job.plain([job.program("late_python")])
    if plain.code == 77:
        raise Skip("libpython3.11 is not installed")
    measured = job.measured([job.program("late_python")], output="profile")
    expect_equal((measured.code, measured.out, measured.complaints), (0, plain.out, []), "exit code, output and complaints")
    calls = {}
    for chain in chains(job.report("profile")):
        visits = chain[-1]["exclusive"]["visits"]
        if chain[-1]["name"] in ("MPI_Allreduce", "MPI_Barrier") and sum(visits) != 0:
            place = (chain[-1]["name"], *python_names(chain))
            calls[place] = [a + b for a, b in zip(calls.get(place, [0, 0]), visits)]
    expect_equal(calls, {("MPI_Barrier",): [103, 103], ("MPI_Allreduce", "<module>", "outer", "inner"): [10, 10]}, "calls by Python functions")


def loops_of(job, kind, passes):
    file = script(job).with_name("python_loops.py")
    result = job.measured(["/usr/bin/python3", file, kind, passes], output=kind, timeout=120)
    expect_equal((result.code, result.complaints), (0, []), f"{kind}: exit code and complaints")
    report = job.report(kind)
    return {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}, report


@test
def passes_of_a_loop_in_a_script_are_its_iterations(job):
    for kind in ("one", "several", "called", "generated"):
        loops, report = loops_of(job, kind, 300)
        expect_equal(loops, {f"loop in {kind}": [300, 300]}, f"{kind}: {report['loops']}")
        expect(report["loops"][0]["place"].startswith(f"{kind} at python_loops.py:"), f"{kind}: {report['loops']}")
        expect_equal(report["loops"][0]["missed"], 0, f"{kind}: missed passes")


@test
def loops_one_after_another_in_a_script_are_phases(job):
    loops, report = loops_of(job, "two", 300)
    file = script(job).with_name("python_loops.py")
    names = [f"loop in two at python_loops.py:{line_of(file, mark)}" for mark in ("FIRST", "SECOND")]
    expect_equal(loops, dict(zip(names, ([300, 300], [600, 600]))), f"{report['loops']}")


@test
def a_solver_inside_the_loop_of_a_script_is_a_level(job):
    loops, report = loops_of(job, "nested", 300)
    expect_equal(loops, {"loop in nested": [300, 300], "loop in Solver.iterate": [2100, 2100]}, f"{report['loops']}")
    expect_equal({loop["phase"]: loop["inside"] for loop in report["loops"]}, {"loop in nested": "", "loop in Solver.iterate": "loop in nested"}, "levels")


@test
def a_minute_of_changing_frames_does_no_harm(job):
    file = script(job)
    same_outcome(job, file, 60, {"LIBPROFILE_SAMPLE": "1kHz"})
    calls_are_in_their_functions(job, file, job.report("profile"))


if __name__ == "__main__":
    main()
