"""Profiles of libprofile in Python: numpy arrays straight from the C++ reader, pandas where you want it.

    import libprofile
    p = libprofile.open("libprofile-app-1234")
    p.series("mpi")                            # time in MPI, ranks x iterations
    p.table(iterations=(1, 100)).dataframe()   # call paths x ranks, metrics as columns

Times are in nanoseconds. Iterations count from 1, ranks and threads from 0. Only numpy is needed; `dataframe()` needs pandas.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import _reader

if TYPE_CHECKING:
    import pandas

__all__ = ["CallPath", "Location", "Metric", "Node", "Phase", "Place", "Profile", "Table", "open"]


class Metric(NamedTuple):
    """A row of the metric tree (docs/metrics.md)."""

    name: str
    unit: str
    label: str
    description: str
    parent: Optional[str]


class Location(NamedTuple):
    """A thread of a rank; thread 0 is the main one."""

    rank: int
    thread: int
    host: str
    wall_ns: int
    complete: bool


class Phase(NamedTuple):
    """A part of the program; kind is "outside", "aggregate" or "iterations". A frame is a found loop around another one that has most of its time."""

    name: str
    kind: str
    frame: bool = False


class CallPath(NamedTuple):
    """A call path of the profile: the last function, and the call path of its caller. 0 is the root and its own parent."""

    parent: int
    kind: str
    name: str
    file: str
    line: int
    module: str


class Node(NamedTuple):
    """A node of a Table's tree, in the order parents first. 0 is the program and its own parent."""

    parent: int
    kind: str
    name: str
    file: str
    line: int
    module: str


class Place(NamedTuple):
    """A thread of a rank in a Table."""

    rank: int
    thread: int
    host: str


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas; install python3-pandas, or use the arrays") from None
    return pandas


class Table:
    """Exclusive and inclusive values of a selection: nodes of a call tree x threads, for some metrics. Made by Profile.table()."""

    def __init__(self, table: Any) -> None:
        self._table = table
        self.nodes = [Node(*node) for node in table.nodes()]
        self.places = [Place(*place) for place in table.places()]
        self.metrics: list[str] = table.metrics()
        self.estimated: bool = table.estimated
        """Whether some value is an estimate: only in parts of the iterations (docs/export.md)."""
        self.scope: str = table.scope
        """What was selected, in words; empty: everything."""

    def __repr__(self) -> str:
        return f"<libprofile.Table: {len(self.nodes)} nodes x {len(self.places)} threads, {', '.join(self.metrics)}>"

    @property
    def parents(self) -> np.ndarray:
        """The number of each node's parent."""
        return np.fromiter((node.parent for node in self.nodes), np.uint32, len(self.nodes))

    def _index(self, metric: str) -> int:
        try:
            return self.metrics.index(metric)
        except ValueError:
            raise KeyError(f"the table has no metric {metric!r}, but {', '.join(self.metrics)}") from None

    def exclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x places, uint64: without the callees."""
        return self._table.values(self._index(metric), False)

    def inclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x places, uint64: with the callees."""
        return self._table.values(self._index(metric), True)

    def cells(self, place: int) -> np.ndarray:
        """What is not zero at one place, without a copy: node, metric (number), value, estimated."""
        if not 0 <= place < len(self.places):
            raise IndexError(f"the table has {len(self.places)} places")
        return _reader.cells(self._table, place)

    def path(self, node: int) -> list[str]:
        """Names from the program to the node."""
        names = [self.nodes[node].name]
        while node != 0:
            node = self.nodes[node].parent
            names.append(self.nodes[node].name)
        return names[::-1]

    def dataframe(self) -> "pandas.DataFrame":
        """A row per node and thread, index (node, rank, thread): name, file, line, and each metric exclusively and "(inc)"."""
        pandas = _pandas()
        nodes, places = len(self.nodes), len(self.places)
        index = pandas.MultiIndex.from_arrays(
            [np.repeat(np.arange(nodes), places), np.tile([p.rank for p in self.places], nodes),
             np.tile([p.thread for p in self.places], nodes)], names=["node", "rank", "thread"])
        columns: dict[str, Any] = {key: np.repeat(np.array([getattr(n, key) for n in self.nodes], dtype=object), places)
                                   for key in ("name", "file", "line")}
        for metric in self.metrics:
            columns[metric] = self.exclusive(metric).reshape(-1)
            columns[metric + " (inc)"] = self.inclusive(metric).reshape(-1)
        return pandas.DataFrame(columns, index=index)


