#!/usr/bin/python3
"""An iteration has in it what lies inside it: held against the clock of the program itself, in every form."""

import importlib
import json
import sys

from harness import Skip, expect, expect_equal, main, test

STEPS = 40
TOLERANCE = 0.02, 20e3  # of the program's own time, and ns an iteration: the markers lie between the two clocks


def measured(job):
    """By rank and step what the program says, in ns: its sweeps and the times of the step, of the sweeps and of solving."""
    result = job.measured([job.program("nested"), STEPS], options={"LIBPROFILE_SAMPLE": "1kHz"}, output=job.folder / "nested")
    own = {}
    for line in result.out.splitlines():
        rank, step, sweeps, *times = line.split()
        own[int(rank), int(step)] = [int(sweeps)] + [float(time) * 1e3 for time in times]
    expect_equal(len(own), 2 * STEPS, "what the program says")
    return job.folder / "nested", own


def is_near(value, truth, iterations):
    return abs(value - truth) <= TOLERANCE[0] * truth + TOLERANCE[1] * iterations


def near(value, truth, iterations, what):
    """On a full machine a rank may lose the processor between the two clocks, now and then: for a tenth of many iterations at most."""
    lost = 0 if iterations == 1 else truth / 10
    expect(is_near(value, truth, iterations) or abs(value - truth) <= lost, f"{what}: {value / 1e3:.1f} us, by the program {truth / 1e3:.1f}")


def selection(job, profile, *options):
    result = job.run([job.tool, "report", profile, *options, "--format", "json"])
    expect_equal(result.code, 0, f"exit code: {result}")
    return json.loads(result.out)


def inclusive(report, function, column="time_inclusive"):
    return sum(path[column] for path in report["call_paths"] if path["name"] == function and path["path"].count(function) == 1)


@test
def iterations_contain_the_phases_inside_them(job):
    profile, own = measured(job)

    def truth(column, first, last):
        return sum(own[rank, step][column] for rank in (0, 1) for step in range(first - 1, last))

    for first, last in ((1, 10), (31, 40), (17, 17)):
        report = selection(job, profile, "--phase", "step", "--iterations", f"{first}:{last}")
        count = 2 * (last - first + 1)
        near(report["selection"]["time"], truth(1, first, last), count, f"steps {first} to {last}")
        # What is off the processor or was hit by no sample has no call path.
        solving, left = inclusive(report, "solve"), sum(row["time"] for row in report["functions"] if row["function"].startswith("("))
        near(min(max(solving, truth(3, first, last)), solving + left), truth(3, first, last), count, f"solving in steps {first} to {last}")
        near(max(solving, truth(3, first, last)), truth(3, first, last), count, f"solving in steps {first} to {last}")
        calls = next(row for row in report["totals"] if row["metric"] == "visits")
        expect_equal(calls["total"], truth(0, first, last) + count, f"MPI calls in steps {first} to {last}")
        without = selection(job, profile, "--phase", "step", "--iterations", f"{first}:{last}", "--exclusive")
        expect(without["selection"]["time"] < report["selection"]["time"], "exclusive times are shorter")
    both = selection(job, profile, "--phase", "step", "--compare", "1:10", "31:40")
    for side, first, last in (("a", 1, 10), ("b", 31, 40)):
        time = next(row for row in both["totals"] if row["metric"] == "time")[side]
        near(time, truth(1, first, last) / 20, 20, f"a step of {first} to {last}")
    inside = {row.get("caller") for row in both["functions"] if row["function"] == "MPI_Allreduce"}
    expect({"solve", "smooth"} <= inside, f"what lies inside is compared: {both['functions'][:3]}")
    whole = selection(job, profile, "--phase", "step")
    near(whole["selection"]["time"], truth(1, 1, STEPS), 2 * STEPS, "all steps")
    expect("solve" in json.dumps(whole["functions"]), "what lies inside is named")


@test
def the_second_reader_finds_what_lies_inside(job):
    profile, own = measured(job)
    result = job.run([sys.executable, "-B", job.source / "tests/format/read_profile.py", profile / "profile.lprof"])
    if "No module named 'zstandard'" in result.all_err:
        raise Skip("python3-zstandard is not installed")
    for location in json.loads(result.out)["locations"]:
        steps = next(phase for phase in location["phases"] if phase["name"] == "step")
        expect_equal(steps["inside_ns"], steps["wall_inclusive_ns"] - steps["wall_ns"], f"time inside the steps of rank {location['rank']}")
        sweeps = next(phase for phase in location["phases"] if phase["name"] == "sweep")
        expect_equal(sweeps["instances"], sum(sweeps for (rank, _), (sweeps, *_) in own.items() if rank == location["rank"]), "sweeps")


