#!/usr/bin/python3
"""OpenMP: the work of every thread is below the region that gave it, waits have exact times, and the program runs as without.

Programs are compiled by GCC (libgomp, interposed) and, where clang and libomp are installed, by clang (OMPT).
"""

import math
import re
import shutil

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls, totals

OPENMP = {"OMP_NUM_THREADS": 2}
MODES = (("regions", 5), ("empty", 100), ("waits", 3), ("nested", 3), ("tasks", 12), ("inner_tasks", 12), ("copyprivate", 3), ("taskloop", 12), ("teams", 9), ("deep", 3), ("schedules", 2), ("alone", 5), ("coroutine", 3), ("late", 5), ("leaves", 1),
         ("tested", 2), ("doubtful", 2), ("again", 2), ("loops", 10))


def compilers(job):
    """Names of the test program as each compiler made it."""
    found = ["openmp_gcc", "openmp_clang"]
    present = [name for name in found if (job.programs / name).exists()]
    expect("openmp_gcc" in present, "no test program")
    if "openmp_clang" not in present:
        print("clang or libomp is not installed: OMPT is not tested")
    return present


def profile(job, program, *words, threads=2, sample=1000, **settings):
    job.runs += 1
    output = job.folder / f"profile.{job.runs}"
    options = {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": output, "LIBPROFILE_SAMPLE": sample, **settings}
    result = job.run(job.preloaded([job.programs / program, *words], options), env={"OMP_NUM_THREADS": threads, "SAY_BEYOND": 1})
    expect_equal(result.code, 0, "exit code")
    return {**job.report(output), "beyond": beyond(result.out)}


def beyond(text):
    """What the work of a program, all together, took more of processor time than it is said to take."""
    return sum(int(ns) for ns in re.findall(r"beyond (\d+) ns", text))


def paths(group, location, metric, phases=None):
    """Path (names from the outermost) -> value, of one location."""
    return of_paths(group, phases, lambda path: path["exclusive"].get(metric, [0] * 99)[location])


def squared_errors(group, location):
    """Path -> the square of what is said to be half of the 95 % interval of its time."""
    return of_paths(group, None, lambda path: path.get("sampling_error", [0] * 99)[location] ** 2)


def of_paths(group, phases, of_path):
    values = {}
    for phase in group["phases"]:
        if phases is not None and phase["name"] not in phases:
            continue
        known = {path["id"]: path for path in phase["call_paths"]}
        for path in phase["call_paths"]:
            value = of_path(path)
            if not value:
                continue
            names, node = [], path
            while node is not None:
                names.insert(0, node["name"])
                node = known.get(node["parent"])
            values[tuple(names)] = values.get(tuple(names), 0) + value
    return values


def events(group, location, metric):
    """OpenMP construct -> value, over all call paths."""
    sums = {}
    for phase in group["phases"]:
        for path in phase["call_paths"]:
            value = path["exclusive"].get(metric, [0] * 99)[location]
            if path["kind"] == "openmp" and value:
                sums[path["name"]] = sums.get(path["name"], 0) + value
    return sums


def is_off(path):
    """Others had the processor, or the thread waited for something that is no construct of OpenMP."""
    return path[-1].startswith("(off CPU")


def inside(values, *names):
    """Sum over the paths that have these names, in this order, but for what is waited for there."""
    total = 0
    for path, value in values.items():
        at = -1
        for name in names:
            at = next((i for i in range(at + 1, len(path)) if path[i].startswith(name)), None)
            if at is None:
                break
        if at is not None and "barrier" not in path[-1] and not is_off(path):
            total += value
    return total


def about(value, expected, what, tolerance=0.25, beyond=0):
    expect((1 - tolerance) * expected <= value <= (1 + tolerance) * expected + 1.1 * beyond, f"{what}: {value / 1e6:.1f} ms, not about {expected / 1e6:.1f} ms (and {beyond / 1e6:.1f} ms beyond)")


@test
def work_of_workers_is_below_the_region_that_gave_it(job):
    """Two places call the same function with a region: thread t works 4 (t + 1) ms for one, twice that for the other."""
    for program in compilers(job):
        report = profile(job, program, "regions", 20)
        threads = report["threads"]
        expect_equal(len(threads["locations"]), 1, "threads")
        for group, share in ((report, 1), (threads, 2)):
            times, squares = paths(group, 0, "time"), squared_errors(group, 0)
            about(inside(times, "main", "busy_region", "omp parallel", "work"), 240e6 * share, f"{program}: thread {share}", beyond=report["beyond"])
            for place, factor in (("first_place", 1), ("second_place", 2)):
                names = ("main", place, "busy_region", "omp parallel", "work")
                expected = 80e6 * factor * share
                error = math.sqrt(inside(squares, *names))
                about(inside(times, *names), expected, f"{program}: {place} on thread {share}", max(0.25, error / expected), report["beyond"])
        for group in (report, threads):
            for path in paths(group, 0, "time"):
                expect(len(path) == 1 or path[0] in ("main", "(partial)"), f"{program}: a path begins with {path}")
                below = path[path.index("omp parallel"):] if "omp parallel" in path else ()
                expect(not any("gomp" in name.lower() or "kmp" in name for name in below), f"{program}: the runtime's own frames in {path}")
        visits = paths(report, 0, "visits")
        for place in ("first_place", "second_place"):
            found = {path[-1]: value for path, value in visits.items() if place in path}
            expect_equal(found, {"omp parallel": 20, "omp implicit barrier": 20}, f"{program}: visits below {place}")
        expect_equal(events(threads, 0, "visits"), {"omp implicit barrier": 40}, f"{program}: visits of the worker")


@test
def workers_have_the_iterations_of_the_main_thread(job):
    for program in compilers(job):
        report = profile(job, program, "regions", 40)
        phase = next(phase for phase in report["threads"]["phases"] if phase["name"] == "step")
        expect_equal(phase["iterations_per_rank"], [40], f"{program}: iterations of the worker")
        # 8 and 16 ms of work in each, and the waits between, take about what the iteration of the main thread takes.
        own = next(phase for phase in report["phases"] if phase["name"] == "step")
        mine, theirs = own["iteration_times"][0], phase["iteration_times"][0]
        for i in range(1, 40):
            expect(abs(theirs[i] - mine[i]) < 0.5 * mine[i] + 2e6, f"{program}: iteration {i} takes {theirs[i]} ns and {mine[i]} ns")
        inside_step = sum(value for path, value in paths(report["threads"], 0, "time", ["step"]).items() if "omp parallel" in path and "omp" not in path[-1] and not is_off(path))
        everywhere = sum(value for path, value in paths(report["threads"], 0, "time").items() if "omp parallel" in path and "omp" not in path[-1] and not is_off(path))
        expect(inside_step > 0.95 * everywhere, f"{program}: {inside_step} ns of {everywhere} ns of the worker's work are in iterations")


@test
def waits_have_their_visits_and_time(job):
    for program in compilers(job):
        report = profile(job, program, "waits", 10)
        threads = report["threads"]
        for group, is_worker in ((report, False), (threads, True)):
            visits = events(group, 0, "visits")
            # The barriers behind the loop and the single construct are called like the explicit one in GCC's code; libomp tells.
            barriers = {"omp barrier": 30, "omp implicit barrier": 1} if "gcc" in program else {"omp barrier": 10, "omp implicit barrier": 21}
            expected = {**barriers, "omp critical": 10, "omp lock": 10, "omp single": 10}
            expect_equal({name: visits.get(name) for name in expected}, expected, f"{program}: visits, worker: {is_worker}")
        about_all = {name: events(report, 0, "time").get(name, 0) + events(threads, 0, "time").get(name, 0) for name in expected}
        worker_waits = events(threads, 0, "time")["omp barrier"]
        expect(worker_waits > 20e6, f"{program}: the worker waited {worker_waits} ns for 10 times 4 ms of work")
        expect(about_all["omp critical"] + about_all["omp lock"] > 5e6, f"{program}: waiting for critical sections and locks: {about_all}")
        table = totals(threads)
        expect_equal(table["openmp"][0], sum(events(threads, 0, "time").values()), f"{program}: metric openmp of the worker")
        for name in ("openmp_barrier", "openmp_lock"):
            expect(table[name][0] + totals(report)[name][0] > 0, f"{program}: metric {name} is empty")


@test
def waiting_is_no_computation(job):
    """The worker of the second region spins or sleeps for as long as the main thread works alone."""
    for program in compilers(job):
        for policy in ("active", "passive"):
            job.runs += 1
            output = job.folder / f"profile.{job.runs}"
            options = {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": output, "OMP_WAIT_POLICY": policy}
            result = job.run(job.preloaded([job.programs / program, "waits", 10], options), env={**OPENMP, "SAY_BEYOND": 1})
            report = {**job.report(output), "beyond": beyond(result.out)}
            compute = sum(value for path, value in paths(report["threads"], 0, "time").items()
                          if not path[-1].startswith(("omp", "(off CPU", "(libprofile)")))
            about(compute, 10 * (0.1 + 1 + 1 + 1) * 1e6, f"{program}, {policy}: computation of the worker", 0.7, beyond=report["beyond"])


@test
def tasks_are_work_wherever_they_run(job):
    for program in compilers(job):
        for mode in ("tasks", "taskloop", "inner_tasks"):
            report = profile(job, program, mode, 60)
            place = [f"mode_{mode}"] if mode != "inner_tasks" else [] # a tail call
            done = sum(inside(paths(group, 0, "time"), "main", *place, "omp parallel", "one_task") for group in (report, report["threads"]))
            about(done, 60 * 2e6, f"{program}: work in {mode}", beyond=report["beyond"])
            expect("waits of OpenMP not counted separately" not in str(report["losses"]["sentences"]), f"{program}, {mode}: {report['losses']}")


@test
def who_has_something_for_all_waits_for_them(job):
    for program in compilers(job):
        report = profile(job, program, "copyprivate", 20)
        waits = sum(value for group in (report, report["threads"]) for path, value in paths(group, 0, "time").items() if path[-1].endswith("barrier"))
        expect(waits > 0.6 * 20 * 8e6, f"{program}: {waits / 1e6:.1f} ms in barriers, of about 160 ms")


def time_at_end_of_lone_region(report):
    """Of the region that has a barrier inside, too: mode `alone` has two at one place of the call tree, which only this tells apart."""
    found = []
    for phase in report["phases"]:
        known, with_barrier = {path["id"]: path for path in phase["call_paths"]}, set()
        for path in phase["call_paths"]:
            if path["name"] == "omp barrier":
                while path["name"] != "omp parallel":
                    path = known[path["parent"]]
                with_barrier.add(path["id"])
        found += [path["exclusive"].get("time", [0])[0] for path in phase["call_paths"]
                  if path["name"] == "omp implicit barrier" and path["parent"] in with_barrier]
    expect_equal(len(found), 1, "barriers at the end of such a region")
    return found[0]


@test
def a_team_of_one_waits_for_nobody(job):
    """Its barriers are visited and take no time, the tasks that it makes are work, and meanwhile the worker of the other region is idle."""
    for program in compilers(job):
        report = profile(job, program, "alone", 20)
        expect_equal(openmp_losses(report), {}, f"{program}: losses")
        visits = events(report, 0, "visits")
        expect_equal({name: visits.get(name) for name in ("omp parallel", "omp implicit barrier", "omp barrier", "omp lock")},
                     {"omp parallel": 40, "omp implicit barrier": 40, "omp barrier": 20, "omp lock": 20}, f"{program}: visits")
        times = events(report, 0, "time")
        expect_equal(times.get("omp barrier", 0), 0, f"{program}: time in the barrier of one thread")
        if "gcc" in program:  # libomp does not say whether a lock is free
            expect_equal(times.get("omp lock", 0), 0, f"{program}: time for the lock that is free")
        expect_equal(time_at_end_of_lone_region(report), 0, f"{program}: time in the barrier at the end of a region of one thread")
        # If tasks of a team of one were waiting it would be 3 ms a pass. More than 5 ms are no fault: a busy machine has to start threads, too.
        done = sum(value for path, value in paths(report, 0, "time").items() if path[-1] != "omp implicit barrier" and not is_off(path) and "mode_alone" in path)
        expect(done > 0.8 * 20 * (1 + 2 + 2) * 1e6, f"{program}: computing of the main thread: {done / 1e6:.1f} ms")
        found = profile(job, program, "alone", 20, sample=0)["call_paths_found"]
        expect_equal((found["paths_bridged"], found["marks_lost"]), (0, 0), f"{program}: walks that begin in a frame which is gone")
        idle = events(report["threads"], 0, "time").get("omp idle", 0)
        expect(idle > 0.5 * 20 * 4e6, f"{program}: the worker was idle for {idle / 1e6:.1f} ms")


@test
def nested_regions_are_below_each_other(job):
    for program in compilers(job):
        report = profile(job, program, "nested", 20)
        inner = outer = 0
        for group, count in ((report, 1), (report["threads"], len(report["threads"]["locations"]))):
            for location in range(count):
                for path, value in paths(group, location, "time").items():
                    if "work" not in path or is_off(path):
                        continue
                    inner += value if path.count("omp parallel") == 2 else 0
                    outer += value if path.count("omp parallel") == 1 else 0
        about(inner, 20 * 4 * 4e6, f"{program}: work in the inner regions", beyond=report["beyond"])
        about(outer, 20 * 2 * 4e6, f"{program}: work in the outer regions", 0.4, beyond=report["beyond"])


def runs_as_without(job, program, modes):
    for mode, count in modes:
        for threads in (1, 2, 4):
            command = [job.programs / program, mode, count]
            env = {"OMP_NUM_THREADS": threads}
            plain = job.run(command, env=env)
            for options in ({"LIBPROFILE_MPI": "no"}, {}, {"LIBPROFILE_MPI": "no", "LIBPROFILE_START": "off"}, {"LIBPROFILE_MPI": "no", "LIBPROFILE_CALLPATHS": 0}):
                job.runs += 1
                options = {"LIBPROFILE_OUTPUT": job.folder / f"profile.{job.runs}", **options}
                seen = job.run(job.preloaded(command, options), env=env)
                expect_equal((seen.code, seen.out, seen.err), (plain.code, plain.out, plain.err), f"{program} {mode}, {threads} threads, {options}")
                expect_equal(seen.complaints, [], "complaints")
                if (job.folder / f"profile.{job.runs}").exists():
                    job.report(f"profile.{job.runs}")


# Hundreds of runs: in parts, each of which is far from its time limit also on a slow machine.
@test
def programs_run_as_without(job):
    for program in compilers(job):
        runs_as_without(job, program, MODES[0::3])


@test
def more_programs_run_as_without(job):
    for program in compilers(job):
        runs_as_without(job, program, MODES[1::3])


@test
def still_more_programs_run_as_without(job):
    for program in compilers(job):
        runs_as_without(job, program, MODES[2::3])


@test
def threads_of_hybrid_programs_have_their_calls_and_regions(job):
    program = job.program("openmp")
    if not program.exists():
        raise Skip("no test program")
    report = job.profile([program, "hybrid", 20], env={**OPENMP, "SAY_BEYOND": 1}, options={"LIBPROFILE_SAMPLE": 1000})
    report["beyond"] = beyond(job.last.out)
    # Four threads that spin share the processors. Times would say what they waited for a processor; samples, one in 1 ms, say what they used.
    worked = lambda group, location: 1e6 * inside(paths(group, location, "samples"), "main", "omp parallel", "work")
    threads = report["threads"]
    workers = [number for number in range(len(threads["locations"])) if calls(report, number, group=threads)]
    expect_equal(sorted(threads["locations"][number]["rank"] for number in workers), [0, 1], "ranks of the workers")
    for rank in range(2):
        expect_equal(calls(report, rank)["MPI_Sendrecv"], 20, f"messages of main thread {rank}")
        about(worked(report, rank), 20e6 * (rank + 1), f"work of main thread {rank}", 0.4, beyond=report["beyond"])
    for number in workers:
        expect_equal(calls(report, number, group=threads), {"MPI_Sendrecv": 20}, "calls of a worker")
        for path in paths(threads, number, "visits"):
            expect(path[-1] != "MPI_Sendrecv" or ("main" == path[0] and "omp parallel" in path), f"a call of a worker at {path}")
        rank = threads["locations"][number]["rank"]
        about(worked(threads, number), 20e6 * (rank + 1), "work of a worker", 0.4, beyond=report["beyond"])
        phase = next(phase for phase in threads["phases"] if phase["name"] == "step")
        expect_equal(phase["iterations_per_rank"][number], 20, "iterations of a worker")


def openmp_losses(report):
    """Kind -> count, of what is said about OpenMP."""
    return {loss["kind"]: loss["count"] for loss in report["losses"]["sentences"] if loss["kind"].startswith("openmp")}


def computing(group, location=0):
    return sum(value for path, value in paths(group, location, "time").items() if not path[-1].startswith(("omp", "(off CPU", "(libprofile)")))


@test
def nothing_is_lost_of_usual_programs(job):
    for program in compilers(job):
        for mode, count in (("regions", 5), ("waits", 5), ("nested", 5), ("tasks", 20), ("teams", 20)):
            expect_equal(openmp_losses(profile(job, program, mode, count)), {}, f"{program} {mode}: losses")


@test
def regions_that_are_nested_too_deep_are_counted(job):
    for program in compilers(job):
        report = profile(job, program, "deep", 5, threads=1)
        expect_equal(openmp_losses(report), {"openmp_regions_refused": 5 * 4}, f"{program}: 16 of 20 levels are kept")
        deepest = max(path.count("omp parallel") for path in paths(report, 0, "visits"))
        expect_equal(deepest, 17, f"{program}: the encounter itself is counted on the level where there is no more")


@test
def workers_of_a_region_that_is_refused_do_not_wait(job):
    """Where the master is on a foreign stack its region cannot be measured. What the worker does in it is computing all the same."""
    for program in compilers(job):
        report = profile(job, program, "coroutine", 20)
        expect_equal(openmp_losses(report), {"openmp_regions_refused": 20}, f"{program}: refused regions")
        about(computing(report["threads"]), 20 * 8e6, f"{program}: computing of the worker", 0.5, beyond=report["beyond"])


@test
def phases_that_workers_did_not_see_are_counted(job):
    for program in compilers(job):
        report = profile(job, program, "late", 10)
        check_phases_missed(report, 3000, program)
        phase = next(phase for phase in report["threads"]["phases"] if phase["name"] == "step")
        expect(500 < phase["iterations_per_rank"][0] < 525, f"{program}: the worker has {phase['iterations_per_rank'][0]} iterations")
    if job.program("openmp").exists():
        options = {"LIBPROFILE_SAMPLE": 1000, "LIBPROFILE_MEMORY": "3M"}  # with little memory a loop is settled on soon
        report = job.profile([job.program("openmp"), "unmarked", 10], ranks=1, env=OPENMP, options=options)
        check_phases_missed(report, 6000, "a loop that was found")


def check_phases_missed(report, all_of_them, what):
    """Of that many beginnings and ends of iterations, whether they were marked or found, the last 1024 are kept."""
    missed = openmp_losses(report).get("openmp_phases_missed", 0)
    expect(all_of_them - 1100 < missed < all_of_them - 1000, f"{what}: {missed} of {all_of_them} beginnings and ends were missed; 1024 are kept")
    said = next(loss["sentence"] for loss in report["losses"]["sentences"] if loss["kind"] == "openmp_phases_missed")
    expect(said.startswith(f"worker threads missed {missed:,} beginnings and ends of the main thread's phases and iterations"), said)


@test
def teams_and_what_they_wait_are_in_the_report(job):
    """Of thread t's 4 (t + 1) ms, twice that in the second place, half of the main thread's time is left to wait."""
    for program in compilers(job):
        report = profile(job, program, "regions", 20)
        expect_equal(len(report["parallel_regions"]), 2, f"{program}: regions")
        for region, factor in zip(sorted(report["parallel_regions"], key=lambda region: region["time"]), (1, 2)):
            caller = ("first_place", "second_place")[factor - 1]
            expect_equal((region["function"].split(".")[0], region["caller"].split(".")[0]), ("busy_region", caller), f"{program}: where the region is")
            team = region["teams"][0]
            expect_equal((team["rank"], team["visits"], team["threads"]), (0, 20, [0, 1]), f"{program}: the team")
            for thread in range(2):
                # Which of the two places has how much is told by samples, of which a busy machine takes fewer; together they are exact.
                about(team["working"][thread], 80e6 * factor * (thread + 1), f"{program}: work of thread {thread}", 0.5, beyond=report["beyond"])
            expect(team["waiting"][0] > 0.5 * 80e6 * factor, f"{program}: thread 0 waited {team['waiting'][0]} ns")
            expect_equal(region["waiting"], sum(team["waiting"]), f"{program}: waiting")
            expect_equal(region["time"], sum(team["waiting"]) + sum(team["working"]), f"{program}: time")
        for thread in range(2):
            both = sum(region["teams"][0]["working"][thread] for region in report["parallel_regions"])
            about(both, 3 * 80e6 * (thread + 1), f"{program}: work of thread {thread} in both places", beyond=report["beyond"])
        said = [answer["answers"] for answer in report["answers"] if answer["key"] == "threads"]
        expect_equal(len(said[0]), 2, f"{program}: sentences about teams: {said}")
        expect("parallel region in busy_region" in said[0][0] and "threads 0-1 work" in said[0][0], f"{program}: {said[0][0]}")
    expect_equal(profile(job, program, "deep", 2, threads=1)["parallel_regions"], None, "regions of one thread")


def profiles_of_locks(job, mode, count):
    """Name, report, and what each thread says that it has waited and done instead, of each compiler's program; then of one with MPI."""
    for program in compilers(job):
        yield program, profile(job, program, mode, count, "times"), said_times(job)
    for program in ("openmp", "openmp_clang"):
        if job.program(program).exists():
            report = job.profile([job.program(program), mode, count, "times"], ranks=1, env=OPENMP, options={"LIBPROFILE_SAMPLE": 1000})
            yield job.program(program).name, report, said_times(job)


def said_times(job):
    lines = re.findall(r"thread (\d) lock (\d+) barrier (\d+) instead (\d+) at once (\d+)", job.last.out)
    return {int(thread): tuple(map(float, times)) for thread, *times in lines}


def computes(value, processor, wall, what):
    """The profile's time for some work of known processor time and known wall time: by the clock of the samples it may be more than by that of
    the thread, where the processor itself is shared with other virtual machines."""
    expect(0.5 * processor < value < 1.5 * wall, f"{what}: {value / 1e6:.1f} ms, not between {processor / 1e6:.1f} ms and {wall / 1e6:.1f} ms")


def check_what_comes_after_locks(program, report, said, count):
    """Everything has its visits, and the time that the program has seen: waits lie within what it has measured around them."""
    expect_equal(openmp_losses(report), {}, f"{program}: losses")
    for thread, group in enumerate((report, report["threads"])):
        location = 0 if thread == 0 else next(i for i, one in enumerate(group["locations"]) if "omp barrier" in events(group, i, "visits"))
        visits, times = events(group, location, "visits"), events(group, location, "time")
        known = {"omp barrier": 2 * count, "omp implicit barrier": count, **({"omp parallel": count} if thread == 0 else {})}
        expect_equal({name: visits.get(name) for name in known}, known, f"{program}: visits of thread {thread}")
        phase = next(phase for phase in group["phases"] if phase["name"] == "step")
        expect_equal(phase["iterations_per_rank"][location], count, f"{program}: iterations of thread {thread}")
        lock, barrier, instead, _ = said[thread]
        # Locks that are free, and the first barrier, are not in what the program says.
        expect(0.7 * lock < times.get("omp lock", 0) < 1.3 * lock + 1e4 * count, f"{program}: thread {thread} waited {lock} ns for locks: {times}")
        expect(times.get("omp barrier", 0) > 0.7 * barrier, f"{program}: thread {thread} waited {barrier} ns in barriers: {times}")
        # Half of the times it is this thread that does something else.
        computes(inside(paths(group, location, "time"), "instead_of_it"), count / 2 * 4e6, instead, f"{program}: what thread {thread} did instead")
    region = next(row for row in report["regions"]["rows"] if row["name"] == "instead")
    expect_equal(region["visits"], count, f"{program}: visits of the named region")
    expect(region["time"] > count * 4e6, f"{program}: {region}")


@test
def regions_have_one_call_path_however_their_loops_are_scheduled(job):
    """Entry points with many arguments have some on the stack, whose alignment is the caller's."""
    count = 10
    kinds = ("static", "dynamic", "ordered_dynamic", "guided", "ordered_guided", "runtime", "ordered_runtime", "sections")
    for program in compilers(job):
        report = profile(job, program, "schedules", count)
        found = {path: value for path, value in paths(report, 0, "visits").items() if path[-1] == "omp parallel"}
        expect_equal(found, {("main", "mode_schedules", f"schedule_{kind}", "omp parallel"): 4 * count for kind in kinds}, f"{program}: regions")


@test
def a_lock_that_is_not_taken_ends_no_measurement(job):
    """Tests that fail come before a region, a barrier, another lock, a named region, a call of MPI, a marker, and computing."""
    count = 40
    for program, report, said in profiles_of_locks(job, "tested", count):
        check_what_comes_after_locks(program, report, said, count)
        has_mpi, tells_of_tests = f".{job.mpi}" in program, "clang" in program
        if has_mpi:
            expect_equal(calls(report, 0)["MPI_Barrier"], count, f"{program}: calls of MPI")
        # A sample in what is computed right after a test that failed is none in a wait.
        for thread, group in enumerate((report, report["threads"])):
            at_once = sum(inside(paths(group, location, "time"), "at_once") for location in range(len(group["locations"]) if thread else 1))
            computes(at_once, count / 2 * 4e6, said[thread][3], f"{program}: what thread {thread} computed at once")
        tests = count + count * (5 + has_mpi) if tells_of_tests else 0
        expect_equal(events(report, 0, "visits")["omp lock"], 1 + count + tests, f"{program}: locks of the main thread")


@test
def a_lock_that_is_not_taken_is_not_waited_for_while_the_program_sleeps(job):
    """Also where no sample tells of it, but a task that begins or ends, or the end of the thread. The sleeps are 160 ms and 100 ms."""
    for program in compilers(job):
        for sample in (0, 1000):
            report = profile(job, program, "doubtful", 40, sample=sample)
            expect_equal(openmp_losses(report), {}, f"{program}: losses")
            locations = [(group, i) for group in (report, report["threads"]) for i in range(len(group["locations"]) if "locations" in group else 1)]
            locks = sum(events(group, i, "time").get("omp lock", 0) for group, i in locations)
            expect(locks < 30e6, f"{program}, {sample} samples a second: {locks / 1e6} ms of waiting for locks")
            visits = sum(events(group, i, "visits").get("omp lock", 0) for group, i in locations)
            expect_equal(visits, 1 + (81 if "clang" in program else 0), f"{program}: visits")


@test
def a_lock_that_its_owner_takes_again_ends_no_measurement(job):
    count = 40
    for program, report, said in profiles_of_locks(job, "again", count):
        check_what_comes_after_locks(program, report, said, count)
        tests = count + count // 2 if "clang" in program else 0
        expect_equal(events(report, 0, "visits")["omp lock"], 4 * count + tests, f"{program}: locks of the main thread")


@test
def locks_do_not_hide_the_time_loop(job):
    """They are no calls of MPI: hundreds of thousands between two of these take as much of what the search remembers as one."""
    for program in ("openmp", "openmp_clang"):
        if not job.program(program).exists():
            continue
        report = job.profile([job.program(program), "locks", 40], ranks=1)
        found = {phase["name"]: phase["iterations_per_rank"] for phase in report["phases"] if phase["kind"] == "iterations"}
        expect_equal(found, {"loop in main": [40]}, f"{program}: iterations")
        phase = next(phase for phase in report["phases"] if phase["kind"] == "iterations")
        visits = sum(path["exclusive"].get("visits", [0])[0] for path in phase["call_paths"] if path["name"] == "omp lock")
        expect_equal(visits, 39 * 400000, f"{program}: locks in the iterations, each of which begins with its call of MPI")


@test
def two_runtimes_in_one_process_are_both_measured(job):
    if shutil.which("clang") is None or not (job.programs / "openmp_clang").exists():
        raise Skip("clang or libomp is not installed")
    region = """#include <omp.h>
int NAME(void) {
    int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
    sum += 1;
    return sum;
}
"""
    plugin = job.write("plugin.c", region.replace("NAME", "of_llvm"))
    job.compile("clang", "-O1", "-fopenmp", "-fPIC", "-shared", plugin, "-o", job.folder / "libplugin.so")
    host = job.write("host.c", region.replace("NAME", "of_gcc") + """#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int sum = of_gcc();
    void* plugin = dlopen(argc > 1 ? argv[1] : "", RTLD_NOW | RTLD_LOCAL);
    int (*of_llvm)(void) = plugin == 0 ? 0 : (int (*)(void))dlsym(plugin, "of_llvm");
    for (int i = 0; i < 20; ++i) sum += of_gcc() + (of_llvm == 0 ? 0 : of_llvm());
    printf("%d\\n", sum);
    return 0;
}
""")
    job.compile("gcc", "-O1", "-fopenmp", host, "-o", job.folder / "host", "-ldl")
    result = job.run(job.preloaded([job.folder / "host", job.folder / "libplugin.so"], {"LIBPROFILE_MPI": "no"}))
    expect_equal((result.code, result.out), (0, "82\n"), "the program")
    visits = paths(job.report(), 0, "visits")
    found = {path[1]: value for path, value in visits.items() if path[-1] == "omp parallel" and "of_gcc" in path}
    expect_equal(sum(found.values()), 21, "regions of GCC's runtime")
    expect_equal(sum(value for path, value in visits.items() if path[-1] == "omp parallel"), 41, "regions of both")


@test
def another_ompt_tool_comes_first(job):
    if shutil.which("clang") is None or not (job.programs / "openmp_clang").exists():
        raise Skip("clang or libomp is not installed")
    source = job.write("tool.c", 'void* ompt_start_tool(unsigned v, const char* r) { (void)v; (void)r; return 0; }\n')
    job.compile("cc", "-shared", "-fPIC", source, "-o", job.folder / "tool.so")
    result = job.run(job.preloaded([job.programs / "openmp_clang", "regions", 3], {"LIBPROFILE_MPI": "no", "OMP_TOOL_LIBRARIES": job.folder / "tool.so"}), env=OPENMP)
    expect_equal((result.code, result.err), (0, []), "the program")
    report = job.report()
    expect_equal(events(report, 0, "visits"), {}, "regions: the other tool has them")
    expect_equal(job.last.complaints, ["libprofile: warning: OMP_TOOL_LIBRARIES makes LLVM's OpenMP runtime report its regions to another tool, "
                                       "so there are none in the profile; leave it unset"], "said")


@test
def regions_that_omp_tool_hides_are_missed_aloud(job):
    if shutil.which("clang") is None or not (job.programs / "openmp_clang").exists():
        raise Skip("clang or libomp is not installed")
    disabled = {**OPENMP, "OMP_TOOL": "disabled"}
    for program, said in (("openmp_clang", ["libprofile: warning: OMP_TOOL keeps LLVM's OpenMP runtime from reporting its regions, so there are none "
                                            "in the profile; leave it unset"]), ("openmp_gcc", [])):
        command = [job.programs / program, "regions", 3]
        result = job.run(job.preloaded(command, {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": job.folder / program}), env=disabled)
        expect_equal((result.code, result.complaints), (0, said), f"{program}: the end and what is said")
        expect_equal(events(job.report(program), 0, "visits") == {}, bool(said), f"{program}: there are no regions")
        result = job.run(job.preloaded(command, {"LIBPROFILE_MPI": "no", "LIBPROFILE_QUIET": 1, "LIBPROFILE_OUTPUT": job.folder / "quiet"}), env=disabled)
        expect_equal(result.said, [], "said when it is to be quiet")


@test
def a_plugin_may_bring_the_runtime_and_take_it_away(job):
    """Loaded out of everybody's sight, at another place each time, with regions that run under the loader's lock."""
    script = job.write("host.py", """
import _ctypes, ctypes, mmap, sys
kept = []
for _ in range(4):
    plugin = ctypes.CDLL(sys.argv[1], mode=2) # RTLD_LOCAL, RTLD_NOW
    print([plugin.work(1000) for _ in range(20)])
    _ctypes.dlclose(plugin._handle)
    kept.append(mmap.mmap(-1, 1 << 20))
""")
    command = ["/usr/bin/python3", script, job.programs / "plugin_openmp"]
    # Without libprofile it may die of that: workers are left where code no longer is.
    result = job.run(job.preloaded(command, {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": job.folder / "plugin"}))
    expect_equal((result.code, result.out, result.err), (0, f"{[1] * 20}\n" * 4, []), "the program's end and output")
    job.report("plugin")


if __name__ == "__main__":
    main()
