"""Profiles of libprofile in Python: numpy arrays straight from the C++ reader, pandas where you want it.

    import libprofile
    p = libprofile.open("libprofile-app-1234")
    p.series("mpi")                            # time in MPI, ranks x iterations
    p.table(iterations=(1, 100)).dataframe()   # call paths x ranks, metrics as columns

Times are in nanoseconds. Iterations count from 1, ranks and threads from 0. Only numpy is needed; `dataframe()` needs pandas.
"""

from __future__ import annotations

import json
import operator
import re
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _reader
from .frame import CallGraph, Correlations, Frame, Place, Ratios, filter_correlation_matrix, make_frame
from .columns import Columns
from .event_filter import EventFilter, Passing
from .machine import Machine, MachinePart
from .over_time import OverTime, over_time
from .processes import EventSkew, Fold, ImbalanceMap, RankTimeline
from . import events as _events, machine as _machine, processes as _processes
from .regressions import Alignment, align, regressions
from .records import Clock, Context, DurationSeries, EventCollectives, EventCounts, EventDependences, EventGroups, EventIntervals, EventMessages, EventParts, EventRuns, Events, EventTasks, InnerIterations, PageRanges, Pages, Partners, Trace, TraceSamples, TraceWaits
from .table import Comparison, Node, Table, compare, import_pandas as _pandas, signed as _signed
from .tasks import TaskGraph, task_graph
from .runs import Pivot, Unified, multirun_analysis, speedup_efficiency, unify, variability

if TYPE_CHECKING:
    import pandas

__all__ = ["Alignment", "CallGraph", "CallPath", "Clock", "Columns", "Comparison", "Context", "Correlations", "DurationSeries", "EventCollectives", "EventCounts", "EventDependences", "EventFilter", "EventGroups", "EventIntervals", "EventMessages", "EventParts", "EventRuns", "EventSkew", "EventTasks", "Events", "Fold",
           "Frame", "ImbalanceMap", "InnerIterations", "Location", "Machine", "MachinePart", "Metric", "Node", "OverTime",
           "PageRanges", "Pages", "Partners", "Passing", "Phase", "Pivot", "Place", "Profile", "RankTimeline", "Ratios", "Table", "TaskGraph", "Trace", "TraceSamples", "TraceWaits", "Unified", "align", "compare",
           "construct_from", "filter_correlation_matrix", "frame", "make_frame", "multirun_analysis", "open", "regressions", "speedup_efficiency", "unify",
           "variability"]
__version__: str = _reader.version

Iterations = Union[int, str, Tuple[int, int]]
Ranks = Union[int, str, Sequence[int]]


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


