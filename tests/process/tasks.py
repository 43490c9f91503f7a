#!/usr/bin/python3
"""Tasks of OpenMP in the trace of events equal the log that the program writes itself (tests/programs/tasks.c), for GCC's runtime and for LLVM's."""

import itertools
import json
from collections import defaultdict

from harness import expect, expect_equal, main, read_again, test

EVENTS = {"LIBPROFILE_MPI": "no", "LIBPROFILE_TRACE": "events", "LIBPROFILE_TRACE_MEMORY": "64M"}
KINDS = {1: "in", 2: "out", 3: "inout", 4: "mutexinoutset", 5: "inoutset"}
SLACK = 2000  # ns: both clocks are compared only at the end


def programs(job):
    present = [name for name in ("tasks_gcc", "tasks_clang") if (job.programs / name).exists()]
    expect("tasks_gcc" in present, "no test program")
    if "tasks_clang" not in present:
        print("clang or libomp is not installed: OMPT is not tested")
    return present


def measure(job, program, *words, threads=3, **options):
    job.runs += 1
    output = job.folder / f"profile.{job.runs}"
    result = job.run(job.preloaded([job.programs / program, *words], {**EVENTS, "LIBPROFILE_OUTPUT": output, **options}), env={"OMP_NUM_THREADS": threads})
    expect_equal(result.code, 0, f"exit code: {result.err}")
    printed = job.run([job.tool, "report", output, "--format", "json", "--trace"])
    expect_equal(printed.code, 0, f"exit code of the report: {printed.err}")
    return result, json.loads(printed.out), output


class Axis:
    """Times of the profile as CLOCK_MONOTONIC."""

    def __init__(self, job, output):
        clock = read_again(job, output / "profile.lprof")["clocks"][0]
        self.origin, self.drift = clock["origin_ns"], (clock["monotonic_ns"] - clock["own_ns"]) / clock["own_ns"]

    def __call__(self, time):
        return self.origin + time + round(time * self.drift)


class Logged:
    """What the program says."""

    def __init__(self, text):
        self.created = defaultdict(list)  # by thread: (task, creator, flags, time)
        self.needs = defaultdict(list)    # by task: (kind, address)
        self.work = defaultdict(list)     # by thread: (task, begin, end, time of the line before, time of the line behind)
        self.groups = defaultdict(list)   # by thread: (task, begin, line behind it, line before the end, end)
        self.begun = {}                   # by task
        self.untied = set()
        lines = defaultdict(list)
        for line in text.splitlines():
            thread, *words = line.split()
            lines[int(thread)].append(words)
        for thread, own in lines.items():
            for _, task, kind, address in (words for words in own if words[0] == "depend"):
                self.needs[int(task)].append((kind, int(address)))
            own = [words for words in own if words[0] != "depend"]
            times = [int(words[-1]) for words in own]
            begin, open_groups = {}, []
            for at, words in enumerate(own):
                before, behind = times[max(at - 1, 0)], times[min(at + 1, len(own) - 1)]
                task = int(words[1]) if words[0] != "point" else None
                if words[0] == "create":
                    self.created[thread].append((task, int(words[2]), words[3][1:], times[at]))
                    if "t" in words[3]:
                        self.untied.add(task)
                elif words[0] == "begin":
                    begin[task] = at
                    self.begun[task] = min(times[at], self.begun.get(task, times[at]))
                elif words[0] == "end":
                    first = begin.pop(task)
                    self.work[thread].append((task, times[first], times[at], times[max(first - 1, 0)], behind, words[2] == "1"))
                elif words[0] == "group_begin":
                    open_groups.append((task, times[at], behind))
                elif words[0] == "group_end":
                    expect_equal(open_groups[-1][0], task, "groups end in the reverse order in which they began")
                    self.groups[thread].append((*open_groups.pop(), before, times[at]))


def entries_of(report):
    """By thread, in the order of time."""
    return {entry["thread"]: entry["tasks"] for entry in report["events"]}


def rows(columns, *names):
    return list(zip(*(columns[name] for name in names)))


