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
    report = job.profile([job.program("pcontrol"), "many_iterations", 40000], ranks=1, options={"LIBPROFILE_MEMORY": "1536K"})
    phase = next(p for p in report["phases"] if p["kind"] == "iterations")
    kept = phase["accuracy"][0]["iterations_with_cells"]
    expect(0 < kept < phase["iterations_per_rank"][0], f"{kept} of {phase['iterations_per_rank'][0]} iterations are kept")
    expect_equal(phase["unclustered"], [0], "iterations outside all clusters")
    time = phase["accuracy"][0]["metrics"]["time"]
    expect(time["largest_error"] * 25 <= time["largest_value"], f"more than 4 % off: {time}")


@test
def a_million_iterations_fit_the_default_memory(job):
    """Every iteration is kept. (That the last ones cost no more than the first is printed, and seen to in benchmarks/run.)"""
    result = job.measured([job.program("pcontrol"), "many_iterations", 1000000], ranks=1, output="million", timeout=170)
    expect_equal(result.code, 0, "exit code")
    second, last = (float(line) for line in result.out.split()[:2])
    size = (job.folder / "million" / "profile.lprof").stat().st_size
    expect(size < 64 * 1000000, f"the file has {size} bytes")
    text = job.run([job.tool, "report", "million"]).out
    expect("MPI calls of every iteration are kept" in text, f"not every iteration is kept: {text}")
    print(f"{size / 1e6:.1f} bytes per iteration, second tenth {second:.3f} s, last {last:.3f} s")


def shown(runs):
    """[[0, 2], [1, 1]] -> "AAB"."""
    return "".join("ABCDEFGH"[kind] * length for kind, length in runs)


@test
def kinds_of_iterations_are_the_same_on_all_ranks(job):
    """Ranks 0 and 1 go through A A B A, the others through A A A A; rank 2 leaves out the last round."""
    # A cluster per structure: with more, a busy machine makes kinds of its own.
    options = {"LIBPROFILE_CLUSTERS": 1, "LIBPROFILE_EQUIVALENCE": "strong"}
    report = job.profile([job.program("kinds"), 10], ranks=4, options=options)
    found = phase_of(report, "step")["kinds"]
    expect_equal([kind["iterations"] for kind in found["kinds"]], [136, 20], "iterations by kind")
    sequences = {tuple(sequence["locations"]): shown(sequence["runs"]) for sequence in found["sequences"]}
    expect_equal(sequences, {(0, 1): "AABA" * 10, (2,): "AAAA" * 9, (3,): "AAAA" * 10}, "sequences")
    alone = phase_of(report, "alone")["kinds"]
    expect_equal([sequence["locations"] for sequence in alone["sequences"]], [[3]], "ranks in the phase of rank 3")
    text = job.run([job.tool, "report", "profile.1"]).out
    expect('Ranks in "step"' in text and "A×2 (B A×3)×9 B A" in text and "rank 3:" in text and "A×40" in text, f"no kinds in {text}")


@test
def the_averages_of_an_earlier_run_are_taken(job):
    job.profile([job.example("hydro"), 40, 8])
    options = {"LIBPROFILE_REFERENCE": "profile.1"}
    job.profile([job.example("hydro"), 40, 8], options=options)
    expect_equal(job.last.complaints, [], "complaints")


@test
def an_earlier_run_that_cannot_be_used_is_reported_once(job):
    (job.folder / "damaged").mkdir()
    (job.folder / "damaged" / "profile.lprof").write_bytes(b"LIBPROF\n" + b"\xff" * 5000)
    for name, reason in (("nowhere", "No such file"), ("damaged", "another version")):
        result = job.measured([job.example("hydro"), 10, 8], options={"LIBPROFILE_REFERENCE": name}, output=f"of_{name}")
        expect_equal(result.code, 0, "exit code")
        expect(len(result.complaints) == 1 and reason in result.complaints[0], f"{result.complaints}")


if __name__ == "__main__":
    main()
