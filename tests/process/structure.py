#!/usr/bin/python3
"""`libprofile structure` against a program of which it is known what its ranks do (tests/programs/lost_time.c)."""

import json

from harness import expect, expect_equal, main, test

ITERATIONS = 600
ATTEMPTS = 3


def structure(job, folder, *options):
    said = job.run([job.tool, "structure", folder, "--format", "json", *options])
    expect(said.code == 0, f"structure failed:\n{said.err}")
    return json.loads(said.out)


def run(job, cause, percent, output, iterations=ITERATIONS):
    result = job.measured([job.programs / f"lost_time.{job.mpi}", cause, percent, iterations], output=output, timeout=120)
    expect(result.code == 0, f"lost_time {cause} failed:\n{result.err}")


@test
def a_rank_that_computes_longer_is_named_with_iterations_and_function(job):
    planted = set(range(241, 361))
    tried = []
    for attempt in range(ATTEMPTS):  # others may use the processors
        run(job, "range", 20, f"range.{attempt}")
        found = structure(job, f"range.{attempt}")
        cell = found["cells"][0] if found["cells"] else {"rank": None, "first": 1, "last": 1, "function": None}
        seen = set(range(cell["first"], cell["last"] + 1))
        tried.append(cell)
        if cell["rank"] == 1 and len(seen & planted) / len(seen | planted) >= 0.9 and cell["function"] == "refine":
            break
    else:
        raise AssertionError(f"rank 1 computes longer in refine() in iterations 241-360, found: {tried}")
    groups = [group for group in found["groups"] if group["level"] == "iterations"]
    expect_equal([group["rows"] for group in groups], ["ranks 0-1"], "ranks that make the same calls")


@test
def ranks_that_call_something_else_are_told_from_each_other_in_every_form(job):
    run(job, "late_sender", 5, "sender", 100)
    found = structure(job, "sender")
    for level in ("paths", "visits", "iterations"):
        groups = [group for group in found["groups"] if group["level"] == level]
        expect_equal([group["processes"] for group in groups], [1, 1], f"groups by {level}")
    reason = [group["part"] for group in found["groups"] if group["part"]]
    expect(len(reason) == 1 and "MPI_" in reason[0], f"where ranks part: {reason}")
    for form in ("text", "markdown"):
        printed = job.run([job.tool, "structure", "sender", "--format", form, "--no-pager"])
        expect_equal(printed.code, 0, f"exit code of {form}")
        words = " ".join(printed.out.replace("\\", "").split())
        expect(" ".join(reason[0].split()) in words, f"{form} lacks: {reason[0]}\n{printed.out}")
    expect_equal(sum(span["last"] - span["first"] + 1 for span in found["strips"] if span["fold"] == "use" and span["group"] == "all"), 100,
                 "iterations of a strip")
    expect_equal(len(found["iterations"]), 100, "iterations")
    expect_equal(len(structure(job, "sender", "--iterations", "11:30")["iterations"]), 20, "chosen iterations")
    expect_equal(structure(job, "sender", "--reference", "1")["selection"]["reference"], 1, "the chosen reference")
    expect_equal(structure(job, "sender", "--rank", "1")["selection"]["processes"], 1, "the chosen ranks")


TRACE = {"LIBPROFILE_TRACE": 1, "LIBPROFILE_SAMPLE": "1kHz"}


@test
def ranks_that_compute_something_else_are_told_by_samples(job):
    """And equal ranks are not, whatever times they take."""
    told = {}
    for what in ("equal", "longer", "swapped", "skipped"):
        result = job.measured([job.program("stages"), what, 1500], ranks=3, options=TRACE, output=what)
        expect(result.code == 0, f"stages {what} failed:\n{result.err}")
        found = structure(job, what)
        expect_equal([(row["rank"], row["against"]) for row in found["by_samples"]], [(1, 0), (0, 1), (2, 0), (0, 2)], f"pairs of {what}")
        told[what] = {(row["rank"], row["against"]): row for row in found["by_samples"] if row["verdict"] == "difference"}
        for row in found["by_samples"]:
            expect(row["samples"] >= 200 and 0 <= row["unmatched"] <= 1 and 0 <= row["chance"] <= 0.1, f"{what}: {row}")
        text = " ".join(job.run([job.tool, "structure", what, "--no-pager"]).out.split())
        expect("by samples: rank" in text and ("have no partner on rank" in text) == bool(told[what]), f"{what}: {text}")
    expect_equal((told["equal"], told["longer"]), ({}, {}), "ranks that call the same")
    expect_equal(set(told["swapped"]), {(2, 0), (0, 2)}, "stages in another order")
    for row in told["swapped"].values():
        expect_equal((row["function"], row["other_has"]), ("write_results", "elsewhere"), "what is at another place")
        expect(0.15 < row["function_unmatched"] < 0.27, f"a fifth of the time: {row}")
    expect_equal(set(told["skipped"]), {(0, 2)}, "a stage that only some ranks have")
    row = told["skipped"][0, 2]
    expect_equal((row["function"], row["other_has"]), ("write_results", "nowhere"), "what rank 2 skips")
    expect(0.15 < row["function_unmatched"] < 0.25, f"a fifth of the time: {row}")


@test
def without_order_and_samples_it_is_said_how_to_get_them(job):
    for options in ({}, {"LIBPROFILE_ORDER": 1}):
        output = f"plain.{len(options)}"
        result = job.measured([job.program("lost_time"), "late_sender", 0, 30], options=options, output=output)
        expect(result.code == 0, f"lost_time failed:\n{result.err}")
        text = job.run([job.tool, "structure", output, "--no-pager"]).out
        expect_equal(("LIBPROFILE_TRACE=1" in text, "LIBPROFILE_ORDER=1" in text, "by samples" in text), (not options, not options, False), f"with {options}: {text}")
        expect("by_samples" not in structure(job, output), "samples that are not there")


@test
def what_cannot_be_compared_is_refused_in_one_sentence_here_too(job):
    run(job, "none", 0, "short", 20)
    for options, words in ((["--level", "vists"], "did you mean visits?"), (["--fold", "most"], "dominating, outliers, use"), (["--state", "use"], "class, function, kind"),
                           (["--depth", "3"], "--state function"), (["--phase", "stepp"], "step"), (["--iterations", "500:600"], "20"),
                           (["--rank", "7"], "7"), (["--reference", "9"], "9"), (["--fold", "use", "--state", "kind"], "class"),
                           (["--format", "csv"], "text, json, markdown"), (["--format", "json", "--ascii"], "for text"), (["--levle", "paths"], "--level")):
        result = job.run([job.tool, "structure", "short", *options])
        expect(result.code != 0 and len(result.said) == 1 and words in result.said[0], f"{options}: exit code {result.code}, {result.said}")
    expect(job.run([job.tool, "structure", "nothing"]).code != 0, "a folder that is not there is not refused")


if __name__ == "__main__":
    main()
