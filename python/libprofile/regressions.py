"""Two runs, iteration by iteration: which of them are the same, and since when one is slower."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Sequence, Union

import numpy as np

from . import _reader

if TYPE_CHECKING:
    from . import Iterations, Profile, Ranks


class Alignment(NamedTuple):
    """Pairs of iterations of two runs. Made by align()."""

    before: np.ndarray
    """int64, ascending: iterations of the first run, as positions in series(), so from 0."""
    after: np.ndarray
    """int64, ascending, as many: those of the second run."""
    by: str
    """What they are recognised by: "structure", "work", "step" or "progress" (docs/comparison.md)."""
    different: int
    """Pairs that do not make the same calls."""
    cost: float
    """What is different, as a share of all iterations, 0 to 1."""
    other_order: int
    """Pairs that make the same calls, but some rank in another order; 0 without LIBPROFILE_ORDER=1 in both runs."""


def align(a: "Profile", b: "Profile", by: Optional[str] = None, phase: Optional[str] = None) -> Alignment:
    """Which iterations of two runs are the same, by what they did and not by how long that took. `by`: nothing else is tried.

    Source: E. W. Myers, Algorithmica 1 (1986), and M. Weber, "Structural Performance Comparison of Parallel Software Applications" (2016).
    """
    return Alignment(*_reader.align(a._profile, b._profile, phase, by or ""))


def regressions(a: Union["Profile", Sequence["Profile"]], b: Union["Profile", Sequence["Profile"]], iterations: "Optional[Iterations]" = None,
                phase: Optional[str] = None, ranks: "Ranks" = (), by: Optional[str] = None) -> dict[str, Any]:
    """In which iterations the runs `b` are slower or faster than the runs `a`, and what in them: the object that
    `libprofile compare --over-time --format json` prints (docs/json.md), times in ns. If both runs have the order of calls
    (LIBPROFILE_ORDER=1), "changed_calls" says which calls changed inside iterations, and "events" when calls come.

    `iterations`: of the first run of `a`, as in Profile.table(). `by`: as for align().
    """
    from . import Profile, _ranks
    before, after = ([side] if isinstance(side, Profile) else list(side) for side in (a, b))
    if not before or not after:
        raise ValueError("both sides need a run")
    chosen = None if iterations is None else before[0]._range(iterations, before[0]._phase(phase))
    sides = [[(profile._place, profile._profile) for profile in side] for side in (before, after)]
    return json.loads(_reader.regressions(*sides, phase, chosen, _ranks(ranks), by or ""))
