"""Frames: a call tree with the values of all ranks, and what tuning asks of it. The conventions are those of Hatchet and Chopper."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Callable, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _reader
from .columns import Category, Columns, pandas_module

if TYPE_CHECKING:
    import pandas

INCLUSIVE = " (inc)"
METHODS = {"pearson": _reader.pearson, "spearman": _reader.spearman, "kendall": _reader.kendall}

Condition = Union[np.ndarray, Sequence[bool], str, Callable[[Columns], Any]]


class Place(NamedTuple):
    """A rank, or a thread of one."""

    rank: int
    thread: int
    host: str


def _split(metric: str) -> Tuple[str, bool]:
    """A metric's name, and whether its inclusive value is meant: "time (inc)"."""
    return (metric[: -len(INCLUSIVE)], True) if metric.endswith(INCLUSIVE) else (metric, False)


def _compat(compat: Optional[str]) -> bool:
    if compat not in (None, "hatchet"):
        raise ValueError(f'compat is "hatchet" or None: {compat!r} is neither')
    return compat is not None


class Frame:
    """A call tree x ranks and threads, for some metrics. Made by frame() or make_frame(); does not change.

    Metrics are named as in the profile, "time", and with the callees "time (inc)". Times are in ns. What a rank never came to is absent,
    which is not 0.
    """

    def __init__(self, handle: Any, name: str = "") -> None:
        self._frame = handle
        self.name = name
        """What it was read from."""
        self.scope: str = handle.scope
        """What was selected, in words; empty: everything."""
        self.estimated: bool = handle.estimated
        """Whether some value is an estimate: only in parts of the iterations."""
        self.notes: list[str] = handle.notes
        """What a file of another tool has that is not here, one sentence each."""
        self.metrics: list[str] = [metric for metric, _ in handle.metrics()]
        self.units: dict[str, str] = dict(handle.metrics())
        self.ranks = [Place(*place) for place in handle.groups("rank")]
        self.threads = [Place(*place) for place in handle.groups("thread")]
        self._texts: Optional[np.ndarray] = None

    def __repr__(self) -> str:
        return f"<libprofile.Frame: {self.node_count} nodes x {len(self.ranks)} ranks, {', '.join(self.metrics)}>"

    @property
    def node_count(self) -> int:
        return len(self._frame.parent)

    @property
    def parents(self) -> np.ndarray:
        """The number of each node's parent; node 0 is the program and its own parent. Without a copy."""
        return self._frame.parent

    def _text(self, column: str) -> Category:
        if self._texts is None:
            self._texts = np.array(self._frame.texts(), dtype=object)
        return Category(getattr(self._frame, column), self._texts)

    def nodes(self, values: bool = False) -> Columns:
        """Columns node, name, type, file, line, module; with `values` also the sums of all metrics over all ranks."""
        columns: dict[str, Any] = {"node": np.arange(self.node_count), "name": self._text("name"), "type": self._text("kind"),
                                   "file": self._text("file"), "line": self._frame.line, "module": self._text("module")}
        if values:
            for metric in self.metrics:
                columns[metric], columns[metric + INCLUSIVE] = self.sums(metric), self.sums(metric + INCLUSIVE)
        return Columns(columns)

    def path(self, node: int) -> list[str]:
        """Names from the program to the node."""
        self._check_node(node)
        parents, names, path = self.parents, self._text("name"), [int(node)]
        while path[-1] != 0:
            path.append(int(parents[path[-1]]))
        return [names[at] for at in reversed(path)]

    def _check_node(self, node: int) -> int:
        if not 0 <= node < self.node_count:
            raise ValueError(f"there is no node {node}; the frame has {self.node_count} nodes")
        return int(node)

    def sums(self, metric: str = "time") -> np.ndarray:
        """By node, float64: over all ranks and threads."""
        return self._frame.sums(*_split(metric))

    def values(self, metric: str = "time", over: str = "rank") -> np.ndarray:
        """nodes x ranks (or threads), float64; NaN where the rank never came to the node."""
        values, there = self._frame.dense(*_split(metric), over)
        values[~there] = np.nan
        return values

    def stored(self, metric: str = "time") -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The exclusive values as they lie in memory, without a copy: where those of each thread begin, their nodes, and the values.

        Columns that stay in the file because they have more than 4 million values are read into memory for it.
        """
        return self._frame.column(metric)

    def load_imbalance(self, metric: str = "time", threshold: float = 0, verbose: bool = False, over: str = "rank",
                       compat: Optional[str] = None) -> Columns:
        """How unequally the ranks share each node, the largest mean first: METRIC.mean, .max, .imbalance (max / mean) and .present.

        The mean is over all ranks; a rank that never came to the node counts with 0. `present` is how many did.
        threshold: leave out nodes whose maximum is below this share of the largest one.
        verbose: also .ranks (the five highest), .percentiles (0, 25, 50, 75, 100) and .hist (ten bins of equal width).
        over: "rank", threads added up, or "thread". compat="hatchet": each thread counts as a rank, and Hatchet's bins.
        """
        hatchet = _compat(compat)
        if hatchet:
            over = "thread"
        result = self._frame.imbalance(*_split(metric), over, threshold, verbose, hatchet)
        node = result["node"]
        columns: dict[str, Any] = {"node": node, "name": self._text("name")[node]}
        for key in ("mean", "max", "imbalance", "present"):
            columns[f"{metric}.{key}"] = result[key]
        if verbose:
            places = self.threads if over == "thread" else self.ranks
            columns[metric + ".ranks"] = np.array([place.rank for place in places] + [-1])[np.minimum(result["top"], len(places))]
            columns[metric + ".percentiles"] = result["percentiles"]
            columns[metric + ".hist"] = result["hist"]
        return Columns(columns)

    def hot_path(self, metric: Optional[str] = None, start: Optional[int] = None, threshold: float = 0.5, compat: Optional[str] = None) -> Columns:
        """From `start` (else the child of the program with most) downwards: the child with most, while it has more than `threshold` of its parent.

        The inclusive value decides, also for metric="time", which is the default. compat="hatchet": the metric itself decides, by default the own
        "time", and the first node that has less is in the path.
        """
        hatchet = _compat(compat)
        name, inclusive = _split(metric or "time")
        path = np.array(self._frame.hot_path(name, None if start is None else self._check_node(start), threshold, inclusive or not hatchet, hatchet))
        all = self.sums(name + INCLUSIVE)
        with np.errstate(divide="ignore", invalid="ignore"):
            share = all[path] / all[self.parents[path]]
        return Columns({"node": path, "name": self._text("name")[path], "file": self._text("file")[path], "line": self._frame.line[path],
                        name + INCLUSIVE: all[path], "share of caller": share})

    def to_callgraph(self, metric: str = "time", by: str = "name") -> "CallGraph":
        """Functions instead of call paths; a function's inclusive value counts calls of itself inside itself once."""
        return CallGraph(self, _split(metric)[0], by)

    def flat_profile(self, metric: str = "time", by: str = "name", compat: Optional[str] = None) -> Columns:
        """By function (or by="file", "module"), most first: METRIC, METRIC (inc) over all ranks, and the share of the whole.

        compat="hatchet": means over threads, and calls of a function inside itself count again.
        """
        functions = self.to_callgraph(metric, by).functions
        if not _compat(compat):
            return functions
        name = _split(metric)[0]
        texts, group = _groups(self, by)
        sums = [np.bincount(group, self.sums(column), len(texts)) / len(self.threads) for column in (name, name + INCLUSIVE)]
        return Columns({by: texts, name: sums[0], name + INCLUSIVE: sums[1]}).sorted(name)

    def flatten(self, by: str = "name") -> "Frame":
        """All functions side by side below the program."""
        return Frame(self._frame.flattened(by), self.name)

    def filter(self, condition: Condition) -> "Frame":
        """The nodes that are chosen; what lies below others goes to the nearest one above that stays, their own values are left out.

        condition: an array of bool by node; a function of nodes(values=True) that returns one; or a text, as regular expression, of names.
        """
        if isinstance(condition, str):
            pattern = re.compile(condition)
            mask = self._text("name").matching(lambda name: pattern.search(name) is not None)
        else:
            mask = np.asarray(condition(self.nodes(values=True)) if callable(condition) else condition)
        if mask.shape != (self.node_count,) or mask.dtype != bool:
            raise ValueError(f"a filter has a bool for each of the {self.node_count} nodes, not {mask.dtype} {mask.shape}")
        return Frame(self._frame.filtered(mask.tolist()), self.name)

    def subtree(self, node: int) -> "Frame":
        """One node and all below it."""
        return Frame(self._frame.subtree(self._check_node(node)), self.name)

    def __add__(self, other: Any) -> "Frame":
        """Place by place and call path by call path, of the metrics that both have: matched as by unify(). What only one has counts alone."""
        if isinstance(other, int) and other == 0:  # what sum() begins with
            return self
        return self._plus(other, 1, "+")

    __radd__ = __add__

    def __sub__(self, other: Any) -> "Frame":
        """As +; what only the other has becomes negative."""
        return self._plus(other, -1, "-")

    def __mul__(self, factor: Any) -> "Frame":
        if not isinstance(factor, (int, float, np.number)) or not np.isfinite(factor):
            return NotImplemented
        return Frame(self._frame.scaled(float(factor)), f"{self.name} * {factor:g}")

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        """A Frame divided by a number is a Frame; divided by a Frame, it is Ratios."""
        if isinstance(other, Frame):
            return Ratios(self, other)
        if not isinstance(other, (int, float, np.number)) or not np.isfinite(other) or other == 0:
            return NotImplemented
        return Frame(self._frame.scaled(1 / float(other)), f"{self.name} / {other:g}")

    def _plus(self, other: Any, factor: int, sign: str) -> "Frame":
        if not isinstance(other, Frame):
            return NotImplemented
        return Frame(self._frame.added(other._frame, float(factor)), f"{self.name} {sign} {other.name}")

    def correlation_analysis(self, metrics: Sequence[str] = (), method: str = "pearson") -> "Correlations":
        """How metrics go together over the nodes (sums over all ranks). method: "pearson", "spearman" or "kendall"."""
        names = list(metrics) or self.metrics
        if method not in METHODS:
            raise ValueError(f"the method is pearson, spearman or kendall: {method!r} is none of these")
        series = [self.sums(name) for name in names]
        matrix = np.array([[METHODS[method](x, y) for y in series] for x in series])
        return Correlations(names, matrix, method)

    def pairwise_correlation(self, x: str, y: str) -> Columns:
        """Nodes by their distance from the straight line y(x), the largest first.

        Columns: both metrics, "line" (its value there), "residual", "distance" (perpendicular) and "outlier": the residual is more than 3.5
        times the median deviation (x 1.4826) off the median (Iglewicz and Hoaglin, 1993).
        """
        values = self.sums(x), self.sums(y)
        slope, intercept = _reader.regression(*values)
        line = slope * values[0] + intercept
        residual = values[1] - line
        deviation = 1.4826 * np.median(np.abs(residual - np.median(residual))) if len(residual) else np.nan
        outlier = np.abs(residual - np.median(residual)) > 3.5 * deviation if len(residual) else np.zeros(0, bool)
        result = Columns({"node": np.arange(self.node_count), "name": self._text("name"), x: values[0], y: values[1], "line": line,
                          "residual": residual, "distance": np.abs(residual) / np.hypot(1, slope), "outlier": outlier},
                         f"{y} = {slope:.6g} {x} + {intercept:.6g}")
        return result.sorted("distance")

    def dataframe(self, units: str = "ns") -> "pandas.DataFrame":
        """A row per node and thread, index (node, rank, thread): name, type, file, line, module, each metric and its "(inc)"; NaN is absent.

        units: "s" for times in seconds.
        """
        if units not in ("ns", "s"):
            raise ValueError(f'units are "ns" or "s": {units!r} is neither')
        pandas = pandas_module()
        places = self.threads
        node = np.repeat(np.arange(self.node_count), len(places))
        index = pandas.MultiIndex.from_arrays([node, np.tile([p.rank for p in places], self.node_count), np.tile([p.thread for p in places], self.node_count)],
                                              names=["node", "rank", "thread"])
        columns: dict[str, Any] = {name: self._text(column)[node].categorical()
                                   for name, column in (("name", "name"), ("type", "kind"), ("file", "file"), ("module", "module"))}
        columns["line"] = self._frame.line[node]
        for metric in self.metrics:
            scale = 1e-9 if units == "s" and self.units[metric] == "ns" else 1
            for name in (metric, metric + INCLUSIVE):
                columns[name] = self.values(name, "thread").reshape(-1) * scale
        return pandas.DataFrame(columns, index=index)

    def to_hatchet(self) -> Any:
        """The same as a GraphFrame, where Hatchet is installed; times in s, as Hatchet's."""
        try:
            from hatchet import GraphFrame
            from hatchet.frame import Frame as HatchetFrame
            from hatchet.graph import Graph
            from hatchet.node import Node as HatchetNode
        except ImportError:
            raise ImportError("to_hatchet() needs Hatchet; install it, or use dataframe()") from None
        table, nodes = self.nodes(), []
        for number, parent in enumerate(self.parents):
            node = HatchetNode(HatchetFrame({"name": table["name"][number], "type": table["type"][number]}), None, hnid=number)
            if number:
                node.add_parent(nodes[parent])
                nodes[parent].add_child(node)
            nodes.append(node)
        graph = Graph([nodes[0]])
        graph.enumerate_traverse()
        frame = self.dataframe("s").reset_index()
        frame["node"] = [nodes[number] for number in frame["node"]]
        frame = frame.set_index(["node", "rank", "thread"] if len(self.threads) > len(self.ranks) else ["node", "rank"]).sort_index()
        return GraphFrame(graph, frame, self.metrics, [metric + INCLUSIVE for metric in self.metrics])


