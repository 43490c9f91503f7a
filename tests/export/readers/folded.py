"""Folded stacks, as stackcollapse scripts write and flamegraph.pl reads them: frames, a blank, an integer."""

import re

from . import Reading, expect

LINE = re.compile(r"^(.+) (\d+)$")


def read(place, metric="time", by_rank=False):
    reading = Reading()
    with open(place) as file:
        for line in file:
            match = LINE.match(line.rstrip("\n"))
            expect(match, f"no stack: {line!r}")
            frames = match.group(1).split(";")
            expect(all(frames), f"a frame without a name: {line!r}")
            rank = int(frames.pop(0).split()[1]) if by_rank else None
            reading.add(metric, int(match.group(2)), rank)
            reading.names.update(frames)
    return reading
