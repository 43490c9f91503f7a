#!/usr/bin/python3
"""Jobs in containers, made with bubblewrap: each rank in one of its own, below a launcher outside, as Apptainer and Docker do. The job runs and ends
as without libprofile, and has one profile with the numbers of the program's log."""

import os
import platform
import struct
import tempfile

from harness import Skip, expect, expect_equal, main, test
from report_checks import check_log

# Without the options that give processes, users and files of their own. Devices and shared memory are those outside, as MPI needs them.
BARE = ["bwrap", "--die-with-parent", "--ro-bind", "/", "/", "--dev-bind", "/dev", "/dev", "--proc", "/proc"]
# By number on x86-64: what Docker's default profile refuses, and clone3, which it says not to know.
REFUSED = {"kcmp": 312, "add_key": 248, "bpf": 321, "clock_settime": 227, "get_mempolicy": 239, "keyctl": 250, "mbind": 237, "mount": 165,
           "move_pages": 279, "name_to_handle_at": 303, "open_by_handle_at": 304, "perf_event_open": 298, "pivot_root": 155,
           "process_vm_readv": 310, "process_vm_writev": 311, "ptrace": 101, "quotactl": 179, "request_key": 249, "set_mempolicy": 238,
           "setns": 308, "unshare": 272, "userfaultfd": 323}
CLONE3 = 435
EPERM, ENOSYS = 1, 38
# Open MPI's shared memory mistakes ranks with the same process number for one: both have 2 in containers of their own.
MESSAGES_BY_TCP = {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"}


def read_only(job, *more):
    """A container whose files cannot be changed, but for those of the test and of Open MPI."""
    return [*BARE, "--bind", tempfile.gettempdir(), tempfile.gettempdir(), "--bind", job.folder, job.folder, *more]


def need_bwrap(job):
    job.need("bwrap")
    if job.run(["bwrap", "--unshare-pid", "--dev-bind", "/", "/", "true"]).code != 0:
        raise Skip("no container can be made here")


def compare(job, container, options=None, before=()):
    """The job without and with libprofile: the same output, and counts as logged. The report."""
    start, command, ranks = [*before, *job.launcher(2), *container], [job.program("traffic"), "7"], 2
    plain = job.run([*start, *command], env=MESSAGES_BY_TCP)
    expect_equal(plain.code, 0, "exit code without libprofile")
    options = {"LIBPROFILE_OUTPUT": job.folder / "profile", **(options or {})}
    result = job.run([*start, *job.preloaded(command, options)], env=MESSAGES_BY_TCP)
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the job")
    report = job.report("profile")
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (ranks, True), "ranks, complete")
    check_log(job.folder, report, ranks)
    return report


@test
def ranks_in_containers_of_their_own_write_one_profile(job):
    """Every rank has the same process number, no /proc of the others, and the name of a host of its own."""
    need_bwrap(job)
    compare(job, read_only(job, "--unshare-pid", "--unshare-uts"))
    expect_equal((job.last.complaints, len(job.last.exit_lines)), ([], 1), "what libprofile says")


@test
def unprivileged_containers_are_measured(job):
    """A user without rights, in a namespace of users that has no other: /proc/self/map_files may not be read."""
    need_bwrap(job)
    if os.geteuid() != 0:
        raise Skip("becoming another user takes root")
    nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
    os.chown(job.folder, 65534, 65534)
    container = read_only(job, "--unshare-user", "--unshare-pid")
    if job.run([*nobody, *container, "true"]).code != 0:
        raise Skip("users may not make containers here")
    compare(job, container, before=nobody)
    expect_equal((job.last.complaints, len(job.last.exit_lines)), ([], 1), "what libprofile says")


@test
def a_container_that_refuses_system_calls_is_measured(job):
    need_bwrap(job)
    if platform.machine() != "x86_64":
        raise Skip("the numbers of system calls are those of x86-64")
    filters = [struct.pack("<HBBI", 0x20, 0, 0, 0)] # load the number
    for number, answer in [*((number, EPERM) for number in REFUSED.values()), (CLONE3, ENOSYS)]:
        filters += [struct.pack("<HBBI", 0x15, 0, 1, number), struct.pack("<HBBI", 0x06, 0, 0, 0x00050000 | answer)]
    filters.append(struct.pack("<HBBI", 0x06, 0, 0, 0x7FFF0000))
    (job.folder / "seccomp").write_bytes(b"".join(filters))
    container = ["sh", "-c", f'exec 9<{job.folder}/seccomp && exec "$@"', "sh", *read_only(job, "--seccomp", "9")]
    report = compare(job, container, {"LIBPROFILE_SAMPLE": "1kHz"})
    expect_equal((job.last.complaints, len(job.last.exit_lines)), ([], 1), "what libprofile says")
    expect(report["losses"]["samples_taken"] > 0, "no sample was taken")


@test
def a_root_that_cannot_be_written_is_said_once(job):
    """Neither the working folder nor that of the output."""
    need_bwrap(job)
    container = read_only(job, "--chdir", "/usr")
    command = [job.program("life"), "work"]
    plain = job.run([*job.launcher(2), *container, *command])
    result = job.run([*job.launcher(2), *container, *job.preloaded(command, {"LIBPROFILE_OUTPUT": "/usr/profile"})])
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the job")
    expect_equal((len(result.said), list(job.folder.iterdir())), (1, []), "what libprofile says, and leaves")
    expect("read-only" in result.said[0].lower(), f"the reason: {result.said}")


@test
def a_launcher_outside_measures_what_runs_inside(job):
    """`libprofile run` in front of the container: the variables are passed on, and the library is bound at the same place."""
    need_bwrap(job)
    outside = [*job.launcher(2), job.tool, "run", "--output", job.folder / "profile", "--"]
    command = [*read_only(job, "--unshare-pid"), job.program("traffic"), "7"]
    plain = job.plain(command, env=MESSAGES_BY_TCP)
    result = job.run([*outside, *command], env=MESSAGES_BY_TCP)
    expect_equal((result.code, result.out, result.err, result.complaints), (plain.code, plain.out, plain.err, []), "the job")
    expect_equal(len(result.exit_lines), 1, "exit lines")
    check_log(job.folder, job.report("profile"), 2)


if __name__ == "__main__":
    main()
