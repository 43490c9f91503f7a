#!/usr/bin/python3
"""`libprofile diagnose` against a program that loses its time for a known cause (tests/programs/lost_time.c)."""

import json
import os

from harness import Skip, expect, expect_equal, main, test

ITERATIONS = 600
COMPUTING_MS = 2.0  # of an iteration, without the cause
ATTEMPTS = 3


class Disturbed(Exception):
    """Other programs used the processors: they are a cause of their own, and hide others."""


def measured_and_diagnosed(job, cause, percent, output, options=()):
    """The time of the loop in ms, and the diagnosis."""
    result = job.measured([job.programs / f"lost_time.{job.mpi}", cause, percent, ITERATIONS], output=output, timeout=120)
    expect(result.code == 0, f"lost_time {cause} failed:\n{result.err}")
    report = job.run([job.tool, "diagnose", output, "--format", "json", *options])
    expect(report.code == 0, f"diagnose failed:\n{report.err}")
    return float(result.out), json.loads(report.out)


def diagnosed(job, cause, percent, output):
    ms, diagnosis = measured_and_diagnosed(job, cause, percent, output)
    added = 2 if cause in ("late_sender", "gather") else 1  # two ranks compute more, one after the other, or one for both
    if ms > 1.15 * ITERATIONS * COMPUTING_MS * (1 + added * percent / 100):
        raise Disturbed
    return diagnosis


def iterations_of(found):
    return {i for first, last in found["iterations"] or [] for i in range(first, last + 1)}


def overlap(a, b):
    return len(a & b) / len(a | b) if a | b else 1


def what_is_wrong(found, causes, ranks, function, iterations, percent):
    """Returns "" if a finding is as planted, else what differs."""
    if found["cause"] not in causes:
        return f"cause {found['cause']}"
    if ranks is not None and (found["ranks"] or []) != ranks:  # null: of all
        return f"ranks {found['ranks']}"
    if function is not None and found["function"] != function:
        return f"function {found['function']}"
    if iterations is not None and overlap(iterations_of(found), iterations) < 0.9:
        return f"iterations {found['iterations']}"
    planted = percent / 100 * COMPUTING_MS * ITERATIONS * 1e6
    if not 0.75 <= found["gain"]["ns"] / planted <= 1.25:
        return f"gain {found['gain']['ns'] / 1e6:.1f} ms, planted {planted / 1e6:.1f} ms"
    return ""


def attempts(job, cause, percent):
    """The diagnoses of several runs, without those that others disturbed."""
    given = 0
    for attempt in range(3 * ATTEMPTS):
        if given == ATTEMPTS:
            return
        try:
            yield diagnosed(job, cause, percent, f"{cause}.{attempt}")
            given += 1
        except Disturbed:
            pass
    if given == 0:
        raise Skip("other programs use the processors")


def expect_found(job, cause, percent, causes, ranks=None, function=None, iterations=None):
    tried = []
    for result in attempts(job, cause, percent):
        wrong = [what_is_wrong(found, causes, ranks, function, iterations, percent) for found in result["diagnoses"]]
        if "" in wrong:
            found = result["diagnoses"][wrong.index("")]
            expect(found["sentence"] and found["next"].startswith("libprofile report "), f"no sentence or command: {found}")
            follow = job.run(["sh", "-c", found["next"].replace("libprofile", str(job.tool), 1) + " --format json"])
            expect(follow.code == 0, f"the next command fails: {found['next']}\n{follow.err}")
            return
        tried.append(f"{cause}: {wrong}\n" + "\n".join(found["sentence"] for found in result["diagnoses"]))
    raise AssertionError("not found as planted:\n" + "\n".join(tried))