@test
def wrappers_of_mpi_calls_are_named_after_their_callers(job):
    profile, _ = measured(job)
    report = selection(job, profile, "--phase", "step")
    calls = {(row["caller"], row["through"]) for row in report["functions"] if row["function"] == "MPI_Allreduce"}
    expect_equal(calls, {("smooth", "global_sum"), ("solve", "global_sum")}, "who calls MPI_Allreduce")
    for choice in (["--phase", "sweep", "--exclusive"], ["--phase", "sweep", "--rank", "1"], ["--phase", "step", "--iterations", "1:3", "--rank", "0"]):
        calls = {(row["caller"], row["through"]) for row in selection(job, profile, *choice)["functions"] if row["function"] == "MPI_Allreduce"}
        expect(calls and calls <= {("smooth", "global_sum"), ("solve", "global_sum")}, f"who calls MPI_Allreduce with {choice}: {calls}")
    text = job.run([job.tool, "report", profile, "--width", "250"]).out # long names are not cut in its tables
    expect("(through global_sum)" in text and "MPI_Allreduce in global_sum" not in text, "the report names the wrapper alone")


@test
def chrome_draws_the_iterations_inside_the_chosen_ones(job):
    profile, own = measured(job)
    sweeps = [own[0, step][0] for step in range(STEPS)]
    for options in (["--iterations", "3:5", "--phase", "step"], []):
        place = job.folder / "trace.json"
        place.unlink(missing_ok=True)
        expect_equal(job.run([job.tool, "export", profile, "--format", "chrome", "--rank", "0", "--output", place, *options]).code, 0, "exit code")
        drawn = {}
        for event in json.loads(place.read_text())["traceEvents"]:
            if event.get("cat") == "iteration":
                drawn.setdefault(event["name"].split()[0], []).append((event["args"]["iteration"], event["ts"], event["ts"] + event["dur"], event["args"]))
        first, last = (2, 5) if options else (0, STEPS)
        expect_equal([i for i, *_ in drawn["step"]], list(range(first + 1, last + 1)), "steps")
        expect_equal([i for i, *_ in drawn["sweep"]], list(range(sum(sweeps[:first]) + 1, sum(sweeps[:last]) + 1)), f"sweeps with {options}")
        expect_equal(drawn["step"][0][1], 0, "where the picture begins")
        inner = iter(drawn["sweep"])
        for step, begin, end, args in drawn["step"]:
            for _ in range(sweeps[step - 1]):
                _, start, stop, _ = next(inner)
                expect(begin - 1e-3 <= start and stop <= end + 1e-3, f"a sweep from {start} to {stop} in step {step} from {begin} to {end}")
            expect_equal((args["ns"], args["visits"]), (args["time"], sweeps[step - 1] + 1), "a step has in it what lies inside")


@test
def iterations_begin_after_the_one_before_and_inside_the_one_around(job):
    profile, own = measured(job)
    report = job.report(profile)
    phases = {phase["name"]: phase for phase in report["phases"]}
    for rank in range(2):
        spans = {}
        for name in ("step", "sweep"):
            begins, times = (phases[name][key][rank] for key in ("iteration_begins", "iteration_times"))
            expect_equal(len(begins), len(times), f"begins of {name} on rank {rank}")
            for i in range(1, len(begins)):
                expect(begins[i] >= begins[i - 1] + times[i - 1], f"iteration {i + 1} of {name} on rank {rank} begins before the end of the one before")
            expect(begins[-1] + times[-1] <= report["metrics"][0]["total"][rank], f"the last iteration of {name} ends before the job")
            spans[name] = list(zip(begins, times))
        # A begin may be early by a 1,024th of the time since the end before, which is less than that since the start of the measurement.
        sweeps = iter(spans["sweep"])
        for step, (begin, time) in enumerate(spans["step"]):
            for _ in range(own[rank, step][0]):
                start, lasted = next(sweeps)
                early = max(begin, start) / 1000
                expect(begin - early <= start and start + lasted <= begin + time + early, f"a sweep from {start} for {lasted} in step {step} from {begin} for {time}")


