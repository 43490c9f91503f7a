"""`libprofile compare` and `libprofile scale` on runs with known differences."""

import json

from harness import expect, expect_equal, main, test

SOLVER = """
#include <mpi.h>
static volatile double sink;
static __attribute__((noinline)) void burn(double amount) { for (int i = 0; i < amount * 200000; ++i) sink += i; }
static void apply(double ms) { burn(ms); burn(ms / 2); }
static __attribute__((noinline)) void spmv(double ms) { apply(ms); burn(ms); }
static __attribute__((noinline)) void precondition(double ms) { apply(ms / 2); }
static double dot(void) { double a = 1, b; burn(0.2); MPI_Allreduce(&a, &b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); return b; }
static __attribute__((noinline)) double step(double ms) { spmv(ms); precondition(ms); return dot() + dot(); }
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 150; ++i) sink += step(1);
    MPI_Finalize();
}
"""

# A third of the work of one rank is not divided up. Prints the time of the loop.
AMDAHL = """
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>
static volatile double sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static __attribute__((noinline)) void serial(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 1000; ++i) sink += i; }
static __attribute__((noinline)) void divided(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 999; ++i) sink -= i; }
int main(int argc, char** argv) {
    int ranks, rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < 100; ++i) {
        profile_iteration_begin("step");
        serial(2);
        divided(4.0 / ranks);
        MPI_Barrier(MPI_COMM_WORLD);
        profile_iteration_end("step");
    }
    if (rank == 0) printf("%.9f\\n", MPI_Wtime() - start);
    MPI_Finalize();
}
"""


def compared(job, *arguments):
    """The JSON of a comparison."""
    result = job.run([job.tool, "compare", *arguments, "--format", "json"])
    expect_equal(result.code, 0, "exit code")
    return json.loads(result.out)


@test
def the_slower_function_and_its_rank_are_named(job):
    program = job.program("lost_time")
    for run in (1, 2, 3):
        for cause in ("none", "steady"):
            job.measured([program, cause, 40, 200], output=f"{cause}.{run}")
    old, new = [f"none.{run}" for run in (1, 2, 3)], [f"steady.{run}" for run in (1, 2, 3)]
    comparison = compared(job, "--baseline", *old, "--", *new)
    refine = [row for row in comparison["functions"] if row["function"] == "work" and row["below"] == "refine"]
    expect_equal(len(refine), 1, f"rows of what refine() calls: {comparison['functions'][:3]}")
    expect_equal((refine[0]["ranks"], refine[0]["kind"]), ("1", "computing"), "rank, kind")
    expect(any(row["path"].endswith("refine > work") and row["before"] == 0 for row in comparison["call_paths"]), "the new call path")
    expect(0.5 < refine[0]["difference_there"] / (0.4 * 2.17e6 * 200) < 1.5, f"40 % of 2.17 ms in 200 iterations on rank 1: {refine[0]}")
    waiting = [row for row in comparison["functions"] if row["kind"] == "waiting" and row["difference"] > 0]
    expect(waiting and waiting[0]["difference"] > 0.3 * refine[0]["difference"], f"the other rank waits: {comparison['functions'][:3]}")
    text = job.run([job.tool, "compare", "yesterday=" + ",".join(old), "today=" + ",".join(new)]).out
    expect("work (spin.h:" in text and "called by refine" in text, text)


@test
def call_paths_of_a_recompiled_program_are_matched(job):
    options = {"LIBPROFILE_SAMPLE": "1kHz"}
    for name, level, text in (("before", "-O1", SOLVER), ("after", "-O3", SOLVER.replace("spmv", "sparse_product"))):
        (job.folder / f"src.{name}").mkdir()
        job.compile(f"mpicc.{job.mpi}", "-g", level, job.write(f"src.{name}/solver.c", text), "-o", f"src.{name}/solver")
        job.measured([job.folder / f"src.{name}/solver"], output=name, options=options)
    comparison = compared(job, "before", "after", "--top", 100000)
    rows = [row for row in comparison["call_paths"] if row["kind"] != "off CPU"]  # where other programs take the processor is chance
    matched = sum(row["before"] for row in rows if row["after"]) / sum(row["before"] for row in rows)
    expect(matched >= 0.99, f"only {matched:.2%} of the time is on common call paths: {rows[:8]}")
    expect(any("spmv is taken to be what is called sparse_product now" in note for note in comparison["notes"]), f"notes: {comparison['notes']}")
    both = {row["path"] for row in comparison["call_paths"] if row["before"] and row["after"]}
    for caller in ("spmv", "precondition"):
        expect(any(f"{caller} > apply > burn" in path for path in both), f"apply() below {caller}() is a call path of both runs: {sorted(both)}")


