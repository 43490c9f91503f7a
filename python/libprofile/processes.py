"""The ranks of a run compared with each other: groups of equal structure, folded strips, who computes longer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Tuple

import numpy as np

from . import _reader

if TYPE_CHECKING:
    from . import Iterations, Profile, Ranks


class Fold(NamedTuple):
    """Spans of iterations in a row that are in one state. Made by Profile.fold()."""

    names: list[str]
    """Of states, by number."""
    first: np.ndarray
    """int64, by span: its first iteration, as a position in series(), so from 0."""
    length: np.ndarray
    """int64: iterations."""
    state: np.ndarray
    """int64: number of the state; -1: nothing (all agree, or no rank made these iterations)."""
    ranks: np.ndarray
    """int64: in that state, in the iteration where they are most."""


class ImbalanceMap(NamedTuple):
    """Made by Profile.imbalance_map()."""

    rank: np.ndarray
    """int64, by row."""
    thread: np.ndarray
    """int64, by row."""
    first: int
    """The iteration of the first column, from 0."""
    median: np.ndarray
    """float32, by column: ns that the median rank computes, without MPI and waiting."""
    deviation: np.ndarray
    """float32, rows x columns: ns that the rank computes more than that; NaN where it made no such iteration."""
    function: str
    """Of a profile without iterations: the named region that the only column is an entry of; "" if a column is an iteration or the whole run."""


class EventSkew(NamedTuple):
    """A call in the typical iteration of two ranks: means, in ns since the iteration began on that rank."""

    call: str
    caller: str
    begin_here: float
    begin_there: float
    length_here: float
    length_there: float


class RankTimeline(NamedTuple):
    """Pairs of iterations of two ranks. Made by Profile.timeline()."""

    here: np.ndarray
    """int64, ascending: iterations of the rank, from 0."""
    there: np.ndarray
    """int64, ascending, as many: those of the reference."""
    dissimilarity: np.ndarray
    """float32: calls without a partner, as a share of all of both, 0 to 1; NaN where the calls were not kept."""
    unmatched_ns: np.ndarray
    """float32: time in calls that only the rank makes."""
    skew_ns: np.ndarray
    """float32: what the rank computes more; its cumulated sum is how far it falls behind."""
    alone_here: int
    """Iterations without a partner."""
    alone_there: int
    events: "list[EventSkew]"
    """Calls that both make in their most frequent iterations, in order; with LIBPROFILE_ORDER, else empty."""


def _chosen(profile: "Profile", phase: Optional[str], iterations: "Optional[Iterations]") -> Tuple[Optional[int], Tuple[int, int]]:
    """The phase, None if the profile has no iterations and none were asked for, and its iterations from 0."""
    if phase is None and iterations is None and not any(p.kind == "iterations" for p in profile.phases):
        return None, (0, 2**64 - 1)
    number = profile._phase(phase)
    if profile.phases[number].kind != "iterations":
        raise ValueError(f"phase {profile.phases[number].name!r} has no iterations")
    return number, (0, 2**64 - 1) if iterations is None else profile._range(iterations, number)


def _ranks_of(profile: "Profile", ranks: "Ranks") -> list[int]:
    from . import _ranks
    chosen = sorted(_ranks(ranks))
    missing = [rank for rank in chosen if not any(location.rank == rank for location in profile.locations)]
    if missing:
        raise ValueError(f"the profile has no rank {missing[0]}")
    return chosen


def structure(profile: "Profile", level: Optional[str], phase: Optional[str], iterations: "Optional[Iterations]", ranks: "Ranks", threads: bool,
              reference: Optional[int], top: int) -> dict[str, Any]:
    number, chosen = _chosen(profile, phase, iterations)
    if top < 0:
        raise ValueError(f"top is a number of parts: {top} is none")
    if reference is not None and not any(location.rank == reference for location in profile.locations):
        raise ValueError(f"the profile has no rank {reference}")
    return json.loads(_reader.structure(profile._profile, number, chosen, _ranks_of(profile, ranks), threads, level or "", reference, top))


def fold(profile: "Profile", by: str, state: str, phase: Optional[str], iterations: "Optional[Iterations]", ranks: "Ranks", threads: bool,
         depth: int) -> Fold:
    if not 1 <= depth <= 1000:
        raise ValueError(f"main() is at depth 1, and 1000 is the most: {depth} is no such depth")
    if by == "use" and state != "class":
        raise ValueError("fold(\"use\") is for state=\"class\", which tells what computes")
    number, chosen = _chosen(profile, phase, iterations)
    if number is None:
        raise ValueError("the profile has no iterations; mark the loop in the program")
    return Fold(*_reader.fold(profile._profile, number, chosen, _ranks_of(profile, ranks), threads, by, state, depth))


def imbalance_map(profile: "Profile", phase: Optional[str], iterations: "Optional[Iterations]", ranks: "Ranks", threads: bool) -> ImbalanceMap:
    number, chosen = _chosen(profile, phase, iterations)
    return ImbalanceMap(*_reader.imbalance(profile._profile, number, chosen, _ranks_of(profile, ranks), threads))


def timeline(profile: "Profile", rank: int, reference: int, phase: Optional[str]) -> RankTimeline:
    number, _ = _chosen(profile, phase, None)
    if number is None:
        raise ValueError("the profile has no iterations; mark the loop in the program")
    *values, events = _reader.timeline(profile._profile, number, profile._location(rank, 0), profile._location(reference, 0))
    return RankTimeline(*values, [EventSkew(*event) for event in events])
