#!/usr/bin/python3
"""Where a job runs: folders that others may write, disks without room, limits of files. The job ends as without libprofile, nothing of
anybody else is changed, and what cannot be done is said once."""

import os
import shutil

from harness import expect, expect_equal, main, test

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


def in_shell(job, script, program="without_mpi", **settings):
    """What the script prints; "$@" is the measured program."""
    result = job.run(["sh", "-c", script, "sh", *job.preloaded([job.programs / program], {"LIBPROFILE_MPI": "no", **settings})])
    return result.out.splitlines()


@test
def a_limit_of_file_sizes_does_not_end_the_program(job):
    """Nothing may be written: neither files of ours nor, where stderr is a file, a line. What stdout gets is a pipe, which has no limit."""
    for limit in (0, 1):
        lines = in_shell(job, f'(ulimit -f {limit}; "$@" 2>&1; echo "exit code $?") | cat')
        expect_equal(lines[1:], ["caught 6000", "exit code 5"], f"the program with ulimit -f {limit}")
        expect("ulimit -f" in lines[0], f"it is not said: {lines}")
    lines = in_shell(job, '(ulimit -f 0; "$@" 2>err; echo "exit code $?") | cat')
    expect_equal(lines, ["caught 6000", "exit code 5"], "the program whose stderr is a file")
    left = [path for folder in job.output_folders() for path in folder.iterdir()]
    expect(all(path.stat().st_size != 0 for path in left), f"empty files: {left}")


@test
def a_pipe_that_nobody_reads_does_not_end_the_program(job):
    """Our lines go to stderr, to which the program itself writes nothing."""
    in_shell(job, '{ sleep 0.5; "$@" 2>&1 >out; echo "exit code $?" >code; } | :')
    expect_equal(((job.folder / "out").read_text(), (job.folder / "code").read_text()), ("caught 6000\n", "exit code 5\n"), "the program")


@test
def a_full_working_folder_stays_as_it_is(job):
    small = job.folder / "small"
    small.mkdir()
    mounted = job.mounted(small, "64k", f'cd {small} && exec "$@"')
    fill = ["sh", "-c", 'head -c 1M /dev/zero >fill 2>/dev/null; "$@"; echo "exit code $?"; ls', "sh"]
    command = job.preloaded([job.program("life"), "work"], {"LIBPROFILE_FINALIZE_TIMEOUT": "2"})
    result = job.run([*mounted, *fill, *job.launcher(2), *command])
    expect_equal((result.out, result.err), ("life: 2 ranks\nexit code 0\nfill\n", []), "the job, and what is left of it")
    expect_equal((len(result.said), "No space left" in result.said[0]), (1, True), "our lines")


@test
def a_program_may_use_all_files_that_it_may_open(job):
    """As many as MPI_Init needs just so; with fewer the job fails without us, too. It ends either way."""
    def succeeds(command, limit):
        result = job.run([*job.launcher(2), "sh", "-c", f'ulimit -n {limit}; exec "$@"', "sh", *command], timeout=30)
        return result.code == 0

    command = [job.program("life"), "work"]
    outcomes = []
    for limit in {"openmpi": (16, 18, 19, 20), "mpich": (16, 26, 30, 32)}[job.mpi]:
        for _ in range(3): # what threads of MPI open at the same moment differs
            outcomes.append((limit, succeeds(command, limit), succeeds(job.preloaded(command), limit)))
            if outcomes[-1][1] == outcomes[-1][2]:
                break
        expect_equal(outcomes[-1][2], outcomes[-1][1], f"success with {limit} files: {outcomes}")


HIDDEN = "\x1b[31m\x07\u009b7m\u202e\u2066"  # colours, a bell, a control sequence in one character, text from right to left
NAMES = """
    #include <libprofile.h>
    void strange(void) __asm__("na\\xc2\\x9b\\xe2\\x80\\xae" "me");
    __attribute__((noinline)) void strange(void) { for (volatile long i = 0; i < 50000000; ++i) ; }
    int main(void) {
        for (int i = 0; i < 5; ++i) {
            profile_iteration_begin("st\\x1b[31m\\x07\\xc2\\x9b\\xe2\\x80\\xae" "ep");
            strange();
            profile_iteration_end("st\\x1b[31m\\x07\\xc2\\x9b\\xe2\\x80\\xae" "ep");
        }
        profile_phase_end("not \\xe2\\x80\\xae open");
        return 0;
    }
"""


def expect_shown(text, what):
    hidden = [f"U+{ord(c):04X}" for c in text.replace("\r\n", "\n") if c != "\n" and (ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2066\ufffd")]
    expect_equal(hidden, [], f"characters of {what}")


@test
def names_cannot_control_the_terminal(job):
    """Of folders, options, functions and phases: on stderr, in every form of the report, and in the tool's own lines."""
    job.write("names.c", NAMES)
    job.compile("gcc", "-O1", "-I", job.source / "include", "names.c", "-ldl", "-o", "names")
    folder = job.folder / HIDDEN
    result = job.run(job.preloaded([job.folder / "names"], {"LIBPROFILE_OUTPUT": folder, "LIBPROFILE_CLOCK": HIDDEN, "LIBPROFILE_SAMPLE": "1kHz",
                                                           f"LIBPROFILE_{HIDDEN}": 1, "LIBPROFILE_METRICS": HIDDEN, "LIBPROFILE_FILTER": f"/{HIDDEN}"}))
    expect_equal((result.code, len(result.exit_lines)), (0, 1), "exit code, exit lines")
    expect_shown(result.all_err, "the job's messages")
    for form in ("text", "json", "csv", "markdown"):
        for more in ([], ["--path", "strange"], ["--iterations", "1:2"], ["--compare", "1:2", "3:4"], ["--phase", HIDDEN], ["--paths"]):
            result = job.run([job.tool, "report", folder, "--format", form, *more])
            expect_shown(result.out + result.all_err, f"the report as {form}, {more}")
    for command in (["report", job.folder / f"none{HIDDEN}"], ["export", folder, "--format", HIDDEN], ["view", folder], ["recover", folder], [HIDDEN],
                    ["run", f"--{HIDDEN}"], ["run", "--sample", HIDDEN, "--", "true"], ["run", "--", f"./{HIDDEN}"], ["report", folder, f"--{HIDDEN}"],
                    ["export", folder, "--format", "csv", "--output", f"{folder}.csv"]):
        result = job.run([job.tool, *command])
        expect_shown(result.out + result.all_err, f"libprofile {command[0]}")


@test
def a_path_that_is_too_long_is_said_and_not_cut(job):
    deep = "/".join(["d" * 100] * 25)
    result = measured_alone(job, deep)
    expect_equal(result.complaints, [], "complaints")
    expect((job.folder / deep / "profile.lprof").is_file(), "the folder is another one")
    too_long = "/".join(["e" * 100] * 42)
    result = measured_alone(job, too_long)
    expect_equal((len(result.complaints), len(result.exit_lines)), (1, 1), "our lines")
    expect("LIBPROFILE_OUTPUT=eee" in result.complaints[0] and "(File name too long)" in result.complaints[0], "the reason is not said")
    expect_equal(len(job.output_folders()), 1, "folders in the working folder instead")
    expect(not (job.folder / ("e" * 100)).exists(), "a part of the path was made")


if __name__ == "__main__":
    main()