@test
def a_test_can_fail_by_a_difference(job):
    for iterations in (20, 30):
        job.profile([job.example("hydro"), iterations, 8])
    less, more = "profile.1", "profile.2"
    for first, second, limit, code in ((less, more, "3%", 3), (less, more, "1000", 0), (more, less, "3", 0), (less, more, "0", 3)):
        result = job.run([job.tool, "compare", first, second, "--metric", "visits", "--fail-above", limit, "--format", "csv"])
        expect_equal((result.code, "more visits than" in result.all_err), (code, code == 3), f"{first}, {second}, {limit}: {result.all_err}")
    text = job.run([job.tool, "compare", less, more]).out
    expect("profile.2 did 30 iterations of timestep, profile.1 did 20" in text, text)


# Writes output in every `interval`-th step; does `steps` steps of which it leaves out those from `from` to `to`.
STEPS = """
#include <libprofile.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static volatile double sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static __attribute__((noinline)) void solve(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 1000; ++i) sink += i; }
static __attribute__((noinline)) void gather(int bytes) {
    static char out[1 << 16], in[2 << 16];
    MPI_Gather(out, bytes, MPI_CHAR, in, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
}
int main(int argc, char** argv) {
    const int steps = atoi(argv[1]), interval = atoi(argv[2]), from = atoi(argv[3]), to = atoi(argv[4]);
    MPI_Init(&argc, &argv);
    for (int i = 0; i < steps; ++i) {
        if (i >= from && i < to) continue;
        profile_iteration_begin("step");
        solve(1);
        gather(1000 + i / 10);
        if (i % interval == interval - 1) { solve(10); gather(50000); }
        profile_iteration_end("step");
    }
    MPI_Finalize();
}
"""


def over_time(job, *arguments):
    result = compared(job, *arguments, "--over-time")
    return result["alignments"][0], result["segments"], result["functions"], result


def overlap(segment, first, last):
    """Of the iterations of a segment and of first to last, the share that both have."""
    both = min(segment["last_before"], last) - max(segment["first_before"], first) + 1
    return both / (max(segment["last_before"], last) - min(segment["first_before"], first) + 1)


@test
def iterations_that_became_slower_are_found_with_their_function_and_rank(job):
    program = job.program("lost_time")
    for cause, part in (("none", 0), ("range", 40)):
        job.measured([program, cause, part, 400], output=cause)
    alignment, segments, functions, _ = over_time(job, "none", "range")
    expect_equal((alignment["align"], alignment["pairs"], alignment["different_calls"]), ("structure", 400, 0), "alignment")
    changes = [segment for segment in segments if not segment["chance"]]
    expect(changes and overlap(max(changes, key=lambda s: s["difference"]), 161, 240) >= 0.8, f"iterations 161 to 240 are slower: {segments}")
    worst = max(changes, key=lambda s: s["difference"])
    expect(0.6 < worst["difference"] / (0.4 * 5 * 2.17e6 * 80) < 2, f"by 40 % of 5 * 2.17 ms each: {worst}")
    names = [(row["function"], row["ranks"]) for row in functions if row["segment"] == worst["segment"] and row["difference"] > 0]
    expect(("work", "1") in names[:3], f"work() on rank 1 is named: {names[:5]}")
    text = job.run([job.tool, "compare", "none", "range", "--over-time"]).out
    expect("called by refine" in text and "aligned by structure" in text, text)
    for limit, code in (("10%", 3), ("1000%", 0)):
        result = job.run([job.tool, "compare", "none", "range", "--over-time", "--fail-above", limit])
        expect_equal(result.code, code, f"--fail-above {limit}: {result.all_err}")
        expect(("slower in range, which is more than" in result.all_err) == (code == 3), result.all_err)


