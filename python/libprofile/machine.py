"""Machines as hwloc saw them, and the threads on them (docs/report.md, The machine)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Iterator, NamedTuple, Optional, Tuple

import numpy as np

from . import _reader

if TYPE_CHECKING:
    from . import Profile


class MachinePart(NamedTuple):
    """A part of a machine, and what lies in it.

    type: "machine", "package", "group", "die", "NUMA node", "L1 cache" to "L5 cache", "core", "processor" or "part" (any other). A NUMA node has no
    children: what is nearest to its memory lies beside it, in the same parent.
    number: the kernel's, of a core, package or NUMA node its own; None: it has none.
    size: bytes of a cache, or of a NUMA node's memory; None: not known, or of another type.
    kind: of a core, where cores differ: by efficiency, from 1; None: all are alike.
    threads: (rank, thread) of those that were last seen on a processor; empty for other types.
    """

    type: str
    number: Optional[int]
    size: Optional[int]
    kind: Optional[int]
    threads: list[Tuple[int, int]]
    children: list["MachinePart"]

    def walk(self) -> Iterator["MachinePart"]:
        """This part and all in it, each before what lies in it."""
        waiting = [self]
        while waiting:
            part = waiting.pop()
            yield part
            waiting.extend(reversed(part.children))


class Machine(NamedTuple):
    """A machine of the job. ranks: those that ran on it; source: who described it ("hwloc 2.9.0"); root: all of it.

    distances: int64, NUMA nodes x NUMA nodes in the order of `nodes`, which are their numbers (None: it has none): from the node of the row to that of the
    column, as the firmware tells them, 10 being a node's own memory. 0 x 0 if they are not known.
    """

    host: str
    source: str
    ranks: list[int]
    root: MachinePart
    nodes: list[Optional[int]]
    distances: np.ndarray


def machine(profile: "Profile", rank: int) -> Machine:
    """See Profile.machine()."""
    profile._location(rank, 0)
    for host, source, ranks, parts, distances in _reader.machines(profile._profile):
        if rank not in ranks or source is None:
            continue
        opened: list[Tuple[int, MachinePart]] = []  # those that the next part may lie in, and where they end
        for at, (end, *fields) in enumerate(parts):
            while len(opened) > 1 and opened[-1][0] <= at:
                opened.pop()
            part = MachinePart(*fields, [])
            if opened:
                opened[-1][1].children.append(part)
            opened.append((end, part))
        root = opened[0][1]
        return Machine(host, source, ranks, root, [part.number for part in root.walk() if part.type == "NUMA node"], distances)
    raise ValueError(f"the profile does not have the machine of rank {rank}; start the program with libprofile run where libhwloc.so.15 is installed")
