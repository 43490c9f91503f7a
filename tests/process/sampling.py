#!/usr/bin/python3
"""What times the samples, and what it must leave alone (tests/programs/sampling.c)."""

import os
import time

from harness import Skip, expect, expect_equal, main, test

RIGHT = "sampling: as it should be\n"


def program(job):
    return job.programs / "sampling"


def best_clock(job, *before):
    """What `auto` must choose here for rates that CPU timers do not keep."""
    return {"yes": "perf", "no": "timer"}[job.run([*before, program(job), "permitted"]).out.split()[-1]]


def sampled(job, mode, *before, sample="1kHz", clock="auto", complaints=0):
    """The program runs as without libprofile; the report."""
    job.runs += 1
    output = f"sampled.{job.runs}"
    command = [*before, program(job), mode]
    plain = job.run(command)
    if plain.code == 77:
        raise Skip("the kernel does not allow what this test needs")
    expect_equal((plain.code, plain.out), (0, RIGHT), "the program without libprofile")
    result = job.run([*before, job.tool, "run", "--output", output, "--sample", sample, "--sample-clock", clock, "--",
                      program(job), mode])
    expect_equal((result.code, result.out, result.err), (0, RIGHT, []), "the program")
    expect_equal((len(result.exit_lines), len(result.complaints)), (1, complaints), "our lines")
    report = job.report(output)
    if sample != "0":
        expect(report["losses"]["samples_taken"] > 10, "too few samples for this test")
    return report


def clock_of(report):
    return report["job"]["sampling_clock"][0]


@test
def samples_are_timed_by_the_best_clock_that_is_permitted(job):
    expect_equal(clock_of(sampled(job, "compute")), best_clock(job), "clock")
    expect_equal(clock_of(sampled(job, "compute", sample="50Hz")), "timer", "clock of a rate that CPU timers keep")
    for clock in ("timer", "wall"):
        expect_equal(clock_of(sampled(job, "compute", clock=clock)), clock, "clock")
    off = sampled(job, "compute", sample="0")
    expect_equal((clock_of(off), off["job"]["sampling_rate"], off["losses"]["samples_taken"]), ("none", [0], 0), "without samples")


@test
def automatic_samples_are_many_in_short_runs_on_every_clock(job):
    tick = time.clock_getres(6) # CLOCK_MONOTONIC_COARSE, for which Python has no name
    best = best_clock(job) if tick >= 0.01 else "timer"
    for clock in ("auto", "timer", "perf", "wall"):
        report = sampled(job, "compute", sample="auto", clock=clock, complaints=int(clock == "perf" != best_clock(job)))
        used = {"auto": best, "perf": best_clock(job)}.get(clock, clock)
        expect_equal(clock_of(report), used, "clock")
        rate, = report["job"]["sampling_rate"]
        # A run this short lives on its credit; CPU timers expire on kernel ticks, of which those of busy machines see fewer.
        expect(rate >= (0.4 / tick if used == "timer" else 200), f"{clock}: only {rate} samples a second")
        expect(rate <= 1100, f"{clock}: {rate} samples a second")
        taken = report["losses"]["samples_taken"] + report["losses"]["samples_lost"]
        stands_for = taken / rate
        wall = report["job"]["wall_ns"][0] / 1e9
        expect(stands_for < 1.3 * wall + 0.05, f"{clock}: {taken} samples of {rate} a second in {wall} s")


@test
def unprivileged_users_are_sampled(job):
    before = []
    if os.getuid() == 0:
        job.need("setpriv")
        before = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        os.chmod(job.folder, 0o777)
        if job.run([*before, program(job), "permitted"]).code != 0:
            raise Skip("nobody cannot reach the programs")
    expect_equal(clock_of(sampled(job, "compute", *before)), best_clock(job, *before), "clock")


@test
def refused_perf_counters_leave_the_cpu_timer(job):
    refused = [program(job), "refuse"]
    report = sampled(job, "compute", *refused)
    expect_equal((clock_of(report), report["losses"]["clocks_lost"]), ("timer", 0), "clock, clocks lost")
    expect_equal(clock_of(sampled(job, "compute", *refused, clock="perf", complaints=1)), "timer", "clock")
    expect("perf_event_paranoid" in job.last.complaints[0], "the line does not say what to look at")


@test
def sampling_survives_a_program_that_closes_all_files(job):
    for mode in ("close", "close_range"):
        report = sampled(job, mode)
        had_counter = best_clock(job) == "perf"
        expect_equal((clock_of(report), report["losses"]["clocks_lost"]), ("timer", int(had_counter)), "clock, clocks lost")