class Profile:
    """A job's profile in memory. Made by open()."""

    def __init__(self, profile: Any, place: str) -> None:
        self._profile = profile
        self._place = place
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
        """By location, int64, exact: over the whole job."""
        return _signed(self._profile.totals())[:, self._metric(metric)]

    def iteration_times(self, rank: int, thread: int = 0, phase: Optional[str] = None) -> np.ndarray:
        """Wall time of each iteration in ns with all that lies inside it, int64, exact. Without a copy."""
        return _signed(_reader.iteration_times(self._profile, self._location(rank, thread), self._phase(phase)))

    def iteration_begins(self, rank: int, thread: int = 0, phase: Optional[str] = None) -> np.ndarray:
        """When each iteration began, in ns since the measurement of the rank did (clocks() compares ranks), int64. Without a copy.

        Early by less than a 1,024th of the time since the end of the iteration before. Shorter than iteration_times() where later ones are not known.
        """
        return _signed(_reader.iteration_begins(self._profile, self._location(rank, thread), self._phase(phase)))

    def clusters(self, rank: int, thread: int = 0, phase: Optional[str] = None) -> np.ndarray:
        """The cluster of each iteration, int32; the highest number is that of iterations in no cluster. Without a copy."""
        return _signed(_reader.clusters(self._profile, self._location(rank, thread), self._phase(phase)))

    def trace(self, rank: int, thread: int = 0) -> Trace:
        """The samples of a thread and its long calls of MPI and waits of OpenMP; empty arrays without LIBPROFILE_TRACE=1."""
        stride, dropped, waits_dropped, longest, samples, waits = _reader.trace(self._profile, self._location(rank, thread))
        return Trace(stride, dropped, TraceSamples(*samples), TraceWaits(*waits), waits_dropped, longest)

    def events(self, rank: int, thread: int = 0) -> Events:
        """What a thread did, event by event, in the kept iterations; empty arrays without LIBPROFILE_TRACE=events. clocks() brings times to one axis."""
        *head, parts, intervals, messages, collectives, inner, tasks, dependences, runs, groups, counts, names = _reader.events(self._profile, self._location(rank, thread))
        return Events(*head, EventParts(*parts), EventIntervals(*intervals), EventMessages(*messages), EventCollectives(*collectives),
                      InnerIterations(*inner), EventTasks(*tasks), EventDependences(*dependences), EventRuns(*runs), EventGroups(*groups), EventCounts(*counts), names)

    def pages(self, rank: int) -> Pages:
        """On which NUMA nodes the pages lie that the OpenMP tasks of a rank depend on (LIBPROFILE_TRACE=events)."""
        self._location(rank, 0)
        *head, ranges = _reader.pages(self._profile, rank)
        return Pages(*head, PageRanges(*ranges))

    def tasks(self, rank: int, iterations: Optional[Iterations] = None, phase: Optional[str] = None) -> TaskGraph:
        """The graph of the OpenMP tasks of a rank, in all that LIBPROFILE_TRACE=events kept or in these iterations (docs/tasks.md); empty without any."""
        self._location(rank, 0)
        if iterations is None and phase is None:
            return task_graph(*_reader.tasks(self._profile, rank, 2**32 - 1, 0, 0))
        number = self._phase(phase)
        first, last = (0, 2**64 - 1) if iterations is None else self._range(iterations, number)
        return task_graph(*_reader.tasks(self._profile, rank, number, first, last))

    def machine(self, rank: int = 0) -> Machine:
        """The machine that a rank ran on, as hwloc saw it before the program started, and the threads that were last seen on its processors.

        A tree of MachinePart (`root`), and the distances between its NUMA nodes; sizes are in bytes. Raises KeyError if the profile has no such rank, and
        ValueError if it does not have its machine: no rank there was started by `libprofile run`, or hwloc was not at hand.
        """
        return _machine.machine(self, rank)

    def clocks(self) -> list[Clock]:
        """Of each rank with data: what brings its times (iteration_begins(), trace()) to one axis with those of the others."""
        return [Clock(*clock) for clock in _reader.clocks(self._profile)]

    def correlations(self, filter: EventFilter = EventFilter()) -> list[DurationSeries]:
        """How long the MPI calls kept by LIBPROFILE_TRACE=events took for their bytes, by function and pair of ranks; empty without messages."""
        return [DurationSeries(*row) for row in _reader.duration_series(self._profile, filter.fields())]

    def passing(self, filter: EventFilter, rank: int, thread: int = 0) -> Passing:
        """Which of the events() of a thread pass a filter."""
        return Passing(*_reader.passing(self._profile, filter.fields())[self._location(rank, thread)])

    def events_dataframe(self, filter: EventFilter = EventFilter()) -> "pandas.DataFrame":
        """A row for each kept call, region and stretch of a task that passes: rank, thread, state (as in the page's CSV), function, begin_ns and end_ns on
        the rank's clock, task (its number; 0: none), processor (-1: not known)."""
        return _events.events_dataframe(_pandas(), self, filter)

    def tasks_dataframe(self, filter: EventFilter = EventFilter()) -> "pandas.DataFrame":
        """A row for each kept OpenMP task that passes: rank, the columns of TaskGraph.tasks, and function and source of its type."""
        return _events.tasks_dataframe(_pandas(), self, filter)

    def partners(self) -> Partners:
        """Whom point-to-point messages were exchanged with, by call path; empty arrays if there were none."""
        arrays, lost = _reader.partners(self._profile)
        return Partners(*arrays, lost)

    def contexts(self) -> list[Context]:
        """The merged context tree of all main threads (docs/time-series-analysis.md), a row per node, parents first; empty without a trace."""
        return [Context(*row) for row in _reader.contexts(self._profile)]

    def series(self, metric: str = "time", phase: Optional[str] = None, threads: bool = False, exclusive: bool = False) -> np.ndarray:
        """ranks x iterations, float64: the value map of a metric; NaN where a rank has no such iteration, or where it is not known.

        A row for each main thread, in the order of `locations`; with `threads` for every location. With what lies inside the iterations,
        unless `exclusive`. Exact, but for other metrics than "time" where phases without iterations lie inside (docs/python.md).
        """
        rows = self._profile.series(self._phase(phase), self._metric(metric), exclusive)
        return rows if threads else rows[[location.thread == 0 for location in self.locations]]

    def by_iteration(self, metric: str, rank: int, thread: int = 0, phase: Optional[str] = None,
                     iterations: Optional[Iterations] = None, exclusive: bool = False) -> Tuple[np.ndarray, np.ndarray]:
        """iterations x call_paths of the call paths' own values (int64), and the same of which ones are estimates (bool).

        Reconstructed when called: choose `iterations` as in table() to keep it small. What lies inside an iteration belongs to it, unless
        `exclusive`; time inside of which nothing else is known is with call path 0. `metric` is one that is stored for each call path ("time", "visits", "p2p_bytes_sent", ...), not a sum of others such as "bytes".
        """
        stored = self._profile.stored_metrics()
        if metric not in stored:
            raise KeyError(f"{metric!r} is not stored for call paths; these are: {', '.join(stored)}")
        location, number = self._location(rank, thread), self._phase(phase)
        first, last = (0, 2**64 - 1) if iterations is None else self._range(iterations, number)
        values, estimated = self._profile.reconstruct(location, number, stored.index(metric), first, last, exclusive)
        return _signed(values), estimated

    def table(self, iterations: Optional[Iterations] = None, phase: Optional[str] = None, ranks: Ranks = (),
              metrics: Union[str, Sequence[str]] = (), lines: bool = False, short_names: bool = False, exclusive: bool = False) -> Table:
        """Values of call paths over a selection, as `libprofile export` writes them.

        iterations: (first, last), "first:last" or a number, counted from 1, both included, of `phase` or of the one with most time; with
        what lies inside them, unless `exclusive`.
        ranks, metrics: numbers or "0,4-7", and names; all ranks, and what occurs at the top of the metric tree, if empty.
        lines: a node for each line of a function, not for each function. short_names: C++ names without parameters.
        Raises ValueError when the selection is empty or names what is not there.
        """
        return self._table(iterations, phase, ranks, metrics, lines, short_names, exclusive, True)

    def _table(self, iterations: Optional[Iterations], phase: Optional[str], ranks: Ranks, metrics: Union[str, Sequence[str]], lines: bool,
               short_names: bool, exclusive: bool, errors: bool) -> Table:
        number = self._phase(phase) if phase is not None or iterations is not None else None
        chosen = None if iterations is None or number is None else self._range(iterations, number)
        table = self._profile.table(None if number is None else self.phases[number].name, chosen, _ranks(ranks),
                                    [metrics] if isinstance(metrics, str) else list(metrics), lines, short_names, exclusive, errors)
        result = Table(table, lines, self._place)
        if number is not None and self.phases[number].kind == "iterations":
            first, last = chosen or (0, 2**64 - 1)
            for rank, thread, _ in result.places:
                all = len(_reader.iteration_times(self._profile, self._location(rank, thread), number))
                result.instances += max(0, min(last + 1, all) - first)
        return result

    def diagnose(self, phase: Optional[str] = None, iterations: Optional[Iterations] = None, least: float = 0.01) -> dict[str, Any]:
        """What made the run longer than it could be: the object that `libprofile diagnose --format json` prints (docs/json.md), times in ns.

        Of the iterations of up to three phases with most time, unless `phase` or `iterations` (as in table()) choose. `least`: causes that cost
        a smaller share of the run are left out; above 0 and at most 1.
        """
        if not 0 < least <= 1:
            raise ValueError(f"least is a share of the run, above 0 and at most 1: {least!r} is not")
        number = self._phase(phase) if phase is not None or iterations is not None else None
        if number is not None and self.phases[number].kind != "iterations":
            raise ValueError(f"phase {self.phases[number].name!r} has no iterations")
        first, last = (0, 2**64 - 1) if iterations is None or number is None else self._range(iterations, number)
        return json.loads(self._profile.diagnosis(number, first, last, least, self._place))

    def structure(self, level: Optional[str] = None, phase: Optional[str] = None, iterations: Optional[Iterations] = None, ranks: Ranks = (),
                  threads: bool = False, reference: Optional[int] = None, top: int = 10) -> dict[str, Any]:
        """Which ranks do the same, and how the others differ: the object that `libprofile structure --format json` prints (docs/json.md), times in ns.

        "by_samples" is there if the job kept a trace, and not the order of calls.
        `level`: "pairs", "paths", "visits" or "iterations"; groups of it get reasons. `reference`: the rank that the others are compared with.
        Source: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (2016), chapters 3 and 4.
        """
        return _processes.structure(self, level, phase, iterations, ranks, threads, reference, top)

    def fold(self, by: str = "dominating", state: str = "class", phase: Optional[str] = None, iterations: Optional[Iterations] = None, ranks: Ranks = (),
             threads: bool = False, depth: int = 2) -> Fold:
        """Many ranks as one strip over iterations (Weber 2016, chapter 5).

        `by`: "dominating" (the state of most ranks), "outliers" (the next one, where not all agree) or "use" (computing, if any rank computes).
        `state`: "class" (computing, classes of MPI), "function" (at `depth` below the begin of the call path) or "kind" (of iteration).
        """
        return _processes.fold(self, by, state, phase, iterations, ranks, threads, depth)

    def imbalance_map(self, phase: Optional[str] = None, iterations: Optional[Iterations] = None, ranks: Ranks = (), threads: bool = False) -> ImbalanceMap:
        """How much longer each rank computes than the median rank, by iteration (Weber 2016, chapter 5).

        Of a profile without iterations: in an entry of the named region that takes most.
        """
        return _processes.imbalance_map(self, phase, iterations, ranks, threads)

    def timeline(self, rank: int, reference: int, phase: Optional[str] = None) -> RankTimeline:
        """A rank against another, iteration by iteration: other calls, and time computed (Weber 2016, chapter 3)."""
        return _processes.timeline(self, rank, reference, phase)

    def _range(self, iterations: Iterations, phase: int) -> Tuple[int, int]:
        """From 0, both included."""
        text = re.fullmatch(r"(\d+)(?:[:-](\d+))?", iterations) if isinstance(iterations, str) else None
        if text:
            first, last = int(text[1]), int(text[2] or text[1])
        else:
            try:
                first, last = (_whole(i) for i in (iterations if hasattr(iterations, "__iter__") else (iterations, iterations)))  # type: ignore[union-attr]
            except (TypeError, ValueError):
                raise ValueError(f"iterations are (first, last), \"first:last\" or one number, counted from 1: {iterations!r} is none of these") from None
        if not 1 <= first <= last:
            raise ValueError(f"iterations are (first, last), counted from 1: {iterations!r} is not such a range")
        all = max(len(_reader.iteration_times(self._profile, l, phase)) for l in range(len(self.locations)))
        if last > all:
            raise ValueError(f"{self.phases[phase].name!r} has no iteration {last}; it has the iterations 1 to {all}")
        return first - 1, last - 1

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


