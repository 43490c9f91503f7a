#!/usr/bin/python3
"""Chosen counters (LIBPROFILE_METRICS) are those of the operating system: known numbers of page faults and context switches come out."""

import json
import os
import re

from harness import Skip, expect, expect_equal, main, test

ITERATIONS, N = 24, 50


def measured(job, mode, metrics, n=N, ranks=2, prefix=(), **options):
    """Runs tests/programs/counters.c. Returns the report and what each rank says of itself: (minor faults, voluntary switches)."""
    result = job.measured([*prefix, job.program("counters"), mode, ITERATIONS, n], ranks=ranks, output=f"{mode}.out",
                          options={"LIBPROFILE_METRICS": metrics, **options})
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    said = {int(rank): (int(minor), int(voluntary))
            for rank, minor, voluntary in re.findall(r"rank (\d+) minor (\d+) voluntary (\d+)", result.out)}
    return job.report(f"{mode}.out"), said


def step(group):
    return next(phase for phase in group["phases"] if phase["name"] == "step")


def total(group, metric, location):
    return next(row["total"][location] for row in group["metrics"] if row["name"] == metric)


def check_sums(report, metrics):
    """All call paths of all phases are the total, and those of the iterations are the series."""
    for group in (report, report["threads"]):
        for metric in metrics:
            for location in range(len(next(row["total"] for row in group["metrics"] if row["name"] == metric))):
                values = [path["exclusive"].get(metric, [0] * (location + 1))[location]
                          for phase in group["phases"] for path in phase["call_paths"]]
                expect_equal(sum(values), total(group, metric, location), f"{metric} of location {location}: sum over call paths")
    phase = step(report)
    for rank, series in enumerate(phase["series"]):
        for metric in metrics:
            values = [path["exclusive"].get(metric, [0, 0])[rank] for path in phase["call_paths"]]
            expect_equal(sum(series.get(metric, [0])), sum(values), f"{metric} of rank {rank}: sum over iterations")
            clusters = sum(cluster["metrics"].get(metric, 0) for cluster in phase["cluster_profiles"][rank])
            expect_equal(clusters, sum(values), f"{metric} of rank {rank}: sum over clusters")


