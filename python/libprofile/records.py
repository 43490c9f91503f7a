"""What traces, clocks and messages of a profile are returned as."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class TraceSamples(NamedTuple):
    """Samples in the order of time: ns on the rank's clock, index in `call_paths`, and how many frames go on from the sample before.

    How sure the last is: kind 0 unknown, 1 at most so many, 2 exactly. Arrays of int64.
    """

    time_ns: np.ndarray
    path: np.ndarray
    lca_depth: np.ndarray
    lca_kind: np.ndarray


class TraceWaits(NamedTuple):
    """Long calls of MPI and waits of OpenMP, in the order of their ends. `lca` is with the sample or wait before, `after` with that after it."""

    begin_ns: np.ndarray
    end_ns: np.ndarray
    path: np.ndarray
    lca_depth: np.ndarray
    lca_kind: np.ndarray
    after_depth: np.ndarray
    after_kind: np.ndarray


class Trace(NamedTuple):
    """What a thread kept with LIBPROFILE_TRACE=1. Every `stride`-th sample is there (0: no trace), and all waits longer than `longest_dropped_ns`."""

    stride: int
    dropped: int
    samples: TraceSamples
    waits: TraceWaits
    waits_dropped: int
    longest_dropped_ns: int


class Clock(NamedTuple):
    """Where the times of a rank lie on the axis of all ranks, which begins when the first of them did.

    Time `t` of the rank is at begin_ns + t * axis_ns / own_ns (both 0: at begin_ns + t). `common`: it can be compared with other ranks whose clock is
    common; if not, `t` counts from the rank's own start. `uncertainty_ns`: either way, of clocks of different machines; 0 on one machine.
    """

    rank: int
    common: bool
    begin_ns: int
    own_ns: int
    axis_ns: int
    uncertainty_ns: int

    def on_axis(self, times: np.ndarray) -> np.ndarray:
        """Times of the rank, in ns, on the axis of all ranks; int64."""
        times = np.asarray(times, dtype=np.int64)
        if self.own_ns == 0:
            return times + self.begin_ns
        correction = times * ((self.axis_ns - self.own_ns) / self.own_ns)  # small, so that nothing is lost
        return times + np.rint(correction).astype(np.int64) + self.begin_ns


class Partners(NamedTuple):
    """Point-to-point messages over the whole run: a row for each thread, call path, direction and partner. Arrays of int64.

    `path` is an index in `call_paths`, `sent` is 1 or 0 (received), `partner` a rank of MPI_COMM_WORLD. Each call path has up to 8 partners of its
    own; those after them are -1 together, and messages whose partner is not known -2. `lost`: messages in no row, because memory was short.
    """

    rank: np.ndarray
    thread: np.ndarray
    path: np.ndarray
    sent: np.ndarray
    partner: np.ndarray
    messages: np.ndarray
    bytes: np.ndarray
    lost: int

    def matrix(self, ranks: int, what: str = "bytes", sent: bool = True) -> np.ndarray:
        """ranks x ranks, int64: bytes or messages that the rank of the row sent to that of the column, or received from it; named partners only."""
        if what not in ("bytes", "messages"):
            raise ValueError(f"what is \"bytes\" or \"messages\", not {what!r}")
        matrix = np.zeros((ranks, ranks), dtype=np.int64)
        chosen = (self.partner >= 0) & (self.sent == int(sent))
        np.add.at(matrix, (self.rank[chosen], self.partner[chosen]), getattr(self, what)[chosen])
        return matrix


class Context(NamedTuple):
    """A node of the merged context tree: a call, a loop, an iteration or a profile (sums of what had no clear order). 0 is its own parent.

    `count`: for so many iterations it stands. Times in ns: the mean of the main threads, without what lies below, least and most of one instance.
    """

    parent: int
    kind: str
    name: str
    count: int
    ns: float
    own_ns: float
    least_ns: float
    most_ns: float
