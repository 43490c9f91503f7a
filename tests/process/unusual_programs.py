#!/usr/bin/python3
"""Programs that mismatch markers, trap floating-point exceptions or close files under our feet."""

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls


@test
def mismatched_markers_are_repaired_and_reported_once(job):
    command = [job.program("life"), "mismatch"]
    plain = job.plain(command)
    result = job.measured(command, output="mismatch")
    expect_equal((result.code, result.out, result.err), (0, plain.out, plain.err), "the job")
    expect_equal((len(result.exit_lines), len(result.complaints)), (1, 1), "exit lines and complaints")
    expect("pair like brackets" in result.complaints[0], "the complaint does not say what is wrong")
    # Each rank: 5 x (end with something open inside, end of what is not open, end without begin), begin of what is
    # open, and one phase that is never ended.
    report = job.report("mismatch", repairs=2 * 17)
    phases = {phase["name"]: phase for phase in report["phases"]}
    expect_equal(sorted(phases), ["", "inner", "left open", "outer", "step"], "phases")
    for name, iterations in {"outer": 5, "inner": 5, "left open": 2, "step": 10}.items():
        expect_equal(phases[name]["iterations_per_rank"], [iterations] * 2, f"iterations of {name!r}")
    for rank in range(2):
        expect_equal(calls(report, rank, "inner"), {"MPI_Barrier": 5}, f"calls of rank {rank} inside")


@test
def floating_point_traps_do_not_fire(job):
    for mode in ("usual", "inexact"):
        plain = job.plain([job.program("traps"), mode])
        expect_equal(plain.code, 0, "exit code without libprofile")
        report = job.profile([job.program("traps"), mode], options={"LIBPROFILE_CLUSTERS": 8, "LIBPROFILE_SAMPLE": 1000})
        steps = [phase for phase in report["phases"] if phase["name"] == "step"][0]
        expect_equal(steps["iterations_per_rank"], [200, 200], "iterations")
        expect(max(steps["clusters_per_rank"]) <= 8, "more clusters than asked for")


@test
def closing_all_files_at_the_start_is_no_harm(job):
    """What a daemon does. MPICH's ranks cannot: their launcher gives them a connection."""
    if job.mpi == "mpich":
        raise Skip("an MPICH program cannot close its launcher's connection")
    report = job.profile([job.program("life"), "closefrom"])
    expect_equal((job.last.out, job.last.err), ("life: 2 ranks\n", []), "output")
    expect_equal(calls(report, 0)["MPI_Allreduce"], 10, "calls")


@test
def files_opened_after_closing_all_are_left_alone(job):
    """libunwind checks addresses with a pipe: its descriptors may be those of the program's own files by now."""
    command = [job.programs / "without_mpi", "closefrom"]
    plain = job.run(command)
    result = job.run([job.tool, "run", "--sample", "1000", "--output", "out", "--", *command])
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the process")
    report = job.report("out")
    expect(report["losses"]["samples_taken"] > 10, "too few samples for this test")


@test
def closed_output_is_no_harm(job):
    command = [job.program("life"), "close_output"]
    plain = job.plain(command)
    result = job.measured(command, output="closed")
    expect_equal((result.code, result.out, result.all_err), (plain.code, plain.out, plain.all_err), "the job")
    job.report("closed")


@test
def tiny_iterations_and_high_rates_keep_the_sums_exact(job):
    for options in ({"LIBPROFILE_SAMPLE": 10000}, {"LIBPROFILE_SAMPLE": 0}, {"LIBPROFILE_CLOCK": "monotonic"},
                    {"LIBPROFILE_CLUSTERS": 1, "LIBPROFILE_EQUIVALENCE": "none"}, {"LIBPROFILE_EQUIVALENCE": "weak"}):
        report = job.profile([job.example("adaptive_cpp"), "60", "64"], options=options)
        iterations = {phase["name"]: phase["iterations"] for phase in report["phases"]}
        expect_equal(iterations["timestep"], 60, f"iterations with {options}")


@test
def sums_equal_wall_to_the_nanosecond_with_four_ranks(job):
    report = job.profile([job.example("adaptive_cpp"), "40", "64"], ranks=4)  # the report's checks are the test
    expect_equal(len(report["job"]["wall_ns"]), 4, "ranks")


@test
def running_out_of_memory_keeps_the_sums_exact(job):
    """The harness checks the sums of every report it reads."""
    for memory in ("1M", "1500K", "3M"):
        report = job.profile([job.example("adaptive_cpp"), "60", "64"],
                             options={"LIBPROFILE_MEMORY": memory, "LIBPROFILE_SAMPLE": 5000})
        expect(report["job"]["complete"], f"incomplete with {memory}")


if __name__ == "__main__":
    main()