def check_values(values, known, where):
    """Never less than what is known of each iteration, and hardly more: of the first ones more pages become resident, and now and then one of
    the MPI library's, the program's or a handler's does."""
    expect(all(value >= least for value, least in zip(values, known)), f"{where}: {values} for {known}")
    far = [i for i, (value, least) in enumerate(zip(values, known)) if value > least + 4]
    expect(len(far) <= 2 + len(values) // 8, f"{where}: {values} for {known}")


@test
def page_faults_of_every_iteration_are_counted(job):
    metrics = ["page_faults", "perf::PAGE-FAULTS"]
    report, said = measured(job, "faults", ",".join(metrics))
    check_sums(report, metrics)
    for rank, series in enumerate(step(report)["series"]):
        for metric in metrics:
            check_values(series[metric], [N * (1 + i % 4) for i in range(ITERATIONS)], f"{metric} of rank {rank}")
        expect(abs(sum(series["page_faults"]) - said[rank][0]) < 0.05 * said[rank][0] + 60, f"{series['page_faults']}, but {said[rank]}")


@test
def page_faults_belong_to_the_function_that_touches(job):
    report, _ = measured(job, "faults", "page_faults", n=4000, LIBPROFILE_SAMPLE="1kHz")
    paths = step(report)["call_paths"]
    for rank in range(2):
        by_function = {}
        for path in paths:
            by_function[path["name"]] = by_function.get(path["name"], 0) + path["exclusive"].get("page_faults", [0, 0])[rank]
        # Samples are in the touching loop, in the system calls around it, or where the kernel was.
        expect(max(by_function.values()) > 0.5 * sum(by_function.values()), f"rank {rank}: {by_function}")


@test
def sleeps_of_every_iteration_are_voluntary_switches(job):
    report, said = measured(job, "sleeps", "voluntary_context_switches,context_switches", n=2)
    check_sums(report, ["voluntary_context_switches", "context_switches"])
    for rank, series in enumerate(step(report)["series"]):
        for i, value in enumerate(series["voluntary_context_switches"]):
            expect(2 * (1 + i % 4) <= value <= 2 * (1 + i % 4) + 20, f"iteration {i} of rank {rank}: {value}")
        expect(abs(sum(series["voluntary_context_switches"]) - said[rank][1]) <= 40, f"{series}, but {said[rank]}")


@test
def a_thread_that_lives_to_the_end_is_counted(job):
    report, _ = measured(job, "threads", "page_faults,perf::PAGE-FAULTS")
    pages = sum(N * (1 + i % 4) for i in range(ITERATIONS))
    expect_equal([(one["rank"], one["thread"]) for one in report["threads"]["locations"] if one["thread"] == 1], [(0, 1), (1, 1)], "threads")
    for location, where in enumerate(report["threads"]["locations"]):
        if where["thread"] != 1:
            continue  # of the MPI library
        for metric in ("page_faults", "perf::PAGE-FAULTS"):
            value = total(report["threads"], metric, location)
            expect(pages <= value <= pages + 100, f"{metric} of {where}: {value} for {pages} pages")


@test
def switches_while_a_rank_waits_belong_to_the_call(job):
    """On one processor the rank that waits yields it, or is taken off it."""
    job.need("taskset")
    report, _ = measured(job, "shares", "context_switches", n=5, prefix=["taskset", "-c", str(min(os.sched_getaffinity(0)))])
    values = {}
    for path in step(report)["call_paths"]:
        values[path["name"]] = values.get(path["name"], 0) + path["exclusive"].get("context_switches", [0, 0])[1]
    expect(sum(values.values()) >= ITERATIONS // 2, f"the ranks took no turns: {values}")
    expect(values["MPI_Barrier"] > 0.8 * sum(values.values()), f"{values}")


@test
def long_calls_in_a_trace_of_events_have_the_counters_of_their_call_paths(job):
    """Without samples nothing else is booked there."""
    job.need("taskset")
    measured(job, "shares", "context_switches", n=5, prefix=["taskset", "-c", str(min(os.sched_getaffinity(0)))], LIBPROFILE_TRACE="events",
             LIBPROFILE_TRACE_MEMORY="16M", LIBPROFILE_SAMPLE="off")
    report = json.loads(job.run([job.tool, "report", job.folder / "shares.out", "--format", "json", "--trace"]).out)
    for entry in report["events"]:
        if entry["thread"] != 0:
            continue
        booked, found = {}, {}
        for phase in report["phases"]:
            for path in phase["call_paths"]:
                if path["kind"] == "mpi":
                    booked[path["id"]] = booked.get(path["id"], 0) + path["exclusive"].get("context_switches", [0, 0])[entry["rank"]]
        counts = entry["counts"]
        for of, event, name, begin, end in zip(*(counts[column] for column in ("of", "event", "counter", "begin", "end"))):
            expect_equal((of, name), ("interval", "context_switches"), "what is counted")
            path = entry["path"][event]
            found[path] = found.get(path, 0) + end - begin
        expect_equal({path: value for path, value in found.items() if value}, {path: value for path, value in booked.items() if value},
                     f"context switches of calls of rank {entry['rank']}")
        expect(entry["rank"] == 0 or sum(found.values()) > ITERATIONS // 4, f"the rank that waits: {found}")


@test
def visits_to_regions_in_a_trace_of_events_have_their_own_page_faults(job):
    measured(job, "regions", "page_faults", LIBPROFILE_TRACE="events", LIBPROFILE_TRACE_MEMORY="16M")
    report = json.loads(job.run([job.tool, "report", job.folder / "regions.out", "--format", "json", "--trace"]).out)
    names = {path["id"]: path["name"] for phase in report["phases"] for path in phase["call_paths"]}
    for entry in report["events"]:
        if entry["thread"] != 0:
            continue
        found, counts = {"touch": [], "still": []}, entry["counts"]
        for of, event, begin, end in zip(*(counts[column] for column in ("of", "event", "begin", "end"))):
            name = names.get(entry["path"][event])
            if of == "interval" and name in found:
                found[name].append(end - begin)
        check_values(found["touch"], [N * (1 + i % 4) for i in range(ITERATIONS)], f"pages of rank {entry['rank']}")
        check_values(found["still"], [0] * ITERATIONS, f"no pages of rank {entry['rank']}")


@test
def unknown_and_refused_counters_are_said_and_the_job_goes_on(job):
    plain = job.plain([job.program("counters"), "waits", 3, 1])
    result = job.measured([job.program("counters"), "waits", 3, 1], output="out",
                          options={"LIBPROFILE_METRICS": "page_falts,PAPI_TOT_INS,page_faults,PAPI_NONSENSE_XYZ"})
    expect_equal(result.code, 0, "exit code")
    expect_equal([line.split()[:2] for line in sorted(result.out.splitlines())], [line.split()[:2] for line in sorted(plain.out.splitlines())], "output")
    said = " ".join(result.complaints)
    expect(re.search(r"page_falts[^;]*did you mean page_faults\?", said), said) # with PAPI and without
    report = job.report("out")
    names = {row["name"] for row in report["metrics"]}
    expect("page_faults" in names, f"{names}")
    if "PAPI_TOT_INS cannot be counted here" in said:
        expect(re.search("perf_event_paranoid|hardware counters|seccomp|PAPI says", said), said)
        losses = [loss["sentence"] for loss in report["losses"]["sentences"] if loss["kind"] == "counters"]
        expect_equal(len(losses), 1, "sentences about counters")
        expect("PAPI_TOT_INS could not be counted" in losses[0], losses[0])
        found = {row["name"]: row["total"] for row in report["metrics"]}
        expect_equal([found[name] for name in ("PAPI_TOT_INS", "region_PAPI_TOT_INS")], [[None, None]] * 2, "totals of the refused counter")
        expect(all(value is not None for name, total in found.items() if "PAPI" not in name for value in total), "all others have totals")


@test
def papi_counts_what_the_kernel_counts(job):
    """A name that only PAPI knows, since it has an attribute."""
    event = "perf::PAGE-FAULTS:u=1"
    result = job.measured([job.program("counters"), "faults", ITERATIONS, N], output="papi.out", options={"LIBPROFILE_METRICS": f"page_faults,{event}"})
    expect_equal(result.code, 0, "exit code")
    if result.complaints:
        raise Skip(result.complaints[0])
    report = job.report("papi.out")
    check_sums(report, ["page_faults", event])
    for rank, series in enumerate(step(report)["series"]):
        check_values(series[event], [N * (1 + i % 4) for i in range(ITERATIONS)], f"{event} of rank {rank}")


def region_values(report, phase, metric, location):
    """By region, sums over call paths of the phase."""
    values = {}
    for path in next(one for one in report["phases"] if one["name"] == phase)["call_paths"]:
        if path["kind"] == "region":
            values[path["name"]] = values.get(path["name"], 0) + path["exclusive"].get(metric, [0] * (location + 1))[location]
    return values


def near(value, known, where, more=6):
    """Not less than is known, and no more than a few of others' pages."""
    expect(known <= value <= known + more, f"{where}: {value} page faults, not {known}")


@test
def regions_have_their_own_page_faults(job):
    metrics = ["page_faults", "perf::PAGE-FAULTS"]
    report, _ = measured(job, "regions", ",".join(metrics), n=40)
    check_sums(report, metrics)
    steps, pages = ITERATIONS, sum(40 * (1 + i % 4) for i in range(ITERATIONS))
    threads = [(location, one) for location, one in enumerate(report["threads"]["locations"])]
    expect(len([one for _, one in threads if one["thread"] == 1]) == 2, f"{threads}")
    for location, one in threads:
        times = {0: 1, 1: 2}.get(one["thread"])
        if times is None:
            continue  # of the MPI library
        phase = "step" if times == 1 else "other"
        for metric in metrics:
            where = f"{metric} of {one} in "
            known = {"touch": times * pages, "still": 0, "again": times * 40 * steps, "outer": times * (pages + 2 * 40 * steps)}
            known["whole"] = known["outer"]
            values = region_values(report["threads"], phase, f"region_{metric}", location)
            expect_equal(set(values), set(known), "regions")
            for name in known:  # a page of the program's or of the MPI library's now and then, libprofile's when it needs more memory in a region
                near(values[name], known[name], where + name, more=3 * steps if name == "whole" else steps)
    rows = {row["name"]: row for row in report["regions"]["rows"]}
    near(rows["touch"]["counters"]["page_faults"], 2 * 3 * pages, "touch in the list of regions", 6 * steps)
    text = job.run([job.tool, "report", job.folder / "regions.out"]).out
    expect(re.search(r"^ +touch +[0-9.]+", text.split("counted", 1)[1], re.M), text)


@test
def iterations_have_their_own_page_faults_of_regions(job):
    """With more kinds of iterations than clusters: none of them has a mean."""
    measured(job, "regions", "page_faults", n=40, LIBPROFILE_CLUSTERS="2")
    far = 0
    for i in range(ITERATIONS):
        for name, known in (("touch", 40 * (1 + i % 4)), ("still", 0)):
            result = job.run([job.tool, "report", job.folder / "regions.out", "--path", name, "--metric", "region_page_faults", "--phase", "step",
                              "--iterations", f"{i + 1}:{i + 1}", "--format", "json"])
            if known == 0 and result.code != 0:
                expect("nothing was measured" in " ".join(result.complaints), f"{result.complaints}")
                continue
            expect_equal(result.code, 0, "exit code of the report")
            for row in json.loads(result.out)["ranks"]:
                value = row["region_page_faults"]
                expect(value >= known, f"{name} in iteration {i} of rank {row['rank']}: {value} page faults, not {known}")
                far += 1 if value > known + 2 else 0
    expect(far <= 4, f"{far} values are far too large")


@test
def regions_have_no_page_faults_of_libprofile(job):
    """Every iteration is kept, which takes memory, mostly while the region waits."""
    result = job.measured([job.program("counters"), "paths", 600, 64], output="out", options={"LIBPROFILE_METRICS": "page_faults", "LIBPROFILE_CLUSTERS": "off"})
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    said = {int(rank): int(minor) for rank, minor in re.findall(r"rank (\d) minor (\d+) in the region", result.out)}
    report = job.report("out")
    for rank in range(2):
        value = region_values(report, "step", "region_page_faults", rank)["meeting"]
        own = said[rank] - value
        expect(own >= 50, f"rank {rank}: libprofile has caused no page faults in the region, of which getrusage has seen {said[rank]}, and the region has {value}")
        expect(value <= 25, f"rank {rank}: {value} page faults of the region, and {own} of libprofile in it")


@test
def a_region_that_is_open_when_a_loop_is_found_loses_nothing(job):
    """Its time is that of each iteration, also of those that were over by then; what was counted until then is of the time before."""
    passes, pages = 3500, 3
    result = job.measured([job.program("counters"), "open", passes, pages], ranks=1, output="out", options={"LIBPROFILE_METRICS": "page_faults"})
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    report = job.report("out")
    loop = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
    outside = next(phase for phase in report["phases"] if phase["kind"] != "iterations")
    expect_equal(loop["iterations_per_rank"], [passes], "iterations")
    times = loop["series"][0]["region_time"]
    for i, (time, wall) in enumerate(zip(times[:-1], loop["iteration_times"][0])): # the region ends in the last one
        expect(abs(time - wall) < 1000, f"iteration {i} took {wall} ns, of which {time} were in the region")
    before, after = (region_values(report, phase["name"], "region_page_faults", 0)["whole"] for phase in (outside, loop))
    near(before + after, passes * pages, "whole", more=passes // 10)
    expect(before > 0 and sum(loop["series"][0]["region_page_faults"]) == after, f"{before} page faults before the loop was found, {after} after that")


@test
def without_a_choice_there_are_no_counters(job):
    report = job.profile([job.program("counters"), "waits", 5, 1])
    expect(not {row["name"] for row in report["metrics"]} & {"page_faults", "context_switches"}, "counters nobody asked for")


@test
def counters_survive_a_small_quota(job):
    result = job.measured([job.program("counters"), "faults", 600, 1], ranks=1, output="out",
                          options={"LIBPROFILE_METRICS": "page_faults,context_switches", "LIBPROFILE_MEMORY": "1M", "LIBPROFILE_CLUSTERS": "off"})
    expect_equal(result.code, 0, "exit code")
    # Not by job.report(): iterations for which there was no memory are missing from the series, which it would not accept.
    report = json.loads(job.run([job.tool, "report", job.folder / "out", "--format", "json"]).out)
    expect(report["losses"]["quota_losses"] > 0, "the memory was enough")
    values = [path["exclusive"].get("page_faults", [0])[0] for phase in report["phases"] for path in phase["call_paths"]]
    expect_equal(sum(values), total(report, "page_faults", 0), "sum over call paths")
    expect(sum(values) >= 600 * 2.5, f"{sum(values)} page faults")


@test
def counters_of_a_killed_rank_are_kept(job):
    result = job.measured([job.program("counters"), "dies", 40, 10], ranks=1, output="out", options={"LIBPROFILE_METRICS": "page_faults"})
    expect(result.code != 0, "exit code")
    report = job.report("out")
    values = step(report)["series"][0]["page_faults"]
    expect_equal(len(values), 40, "iterations")
    check_values(values, [10 * (1 + i % 4) for i in range(40)], "page faults")


@test
def counters_of_a_loop_that_was_found_add_up(job):
    result = job.measured([job.program("counters"), "unmarked", 400, 3], output="out",
                          options={"LIBPROFILE_METRICS": "page_faults"})
    expect_equal(result.code, 0, "exit code")
    report = job.report("out")
    for rank in range(2):
        values = [path["exclusive"].get("page_faults", [0, 0])[rank] for phase in report["phases"] for path in phase["call_paths"]]
        expect_equal(sum(values), total(report, "page_faults", rank), "sum over call paths")
        expect(any(phase["kind"] == "iterations" for phase in report["phases"]), "no loop was found")
        # To choose it and cut it out takes memory; the job is too short for libprofile to have caused anything else that is counted apart.
        own = [path["exclusive"]["page_faults"][rank] for phase in report["phases"] for path in phase["call_paths"]
               if path["name"] == "(libprofile)" and "page_faults" in path["exclusive"]]
        expect(sum(own) >= 3, f"page faults of libprofile itself: {own}")


BARRIERS = """
#define _GNU_SOURCE
#include <omp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}
static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec + 1e-9 * now.tv_nsec;
}
__attribute__((noinline)) static void touch(int pages) {
    char* p = mmap(0, pages * 4096L, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(p, pages * 4096L, MADV_NOHUGEPAGE);
    for (int i = 0; i < pages; ++i) ((volatile char*)p)[i * 4096L] = 1;
    munmap(p, pages * 4096L);
}
__attribute__((noinline)) static void compute(double seconds) {
    const double end = cpu() + seconds;
    while (cpu() < end) {}
}
int main(void) {
    long in_barriers = 0;
#pragma omp parallel num_threads(2) reduction(+ : in_barriers)
    for (int i = 0; i < 200; ++i) {
        if (omp_get_thread_num() == 0)
            touch(250);
        else
            compute(0.003);
        const long before = faults();
#pragma omp barrier
        in_barriers += faults() - before;
    }
    printf("%ld\\n", in_barriers);
    return 0;
}
"""


@test
def counts_before_a_long_barrier_are_not_the_barriers(job):
    """Threads that spin in a barrier are sampled there, mostly; what has come since the sample before is not all the barrier's."""
    job.write("barriers.c", BARRIERS)
    job.compile("gcc", "-O2", "-g", "-fopenmp", "barriers.c", "-o", "barriers")
    options = {"LIBPROFILE_METRICS": "page_faults", "LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": job.folder / "out", "OMP_WAIT_POLICY": "active"}
    result = job.run(job.preloaded([job.folder / "barriers"], options))
    expect_equal(result.code, 0, "exit code")
    report = job.report("out")
    found = {}
    for path in (path for phase in report["phases"] for path in phase["call_paths"]):
        found[path["name"]] = found.get(path["name"], 0) + sum(path["exclusive"].get("page_faults", [0]))
    touched = 200 * 250
    expect(sum(found.values()) >= touched, f"{found} of {touched}")
    # The first barriers are not known to last.
    expect(found.get("omp barrier", 0) <= int(result.out) + touched / 4, f"{found}; in barriers, by the program's own count: {result.out}")


if __name__ == "__main__":
    main()
