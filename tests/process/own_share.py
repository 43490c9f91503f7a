#!/usr/bin/python3
"""What libprofile books as its own: the work it did, not the time in which others had its processor."""

import resource
import statistics
from pathlib import Path

import debian_programs
from harness import Skip, check_exit_line, expect, expect_equal, main, test


@test
def losing_the_processor_inside_libprofile_is_not_its_cost(job):
    """Under tests/programs/slow_clock.c each reading of the CPU time loses the processor for 5 ms: at markers, samples and long calls."""
    shim = job.programs / "slow_clock.so"
    for name, *arguments in (("pcontrol", "many_iterations", "100"), ("polls", "apart")):
        options = {"LD_PRELOAD": f"{shim}:{job.library}"}
        result = job.measured([job.program(name), *arguments], 1, options=options, output=name, timeout=100)
        expect_equal((result.code, len(result.exit_lines)), (0, 1), "exit code and exit lines")
        report = job.report(name)
        check_exit_line(result.exit_lines[0], report)
        own = report["self"]["share"]
        paths = [path for phase in report["phases"] for path in phase["call_paths"] if path["kind"] == "off_cpu"]
        away = sum(sum(path["exclusive"].get("time", [0])) for path in paths)
        expect(own < 0.2, f"{name}: {100 * own:.1f} % of the time is booked for libprofile, {away / 1e9:.2f} s off CPU")


def processor_time(run):
    """s of processor time of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    expect_equal(result.code, 0, "exit code")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compare(job, name, command, ranks=2, options=None, rounds=8):
    """What libprofile says that it took, and what runs with it take more than others, are two measurements of one thing. Both are rough: they must agree to
    a factor of three, or five percent of the run, beyond what plain runs differ."""
    plain, lost, said = [], [], []
    for i in range(rounds):
        without = processor_time(lambda: job.plain(command, ranks))
        output = f"{name}-{i}"
        with_us = processor_time(lambda: job.measured(command, ranks, options=options, output=output, timeout=100))
        own = job.report(output)["self"]
        plain.append(without)
        lost.append(with_us - without)
        said.append((sum(own["ns"]) + sum(own["writing_ns"])) / 1e9)
    typical = statistics.median(plain)
    noise = statistics.median(abs(a - b) for a, b in zip(plain, plain[1:])) / typical
    lost_share, said_share = statistics.median(lost) / typical, statistics.median(said) / typical
    print(f"{name}: {typical:.2f} s, {100 * lost_share:.1f} % more with libprofile, which says {100 * said_share:.1f} %; plain runs differ by {100 * noise:.1f} %")
    if noise > max(0.05, said_share):
        raise Skip(f"plain runs of {name} differ by {100 * noise:.1f} %, and libprofile says that it took {100 * said_share:.1f} %")
    is_near = abs(lost_share - said_share) < 0.05 + noise
    expect(is_near or 1 / 3 < said_share / max(lost_share, 1e-9) < 3,
           f"{name} took {100 * lost_share:.1f} % more processor time, and libprofile says that it took {100 * said_share:.1f} %")


@test
def what_calls_cost_is_what_runs_take_longer(job):
    compare(job, "mpi_calls", [job.build / "benchmarks" / f"mpi_calls.{job.mpi}"], 1, options={"LIBPROFILE_ITERATION": "marker"}, rounds=3)


@test
def what_lammps_loses_is_what_libprofile_says(job):
    compare(job, "lammps", debian_programs.lammps(job, 2000))


@test
def what_quantum_espresso_loses_is_what_libprofile_says(job):
    compare(job, "pw", debian_programs.pw(job, 8))


@test
def what_hpcc_loses_is_what_libprofile_says(job):
    """Most of its calls are polls that find nothing."""
    job.need("hpcc")
    example = Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
    if not example.exists():
        raise Skip(f"{example} is not there")
    lines = example.read_text().splitlines()
    lines[5], lines[7], lines[10], lines[11] = "400", "80", "1", "2"
    job.write("hpccinf.txt", "\n".join(lines) + "\n")
    compare(job, "hpcc", ["hpcc"], rounds=5)


if __name__ == "__main__":
    main()
