#!/usr/bin/python3
"""Wrong input gives exactly one line in the whole job that says so, and changes neither output nor exit code."""

import shutil
from pathlib import Path

from harness import expect, expect_equal, main, test

RANKS = {"openmpi": 4, "mpich": 2}


def one_line(job, settings, words, measured=True, command=None, launch=None, ranks=None):
    """Runs the job with `settings`; the one complaint must contain `words`. Returns the result."""
    command = command or [job.program("life"), "work"]
    ranks = ranks or RANKS[job.mpi]
    plain = job.plain(command, ranks)
    environment = ["env", *[f"{name}={value}" for name, value in settings.items()]]
    launch = launch or ["env", f"LD_PRELOAD={job.library}"]
    result = job.run([*job.launcher(ranks), *environment, *launch, *command])
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "exit code, stdout, stderr")
    expect_equal(len(result.complaints), 1, "lines that complain")
    for word in words:
        expect(word in result.complaints[0], f"the line does not contain {word!r}")
    expect_equal(len(result.exit_lines), 1 if measured else 0, "exit lines")
    expect(len(result.complaints[0]) < 500, "the line is too long")
    return result


@test
def unknown_variable_is_reported_once_with_the_nearest_name(job):
    one_line(job, {"LIBPROFILE_CLUSTER": 8}, ["LIBPROFILE_CLUSTER ", "LIBPROFILE_CLUSTERS"])
    one_line(job, {"LIBPROFILE_OUTPT": "x"}, ["LIBPROFILE_OUTPT", "LIBPROFILE_OUTPUT"])
    one_line(job, {"LIBPROFILE_NOTHING_LIKE_IT": "x"}, ["LIBPROFILE_NOTHING_LIKE_IT", "--help"])


@test
def invalid_value_is_reported_once_with_the_valid_range(job):
    for setting, words in {"LIBPROFILE_CLUSTERS=0": ["1 to 4096", "16"],
                           "LIBPROFILE_SAMPLE=abc": ["100Hz", "1ms", "at most 10000 Hz", "using auto"],
                           "LIBPROFILE_SAMPLE=-5": ["at most 10000 Hz"],
                           "LIBPROFILE_SAMPLE=20kHz": ["at most 10000 Hz"],
                           "LIBPROFILE_SAMPLE_CLOCK=sundial": ["auto|perf|timer|wall"],
                           "LIBPROFILE_CLOCK=sundial": ["auto|tsc|monotonic"],
                           "LIBPROFILE_MEMORY=99999999999999999999": ["LIBPROFILE_MEMORY"],
                           "LIBPROFILE_QUIET=maybe": ["0 or 1"]}.items():
        name, value = setting.split("=")
        one_line(job, {name: value}, [setting, *words], ranks=2)
    report = job.report(job.output_folders()[0])
    expect_equal(report["job"]["ranks"], 2, "ranks")


@test
def several_mistakes_share_one_line(job):
    settings = {"LIBPROFILE_CLUSTERS": 0, "LIBPROFILE_SAMPLE": "abc", "LIBPROFILE_KLUSTERS": 3}
    one_line(job, settings, ["LIBPROFILE_CLUSTERS=0", "LIBPROFILE_SAMPLE=abc", "LIBPROFILE_KLUSTERS"])


@test
def what_other_settings_make_pointless_is_reported_once(job):
    one_line(job, {"LIBPROFILE_SAMPLE": 0, "LIBPROFILE_TRACE": 1, "LIBPROFILE_METHOD": "reference", "LIBPROFILE_ERROR": "5%"},
             ["LIBPROFILE_ERROR=5% has no effect with LIBPROFILE_METHOD=reference", "LIBPROFILE_TRACE=1 has no effect with LIBPROFILE_SAMPLE=0"])


@test
def a_function_that_is_nowhere_is_reported_once(job):
    one_line(job, {"LIBPROFILE_ITERATION": "wrok"}, ["LIBPROFILE_ITERATION=wrok", "iterations are what the program marks"])


@test
def ranks_that_are_not_to_wait_are_not_said_to_be_missing(job):
    result = job.measured([job.program("life"), "work"], options={"LIBPROFILE_FINALIZE_TIMEOUT": 0}, output="alone")
    expect_equal((result.code, result.out, result.err, len(result.said)), (0, "life: 2 ranks\n", [], 1), "the job")
    # The others may be there already.
    expect("LIBPROFILE_FINALIZE_TIMEOUT=0" in result.said[0] or "2 ranks," in result.said[0], f"what is said: {result.said}")


@test
def output_folder_that_cannot_be_made_is_reported_once(job):
    job.write("file", "")
    for path in (job.folder / "file/below", "/proc/x"):
        one_line(job, {"LIBPROFILE_OUTPUT": path}, [str(path), "LIBPROFILE_OUTPUT"])
    expect_equal(len(job.output_folders()), 2, "folders in the working folder instead")


@test
def no_place_at_all_for_the_output_is_reported_once(job):
    """Neither the wanted folder nor one in the working folder can be made, not even by root."""
    for output in ({}, {"LIBPROFILE_OUTPUT": "/proc/x"}):
        settings = [f"{name}={value}" for name, value in output.items()]
        result = job.run([*job.launcher(RANKS[job.mpi]), "env", "-C", "/proc", f"LD_PRELOAD={job.library}", *settings,
                          job.program("life"), "work"])
        plain = job.run([*job.launcher(RANKS[job.mpi]), "env", "-C", "/proc", job.program("life"), "work"])
        expect_equal((result.code, result.out, result.err), (0, plain.out, plain.err), "exit code, stdout, stderr")
        expect_equal(len(result.said), 1, "lines")