@test
def what_a_killed_job_does_not_tell_is_not_known(job):
    """Its journal has the time of each step, but not what lay inside: nothing says where that time went."""
    job.measured([job.program("nested"), STEPS, STEPS - 10], options={"LIBPROFILE_SAMPLE": "1kHz"}, output=job.folder / "killed")
    profile = job.folder / "killed"
    for first, last in ((1, STEPS - 10), (5, 5)):
        report = selection(job, profile, "--phase", "step", "--iterations", f"{first}:{last}")
        totals = {row["metric"]: row for row in report["totals"]}
        expect(report["selection"]["time"] > 0 and totals["time"]["total"] == report["selection"]["time"], f"time: {totals['time']}")
        known = [name for name, row in totals.items() if name != "time" and row["total"] is not None]
        expect_equal(known, [], "metrics that are said to be known")
    both = selection(job, profile, "--phase", "step", "--compare", "1:5", "21:25")
    expect_equal([(row["a"], row["b"]) for row in both["ranks"]], [(None, None)] * 2, "time outside MPI")
    text = job.run([job.tool, "report", profile, "--phase", "step", "--compare", "1:5", "21:25"]).out
    for side in ("A", "B"):
        expect_equal(text.count(f"of the time of {side} is in phases inside"), 1, f"sentences about {side} in {text}")
    missing = job.run([job.tool, "report", profile, "--phase", "step", "--iterations", "1:5", "--metric", "mpi"])
    expect(missing.code == 1 and "not known" in missing.all_err and "nothing was measured" not in missing.all_err, f"message: {missing.all_err}")
    whole = job.run([job.tool, "report", profile]).out
    steps = whole[whole.index('Iterations of "step"'):whole.index('Iterations of "sweep"')]
    expect("MPI share ▁" not in steps and "is not known" in steps and "a typical iteration" not in steps, steps)
    kinds = next(phase for phase in job.report(profile)["phases"] if phase["name"] == "step")["kinds"]["kinds"]
    expect_equal({kind["computing"] for kind in kinds}, {None}, "what steps compute")
    export = job.run([job.tool, "export", profile, "--format", "folded", "--phase", "step", "--iterations", "1:5", "--output", "-"])
    expect("in phases inside these iterations" in export.all_err, f"message: {export.all_err}")


@test
def python_says_nan_for_what_a_killed_job_does_not_tell(job):
    sys.path.insert(0, str(job.build / "python"))
    libprofile = importlib.import_module("libprofile")
    job.measured([job.program("nested"), STEPS, STEPS - 10], options={"LIBPROFILE_SAMPLE": "1kHz"}, output=job.folder / "killed")
    p = libprofile.open(job.folder / "killed")
    times = p.series("time", phase="step")
    expect_equal(times.shape, (2, STEPS - 10), "steps")
    for metric in ("mpi", "visits"):
        expect((p.series(metric, phase="step") != p.series(metric, phase="step")).all(), f"{metric} of the steps: {p.series(metric, phase='step')}")
        expect(libprofile.np.nanmin(p.series(metric, phase="sweep")) > 0, f"{metric} of the sweeps")
    early, late = p.table(iterations=(1, 5), phase="step"), p.table(iterations=(21, 25), phase="step")
    expect(0 < early.untold < early.inclusive("time")[0].sum(), f"{early.untold} ns")
    both = libprofile.compare(early, late).inclusive("time")
    expect((both[0] > 0).all() and (both[1:] != both[1:]).all(), f"what differs: {both}")


@test
def python_has_what_lies_inside_an_iteration(job):
    sys.path.insert(0, str(job.build / "python"))
    libprofile = importlib.import_module("libprofile")
    profile, own = measured(job)
    p = libprofile.open(profile)
    times = p.series("time", phase="step")
    for rank in (0, 1):
        wrong = [step + 1 for step in range(STEPS) if not is_near(times[rank, step], own[rank, step][1], 1)]
        expect(len(wrong) <= STEPS // 10, f"times of steps {wrong} of rank {rank}")
        expect_equal(p.series("visits", phase="step")[rank].tolist(), [own[rank, step][0] + 1 for step in range(STEPS)], "calls of each step")
        values, _ = p.by_iteration("time", rank, phase="step", iterations="5-8")
        expect_equal(values.sum(axis=1).tolist(), p.iteration_times(rank, phase="step")[4:8].tolist(), "what call paths of a step add up to")
    expect((p.series("time", phase="step", exclusive=True) < times).all(), "exclusive times are shorter")
    early, late = p.table(iterations=(1, 10), phase="step"), p.table(iterations="31:40", phase="step")
    both = libprofile.compare(early, late)
    means = both.inclusive("time")[0]
    for side, first in enumerate((0, 30)):
        near(means[side], sum(own[rank, step][1] for rank in (0, 1) for step in range(first, first + 10)) / 20, 20, "a mean step")
    solving = [n for n, node in enumerate(both.nodes) if node.name == "solve"]
    expect_equal(len(solving), 1, "nodes of solve in both")
    expect(both.inclusive("time")[solving[0]][1] > both.inclusive("time")[solving[0]][0], "solving takes longer and longer")


if __name__ == "__main__":
    main()