def matches(logged, entries, thread_of):
    """Each thread's creations are as many as the log's, and the same tasks run on it. Returns the program's task of each number, or None."""
    names = {0: 0}
    for thread, created in logged.created.items():
        found = entries[thread_of[thread]]["number"]
        if len(found) != len(created):
            return None
        names.update(zip(found, (task for task, *_ in created)))
    for thread, work in logged.work.items():
        ran, worked = {names.get(task) for task in entries[thread_of[thread]]["runs"]["task"]}, {task for task, *_ in work}
        if not worked <= ran or not ran - worked <= logged.untied:  # these may be given a thread only to wait
            return None
    return names


def check(job, program, result, report, output):
    for entry in report["events"]:
        expect_equal((entry["stride"], entry["dropped_events"]), (1, 0), f"{program}: all is kept")
    logged, entries, axis = Logged(result.out), entries_of(report), Axis(job, output)
    threads = sorted(set(logged.created) | set(logged.work))
    others = [thread for thread in threads if thread != 0]
    # The program's numbers of threads are those of the profile in some order, but for the main thread's.
    fits = [thread_of for order in itertools.permutations([thread for thread in entries if thread != 0], len(others))
            for thread_of in [{0: 0, **dict(zip(others, order))}] if matches(logged, entries, thread_of) is not None]
    expect(fits, f"{program}: no thread of the profile has the creations and runs of {threads}")
    thread_of = fits[0]
    names = matches(logged, entries, thread_of)
    expect_equal(len(names), len({*names.values()}), f"{program}: numbers of tasks are unique")
    check_creations(program, logged, entries, axis, thread_of, names)
    check_runs(program, logged, entries, axis, thread_of, names)
    check_groups(program, logged, entries, axis, thread_of, names)
    return logged, entries, thread_of, names


def check_creations(program, logged, entries, axis, thread_of, names):
    for thread, created in logged.created.items():
        entry = entries[thread_of[thread]]
        needs = defaultdict(list)
        for at, kind, address in rows(entry["dependences"], "task", "kind", "address"):
            needs[at].append((kind, address))
        letters = {"undeferred": "u", "final": "f", "untied": "t", "taskloop": "l"}
        found = rows(entry, "number", "creator", "flags", "created_ns")
        for at, ((number, creator, flags, when), (task, logged_creator, logged_flags, stamp)) in enumerate(zip(found, created)):
            what = f"{program}: task {task}"
            expect_equal(names[creator], logged_creator, f"{what}: creator")
            found_flags = {letters[word] for word in flags}
            if logged_flags == "?":
                found_flags.discard("u")
            expect_equal(found_flags, set(logged_flags) - {"?"}, f"{what}: flags")
            expect_equal(sorted(needs[at]), sorted(logged.needs[task]), f"{what}: dependences")
            expect(stamp - SLACK <= axis(when) <= logged.begun[task] + SLACK, f"{what}: created at {axis(when)}, not between {stamp} and {logged.begun[task]}")


def check_runs(program, logged, entries, axis, thread_of, names):
    over = defaultdict(int)
    for thread, tasks in entries.items():
        last = 0
        for task, begin, end, is_over in rows(tasks["runs"], "task", "begin_ns", "end_ns", "is_over"):
            expect(begin <= end and last <= end, f"{program}: a run from {begin} to {end} of thread {thread}")
            last = end
            over[names[task]] += is_over
    expect_equal({task: times for task, times in over.items() if times != 1}, {}, f"{program}: tasks that are not over once")
    expect_equal(sorted(over), sorted(logged.begun), f"{program}: tasks that ran")
    first = {}  # by task: the begin of a stretch that is no resumption
    for thread, work in logged.work.items():
        runs = defaultdict(list)
        for task, begin, end, is_over, is_resumed in rows(entries[thread_of[thread]]["runs"], "task", "begin_ns", "end_ns", "is_over", "is_resumed"):
            runs[names[task]].append((axis(begin), axis(end), is_over, is_resumed))
            if not is_resumed:
                expect(names[task] not in first, f"{program}: task {names[task]} has two beginnings")
                first[names[task]] = axis(begin)
        stretches = defaultdict(list)
        for stretch in work:
            stretches[stretch[0]].append(stretch)
        for task, begin, end, _, _, is_last in work:
            around = [run for run in runs[task] if run[0] <= begin + SLACK and end - SLACK <= run[1]]
            expect(around, f"{program}: no run of task {task} around {begin} to {end}, of {runs[task]}")
            expect(around[-1][2] or not is_last, f"{program}: the last run of task {task}")
        for task, own in runs.items():
            # Nothing of the thread's log lies between a task's beginning and its first work, and between its last work and its end.
            for begin, end, is_over, is_resumed in own:
                inside = [stretch for stretch in stretches[task] if begin <= stretch[1] + SLACK and stretch[2] - SLACK <= end]
                if not inside:
                    expect(task in logged.untied, f"{program}: a run of task {task} without work")
                    continue
                expect(is_resumed or inside[0][3] - SLACK <= begin, f"{program}: task {task} begins at {begin}, before {inside[0][3]}, when something else went on")
                expect(not is_over or end <= inside[-1][4] + SLACK, f"{program}: task {task} ends at {end}, behind {inside[-1][4]}, when something else went on")
    expect_equal(sorted(first), sorted(logged.begun), f"{program}: tasks with a beginning")