class Ratios(Columns):
    """a / b, a row per node: of each metric that both have, and of it with the callees, the sum over a's ranks by that over b's.

    NaN where one of them never came, or b has 0. Not a frame: quotients do not add up over callees.
    """

    def __init__(self, a: Frame, b: Frame) -> None:
        handles, _, _ = _reader.unify([a._frame, b._frame])
        frames = [Frame(handle) for handle in handles]
        self.tree = frames[0]
        """The call paths: tree.path(node)."""
        columns: dict[str, Any] = {"node": np.arange(self.tree.node_count), "name": self.tree._text("name")}
        common = [metric for metric in frames[0].metrics if frames[1].units.get(metric) == frames[0].units[metric]]
        if not common:
            raise ValueError("the frames have no metric in common")
        for name in [name for metric in common for name in (metric, metric + INCLUSIVE)]:
            above, below = (_sums_where_present(frame, name) for frame in frames)
            with np.errstate(divide="ignore", invalid="ignore"):
                columns[name] = np.where(below == 0, np.nan, above / below)
        super().__init__(columns, f"{a.name} / {b.name}")


def _sums_where_present(frame: Frame, metric: str) -> np.ndarray:
    """By node: NaN where no rank ever came."""
    row = frame._frame.imbalance(*_split(metric), "thread", 0, False, False)
    sums = np.full(frame.node_count, np.nan)
    sums[row["node"]] = frame.sums(metric)[row["node"]]
    return sums


