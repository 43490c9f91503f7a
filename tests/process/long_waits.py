#!/usr/bin/env python3
"""Calls of MPI and waits of OpenMP that a trace keeps, against what programs know of them."""
import json

from harness import expect, expect_equal, main, test

TRACE = {"LIBPROFILE_TRACE": "1", "LIBPROFILE_SAMPLE": "1kHz"}
TOLERANCE = 500_000  # ns; others may get the processor between the program's reading of the clock and ours
OPENMP = """
#include <time.h>
#include <omp.h>
int main(void) {
    for (int i = 0; i < 20; ++i)
#pragma omp parallel num_threads(2)
    {
        const struct timespec ms10 = {0, 10000000};
        if (omp_get_thread_num() == 1) nanosleep(&ms10, NULL);
#pragma omp barrier
    }
    return 0;
}
"""


def traced(job, folder):
    """The traces, and names of call paths."""
    printed = job.run([job.tool, "report", folder, "--format", "json", "--trace"])
    expect(printed.code == 0, "the report failed")
    report = json.loads(printed.out)
    names = {path["id"]: path["name"] for group in (report, report["threads"]) for phase in group["phases"] for path in phase["call_paths"]}
    return report["traces"], names


def waits_of(trace, names, function):
    waits = trace["waits"]
    return [(begin, end) for begin, end, path in zip(waits["begin_ns"], waits["end_ns"], waits["path"]) if names.get(path) == function]


def check_order(trace):
    waits = trace["waits"]
    expect_equal({len(values) for values in waits.values() if isinstance(values, list)}, {len(waits["path"])}, "lengths")
    expect(all(begin < end for begin, end in zip(waits["begin_ns"], waits["end_ns"])), "a wait ends before it begins")
    expect(all(end <= begin for end, begin in zip(waits["end_ns"], waits["begin_ns"][1:])), "waits overlap")


def compare_with_log(job, traces, names, at_least):
    for trace in traces:
        check_order(trace)
        log = [line.split() for line in (job.folder / f"log.{trace['rank']}").read_text().splitlines()]
        waits = trace["waits"]
        for function in ("MPI_Reduce_local", "MPI_Barrier"):
            calls = [(int(begin), int(end)) for name, begin, end in log if name == function]
            long = [call for call in calls if call[1] - call[0] > 1_000_000 + TOLERANCE]
            kept = waits_of(trace, names, function)
            expect(len(long) >= at_least or (function == "MPI_Barrier" and trace["rank"] == 1), f"{function}: {len(long)} long calls")
            expect(len(long) - at_least // 5 <= len(kept) <= len(calls), f"{function}: {len(kept)} waits of {len(long)} to {len(calls)}")
            if function == "MPI_Reduce_local":
                offset = kept[0][0] - calls[0][0]
                wrong = [(call, wait) for call, wait in zip(calls, kept)
                         if max(abs(wait[0] - offset - call[0]), abs(wait[1] - offset - call[1])) > TOLERANCE]
                expect(len(wrong) <= at_least // 5, f"begin or end is wrong, clocks {offset} ns apart: {wrong}")
        known = [kind for kind in waits["lca_kind"][1:] if kind != 0]
        expect(len(known) >= 0.9 * (len(waits["lca_kind"]) - 1), f"unknown ancestors: {waits['lca_kind']}")


@test
def long_calls_have_their_begin_and_end_in_the_trace(job):
    result = job.measured([job.program("long_calls"), 20, job.folder], output="calls", options=TRACE)
    expect_equal(result.code, 0, "exit code")
    traces, names = traced(job, "calls")
    expect_equal(len(traces), 2, "traces")
    compare_with_log(job, traces, names, 20)
    printed = job.run([job.tool, "diagnose", "calls", "--format", "json"])
    expect(printed.code == 0, f"diagnose failed:\n{printed.err}")
    lost = [path for segment in json.loads(printed.out)["trace"]["segments"] for path in segment["paths"] if path["call_path"][-1] == "MPI_Barrier"]
    expect(all(path["class"] == "synchronisation" for path in lost), f"classes: {lost}")
    waited = [sum(end - begin for begin, end in waits_of(trace, names, "MPI_Barrier")) for trace in traces]
    expected = abs(waited[0] - waited[1]) / 2  # the longest is above the mean of two ranks by that
    imbalance = sum(path["imbalance_ns"] or 0 for path in lost)
    expect(0.6 * expected < imbalance < 1.5 * expected, f"MPI_Barrier took {waited} ns; found {imbalance}: {lost}")


@test
def a_full_trace_keeps_its_limit_and_the_longest_waits(job):
    job.measured([job.program("long_calls"), 150, job.folder], output="full", options={**TRACE, "LIBPROFILE_TRACE_MEMORY": "4K"})
    for trace in traced(job, "full")[0]:
        check_order(trace)
        waits = trace["waits"]
        expect(16 * len(trace["time_ns"]) + 32 * len(waits["path"]) <= 4096, "more than the limit")
        expect(waits["dropped"] > 0 and waits["path"], f"no waits left: {waits}")
        expect(waits["longest_dropped_ns"] < max(end - begin for begin, end in zip(waits["begin_ns"], waits["end_ns"])), "the longest was dropped")


@test
def a_killed_job_keeps_its_waits(job):
    options = {**TRACE, "LIBPROFILE_CHECKPOINT": "1s", "LIBPROFILE_OUTPUT": job.folder / "killed"}
    job.run([*job.launcher(2), "timeout", "-s", "KILL", "4", *job.preloaded([job.program("long_calls"), 100000, job.folder], options)], timeout=60)
    traces, names = traced(job, "killed")
    expect(traces, "no traces")
    for trace in traces:
        check_order(trace)
        # Those until the last snapshot; iterations since then are in the journal, without traces.
        expect(waits_of(trace, names, "MPI_Init"), f"waits of a killed job: {trace['waits']}")
        expect(trace["waits"]["end_ns"][-1] < 5_000_000_000, "a wait after the end")


@test
def waits_of_openmp_are_in_the_trace(job):
    job.write("waits.c", OPENMP)
    job.compile("gcc", "-g", "-O1", "-fopenmp", "waits.c", "-o", job.folder / "waits")
    result = job.run([job.tool, "run", "--sample=1kHz", "--trace=1", "--output", "openmp", "--", job.folder / "waits"])
    expect_equal(result.code, 0, "exit code")
    traces, names = traced(job, "openmp")
    master = next(trace for trace in traces if trace["thread"] == 0)
    check_order(master)
    barriers = [end - begin for begin, end, path in zip(master["waits"]["begin_ns"], master["waits"]["end_ns"], master["waits"]["path"])
                if "barrier" in names.get(path, "")]
    expect(len(barriers) >= 18, f"barriers of the main thread, which waits 10 ms in each: {barriers} {sorted(set(names.values()))}")
    expect(sum(9_000_000 < ns < 30_000_000 for ns in barriers) >= 15, f"they last 10 ms: {barriers}")


if __name__ == "__main__":
    main()