@test
def steps_that_one_run_has_not_are_told_from_slower_ones(job):
    job.compile(f"mpicc.{job.mpi}", "-g", "-O1", f"-I{job.source}/include", job.write("steps.c", STEPS), "-o", "steps")
    for name, arguments in (("all", (300, 20, 0, 0)), ("dropped", (300, 20, 100, 140)), ("output", (300, 10, 0, 0))):
        job.measured([job.folder / "steps", *arguments], output=name)
    alignment, segments, _, _ = over_time(job, "all", "dropped")
    expect_equal((alignment["align"], alignment["pairs"], alignment["different_calls"], alignment["alone_before"], alignment["alone_after"]),
                 ("structure", 260, 0, 40, 0), "steps with their own bytes find each other")
    expect(alignment["ns_alone_before"] >= 40e6, f"40 steps that compute for 1 ms each and more: {alignment}")
    pairs = [(row["iteration_before"], row["iteration_after"]) for row in over_time(job, "all", "dropped")[3]["iterations"]]
    right = sum(after == (before if before <= 100 else before - 40) for before, after in pairs)
    expect(right >= 0.99 * 260, f"{right} of 260 steps have the right partner")
    alignment, segments, functions, result = over_time(job, "all", "output")
    expect_equal((alignment["pairs"], alignment["different_calls"]), (300, 15), "output in 15 more steps")
    unlike = {row["iteration_after"]: row["dissimilarity"] for row in result["iterations"] if row["dissimilarity"] != 0}
    expect_equal(sorted(unlike), list(range(10, 300, 20)), "steps with calls that have no partner")
    expect(all(abs(share - 1 / 3) < 1e-6 for share in unlike.values()), f"one MPI_Gather of three has none: {unlike}")
    more = [row for row in functions if row["function"] == "MPI_Gather"]
    expect(more and more[0]["change"] == "work" and more[0]["visits_after"] > more[0]["visits_before"], f"more calls: {functions[:4]}")
    forced = over_time(job, "all", "dropped", "--align", "progress")[0]
    expect_equal((forced["align"], forced["pairs"]), ("progress", 260), "--align progress")


# Workers send what they computed, the root puts it together. Usage: slower root's or workers' steps, in percent of 1 ms.
WORKERS = """
#include <libprofile.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>
static volatile double sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static __attribute__((noinline)) void compute(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 20000; ++i) sink += i; }
static __attribute__((noinline)) void merge(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 19999; ++i) sink -= i; }
int main(int argc, char** argv) {
    int rank, ranks;
    double value = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 0; i < 120; ++i) {
        profile_iteration_begin("step");
        if (rank == 0) {
            MPI_Request requests[16];
            double values[16];
            for (int r = 1; r < ranks; ++r) MPI_Irecv(&values[r], 1, MPI_DOUBLE, r, 0, MPI_COMM_WORLD, &requests[r - 1]);
            MPI_Waitall(ranks - 1, requests, MPI_STATUSES_IGNORE);
            merge(1 + atoi(argv[1]) * 0.01);
        } else {
            compute(1 + atoi(argv[2]) * 0.01);
            MPI_Send(&value, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
        }
        MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        profile_iteration_end("step");
    }
    MPI_Finalize();
}
"""


@test
def ranks_of_other_numbers_are_compared_with_their_like(job):
    job.compile(f"mpicc.{job.mpi}", "-g", "-O1", "-Wno-stringop-overflow", f"-I{job.source}/include", job.write("workers.c", WORKERS), "-o", "workers")
    for name, ranks, arguments in (("two", 2, (0, 0)), ("slow-root", 4, (200, 0)), ("slow-workers", 4, (0, 200))):
        job.measured([job.folder / "workers", *arguments], ranks, output=name, options={"LIBPROFILE_SAMPLE": "1kHz"})
    for after, function, of_before, of_after in (("slow-root", "merge", "0", "0"), ("slow-workers", "compute", "1", "1-3")):
        for options in ((), ("--over-time",)):
            functions = compared(job, "two", after, *options)["functions"]
            slower = [row for row in functions if row["function"] == function and row["difference_there"] > 0]
            expect(slower and (slower[0]["ranks"], slower[0]["ranks_after"]) == (of_before, of_after), f"{function} in {after}: {functions[:4]}")
            longer = sum(row["difference_there"] for row in slower)  # of all segments
            expect(0.6 < longer / (120 * 2e6) < 1.6, f"by 2 ms a step: {slower}")
        text = job.run([job.tool, "compare", "two", after]).out
        expect(("on rank 1 (1-3 of slow-workers): compute" if after == "slow-workers" else "on rank 0: merge") in " ".join(text.split()), text)


