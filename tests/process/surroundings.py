#!/usr/bin/python3
"""Where a job runs: folders that others may write, disks without room, limits of files. The job ends as without libprofile, nothing of
anybody else is changed, and what cannot be done is said once."""

import os
import shutil

from harness import Skip, expect, expect_equal, main, test

NOBODY = 65534


def measured_alone(job, output=None, before=(), cwd=None):
    """A program without MPI as a job of one rank; it must run as without us. Our lines."""
    settings = {"LIBPROFILE_MPI": "no"} | ({} if output is None else {"LIBPROFILE_OUTPUT": output})
    result = job.run([*before, *job.preloaded([job.programs / "without_mpi"], settings)], cwd=cwd)
    expect_equal((result.code, result.out, result.err), (5, "caught 6000\n", []), "the program")
    return result


def expect_refused(result, folder, why):
    expect_equal(len(result.complaints), 1, "lines that complain")
    for word in (f"LIBPROFILE_OUTPUT={folder} (", why, "working folder instead"):
        expect(word in result.complaints[0], f"the line does not contain {word!r}")
    expect_equal(len(result.exit_lines), 1, "exit lines")


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


@test
def links_that_others_have_planted_are_not_followed(job):
    victim = job.write("victim", "precious\n")

    def planted(name, mode, owner=None):
        folder = job.folder / name
        folder.mkdir()
        for file in ("config", "job", "profile.lprof.new", "profile.lprof.partial.new", "rank-0.lprof.new"):
            (folder / file).symlink_to(victim)
        os.mkfifo(folder / "names.lprof")
        os.chmod(folder, mode)
        if owner is not None:
            os.chown(folder, owner, -1)
        return folder, names_in(folder)

    # Every user may write there; it is another user's; it is ours, but what is there is not.
    for name, mode, owner, why in (("open", 0o777, None, "every user may write"), ("sticky", 0o1777, None, "every user may write"),
                                   ("foreign", 0o755, NOBODY, "another user"), ("own", 0o755, None, None)):
        if owner is not None and os.geteuid() != 0:
            continue
        folder, before = planted(name, mode, owner)
        result = measured_alone(job, folder)
        if why is not None:
            expect_refused(result, folder, why)
        expect_equal((names_in(folder), victim.read_text()), (before, "precious\n"), f"{name}: what was there before")
    job.report("own.001")

    # A link to a folder of ours, made by another user, who may lead it elsewhere while we write.
    if os.geteuid() == 0:
        (job.folder / "real").mkdir()
        (job.folder / "led").symlink_to(job.folder / "real")
        os.lchown(job.folder / "led", NOBODY, -1)
        expect_refused(measured_alone(job, job.folder / "led"), job.folder / "led", "another user")
        expect_equal(names_in(job.folder / "real"), [], "files behind the link")

    # All ranks of a job.
    result = job.measured([job.program("life"), "work"], options={"LIBPROFILE_OUTPUT": job.folder / "open"})
    expect_equal((result.code, result.out, result.err), (0, "life: 2 ranks\n", []), "the job")
    expect_refused(result, job.folder / "open", "every user may write")
    expect_equal(victim.read_text(), "precious\n", "the file behind the links")


@test
def a_folder_of_the_job_is_shared_where_all_have_every_right(job):
    """As on file systems without users: whoever made the folder, the ranks find each other in it."""
    umask = ["sh", "-c", 'umask 0; exec "$@"', "sh"]
    result = job.run([*job.launcher(2), *umask, *job.preloaded([job.program("life"), "work"], {"LIBPROFILE_OUTPUT": "shared/out"})])
    expect_equal((result.code, result.out, result.err, result.complaints), (0, "life: 2 ranks\n", [], []), "the job")
    expect_equal(names_in(job.folder / "shared/out"), ["config", "job", "profile.lprof"], "files")


@test
def files_of_the_program_itself_are_kept(job):
    """LIBPROFILE_OUTPUT names a folder in which the program has a file of a name that we use."""
    (job.folder / "mine").mkdir()
    job.write("mine/config", "of the program\n")
    result = measured_alone(job, "mine/")
    expect_equal((result.complaints, len(result.exit_lines)), ([], 1), "our lines")
    expect_equal(((job.folder / "mine/config").read_text(), names_in(job.folder / "mine")), ("of the program\n", ["config"]), "the program's folder")
    job.report("mine.001")


if __name__ == "__main__":
    main()
