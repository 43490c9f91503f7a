#!/usr/bin/python3
"""A job on several hosts writes one profile; a host that dies costs its own open iterations. The hosts are namespaces of one machine."""

import os
import subprocess
import time

import counts_equal_the_log
import kill_matrix
from harness import expect, expect_equal, kill_all, main, test
from hosts import Hosts
from report_checks import calls

HOSTS, EACH = 4, 2
RANKS = HOSTS * EACH
kill_matrix.RANKS = RANKS


def without_launchers_troubles(lines):
    """Open MPI's launcher sometimes says that its agent was faster than itself."""
    return [line for line in lines if "plm:rsh: Warning: setpgid" not in line]


def expect_hosts(report, hosts):
    expect_equal(report["job"]["hosts"], [name for name in hosts.names for _ in range(EACH)], "hosts of the ranks")


@test
def a_job_on_four_hosts_writes_one_profile(job):
    hosts = Hosts(job, HOSTS, EACH)
    result = job.measured([job.program("life"), "work"], RANKS)
    result.err = without_launchers_troubles(result.err)
    expect_equal((result.code, result.out, result.err, result.complaints), (0, f"life: {RANKS} ranks\n", [], []), "the job")
    report = job.report()
    expect_hosts(report, hosts)
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (RANKS, True), "ranks, completeness")
    for rank in range(RANKS):
        expect_equal(calls(report, rank).get("MPI_Allreduce"), 10, f"calls of rank {rank}")


@test
def counts_on_four_hosts_equal_the_log(job):
    hosts = Hosts(job, HOSTS, EACH)
    counts_equal_the_log.compare(job, RANKS)
    expect_hosts(job.report("profile.1"), hosts)



def killed_host(job, name, options=None, late=None):
    """A job in whose midst a host dies. Its logs."""
    hosts = Hosts(job, HOSTS, EACH, late)
    run = kill_matrix.Run(job, "outside", 0, 0, {**kill_matrix.SHORT, **(options or {})})
    run.wait_for(30)
    hosts.kill(name)
    try:
        run.process.wait(20)
    except subprocess.TimeoutExpired: # Open MPI's launcher: 3 of 25 jobs without libprofile
        kill_all()
    result = run.wait()
    expect(result.code != 0, "the launcher did not see the death of a host")
    return run


def a_host_that_is_killed(job, name):
    report = kill_matrix.check_recovered(job, killed_host(job, name))
    expect_equal((report["job"]["ranks"], report["job"]["missing_ranks"]), (RANKS, []), "ranks, missing ranks")


@test
def a_killed_host_costs_its_own_open_iteration(job):
    a_host_that_is_killed(job, "node3")


@test
def the_death_of_the_host_of_rank_0_costs_its_own_open_iteration(job):
    a_host_that_is_killed(job, "node1")


@test
def live_data_of_all_hosts_are_in_one_folder_without_a_name(job):
    """Neither the user nor a batch system names it, and the launcher's daemon starts later on one host, so its ranks would name it otherwise."""
    run = killed_host(job, "node2", {"LIBPROFILE_OUTPUT": ""}, late="node3")
    folders = job.output_folders()
    expect_equal(len(folders), 1, f"folders: {folders}")
    run.profile = str(folders[0])
    kill_matrix.check_recovered(job, run)


@test
def an_old_folder_with_the_key_of_the_job_is_left_alone(job):
    """Of a job that was killed an hour ago, whose launcher had the same port."""
    port = {"MPIEXEC_PORT_RANGE": "47811:47811"}
    job.measured([job.program("life"), "kill", "1"], output="out", env=port)
    for file in (job.folder / "out").glob("rank-*"): # or they tell that the folder is taken
        file.unlink()
    hour_ago = time.time() - 3600
    os.utime(job.folder / "out/job", (hour_ago, hour_ago))
    before = sorted((path.name, path.read_bytes()) for path in (job.folder / "out").iterdir())
    expect(b":47811" in dict(before)["job"], f"the key is not the port: {before}")
    result = job.measured([job.program("life"), "work"], output="out", env=port)
    expect_equal((result.code, result.complaints), (0, []), "the job")
    expect_equal(sorted((path.name, path.read_bytes()) for path in (job.folder / "out").iterdir()), before, "the old folder")
    expect_equal(sorted(path.name for path in (job.folder / "out.001").iterdir()), ["config", "job", "profile.lprof"], "the new folder")


@test
def a_folder_of_a_job_with_the_same_port_just_before_is_left_alone(job):
    """A site may give launchers few ports, of which each takes the first. The second job has a rank more, whose file the first folder has not."""
    env = {"MPIEXEC_PORT_RANGE": "47812:47812"}
    job.measured([job.program("life"), "kill", "1"], output="out", env=env)
    before = sorted(path.name for path in (job.folder / "out").iterdir())
    expect("rank-0.lprof" in before, f"files of the first job: {before}")
    job.measured([job.program("life"), "kill", "1"], 3, output="out", env=env)
    expect_equal(sorted(path.name for path in (job.folder / "out").iterdir()), before, "the first folder")
    expect("rank-2.lprof" in [path.name for path in (job.folder / "out.001").iterdir()], "the second job's rank 2 is not in its folder")


if __name__ == "__main__":
    main()
