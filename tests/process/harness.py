"""Starts real processes with and without libprofile, and checks what they leave behind.

A test is a function of one argument, decorated with @test and named after what must hold; main() runs those that the
command line names. CMakeLists.txt passes where things are. Every process of a test is dead when the test ends: a hang
is a failure, never a stuck test run.
"""

import argparse
import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

from report_checks import check_report

PREFIX = "libprofile: "
SKIPPED = 77  # SKIP_RETURN_CODE in CMakeLists.txt
LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none",
                "--mca", "mpi_yield_when_idle", "1", "--mca", "btl_vader_single_copy_mechanism", "none"],
    "mpich": ["mpirun.mpich"],
}
HAS_OPENMPI_5 = shutil.which("prte") is not None  # its launcher is PRRTE
HAS_MPICH_5 = any(Path("/usr/lib").glob("*/libmpi_abi_mpich.so.*"))
HAS_OPENMPI_6 = any(Path("/usr/lib").glob("*/libopen_mpi.so.*"))
# Open MPI's one-sided components that need no network. Open MPI 5 has but rdma, which emulates what is missing.
WITHOUT_NETWORK = "^ucx" if HAS_OPENMPI_5 else "^ucx,rdma"
PR_SET_CHILD_SUBREAPER = 36
MOST_SAMPLES = {"LIBPROFILE_SAMPLE": "10kHz"}  # the highest sampling rate there is
TIME_FACTOR = float(os.environ.get("TEST_TIME_FACTOR", "1"))  # of all time limits, where processors are emulated

tests = {}


class Skip(Exception):
    """What the test needs is not installed."""


def test(function):
    tests[function.__name__] = function
    return function


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def expect_equal(actual, expected, what):
    if actual != expected:
        raise AssertionError(f"{what}:\n  expected {expected!r}\n  but got  {actual!r}")


def masked(text):
    """Addresses are random, and process ids."""
    return re.sub(r"\b\d{3,}\b", "N", re.sub(r"0x[0-9a-f]+", "ADDRESS", text))