def check_groups(program, logged, entries, axis, thread_of, names):
    total = 0
    for thread, groups in logged.groups.items():
        found = [(names[task], axis(begin), axis(end)) for task, begin, end in rows(entries[thread_of[thread]]["groups"], "task", "begin_ns", "end_ns")]
        expect_equal([task for task, *_ in found], [task for task, *_ in groups], f"{program}: taskgroups of thread {thread}")
        for (task, begin, end), (_, stamp, behind, before, last) in zip(found, groups):
            expect(stamp - SLACK <= begin <= behind + SLACK, f"{program}: a group begins at {begin}, not between {stamp} and {behind}")
            expect(before - SLACK <= end <= last + SLACK, f"{program}: a group ends at {end}, not between {before} and {last}")
        total += len(groups)
    expect(total >= 7, f"{program}: {total} taskgroups")
    expect_equal(sum(len(tasks["groups"]["task"]) for tasks in entries.values()), total, f"{program}: taskgroups")


def call_path(entry, path):
    """Names from the outermost."""
    known = {one["id"]: one for one in entry["call_paths"]}
    found = []
    while path:
        found.insert(0, known[path])
        path = known[path]["parent"]
    return found


@test
def tasks_equal_the_programs_log(job):
    for program in programs(job):
        for threads, rounds in ((2, 20), (3, 5)):
            result, report, output = measure(job, program, rounds, threads=threads)
            logged, entries, thread_of, names = check(job, program, result, report, output)
            expect(len(names) > rounds * 100, f"{program}: {len(names)} tasks")
            creators = {number: thread for thread, tasks in entries.items() for number in tasks["number"]}
            stolen = [task for thread, tasks in entries.items() for task in tasks["runs"]["task"] if creators[task] != thread]
            expect(len(stolen) >= rounds, f"{program}: {len(stolen)} tasks ran on another thread than that which made them")
        check_paths(program, entries)


def check_paths(program, entries):
    """Where tasks are made, and what runs."""
    made, run = set(), set()
    for thread, tasks in entries.items():
        for path in tasks["path"]:
            innermost = call_path(tasks, path)[-1]
            expect(innermost["file"].endswith("tasks.c") and innermost["line"] > 0, f"{program}: a task is made at {innermost}")
            made.add(innermost["name"].split("._omp_fn")[0].split(".omp_")[0])
        for path in tasks["runs"]["path"]:
            run.add(" ".join(one["name"] for one in call_path(tasks, path)))
    for function in ("nested", "dependent", "loops", "groups", "undeferred", "untied", "regions_in_tasks"):
        expect(any(function in name for name in made) or "main" in made, f"{program}: no task is made in {function}: {made}")
    expect(any("omp parallel" in path for path in run), f"{program}: no task runs in a region: {run}")
    if "gcc" in program:
        expect(all("omp_fn" in path or "main" in path or any(word in path for word in ("nested", "dependent")) for path in run), f"functions of tasks: {run}")


