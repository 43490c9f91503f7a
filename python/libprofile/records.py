"""What traces, clocks and messages of a profile are returned as."""

from __future__ import annotations

from typing import NamedTuple, Optional

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


class EventParts(NamedTuple):
    """The stretches of a run of which all events were kept, in the order of time. Arrays of int64, times in ns since the measurement of the rank began.

    iteration: 1 for an iteration of the rank's main thread, whose number (from 0) is `number` in `phase` (position in Profile.phases; -1: not known);
    0 for a window of time. reasons: a sum of 1 (its number is a multiple of the stride: other ranks have it, too), 2 (one of the slowest), 4 (the first of
    its cluster). A part has the intervals from position intervals_at on, `intervals` of them; messages, collectives, tasks (their creations), runs, groups
    and counts likewise.
    """

    iteration: np.ndarray
    phase: np.ndarray
    number: np.ndarray
    reasons: np.ndarray
    begin_ns: np.ndarray
    end_ns: np.ndarray
    intervals_at: np.ndarray
    intervals: np.ndarray
    messages_at: np.ndarray
    messages: np.ndarray
    collectives_at: np.ndarray
    collectives: np.ndarray
    tasks_at: np.ndarray
    tasks: np.ndarray
    runs_at: np.ndarray
    runs: np.ndarray
    groups_at: np.ndarray
    groups: np.ndarray
    counts_at: np.ndarray
    counts: np.ndarray


class EventIntervals(NamedTuple):
    """Calls of MPI, waits and constructs of OpenMP, visits to named regions, in the order of their ends in each part. Arrays of int64; `path` is a
    position in Profile.call_paths, processor the kernel's number of the hardware thread on which it ended (-1: not known)."""

    begin_ns: np.ndarray
    end_ns: np.ndarray
    path: np.ndarray
    processor: np.ndarray


class EventMessages(NamedTuple):
    """One end of each message. Arrays of int64. interval: position of the call in EventIntervals; received: 1, else it was sent; partner: rank (-1: not
    known). The other end is message `other_end` of Profile.locations[other_location]; -1: it was not kept."""

    interval: np.ndarray
    received: np.ndarray
    partner: np.ndarray
    communicator: np.ndarray
    tag: np.ndarray
    bytes: np.ndarray
    other_location: np.ndarray
    other_end: np.ndarray


class EventCollectives(NamedTuple):
    """Collective operations. Arrays of int64. interval: position of the call in EventIntervals; communicator: as in EventMessages; number: among those of
    the communicator, from 1 on. Calls of different ranks with the same communicator and number are one operation."""

    interval: np.ndarray
    communicator: np.ndarray
    number: np.ndarray


class InnerIterations(NamedTuple):
    """Iterations inside others. Arrays of int64; phase: position in Profile.phases; number: from 0."""

    begin_ns: np.ndarray
    end_ns: np.ndarray
    phase: np.ndarray
    number: np.ndarray


class EventTasks(NamedTuple):
    """Creations of tasks of OpenMP by the thread. Arrays of int64. number: of the task, unique in its process, from 1 on; creator: the task that made it
    (0: the implicit task of the thread); path: of the place that made it, a position in Profile.call_paths; flags: a sum of 1 (its creator waits for it),
    2 (final), 4 (untied), 8 (made by a taskloop). It has `dependences` of EventDependences from position dependences_at on."""

    number: np.ndarray
    creator: np.ndarray
    created_ns: np.ndarray
    path: np.ndarray
    flags: np.ndarray
    dependences_at: np.ndarray
    dependences: np.ndarray


class EventDependences(NamedTuple):
    """What tasks depend on. Arrays of int64; kind: 1 in, 2 out, 3 inout (or out: compilers do not tell), 4 mutexinoutset, 5 inoutset; node: the NUMA
    node of the address's page (-1: not known)."""

    address: np.ndarray
    kind: np.ndarray
    node: np.ndarray


class EventRuns(NamedTuple):
    """Stretches in which the thread executed a task, in the order of their ends in each part; others may run inside. Arrays of int64.

    task: its number; path: of the parallel region and the task's function, a position in Profile.call_paths; is_over: 1, else the task goes on later;
    is_resumed: 1 if it had run before; processor: on which it ended, as in EventIntervals.
    """

    task: np.ndarray
    begin_ns: np.ndarray
    end_ns: np.ndarray
    path: np.ndarray
    is_over: np.ndarray
    is_resumed: np.ndarray
    processor: np.ndarray


class EventGroups(NamedTuple):
    """Taskgroups, until all their tasks were over. Arrays of int64; task: the number of the one that waited (0: the implicit task of the thread)."""

    task: np.ndarray
    begin_ns: np.ndarray
    end_ns: np.ndarray


class EventCounts(NamedTuple):
    """Counters that the user chose, at both ends of runs of tasks, of calls and waits that usually are long, and of regions. Arrays of int64.

    of_run: 1 for position `event` in EventRuns, 0 for one in EventIntervals; counter: position in Events.counters; begin, end: values, whose origin is
    arbitrary: use differences.
    """

    of_run: np.ndarray
    event: np.ndarray
    counter: np.ndarray
    begin: np.ndarray
    end: np.ndarray


class PageRanges(NamedTuple):
    """Memory from address `begin` to `end` (exclusive) on the NUMA node `node`. Arrays of int64, in the order of addresses."""

    begin: np.ndarray
    end: np.ndarray
    node: np.ndarray


class Pages(NamedTuple):
    """Where the pages lie that a rank's tasks depend on. page_size: bytes (0: nothing was recorded); error: errno with which the kernel refused to tell
    (0: it did not); unknown: pages that were not in memory when it was asked; left_out: dependences on pages that were not remembered."""

    page_size: int
    error: int
    unknown: int
    left_out: int
    ranges: PageRanges


class Events(NamedTuple):
    """What a thread kept with LIBPROFILE_TRACE=events. stride: parts whose number is a multiple of it are there (0: no events)."""

    stride: int
    window_ns: int
    dropped_parts: int
    dropped_events: int
    parts: EventParts
    intervals: EventIntervals
    messages: EventMessages
    collectives: EventCollectives
    inner: InnerIterations
    tasks: EventTasks
    dependences: EventDependences
    runs: EventRuns
    groups: EventGroups
    counts: EventCounts
    counters: list[str]


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


class DurationSeries(NamedTuple):
    """How the durations of MPI calls go with their bytes, and those of calls and tasks with the increase of a counter. The line of least squares is intercept_ns + slope_ns * amount.

    rank: that called, partner: of all messages of each call; both None for all calls of the function. durations_ns and amounts have an element for each
    call or task, as for a scatter plot. What cannot be computed, because all amounts are the same, is NaN. slope_error_ns: 1.96 standard errors of the
    slope, with many calls half of its 95 % interval.
    """

    function: str
    rank: Optional[int]
    partner: Optional[int]
    amount: str
    unit: str
    durations_ns: np.ndarray
    amounts: np.ndarray
    pearson: float
    r_squared: float
    intercept_ns: float
    slope_ns: float
    is_of_tasks: bool
    slope_error_ns: float


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
