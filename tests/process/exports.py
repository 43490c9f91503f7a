"""Every export read back: the totals of the report, whole and in part, to the nanosecond.

The readers (tests/export/readers) are written from the published descriptions and share no code with the exports. What
they need besides Python is in scripts/packages; without it these tests fail, they are never skipped.
"""

import sys
from pathlib import Path

from harness import expect, expect_equal, main, test

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import caliper, chrome, cubex, extrap, folded, hpctoolkit, pprof, speedscope, tables

COMPARED = ("time", "visits", "bytes")
BY_RANK = ("hpctoolkit", "cubex", "speedscope", "pprof", "csv")
WITH_LINES = BY_RANK
BY_FUNCTION = ("hpctoolkit", "cubex", "pprof", "csv")  # with full names


def measured(job, command, **more):
    """The report of a job, and the name of its folder."""
    report = job.profile(command, **more)
    return report, f"profile.{job.runs}"


def exported(job, profile, name, *options):
    job.runs += 1
    place = job.folder / f"export.{job.runs}.{name}"
    result = job.run([job.tool, "export", job.folder / profile, "--format", name, "--output", place, *options])
    expect_equal(result.code, 0, f"exit code of the export to {name}")
    return place


def read_all(job, profile, locations, *options):
    """By format: what its reader found."""
    metrics = ["--metric", ",".join(COMPARED)]
    place = lambda name, *more: exported(job, profile, name, *options, *more)
    found = {
        "hpctoolkit": hpctoolkit.read(place("hpctoolkit", *metrics)),
        "caliper": caliper.read(place("caliper", *metrics)),
        "cubex": cubex.read(place("cubex", *metrics)),
        "pprof": pprof.read(place("pprof", *metrics)),
        "csv": tables.read(place("csv", *metrics)),
        "extrap": extrap.read(place("extrap", *metrics), locations),
    }
    labels = {"MPI bytes transferred": "bytes", "Call path visits": "visits"}
    reading = speedscope.read(place("speedscope", *metrics))
    for values in (reading.totals, *reading.by_rank.values()):
        for label, metric in labels.items():
            values[metric] = values.pop(label, 0)
    found["speedscope"] = reading
    for metric in COMPARED:
        reading = folded.read(place("folded", "--metric", metric, "--by-rank"), metric, by_rank=True)
        found.setdefault("folded", reading).totals.update(reading.totals)
        expect_equal(folded.read(place("folded", "--metric", metric), metric).totals, reading.totals, "folded stacks with and without ranks")
    return found


def totals_of(report):
    """By metric: the sum over all threads."""
    return {metric: sum(sum(m["total"]) for group in (report, report["threads"]) for m in group["metrics"] if m["name"] == metric)
            for metric in COMPARED}


def check_totals(found, expected):
    for name, reading in found.items():
        expect_equal({m: reading.totals.get(m, 0) for m in COMPARED}, expected, f"totals in {name}")


def functions_of(report):
    """(metric, rank, function): the sum over the rank's threads and over all phases."""
    sums = {}
    parent = {m["name"]: m["parent"] for m in report["metrics"]}
    above = lambda name: name if name is None or name in COMPARED else above(parent[name])
    for group, ranks in ((report, None), (report["threads"], [place["rank"] for place in report["threads"]["locations"]])):
        for phase in group["phases"]:
            for path in phase["call_paths"]:
                for metric, values in path["exclusive"].items():
                    for place, value in enumerate(values if above(metric) else []):
                        key = above(metric), place if ranks is None else ranks[place], path["name"]
                        sums[key] = sums.get(key, 0) + value
    return {key: value for key, value in sums.items() if value != 0}


def check_functions(found, report):
    """Every function's own values, to the nanosecond and byte."""
    expected = functions_of(report)
    expect(len(expected) > 10, f"functions in the report: {expected}")
    for name in BY_FUNCTION:
        other = {key: value for key, value in found[name].by_function.items() if expected.get(key) != value}
        expect(not other and len(found[name].by_function) == len(expected),
               f"functions in {name}: {[(key, value, expected.get(key)) for key, value in other.items()][:9]}, missing: "
               f"{sorted(expected.keys() - found[name].by_function.keys())[:9]}")


def phase_of(report, name):
    return next(phase for phase in report["phases"] if phase["name"] == name)