@test
def no_system_call_is_interrupted_unless_wall_time_is_asked_for(job):
    for sample in ("100Hz", "10kHz"):
        sampled(job, "wait", sample=sample)
    sampled(job, "wait", clock="timer")


@test
def children_of_fork_go_on_and_leave_the_clock_alone(job):
    report = sampled(job, "fork")
    expect_equal((clock_of(report), report["losses"]["clocks_lost"]), (best_clock(job), 0), "clock, clocks lost")


@test
def timers_and_signals_of_the_program_are_its_own(job):
    for clock in ("auto", "timer"):
        sampled(job, "profile", clock=clock)


@test
def time_in_the_kernel_is_sampled_where_it_is_spent(job):
    """A counter of user mode alone would give nearly all of it to what computes in between."""
    for clock in ("auto", "timer"):
        report = sampled(job, "kernel", clock=clock)
        paths = report["phases"][0]["call_paths"]
        reading = sum(path["exclusive"]["time"][0] for path in paths if "read" in path["name"])
        everything = sum(path["exclusive"]["time"][0] for path in paths if path["kind"] == "frame")
        expect(reading > 0.4 * everything, f"{reading} of {everything} ns in read() with {clock}")


def skipped(job, mode, reason, words):
    """The report counts and names why samples have no call path; their time is there all the same."""
    report = sampled(job, mode)
    number = report["losses"][reason]
    expect(number > 10, f"only {number} {reason}")
    frames, inside = [], set()
    for path in report["phases"][0]["call_paths"]:  # parents come first
        if path["kind"] == "partial" or path["parent"] in inside:
            inside.add(path["id"])
            frames.append(path)
    expect(sum(path["exclusive"].get("samples", [0])[0] for path in frames) >= number, "samples without a place in the profile")
    expect(sum(path["exclusive"].get("time", [0])[0] for path in frames) > 0, "samples without time")
    text = job.run([job.tool, "report", f"sampled.{job.runs}"]).out
    expect(words in " ".join(text.split()), f"the report does not say {words!r}")


@test
def samples_in_the_loader_are_counted_and_shown(job):
    skipped(job, "loader", "samples_in_loader", "in the dynamic loader")


@test
def samples_on_other_stacks_are_counted_and_shown(job):
    skipped(job, "coroutine", "samples_on_foreign_stack", "on a stack that is not the thread's own")


@test
def kernels_without_unwind_information_have_their_callers(job):
    command = [job.programs / "bare_kernel"]
    plain = job.run(command)
    result = job.run([job.tool, "run", "--output", "kernel", "--sample", "1kHz", "--", *command])
    expect_equal((result.code, result.out), (plain.code, plain.out), "exit code and output")
    report = job.report("kernel")
    paths = {path["id"]: path for path in report["phases"][0]["call_paths"]}
    inside = below_main = 0
    for path in paths.values():
        if path["name"] != "bare_kernel":
            continue
        samples = path["exclusive"].get("samples", [0])[0]
        inside += samples
        caller = paths[path["parent"]]
        if caller["name"] == "call_kernel" and paths[caller["parent"]]["name"] == "main":
            below_main += samples
    expect(inside > 50, f"only {inside} samples in the kernel")
    expect(below_main >= 0.995 * inside, f"{below_main} of {inside} samples have their callers")
    expect(report["call_paths_found"]["paths_bridged"] >= inside * 0.9, "they are not tagged")


@test
def a_call_that_is_long_for_the_first_time_keeps_its_processor_time(job):
    """Samples hit in MPI_Init, behind which the program sleeps 400 ms: all that is off the processor, however often it was sampled."""
    source = job.write("sleeps.c", """#include <mpi.h>
#include <time.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const struct timespec t = {0, 400000000};
    nanosleep(&t, NULL);
    MPI_Finalize();
    return 0;
}
""")
    job.compile(f"mpicc.{job.mpi}", source, "-o", "sleeps")
    for rate in (0, 100, 5000):
        report = job.profile([job.folder / "sleeps"], ranks=2, options={"LIBPROFILE_SAMPLE": rate})
        for rank in range(2):
            off = sum(path["exclusive"].get("time", [0, 0])[rank] for phase in report["phases"] for path in phase["call_paths"] if path["kind"] == "off_cpu")
            expect(off > 395e6, f"rank {rank} at {rate} samples a second: {off / 1e6:.1f} ms off the processor")


if __name__ == "__main__":
    main()
