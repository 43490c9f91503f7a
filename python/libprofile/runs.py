"""Several runs: the same call paths side by side, how they scale, and why some were slower."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional, Sequence

import numpy as np

from . import _reader
from .columns import Columns, pandas_module
from .frame import Frame, _compat, _split

if TYPE_CHECKING:
    import pandas

AGGREGATES = ("sum", "max")


def resources(frame: Frame) -> int:
    """Ranks x threads: how many were measured."""
    return len(frame.threads)


class Unified:
    """Frames with the same nodes. Made by unify()."""

    def __init__(self, frames: list[Frame], renamed: list[tuple[int, str, str]], node_of: list[np.ndarray]) -> None:
        self._node_of = node_of  # by run, by its old node
        self.frames = frames
        """In the order of the runs; their values are those that they had."""
        self.renamed = renamed
        """(run, name before, name there): functions that were taken to be the same."""

    def means(self, metric: str, over: str = "rank") -> np.ndarray:
        """nodes x runs, float64: means over all ranks (or over="thread"); NaN where no rank of the run came to the node."""
        name, inclusive = _split(metric)
        result = np.full((self.frames[0].node_count, len(self.frames)), np.nan)
        for run, frame in enumerate(self.frames):
            row = frame._frame.imbalance(name, inclusive, over, 0, False, False)
            result[row["node"], run] = row["mean"]
        return result


def unify(frames: Sequence[Frame]) -> Unified:
    """Gives frames of several runs the same nodes: call paths are matched by names, also of programs that were compiled anew (docs/python.md)."""
    frames = list(frames)
    if not frames:
        raise ValueError("there is no frame to unify")
    handles, node_of, renamed = _reader.unify([frame._frame for frame in frames])
    return Unified([Frame(handle, frame.name) for handle, frame in zip(handles, frames)], renamed, node_of)


class Pivot:
    """Runs x functions. Made by multirun_analysis()."""

    def __init__(self, runs: Sequence[Any], names: np.ndarray, values: np.ndarray, metric: str, index: str) -> None:
        self.runs, self.names, self.values, self.metric, self.index = list(runs), names, values, metric, index

    def dataframe(self) -> "pandas.DataFrame":
        pandas = pandas_module()
        return pandas.DataFrame(self.values, index=pandas.Index(self.runs, name=self.index), columns=pandas.Index(self.names, name=self.metric))

    def __repr__(self) -> str:
        columns: dict[str, Any] = {self.index: np.array(self.runs, dtype=object)}
        columns.update({name: self.values[:, i] for i, name in enumerate(self.names[:8])})
        return repr(Columns(columns, self.metric))


def multirun_analysis(frames: Sequence[Frame], pivot_index: str = "resources", columns: str = "name", metric: str = "time",
                      threshold: Optional[float] = None, aggregate: str = "sum", compat: Optional[str] = None) -> Pivot:
    """A row per run, a column per function (or columns="file", "module"): means over ranks, of all call paths of a function together.

    pivot_index: "resources" (ranks x threads), "ranks" or "run" (what it was read from). aggregate: "sum" or "max" over call paths.
    threshold: functions that reach it in no run are left out. Inclusive values count calls inside calls of the same function once.
    compat="hatchet": means over threads, then over the call paths of a function that have more than the threshold, and over runs with equal index.
    """
    indices = {"resources": resources, "ranks": lambda frame: len(frame.ranks), "run": lambda frame: frame.name}
    if pivot_index not in indices:
        raise ValueError(f"pivot_index is one of {', '.join(indices)}: {pivot_index!r} is not")
    if aggregate not in AGGREGATES:
        raise ValueError(f"aggregate is one of {', '.join(AGGREGATES)}: {aggregate!r} is not")
    if _compat(compat):
        return _hatchet_pivot(frames, indices[pivot_index], pivot_index, columns, metric, threshold)
    name, inclusive = _split(metric)
    rows = []
    for frame in frames:
        groups = frame._frame.call_graph(name, columns)
        texts = list(frame._text(columns)[groups["first"]])
        if aggregate == "sum":
            values = groups["inclusive" if inclusive else "exclusive"]
        else:
            values = np.full(len(texts), -np.inf)
            np.maximum.at(values, groups["group_of"], frame.sums(metric))
        rows.append(dict(zip(texts, values / len(frame.ranks))))
    names = list(dict.fromkeys(text for row in rows for text in row))
    values = np.array([[row.get(text, np.nan) for text in names] for row in rows]).reshape(len(rows), len(names))
    largest = np.nanmax(values, axis=0) if len(rows) else np.zeros(0)
    kept = np.argsort(-largest, kind="stable")
    if threshold is not None:
        kept = kept[largest[kept] >= threshold]
    return Pivot([indices[pivot_index](frame) for frame in frames], np.array(names, dtype=object)[kept], values[:, kept], metric, pivot_index)


def _hatchet_pivot(frames: Sequence[Frame], index_of: Any, pivot_index: str, columns: str, metric: str, threshold: Optional[float]) -> Pivot:
    cells: dict[Any, dict[str, list[float]]] = {}
    for frame in frames:
        texts, has_root = frame._text(columns), frame.sums(_split(metric)[0])[0] != 0  # else the program is no node of Hatchet's
        for node, value in enumerate(frame.sums(metric) / len(frame.threads)):
            if (node != 0 or has_root) and (threshold is None or value > threshold):
                cells.setdefault(index_of(frame), {}).setdefault(texts[node], []).append(value)
    names = sorted({name for row in cells.values() for name in row})
    values = np.array([[np.mean(cells[index].get(name, [np.nan])) for name in names] for index in sorted(cells)]).reshape(len(cells), len(names))
    return Pivot(sorted(cells), np.array(names, dtype=object), values, metric, pivot_index)


def speedup_efficiency(frames: Sequence[Frame], strong: bool = False, weak: bool = False, speedup: bool = False, efficiency: bool = False,
                       metric: Optional[str] = None, threshold: Optional[float] = None, compat: Optional[str] = None) -> Columns:
    """Speedup or efficiency of each call path, against the run with the fewest resources (ranks x threads), by default of "time (inc)".

    strong: the same problem on more ranks; weak: a problem that grows with them, which has an efficiency only.
    Times are means over ranks and threads. Of several runs with equal resources the median counts, and "N.METRIC.spread" is their largest less the smallest
    by it. threshold: nodes with a smaller value in the baseline are left out. Columns "N.METRIC" and "N.METRIC.efficiency" (or .speedup).
    compat="hatchet": the largest values of ranks and threads, against the first run, resources are ranks, by default the own "time"; of runs with equal
    resources the last counts.
    """
    hatchet = _compat(compat)
    metric = metric or ("time" if hatchet else "time (inc)")
    if strong == weak:
        raise ValueError("choose strong=True or weak=True")
    if speedup == efficiency:
        raise ValueError("choose speedup=True or efficiency=True")
    if weak and speedup:
        raise ValueError("weak scaling has an efficiency, but no speedup")
    sizes = [len(frame.ranks) if hatchet else resources(frame) for frame in frames]
    if len(set(sizes)) < 2:
        raise ValueError("scaling needs runs of at least two sizes")
    unified = unify(frames)
    values = _largest_of_hatchet(frames, unified, metric) if hatchet else unified.means(metric, "thread")
    base = sizes[0] if hatchet else min(sizes)
    runs = {size: values[:, [run for run, own in enumerate(sizes) if own == size]] for size in sorted(set(sizes))}
    if hatchet:
        runs = {size: values[:, [0 if size == base else max(run for run, own in enumerate(sizes) if own == size)]] for size in runs}
    with np.errstate(all="ignore"):
        median = {size: _nanmedian(of_size) for size, of_size in runs.items()}
        table = unified.frames[0].nodes()
        columns: dict[str, Any] = {"node": table["node"], "name": table["name"]}
        for size in runs:
            columns[f"{size}.{metric}"] = median[size]
            if runs[size].shape[1] > 1:
                columns[f"{size}.{metric}.spread"] = (runs[size].max(axis=1) - runs[size].min(axis=1)) / median[size]
            if size != base:
                ratio = median[base] / median[size]
                factor = base / size if strong and efficiency else 1
                columns[f"{size}.{metric}.{'speedup' if speedup else 'efficiency'}"] = ratio * factor
    result = Columns(columns)
    return result if threshold is None else result.where(np.nan_to_num(median[base]) >= threshold)


def _largest_of_hatchet(frames: Sequence[Frame], unified: Unified, metric: str) -> np.ndarray:
    """nodes x runs: the largest value of a node over ranks and threads; where unify() makes one of several nodes, the sum of theirs."""
    result = np.full((unified.frames[0].node_count, len(frames)), np.nan)
    for run, (frame, node_of) in enumerate(zip(frames, unified._node_of)):
        row = frame._frame.imbalance(*_split(metric), "thread", 0, False, False)
        nodes = node_of[row["node"]]
        result[nodes, run] = 0
        np.add.at(result[:, run], nodes, row["max"])
    return result


def _nanmedian(values: np.ndarray) -> np.ndarray:
    """By row; NaN where any is: a path that one of the runs does not have has no common time."""
    return np.median(values, axis=1)


def variability(frames: Sequence[Frame], metric: str = "time", top: int = 20) -> Columns:
    """Which call paths make slow runs slow: the covariance of their time with that of the run, as a share of the run's variance.

    The shares of all call paths add up to 1. Columns: node, name, "share", the mean in "fast" and in "slow" runs (those below and from the median
    on), and "rank": the rank that differs most, with its share of the difference. The runs must be repetitions of one another.
    """
    if len(frames) < 3:
        raise ValueError("variability needs at least three runs of the same program")
    unified = unify(frames)
    means = np.nan_to_num(unified.means(metric))
    total = means.sum(axis=0)
    spread = ((total - total.mean()) ** 2).sum()
    if spread == 0:
        raise ValueError("all runs took equally long")
    share = (means - means.mean(axis=1, keepdims=True)) @ (total - total.mean()) / spread
    slow = total >= np.median(total)
    if slow.all():
        slow = total > np.median(total)
    order = np.argsort(-share, kind="stable")[:top]
    ranks, rank_share = [], []
    for node in order:
        name, part = _rank_of(unified, metric, int(node), slow)
        ranks.append(name)
        rank_share.append(part)
    table = unified.frames[0].nodes()
    return Columns({"node": order, "name": table["name"][order], "share": share[order], "fast": means[order][:, ~slow].mean(axis=1),
                    "slow": means[order][:, slow].mean(axis=1), "rank": np.array(ranks), "rank share": np.array(rank_share)})


def _rank_of(unified: Unified, metric: str, node: int, slow: np.ndarray) -> tuple[int, float]:
    """The rank with the largest part of the difference between slow and fast runs at a node."""
    numbers = [place.rank for place in unified.frames[0].ranks]
    if any([place.rank for place in frame.ranks] != numbers for frame in unified.frames):
        return -1, float("nan")
    rows = np.array([np.nan_to_num(frame.values(metric)[node]) for frame in unified.frames])
    difference = rows[slow].mean(axis=0) - rows[~slow].mean(axis=0)
    rank = int(np.argmax(np.abs(difference)))
    whole = difference.sum()
    return numbers[rank], float(difference[rank] / whole) if whole else float("nan")
