#!/usr/bin/python3
"""Jobs whose ranks do not all come to the same end: nothing hangs, and the exit code is that without libprofile."""

import os
import re
from pathlib import Path

from harness import Skip, expect, expect_equal, main, test

SHORT = {"LIBPROFILE_FINALIZE_TIMEOUT": 2}


def mixed(job, command, without):
    """Two ranks: the one with number `without` runs without the library."""
    settings = [f"LIBPROFILE_OUTPUT={job.folder}/mixed", "LIBPROFILE_FINALIZE_TIMEOUT=2", "LIBPROFILE_SAMPLE=10000"]
    preload = ["env", f"LD_PRELOAD={job.library}", *settings]
    parts = [command if rank == without else [*preload, *command] for rank in range(2)]
    launcher = job.launcher(1)
    line = [*launcher, *parts[0], ":", *launcher[-2:], *parts[1]]
    return job.run(line, timeout=40)


def one_rank_without_the_library(job, without):
    result = mixed(job, [job.program("life"), "work"], without)
    # MPICH's transport on the rank without us tells of the message it got from the other (docs/limits.md): we are not
    # in that process and cannot keep it from that.
    out = re.sub(r"\[.*UCX  WARN  unexpected tag-receive descriptor .* was not matched\n", "", result.out)
    expect_equal((result.code, out, result.err), (0, "life: 2 ranks\n", []), "the job")
    expect(result.seconds < 15, f"took {result.seconds:.1f} s in spite of a timeout of 2 s")
    expect_equal(len(result.said), 1, "lines in the job")
    report = job.report("mixed")
    expect_equal(report["job"]["ranks"], 2, "ranks")
    expect_equal(report["job"]["missing_ranks"], [without], "missing ranks")
    expect_equal(report["job"]["complete"], False, "completeness")
    steps = [phase for phase in report["phases"] if phase["name"] == "step"]
    expect_equal(steps[0]["iterations_per_rank"][1 - without], 10, "iterations of the other rank")


@test
def job_ends_when_rank_0_lacks_the_library(job):
    one_rank_without_the_library(job, 0)


@test
def job_ends_when_rank_1_lacks_the_library(job):
    one_rank_without_the_library(job, 1)


def same_end(job, mode, chosen=1, slack=6.0, options=SHORT):
    """The same exit code and about the same time as without libprofile."""
    command = [job.program("life"), mode, *([] if chosen is None else [chosen])]
    measured = job.measured(command, output=f"{mode}.{chosen}", options=options, timeout=60)
    what = f"{mode} on rank {chosen}"
    launchers_pid = re.compile(r"PID \d+")  # in the message of MPICH's launcher

    def end(result):
        return result.code, launchers_pid.sub("", result.out)

    plain = job.plain(command, timeout=40)
    if end(measured) != end(plain):
        # Which rank's end MPICH's launcher reports, the faulty one's or that of one it killed, is a race of its own: the usual
        # end of one kind of job is among the ends of the other.
        plains = [end(plain), *(end(job.plain(command, timeout=40)) for _ in range(5))]
        ours = [end(measured), *(end(job.measured(command, output=f"{mode}.{chosen}.{i}", options=options, timeout=60)) for i in range(5))]
        usual_of_ours = max(ours, key=ours.count)
        usual_of_plains = max(plains, key=plains.count)
        expect(usual_of_ours in plains or usual_of_plains in ours, f"exit code and stdout, {what}: {ours}, without {plains}")
    expect(measured.seconds < plain.seconds + slack, f"{what}: {measured.seconds:.1f} s, without {plain.seconds:.1f} s")
    expect(len(measured.said) <= 1, f"{what}: more than one line: {measured.said}")
    return measured


@test
def rank_that_finalizes_early_is_waited_for(job):
    for chosen in (0, 1):
        result = same_end(job, "finalize_early", chosen, options={})
        expect_equal((result.code, len(result.exit_lines)), (0, 1), "exit code and exit lines")
        report = job.report(f"finalize_early.{chosen}")
        expect_equal((report["job"]["complete"], report["job"]["missing_ranks"]), (True, []), "completeness")


@test
def rank_that_gave_up_waiting_does_not_hang_the_others(job):
    result = same_end(job, "finalize_early", 1, options={"LIBPROFILE_FINALIZE_TIMEOUT": 1})
    expect_equal(result.code, 0, "exit code")
    report = job.report("finalize_early.1")
    expect_equal(report["job"]["missing_ranks"], [], "missing ranks")


