#!/usr/bin/python3
"""MPI_Pcontrol: recording off and on, iterations marked by levels, checkpoints. The harness checks the sums of every
report to the nanosecond."""

import re

from harness import expect, expect_equal, main, test
from report_checks import calls, sums, totals

STEPS = "pcontrol-1000"
START = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1}


def phases(report):
    return {phase["name"]: phase for phase in report["phases"]}


def not_recorded(group):
    return [metric["total"] for metric in group["metrics"] if metric["name"] == "not_recorded"][0]


def same_as_plain(job, mode, **more):
    """Runs a mode of tests/programs/pcontrol.c both ways; returns the report."""
    command = [job.program("pcontrol"), mode]
    plain = job.plain(command)
    expect_equal(plain.code, 0, "exit code without libprofile")
    report = job.profile(command, **more)
    expect_equal((job.last.out, job.last.err), (plain.out, plain.err), "output")
    expect_equal(job.last.complaints, [], "complaints")
    return report


@test
def calls_while_recording_is_off_are_absent(job):
    report = same_as_plain(job, "switch", options={"LIBPROFILE_SAMPLE": 1000})
    for rank in range(2):
        # Of Pcontrol: the first 0, both 1 and the eight without a meaning.
        expect_equal(calls(report, rank), {**START, "MPI_Allreduce": 3, "MPI_Pcontrol": 11, "MPI_Finalize": 1},
                     f"calls of rank {rank}")
        found = sums(report, rank)
        expect_equal({name for name in found if name.startswith("p2p")}, set(), f"messages of rank {rank}")
        off = not_recorded(report)[rank]
        expect(off >= 50e6, f"rank {rank}: only {off} ns are not recorded, of a sleep of 50 ms")
    names = {path["name"] for path in report["phases"][0]["call_paths"] if path["exclusive"].get("samples")}
    expect("compute" not in names, "samples while recording was off")


@test
def iterations_pair_and_add_up_while_recording_is_off(job):
    report = same_as_plain(job, "iterations", options={"LIBPROFILE_CLUSTERS": "off"})  # a cluster for each
    steps = phases(report)[STEPS]
    expect_equal(steps["iterations_per_rank"], [30, 30], "iterations")
    for rank in range(2):
        # 10 on, 10 off, and from the 22nd on every second only until the Allreduce.
        expect_equal(calls(report, rank, STEPS)["MPI_Allreduce"], 15, f"Allreduce calls of rank {rank}")
        times = steps["iteration_times"][rank]
        metrics = [steps["cluster_profiles"][rank][c]["metrics"] for c in steps["cluster_of_iteration"][rank]]
        for i in range(10, 20):
            expect_equal(metrics[i], {"time": times[i], "not_recorded": times[i]}, f"iteration {i} of rank {rank}, off")
        # The switch at the 11th comes before its marker.
        for i in [*range(9), 21, 22, 24, 26, 28]:
            off = metrics[i].get("not_recorded", 0) != 0
            expect_equal(off, i == 21, f"iteration {i} of rank {rank} has time that is not recorded")


@test
def loops_marked_by_levels_have_as_many_iterations_as_passes(job):
    report = same_as_plain(job, "loops")
    found = {name: phase["iterations_per_rank"] for name, phase in phases(report).items()}
    expect_equal(found, {"": [1, 1], STEPS: [12, 12], "pcontrol-1001": [36, 36]}, "iterations")
    for name in (STEPS, "pcontrol-1001"):
        # The call that ends the last iteration comes from another line than those before.
        expect_equal(phases(report)[name]["classes"], [1, 1], f"classes of {name}: the markers are no part of the structure")


@test
def requests_are_followed_while_recording_is_off(job):
    report = same_as_plain(job, "requests")
    for rank in range(2):
        found = {name: value for name, value in sums(report, rank).items() if name.startswith("p2p")}
        expect_equal(found, {"p2p_receive_communications": 4, "p2p_bytes_received": 16, "p2p_send_communications": 54,
                             "p2p_bytes_sent": 54 * 4}, f"messages of rank {rank}")


@test
def other_threads_follow_the_switch(job):
    report = same_as_plain(job, "threads")
    threads = report["threads"]
    off = not_recorded(threads)
    made = [calls(report, number, group=threads) for number in range(len(threads["locations"]))]
    callers = [number for number, found in enumerate(made) if found]
    expect_equal([made[number] for number in callers], [{"MPI_Comm_size": 2}] * 2, "calls of the threads")
    for number in callers:
        expect(off[number] >= 100e6, f"only {off[number]} ns of the calling thread are not recorded")
    sleepers = [number for number, found in enumerate(made) if not found and off[number] >= 50e6]
    expect(len(sleepers) >= 2, f"the computing threads recorded while recording was off: {off}")
    for rank in range(2):
        expect_equal(calls(report, rank)["MPI_Pcontrol"], 2, f"Pcontrol calls of rank {rank}")


@test
def recording_may_be_off_at_the_end(job):
    report = same_as_plain(job, "off_at_end")
    for rank in range(2):
        expect_equal(calls(report, rank), {**START, "MPI_Allreduce": 3, "MPI_Pcontrol": 1}, f"calls of rank {rank}")
        expect(not_recorded(report)[rank] >= 20e6, "the time until the end is not there")


