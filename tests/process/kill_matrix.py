#!/usr/bin/python3
"""Whatever ends a job, every iteration that a rank has closed is in the report, with the values that the program wrote down itself; and
the job ends as it does without libprofile.

KILL_MATRIX_RANKS and KILL_MATRIX_REPETITIONS: how many ranks [2], and how often each death [1]."""

import importlib.util
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "format"))
import read_profile
from harness import TIME_FACTOR, Result, expect, expect_equal, kill_all, main, test
from report_checks import check_report, sums

RANKS = int(os.environ.get("KILL_MATRIX_RANKS", "2"))
REPETITIONS = int(os.environ.get("KILL_MATRIX_REPETITIONS", "1"))
# A column of the log -> the metric of the report; the first is the iteration's number.
COLUMNS = ["visits", "p2p_send_communications", "p2p_bytes_sent", "p2p_receive_communications", "p2p_bytes_received",
           "collective_exchange", "collective_bytes_outgoing", "collective_bytes_incoming"]
SHORT = {"LIBPROFILE_FINALIZE_TIMEOUT": 2}


class Logs:
    """The folder of a job: its ranks' logs, and its profile."""

    def __init__(self, job):
        self.folder = tempfile.mkdtemp(dir=job.folder, prefix="run.")
        self.profile = os.path.join(self.folder, "profile")

    def lines(self, rank, log="log"):
        try:
            with open(os.path.join(self.folder, f"{log}.{rank}")) as file:
                text = file.read()
        except FileNotFoundError:
            return []
        return text[:text.rfind("\n") + 1].splitlines()


class Run(Logs):
    """One job: its process, its folder of logs."""

    def __init__(self, job, mode, chosen, most, options, timeout=90):
        super().__init__(job)
        self.job, self.timeout = job, timeout * TIME_FACTOR
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        command = [job.program("mortal"), mode, chosen, most, self.folder]
        if options is not None:
            command = job.preloaded(command, {"LIBPROFILE_OUTPUT": self.profile, **options})
        self.command = [str(word) for word in [*job.launcher(RANKS), *command]]
        self.start = time.monotonic()
        self.process = subprocess.Popen(self.command, env=job.environment(), cwd=self.folder, stdin=subprocess.DEVNULL,
                                        stdout=self.out, stderr=self.err, start_new_session=True)

    def pid(self, rank):
        return int(self.lines(rank)[0].split()[1])

    def wait_for(self, iterations):
        while any(len(self.lines(rank)) <= iterations for rank in range(RANKS)):
            expect(self.process.poll() is None, f"the job ended early with exit code {self.process.poll()}")
            expect(time.monotonic() - self.start < self.timeout, "the job does not start")
            time.sleep(0.005)

    def wait(self):
        try:
            code = self.process.wait(self.timeout)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - self.start
        kill_all()
        self.process.wait()
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        result = self.job.last = Result(self.command, code, *texts, seconds)
        expect(code is not None, f"not finished after {self.timeout:.0f} s")
        return result