@test
def ranks_with_more_work_are_named_with_function_and_iterations(job):
    part = set(range(ITERATIONS * 4 // 10 + 1, ITERATIONS * 6 // 10 + 1))
    expect_found(job, "range", 10, {"imbalance"}, [1], "refine", part)
    expect_found(job, "steady", 20, {"imbalance"}, [1], "refine")
    expect_found(job, "ramp", 20, {"imbalance"}, [1])
    expect_found(job, "late_root", 20, {"late_root"}, [0], "prepare")


@test
def a_root_that_is_late_but_computes_less_is_not_said_to_compute_longer(job):
    told = []
    for result in attempts(job, "idle_root", 30):
        for found in result["diagnoses"]:
            expect(not any(f"{verb} -" in found["sentence"] for verb in ("compute", "computes", "take", "takes")), f"a negative share: {found['sentence']}")
        told.append([(found["cause"], found["ranks"], found["sentence"]) for found in result["diagnoses"]])
    expect(any(cause == "late_root" and ranks == [0] and "waits" in sentence for run in told for cause, ranks, sentence in run), f"a late root: {told}")


@test
def time_that_ranks_lose_in_turn_is_found(job):
    expect_found(job, "moving", 20, {"imbalance"}, [0, 1], "refine")
    expect_found(job, "noise", 20, {"noise"}, [0, 1])
    expect_found(job, "serial", 100, {"serialisation"})
    expect_found(job, "late_sender", 20, {"late_sender"}, [0], "MPI_Recv in main")
    expect_found(job, "gather", 20, {"serialisation"}, [0], "collect", set(range(13, ITERATIONS + 1, 25)))


@test
def iterations_that_are_long_everywhere_are_found(job):
    expect_found(job, "periodic", 10, {"periodic_work"}, None, "refine", set(range(8, ITERATIONS + 1, 20)))
    expect_found(job, "warm_up", 10, {"warm_up"}, None, "refine", set(range(1, ITERATIONS // 20 + 1)))
    expect_found(job, "growth", 20, {"growing_work"})
    expect_found(job, "growth_counts", 20, {"growing_work"})


@test
def files_and_sleep_are_told_from_computing(job):
    expect_found(job, "io_all", 20, {"input_output"}, [], "write_results", set(range(13, ITERATIONS + 1, 25)))
    expect_found(job, "io", 20, {"input_output"}, [0], "write_results", set(range(13, ITERATIONS + 1, 25)))
    for result in attempts(job, "sleep", 20):
        if any(found["cause"] == "off_processor" and found["ranks"] == [1] for found in result["diagnoses"]):
            return
    raise AssertionError(f"no rank off the processor: {result}")


@test
def work_inside_mpi_is_work_of_the_rank(job):
    expect_found(job, "pack", 20, {"imbalance"}, [1], "pack_halo")
    expect_found(job, "operation", 20, {"imbalance"}, [1], "meet")


@test
def bytes_on_their_way_are_no_waiting_for_another_rank(job):
    """Both ranks are there when 16 MiB begin to go from one to the other, or from one to itself."""
    for cause in ("transfer", "itself"):
        _, result = measured_and_diagnosed(job, cause, 16, cause)
        told = [found["sentence"] for found in result["diagnoses"] if found["cause"] in ("serialisation", "late_sender", "late_receiver")]
        expect_equal(told, [], f"{cause}: ranks that wait for others")


@test
def more_bytes_are_told_from_slow_communication(job):
    for result in attempts(job, "volume", 20):
        found = [one for one in result["diagnoses"] if one["cause"] == "communication_volume"]
        if found and min(iterations_of(found[0])) > ITERATIONS * 0.4:
            return
    raise AssertionError(f"more bytes were not found: {result}")


@test
def long_messages_are_no_waiting_in_turn(job):
    _, result = measured_and_diagnosed(job, "messages", 100, "messages")
    wrong = [found["sentence"] for found in result["diagnoses"] if found["cause"] in ("serialisation", "late_sender", "stage_imbalance")]
    expect(not wrong, f"messages of 10 MB are called waiting in turn: {wrong}")
    expect(any("in MPI without a cause" in sentence for sentence in result["untold"]), f"time in MPI is not said: {result}")


def on_processors(job, which, output):
    """The causes of a run whose ranks may use these processors only."""
    command = ["taskset", "-c", which, job.programs / f"lost_time.{job.mpi}", "none", 0, 200]
    result = job.measured(command, output=output, timeout=120)
    expect(result.code == 0, f"lost_time failed:\n{result.err}")
    report = job.run([job.tool, "diagnose", output, "--format", "json"])
    expect(report.code == 0, f"diagnose failed:\n{report.err}")
    return json.loads(report.out)["diagnoses"]


@test
def ranks_that_share_a_processor_are_oversubscribed(job):
    """Ranks that wait in MPI meanwhile lose little: not every run has something to tell."""
    for attempt in range(4):
        found = on_processors(job, "0", f"shared.{attempt}")
        crowded = [one for one in found if one["cause"] == "oversubscribed"]
        if crowded:
            break
    expect(crowded, f"nobody says that the ranks share a processor: {[one['sentence'] for one in found]}")
    expect("1 processor of" in " ".join([crowded[0]["sentence"], *crowded[0]["evidence"]]), f"the processor: {crowded}")


@test
def text_and_markdown_say_the_same_as_json(job):
    result = measured_and_diagnosed(job, "steady", 20, "forms")[1]
    for form in ("text", "markdown"):
        printed = job.run([job.tool, "diagnose", "forms", "--format", form, "--no-pager"])
        expect_equal(printed.code, 0, f"exit code of {form}")
        words = " ".join(printed.out.split())
        for found in result["diagnoses"]:
            expect(found["sentence"].split(";")[0].split("(")[0].strip() in words, f"{form} lacks: {found['sentence']}\n{printed.out}")
    part = measured_and_diagnosed(job, "steady", 20, "part", ["--iterations", "1:100"])[1]
    expect("100 iterations" in " ".join(part["scope"]), f"scope {part['scope']}")


@test
def a_rank_that_writes_for_all_is_named_and_its_twin_is_not(job):
    for how in ("gather", "together"):
        program = job.build / f"examples/snapshots.{job.mpi}"
        result = job.measured([program, how, "field", 120, 10, 600], output=how, options={"LIBPROFILE_SAMPLE": "1kHz"}, timeout=120)
        expect(result.code == 0, f"snapshots {how} failed:\n{result.err}")
        report = job.run([job.tool, "diagnose", how, "--format", "json"])
        expect(report.code == 0, f"diagnose failed:\n{report.err}")
        found = [one for one in json.loads(report.out)["diagnoses"] if one["cause"] == "serialisation" and one["ranks"]]
        if how == "together":
            expect_equal(found, [], "serialisation of the twin")
            continue
        expect_equal([one["ranks"] for one in found], [[0]], "ranks that work for others")
        expect_equal(found[0]["function"], "rows_as_text", "function")
        expect(overlap(iterations_of(found[0]), set(range(10, 121, 10))) >= 0.9, f"iterations {found[0]['iterations']}")
        gain = found[0]["gain"]
        expect(gain["ns"] <= 0.6 * gain["high_ns"], f"all of the work away, not half of it: {gain}")


TRACE = {"LIBPROFILE_TRACE": "1", "LIBPROFILE_SAMPLE": "1kHz"}


def traced(job, cause, percent, iterations, output):
    """The part by the trace of a run whose samples are a millisecond apart or more."""
    result = job.measured([job.programs / f"lost_time.{job.mpi}", cause, percent, iterations], output=output, options=TRACE, timeout=120)
    expect(result.code == 0, f"lost_time {cause} failed:\n{result.err}")
    printed = job.run([job.tool, "diagnose", output, "--format", "json"])
    expect(printed.code == 0, f"diagnose failed:\n{printed.err}")
    return json.loads(printed.out)["trace"]


def step_loop(trace):
    """The loop of main, whose iterations are marked."""
    loops = [loop for loop in trace["loops"] if loop["actual"] is not None]
    expect_equal(len(loops), 1, "loops with known iterations")
    expect_equal(loops[0]["function"], "main", "its function")
    return loops[0]


@test
def the_trace_shows_iterations_of_five_periods_and_the_rank_that_computes_longer(job):
    iterations = 40  # of 2 ms, and 40 ms more on rank 1
    for attempt in range(ATTEMPTS):
        trace = traced(job, "steady", 2000, iterations, f"traced.{attempt}")
        loop = step_loop(trace)
        expect_equal(loop["actual"], 2 * iterations, "actual iterations of both ranks")
        lost = [path for segment in trace["segments"] for path in segment["paths"] if "refine" in path["call_path"] and path["imbalance_ns"]]
        # Half of what rank 1 computes more than rank 0 is above the mean.
        seconds = sum(path["imbalance_ns"] for path in lost) / 1e9
        if abs(loop["accepted"] + loop["rejected"] - 2 * iterations) <= 8 and 0.6 < seconds < 1 and all(path["ranks"] == [1] for path in lost):
            expect_equal(trace["clusters"], [[0, 1]], "clusters: two ranks are always one")
            expect(loop["source"] and "lost_time.c" in loop["source"], f"the loop's line: {loop['source']}")
            return
    raise AssertionError(f"not as planted: {seconds} s, {loop}")


@test
def parameters_of_the_paper_are_options(job):
    trace = traced(job, "none", 0, 60, "parameters")
    expect_equal((trace["parameters"]["child_num_acc"], trace["parameters"]["ratio_rel"]), (5, 0.25), "those of the paper")
    options = ["--parameter", "child_num_acc=1000000", "--parameter", "child_dur_acc=1000000"]
    printed = job.run([job.tool, "diagnose", "parameters", "--format", "json", *options])
    none = json.loads(printed.out)["trace"]
    expect_equal(none["parameters"]["child_num_acc"], 1000000, "the one that was asked for")
    expect_equal(sum(loop["accepted"] for loop in none["loops"]), 0, "iterations with so many calls")
    text = job.run([job.tool, "diagnose", "parameters", "--no-pager", *options]).out
    expect("child_num_acc 1000000 instead of 5" in " ".join(text.split()), f"text does not say what was changed:\n{text}")


@test
def the_part_by_the_trace_is_there_if_there_is_a_trace(job):
    trace = traced(job, "none", 0, 60, "traced")
    expect(trace["samples"] > 0 and trace["run_ns"] > 0, f"no samples: {trace}")
    for form, heading in (("text", "By the trace"), ("markdown", "## By the trace")):
        printed = job.run([job.tool, "diagnose", "traced", "--format", form, "--no-pager"])
        expect_equal(printed.code, 0, f"exit code of {form}")
        expect(heading in printed.out and "accepted" in printed.out, f"{form} lacks the part by the trace:\n{printed.out}")
    part = job.run([job.tool, "diagnose", "traced", "--iterations", "1:10", "--no-pager"])
    expect("about the whole run" in " ".join(part.out.split()), f"a part of the run, and nobody says that the trace is of all:\n{part.out}")
    without = measured_and_diagnosed(job, "none", 0, "untraced")[1]
    expect("trace" not in without, "a part by the trace without a trace")
    text = job.run([job.tool, "diagnose", "untraced", "--no-pager"])
    expect("By the trace" not in text.out, "a part by the trace without a trace")


@test
def what_cannot_be_diagnosed_is_refused_or_said(job):
    job.measured([job.programs / f"lost_time.{job.mpi}", "none", 0, 20], output="short", timeout=60)
    for options, words in ((["--phase", "stepp"], "step"), (["--iterations", "500:600"], "20"), (["--format", "csv"], "text, json, markdown"),
                           (["--least", "0"], "--least"), (["--least", "nan"], "--least"), (["--widht", "100"], "--width"), (["--parameter", "ratio_mni=1"], "ratio_min"), (["--format", "json", "--width", "100"], "for text")):
        result = job.run([job.tool, "diagnose", "short", *options])
        expect(result.code != 0 and len(result.said) == 1 and words in result.said[0], f"{options}: exit code {result.code}, {result.said}")
    expect(job.run([job.tool, "diagnose", "nothing"]).code != 0, "a folder that is not there is not refused")
    os.truncate(job.folder / "short" / "profile.lprof", (job.folder / "short" / "profile.lprof").stat().st_size // 2)
    damaged = job.run([job.tool, "diagnose", "short"])
    expect(damaged.code in (0, 1) and (damaged.out or damaged.said), f"a truncated profile: exit code {damaged.code}")


if __name__ == "__main__":
    main()
