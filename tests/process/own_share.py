#!/usr/bin/python3
"""What libprofile books as its own: the work it did, not the time in which others had its processor."""

from harness import check_exit_line, expect, expect_equal, main, test


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


if __name__ == "__main__":
    main()
