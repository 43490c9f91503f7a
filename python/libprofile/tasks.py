"""The graph of OpenMP tasks of a rank (docs/tasks.md)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class TaskColumns(NamedTuple):
    """A row for each task that was created, in the order of creation. Arrays of int64; times in ns on the rank's clock.

    creator: position of the task that created it (-1: an implicit task, or it is not there); type: position in TaskGraph.types; path: of the creation, a
    position in Profile.call_paths; created_by, thread: threads (-1: it did not run); complete: 1, else it counts in no sum; depth: -1 if not known;
    ready_ns: created, and all that it depends on is over; duration_ns: own time; runs_at, runs: its rows in TaskGraph.runs;
    local, remote, unknown: its depend clauses whose data lie on the NUMA node where the task ran, or on another, or where that is not known.
    """

    number: np.ndarray
    creator: np.ndarray
    type: np.ndarray
    path: np.ndarray
    flags: np.ndarray
    created_by: np.ndarray
    thread: np.ndarray
    complete: np.ndarray
    stolen: np.ndarray
    depth: np.ndarray
    created_ns: np.ndarray
    ready_ns: np.ndarray
    begin_ns: np.ndarray
    end_ns: np.ndarray
    duration_ns: np.ndarray
    runs_at: np.ndarray
    runs: np.ndarray
    local: np.ndarray
    remote: np.ndarray
    unknown: np.ndarray


class TaskRuns(NamedTuple):
    """The stretches of execution of each task, in the order of the tasks. Arrays of int64; path: of the function that ran, or of the creation."""

    begin_ns: np.ndarray
    end_ns: np.ndarray
    thread: np.ndarray
    path: np.ndarray


class TaskDependences(NamedTuple):
    """Edges between positions of tasks. From the number of tasks on they are junctions, between several tasks and several that wait for all of them."""

    before: np.ndarray
    after: np.ndarray


class TaskDepths(NamedTuple):
    """The available parallelism: how many tasks have each depth, and the sum of their durations. Arrays of int64."""

    tasks: np.ndarray
    ns: np.ndarray


class TaskNodes(NamedTuple):
    """Accesses by depend clauses, by the NUMA nodes of the processor that executed the task and of the data. Arrays of int64; pairs without any are not
    there. An access that may be both (inout) is a read and a write."""

    task_node: np.ndarray
    data_node: np.ndarray
    reads: np.ndarray
    writes: np.ndarray


class TaskSteps(NamedTuple):
    """The critical path, in the order of execution. task: its position (-1: the implicit task of `thread`); piece: of the task, from 0. Arrays of int64."""

    task: np.ndarray
    thread: np.ndarray
    piece: np.ndarray
    path: np.ndarray
    ns: np.ndarray


class TaskType(NamedTuple):
    """Tasks of the same function, created at the same line. Times in ns; delay_ns: from creation to begin, queue_ns: from ready to begin, both medians."""

    function: str
    source: str
    tasks: int
    stolen: int
    sum_ns: int
    least_ns: int
    median_ns: int
    most_ns: int
    delay_ns: int
    queue_ns: int


class TaskGraph(NamedTuple):
    """Work, span and what they are made of. `missing`: how many tasks (or events) are not all there, by what is missing."""

    complete: int
    stolen: int
    work_ns: int
    span_ns: int
    implicit_ns: int
    threads: int
    missing: dict[str, int]
    tasks: TaskColumns
    runs: TaskRuns
    dependences: TaskDependences
    depths: TaskDepths
    critical_path: TaskSteps
    types: list[TaskType]
    nodes: TaskNodes

    @property
    def parallelism(self) -> float:
        return self.work_ns / self.span_ns if self.span_ns else 0.0


def task_graph(sums, missing, tasks, runs, dependences, depths, steps, types, nodes) -> TaskGraph:
    """What the reader returns, with names."""
    names = ("not_run", "partly_run", "contradictory", "created_elsewhere", "repeated", "backward", "of_unknown_creators", "outside_regions")
    return TaskGraph(*sums, dict(zip(names, missing)), TaskColumns(*tasks), TaskRuns(*runs), TaskDependences(*dependences), TaskDepths(*depths),
                     TaskSteps(*steps), [TaskType(*row) for row in types], TaskNodes(*nodes))