@test
def exit_without_finalize_ends_as_without_libprofile(job):
    for chosen in (0, 1):
        same_end(job, "exit", chosen)


@test
def immediate_exit_without_finalize_ends_as_without_libprofile(job):
    same_end(job, "_exit")


@test
def killed_rank_ends_the_job_as_without_libprofile(job):
    for chosen in (0, 1):
        same_end(job, "kill", chosen)


@test
def abort_ends_the_job_as_without_libprofile(job):
    same_end(job, "abort")


@test
def mpi_error_ends_the_job_as_without_libprofile(job):
    same_end(job, "error")


@test
def segmentation_fault_ends_the_job_as_without_libprofile(job):
    same_end(job, "segv")


@test
def all_ranks_leaving_without_finalize_end_as_without_libprofile(job):
    same_end(job, "exit", None)


def with_reads_of_memory(launcher):
    """As users start jobs: Open MPI reads the memory of the other process where it may. Other tests run in containers that do not allow it."""
    none = ["--mca", "btl_vader_single_copy_mechanism", "none"]
    at = launcher.index(none[1]) - 1 if none[1] in launcher else len(launcher)
    return launcher[:at] + launcher[at + len(none) :]


def told_of_transport(result):
    """What MPI says of memory that it may not read any more. Which of Open MPI's files cannot be removed, it says or not, with and without us."""
    return [line for line in result.err if "Read -1" in line or "UCX" in line]


def privileged(job, mode, output, options):
    """A program that gives up its privileges after MPI_Init: its end is as without libprofile, and our lines."""
    if os.geteuid() != 0:
        raise Skip("only root can give up privileges")
    place = job.folder / f"work.{job.runs}"
    job.runs += 1
    place.mkdir()
    launcher = with_reads_of_memory(job.launcher(2))
    command = [job.program("life"), mode]
    plain = job.run([*launcher, *command], cwd=place, timeout=40)
    ours = {**SHORT, **options, "LIBPROFILE_OUTPUT": job.folder / output}
    result = job.run([*launcher, *job.preloaded(command, ours)], cwd=place, timeout=40)
    expect_equal((result.code, result.out), (plain.code, plain.out), f"{mode}: the end of the job")
    expect_equal(told_of_transport(result), told_of_transport(plain), f"{mode}: what MPI says of its messages")
    return place, result


@test
def programs_that_change_their_user_end_and_have_a_profile(job):
    """Under another user MPI can send little: it may not look into the memory of the other process any more."""
    for output in ("nobody", "/".join(["a folder with a long name"] * 12)):
        place = job.folder / output
        place.parent.mkdir(parents=True, exist_ok=True)
        for above in place.parents:
            above.chmod(0o777)
            if above == job.folder:
                break
        place, result = privileged(job, "nobody", output, {})
        expect_equal(len(result.exit_lines), 1, "exit lines")
        named = result.exit_lines[0].split(" -> ")[1].split(" (next: libprofile report")[0]
        report = job.report(place / named)
        expect_equal((report["job"]["ranks"], report["job"]["complete"]), (2, True), "ranks, completeness")


@test
def profiles_that_were_not_written_have_no_exit_line(job):
    job.folder.chmod(0o755)
    _, result = privileged(job, "nobody", "unwritable", {"LIBPROFILE_CHECKPOINT": "off"})
    expect_equal((len(result.said), result.exit_lines), (1, []), "our lines")
    expect("so there will be no profile" in result.said[0], result.said[0])


@test
def programs_that_change_their_root_folder_are_told_where_the_profile_is(job):
    place, result = privileged(job, "chroot", "jail", {})
    paths = {line.split(" -> NEW_ROOT")[1].split(" (next")[0] for line in result.exit_lines}
    expect_equal(len(paths), 1, f"the folder in the exit lines {result.said}")
    files = sorted(path.name for root in place.glob("root*") for path in Path(f"{root}{min(paths)}").glob("*.lprof"))
    expect_equal(files, ["rank-0.lprof", "rank-1.lprof"], "what is below the new roots")


@test
def finalize_inside_an_open_iteration_keeps_all_data(job):
    result = job.measured([job.program("life"), "leave_phase"], output="open")
    expect_equal(result.code, 0, "exit code")
    report = job.report("open", repairs=2)
    opened = [phase for phase in report["phases"] if phase["name"] == "open"]
    expect_equal(opened[0]["iterations_per_rank"], [1, 1], "iterations of the open phase")


if __name__ == "__main__":
    main()