@test
def recording_may_be_off_at_the_start(job):
    report = same_as_plain(job, "started_off", options={"LIBPROFILE_START": "off"})
    for rank in range(2):
        expect_equal(calls(report, rank), {"MPI_Allreduce": 3, "MPI_Pcontrol": 1, "MPI_Finalize": 1}, f"calls of rank {rank}")
    report = same_as_plain(job, "never_on", options={"LIBPROFILE_START": "0"})
    expect_equal(not_recorded(report), totals(report)["time"], "time that is not recorded, and all time")


@test
def control_inside_mpi_callbacks_has_no_effect(job):
    report = same_as_plain(job, "callback")
    expect_equal(list(phases(report)), [""], "phases")
    for rank in range(2):
        found = calls(report, rank)
        expect_equal((found["MPI_Pcontrol"], found["MPI_Allreduce"]), (3, 3), f"calls of rank {rank}")
        expect_equal(not_recorded(report)[rank], 0, "time that is not recorded")


@test
def control_outside_init_and_finalize_is_as_without_libprofile(job):
    """Both MPIs end the job."""
    for mode in ("early", "late"):
        command = [job.program("pcontrol"), mode]
        plain = job.plain(command)
        result = job.measured(command, output=mode)
        expect_equal((result.code, result.out), (plain.code, plain.out), f"the job, {mode}")
    report = job.report("late")
    expect_equal(report["job"]["complete"], True, "completeness of the profile")


@test
def checkpoints_leave_one_complete_file(job):
    report = same_as_plain(job, "checkpoint")
    expect_equal(phases(report)[STEPS]["iterations_per_rank"], [17, 17], "iterations")
    expect_equal(report["job"]["checkpoint_ranks"], [], "ranks with a checkpoint only")
    files = sorted(path.name for path in (job.folder / "profile.1").iterdir() if path.name != "names.lprof")
    expect_equal(files, ["config", "job", "profile.lprof"], "files")
    folders = [path.name for path in job.folder.iterdir() if path.is_dir()]
    expect_equal(folders, ["profile.1"], "folders")


@test
def checkpoints_of_processes_that_are_jobs_of_their_own_stay_apart(job):
    result = job.measured([job.program("pcontrol"), "checkpoint"], output="own", options={"LIBPROFILE_MPI": "no"})
    expect_equal(result.code, 0, "exit code")
    folders = sorted(path.name for path in job.folder.iterdir() if path.is_dir())
    expect_equal(folders, ["own", "own.001"], "folders")
    for folder in folders:
        files = sorted(path.name for path in (job.folder / folder).iterdir())
        expect_equal(files, ["config", "job", "profile.lprof"], f"files in {folder}")
        expect_equal(phases(job.report(folder))[STEPS]["iterations"], 17, "iterations")


@test
def checkpoints_without_room_are_reported_once(job):
    command = [job.program("pcontrol"), "no_room"]
    plain = job.plain(command)
    result = job.measured(command, output="out")
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the job")
    expect_equal((len(result.exit_lines), len(result.complaints)), (1, 1), "exit lines and complaints")
    expect("cannot write the checkpoint" in result.complaints[0], "the complaint does not say what is wrong")
    files = sorted(path.name for path in (job.folder / "out").iterdir())
    expect_equal(files, ["config", "job", "profile.lprof"], "files")
    job.report("out")


def ended_early(job, end):
    command = [job.program("pcontrol"), "checkpoint", end]
    plain = job.plain(command)
    result = job.measured(command, output="out", options={"LIBPROFILE_CHECKPOINT": "off"})  # else iterations go on
    pid = re.compile(r"PID \d+")  # in the message of MPICH's launcher
    expect_equal((result.code, pid.sub("", result.out)), (plain.code, pid.sub("", plain.out)), "exit code and output")
    expect_equal(result.said, [], "lines of ours")
    report = job.report("out")
    expect_equal((report["job"]["complete"], report["job"]["ranks"]), (False, 2), "completeness and ranks")
    expect_equal((report["job"]["checkpoint_ranks"], report["job"]["missing_ranks"]), ([0, 1], []), "ranks with a checkpoint")
    steps = phases(report)[STEPS]
    expect_equal(steps["iterations_per_rank"], [8, 8], "whole iterations until the checkpoint")
    for rank in range(2):
        expect_equal(calls(report, rank, STEPS)["MPI_Allreduce"], 9, f"calls of rank {rank} until the checkpoint")
        expect(sum(steps["iteration_times"][rank]) < steps["wall_inclusive_ns"][rank], "the running iteration has no time")
    expect(report["self"]["ns"][0] > 0 and report["self"]["ns"][1] > 0, "the first checkpoint cost nothing")
    text = job.run([job.tool, "report", job.folder / "out"]).out
    expect("INCOMPLETE" in text and "2 of 2 ranks did not reach MPI_Finalize (0-1)" in " ".join(text.split()), "the report does not say so")


@test
def killed_job_has_the_data_of_its_last_checkpoint(job):
    ended_early(job, "kill")


@test
def aborted_job_has_the_data_of_its_last_checkpoint(job):
    ended_early(job, "abort")


if __name__ == "__main__":
    main()