def _whole(number: Any) -> int:
    """A whole number, of numpy's, too, and no other: 2.7 is no iteration, True no rank."""
    if isinstance(number, (bool, np.bool_)):
        raise TypeError
    return operator.index(number)


def _ranks(ranks: Ranks) -> list[int]:
    """Empty means all; a text always names some."""
    try:
        if not isinstance(ranks, str):
            numbers = [_whole(rank) for rank in (ranks if hasattr(ranks, "__iter__") else [ranks])]  # type: ignore[union-attr]
            if min(numbers, default=0) < 0:
                raise ValueError
            return numbers
        parts = [re.fullmatch(r"(\d+)(?:-(\d+))?", part.strip()) for part in ranks.split(",")]
        spans = [(int(part[1]), int(part[2] or part[1])) for part in parts]  # type: ignore[index]
        if any(last < first for first, last in spans):
            raise ValueError
        return sorted({rank for first, last in spans for rank in range(first, last + 1)})
    except (TypeError, ValueError):
        raise ValueError(f"ranks are numbers, or like \"0,4-7\": {ranks!r} is neither") from None


def frame(place: Any, metrics: Union[str, Sequence[str]] = (), iterations: Optional[Iterations] = None, ranks: Ranks = (),
          phase: Optional[str] = None, lines: bool = False, short_names: bool = False,
          by_iteration: Union[bool, int] = False) -> Union[Frame, OverTime]:
    """A profile as a frame: what Profile.table() selects, for the analyses of Frame. `place`: a folder or file, or an open Profile.

    Of a whole run, a rank is read, summed and let go. The sums of a large profile are kept beside it (docs/analysis.md).
    by_iteration: True for each iteration, or a number of iterations for each step: an OverTime of one metric, "time (inc)" if not chosen.

    Files of other tools are recognised by their content (docs/analysis.md); they have no iterations and phases, and are read whole.
    """
    if not isinstance(place, Profile) and _reader.is_importable(str(place)):
        if iterations is not None or phase is not None or metrics or _ranks(ranks) or lines or short_names or by_iteration:
            raise ValueError(f"{place} is of another tool: it is read whole; choose with filter() and subtree()")
        return Frame(_reader.import_frame(str(place)), str(place))
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    if not isinstance(place, Profile) and iterations is None and phase is None and not by_iteration:
        return Frame(_reader.read_frame(str(place), _ranks(ranks), names, lines, short_names), str(place))
    profile = place if isinstance(place, Profile) else open(place)
    if by_iteration:
        stride = 1 if by_iteration is True else _whole(by_iteration)
        if stride < 1 or len(names) > 1:
            raise ValueError(f"steps have at least one iteration, and one metric: not {stride} and {names}")
        number = profile._phase(phase)
        chosen = None if iterations is None else profile._range(iterations, number)
        return over_time(profile._profile, (names or ["time (inc)"])[0], stride, profile.phases[number].name, chosen, _ranks(ranks), lines, short_names,
                         profile._place)
    return profile._table(iterations, phase, ranks, metrics, lines, short_names, False, False).frame


def construct_from(places: Sequence[Any]) -> list[Frame]:
    """frame() of each, two at a time: files of libprofile and of other tools may be mixed."""
    from concurrent.futures import ThreadPoolExecutor
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(frame, places))


def open(place: Any) -> Profile:
    """Reads the profile of a job from its folder (or one profile file).

    Raises OSError with a sentence when there is none; damaged parts are left out and named in `notes`.
    """
    return Profile(_reader.open(str(place)), str(place))
