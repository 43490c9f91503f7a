"""What holds in every report: sums to the nanosecond, a consistent tree, sane losses."""

import json


def fail(message):
    raise AssertionError("report: " + message)


def equal(actual, expected, what):
    if actual != expected:
        fail(f"{what}: {actual} is not {expected} (difference {actual - expected})"
             if isinstance(actual, int) and isinstance(expected, int) else f"{what}: {actual} is not {expected}")


def totals(group):
    return {metric["name"]: metric["total"] for metric in group["metrics"]}


def check_phase_sums(phase, location, what):
    times = [path["exclusive"]["time"][location] for path in phase["call_paths"]]
    if any(time < 0 for time in times):
        fail(f"{what}: negative time")
    equal(sum(times), phase["wall_ns"][location], f"{what}: sum of the exclusive times and wall_ns")
    if phase["wall_inclusive_ns"][location] < phase["wall_ns"][location]:
        fail(f"{what}: the inclusive wall time is smaller than the exclusive one")


def check_iterations(phase, location, what, complete):
    times = phase["iteration_times"][location]
    count = phase["iterations_per_rank"][location]
    equal(len(times), count, f"{what}: number of iteration times")
    if complete:
        equal(sum(times), phase["wall_inclusive_ns"][location], f"{what}: sum of the iteration times and wall_inclusive_ns")
    elif sum(times) > phase["wall_inclusive_ns"][location]:  # the iteration that ran at a checkpoint has no time of its own
        fail(f"{what}: the iterations took longer than the phase")
    clusters = phase["cluster_profiles"][location]
    equal(len(clusters), phase["clusters_per_rank"][location], f"{what}: number of cluster profiles")
    equal(sum(c["size"] for c in clusters) + phase["unclustered"][location], count, f"{what}: sum of the cluster sizes")
    members = phase["cluster_of_iteration"][location]
    for number, cluster in enumerate(clusters):
        equal(members.count(number), cluster["size"], f"{what}: iterations assigned to cluster {number}")


def check_series(phase, location, what):
    """The values of single iterations add up to those of the clusters, exactly, whatever was merged."""
    series = phase.get("series", [None] * (location + 1))[location]
    if series is None or phase["unclustered"][location] != 0:
        return
    sums = {}
    for cluster in phase["cluster_profiles"][location]:
        for name, value in cluster["metrics"].items():
            sums[name] = sums.get(name, 0) + value
    count = phase["iterations_per_rank"][location]
    for name, values in series.items():
        equal(len(values), count, f"{what}: values of metric {name} in the series")
        if None not in values:
            equal(sum(values), sums.get(name, 0), f"{what}: sum of metric {name} over the series")
    is_whole = all(None not in values for values in series.values())
    for name in set(sums) - set(series) if is_whole else ():
        fail(f"{what}: metric {name} is not in the series")
    for name, metric in phase["accuracy"][location]["metrics"].items():
        if metric["largest_error"] > metric["largest_value"]:
            fail(f"{what}: {name} is off by {metric['largest_error']} of {metric['largest_value']}")


def check_tree(group, what):
    """Ids are unique within a phase and mean the same in all; parents are there."""
    meaning = {}
    for phase in group["phases"]:
        ids = set()
        for path in phase["call_paths"]:
            if path["id"] in ids:
                fail(f"{what}: id {path['id']} twice in phase {phase['name']!r}")
            ids.add(path["id"])
            known = meaning.setdefault(path["id"], (path["parent"], path["name"], path["kind"]))
            equal((path["parent"], path["name"], path["kind"]), known, f"{what}: meaning of id {path['id']}")
        for path in phase["call_paths"]:
            if path["parent"] is not None and path["parent"] not in ids:
                fail(f"{what}: parent {path['parent']} of {path['id']} is not in phase {phase['name']!r}")
    for start in meaning:
        seen, node = set(), start
        while node is not None:
            if node in seen:
                fail(f"{what}: call path {start} is its own ancestor")
            seen.add(node)
            node = meaning[node][0]


def check_metric_tree(group, what):
    """Children of a count or size add up to it; times never exceed that of their parent."""
    total, children = totals(group), {}
    for metric in group["metrics"]:
        if metric["parent"] is not None:
            children.setdefault(metric["parent"], []).append(metric)
    for metric in group["metrics"]:
        below = children.get(metric["name"], [])
        for location, value in enumerate(metric["total"]):
            if value is None:  # a counter that was refused
                continue
            part = sum(child["total"][location] for child in below)
            if below and metric["unit"] != "ns":
                equal(part, value, f"{what}: sum of the children of metric {metric['name']}")
            elif part > value:
                fail(f"{what}: the children of metric {metric['name']} are more than it: {part} > {value}")
    return total


