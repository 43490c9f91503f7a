"""Paraver's trace files, checked strictly against the description of the format (tools.bsc.es, "Paraver: trace file description") and what paraver-kernel's
reader takes. Debian has no reader of them; this one is ours and shares nothing with the export."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from . import expect

HEADER = re.compile(r"#Paraver \((\d\d)/(\d\d)/(\d{4}) at (\d\d):(\d\d)\):(\d+)_ns:(\d+)\((\d+(?:,\d+)*)\):1:(\d+)\((\d+:\d+(?:,\d+:\d+)*)\)(?:,(\d+))?$")
NUMBERS = re.compile(r"-?\d+$")


@dataclass
class Trace:
    end: int = 0
    threads: list = field(default_factory=list)         # by Paraver's task, from 0: how many
    names: dict = field(default_factory=dict)           # by (task, thread), from 1: the name of the row
    states: dict = field(default_factory=dict)          # by (task, thread): [(begin, end, name)]
    calls: dict = field(default_factory=dict)           # by (task, thread): (begin, end, type, value's name or number, duration), in the order of ends
    points: dict = field(default_factory=dict)          # by (task, thread): (at, type, value) of events that have no end
    communicators: dict = field(default_factory=dict)   # by number: its tasks
    communications: list = field(default_factory=list)  # ((task, thread) of the sender, of the receiver, sent, received, bytes, tag)


def labels(text):
    """States and types of events with the names of their values."""
    states, types, section, open_types = {}, {}, None, []
    for line in text.splitlines():
        if not line.strip():
            section = None if section in ("EVENT_TYPE", "VALUES") else section
            continue
        if re.fullmatch(r"[A-Z_]+", line):
            section = line
            if section == "EVENT_TYPE":
                open_types = []
            continue
        if section == "STATES":
            number, name = line.split(None, 1)
            expect(int(number) not in states, f"state {number} twice")
            states[int(number)] = name
        elif section == "STATES_COLOR":
            expect(re.fullmatch(r"\d+ +\{\d+,\d+,\d+\}", line), f"colour: {line}")
        elif section == "EVENT_TYPE":
            _, number, name = line.split(None, 2)
            expect(int(number) not in types, f"type {number} twice")
            types[int(number)] = name, {}
            open_types.append(int(number))
        elif section == "VALUES":
            number, name = line.split(None, 1)
            for one in open_types:
                expect(int(number) not in types[one][1], f"value {number} of {one} twice")
                types[one][1][int(number)] = name
    return states, types


def levels(text):
    lines, found = text.splitlines(), {}
    while lines:
        line = lines.pop(0)
        if not line:
            continue
        match = re.fullmatch(r"LEVEL (\w+) SIZE (\d+)", line)
        expect(match, f"a level: {line}")
        count = int(match.group(2))
        found[match.group(1)], lines = lines[:count], lines[count:]
        expect(len(found[match.group(1)]) == count and all(found[match.group(1)]), f"names of {line}")
    return found


def read(folder):
    folder = Path(folder)
    expect({one.name for one in folder.iterdir()} == {"trace.prv", "trace.pcf", "trace.row"}, "files")
    states, types = labels((folder / "trace.pcf").read_text())
    rows = levels((folder / "trace.row").read_text())
    trace = Trace()
    with open(folder / "trace.prv") as file:
        header = HEADER.match(file.readline())
        expect(header, "header")
        day, month, _, hour, minute = map(int, header.groups()[:5])
        expect(1 <= day <= 31 and 1 <= month <= 12 and hour < 24 and minute < 60, "date")
        trace.end, nodes = int(header.group(6)), int(header.group(7))
        processors = [int(count) for count in header.group(8).split(",")]
        tasks = [tuple(map(int, task.split(":"))) for task in header.group(10).split(",")]
        expect(len(processors) == nodes and len(tasks) == int(header.group(9)), "counts of the header")
        expect(all(threads > 0 and 1 <= node <= nodes for threads, node in tasks), "tasks of the header")
        trace.threads = [threads for threads, _ in tasks]
        expect(len(rows["THREAD"]) == sum(trace.threads) and len(rows["NODE"]) == nodes and len(rows["CPU"]) == sum(processors) and
               len(rows["TASK"]) == len(tasks), "sizes of levels")
        places = [(task + 1, thread + 1) for task, threads in enumerate(trace.threads) for thread in range(threads)]
        trace.names = dict(zip(places, rows["THREAD"]))
        node_of = [node for node, count in enumerate(processors, 1) for _ in range(count)]
        check = Records(trace, states, types, [(threads, node) for threads, node in tasks], node_of)
        last = 0
        for line in (file.readline() for _ in range(int(header.group(11) or 0))):
            kind, application, number, size, *members = line.rstrip("\n").split(":")
            expect(kind == "c" and application == "1" and int(size) == len(members) > 0, f"a communicator: {line}")
            expect(int(number) not in trace.communicators and all(1 <= int(task) <= len(tasks) for task in members), f"a communicator: {line}")
            trace.communicators[int(number)] = [int(task) for task in members]
        for line in file:
            kind, *numbers = line.rstrip("\n").split(":")
            expect(all(NUMBERS.match(number) for number in numbers), f"a record: {line}")
            numbers = [int(number) for number in numbers]
            time = numbers[4]
            expect(last <= time, f"records in the order of time: {line}")
            last = time
            {"1": check.state, "2": check.event, "3": check.communication}[kind](*numbers)
    check.finish()
    return trace


class Records:
    def __init__(self, trace, states, types, tasks, node_of):
        self.trace, self.states, self.types, self.tasks, self.node_of = trace, states, types, tasks, node_of
        self.open, self.pending = {}, {}

    def place(self, processor, application, task, thread):
        expect(application == 1 and 1 <= task <= len(self.tasks), f"task {task}")
        threads, node = self.tasks[task - 1]
        expect(1 <= thread <= threads, f"thread {thread} of task {task}")
        expect(1 <= processor <= len(self.node_of) and self.node_of[processor - 1] == node, f"processor {processor} of node {node}")
        return task, thread

    def state(self, processor, application, task, thread, begin, end, state):
        place = self.place(processor, application, task, thread)
        own = self.trace.states.setdefault(place, [])
        expect(begin == (own[-1][1] if own else 0) and begin < end <= self.trace.end, f"states of {place} follow each other: {begin} to {end}")
        own.append((begin, end, self.states[state]))

    def event(self, processor, application, task, thread, time, *pairs):
        place = self.place(processor, application, task, thread)
        expect(pairs and len(pairs) % 2 == 0 and time <= self.trace.end, f"events: {pairs}")
        for kind, value in zip(pairs[::2], pairs[1::2]):
            name, values = self.types[kind]
            expect(not values or value in values, f"value {value} of {name}")
            if name.startswith("Duration of what ended"):
                begin, end, ended, what = self.pending.pop(place)
                expect(end == time, "a duration is told when something ends")
                self.trace.calls.setdefault(place, []).append((begin, time, ended, what, value))
            elif name.startswith(("Task created", "Communicator in MPI Global OP", "Number of the collective operation")):
                self.trace.points.setdefault(place, []).append((time, name, value))
            elif value == 0:
                begin, what = self.open[place, kind].pop()
                if name.startswith("Number of the task"):
                    continue
                self.pending[place] = begin, time, name, values.get(what, what)
            else:
                self.open.setdefault((place, kind), []).append((time, value))
                self.trace.points.setdefault(place, []).append((time, name, value))

    def communication(self, *numbers):
        expect(len(numbers) == 14, f"a communication: {numbers}")
        sender, receiver = self.place(*numbers[:4]), self.place(*numbers[6:10])
        (sent, really_sent), (ready, received), (size, tag) = numbers[4:6], numbers[10:12], numbers[12:]
        expect(sent <= really_sent and ready <= received <= self.trace.end and size >= 0, f"times and bytes: {numbers}")
        self.trace.communications.append((sender, receiver, really_sent, received, size, tag))

    def finish(self):
        expect(not any(self.open.values()), f"what is never left: {[key for key, value in self.open.items() if value][:3]}")
        for place, own in self.trace.states.items():
            expect(own[-1][1] == self.trace.end, f"states of {place} until the end")
        expect(set(self.trace.states) == set(self.trace.names), "threads with states")