# Exchanges with the next rank and reduces; writes in every tenth step. What the second version does otherwise, macros say.
PHASES = """
#include <libprofile.h>
#include <mpi.h>
#include <time.h>
#ifndef WRITE
#define WRITE write_output
#endif
static volatile double sink;
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static void solve(double ms) { for (double end = now() + ms; now() < end;) for (int i = 0; i < 1000; ++i) sink += i; }
static __attribute__((noinline)) void sum(double* a, double* b) { MPI_Allreduce(a, b, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); sink += *b; }
static SMALL void exchange(int rank) {
    char out[100] = "", in[100];
    MPI_Sendrecv(out, 100, MPI_CHAR, !rank, 0, in, 100, MPI_CHAR, !rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
    sink += in[0];
}
static __attribute__((noinline)) void WRITE(void) {
    char out[64] = "", in[128];
    MPI_Gather(out, 64, MPI_CHAR, in, 64, MPI_CHAR, 0, MPI_COMM_WORLD);
#ifdef CHECK
    MPI_Bcast(in, 1, MPI_CHAR, 0, MPI_COMM_WORLD);
#endif
    sink += in[0];
}
static __attribute__((noinline)) void step(int rank, int i) {
    double a = i, b;
    solve(0.2);
#ifdef SWAP
    sum(&a, &b);
    exchange(rank);
#else
    exchange(rank);
    sum(&a, &b);
#endif
    if (i % 10 == 9) WRITE();
    MPI_Bcast(&a, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    sink += a;
}
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 150; ++i) {
        profile_iteration_begin("step");
        step(rank, i);
        profile_iteration_end("step");
    }
    MPI_Finalize();
}
"""


def what_changed(job, before, after):
    """Rows without those of how often, and the text of the comparison."""
    alignment, _, _, result = over_time(job, before, after)
    rows = [(row["change"], row["call"], row["caller"], row["now"], row["iterations"], row["numbers"], row["ranks"]) for row in result["changed_calls"]]
    return alignment, rows, result, job.run([job.tool, "compare", before, after, "--over-time", "--width", "200"]).out