@test
def every_export_holds_the_totals_of_the_report(job):
    report, profile = measured(job, [job.example("hydro"), 60, 8])
    found = read_all(job, profile, 2)
    check_totals(found, totals_of(report))
    check_functions(found, report)
    by_rank = {m["name"]: m["total"] for m in report["metrics"]}
    for name in BY_RANK:
        for metric in COMPARED:
            expect_equal([found[name].by_rank[rank].get(metric, 0) for rank in (0, 1)], by_rank[metric], f"{metric} by rank in {name}")
    for name, reading in found.items():
        expect({"main", "MPI_Allreduce"} <= reading.names, f"functions in {name}: {sorted(reading.names)}")
    for name in WITH_LINES:
        # A sample in library code that the compiler merged into main without saying so has the library's line.
        file, line = found[name].lines["main"]
        expect(file.endswith(("hydro.cpp", ".h")) and line > 0, f"place of main in {name}: {file}:{line}")
    expect_equal(found["csv"].estimated, 0, "estimates in the whole profile")
    expect_equal(found["extrap"].parameters, {"p": 2}, "parameters for Extra-P")
    expect_equal(found["caliper"].metadata["jobsize"], 2, "metadata for Thicket")
    expect(any(name.startswith("instance=") for name in found["cubex"].names), "iterations in the call tree of Cube")
    callers = found["cubex"].callers
    expect_equal(callers["timestep"], "main", "where the phase is in the call tree of Cube")
    expect(callers[next(name for name in callers if name.startswith("instance="))] == "timestep", "where iterations are in the call tree of Cube")

    phase = phase_of(report, "timestep")
    reading = chrome.read(exported(job, profile, "chrome"), "timestep")
    for rank in (0, 1):
        names = phase["cluster_names"][rank]
        clusters = [names[c] if c < phase["clusters_per_rank"][rank] else None for c in phase["cluster_of_iteration"][rank]]
        expect_equal(reading.iterations[rank], list(zip(phase["iteration_times"][rank], clusters)), f"iterations of rank {rank} in the trace")
        expect_equal(sum(reading.sums[rank].values()), by_rank["time"][rank], f"sums of rank {rank} in the trace")
        waited = sum(value for (metric, where, name), value in functions_of(report).items() if (metric, where, name) == ("time", rank, "MPI_Waitall"))
        expect_equal(reading.sums[rank]["MPI_Waitall"], waited, f"MPI_Waitall of rank {rank} in the trace")
        rows = [row for row in found["csv"].iterations if row["rank"] == str(rank)]
        for metric in COMPARED:
            expect(set(rows[0]) == {"phase", "rank", "thread", "iteration", "cluster", "wall_ns", *COMPARED}, f"columns: {list(rows[0])}")
            expect_equal([int(row[metric]) for row in rows], phase["series"][rank][metric], f"{metric} of the iterations of rank {rank}")


@test
def iterations_in_the_call_tree_add_up_to_every_function(job):
    """More iterations than nodes for them, phases in phases, many functions in few samples, clusters alone, and rough values."""
    for command, options in ((["hydro", 250, 4], {"LIBPROFILE_SAMPLE": "10kHz"}), (["solver", 12], {"LIBPROFILE_SAMPLE": "2kHz"}),
                             (["hydro", 90, 4], {"LIBPROFILE_METHOD": "reference", "LIBPROFILE_CLUSTERS": 4}),
                             (["hydro", 120, 4], {"LIBPROFILE_ERROR": "20%"})):
        report, profile = measured(job, [job.example(command[0]), *command[1:]], options=options)
        found = {name: reader.read(exported(job, profile, name, "--metric", ",".join(COMPARED))) for name, reader in
                 (("hpctoolkit", hpctoolkit), ("cubex", cubex), ("pprof", pprof), ("csv", tables))}
        check_functions(found, report)


@test
def exports_of_iterations_hold_their_totals(job):
    """Of some ranks, too, and where one loop runs inside another."""
    for command, phase_name, first, last in ((["hydro", 60, 8], "timestep", 11, 30), (["solver"], "solver", 3, 3)):
        report, profile = measured(job, [job.example(command[0]), *command[1:]])
        series = phase_of(report, phase_name)["series"]
        for rank in (None, 1):
            chosen = series if rank is None else [series[rank]]
            expected = {m: sum(sum(s.get(m, [0] * last)[first - 1:last]) for s in chosen) for m in COMPARED}
            choice = ["--phase", phase_name, "--iterations", f"{first}:{last}", *([] if rank is None else ["--rank", rank])]
            check_totals(read_all(job, profile, len(chosen), *choice), expected)


