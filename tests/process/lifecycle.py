#!/usr/bin/python3
"""Ways in which programs start and end MPI, fail in it and meet other jobs (tests/programs/lifecycle.cpp)."""

import re

from harness import expect, expect_equal, main, test
from report_checks import calls

START = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1}
END = {"MPI_Barrier": 1, "MPI_Finalize": 1}
TALK = {"MPI_Comm_remote_size": 1, "MPI_Allreduce": 1, "MPI_Comm_disconnect": 1}


def lines(result):
    return sorted(result.out.splitlines())


def same_as_without(job, *arguments, code=0):
    """Exit code and output are those without libprofile; the report."""
    command = [job.program("lifecycle"), *arguments]
    plain = job.plain(command)
    result = job.measured(command, output="out " + " ".join(arguments))
    expect_equal((result.code, lines(result)), (plain.code, lines(plain)), f"{arguments}: exit code and stdout")
    expect_equal(result.code, code, f"{arguments}: exit code")
    expect_equal((len(result.exit_lines), result.complaints), (1, []), f"{arguments}: our lines")
    report = job.report(f"out {' '.join(arguments)}")
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (2, True), f"{arguments}: ranks, completeness")
    return report


def expect_calls(report, expected, what):
    for rank in range(report["job"]["ranks"]):
        expect_equal(calls(report, rank), expected, f"{what}: calls of rank {rank}")


@test
def finalize_after_main_is_the_end_of_the_measurement(job):
    for where in ("atexit", "static", "destructor"):
        expect_calls(same_as_without(job, where, code=4), {**START, **END}, where)


@test
def calls_after_finalize_are_no_harm_and_not_counted(job):
    expect_calls(same_as_without(job, "after"), {**START, **END}, "after")


@test
def required_and_provided_thread_level_are_unchanged(job):
    for level in ("single", "funneled", "serialized", "multiple"):
        expected = {"MPI_Init_thread": 1, "MPI_Query_thread": 1, "MPI_Comm_rank": 1, "MPI_Comm_size": 1, **END}
        expect_calls(same_as_without(job, "plain", level), expected, level)


@test
def errors_that_return_are_counted(job):
    expect_calls(same_as_without(job, "return"),
                 {**START, **END, "MPI_Comm_set_errhandler": 1, "MPI_Send": 5, "MPI_Error_class": 5}, "return")


@test
def calls_of_error_handlers_are_counted(job):
    """The handler asks three things at each error, and makes one more error at each of the five."""
    handler = {**START, **END, "MPI_Comm_create_errhandler": 1, "MPI_Comm_set_errhandler": 2, "MPI_Errhandler_free": 1}
    expect_calls(same_as_without(job, "handler"),
                 {**handler, "MPI_Send": 10, "MPI_Error_string": 10, "MPI_Error_class": 10, "MPI_Comm_rank": 11}, "handler")
    expect_calls(same_as_without(job, "longjmp"), {**handler, "MPI_Send": 5}, "longjmp")


SESSIONS = {"MPI_Session_init": 2, "MPI_Group_from_session_pset": 1, "MPI_Comm_create_from_group": 1, "MPI_Comm_rank": 1,
            "MPI_Comm_size": 1, "MPI_Barrier": 10, "MPI_Comm_free": 1, "MPI_Group_free": 1, "MPI_Session_finalize": 2}


@test
def sessions_without_init_are_measured(job):
    """Each rank writes its own file when its last session ends, also if the process then ends without a word."""
    for ending in ("return", "_exit"):
        expect_calls(same_as_without(job, "sessions", ending, code=3), SESSIONS, ending)
    files = {path.name for path in (job.folder / "out sessions _exit").iterdir()}
    expect_equal(files - {"names.lprof"}, {"config", "job", "rank-0.lprof", "rank-1.lprof"}, "files")


