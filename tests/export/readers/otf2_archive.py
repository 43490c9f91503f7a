"""Reads an archive of the Open Trace Format 2 with the library's own reader (python3-otf2), and follows it as other tools do: calls are nested, messages are
matched in the order of their ends."""

from dataclasses import dataclass, field
from pathlib import Path

import otf2


@dataclass
class Archive:
    calls: dict = field(default_factory=dict)  # by rank and thread: (begin, end, name, iteration or None), in the order of ends
    messages: list = field(default_factory=list)  # (sender, receiver, communicator, tag, bytes, sent at, received at)
    collectives: dict = field(default_factory=dict)  # by communicator: for each operation in its order (name, rank, begin, end) of all its calls
    members: dict = field(default_factory=dict)  # ranks, by communicator with collective operations
    unmatched: int = 0
    created: dict = field(default_factory=dict)  # by rank and thread: (at, number) of tasks that it created
    completed: dict = field(default_factory=dict)  # and of those that ended there


def read(folder):
    found = Archive()
    open_calls, sent, received, running, creators, collecting, counts = {}, {}, {}, {}, {}, {}, {}
    with otf2.reader.open(str(Path(folder) / "traces.otf2")) as trace:
        for location, event in trace.events:
            rank, _, thread = location.name.removeprefix("rank ").partition(" thread ")
            place = int(rank), int(thread or 0)
            stack = open_calls.setdefault(place, [])
            kind = type(event).__name__
            if kind == "Enter":
                stack.append([event.time, event.region.name, None])
            elif kind == "ParameterUnsignedInt":
                stack[-1][2] = event.value
            elif kind == "Leave":
                begin, name, iteration = stack.pop()
                assert name == event.region.name, f"{event.region.name} is left inside {name}"
                found.calls.setdefault(place, []).append((begin, event.time, name, iteration))
            elif kind == "ThreadTaskCreate":
                assert event.thread_team.group.members[event.creating_thread] == location, f"{location.name} creates tasks of another thread"
                found.created.setdefault(place, []).append((event.time, event.generation_number))
                creators[rank, event.generation_number] = event.creating_thread
            elif kind == "ThreadTaskSwitch":
                running[place] = event.generation_number
            elif kind == "ThreadTaskComplete":
                assert running[place] == event.generation_number, f"task {event.generation_number} ends, and {running[place]} runs"
                assert creators[rank, event.generation_number] == event.creating_thread, f"task {event.generation_number} has two creators"
                found.completed.setdefault(place, []).append((event.time, event.generation_number))
            elif kind == "MpiCollectiveBegin":
                assert place not in collecting, f"two operations at once on {place}"
                collecting[place] = event.time
            elif kind == "MpiCollectiveEnd":
                assert thread == "" and stack, "an operation lies in a call of the main thread"
                name = event.communicator.name
                found.members[name] = [int(member.name.removeprefix("rank ")) for member in event.communicator.group.members if member is not None]
                counts[name, rank] = nth = counts.get((name, rank), -1) + 1
                operations = found.collectives.setdefault(name, [])
                operations.extend([] for _ in range(nth + 1 - len(operations)))
                operations[nth].append((str(event.collective_op).rpartition(".")[2], int(rank), collecting.pop(place), event.time))
            elif kind == "MpiSend":
                sent.setdefault((place[0], event.receiver, event.communicator.name, event.msg_tag), []).append((event.time, event.msg_length))
            elif kind == "MpiRecv":
                received.setdefault((event.sender, place[0], event.communicator.name, event.msg_tag), []).append((event.time, event.msg_length))
    assert not any(open_calls.values()), f"calls that are never left: {open_calls}"
    for key in sent.keys() | received.keys():
        mine, theirs = sent.get(key, []), received.get(key, [])
        found.unmatched += abs(len(mine) - len(theirs))
        for (at, size), (arrived, other) in zip(mine, theirs):
            assert size == other, f"a message of {size} bytes is received with {other}: {key}"
            found.messages.append((*key, size, at, arrived))
    return found
