"""How the iterations of a phase went: imbalance, hot path and parallel efficiency, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _reader
from .columns import Columns
from .frame import INCLUSIVE, Frame


class OverTime:
    """Steps of consecutive iterations x call paths. Made by frame(by_iteration=...).

    A step has the values that frame() has with `iterations=` of it. Ranks without an iteration of a step are no part of it.
    """

    def __init__(self, steps: Any, metric: str, name: str) -> None:
        self.tree = Frame(steps["tree"], name)
        """Nodes and ranks, without values."""
        self.metric = metric
        self.first: np.ndarray = steps["first"]
        """By step, int64: its first iteration, from 1."""
        self.last: np.ndarray = steps["last"]
        """By step, int64: its last iteration."""
        self.rank_count: np.ndarray = steps["ranks"]
        """By step, uint32: ranks that have an iteration of it."""
        shape = (len(self.first), self.tree.node_count)
        self.mean: np.ndarray = steps["mean"].reshape(shape)
        """steps x nodes, float64: the metric's mean over these ranks, in its unit (ns), for all iterations of the step together."""
        self.max: np.ndarray = steps["max"].reshape(shape)
        """steps x nodes, float64: the largest of a rank."""
        self.present: np.ndarray = steps["present"].reshape(shape)
        """steps x nodes, uint32: ranks that came to the node."""
        self.estimated: np.ndarray = steps["estimated"].reshape(shape).view(bool)
        """steps x nodes, bool: some of the value is an estimate (docs/export.md)."""
        self.untold: np.ndarray = steps["untold"]
        """By step, uint64: ns in phases inside of which the profile tells nothing more; they are the program's own."""
        paths = steps["hot_path"]
        self.hot_path: np.ndarray = np.full((len(paths), max(map(len, paths), default=0)), -1, np.int64)
        """steps x depth, int64: nodes from the outermost on, as Frame.hot_path() finds them; -1 after the last one."""
        for step, path in enumerate(paths):
            self.hot_path[step, :len(path)] = path
        self._wall, self._mean, self._most = steps["wall"], steps["mean_compute"], steps["most_compute"]
        self._estimated = steps["estimated_compute"].view(bool)

    def __repr__(self) -> str:
        return f"<libprofile.OverTime: {len(self.first)} steps x {self.tree.node_count} nodes, {self.metric}>"

    @property
    def imbalance(self) -> np.ndarray:
        """steps x nodes, float64: max / mean; NaN where the mean is 0."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.mean != 0, self.max / self.mean, np.nan)

    def node(self, node: int) -> Columns:
        """One call path over time, a row per step: first, last, METRIC.mean, .max, .imbalance, .present and .estimated."""
        self.tree._check_node(node)
        columns = {"first": self.first, "last": self.last}
        for name in ("mean", "max", "imbalance", "present", "estimated"):
            columns[f"{self.metric}.{name}"] = getattr(self, name)[:, node]
        return Columns(columns, " > ".join(self.tree.path(node)))

    def efficiency(self) -> Columns:
        """A row per step, of main threads: "time" (ns, the slowest rank's), "computing" (ns, the mean rank's), and what follows from them.

        "parallel efficiency" is computing / time: the product of "load balance" (mean computing / most) and "communication efficiency"
        (most computing / time). Measured, unless "estimated": phases without iterations lie inside, whose computing time is known as a whole.
        NaN where a rank's own values of an iteration were not kept.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            return Columns({"first": self.first, "last": self.last, "time": self._wall, "computing": self._mean,
                            "load balance": self._mean / self._most, "communication efficiency": self._most / self._wall,
                            "parallel efficiency": self._mean / self._wall, "estimated": self._estimated})


def over_time(profile: Any, metric: str, stride: int, phase: Any, iterations: Any, ranks: list[int], lines: bool, short_names: bool,
              name: str) -> OverTime:
    inclusive = metric.endswith(INCLUSIVE)
    stored = metric[: -len(INCLUSIVE)] if inclusive else metric
    return OverTime(_reader.over_time(profile, phase, iterations, ranks, stored, lines, short_names, stride, inclusive), metric, name)