class Profile:
    """A job's profile in memory. Made by open()."""

    def __init__(self, profile: Any) -> None:
        self._profile = profile
        job = profile.job()
        self.ranks: int = job["ranks"]
        self.command: str = job["command"]
        self.executable: str = job["executable"]
        self.folder: str = job["folder"]
        self.mpi: str = job["mpi"]
        self.version: str = job["version"]
        self.start_unix_ns: int = job["start_unix_ns"]
        self.configuration: dict[str, str] = dict(line.split("=", 1) for line in job["configuration"].splitlines() if "=" in line)
        self.complete: bool = job["complete"]
        self.notes: list[str] = job["notes"]
        """What is lost or does not fit together, one sentence each."""
        self.metrics = [Metric(**metric) for metric in profile.metrics()]
        self.locations = [Location(*location) for location in profile.locations()]
        self.phases = [Phase(*phase) for phase in profile.phases()]
        self._call_paths: Optional[list[CallPath]] = None

    def __repr__(self) -> str:
        return f"<libprofile.Profile: {self.command}, {self.ranks} ranks>"

    @property
    def call_paths(self) -> list[CallPath]:
        """Every call path; the columns of by_iteration()."""
        if self._call_paths is None:
            self._call_paths = [CallPath(*path) for path in self._profile.call_paths()]
        return self._call_paths

    @property
    def main_phase(self) -> str:
        """The phase with iterations that took most time; no frame."""
        names = [phase.name for phase in self.phases if phase.kind == "iterations" and not phase.frame]
        if not names:
            raise ValueError("the profile has no iterations; mark the loop in the program")
        time = lambda name: sum(int(self.iteration_times(l.rank, l.thread, name).sum()) for l in self.locations)
        return max(names, key=time)

    def _phase(self, name: Optional[str]) -> int:
        name = self.main_phase if name is None else name
        for number, phase in enumerate(self.phases):
            if phase.name == name:
                return number
        raise KeyError(f"the profile has no phase {name!r}, but {', '.join(repr(p.name) for p in self.phases)}")

    def _location(self, rank: int, thread: int) -> int:
        for number, location in enumerate(self.locations):
            if (location.rank, location.thread) == (rank, thread):
                return number
        raise KeyError(f"the profile has no thread {thread} of rank {rank}")

    def _metric(self, name: str) -> int:
        for number, metric in enumerate(self.metrics):
            if metric.name == name:
                return number
        raise KeyError(f"there is no metric {name!r}; Profile.metrics lists them")

    def totals(self, metric: str = "time") -> np.ndarray:
        """By location, uint64, exact: over the whole job."""
        return self._profile.totals()[:, self._metric(metric)]

    def iteration_times(self, rank: int, thread: int = 0, phase: Optional[str] = None) -> np.ndarray:
        """Inclusive wall time of each iteration in ns, uint64, exact. Without a copy."""
        return _reader.iteration_times(self._profile, self._location(rank, thread), self._phase(phase))

    def clusters(self, rank: int, thread: int = 0, phase: Optional[str] = None) -> np.ndarray:
        """The cluster of each iteration, uint32; the highest number is that of iterations in no cluster. Without a copy."""
        return _reader.clusters(self._profile, self._location(rank, thread), self._phase(phase))

    def series(self, metric: str = "time", phase: Optional[str] = None, threads: bool = False) -> np.ndarray:
        """ranks x iterations, float64: the value map of a metric, exact; NaN where a rank has no such iteration or it was not kept.

        A row for each main thread, in the order of `locations`; with `threads` for every location.
        """
        rows = self._profile.series(self._phase(phase), self._metric(metric))
        return rows if threads else rows[[location.thread == 0 for location in self.locations]]

    def by_iteration(self, metric: str, rank: int, thread: int = 0, phase: Optional[str] = None,
                     iterations: Optional[Tuple[int, int]] = None) -> Tuple[np.ndarray, np.ndarray]:
        """iterations x call_paths of exclusive values (uint64), and the same of which ones are estimates (bool).

        Reconstructed when called: choose `iterations` (first, last), counted from 1, both included, to keep it small. `metric` is one that
        is stored for each call path ("time", "visits", "p2p_bytes_sent", ...), not a sum of others such as "bytes".
        """
        stored = self._profile.stored_metrics()
        if metric not in stored:
            raise KeyError(f"{metric!r} is not stored for call paths; these are: {', '.join(stored)}")
        first, last = _checked(iterations) if iterations is not None else (0, 2**64 - 1)
        return self._profile.reconstruct(self._location(rank, thread), self._phase(phase), stored.index(metric), first, last)

    def table(self, iterations: Optional[Tuple[int, int]] = None, phase: Optional[str] = None, ranks: Sequence[int] = (),
              metrics: Sequence[str] = (), lines: bool = False, short_names: bool = False) -> Table:
        """Values of call paths over a selection, as `libprofile export` writes them.

        iterations: (first, last), counted from 1, both included, of `phase` or of the one with most time.
        ranks, metrics: all ranks, and what occurs at the top of the metric tree, if empty.
        lines: a node for each line of a function, not for each function. short_names: C++ names without parameters.
        Raises ValueError when the selection is empty or names what is not there.
        """
        return Table(self._profile.table(phase, None if iterations is None else _checked(iterations), list(ranks), list(metrics), lines, short_names))

    def iterations_dataframe(self, metrics: Sequence[str] = ("time", "mpi", "visits", "bytes"), phase: Optional[str] = None) -> "pandas.DataFrame":
        """A row per rank and iteration, index (rank, iteration): wall_ns, cluster and metrics."""
        pandas = _pandas()
        name = self.main_phase if phase is None else phase
        values = {metric: self.series(metric, name) for metric in metrics}
        frames = []
        for row, location in enumerate(l for l in self.locations if l.thread == 0):
            times = self.iteration_times(location.rank, 0, name)
            index = pandas.MultiIndex.from_product([[location.rank], range(1, len(times) + 1)], names=["rank", "iteration"])
            columns: dict[str, Any] = {"wall_ns": times, "cluster": self.clusters(location.rank, 0, name)}
            columns.update({metric: values[metric][row][:len(times)] for metric in metrics})
            frames.append(pandas.DataFrame(columns, index=index))
        return pandas.concat(frames)


def _checked(iterations: Tuple[int, int]) -> Tuple[int, int]:
    first, last = iterations
    if not 1 <= first <= last:
        raise ValueError(f"iterations are (first, last), counted from 1: {iterations!r} is no such range")
    return first - 1, last - 1


def open(place: Any) -> Profile:
    """Reads the profile of a job from its folder (or one profile file).

    Raises OSError with a sentence when there is none; what is damaged is left out and named in `notes`.
    """
    return Profile(_reader.open(str(place)))
