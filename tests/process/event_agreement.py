#!/usr/bin/python3
"""Programs of Debian, as they are: the timeline, its states and every export have the times of `libprofile report`, to the nanosecond. Without samples, whose
cost the report takes out of the calls that they hit. What is left out of a trace (docs/limits.md) is in no comparison: polls that found nothing, and idle
threads of GCC's runtime."""

import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "view"))
from readers import chrome
from served import Served

from debian_programs import lammps, superlu_dist, water
from event_exports import check_paraver, check_perfetto, exported, row_name
from events import EVENTS, check_archive, events_of
from harness import expect, expect_equal, main, test
from tasks import rows

WHOLE = {**EVENTS, "LIBPROFILE_TRACE_MEMORY": "64M", "LIBPROFILE_SAMPLE": "off"}
POLLS = ("MPI_Test", "MPI_Iprobe", "MPI_Improbe", "MPI_Request_get_status")
METRICS = {"point_to_point": "mpi_point_to_point_communication", "collective": "mpi_collective_communication", "synchronization": "mpi_synchronization",
           "omp_barrier": "openmp_barrier"}


def measured(job, command, ranks, env=None, **options):
    job.profile(command, ranks, options={**WHOLE, **options}, env=env)
    folder = f"profile.{job.runs}"
    entries, names, report = events_of(job, folder)
    for place, entry in entries.items():
        expect_equal((entry["stride"], entry["dropped_events"]), (1, 0), f"all events of {place} are there")
    return folder, entries, names, report


def of_place(report, place):
    """The phases that have a thread's numbers, and where in them they are."""
    if place[1] == 0:
        return report["phases"], place[0]
    threads = report["threads"]
    return threads["phases"], threads["locations"].index({"rank": place[0], "thread": place[1]})


def is_wait(path):
    return path["kind"] in ("mpi", "openmp") and path["name"] not in ("omp parallel", "omp idle") and not path["name"].startswith(POLLS)


def own_times(entry, paths):
    """By phase (of the part in which it ends) and call path: ns in calls and waits, without calls and tasks inside them. And the call paths with tasks inside."""
    found, with_tasks, at = defaultdict(Counter), set(), 0
    items = [(begin, -end, 1, None, None) for begin, end in rows(entry["tasks"]["runs"], "begin_ns", "end_ns")] if "tasks" in entry else []
    for part in entry["parts"]:
        phase = part["phase"] if part["kind"] == "iteration" else 0
        for i in range(at, at + part["intervals"]):
            path = entry["path"][i]
            if paths[path]["kind"] in ("mpi", "openmp") and paths[path]["name"] != "omp parallel":
                items.append((entry["begin_ns"][i], -entry["end_ns"][i], -i, path, phase))
        at += part["intervals"]
    around = []
    for begin, end, _, path, phase in sorted(items, key=lambda one: one[:3]):
        end = -end
        while around and around[-1][0] <= begin:
            around.pop()
        if path is not None:
            found[phase][path] += end - begin
        if around and around[-1][1] is not None:
            found[around[-1][2]][around[-1][1]] -= end - begin
            with_tasks |= {around[-1][1]} if path is None else set()
        around.append((end, path, phase))
    return found, with_tasks


def check_report(entries, report, by_phase=False):
    """Sums by call path, of all or of each phase. (The first iterations of a loop that was found lie in windows of the trace.) What libprofile itself does before a task begins and after it ends
    is in no number of the report but its own: in events it is a part of the wait around."""
    paths = {path["id"]: path for group in (report, report["threads"]) for phase in group.get("phases", []) for path in phase["call_paths"]}
    compared = 0
    for place, entry in entries.items():
        phases, column = of_place(report, place)
        found, with_tasks = own_times(entry, paths)
        totals = {metric["name"]: metric["total"] for metric in (report if place[1] == 0 else report["threads"])["metrics"]}
        own_cost = 0
        for numbers in [[number] for number in range(len(phases))] if by_phase else [range(len(phases))]:
            expected, own = Counter(), Counter()
            for number in numbers:
                expected.update({path["id"]: path["exclusive"]["time"][column] for path in phases[number]["call_paths"]
                                 if is_wait(path) and path["exclusive"].get("time")})
                own.update({path: ns for path, ns in found[number].items() if is_wait(paths[path])})
            expected, own = ({path: ns for path, ns in sums.items() if ns} for sums in (expected, own))
            for path in with_tasks & own.keys() & expected.keys():
                cost = own[path] - expected[path]
                expect(cost >= 0, f"{place}: {paths[path]['name']} has {own[path]} ns between its tasks in events, and {expected[path]} in the report")
                own_cost += cost
                own[path] = expected[path]
            differing = sorted((paths[path]["name"], own.get(path, 0), expected.get(path, 0)) for path in own.keys() | expected.keys()
                               if own.get(path) != expected.get(path))
            expect_equal(differing, [], f"{place}, phases {[phases[number]['name'] for number in numbers]}: calls whose times differ (events, report)")
            compared += len(own)
        expect(own_cost <= totals["measurement_overhead"][column], f"{place}: waits with tasks differ by {own_cost} ns, more than libprofile took")
    return compared