@test
def calls_that_changed_inside_iterations_are_told_once(job):
    options = {"LIBPROFILE_ORDER": 1}
    tenth = ", ".join(str(i) for i in range(10, 151, 10))
    for name, level, *flags in (("plain", "-O1"), ("check", "-O1", "-DCHECK"), ("swap", "-O1", "-DSWAP"), ("renamed", "-O2", "-DWRITE=store"),
                                ("inlined", "-O3", "-DSMALL=", "-g0"), ("again", "-O2")):
        small = [] if "-DSMALL=" in flags else ["-DSMALL=__attribute__((noinline))"]
        (job.folder / f"src.{name}").mkdir()
        job.compile(f"mpicc.{job.mpi}", "-g", level, "-fno-optimize-sibling-calls", f"-I{job.source}/include", *small, *flags,
                    job.write(f"src.{name}/phases.c", PHASES), "-o", f"src.{name}/phases")
        job.measured([job.folder / f"src.{name}/phases"], output=name, options=options)

    alignment, rows, result, text = what_changed(job, "plain", "again")
    expect_equal((alignment["different_calls"], alignment["other_order"], rows), (0, 0, []), "the same source at another level of optimisation")
    begins = [row for row in result["events"] if row["call"] == "MPI_Bcast" and row["caller"] == "step"]
    expect(len(begins) == 1 and begins[0]["begin_before"] > 0.2e6 and begins[0]["begin_after"] > 0.2e6, f"it comes behind 0.2 ms of solve(): {result['events']}")
    expect_equal([row["call"] for row in result["events"]], ["MPI_Sendrecv", "MPI_Barrier", "MPI_Allreduce", "MPI_Bcast"], "events of the usual step")

    alignment, rows, result, text = what_changed(job, "plain", "check")
    expect_equal((alignment["align"], alignment["pairs"], alignment["different_calls"]), ("structure", 150, 15), "pairs")
    expect_equal(rows, [("added", "MPI_Bcast", "write_output", "", 15, tenth, "0-1")], "the added call")
    expect("in 15 iterations (10, 20, 30, ...), MPI_Bcast was added in write_output, once an iteration, on all ranks" in text.replace("…", "..."), text)
    expect_equal(what_changed(job, "check", "plain")[1], [("removed", "MPI_Bcast", "write_output", "", 15, tenth, "0-1")], "and back")

    alignment, rows, result, text = what_changed(job, "plain", "swap")
    expect_equal((alignment["pairs"], alignment["different_calls"], alignment["other_order"]), (150, 0, 150), "the same calls in another order")
    expect(rows in ([("moved", call, "step", now, 150, "1-150", "0-1")] for call, now in (("sum", ""), ("exchange", "sum"))), f"one moved over the other: {rows}")
    expect("both have the same calls, 150 in another order" in text and "in all 150 iterations, " in text, text)

    alignment, rows, result, text = what_changed(job, "plain", "renamed")
    expect_equal((alignment["different_calls"], rows), (0, [("renamed", "write_output", "step", "store", 15, tenth, "0-1")]), "a renamed function")
    alignment, rows, result, text = what_changed(job, "swap", "renamed")
    expect_equal(sorted(row[0] for row in rows), ["moved", "renamed"], f"both at once, each told once: {rows}")

    rows = what_changed(job, "plain", "inlined")[1]
    expect_equal(rows, [("inlined", "exchange", "step", "", 150, "1-150", "0-1")], "a function of which nothing is left but its calls")

    job.measured([job.folder / "src.plain/phases"], output="without")
    alignment, rows, result, text = what_changed(job, "plain", "without")
    expect_equal((rows, result["events"], alignment["other_order"]), ([], [], 0), "without an order nothing is told")
    expect("the order of calls is known of plain only; record both runs with LIBPROFILE_ORDER=1" in text, text)


@test
def a_killed_run_does_not_pass_for_a_fast_one(job):
    program = job.program("mortal")
    job.profile([program, "full", 9, 100, job.folder])  # there is no rank 9: all end well
    job.measured([program, "kill", 1, 30, job.folder], output="killed")
    expect(not job.report("killed")["job"]["complete"], "killed")
    whole = "profile.1"
    for runs, limit, code, said in (
            ([whole, "killed"], "1000", 4, ["killed is incomplete"]), (["killed", whole], "1000000", 4, ["killed is incomplete"]),
            (["--baseline", whole, "--", "killed"], "1000", 4, ["killed is incomplete"]), (["killed", whole], "0", 3, ["killed is incomplete", "more visits"])):
        result = job.run([job.tool, "compare", *runs, "--metric", "visits", "--fail-above", limit])
        expect_equal(result.code, code, f"exit code of {runs} --fail-above {limit}: {result.all_err}")
        for words in said:
            expect(words in result.all_err, f"{words}: {result.all_err}")
    expect_equal(job.run([job.tool, "compare", whole, "killed"]).code, 0, "without --fail-above it is told only")


