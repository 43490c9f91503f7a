#!/usr/bin/env python3
"""Jobs with and without libprofile at once, of which only one runs at a time, in turns: ratios of processor time.

Usage: benchmarks/turns.py [--rounds N] [--turn MS] [--folder FOLDER] [--one-plain] [--variant "NAME=SETTING SETTING..."]... -- COMMAND ...
The command is an mpirun line in which PRELOAD stands in front of the program, as in
    benchmarks/turns.py --variant default= --variant unsampled=LIBPROFILE_SAMPLE=0 -- mpirun -n 2 PRELOAD lmp -in in.crack
Each round starts a job of each variant and two plain ones, and lets them run in turns, in changing order (SIGSTOP, SIGCONT). A machine that is slower for
some time is so for all of them, so their processor times can be compared more exactly than those of jobs that run one after the other
(pairs.py). The second plain job tells how exactly. What ranks wait for each other counts if MPI polls meanwhile, as it does with a
processor for each rank. All ranks must run on this machine. Programs that write files need FOLDER: each job runs in a copy of it.
What libprofile does by wall time comes more often than usual, the more jobs there are: checkpoints, and the work of iterations that a stop has
made long. --one-plain leaves the second plain job out.
Prints a line per round, then medians with quartiles.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pairs import expect_success, summary, with_library, with_settings


def descendants(pid):
    """All processes below the process."""
    below = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            below += [int(child) for child in Path(f"/proc/{pid}/task/{task}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):  # it has ended
        pass
    return below + [process for child in below for process in descendants(child)]


class Job:
    """A launcher whose processes run only during run()."""

    def __init__(self, command, settings, scratch, folder):
        where = None
        if folder is not None:
            where = scratch / "folder"
            shutil.copytree(folder, where, symlinks=True)
        self.line = with_settings(command, settings)
        self.errors = open(scratch / "errors", "w+", errors="replace")
        self.launcher = subprocess.Popen(self.line, cwd=where, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=self.errors)
        self.processor_s = None  # once it has ended

    def send(self, number):
        for pid in descendants(self.launcher.pid):
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def run(self, seconds):
        self.send(signal.SIGCONT)
        time.sleep(seconds)
        self.send(signal.SIGSTOP)
        pid, status, usage = os.wait4(self.launcher.pid, os.WNOHANG)
        if pid == 0:
            return
        self.launcher.returncode = os.waitstatus_to_exitcode(status)
        self.errors.seek(0)
        expect_success(self.line, self.launcher.returncode, self.errors.read())
        self.processor_s = usage.ru_utime + usage.ru_stime

    def end(self):
        """The launcher ends its ranks."""
        self.launcher.terminate()
        self.send(signal.SIGCONT)
        try:
            self.launcher.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            self.launcher.kill()
            self.launcher.wait()


def processor_times(variants, command, turn, folder):
    """One job of each variant; the processor time of each in s."""
    with tempfile.TemporaryDirectory() as scratch:
        jobs = {}
        try:
            for name, settings in random.sample(list(variants.items()), len(variants)):
                own = Path(scratch) / name
                own.mkdir()
                jobs[name] = Job(command, [] if settings is None else with_library(own, settings), own, folder)
                jobs[name].run(1)  # the launcher starts the ranks
            while running := [job for job in jobs.values() if job.processor_s is None]:
                for job in random.sample(running, len(running)):
                    job.run(turn * random.uniform(0.75, 1.25))
        finally:
            for job in jobs.values():
                if job.launcher.returncode is None:
                    job.end()
        return {name: jobs[name].processor_s for name in variants}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, choices=range(2, 1000), metavar="N")
    parser.add_argument("--turn", type=float, default=100, metavar="MS")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--one-plain", action="store_true")
    parser.add_argument("--variant", action="append", metavar="NAME=SETTINGS", default=[])
    parser.add_argument("command", nargs="+")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by a signal"))  # no job may stay stopped
    signal.signal(signal.SIGHUP, lambda *_: sys.exit("ended by a signal"))
    variants = {name: settings.split() for name, _, settings in (variant.partition("=") for variant in arguments.variant or ["default="])}
    variants |= {name: None for name in ["plain", *([] if arguments.one_plain else ["again"])]}
    ratios = {name: [] for name in variants if name != "plain"}
    for i in range(arguments.rounds):
        times = processor_times(variants, arguments.command, arguments.turn / 1000, arguments.folder)
        for name, values in ratios.items():
            values.append(times[name] / times["plain"])
        print(f"{i + 1:3}: {times['plain']:.2f} s", *(f"{name} x {values[-1]:.4f}" for name, values in ratios.items()), flush=True)
    for name, values in ratios.items():
        summary(name, values)


if __name__ == "__main__":
    main()