def shortened(text, most=1500):
    return text if len(text) <= most else text[: most // 3] + "\n[...]\n" + text[-most + most // 3 :]


class Result:
    """What a finished job left: exit code, stdout, stderr without and with our own lines."""

    def __init__(self, command, code, out, err, seconds):
        self.command, self.code, self.out, self.all_err, self.seconds = command, code, out, err, seconds
        lines = err.splitlines()
        # On AArch64 each job says what libprofile does not do there.
        self.said = [line for line in lines if line.startswith(PREFIX) and not line.startswith(f"{PREFIX}note: on AArch64, ")]
        self.err = [line for line in lines if not line.startswith(PREFIX)]

    @property
    def exit_lines(self):
        return [line for line in self.said if "(next: libprofile report" in line]

    @property
    def complaints(self):
        return [line for line in self.said if line not in self.exit_lines]

    def __str__(self):
        return (f"$ {' '.join(map(str, self.command))}\nexit code {self.code} after {self.seconds:.1f} s\n"
                f"stdout: {shortened(self.out)}\nstderr: {shortened(self.all_err)}")


def descendants():
    """All living processes below this one; orphans come back to it, since it is a subreaper."""
    parents = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if fields[0] != "Z":
                parents[int(entry)] = int(fields[1])
    found = {os.getpid()}
    grown = True
    while grown:
        children = {pid for pid, parent in parents.items() if parent in found} - found
        found |= children
        grown = bool(children)
    return found - {os.getpid()}


def reap_orphans_of_namespaces():
    """The first process of a namespace ends when all others are gone, also dead ones that came to us when their parent died. Those that we
    started ourselves are in no namespace of their own."""
    for entry in os.listdir("/proc"):
        try:
            status = Path(f"/proc/{entry}/status").read_text() if entry.isdigit() else ""
            if re.search(rf"(?m)^PPid:\t{os.getpid()}$", status) and re.search(r"(?m)^State:\tZ", status) and re.search(r"(?m)^NSpid:\t\d+\t", status):
                os.waitpid(int(entry), os.WNOHANG)
        except OSError:
            pass


def kill_all():
    for attempt in range(100):
        if attempt % 10 == 2:
            reap_orphans_of_namespaces()
        remaining = descendants()
        if not remaining:
            return
        for pid in remaining:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        time.sleep(0.02)


class Job:
    """One test's environment: where things are, a temporary folder, and ways to start jobs in it."""

    def __init__(self, options, folder):
        self.library = options.library
        self.tool = options.tool
        self.programs = Path(options.programs)
        self.build = Path(options.build)
        self.source = Path(__file__).resolve().parents[2]
        self.mpi = options.mpi
        self.folder = Path(folder)
        self.runs = 0
        self.last = None

    def environment(self, changes=None):
        foreign = ("LIBPROFILE_", "LD_", "OMPI_", "PMI", "PMIX_", "MPI", "HYD", "SLURM_")
        env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        env["LC_ALL"] = "C.UTF-8"
        env["OMP_NUM_THREADS"] = "1"
        for name, value in (changes or {}).items():
            env[name] = str(value)
        return env

    def run(self, command, env=None, timeout=60, cwd=None, close_output=False, stdin=subprocess.DEVNULL):
        """Runs a command to its end. A command that does not end is a failed test."""
        command = [str(word) for word in command]
        timeout *= TIME_FACTOR
        out, err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        start = time.monotonic()
        process = subprocess.Popen(command, env=self.environment(env), cwd=cwd or self.folder, stdin=stdin,
                                   stdout=out, stderr=err, start_new_session=True)
        try:
            code = process.wait(timeout)
        except subprocess.TimeoutExpired:
            code = None
        seconds = time.monotonic() - start
        kill_all()
        process.wait()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
            file.close()
        self.last = Result(command, code, *texts, seconds)
        expect(code is not None, f"not finished after {timeout:.0f} s")
        return self.last

    def launcher(self, ranks):
        launcher = LAUNCHERS[self.mpi]
        if shutil.which(launcher[0]) is None:
            raise Skip(f"{launcher[0]} is not installed")
        return [*launcher, "-n", str(ranks)]

    def preloaded(self, command, options=None):
        """The command in front of which `env` preloads the library, in the ranks only and not in the launcher."""
        settings = [f"{name}={value}" for name, value in (options or {}).items()]
        return ["env", f"LD_PRELOAD={self.library}", *settings, *command]

    def plain(self, command, ranks=2, **more):
        """mpirun without libprofile."""
        return self.run([*self.launcher(ranks), *command], **more)

    def measured(self, command, ranks=2, options=None, output=None, **more):
        """mpirun with libprofile preloaded; `options` are LIBPROFILE_* variables, `output` names the folder."""
        options = dict(options or {})
        if output is not None:
            options["LIBPROFILE_OUTPUT"] = self.folder / output
        return self.run([*self.launcher(ranks), *self.preloaded(command, options)], **more)

    def report(self, folder=None, **checks):
        """The JSON report, after the checks that every report must pass. Without a folder: the only one there is."""
        if folder is None:
            folders = self.output_folders()
            expect(len(folders) == 1, f"expected one output folder, found {[f.name for f in folders]}")
            folder = folders[0]
        before = self.last
        result = self.run([self.tool, "report", self.folder / folder, "--format", "json", "--series"])
        expect(result.code == 0, "the report failed")
        self.last = before
        report = json.loads(result.out)
        check_report(report, **checks)
        return report

    def profile(self, command, ranks=2, complete=True, folded=False, **more):
        """Measures a job that must succeed, and returns its report. `folded`: its memory must run out, which is said."""
        self.runs += 1
        output = f"profile.{self.runs}"
        result = self.measured(command, ranks, output=output, **more)
        expect_equal(result.code, 0, "exit code")
        expect_equal(len(result.exit_lines), 1, "number of exit lines")
        report = self.report(output, folded=folded)
        expect_equal(report["job"]["ranks"], ranks, "ranks in the report")
        expect_equal(report["job"]["complete"], complete, "completeness of the report")
        if complete and "a file each; rank 0:" not in result.exit_lines[0]:
            check_exit_line(result.exit_lines[0], report)
        return report

    def output_folders(self):
        return sorted(path for path in self.folder.glob("libprofile-*") if path.is_dir())

    def program(self, name):
        """A test program compiled for this MPI (tests/programs)."""
        return self.programs / f"{name}.{self.mpi}"

    def example(self, name):
        return self.build / "examples" / f"{name}.{self.mpi}"

    def need(self, *programs):
        for program in programs:
            if shutil.which(str(program)) is None:
                raise Skip(f"{program} is not installed")

    def mounted(self, folder, size, script='exec "$@"'):
        """What to put in front of a command, so that it runs, by `script`, with a file system of its own of that size at `folder`."""
        mount = ["unshare", "-m", "sh", "-c", f"mount -t tmpfs -o size={size} none {folder} && {script}", "sh"]
        if self.run([*mount[:4], f"mount -t tmpfs none {folder}"]).code != 0:
            raise Skip("no file system can be mounted")
        return mount

    def compile(self, *command):
        result = self.run(command, timeout=120)
        expect(result.code == 0, "compilation failed")

    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path


def read_again(job, file, *options):
    """What the reader that was written from docs/format.md finds in a file."""
    reader = job.source / "tests/format/read_profile.py"
    result = job.run([sys.executable, "-B", reader, file, *options])
    if "No module named 'zstandard'" in result.all_err:
        raise Skip("python3-zstandard is not installed")
    expect_equal(result.code, 0, "exit code of the second reader")
    return json.loads(result.out)


def check_exit_line(line, report):
    """What it says of libprofile's own share is in the report, and is no less than what is known otherwise."""
    said = re.search(r", libprofile itself: (?:about |at least )?([\d.]+)% of the (time|samples)(?: \(it measured ([\d.]+)% of the time\))?, memory up to (\d+) KiB",
                     line)
    expect(said is not None, f"no own share in {line!r}")
    first, of_what, measured, memory = said.groups()
    inside, taken = report["losses"]["samples_in_libprofile"], report["losses"]["samples_taken"]
    share = report["self"]["share"] * 100
    booked, is_bound = float(measured or first), "at least" in said.group(0)
    expect(abs(share - booked) < 0.11 and (booked <= share + 1e-9 or not is_bound), f"{line!r} where {share} % were measured")
    if of_what == "samples":
        expect(abs(float(first) - 100 * inside / taken) < 0.06, f"{line!r} with {inside} of {taken} samples in libprofile")
    else:
        rate, booked = max(report["job"]["sampling_rate"]), sum(report["self"]["ns"] + report["self"]["writing_ns"])
        sampled = (taken + report["losses"]["samples_lost"]) * 1e9 / rate if rate else 0
        if share:
            sampled = min(sampled, booked * 100 / share)
        expected = booked * taken / sampled if sampled else 0
        expect(taken < 96 or inside <= expected + 2 * inside ** 0.5 + 1, f"{line!r} with {inside} of {taken} samples in libprofile")
    expect_equal(int(memory), max((rank + 1023) // 1024 for rank in report["self"]["memory_peak"]), "memory on the exit line")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--library", required=True, help="libprofile.so")
    parser.add_argument("--tool", required=True, help="the libprofile command")
    parser.add_argument("--programs", required=True, help="folder of the compiled test programs")
    parser.add_argument("--build", required=True, help="build folder")
    parser.add_argument("--mpi", choices=LAUNCHERS, default="openmpi")
    parser.add_argument("--keep", action="store_true", help="keep the temporary folders")
    parser.add_argument("tests", nargs="*", help="names of tests; all without")
    options = parser.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    failed = skipped = 0
    for name in options.tests or tests:
        folder = tempfile.mkdtemp(prefix=f"{name[:40]}.")
        job = Job(options, folder)
        start = time.monotonic()
        try:
            tests[name](job)
            outcome = "passed"
        except Skip as reason:
            outcome = f"skipped: {reason}"
            skipped += 1
        except Exception as error:
            failed += 1
            outcome = "FAILED"
            trace = "" if isinstance(error, AssertionError) else traceback.format_exc()
            print(f"{trace}{error}\n--- the last command ---\n{job.last}")
        finally:
            kill_all()
            if options.keep:
                print(f"{name}: {folder}")
            else:
                shutil.rmtree(folder, ignore_errors=True)
        print(f"{name}.{options.mpi}: {outcome} ({time.monotonic() - start:.1f} s)", flush=True)
    sys.exit(1 if failed else SKIPPED if skipped == len(options.tests or tests) else 0)