@test
def what_cannot_be_compared_is_refused_in_one_sentence(job):
    job.profile([job.example("hydro"), 20, 8])
    job.profile([job.program("lost_time"), "none", 0, 200])  # much longer than MPI_Init, which both have
    job.write("stacks", "main;f 12\nmain;g 3\n")
    hydro, other = "profile.1", "profile.2"
    for arguments, code, said in (
            ([hydro], 2, "needs two runs"), ([hydro, hydro], 2, "is named twice"), ([hydro, "nowhere"], 1, "nowhere"), ([hydro, other], 0, None),
            ([hydro, "stacks"], 1, "compare runs of one tool"), (["a=" + hydro], 2, "needs two runs"), ([hydro, "b="], 2, "NAME=RUN"),
            ([hydro, other, "--metric", "tims"], 1, "tims"), ([hydro, other, "--fail-above", "much"], 2, "percentage"),
            ([hydro, other, "--format", "xml"], 2, "no format"), ([hydro, other, "--rank", "7"], 1, "rank 7"),
            ([hydro, other, "--over-time", "--align", "time"], 2, "no way to align"), ([hydro, other, "--align", "step"], 2, "--align is for --over-time"),
            ([hydro, other, "--over-time", "--metric", "bytes"], 2, "compares times"), ([hydro, "stacks", "--over-time"], 2, "leave out --over-time"),
            ([hydro, other, "--iterations", "x"], 2, "range"), ([hydro, other, "--tops", "3"], 2, "did you mean --top"),
            (["--baseline", hydro, other], 2, "needs runs to compare with")):
        result = job.run([job.tool, "compare", *arguments])
        if said is None:
            expect("both have" in result.out or "have both" in result.out or result.code == 1, "what two programs have in common is said")
            continue
        expect_equal(result.code, code, f"exit code of {arguments}: {result.all_err}")
        lines = result.all_err.splitlines()
        expect(len(lines) == 1 and lines[0].startswith("libprofile: error: ") and said in lines[0] and "report this" not in lines[0], f"{arguments}: {lines}")
    for arguments, code, said in (
            (["a=" + hydro], 2, "view needs two runs"), ([hydro, hydro], 2, "is named twice"), ([hydro, "stacks"], 1, "compare runs of one tool"),
            ([hydro, "--phase", "timestep"], 2, "for several runs"), ([hydro, "--align", "step"], 2, "for several runs"),
            ([hydro, other, "--align", "time"], 2, "no way to align"), ([hydro, other, "--with-source"], 2, "no source"),
            ([hydro, other, "--serve", "--follow"], 2, "single run"), ([hydro, other, "--metric", "time", "--metric", "mpi"], 2, "give --metric once"),
            (["--baseline", hydro, other], 2, "libprofile view --baseline a1 a2 -- b1 b2")):
        result = job.run([job.tool, "view", *arguments])
        expect_equal(result.code, code, f"exit code of view {arguments}: {result.all_err}")
        expect(len(result.all_err.splitlines()) == 1 and said in result.all_err, f"view {arguments}: {result.all_err}")


@test
def efficiencies_of_a_known_serial_share_are_found(job):
    job.compile(f"mpicc.{job.mpi}", "-g", "-O2", f"-I{job.source}/include", job.write("amdahl.c", AMDAHL), "-o", "amdahl")
    seconds = {}
    for ranks in (2, 1):
        seconds[ranks] = float(job.measured([job.folder / "amdahl"], ranks, output=f"on.{ranks}", options={"LIBPROFILE_SAMPLE": "1kHz"}).out)
    result = job.run([job.tool, "scale", "on.2", "on.1", "--phase", "step", "--format", "json"])
    expect_equal(result.code, 0, "exit code")
    scaling = json.loads(result.out)
    expect_equal([row["ranks"] for row in scaling["sizes"]], [1, 2], "the smallest run is the baseline, not the first")
    expected, found = seconds[1] / 2 / seconds[2], scaling["sizes"][1]["efficiency"]
    expect(abs(found - expected) < 0.02, f"efficiency {found}, by the program's clock {expected}")
    worst = next(row for row in scaling["functions"] if row["kind"] == "computing")
    expect_equal(worst["function"], "serial", "the function that is not divided up")
    expect(abs(worst["efficiency"] - 0.5) < 0.05, f"its efficiency: {worst}")
    for arguments, said in ((["on.1"], "at least two sizes"), (["on.1", "on.2", "--strong", "--weak"], "not both"), (["on.1", "nowhere"], "nowhere")):
        result = job.run([job.tool, "scale", *arguments])
        expect(result.code != 0 and said in result.all_err and len(result.all_err.splitlines()) == 1, result.all_err)


main()