def _groups(frame: Frame, by: str) -> Tuple[np.ndarray, np.ndarray]:
    """The names (files, modules) of the nodes, and the number of each node's."""
    column = frame._text(by)
    used, group = np.unique(column.codes, return_inverse=True)
    return column.texts[used], group


class CallGraph:
    """Functions and who calls whom. Made by Frame.to_callgraph()."""

    def __init__(self, frame: Frame, metric: str, by: str) -> None:
        graph = frame._frame.call_graph(metric, by)
        first, all = graph["first"], frame.sums(metric).sum()
        column = by if by in ("file", "module") else "name"
        names = frame._text(column)[first]
        order = np.argsort(-graph["exclusive"], kind="stable")
        columns: dict[str, Any] = {column: names}
        if column == "name":
            columns.update({"file": frame._text("file")[first], "module": frame._text("module")[first]})
        columns.update({metric: graph["exclusive"], metric + INCLUSIVE: graph["inclusive"],
                        "share": graph["exclusive"] / all if all else np.full(len(first), np.nan)})
        self.functions = Columns(columns).where(order)
        """Most first: METRIC, METRIC (inc) over all ranks, share of the whole."""
        edges = np.argsort(-graph["edge"], kind="stable")
        self.edges = Columns({"caller": names[graph["caller"]], "callee": names[graph["callee"]], metric + INCLUSIVE: graph["edge"]}).where(edges)
        """Most first: the callee's inclusive value there."""