@test
def exact_values_of_iterations_are_the_same_in_every_cut(job):
    """Visits of MPI calls are known for every iteration: they do not depend on how iterations are cut."""
    _, profile = measured(job, [job.example("hydro"), 40, 8])
    visits = lambda *choice: {(row["call_path"], row["rank"]): int(row["value"])
                              for row in tables.table(exported(job, profile, "csv", "--metric", "visits", *choice), "values.csv")}
    whole = visits("--phase", "timestep")
    parts = [visits("--iterations", cut) for cut in (":7", "8:8", "9:39", "40:")]
    expect_equal(sum(sum(part.values()) for part in parts), sum(whole.values()), "visits")
    for row in tables.table(exported(job, profile, "csv", "--metric", "visits", "--iterations", "8:20"), "values.csv"):
        expect_equal(row["estimated"], "0", "estimate of visits")


@test
def exports_of_clusters_alone_are_marked_as_estimates(job):
    """Without the values of single iterations, clusters stand for them; the whole stays exact."""
    report, profile = measured(job, [job.example("hydro"), 40, 8], options={"LIBPROFILE_METHOD": "reference", "LIBPROFILE_CLUSTERS": 4})
    reading = tables.read(exported(job, profile, "csv", "--metric", ",".join(COMPARED)))
    expect_equal((reading.totals, reading.estimated), (totals_of(report), 0), "the whole")
    part = tables.read(exported(job, profile, "csv", "--metric", "time", "--iterations", "5:20"))
    times = [sum(times[4:20]) for times in phase_of(report, "timestep")["iteration_times"]]
    expect(part.estimated > 0, "marks of estimates")
    expect(0 < part.totals["time"] < 4 * sum(times), f"{part.totals['time']} ns for iterations of {times} ns")


@test
def exports_hold_every_thread(job):
    """Rank 0 and rank 1 have several threads; formats that know a grid only get one."""
    report, profile = measured(job, [job.program("threads"), "messages"])
    locations = 2 + len(report["threads"]["locations"])
    expect(locations > 2, "threads in the report")
    found = read_all(job, profile, locations)
    check_totals(found, totals_of(report))
    check_functions(found, report)
    result = job.run([job.tool, "export", job.folder / profile, "--format", "chrome"])
    expect_equal(result.code, 0, "exit code without iterations")
    expect("there are no iterations" in result.all_err, f"message: {result.all_err}")


@test
def exports_overwrite_nothing_and_explain_themselves(job):
    _, profile = measured(job, [job.example("hydro"), 10, 8])
    place = job.write("taken.folded", "mine")
    export = lambda *options: job.run([job.tool, "export", job.folder / profile, *options])
    for options, code, words in (
            (["--format", "folded", "--output", place], 1, "already exists"),
            (["--format", "folded", "--output", job.folder / "no" / "folder"], 1, "cannot write"),
            (["--format", "hpctoolkit", "--output", job.folder / "no" / "folder"], 1, "cannot write"),
            (["--format", "hatchet"], 2, "formats: hpctoolkit"),
            ([], 2, "needs a --format"),
            (["--format", "csv", "--output", "-"], 2, "--output"),
            (["--format", "csv", "--metric", "tim"], 1, 'no metric "tim"'),
            (["--format", "csv", "--rank", "5"], 1, "no data of rank 5"),
            (["--format", "csv", "--rank", "x"], 2, "--rank x"),
            (["--format", "csv", "--iterations", "0:3"], 2, "counted from 1"),
            (["--format", "csv", "--iterations", "30:40"], 1, "nothing was measured"),
            (["--format", "csv", "--phase", "nothing"], 1, 'no phase "nothing"'),
            (["--format", "folded", "--metric", "time,visits"], 1, "one metric"),
            (["--format", "extrap", "--set", "size=big"], 1, "numbers")):
        result = export(*options)
        expect_equal(result.code, code, f"exit code with {options}")
        expect(words in result.all_err and len(result.all_err.splitlines()) == 1, f"message with {options}: {result.all_err}")
    expect_equal(place.read_text(), "mine", "the file that was there")
    expect(not list(job.folder.glob("*.partial*")), "leftovers")
    first, second = (export("--format", "cubex", "--output", job.folder / name) for name in ("a.cubex", "b.cubex"))
    expect_equal((first.code, second.code), (0, 0), "exit codes")
    expect_equal((job.folder / "a.cubex").read_bytes(), (job.folder / "b.cubex").read_bytes(), "the same profile, written twice")
    expect_equal(export("--format", "folded", "--output", "-").out.count("\n") > 3, True, "stacks on standard output")


if __name__ == "__main__":
    main()