@test
def sessions_beside_the_world_share_the_common_file(job):
    report = same_as_without(job, "sessions", "init")
    expect_calls(report, {**SESSIONS, "MPI_Init": 1, "MPI_Barrier": 11, "MPI_Finalize": 1}, "init")
    expect((job.folder / "out sessions init" / "profile.lprof").exists(), "no common file")


@test
def sessions_of_a_single_process_make_a_common_file(job):
    for ending, ended in {"return": 2, "open": 1}.items(): # MPICH's launcher kills jobs with an open session at random
        command = job.preloaded([job.program("lifecycle"), "sessions", ending], {"LIBPROFILE_OUTPUT": ending})
        result = job.run(command)
        expect_equal((result.code, result.out, len(result.said)), (3, "rank 0: of 1 ranks\n", 1), f"{ending}: the process")
        report = job.report(ending)
        expect_equal((report["job"]["ranks"], report["job"]["complete"]), (1, True), f"{ending}: ranks, completeness")
        expect_calls(report, {**SESSIONS, "MPI_Session_finalize": ended}, ending)


@test
def ranks_behind_shells_find_the_same_folder(job):
    """The shell between launcher and rank is another process in each rank."""
    command = [*job.launcher(2), *job.preloaded(["sh", "-c", f"{job.program('lifecycle')} sessions; true"])]
    result = job.run(command)
    expect_equal((result.code, len(result.exit_lines)), (0, 1), "exit code and exit lines")
    expect_calls(job.report(), SESSIONS, "behind shells")


@test
def ranks_behind_wrappers_that_fork_find_the_same_folder(job):
    """The parent of each rank is a process of its own, not started at the same time. Each rank keeps its data alone. The folder is told from that of
    a job of the same name by what the launcher has drawn."""
    wait = ["sh", "-c", 'printf "%s" "$OMPI_MCA_orte_precondition_transports" >random; sleep 0.${PMI_RANK:-$OMPI_COMM_WORLD_RANK}; setsid -w "$@"; exit $?', "sh", "timeout", "60"]
    command = [*wait, *job.preloaded([job.program("mortal"), "exit", -1, 100, job.folder], {"LIBPROFILE_FINALIZE_TIMEOUT": "2"})]
    for output in ({}, {"LIBPROFILE_OUTPUT": "named"}):
        job.run([*job.launcher(2), "env", *(f"{name}={value}" for name, value in output.items()), *command])
        folders = [path.name for path in job.folder.iterdir() if path.is_dir()]
        expect_equal(len(folders), 1 + len(output), f"folders: {folders}")
        folder = "named" if output else job.output_folders()[0]
        files = sorted(path.name for path in (job.folder / folder).glob("rank-*.lprof"))
        expect_equal(files, ["rank-0.lprof", "rank-1.lprof"], "files of the ranks")
        random, key = ((job.folder / name).read_text() for name in ("random", f"{folder}/job"))
        expect(random in key and bool(random) == (job.mpi == "openmpi"), f"{random!r} is not in {key!r}")
        report = job.run([job.tool, "report", job.folder / folder])
        expect("no data of rank" not in report.out, "the report misses a rank")


@test
def program_without_launcher_is_a_job_of_one_rank(job):
    command = [job.program("lifecycle"), "plain"]
    plain, result = job.run(command), job.run(job.preloaded(command))
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the process")
    expect_equal((result.code, len(result.said)), (0, 1), "exit code, lines")
    expect_calls(job.report(), {**START, **END}, "one rank")


@test
def failing_init_fails_as_without_libprofile(job):
    broken = {"OMPI_MCA_pml": "nothing", "UCX_TLS": "nothing"}
    command = [job.program("lifecycle"), "plain"]

    def words(result):
        """Without process ids, times and addresses, and without what MPICH's launcher adds, or not, when a rank fails."""
        said = result.out.split("\n====", 1)[0].rstrip()
        return result.code != 0, sorted(re.sub(r"0x[0-9a-f]+|\d+", "", said).splitlines())

    plain, result = job.plain(command, ranks=1, env=broken), job.measured(command, ranks=1, env=broken)
    expect(plain.code != 0, "MPI_Init succeeds")
    expect_equal((words(result), result.said), (words(plain), []), "the job, our lines")
    expect_equal(job.output_folders(), [], "output folders")