def check_direct_metrics(group, total, what):
    """A metric that call paths carry adds up to its total; a cell of no metric is an error."""
    for location in range(len(total["time"])):
        sums, overhead = {}, 0
        for phase in group["phases"]:
            for path in phase["call_paths"]:
                for name, values in path["exclusive"].items():
                    sums[name] = sums.get(name, 0) + values[location]
                if path["kind"] == "overhead":
                    overhead += path["exclusive"]["time"][location]
        for name, value in sums.items():
            equal(value, total[name][location], f"{what}: sum of the cells of metric {name}, location {location}")
        equal(overhead, total["measurement_overhead"][location], f"{what}: times of (libprofile), location {location}")


def check_group(group, what, complete):
    if not group["metrics"]:
        return
    total = check_metric_tree(group, what)
    for location, wall in enumerate(total["time"]):
        for phase in group["phases"]:
            where = f"{what}, location {location}, phase {phase['name']!r}"
            check_phase_sums(phase, location, where)
            if "iteration_times" in phase:
                check_iterations(phase, location, where, complete)
                check_series(phase, location, where)
        equal(sum(phase["wall_ns"][location] for phase in group["phases"]), wall,
              f"{what}, location {location}: sum of the phases' wall_ns and metric time")
    check_direct_metrics(group, total, what)
    check_tree(group, what)
    equal(group["self"]["ns"], total["measurement_overhead"], f"{what}: self.ns and metric measurement_overhead")


def check_losses(report, repairs, folded):
    losses = report["losses"]
    for name, values in losses["per_rank"].items():
        equal(sum(values), losses[name], f"losses: sum over the ranks of {name}")
        if min(values, default=0) < 0:
            fail(f"losses: negative {name}")
    for name in ("threads_lost", "requests_lost"):
        equal(losses[name], 0, f"losses: {name}")
    if folded is not None and (losses["quota_losses"] > 0) != folded:
        fail(f"losses: {losses['quota_losses']} quota_losses")
    if repairs is not None:
        equal(losses["nesting_repairs"], repairs, "losses: nesting_repairs")
    samples = sum(sum(path["exclusive"].get("samples", [])) for group in (report, report["threads"])
                  for phase in group["phases"] for path in phase["call_paths"])
    if samples > losses["samples_taken"]:
        fail(f"{samples} samples on call paths, but only {losses['samples_taken']} were taken")


def check_report(report, repairs=0, folded=False):
    """`repairs`: how many repaired markers there must be, None for any number. `folded`: whether memory must have run out, None for either."""
    complete = report["job"]["complete"]
    check_group(report, "main threads", complete)
    check_group(report["threads"], "threads", complete)
    check_losses(report, repairs, folded)
    present = [rank for rank in range(report["job"]["ranks"]) if rank not in report["job"]["missing_ranks"]]
    equal(report["job"]["wall_ns"], totals(report)["time"], "job.wall_ns and metric time")
    for rank in present:
        if totals(report)["time"][rank] <= 0:
            fail(f"rank {rank} has no time")


def calls(report, location, phase=None, group=None):
    """MPI function -> visits of one location (a rank, or a thread of group report["threads"])."""
    counts = {}
    for part in (group or report)["phases"]:
        if phase is not None and part["name"] != phase:
            continue
        for path in part["call_paths"]:
            visits = path["exclusive"]["visits"][location]
            if path["kind"] == "mpi" and visits:
                counts[path["name"]] = counts.get(path["name"], 0) + visits
    return counts


def sums(report, location, phase=None):
    """Metric -> sum over the call paths of one rank, without times, visits (and those timed together) and samples, without zeros."""
    found = {}
    for part in report["phases"]:
        if phase is not None and part["name"] != phase:
            continue
        for path in part["call_paths"]:
            for name, values in path["exclusive"].items():
                if name not in ("time", "visits", "visits_timed_together", "samples") and values[location]:
                    found[name] = found.get(name, 0) + values[location]
    return found


def check_log(folder, report, ranks):
    """The report of the program `traffic` against what it logged in a folder."""
    for rank in range(ranks):
        log = json.loads((folder / f"log.{rank}.json").read_text())
        equal(sorted({phase["name"] for phase in report["phases"]}), sorted(log), "phases")
        for phase, logged in log.items():
            where = f"rank {rank}, phase {phase!r}: "
            equal(calls(report, rank, phase), logged["calls"], where + "calls")
            logged_metrics = {name: value for name, value in logged["metrics"].items() if value}
            equal(sums(report, rank, phase), logged_metrics, where + "metrics")
