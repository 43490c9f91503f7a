"""Tables of call paths by threads, and two of them side by side. Made by Profile.table() and compare()."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence, Tuple

import numpy as np

from . import _reader
from .frame import Frame, Place

if TYPE_CHECKING:
    import pandas


class Node(NamedTuple):
    """A node of a Table's tree, in the order parents first. 0 is the program and its own parent."""

    parent: int
    kind: str
    name: str
    file: str
    line: int
    module: str


def signed(array: np.ndarray) -> np.ndarray:
    """The same memory as signed numbers: differences of unsigned ones wrap around."""
    return array.view(np.dtype(f"i{array.dtype.itemsize}"))


def import_pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas; install python3-pandas, or use the arrays") from None
    return pandas


def _path(nodes: Sequence[Node], node: int) -> list[str]:
    names = [nodes[node].name]
    while node != 0:
        node = nodes[node].parent
        names.append(nodes[node].name)
    return names[::-1]


class Table:
    """A frame with whole numbers, sampling errors, and marks at estimates: nodes of a call tree x threads. Made by Profile.table()."""

    def __init__(self, table: Any, lines: bool, name: str) -> None:
        self._table = table
        self._lines = lines
        self.frame = Frame(_reader.frame_of_table(table), name)
        """The same nodes, threads and values, for the analyses of Frame."""
        self.places: list[Place] = self.frame.threads
        self.metrics: list[str] = self.frame.metrics
        self.estimated: bool = table.estimated
        """Whether some value is an estimate: only in parts of the iterations (docs/export.md)."""
        self.untold: int = table.untold
        """ns of the time that lie in phases inside the iterations of which the profile tells nothing more (of a killed job, say): they are the
        root's own. What other nodes had of them, and other metrics than "time", is in no value."""
        self.scope: str = table.scope
        """What was selected, in words; empty: everything."""
        self.instances = 0
        """The number of iterations that it sums up, over all locations; 0 if none were chosen."""

    def __repr__(self) -> str:
        return f"<libprofile.Table: {self.frame.node_count} nodes x {len(self.places)} threads, {', '.join(self.metrics)}>"

    @functools.cached_property
    def nodes(self) -> list[Node]:
        columns = self.frame.nodes()
        return [Node(*row) for row in zip(self.parents.tolist(), *(columns[name] for name in ("type", "name", "file")), columns["line"].tolist(), columns["module"])]

    @property
    def parents(self) -> np.ndarray:
        """The number of each node's parent. Without a copy."""
        return self.frame.parents

    def _index(self, metric: str) -> int:
        try:
            return self.metrics.index(metric)
        except ValueError:
            raise KeyError(f"the table has no metric {metric!r}, but {', '.join(self.metrics)}") from None

    def exclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x places, int64: without the callees."""
        return signed(self._table.values(self._index(metric), False))

    def inclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x places, int64: with the callees."""
        return signed(self._table.values(self._index(metric), True))

    def sampling_error(self, inclusive: bool = False) -> np.ndarray:
        """nodes x places, float64: half of the 95 % interval of "time", in ns.

        Computing time is divided among call paths by samples; 0 where none is part of the time, which is then exact. NaN where the error is
        unknown: phases inside iterations that have one profile for the whole run, or of which nothing is known.
        """
        return self._table.errors(inclusive)

    def cells(self, place: int) -> np.ndarray:
        """The values of one location that are not 0, without a copy: node, metric (number), value, estimated."""
        if not 0 <= place < len(self.places):
            raise IndexError(f"the table has {len(self.places)} places")
        cells = _reader.cells(self._table, place)
        return cells.view(np.dtype({"names": list(cells.dtype.names),
                                    "formats": [np.dtype(str(cells.dtype[name]).replace("uint64", "int64")) for name in cells.dtype.names],
                                    "offsets": [cells.dtype.fields[name][1] for name in cells.dtype.names], "itemsize": cells.dtype.itemsize}))

    def path(self, node: int) -> list[str]:
        """Names from the program to the node."""
        return self.frame.path(node)

    def dataframe(self) -> "pandas.DataFrame":
        """A row per node and thread, index (node, rank, thread): name, file, line, and each metric exclusively and "(inc)".

        With "time" also "time error" and "time error (inc)", in ns: sampling_error().
        """
        pandas = import_pandas()
        nodes, places = self.frame.node_count, len(self.places)
        texts = self.frame.nodes()
        index = pandas.MultiIndex.from_arrays(
            [np.repeat(np.arange(nodes), places), np.tile([p.rank for p in self.places], nodes),
             np.tile([p.thread for p in self.places], nodes)], names=["node", "rank", "thread"])
        columns: dict[str, Any] = {key: np.repeat(np.asarray(texts[key]).astype(object), places)
                                   for key in ("name", "file", "line")}
        for metric in self.metrics:
            columns[metric] = self.exclusive(metric).reshape(-1)
            columns[metric + " (inc)"] = self.inclusive(metric).reshape(-1)
            if metric == "time":
                columns["time error"] = self.sampling_error().reshape(-1)
                columns["time error (inc)"] = self.sampling_error(True).reshape(-1)
        return pandas.DataFrame(columns, index=index)


