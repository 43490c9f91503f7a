"""Every iteration's own values: what is exact, what is bounded, and what it takes."""

from harness import expect, expect_equal, main, test


def phase_of(report, name):
    return next(phase for phase in report["phases"] if phase["name"] == name)


@test
def iterations_have_their_own_exact_times(job):
    """The sums are checked in every report (report_checks.py)."""
    for example, arguments, phase_name in (("hydro", [60, 8], "timestep"), ("particles", [120], "timestep")):
        phase = phase_of(job.profile([job.example(example), *arguments]), phase_name)
        for rank, times in enumerate(phase["iteration_times"]):
            own = phase["series"][rank]["time"]  # without the phases inside
            expect(all(a <= b for a, b in zip(own, times)), f"{example}: more time than its iterations have, rank {rank}")
            if example == "hydro":
                expect_equal(own, times, f"times of {example} on rank {rank}")
            accuracy = phase["accuracy"][rank]
            expect_equal(accuracy["iterations_with_cells"], len(times), f"iterations of {example} with call paths")
            time = accuracy["metrics"]["time"]
            expect(time["largest_error"] * 400 <= time["largest_value"], f"{example}, rank {rank}: {time}")
            for name, metric in accuracy["metrics"].items():
                expect(name == "time" or metric["largest_error"] == 0, f"{example}: {name} is not exact: {metric}")


@test
def nested_loops_have_series_of_their_own(job):
    report = job.profile([job.example("solver")])
    for name in ("timestep", "solver"):
        phase = phase_of(report, name)
        expect_equal([len(values["time"]) for values in phase["series"]], phase["iterations_per_rank"], f"iterations of {name}")


@test
def the_error_that_is_asked_for_holds(job):
    for percent in (0, 0.1, 5, 100):
        phase = phase_of(job.profile([job.example("hydro"), 40, 8], options={"LIBPROFILE_ERROR": f"{percent}%"}), "timestep")
        for accuracy in phase["accuracy"]:
            for name, metric in accuracy["metrics"].items():
                expect(metric["largest_error"] * 100 <= percent * metric["largest_value"], f"{percent}%: {name} is {metric}")


@test
def the_reference_method_keeps_clusters_only(job):
    for options in ({"LIBPROFILE_METHOD": "reference", "LIBPROFILE_CLUSTERS": 8}, {"LIBPROFILE_CLUSTERS": "off"}):
        phase = phase_of(job.profile([job.example("hydro"), 40, 8], options=options), "timestep")
        expect_equal(phase["accuracy"], [None, None], f"accuracy with {options}")
        expect_equal(phase["clusters_per_rank"], [8, 8] if "LIBPROFILE_METHOD" in options else [40, 40], "clusters")


@test
def little_memory_thins_the_series_out(job):
    report = job.profile([job.program("pcontrol"), "many_iterations"], options={"LIBPROFILE_MEMORY": "2M"})
    phase = next(p for p in report["phases"] if p["kind"] == "iterations")
    kept = phase["accuracy"][0]["iterations_with_cells"]
    expect(0 < kept < phase["iterations_per_rank"][0], f"{kept} of {phase['iterations_per_rank'][0]} iterations are kept")


if __name__ == "__main__":
    main()