class Correlations:
    """A matrix of coefficients by metric. Made by Frame.correlation_analysis()."""

    def __init__(self, metrics: Sequence[str], matrix: np.ndarray, method: str) -> None:
        self.metrics, self.matrix, self.method = list(metrics), matrix, method

    def filter(self, least: float = 0, most: float = 1) -> Columns:
        """Pairs of different metrics whose coefficient is between both, whatever its sign; the strongest first."""
        rows, columns = np.triu_indices(len(self.metrics), 1)
        value = self.matrix[rows, columns]
        kept = (np.abs(value) >= least) & (np.abs(value) <= most)
        names = np.array(self.metrics, dtype=object)
        pairs = Columns({"metric": names[rows[kept]], "other": names[columns[kept]], "coefficient": value[kept], "strength": np.abs(value[kept])})
        return pairs.sorted("strength")

    def dataframe(self) -> "pandas.DataFrame":
        return pandas_module().DataFrame(self.matrix, index=self.metrics, columns=self.metrics)

    def __repr__(self) -> str:
        return repr(Columns({"": np.array(self.metrics, dtype=object), **{m: self.matrix[:, i] for i, m in enumerate(self.metrics)}}, self.method))


def filter_correlation_matrix(correlations: Correlations, least: float = 0, most: float = 1) -> Columns:
    """Chopper's name for Correlations.filter()."""
    return correlations.filter(least, most)


def make_frame(nodes: Sequence[Tuple[int, str]], places: Sequence[Tuple[int, int]], values: Any, unit: str = "ns", name: str = "") -> Frame:
    """A frame of numbers of your own.

    nodes: (parent, name), parents first; the first one is the program and its own parent. places: (rank, thread), sorted.
    values: by metric, nodes x places; NaN is absent.
    """
    count = len(nodes)
    columns = []
    for metric, array in values.items():
        array = np.asarray(array, dtype=float)
        if array.shape != (count, len(places)):
            raise ValueError(f"{metric!r} has values for {array.shape} nodes x places, not for {(count, len(places))}")
        there = ~np.isnan(array)
        place, node = np.nonzero(there.T)
        columns.append((metric, unit, np.concatenate([[0], np.cumsum(there.sum(axis=0))]).tolist(), node.tolist(), array.T[there.T].tolist()))
    empty = [""] * count
    handle = _reader.make_frame([parent for parent, _ in nodes], ["function"] * count, [str(name) for _, name in nodes], empty, [0] * count, empty,
                                [(rank, thread, "") for rank, thread in places], columns)
    return Frame(handle, name)