class Comparison:
    """Two tables with the same nodes. Made by compare()."""

    def __init__(self, a: Table, b: Table) -> None:
        if (a.instances == 0) != (b.instances == 0):
            raise ValueError("one table is of iterations, the other is not; choose iterations for both or for neither")
        if a._lines != b._lines:
            raise ValueError("one table has a node for each line, the other for each function; make both by line or both by function")
        self.a, self.b = a, b
        self.metrics = [metric for metric in a.metrics if metric in b.metrics]
        self.nodes: list[Node] = []
        """Those of both; parents come first."""
        known: dict[Tuple[int, str, str, str, str, int], int] = {}
        self._numbers = tuple(self._add(table, known) for table in (a, b))

    def _add(self, table: Table, known: dict[Tuple[int, str, str, str, str, int], int]) -> np.ndarray:
        numbers: list[int] = []
        for number, node in enumerate(table.nodes):
            parent = numbers[node.parent] if number else 0
            key = (parent, node.kind, node.name, node.file, node.module, node.line if table._lines else 0)
            if key not in known:
                known[key] = len(self.nodes)
                self.nodes.append(node._replace(parent=parent))
            numbers.append(known[key])
        return np.array(numbers)

    def _values(self, metric: str, inclusive: bool) -> np.ndarray:
        values = np.zeros((len(self.nodes), 2))
        for side, table in enumerate((self.a, self.b)):
            array = table.inclusive(metric) if inclusive else table.exclusive(metric)
            np.add.at(values[:, side], self._numbers[side], array.sum(axis=1) / (table.instances or len(table.places)))
            if table.untold:
                values[1 if metric == "time" else 0:, side] = np.nan
        return values

    def exclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x 2 (a, b), float64, without the callees: means per iteration and rank, or per rank if no iterations were chosen; NaN if unknown."""
        return self._values(metric, False)

    def inclusive(self, metric: str = "time") -> np.ndarray:
        """nodes x 2 (a, b), float64, with the callees: means as of exclusive()."""
        return self._values(metric, True)

    def path(self, node: int) -> list[str]:
        """Names from the program to the node."""
        return _path(self.nodes, node)

    def dataframe(self, metric: str = "time") -> "pandas.DataFrame":
        """A row per node: name, file, line, own values a, b and b - a, and the same with the callees, "(inc)"."""
        columns: dict[str, Any] = {key: [getattr(node, key) for node in self.nodes] for key in ("name", "file", "line")}
        for end, values in (("", self.exclusive(metric)), (" (inc)", self.inclusive(metric))):
            columns["a" + end], columns["b" + end] = values[:, 0], values[:, 1]
            columns["difference" + end] = values[:, 1] - values[:, 0]
        return import_pandas().DataFrame(columns)


def compare(a: Table, b: Table) -> Comparison:
    """Puts two tables of one profile, or of two, side by side: call paths of the same functions are the same node."""
    return Comparison(a, b)