@test
def vanished_working_folder_is_reported_once(job):
    before = set(Path("/").iterdir())
    start = f"mkdir gone; cd gone; rmdir ../gone; exec {job.tool} run -- {job.programs / 'without_mpi'}"
    result = job.run(["sh", "-c", start])
    expect_equal((result.code, result.out, result.err), (5, "caught 6000\n", []), "the process")
    expect_equal(len(result.said), 1, "lines")
    added = set(Path("/").iterdir()) - before
    for path in added:
        shutil.rmtree(path)
    expect_equal(added, set(), "what appeared in the root folder")


@test
def output_folder_that_vanishes_while_the_job_runs_is_made_again(job):
    output = job.folder / "vanishing"
    remover = f"sleep 0.5; rm -rf {output}"
    command = ["sh", "-c", f"{remover} & exec env LD_PRELOAD={job.library} LIBPROFILE_OUTPUT={output} {job.program('kinds')} 100"]
    result = job.run([*job.launcher(2), *command])
    expect_equal((result.code, len(result.said)), (0, 1), f"exit code and lines: {result.said}")
    report = job.report("vanishing")
    expect_equal(report["job"]["complete"], True, "completeness")


@test
def used_output_folder_is_not_overwritten(job):
    job.measured([job.program("life"), "work"], output="same")
    before = (job.folder / "same/profile.lprof").read_bytes()
    result = job.measured([job.program("life"), "work"], output="same")
    expect_equal(result.code, 0, "exit code")
    expect_equal(len(result.exit_lines), 1, "exit lines")
    expect((job.folder / "same/profile.lprof").read_bytes() == before, "the first profile was changed")
    job.report("same")
    job.report("same.001")


@test
def static_program_is_reported_once_and_runs(job):
    job.write("static.c", "#include <stdio.h>\nint main(void) { puts(\"static\"); return 0; }\n")
    job.compile("gcc", "-static", "static.c", "-o", "static")
    ranks = RANKS[job.mpi]
    result = job.run([*job.launcher(ranks), job.tool, "run", "--", job.folder / "static"])
    plain = job.plain([job.folder / "static"], ranks)
    expect_equal((result.code, result.out), (plain.code, plain.out), "exit code and stdout")
    expect_equal(len(result.said), 1, "lines")
    expect("statically linked" in result.said[0], "the line does not say why")


@test
def the_other_mpis_launcher_is_reported_once(job):
    """mpirun of this MPI starts a program of the other one: jobs of one rank each, with and without libprofile."""
    other = {"openmpi": "mpich", "mpich": "openmpi"}[job.mpi]
    command = [job.programs / f"life.{other}", "work"]
    ranks = RANKS[job.mpi]
    plain = job.plain(command, ranks)
    result = job.measured(command, ranks)
    expect_equal((result.code, sorted(result.out.split("\n"))), (plain.code, sorted(plain.out.split("\n"))),
                 "exit code and stdout")
    expect_equal(len(result.said), 1, "lines")
    expect("mpirun" in result.said[0], "the line does not say what to do")


@test
def quiet_says_nothing(job):
    result = job.measured([job.program("life"), "work"], output="quiet",
                          options={"LIBPROFILE_QUIET": 1, "LIBPROFILE_CLUSTERS": 0})
    expect_equal((result.code, result.out, result.all_err), (0, "life: 2 ranks\n", ""), "the job")
    job.report("quiet")


@test
def disabled_writes_and_says_nothing(job):
    for options in ({"LIBPROFILE_DISABLE": 1}, {"LIBPROFILE_DISABLE": "yes", "LIBPROFILE_CLUSTERS": 0}):
        result = job.measured([job.program("life"), "work"], options=options)
        expect_equal((result.code, result.out, result.all_err), (0, "life: 2 ranks\n", ""), "the job")
    expect_equal(job.output_folders(), [], "output folders")


@test
def a_disabled_library_is_not_between_the_program_and_mpi(job):
    frames = {}
    for disabled in (0, 1):
        result = job.measured([job.program("life"), "between"], output=f"between{disabled}", options={"LIBPROFILE_DISABLE": disabled})
        expect_equal((result.code, result.out.splitlines()[1:]), (0, ["life: 2 ranks"]), "the job")
        frames[disabled] = int(result.out.split()[1])
    expect(frames[0] > 0, "the test sees no frame of libprofile")
    expect_equal(frames[1], 0, "frames of libprofile")


@test
def mistakes_on_the_command_line_are_reported_once(job):
    for arguments in (["--clusters", "0"], ["--clustres", "8"], ["--sample"]):
        result = job.run([*job.launcher(RANKS[job.mpi]), job.tool, "run", *arguments, "--", job.program("life")])
        expect(result.code != 0, f"{arguments} was accepted")
        expect_equal((len(result.said), result.out.count("life")), (1, 0), f"lines and output with {arguments}")
    result = job.run([*job.launcher(RANKS[job.mpi]), job.tool, "run", "--", "./no-such-program"])
    expect_equal((result.code != 0, len(result.said)), (True, 1), "failure and lines for a program that is not there")


if __name__ == "__main__":
    main()