@test
def tasks_of_parts_that_are_kept_fit_together(job):
    """In little memory, and while nothing is recorded."""
    for program in programs(job):
        result, report, output = measure(job, program, 60, threads=2, LIBPROFILE_TRACE_MEMORY="16K")
        logged, entries = Logged(result.out), entries_of(report)
        expect(any(entry["dropped_events"] > 0 for entry in report["events"]), f"{program}: nothing was dropped")
        numbers = [number for tasks in entries.values() for number in tasks["number"]]
        expect_equal(len(numbers), len(set(numbers)), f"{program}: numbers")
        over = defaultdict(int)
        for tasks in entries.values():
            for task, is_over in rows(tasks["runs"], "task", "is_over"):
                over[task] += is_over
        expect(all(times <= 1 for times in over.values()), f"{program}: tasks are over twice")
        result, report, output = measure(job, program, 2, threads=2, LIBPROFILE_START="off")
        expect_equal(sum(len(tasks["number"]) + len(tasks["runs"]["task"]) for tasks in entries_of(report).values()), 0, f"{program}: tasks while nothing is recorded")


def visits_of(report):
    found = defaultdict(int)
    for group in (report, report["threads"]):
        for phase in group.get("phases", []):
            for path in phase["call_paths"]:
                if path["kind"] == "openmp":
                    found[path["name"]] += sum(path["exclusive"]["visits"])
    return dict(found)


@test
def visits_are_the_same_with_tasks_in_the_trace(job):
    for program in programs(job):
        found = {}
        for trace in ("events", "0"):
            result, report, _ = measure(job, program, 10, threads=2, LIBPROFILE_TRACE=trace)
            expect_equal(bool(report.get("events")), trace == "events", f"{program}: events with LIBPROFILE_TRACE={trace}")
            found[trace] = visits_of(report)
        expect(found["0"].get("omp taskwait", 0) > 100, f"{program}: visits: {found}")
        expect_equal(found["events"], found["0"], f"{program}: visits with tasks in the trace, and without")


@test
def computing_in_tasks_is_no_waiting(job):
    """Of untied tasks, whose parts change threads, and of tasks deep inside each other; and no wait is left over for what comes after them."""
    for program in programs(job):
        for words in (("untied", 400), ("deep", 40), ("deep", 600)):
            for trace in ("0", "events"):
                result, report, _ = measure(job, program.replace("tasks", "task_waits"), *words, threads=2, LIBPROFILE_TRACE=trace)
                lines = [[int(ns) for ns in line.split()] for line in result.out.splitlines()]
                waiting = [sum(metric["total"]) for of in (report, report["threads"]) for metric in of["metrics"] if metric["name"] == "openmp"]
                took = sum(line[0] for line in lines)
                for thread in (0, 1):
                    spent = sum(line[1 + thread] for line in lines)
                    expect(waiting[thread] <= took - 0.95 * spent + 2e7,
                           f"{program} {words}, trace {trace}: thread {thread} waits {waiting[thread]} of {took} ns, but spent {spent} in tasks")


@test
def second_reader_finds_the_same_tasks(job):
    for program in programs(job):
        _, report, output = measure(job, program, 3)
        again = {location["thread"]: location["events"] for location in read_again(job, output / "profile.lprof")["locations"]}
        for entry in report["events"]:
            tasks, parts = entry["tasks"], again[entry["thread"]]["parts"]
            letters = ["undeferred", "final", "untied", "taskloop"]
            mine = [task for part in parts for task in part["tasks"]]
            expect_equal([(task["number"], task["creator"], task["at"], [word for bit, word in enumerate(letters) if task["flags"] >> bit & 1]) for task in mine],
                         rows(tasks, "number", "creator", "created_ns", "flags"), f"{program}: creations")
            expect_equal([(at, KINDS[kind], address) for at, task in enumerate(mine) for kind, address in task["dependences"]],
                         rows(tasks["dependences"], "task", "kind", "address"), f"{program}: dependences")
            expect_equal([(run["task"], run["begin"], run["end"], bool(run["says"] & 1), bool(run["says"] & 2)) for part in parts for run in part["runs"]],
                         rows(tasks["runs"], "task", "begin_ns", "end_ns", "is_over", "is_resumed"), f"{program}: runs")
            expect_equal([(group["task"], group["begin"], group["end"]) for part in parts for group in part["groups"]],
                         rows(tasks["groups"], "task", "begin_ns", "end_ns"), f"{program}: taskgroups")
            expect_equal([tuple(len(part[name]) for name in ("tasks", "runs", "groups")) for part in parts],
                         [(part["tasks"], part["runs"], part["groups"]) for part in entry["parts"]], f"{program}: how many parts have")
        expect(sum(len(entry["tasks"]["number"]) for entry in report["events"]) > 100, f"{program}: tasks")


