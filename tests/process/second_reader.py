"""A reader written from docs/format.md alone finds the same in profiles of real jobs as `libprofile report`."""

import json

from harness import Skip, expect, expect_equal, main, read_again, test

THREADS = {"LIBPROFILE_TRACE": "1", "LIBPROFILE_SAMPLE": "1kHz"}


def compare(job, output):
    """Both readers on the profile in the folder `output`."""
    report = job.report(output)
    file = job.folder / output / "profile.lprof"
    again = read_again(job, file)
    expect_equal(read_again(job, file, "--scan"), again, "by directories, and from the beginning to the end")
    expect_equal(again["job"]["ranks"], report["job"]["ranks"], "ranks")
    expect_equal(again["job"]["command"], report["job"]["command"], "command")
    expect_equal([rank["rank"] for rank in again["ranks"]], list(range(report["job"]["ranks"])), "records of ranks")
    for key in ("memory_peak", "bytes_written", "writing_ns"):
        expect_equal([rank[key] for rank in again["ranks"]], report["self"][key], key)
        expect(all(rank[key] > 0 for rank in again["ranks"]), f"{key} of every rank")
    written = sum(rank["bytes_written"] for rank in again["ranks"])
    expect(written < file.stat().st_size, "the ranks wrote more than there is")

    others = [(entry["rank"], entry["thread"]) for entry in report["threads"]["locations"]]
    units = {row["name"]: row["unit"] for row in report["metrics"]}
    groups = {(rank, 0): (report, rank) for rank in range(report["job"]["ranks"])}
    groups.update({key: (report["threads"], at) for at, key in enumerate(others)})
    expect_equal(sorted((entry["rank"], entry["thread"]) for entry in again["locations"]), sorted(groups), "locations")
    compare_partners(again, report["partners"])
    compare_clocks(again, report)
    series = {(one["rank"], one["thread"], one["phase"]): one for one in again["series"]}
    for entry in again["locations"]:
        group, at = groups[entry["rank"], entry["thread"]]
        where = f"rank {entry['rank']}, thread {entry['thread']}"
        totals = {row["name"]: row["total"][at] for row in group["metrics"]}
        expect_equal(entry["wall_ns"], totals["time"], f"{where}: time")
        direct = {}
        for phase in entry["phases"]:
            for name, value in phase["totals"].items():
                direct[name] = direct.get(name, 0) + value
        for name, value in direct.items():
            expect_equal(value, totals[name], f"{where}: {name}")
        phases = {name: phase for phase in group["phases"] for name in phase.get("recorded_as", [phase["name"]])}
        for phase in entry["phases"]:
            compare_phase(phase, phases[phase["name"]], at, units, f"{where}, phase {phase['name']!r}")
            found = series.pop((entry["rank"], entry["thread"], phase["name"]), None)
            if found is not None:
                compare_series(found, phases[phase["name"]]["series"][at], phase, f"{where}, series")
    expect_equal(series, {}, "series without a phase")
    return again


def compare_partners(again, reported):
    def sums(amount):
        return amount["messages"], amount["bytes"]

    mine = [(entry["rank"], entry["thread"], row["direction"], [tuple(partner) for partner in row["partners"]],
             (row["others"], row["other_bytes"]), (row["unknown"], row["unknown_bytes"])) for entry in again["locations"] for row in entry["partners"]]
    other = [(row["rank"], row["thread"], 0 if row["direction"] == "sent" else 1, [(one["rank"], *sums(one)) for one in row["partners"]],
              sums(row["others"]), sums(row["unknown"])) for row in reported["rows"]]
    expect_equal(sorted(mine), sorted(other), "partners of messages")
    expect_equal(sum(entry["partners_lost"] for entry in again["locations"]), reported["lost"], "messages without a partner")


