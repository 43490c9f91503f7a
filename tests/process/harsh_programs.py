#!/usr/bin/python3
"""Programs that are hard on a library in their process: stacks, signals and threads (tests/programs/harsh.c)."""

from harness import expect, expect_equal, main, test
from report_checks import calls


def survives(job, mode, rate):
    """One rank, many samples; the program notices by itself when something is wrong."""
    command = [job.program("harsh"), mode]
    plain = job.plain(command, 1)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, 1, options={"LIBPROFILE_SAMPLE": rate})
    expect_equal((job.last.code, job.last.out, job.last.err), (0, plain.out, plain.err), "the program")
    return report


@test
def calls_left_by_longjmp_are_forgotten(job):
    report = survives(job, "leave", 5000)
    found = calls(report, 0)
    expect_equal((found["MPI_Send"], found["MPI_Iprobe"]), (6, 6000), "calls")


# An error handler jumps out of a call that a function ends with; the function runs again, and its next call would lie in the same place.
LEFT = """
#include <mpi.h>
#include <setjmp.h>
#include <time.h>
static jmp_buf out;
static volatile double sink;
static int value;
static void leave(MPI_Comm* comm, int* code, ...) { longjmp(out, 1); }
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + 1e-9 * t.tv_nsec; }
__attribute__((noinline)) static void burn(double s) { for (double end = now() + s; now() < end;) for (int i = 0; i < 1000; ++i) sink += i; }
__attribute__((noinline)) static int tail(int to) { burn(0.05); return MPI_Send(&value, 1, MPI_INT, to, 0, MPI_COMM_WORLD); }
__attribute__((noinline)) static int work(int to) { int sum = 0; for (int k = 0; k < 3; ++k) sum += tail(to); return sum + 1; }
int main(int argc, char** argv) {
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int k = 0; k < 10; ++k)
        if (setjmp(out) == 0) work(99);
    MPI_Finalize();
}
"""


@test
def a_call_left_by_longjmp_does_not_get_the_time_of_the_function_that_made_it(job):
    job.compile(f"mpicc.{job.mpi}", "-g", "-O2", job.write("left.c", LEFT), "-o", "left")
    report = job.profile([job.folder / "left"], 1, options={"LIBPROFILE_SAMPLE": "1kHz"})
    expect_equal(calls(report, 0)["MPI_Send"], 10, "calls")
    stacks = job.folder / "stacks"
    expect_equal(job.run([job.tool, "export", job.folder / "profile.1", "--format", "folded", "--output", stacks]).code, 0, "exit code of export")
    burnt = sum(int(line.rsplit(" ", 1)[1]) for line in stacks.read_text().splitlines() if ";burn" in line)
    expect(burnt > 0.4e9, f"burn() worked for half a second: {stacks.read_text()}")


@test
def handlers_on_small_alternate_stacks_survive(job):
    survives(job, "altstack", 10000)


@test
def the_sampling_signal_is_not_seen_by_the_program(job):
    report = survives(job, "masked", 1000)
    expect(report["losses"]["samples_taken"] > 0, "no samples while all signals are blocked")


@test
def handlers_for_all_signals_are_the_programs_own(job):
    survives(job, "reset", 1000)


@test
def markers_and_snapshots_in_handlers_that_interrupt_libprofile_are_no_harm(job):
    command = [job.program("harsh"), "marking"]
    plain = job.plain(command, 1)
    for checkpoint in ("10s", "off"):
        result = job.measured(command, 1, output=f"marking.{checkpoint}", options={"LIBPROFILE_CHECKPOINT": checkpoint})
        expect_equal((result.code, result.out, result.err), (0, plain.out, plain.err), f"the program, checkpoints {checkpoint}")
        expect_equal(job.run([job.tool, "report", job.folder / f"marking.{checkpoint}"]).code, 0, "the report")


@test
def threads_before_mpi_init_are_measured(job):
    report = survives(job, "early", 100)
    expect_equal(len(report["threads"]["locations"]), 2, "threads")
    samples = [metric for metric in report["threads"]["metrics"] if metric["name"] == "samples"]
    expect(sum(samples[0]["total"]) > 5, "the threads have no samples")


@test
def short_lived_threads_do_not_use_up_the_memory(job):
    report = survives(job, "churn", 100)
    expect_equal(report["losses"]["threads_lost"], 0, "threads lost")
    expect(len(report["threads"]["locations"]) < 100, "threads without a trace have locations")


if __name__ == "__main__":
    main()