def spawning(job, mode):
    command = [job.program("lifecycle"), mode]
    plain = job.plain(command)
    # What the launcher is told reaches the children, too; what `env` or `libprofile run` set for the parents does not.
    launcher = job.launcher(2)
    reaching = job.run([*launcher, "-x", f"LD_PRELOAD={job.library}", *command])
    expect_equal((reaching.code, lines(reaching)), (plain.code, lines(plain)), f"{mode}: exit code and stdout")
    expect_equal((reaching.code, len(reaching.exit_lines), reaching.complaints), (0, 2, []), f"{mode}: our lines")
    folders = job.output_folders()
    expect_equal(len(folders), 2, f"{mode}: output folders")
    found = [job.report(folder) for folder in folders]
    found.sort(key=lambda report: "MPI_Comm_get_parent" in calls(report, 0))
    name = {"spawn": "MPI_Comm_spawn", "spawn_multiple": "MPI_Comm_spawn_multiple"}[mode]
    for report, special in zip(found, (name, "MPI_Comm_get_parent")):
        expect_equal((report["job"]["ranks"], report["job"]["complete"]), (2, True), f"{special}: ranks, completeness")
        expect_calls(report, {**START, **END, **TALK, special: 1}, special)
    only_parents = job.measured(command, output=f"parents of {mode}")
    expect_equal((only_parents.code, lines(only_parents), len(only_parents.said)), (0, lines(plain), 1), f"{mode}: parents only")
    expect_calls(job.report(f"parents of {mode}"), {**START, **END, **TALK, name: 1}, f"parents of {mode}")


@test
def spawned_children_are_a_job_of_their_own(job):
    spawning(job, "spawn")


@test
def children_of_spawn_multiple_are_a_job_of_their_own(job):
    spawning(job, "spawn_multiple")


@test
def jobs_that_connect_are_measured_apart(job):
    job.need("ompi-server")
    sides = []
    for side in ("accept", "connect"):
        preloaded = job.preloaded([job.program("lifecycle"), side, "port"], {"LIBPROFILE_OUTPUT": side})
        sides.append(" ".join(map(str, [*job.launcher(1), "--ompi-server", "file:server", *preloaded])))
    job.write("two_jobs", f"""
        ompi-server --no-daemonize -r server & server=$!
        while ! test -s server; do sleep 0.1; done
        {sides[0]} & accept=$!
        {sides[1]}; code=$?
        wait $accept; code=$((code + $?))
        kill $server
        exit $code""")
    result = job.run(["sh", "two_jobs"])
    expect_equal((result.code, lines(result), len(result.exit_lines)),
                 (0, ["accept: 0 of 1, remote 1, sum 1", "connect: 0 of 1, remote 1, sum 1"], 2), "the jobs")
    port = {"MPI_Open_port": 1, "MPI_Close_port": 1}
    expect_calls(job.report("accept"), {**START, **END, **TALK, **port, "MPI_Comm_accept": 1}, "accept")
    expect_calls(job.report("connect"), {**START, **END, **TALK, "MPI_Comm_connect": 1}, "connect")


@test
def ranks_that_join_over_a_socket_are_measured(job):
    expect_calls(same_as_without(job, "join"), {**START, **END, **TALK, "MPI_Bcast": 1, "MPI_Comm_join": 1}, "join")


@test
def dynamic_processes_fail_as_without_libprofile(job):
    """Debian's MPICH (device ch4:ucx) has none."""
    for mode in ("spawn", "join"):
        command = [job.program("lifecycle"), mode]
        plain, result = job.plain(command), job.measured(command, output=mode)
        expect_equal((result.code, result.said), (plain.code, []), f"{mode}: exit code, our lines")


if __name__ == "__main__":
    main()
