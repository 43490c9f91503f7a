"""Runs one program of the suite under its MPI's launcher, with or without libprofile, and lets nothing outlive it."""

import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "process"))
from harness import LAUNCHERS, PR_SET_CHILD_SUBREAPER, PREFIX, WITHOUT_NETWORK, kill_all  # noqa: E402

from outcome import Outcome, outcome  # noqa: E402

# What MPI_Comm_spawn starts hangs unless there are slots for it.
MORE = {"openmpi": ["--mca", "osc", WITHOUT_NETWORK, "--host", "localhost:16"], "mpich": []}


@dataclass
class Run:
    outcome: Outcome
    seconds: float
    said: list  # the lines of libprofile
    errors: str  # the rest of stderr
    report: str = ""  # what is wrong with the report, if it was asked for


class Jobs:
    """How programs are started: which MPI, which library, which options."""

    def __init__(self, mpi, build, library, options, everywhere=False, check=None):
        self.mpi, self.build, self.library, self.options = mpi, build, library, options
        self.everywhere = everywhere  # preload into the launcher too, and so into processes that MPI_Comm_spawn starts
        self.check = check  # called with the folder of a finished measurement
        # Processes that lose their parent come to this one, where kill_all() finds them.
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def environment(self, program, output):
        foreign = ("LIBPROFILE_", "LD_", "OMPI_", "PMI", "PMIX_", "MPI", "HYD")
        env = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
        env.update(word.split("=", 1) for word in program.environment)
        if output:
            env.update(self.options, LIBPROFILE_OUTPUT=str(output))
            if self.everywhere:
                env["LD_PRELOAD"] = str(self.library)
        return env

    def command(self, program, preload):
        words = [*LAUNCHERS[self.mpi], *MORE[self.mpi], "-n", str(program.ranks)]
        if preload:
            words += ["env", f"LD_PRELOAD={self.library}"]
        return [*words, f"./{program.name}", *program.arguments]

    def finish(self, command, env, folder, limit):
        """Exit code (None: time limit), stdout, stderr, seconds."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            start = time.monotonic()
            process = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True)
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = None
            seconds = time.monotonic() - start
            kill_all()
            process.wait()
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read(1 << 20).decode(errors="replace"))
        return code, texts[0], texts[1], seconds

    def run(self, program, limit, measured):
        """One run in the program's own folder: some read files there, or spawn other programs."""
        scratch = Path(tempfile.mkdtemp(prefix="conformance."))
        output = scratch / "profile" if measured else None
        try:
            code, out, err, seconds = self.finish(
                self.command(program, measured and not self.everywhere), self.environment(program, output),
                Path(self.build, program.folder), limit)
            lines = err.splitlines()
            said = [line for line in lines if line.startswith(PREFIX)]
            errors = "\n".join(line for line in lines if not line.startswith(PREFIX))
            run = Run(outcome(program, code, out), seconds, said, errors)
            if measured and self.check and run.outcome.passed and output.is_dir():
                run.report = self.check(output)
            return run
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