def check_exports(job, folder, entries, names):
    check_perfetto(job, folder, entries, names)
    check_paraver(job, folder, entries, names)
    trace = chrome.read(exported(job, folder, "chrome"), "")
    for rank, events in trace.events.items():
        calls = Counter((names[path], end - begin) for place, entry in entries.items() if place[0] == rank
                        for begin, end, path in zip(entry["begin_ns"], entry["end_ns"], entry["path"]))
        found = Counter((name, ns) for _, ns, name in events)
        expect_equal(calls - found, Counter(), f"calls of {row_name((rank, 0))} in Chrome JSON")


def check_page(job, folder, entries, report, states):
    """The columns of the page, and sums of its states, which its statistics are made of."""
    with Served(job.tool, str(job.folder / folder)) as served:
        header = served.header()
        events = header["events"]
        begins, lengths, kinds = (served.numbers(events["intervals"][name]) for name in ("begins", "lengths", "states"))
    keys, at = [state["key"] for state in events["states"]], 0
    totals = {metric["name"]: metric["total"] for metric in report["metrics"]}
    for location, count in enumerate(events["rows"]["intervals"]):
        place = header["locations"]["rank"][location], header["locations"]["thread"][location]
        if count == 0:
            continue
        now, calls, sums = 0, [], Counter()
        for gap, length, kind in zip(begins[at:at + count], lengths[at:at + count], kinds[at:at + count]):
            now += gap
            calls.append((now, now + length))
            if kind < len(keys):
                sums[keys[kind]] += length
        at += count
        expect_equal(sorted(calls), sorted(zip(entries[place]["begin_ns"], entries[place]["end_ns"])), f"calls of {place} in the page")
        for state in states if place[1] == 0 else ():
            expect_equal(sums[state], totals[METRICS[state]][place[0]], f"time of {place} in state {state} in the page, and {METRICS[state]} of the report")


@test
def an_mpi_program_of_debian_has_the_times_of_its_report_everywhere(job):
    """LAMMPS. An iteration begins with a function that is called in each time step."""
    folder, entries, names, report = measured(job, lammps(job, 40), 2, LIBPROFILE_ITERATION="LAMMPS_NS::Neighbor::decide")
    kept = [part for part in entries[0, 0]["parts"] if part["kind"] == "iteration"]
    expect(len(kept) >= 40, f"{len(kept)} kept iterations")
    expect(check_report(entries, report, by_phase=True) > 100, "call paths were compared")
    check_exports(job, folder, entries, names)
    check_archive(job, folder, entries, names)
    check_page(job, folder, entries, report, ("point_to_point", "collective", "synchronization"))


@test
def a_hybrid_program_of_debian_has_the_times_of_its_report_everywhere(job):
    """GROMACS, with two threads in each rank."""
    folder, entries, names, report = measured(job, water(job, 10), 2, env={"OMP_NUM_THREADS": 2})
    expect({thread for _, thread in entries} >= {0, 1}, f"threads: {sorted(entries)}")
    expect(check_report(entries, report) > 300, "call paths were compared")
    check_exports(job, folder, entries, names)
    check_page(job, folder, entries, report, ("point_to_point", "collective", "synchronization"))


@test
def a_task_program_of_debian_has_the_times_of_its_report_everywhere(job):
    """SuperLU_DIST factorizes a matrix with tasks of OpenMP in two ranks."""
    folder, entries, names, report = measured(job, superlu_dist(job, 2), 2, env={"OMP_NUM_THREADS": 2})
    expect(check_report(entries, report) > 300, "call paths were compared")
    check_exports(job, folder, entries, names)
    check_page(job, folder, entries, report, ())
    printed = job.run([job.tool, "report", job.folder / folder, "--tasks", "--format", "json"])
    expect_equal(printed.code, 0, f"exit code: {printed.all_err}")
    of_tasks = json.loads(printed.out)
    for rank in range(2):
        created, over, own = set(), set(), Counter()
        for place, entry in entries.items():
            if place[0] != rank:
                continue
            created |= set(entry["tasks"]["number"])
            over |= {task for task, is_over in rows(entry["tasks"]["runs"], "task", "is_over") if is_over}
            waits = [(begin, end, None) for begin, end, path in zip(entry["begin_ns"], entry["end_ns"], entry["path"])
                     if names[path].startswith("omp ") and names[path] != "omp parallel"]
            around = []
            for begin, end, task in sorted([*rows(entry["tasks"]["runs"], "begin_ns", "end_ns", "task"), *waits], key=lambda one: (one[0], -one[1])):
                while around and around[-1][0] <= begin:
                    around.pop()
                if task is not None:
                    own[task] += end - begin
                if around and around[-1][1] is not None:
                    own[around[-1][1]] -= end - begin
                around.append((end, task))
        expect(len(created) > 100, f"{len(created)} tasks of rank {rank}")
        types = [row for row in of_tasks["types"] if row["rank"] == rank and row["kind"] == "all"] or [row for row in of_tasks["types"] if row["rank"] == rank]
        expect_equal((sum(row["tasks"] for row in types), sum(row["time"] for row in types)),
                     (len(created & over), sum(own[task] for task in created & over)), f"tasks of rank {rank}, and their own time (report, events)")


if __name__ == "__main__":
    main()
