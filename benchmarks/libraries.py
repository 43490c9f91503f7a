#!/usr/bin/env python3
"""Measures programs that load many libraries: processor time to open, use and close 500, 1,000 and 2,000 of them, with and without libprofile.

Usage: benchmarks/libraries.py [--mpi openmpi|mpich] [--rounds N] [COUNT...]
Compiles a host and a small library that makes one MPI call, copies it COUNT times, and runs the host with and without libprofile in turns. Prints
the smallest times, and their ratio. Needs a build (scripts/test makes one).
"""

import argparse
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LIBRARY = Path(__file__).resolve().parent.parent / "build/release/libprofile/libprofile.so"
HOST = """
    #include <dlfcn.h>
    #include <mpi.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    int main(int argc, char** argv) {
        MPI_Init(&argc, &argv);
        const int count = atoi(argv[3]), calls = strstr(argv[1], "call") != 0, one = strstr(argv[1], "each") != 0;
        void** handles = calloc((size_t)count, sizeof *handles);
        for (int i = 0; i < count; ++i) {
            char name[4096];
            snprintf(name, sizeof name, "%s/lib%d.so", argv[2], i);
            if ((handles[i] = dlopen(name, RTLD_NOW | RTLD_LOCAL)) == 0) return 2;
            if (calls) ((void (*)(void))dlsym(handles[i], "call"))();
            if (one) dlclose(handles[i]);
        }
        for (int i = 0; i < count && !one; ++i) dlclose(handles[i]);
        MPI_Finalize();
        return 0;
    }"""
USED = "#include <mpi.h>\nvoid call(void) { int rank; MPI_Comm_rank(MPI_COMM_WORLD, &rank); __asm__ volatile(\"\"); }\n"
KINDS = {"open all, close all": "all", "open all with a call each, close all": "all call", "open, call, close one after another": "each call"}


def processor_time(command, settings):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["env", *settings, *map(str, command)], capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{command}: exit code {done.returncode}\n{done.stderr}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", choices=("openmpi", "mpich"), default="mpich")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("counts", nargs="*", type=int, default=[500, 1000, 2000])
    options = parser.parse_args()
    scratch = Path(tempfile.mkdtemp())
    (scratch / "host.c").write_text(HOST)
    (scratch / "used.c").write_text(USED)
    compiler = f"mpicc.{options.mpi}"
    subprocess.run([compiler, "-O1", scratch / "host.c", "-o", scratch / "host", "-ldl"], check=True)
    subprocess.run([compiler, "-O1", "-fPIC", "-shared", scratch / "used.c", "-o", scratch / "used.so"], check=True)
    for i in range(max(options.counts)):
        shutil.copy(scratch / "used.so", scratch / f"lib{i}.so")
    preload = [f"LD_PRELOAD={LIBRARY}", "LIBPROFILE_QUIET=1", f"LIBPROFILE_OUTPUT={scratch}/profile"]
    print("| | libraries | s of processor time without | with | ratio |\n|---|--:|--:|--:|--:|", flush=True)
    for name, kind in KINDS.items():
        for count in options.counts:
            best = {}
            for i in range(options.rounds):
                for settings in ([], preload) if i % 2 else (preload, []):
                    measured = bool(settings)
                    best[measured] = min(best.get(measured, 1e9), processor_time([scratch / "host", kind, scratch, count], settings))
                shutil.rmtree(scratch / "profile")
            print(f"| {name} | {count:,} | {best[False]:.3f} | {best[True]:.3f} | {best[True] / best[False]:.2f} |", flush=True)
    shutil.rmtree(scratch)


if __name__ == "__main__":
    main()
