"""Which events of kept iterations count, in the words of the page and of `libprofile export` (docs/export.md)."""

from __future__ import annotations

from typing import NamedTuple, Sequence

import numpy as np

_KINDS = ("", "calls", "tasks", "regions")


class EventFilter(NamedTuple):
    """What is not named counts. only: calls, tasks or regions; with_text: in the name of the function, of a task in its type; inside: in the name of a
    function of the call path; least_ns, most_ns: how long it takes, of a task its own time; then numbers of threads, of processors and their NUMA nodes
    where it ended, and of NUMA nodes whose data a task reads or writes by its depend clauses."""

    only: str = ""
    with_text: str = ""
    inside: str = ""
    least_ns: int = 0
    most_ns: int = 2**64 - 1
    threads: Sequence[int] = ()
    processors: Sequence[int] = ()
    nodes: Sequence[int] = ()
    reads: Sequence[int] = ()
    writes: Sequence[int] = ()

    def fields(self) -> tuple:
        """As the reader wants them."""
        if self.only not in _KINDS:
            raise ValueError(f"only={self.only!r}: there are calls, tasks and regions")
        return (_KINDS.index(self.only), *self[1:5], *(sorted({int(number) for number in numbers}) for numbers in self[5:]))


class Passing(NamedTuple):
    """Which rows of Events.intervals, Events.runs and Events.tasks pass a filter. Arrays of bool."""

    intervals: np.ndarray
    runs: np.ndarray
    tasks: np.ndarray