@test
def python_has_the_tasks_of_the_report(job):
    from python_module import package
    libprofile = package(job)
    for program in programs(job):
        _, report, output = measure(job, program, 3)
        p = libprofile.open(output)
        for entry in report["events"]:
            events, tasks = p.events(entry["rank"], entry["thread"]), entry["tasks"]
            letters = ["undeferred", "final", "untied", "taskloop"]
            for name in ("number", "creator", "created_ns", "path"):
                expect_equal(getattr(events.tasks, name).tolist(), tasks[name], f"{program}: {name}")
            expect_equal([[word for bit, word in enumerate(letters) if flags >> bit & 1] for flags in events.tasks.flags], tasks["flags"], f"{program}: flags")
            owners = [at for at, count in enumerate(events.tasks.dependences) for _ in range(count)]
            expect_equal(list(zip(owners, (KINDS[kind] for kind in events.dependences.kind), events.dependences.address.tolist())),
                         rows(tasks["dependences"], "task", "kind", "address"), f"{program}: dependences")
            for name, columns in (("runs", events.runs), ("groups", events.groups)):
                expect_equal({column: values.tolist() for column, values in columns._asdict().items()},
                             {column: [int(value) for value in values] for column, values in tasks[name].items()}, f"{program}: {name}")
            expect_equal(list(zip(events.parts.tasks.tolist(), events.parts.runs.tolist(), events.parts.groups.tolist())),
                         [(part["tasks"], part["runs"], part["groups"]) for part in entry["parts"]], f"{program}: how many parts have")


@test
def more_tasks_than_a_stack_has_room_for_and_forks_in_tasks_are_as_without(job):
    for program in ("openmp_gcc", "openmp_clang"):
        if not (job.programs / program).exists():
            continue
        for threads in (1, 2):
            env = {"OMP_NUM_THREADS": threads}
            plain = job.run([job.programs / program, "loops", 10], env=env)
            job.runs += 1
            options = {**EVENTS, "LIBPROFILE_OUTPUT": job.folder / f"profile.{job.runs}"}
            traced = job.run(job.preloaded([job.programs / program, "loops", 10], options), env=env)
            expect_equal((traced.code, traced.out), (plain.code, plain.out), f"{program} on {threads} threads")
            expect_equal(plain.out, "loops 350000, a child with exit code 7\n", f"{program} on {threads} threads without libprofile")


@test
def the_graph_has_the_tasks_of_the_log_and_the_time_of_their_runs(job):
    for program in programs(job):
        result, raw, output = measure(job, program, 10)
        printed = job.run([job.tool, "report", output, "--tasks", "--format", "json", "--top", 1000])
        expect_equal(printed.code, 0, f"exit code: {printed.err}")
        graph = json.loads(printed.out)
        logged = sum(line.split()[1] == "create" for line in result.out.splitlines() if len(line.split()) > 2)
        expect_equal(sum(row["tasks"] for row in graph["depths"]), logged, f"{program}: tasks by depth")
        expect_equal(sum(row["tasks"] for row in graph["types"]), logged, f"{program}: tasks by type")
        expect_equal(sum(row["time"] for row in graph["depths"]), sum(row["time"] for row in graph["types"]), f"{program}: time by depth and by type")
        in_runs = sum(end - begin for entry in raw["events"] for begin, end in zip(entry["tasks"]["runs"]["begin_ns"], entry["tasks"]["runs"]["end_ns"]))
        own = sum(row["time"] for row in graph["depths"])
        expect(0 < own <= in_runs, f"{program}: tasks take {own} ns, their runs, with what runs inside, {in_runs} ns")
        stretch = graph["stretches"][0]
        expect(0 < stretch["span"] <= stretch["work"], f"{program}: {stretch}")


if __name__ == "__main__":
    main()