def compare_clocks(again, report):
    """Of ranks on one machine."""
    clocks = again["clocks"]
    expect_equal(len(clocks), report["job"]["ranks"], "clocks")
    expect_equal(len({clock["id"] for clock in clocks} - {0}), 1, "clocks that are one")
    first = min(clock["origin_ns"] for clock in clocks)
    expect_equal([{"begin_ns": clock["origin_ns"] - first, "own_ns": clock["own_ns"], "axis_ns": clock["monotonic_ns"], "uncertainty_ns": 0}
                  for clock in clocks], report["clocks"], "clocks")
    for clock in clocks:
        drift = abs(clock["monotonic_ns"] - clock["own_ns"])
        expect(drift <= 2000 + clock["own_ns"] // 2000, f"both clocks of a rank are {drift} ns apart after {clock['own_ns']} ns")


def compare_phase(again, phase, at, units, where):
    expect_equal((again["wall_ns"], again["wall_inclusive_ns"]), (phase["wall_ns"][at], phase["wall_inclusive_ns"][at]),
                 f"{where}: wall times")
    if again["inside_ns"] is not None:
        expect_equal(again["inside_ns"], again["wall_inclusive_ns"] - again["wall_ns"], f"{where}: time inside")
    sums = {}
    for path in phase["call_paths"]:
        for name, values in path["exclusive"].items():
            sums[name] = sums.get(name, 0) + values[at]
    expect_equal({name: value for name, value in again["totals"].items() if value},
                 {name: value for name, value in sums.items() if value}, f"{where}: sums over call paths")
    if again["kind"] != 2:
        return
    expect_equal(again["iteration_times"], phase["iteration_times"][at], f"{where}: times of iterations")
    expect_equal(again["iteration_begins"], phase["iteration_begins"][at], f"{where}: begins of iterations")
    expect_equal(again["cluster_of_iteration"], phase["cluster_of_iteration"][at], f"{where}: clusters of iterations")
    compare_order(again["order"], phase.get("order", {at: None})[at], phase["iteration_times"][at], where)
    profiles = phase["cluster_profiles"][at]
    expect_equal([(c["size"], c["class"]) for c in again["clusters"]], [(c["size"], c["class"]) for c in profiles],
                 f"{where}: clusters")
    for number, (mine, other) in enumerate(zip(again["clusters"], profiles)):
        for name, value in mine["sums"].items():
            expect_equal(value, other["metrics"].get(name, 0), f"{where}: {name} of cluster {number}")


def compare_order(again, reported, times, where):
    """Sequences of events, with LIBPROFILE_ORDER."""
    if again is None or reported is None:
        return expect_equal(again, reported, f"{where}: order of events")
    expect_equal((again["unnumbered"], again["untimed"]), (reported["unnumbered"], reported["untimed"]), f"{where}: what is not known of the order")
    numbers = again["numbers"] + [0] * (len(times) - len(again["numbers"]))
    expect_equal([number - 1 if number else None for number in numbers], reported["sequence_of_iteration"], f"{where}: sequences of iterations")
    expect_equal([(one["hash"], one["iterations"]) for one in again["sequences"]], [(one["hash"], one["iterations"]) for one in reported["timelines"]],
                 f"{where}: sequences")
    for mine, other in zip(again["sequences"], reported["timelines"]):
        expect_equal(bool(mine["flags"] & 2), other["is_too_long"], f"{where}: too long")
        if not mine["flags"] & 1:
            expect_equal(other["timeline"], None, f"{where}: timeline")
            continue
        expect_equal(len(mine["events"]), len(other["timeline"]), f"{where}: events")
        for event, told in zip(mine["events"], other["timeline"]):
            names = ("phase", "sequence") if event["inner"] is not None else ("name",) if told["kind"] in ("mpi", "openmp") else ()
            for name in names:
                expect_equal(event[name], told[name], f"{where}: {name} of an event")
            for name in ("count", "begin_most", "length_most"):
                expect_equal(event[name], told[name], f"{where}: {name} of an event")
            for name in ("begin", "length"):
                expect(abs(event[name + "_sum"] / mine["iterations"] - told[name]) <= 0.5001, f"{where}: {name}: {event}, {told}")


def compare_series(again, reported, phase, where):
    sums = {name: sum(value for value in values if value is not None) for name, values in reported.items()}
    expect_equal(again["iterations"], phase["instances"], f"{where}: iterations")
    expect_equal(again["sums"], {name: value for name, value in sums.items() if value}, f"{where}: sums over iterations")
    if again["known"] == again["iterations"]:
        expect_equal(again["wall_inclusive_ns"], sum(phase["iteration_times"]), f"{where}: inclusive wall time")


@test
def second_reader_finds_the_same_in_a_job_with_iterations(job):
    result = job.measured([job.example("hydro"), "60", "10"], ranks=2, output="hydro")
    expect_equal(result.code, 0, "exit code")
    again = compare(job, "hydro")
    expect(any(phase["kind"] == 2 for entry in again["locations"] for phase in entry["phases"]), "no iterations")


@test
def second_reader_finds_the_same_order_of_events(job):
    for number, (program, arguments) in enumerate(((job.example("hydro"), ["200", "10"]), (job.program("regions"), []), (job.program("nested"), []))):
        result = job.measured([program, *arguments], output=f"order.{number}", options={"LIBPROFILE_ORDER": 1})
        expect_equal(result.code, 0, "exit code")
        again = compare(job, f"order.{number}")
        orders = [phase["order"] for entry in again["locations"] for phase in entry["phases"] if phase["kind"] == 2 and entry["thread"] == 0]
        expect(len(orders) >= 2 and all(order is not None for order in orders), "an order of each phase")
        expect(any(one["events"] for order in orders for one in order["sequences"]), "timelines")
        hashes = [{one["hash"] for one in order["sequences"]} for order in orders]
        expect(program.name.startswith("nested") or hashes[0] & hashes[len(hashes) // 2], f"ranks that do alike have the same hashes: {hashes}")


@test
def second_reader_finds_the_same_in_a_job_with_threads_and_traces(job):
    result = job.measured([job.program("threads"), "messages"], ranks=2, output="threads", options=THREADS)
    expect_equal(result.code, 0, "exit code")
    again = compare(job, "threads")
    expect(len(again["locations"]) > 2, "no threads")


@test
def second_reader_finds_the_same_long_calls(job):
    result = job.measured([job.program("long_calls"), 10, job.folder], output="calls", options=THREADS)
    expect_equal(result.code, 0, "exit code")
    again = compare(job, "calls")
    traces = json.loads(job.run([job.tool, "report", job.folder / "calls", "--format", "json", "--trace"]).out)["traces"]
    expect_equal(len(traces), 2, "traces")
    for entry, trace in zip(again["locations"], traces):
        waits = trace["waits"]
        expect(len(waits["path"]) >= 10, "no waits")
        rows = zip(*(waits[key] for key in ("begin_ns", "end_ns", "lca_depth", "lca_kind", "after_depth", "after_kind")))
        expect_equal(entry["waits"], {"dropped": waits["dropped"], "longest_dropped_ns": waits["longest_dropped_ns"],
                                      "waits": [[begin, end, 4 * depth + kind, 4 * after + kind_after]
                                                for begin, end, depth, kind, after, kind_after in rows]}, "waits")


@test
def second_reader_finds_the_same_events(job):
    result = job.measured([job.program("nested"), 20], output="events", options={"LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "64k"})
    expect_equal(result.code, 0, "exit code")
    again = compare(job, "events")
    said = json.loads(job.run([job.tool, "report", job.folder / "events", "--format", "json", "--trace"]).out)["events"]
    expect_equal(len(said), 2, "threads with events")
    for entry, mine in zip(said, (location["events"] for location in again["locations"])):
        names = ("stride", "window_ns", "dropped_parts", "too_large", "dropped_events")
        expect_equal({name: mine[name] for name in names}, {name: entry[name] for name in names}, "numbers")
        reasons = {"turn": 1, "slow": 2, "first": 4}
        expect_equal([(part["kind"], part["number"] + part["kind"], part["reasons"], part["begin"], part["end"]) for part in mine["parts"]],
                     [(int(part["kind"] == "iteration"), part["number"],
                       sum(reasons[reason] for reason in part["reasons"]), part["begin_ns"], part["end_ns"]) for part in entry["parts"]], "parts")
        expect_equal([interval[:2] for part in mine["parts"] for interval in part["intervals"]], [list(pair) for pair in zip(entry["begin_ns"], entry["end_ns"])],
                     "intervals")
        columns = [entry["messages"][name] for name in ("direction", "partner", "communicator", "tag", "bytes", "number")]
        expect_equal([message for part in mine["parts"] for message in part["messages"]],
                     [[int(row[0] == "received"), *row[1:]] for row in zip(*columns)], "messages")
        inner = entry["inner"]
        expect_equal([each for part in mine["parts"] for each in part["inner"]],
                     [[begin, end, number - 1] for begin, end, number in zip(inner["begin_ns"], inner["end_ns"], inner["number"])], "inner iterations")
        expect(inner["number"], "there are iterations inside others")


@test
def second_reader_finds_the_loop_of_a_program_without_markers(job):
    result = job.measured([job.program("loops"), "nested", "60", "4000"], ranks=2, output="loops")
    expect_equal(result.code, 0, "exit code")
    again = compare(job, "loops")
    found = job.report("loops")["loops"]
    expect_equal(sorted((loop["recorded_as"], loop["call"]) for loop in found), sorted({(loop["phase"], loop["call"]) for loop in again["loops"]}), "loops")
    expect_equal([loop["ranks"] for loop in found], [[0, 1]] * 2, "their ranks")
    for loop in found:
        one, other = [each for each in again["loops"] if each["phase"] == loop["recorded_as"]]
        expect(one["function"] != 0 and one["function"] == other["function"] and one["caller"] == other["caller"], f"function of the loop: {again['loops']}")
        expect_equal(one["passes"], loop["passes"], "passes from which it was chosen")
        expect_equal(bool(one["around"]), loop["inside"] != "", f"whether it lies in another: {loop}")
    expect(all(0 < loop["first_ns"] < loop["last_ns"] <= loop["searched_ns"] for loop in again["loops"]), f"times: {again['loops']}")


@test
def second_reader_finds_the_same_with_every_iteration_in_full(job):
    result = job.measured([job.example("hydro"), "40", "8"], ranks=2, output="full", options={"LIBPROFILE_CLUSTERS": "off"})
    expect_equal(result.code, 0, "exit code")
    compare(job, "full")


@test
def second_reader_finds_the_iterations_of_a_rank_that_was_killed(job):
    """Those of the snapshot and those of the journal behind it."""
    job.run([*job.launcher(2), *job.preloaded([job.program("mortal"), "kill", 0, 40, job.folder],
                                              {"LIBPROFILE_OUTPUT": job.folder / "killed"})])
    report = job.report("killed")
    loop = next(phase for phase in report["phases"] if phase["name"] == "step")
    for rank in range(2):
        again = read_again(job, job.folder / "killed" / f"rank-{rank}.lprof", "--scan")
        kept = [phase for entry in again["locations"] if entry["thread"] == 0 for phase in entry["phases"] if phase["name"] == "step"]
        before = kept[0]["iteration_times"] if kept else []
        journal = again["journals"][str(rank)]
        expect(len(journal) > 10 and all((one["phase"], one["fate"]) == ("step", 0) for one in journal), f"the journal: {journal}")
        expect_equal(before + [one["wall_ns"] for one in journal], loop["iteration_times"][rank], f"times of rank {rank}")
        expect_equal([one["begin_ns"] for one in journal], loop["iteration_begins"][rank][len(before):], f"begins of rank {rank}")
        for name in ("visits", "p2p_bytes_sent", "collective_exchange"):
            expect_equal([one["sums"].get(name, 0) for one in journal],
                         loop["series"][rank].get(name, [0] * (len(before) + len(journal)))[len(before):], f"{name} of rank {rank}")


@test
def second_reader_finds_the_same_counters(job):
    chosen = ["page_faults", "context_switches", "perf::TASK-CLOCK"]
    result = job.measured([job.program("counters"), "faults", 40, 20], output="counters", options={"LIBPROFILE_METRICS": ",".join(chosen)})
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    again = compare(job, "counters")
    expect_equal([one["name"] for one in again["counters"]], chosen + ["region_" + name for name in chosen], "counters")
    expect(all(one["description"] for one in again["counters"]), "descriptions")
    places = job.report("counters")["places"]
    for mine, other in zip(again["topologies"], places["ranks"]):
        machine = places["machines"][other["machine"]]
        for key in ("model", "memory", "processors", "cores", "packages", "numa_nodes"):
            expect_equal(mine[key], machine[key], f"machine: {key}")
        expect_equal([(one["thread"], one["last"], one["looks"], one["moves"]) for one in mine["threads"]],
                     [(one["thread"], one["last"] + 1, one["looks"], one["moves"]) for one in other["threads"] if one["last"] is not None],
                     f"threads of rank {mine['rank']}")


@test
def second_reader_finds_the_same_in_a_job_of_a_python_script(job):
    if job.run(["/usr/bin/python3", "-c", "import mpi4py, numpy"]).code != 0:
        raise Skip("python3-mpi4py and python3-numpy are not installed")
    job.measured(["/usr/bin/python3", job.source / "tests/programs/python_functions.py", 1], options=THREADS, output="python")
    compare(job, "python")


@test
def second_reader_finds_the_same_regions(job):
    again = None
    for options in ({}, {"LIBPROFILE_CLUSTERS": "off"}, {"LIBPROFILE_METHOD": "reference"}):
        job.profile([job.program("regions")], options=options)
        again = compare(job, f"profile.{job.runs}")
    step = next(phase for phase in again["locations"][0]["phases"] if phase["name"] == "step")
    result = job.measured([job.program("counters"), "regions", 24, 20], output="counted", options={"LIBPROFILE_METRICS": "page_faults"})
    expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
    compare(job, "counted")
    expect(step["totals"]["region_time"] >= 36e6, "the time of 36 visits of at least 1 ms in iterations")


@test
def second_reader_finds_the_same_totals(job):
    keep = ("import sys; sys.path.insert(0, sys.argv[1]); import libprofile; "
            "libprofile._reader.read_frame(sys.argv[2], [], ['all'], False, False, least_kept=0)")
    if job.run(["/usr/bin/python3", "-c", "import numpy"]).code != 0 or not (job.build / "python/libprofile").is_dir():
        raise Skip("the Python module was not built")
    for command, options in (([job.example("hydro"), 40, 8], {}), ([job.program("counters"), "faults", 40, 20], {"LIBPROFILE_METRICS": "page_faults"}),
                             ([job.program("regions")], {})):
        result = job.measured(command, output=f"totals.{job.runs}", options=options)
        expect_equal((result.code, result.complaints), (0, []), "exit code and complaints")
        folder = job.folder / f"totals.{job.runs}"
        job.runs += 1
        result = job.run(["/usr/bin/python3", "-c", keep, job.build / "python", folder])
        expect_equal((result.code, result.all_err), (0, ""), "totals are made")
        found = read_again(job, "--totals", folder)
        expect(found["rows"] > 20 and found["paths"] > 10, f"rows and call paths: {found}")


if __name__ == "__main__":
    main()
