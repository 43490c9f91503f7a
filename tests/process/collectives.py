#!/usr/bin/python3
"""Collective operations in exports of events are those of the program's own log (tests/programs/collective_operations.c): communicators, numbers, arrival."""

import json
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "export"))
from readers import otf2_archive, paraver, perfetto

from event_exports import exported
from events import EVENTS
from harness import expect, expect_equal, main, test

RANKS = 4
ROOTLESS = {"MPI_Barrier": "BARRIER", "MPI_Allreduce": "ALLREDUCE"}  # and blocking


def called(members):
    """What the exports call the communicator of these ranks."""
    if members == "0 1 2 3":
        return "MPI_COMM_WORLD"
    return "communicator of ranks " + members.replace(" ", ",")


def logs(job):
    """By rank: function, communicator and number of each operation."""
    return [[(function, called(members), number) for function, members, number in json.loads((job.folder / f"operations.{rank}.json").read_text())]
            for rank in range(RANKS)]


def measured(job):
    job.profile([job.program("collective_operations"), "20"], RANKS, options=EVENTS)
    return f"profile.{job.runs}", logs(job)


@test
def perfetto_says_which_operation_a_call_is_and_who_came_last(job):
    folder, logged = measured(job)
    trace = perfetto.read(exported(job, folder, "perfetto"))
    begins = defaultdict(dict)  # by operation: of each rank
    said = {}
    for (_, thread), slices in trace.slices.items():
        rank = int(thread.split()[1])
        own = sorted((begin, name, notes) for begin, _, name, _, notes in slices if "operation of the communicator" in notes)
        found = [(name, notes["communicator"], notes["operation of the communicator"]) for _, name, notes in own]
        expect_equal(found, logged[rank], f"operations of rank {rank}")
        for begin, _, notes in own:
            key = notes["communicator"], notes["operation of the communicator"]
            begins[key][rank] = begin
            said[key, rank] = notes
    for (communicator, number), of_ranks in begins.items():
        last = max(of_ranks.values())
        for rank, begin in of_ranks.items():
            notes = said[(communicator, number), rank]
            expect_equal(of_ranks[notes["last rank"]], last, f"the last rank of operation {number} of {communicator}")
            expect_equal(notes["last one began later by ns"], last - begin, f"how much later that was than rank {rank}")


@test
def otf2_and_paraver_have_communicators_of_the_right_ranks(job):
    folder, logged = measured(job)
    archive = otf2_archive.read(exported(job, folder, "otf2"))
    expected = defaultdict(lambda: defaultdict(list))
    for rank, own in enumerate(logged):
        for function, communicator, _ in own:
            if function in ROOTLESS:
                expected[communicator][rank].append(ROOTLESS[function])
    expect_equal(set(archive.collectives), set(expected), "communicators in OTF2")
    for name, operations in archive.collectives.items():
        ranks = [0, 1, 2, 3] if name == "MPI_COMM_WORLD" else [int(rank) for rank in name.rsplit(" ", 1)[1].split(",")]
        expect_equal(archive.members[name], ranks, f"ranks of {name}, in their order")
        for calls in operations:
            expect_equal((sorted(rank for _, rank, _, _ in calls), len({kind for kind, *_ in calls})), (sorted(ranks), 1), f"an operation of {name}: {calls}")
        found = {rank: [kind for calls in operations for kind, own, _, _ in calls if own == rank] for rank in ranks}
        expect_equal(found, dict(expected[name]), f"operations of {name}")
    trace = paraver.read(exported(job, folder, "paraver"))
    labels = paraver.labels((job.folder / f"{folder}.paraver" / "trace.pcf").read_text())[1]
    names = next(values for name, values in labels.values() if name == "Communicator in MPI Global OP")
    for number, tasks in trace.communicators.items():
        ranks = "0 1 2 3" if names[number] == "MPI_COMM_WORLD" else names[number].rsplit(" ", 1)[1].replace(",", " ")
        expect_equal(" ".join(str(task - 1) for task in tasks), ranks, f"tasks of communicator {number}")
    expect_equal({names[number] for number in trace.communicators}, {communicator for own in logged for _, communicator, _ in own}, "communicators in Paraver")
    for place, own in trace.points.items():
        rank = int(trace.names[place].split()[1])
        communicators = [names[value] for _, name, value in own if name == "Communicator in MPI Global OP"]
        numbers = [value for _, name, value in own if name.startswith("Number of the collective")]
        expect_equal(list(zip(communicators, numbers)), [entry[1:] for entry in logged[rank]], f"operations of rank {rank} in Paraver")


if __name__ == "__main__":
    main()