def end_of(result):
    """Exit code and messages, without what is different in every run."""
    def tidy(line):
        line = re.sub(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b", "ADDRESS", line)
        # What Open MPI says of its own troubles in saying something is different from run to run.
        line = re.sub(r"ORTE_ERROR_LOG: .* in file", "ORTE_ERROR_LOG: in file", re.sub(r"opal_show_help_yy\w+", "opal_show_help_yy", line))
        return re.sub(r"\d+", "N", line)
    return result.code, sorted({tidy(line) for line in result.err}), tidy(result.out)


def values_of(series, metric, count):
    """By iteration; None where they are not known."""
    if series is None:
        return [None] * count
    return series.get(metric, [None if visits is None else 0 for visits in series.get("visits", [0] * count)])


def check_recovered(job, run, missing=0, folded=False):
    """Every rank's iterations equal its log. One whose line was not written yet may be there."""
    before = job.last
    result = job.run([job.tool, "report", run.profile, "--format", "json", "--series"])
    expect_equal((result.code, result.err), (0, []), "the report")
    report = json.loads(result.out)
    check_report(report, repairs=None, folded=folded)
    text = job.run([job.tool, "report", run.profile])
    expect("INCOMPLETE" in text.out or report["job"]["complete"], "the report does not say that it is incomplete")
    job.last = before
    steps = [phase for phase in report["phases"] if phase["name"] == "step"]
    expect_equal(len(steps), 1, "phases of the loop")
    series = steps[0]["series"]
    for rank in range(RANKS):
        log = [[int(value) for value in line.split()][1:] for line in run.lines(rank)[1:]]
        count = steps[0]["iterations_per_rank"][rank]
        expect(len(log) - missing <= count <= len(log) + 1, f"rank {rank} logged {len(log)} iterations, the report has {count}")
        for column, metric in enumerate(COLUMNS):
            # None: an iteration that the reference method had clustered when the file was written.
            found = values_of(series[rank], metric, count)
            for number, (value, line) in enumerate(zip(found, log)):
                expect(value is None or value == line[column],
                       f"{metric} of iteration {number} of rank {rank}: {value}, by the log {line[column]}")
    check_exports(job, run)
    if not report["job"]["complete"]:
        check_recover(job, run, report)
    return report


def check_exports(job, run):
    """What puts values of single iterations together can do so with those of journals, too."""
    before = job.last
    for number, options in enumerate((["--format", "cubex"], ["--format", "csv", "--phase", "step", "--iterations", "2:"])):
        result = job.run([job.tool, "export", run.profile, *options, "--output", os.path.join(run.folder, f"export.{time.monotonic_ns()}.{number}")])
        expect_equal(result.code, 0, f"export {options}: {result.err}")
    job.last = before


def check_recover(job, run, report):
    """One file with the same data; it is never written twice."""
    before = job.last
    result = job.run([job.tool, "recover", run.profile])
    expect_equal((result.code, result.err), (0, []), "recover")
    file = os.path.join(run.profile, "profile.lprof")
    bytes_before = open(file, "rb").read()
    for name in os.listdir(run.profile):
        if name.startswith("rank-"):
            os.remove(os.path.join(run.profile, name))
    result = job.run([job.tool, "report", run.profile, "--format", "json", "--series"])
    expect_equal(json.loads(result.out), report, "the report of the recovered profile")
    result = job.run([job.tool, "recover", run.profile])
    expect_equal((result.code, open(file, "rb").read()), (1, bytes_before), "recovering twice")
    job.last = before


def same_end(job, mode, chosen=1, most=30, kill=None, options=SHORT, repetitions=None, slack=6.0):
    for repetition in range(repetitions or REPETITIONS):
        def once(settings):
            run = Run(job, mode, chosen, most, settings)
            if kill is not None:
                run.wait_for(random.randint(5, 40))
                time.sleep(random.random() * 0.02)
                kill(run)
            return run, run.wait()
        run, measured = once(options)
        # Which rank's end the launcher reports, and what it loses of the messages, is a race of its own: one in 10 to 40 ends
        # of plain jobs on a busy machine is another one.
        patience = time.monotonic() + 60 * TIME_FACTOR
        while True:
            _, plain = once(None)
            if end_of(plain) == end_of(measured) or time.monotonic() > patience:
                break
        job.last = measured
        expect_equal(end_of(measured), end_of(plain), f"the end of the job, repetition {repetition}")
        expect(measured.seconds < plain.seconds + slack * TIME_FACTOR, f"{measured.seconds:.1f} s, without {plain.seconds:.1f} s")
        expect(len(measured.said) <= 1, f"more than one line: {measured.said}")
        check_recovered(job, run)
    return run


@test
def iterations_outlive_mpi_abort(job):
    same_end(job, "abort")


@test
def iterations_outlive_a_fatal_mpi_error(job):
    same_end(job, "error")


@test
def iterations_outlive_exit(job):
    same_end(job, "exit")


@test
def iterations_outlive_immediate_exit(job):
    same_end(job, "_exit")


@test
def iterations_outlive_a_segmentation_fault(job):
    same_end(job, "segv")


@test
def iterations_outlive_a_rank_that_kills_itself(job):
    same_end(job, "kill")


@test
def iterations_outlive_the_end_of_memory(job):
    same_end(job, "oom")


@test
def iterations_outlive_children(job):
    """The children close iterations of their own; then the rank is killed."""
    same_end(job, "fork")


@test
def iterations_outlive_termination_of_the_launcher(job):
    same_end(job, "outside", kill=lambda run: run.process.send_signal(signal.SIGTERM))


@test
def iterations_outlive_interruption_of_the_launcher(job):
    same_end(job, "outside", kill=lambda run: run.process.send_signal(signal.SIGINT))


@test
def iterations_outlive_the_death_of_one_rank(job):
    same_end(job, "outside", kill=lambda run: os.kill(run.pid(RANKS - 1), signal.SIGKILL))


def kill_ranks(run):
    for rank in range(RANKS):
        try:
            os.kill(run.pid(rank), signal.SIGKILL)
        except ProcessLookupError:
            pass


@test
def iterations_outlive_the_death_of_all_ranks(job):
    same_end(job, "outside", kill=kill_ranks)


def end_after_profile(run):
    """Waits until the job has written its profile, and ends its launcher."""
    deadline = time.monotonic() + 60 * TIME_FACTOR
    while not os.path.exists(os.path.join(run.profile, "profile.lprof")):
        expect(time.monotonic() < deadline, "there is no profile")
        time.sleep(0.02)
    time.sleep(0.5)
    run.process.send_signal(signal.SIGTERM)
    return run.wait()


@test
def the_profile_is_complete_before_a_finalize_that_never_returns(job):
    for _ in range(REPETITIONS):
        measured, plain = [], []
        # MPICH's launcher has two ways to end, one of which is rare: of several jobs with and without, two must end alike.
        while not any(end in plain for end in measured):
            expect(len(measured) < 8, f"jobs end as {measured}, without as {plain}")
            run = Run(job, "hang", 0, 20, {})
            measured.append(end_of(end_after_profile(run)))
            report = check_recovered(job, run)
            expect_equal(report["job"]["complete"], True, "completeness")
            files = sorted(name for name in os.listdir(run.profile) if name != "names.lprof")
            expect_equal(files, ["config", "job", "profile.lprof"], "files")
            without = Run(job, "hang", 0, 20, None)
            without.wait_for(20)
            time.sleep(0.5)
            without.process.send_signal(signal.SIGTERM)
            plain.append(end_of(without.wait()))


@test
def a_job_that_runs_is_not_recovered(job):
    run = Run(job, "hang", 0, 600, {})
    run.wait_for(10)
    # Not by job.run(), which ends everything.
    result = subprocess.run([job.tool, "recover", run.profile], env=job.environment(), capture_output=True, text=True, timeout=60 * TIME_FACTOR)
    expect(len(run.lines(0)) <= 600, "the job was quicker than the test")
    expect_equal((result.returncode, os.path.exists(os.path.join(run.profile, "profile.lprof"))), (1, False), "recover")
    expect("still runs" in result.stderr and result.stderr.count("\n") == 1, f"what it says: {result.stderr}")
    end_after_profile(run)
    expect_equal(check_recovered(job, run)["job"]["complete"], True, "completeness")


def check_second_reader(run):
    """The reader that was written from docs/format.md takes each live file, to the end of its journal. Where it cannot unpack blocks, Debian 11
    for instance, the rest is tested."""
    if importlib.util.find_spec("zstandard") is None:
        return
    for rank in range(RANKS):
        file = os.path.join(run.profile, f"rank-{rank}.lprof")
        with open(file, "rb") as data:
            try:
                found = read_profile.summary(data.read(), scan=True)
            except read_profile.Damaged as error:
                raise AssertionError(f"{file}: {error}") from error
        expect(len(found["journals"][rank]) > 0, f"{file} has an empty journal")


def killed(job, mode, most, options, wait):
    """A run in whose midst all ranks, or one of them, are killed."""
    run = Run(job, mode, 0, most, options, timeout=90 + 30 * RANKS) # ranks of MPICH do not yield
    wait(run)
    time.sleep(random.random() * 0.5)
    if random.random() < 0.5:
        kill_ranks(run)
    else:
        os.kill(run.pid(random.randrange(RANKS)), signal.SIGKILL)
    run.wait()
    return run


def check_new_loops(report, run):
    """Of each loop that the program had between its iterations: the passes, and their calls."""
    phases = {phase["name"]: phase for phase in report["phases"]}
    for rank in range(RANKS):
        for line in run.lines(rank, "more"):
            solve, number, passed, visits = line.split()
            phase = phases[f"{solve} {number}"]
            expect(phase["iterations_per_rank"][rank] > int(passed), f"rank {rank} closed pass {passed} of loop {number}: {phase['iterations_per_rank']}")
            found = values_of(phase["series"][rank], "visits", 3)[int(passed)]
            expect(found is None or found == int(visits), f"visits of pass {passed} of loop {number} of rank {rank}: {found}, by the log {visits}")


@test
def kills_lose_no_iteration_of_a_program_that_goes_on_changing(job):
    """New call paths, phases and loops for some seconds."""
    for repetition in range(REPETITIONS):
        options = {"LIBPROFILE_METHOD": "reference"} if repetition % 4 == 3 else {}
        run = killed(job, "changing", 0, options, lambda run: run.wait_for(random.randint(150, 300)))
        check_second_reader(run)
        check_new_loops(check_recovered(job, run), run)


@test
def kills_lose_no_iteration_of_loops_that_were_found(job):
    """A loop is settled on after 5 s. What is said of it is what is true at the end: it is all of the time, and sure. Every second time another
    loop follows."""
    for repetition in range(REPETITIONS):
        has_two = repetition % 2 == 1

        def late_enough(run, passes=1200 if has_two else 600):
            while any(len(run.lines(rank, "more")) < passes for rank in range(RANKS)):
                expect(run.process.poll() is None, "the job ended early")
                expect(time.monotonic() - run.start < run.timeout, "the job does not get on")
                time.sleep(0.05)
        run = killed(job, "found", 650 if has_two else 20000, {}, late_enough)
        check_second_reader(run)
        report = report_of(job, run)
        sentences = job.run([job.tool, "report", run.profile]).out
        expect("the time loop was not found" not in sentences, "the time loop was found")
        loops = sorted(report["loops"], key=lambda loop: loop["place"])
        expect_equal([loop["place"].split()[0] for loop in loops], ["advance", "relax"] if has_two else ["relax"], "loops")
        expect(sum(loop["share"] for loop in loops) > 0.9, f"share of the time: {loops}")
        expect(has_two or loops[0]["sure"], f"not sure: {loops}")
        for name, number in (("relax", 0), ("advance", 1)):
            phase = next((phase for phase in report["phases"] if phase["name"].startswith(f"loop in {name}")), None)
            for rank in range(RANKS if phase else 0):
                logged = sum(line.startswith(f"{number} ") for line in run.lines(rank, "more"))
                count = phase["iterations_per_rank"][rank]
                expect(abs(count - logged) <= 1, f"rank {rank} logged {logged} passes of {name}, the report has {count}")


def killed_quickly(job, options, missing=0):
    """Thousands of iterations a second, so that many kills hit a record or a snapshot that is being written."""
    for repetition in range(4 * REPETITIONS):
        run = Run(job, "quick", 0, 0, options)
        run.wait_for(10)
        time.sleep(random.random() * 0.6)
        kill_ranks(run)
        run.wait()
        check_recovered(job, run, missing)


@test
def kills_at_any_moment_lose_no_iteration(job):
    killed_quickly(job, {})


@test
def kills_at_any_moment_lose_no_iteration_without_clusters_and_series(job):
    killed_quickly(job, {"LIBPROFILE_METHOD": "reference", "LIBPROFILE_CLUSTERS": 2})


@test
def handlers_that_end_the_program_lose_no_iteration(job):
    """Most of the time of this program is ours, so most of its handlers interrupt us."""
    for repetition in range(6 * REPETITIONS):
        run = Run(job, "handler", 0, 0, {**SHORT, "LIBPROFILE_CLUSTERS": 2 + 60 * (repetition % 2)})
        run.wait_for(10)
        time.sleep(random.random() * 0.3)
        for rank in range(RANKS):
            try:
                os.kill(run.pid(rank), signal.SIGTERM)
            except ProcessLookupError:
                pass
        code = run.wait().code
        expect(code in (6, 9), f"exit code {code}") # 9: MPICH's launcher has killed the others, and saw one of these first
        check_recovered(job, run)


def journal_of(path):
    """The iterations in a file's journal, and how many of them were taken back."""
    iterations, taken_back = [], 0
    with open(path, "rb") as file:
        blocks = list(read_profile.File(file.read()).scan())
    for kind, _, payload in blocks:
        if kind != read_profile.TYPE_JOURNAL:
            continue
        for record in read_profile.journal_records(payload):
            kind = record.number()
            if kind == 2:
                iterations.append(record.numbers(2)[1])
            taken_back += kind == 4
    return iterations, taken_back


@test
def values_without_memory_of_their_own_outlive_their_rank(job):
    """Call paths for the quota many times over: iterations are taken back from the clusters and come with those before. As long as
    the journal has all of them, so have the sums."""
    own, mixed, unknown = 0, 3, 2
    fates, taken_back, whole = set(), 0, 0
    # The quota is full after some two thousand, now and then later; what the journal has just then is chance.
    for count, most in enumerate((700, 2200, 2600, 4000, 2000, 2200, 2400, 2600, 2200, 2400) * REPETITIONS):
        if count >= 4 * REPETITIONS and {own, mixed} <= fates and taken_back > 0 and whole > 0:
            break
        run = Run(job, "wide", -1, most, {"LIBPROFILE_MEMORY": "4M", "LIBPROFILE_SAMPLE": 0})
        run.wait()
        journals = [journal_of(os.path.join(run.profile, f"rank-{rank}.lprof")) for rank in range(RANKS)]
        report = check_recovered(job, run, missing=most, folded=None)
        steps = next(phase for phase in report["phases"] if phase["name"] == "step")
        for rank, (iterations, back) in enumerate(journals):
            fates.update(iterations)
            taken_back += back
            log = [int(line.split()[3]) for line in run.lines(rank)[1:]]
            found = sums(report, rank)["p2p_bytes_sent"]
            expect(found <= sum(log) + 5000, f"rank {rank} sent {found} bytes, by the log {sum(log)}")
            if unknown not in iterations and steps["iterations_per_rank"][rank] == len(log) and len(iterations) > 0:
                expect_equal(found, sum(log), f"bytes that rank {rank} sent")
                whole += 1
    expect({own, mixed} <= fates and taken_back > 0, f"the journals have fates {fates} and {taken_back} that were taken back")
    expect(whole > 0, "no journal had everything")


def messages(run):
    """Of all iterations in the log, by rank."""
    return [sum(int(line.split()[2]) for line in run.lines(rank)[1:]) for rank in range(RANKS)]


def report_of(job, run):
    result = job.run([job.tool, "report", run.profile, "--format", "json", "--series"])
    expect_equal((result.code, result.err), (0, []), "the report")
    report = json.loads(result.out)
    check_report(report, repairs=None)
    return report


@test
def programs_without_iterations_keep_all_but_the_last_interval(job):
    run = Run(job, "unmarked", 0, 0, {"LIBPROFILE_CHECKPOINT": "200ms"})
    run.wait_for(100)
    before = messages(run)
    time.sleep(1)
    kill_ranks(run)
    run.wait()
    after = messages(run)
    report = report_of(job, run)
    for rank in range(RANKS):
        found = sums(report, rank)["p2p_send_communications"]
        expect(before[rank] <= found <= after[rank] + 3,
               f"rank {rank} has {found} messages; a second before its death there were {before[rank]}, then {after[rank]}")


@test
def live_data_can_be_switched_off(job):
    run = Run(job, "kill", -1, 10, {"LIBPROFILE_CHECKPOINT": "off"})
    run.wait()
    expect_equal(sorted(os.listdir(run.profile)), ["config", "job"], "files")


REFUSES = """
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
int fallocate(int file, int mode, off_t offset, off_t length) {
    (void)file, (void)mode, (void)offset, (void)length;
    errno = %s;
    return -1;
}
"""


def refusing(job, error):
    """A library that keeps the C library from allocating room in files, as some file systems do."""
    job.need("cc")
    source = job.write(f"{error}.c", REFUSES % error)
    shim = job.folder / f"{error}.so"
    job.compile("cc", "-shared", "-fPIC", source, "-o", shim)
    return {"LD_PRELOAD": f"{shim}:{job.library}"}


@test
def file_systems_that_allocate_no_room_lose_a_second(job):
    run = Run(job, "kill", -1, 250, refusing(job, "EOPNOTSUPP"))
    result = run.wait()
    expect_equal(result.said, [], "lines of ours")
    check_recovered(job, run, missing=150)
    expect(sum(report_of(job, run)["phases"][1]["iterations_per_rank"]) > 50 * RANKS, "hardly anything was kept")


@test
def full_file_systems_are_reported_once(job):
    run = Run(job, "exit", -1, 250, {"LIBPROFILE_CHECKPOINT": "500ms", **SHORT, **refusing(job, "ENOSPC")})
    result = run.wait()
    expect_equal(len([line for line in result.said if "No space left on device" in line]), 1, f"complaints in {result.said}")
    # Each writes all at its exit; but the launcher may kill a rank when another one has left.
    check_recovered(job, run, missing=150)


@test
def a_disk_that_fills_up_is_no_harm(job):
    """A file system of 200 KiB, which the program fills itself."""
    place = job.folder / "small"
    place.mkdir()
    command = [job.program("mortal"), "exit", -1, 100, job.folder]
    result = job.run([*job.mounted(place, "200k"), *job.launcher(RANKS), *job.preloaded(command, {"LIBPROFILE_OUTPUT": place / "out", **SHORT})])
    patience = time.monotonic() + 60 * TIME_FACTOR  # as in same_end()
    while True:
        plain = job.run([*job.launcher(RANKS), *command])
        if (plain.code, plain.out) == (result.code, result.out) or time.monotonic() > patience:
            break
    expect_equal((result.code, result.out), (plain.code, plain.out), "the end of the job")
    expect(any("No space left" in line for line in result.said), f"it is not said: {result.said}")


def full_at_the_end(job, options, size):
    """The disk has room for the live data, but when the job ends the program has filled it."""
    logs = Logs(job)
    small = os.path.join(logs.folder, "all")
    os.mkdir(small)
    mounted = job.mounted(small, size, f'"$@"; code=$?; cp -r {small}/out {logs.profile}; exit $code')
    command = job.preloaded([job.program("mortal"), "full", 0, 60, logs.folder], {"LIBPROFILE_OUTPUT": f"{small}/out", **options})
    result = job.run([*mounted, *job.launcher(RANKS), *command], cwd=logs.folder)
    expect_equal((result.code, result.out, len(result.exit_lines)), (0, "", 1), "the end of the job")
    return logs, result


@test
def live_data_make_room_for_the_profile(job):
    logs, result = full_at_the_end(job, {}, "4m")
    expect_equal(result.said, result.exit_lines, "lines of ours")
    expect_equal(check_recovered(job, logs)["job"]["complete"], True, "completeness")


@test
def a_disk_that_is_full_at_the_end_sends_the_profile_to_the_working_folder(job):
    logs, result = full_at_the_end(job, {"LIBPROFILE_CHECKPOINT": "off"}, "1m")
    expect(any("No space left" in line and "working folder" in line for line in result.said), f"it is not said: {result.said}")
    expect_equal(len(result.said), 2, f"lines of ours: {result.said}")
    logs.profile = os.path.join(logs.folder, [name for name in os.listdir(logs.folder) if name.startswith("libprofile-")][0])
    expect_equal(check_recovered(job, logs)["job"]["complete"], True, "completeness")


if __name__ == "__main__":
    main()
