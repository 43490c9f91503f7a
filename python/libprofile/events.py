"""Events and tasks of a profile as rows of data frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _reader
from .event_filter import EventFilter

if TYPE_CHECKING:
    import pandas

    from . import Profile


def events_dataframe(pandas: Any, profile: "Profile", filter: EventFilter) -> "pandas.DataFrame":
    """See Profile.events_dataframe()."""
    masks, states, paths, frames = _reader.passing(profile._profile, filter.fields()), _reader.states(profile._profile), profile.call_paths, []
    for location in profile.locations:
        events = profile.events(location.rank, location.thread)
        intervals, runs, _ = masks[profile._location(location.rank, location.thread)]
        for kept, mask, own_states, tasks in ((events.intervals, intervals, [states[path] for path in events.intervals.path], 0),
                                              (events.runs, runs, ["task"] * len(runs), events.runs.task)):
            if not mask.any():
                continue
            frames.append(pandas.DataFrame({
                "rank": location.rank, "thread": location.thread, "state": own_states, "function": [paths[path].name for path in kept.path],
                "begin_ns": kept.begin_ns, "end_ns": kept.end_ns, "task": tasks, "processor": kept.processor})[mask])
    columns = ["rank", "thread", "state", "function", "begin_ns", "end_ns", "task", "processor"]
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame(columns=columns)


def tasks_dataframe(pandas: Any, profile: "Profile", filter: EventFilter) -> "pandas.DataFrame":
    """See Profile.tasks_dataframe()."""
    masks, frames = _reader.passing(profile._profile, filter.fields()), []
    for rank in sorted({location.rank for location in profile.locations}):
        graph = profile.tasks(rank)
        if len(graph.tasks.number) == 0:
            continue
        passed = np.concatenate([profile.events(l.rank, l.thread).tasks.number[masks[profile._location(l.rank, l.thread)][2]]
                                 for l in profile.locations if l.rank == rank])
        frame = pandas.DataFrame({"rank": rank, **graph.tasks._asdict()})
        frame["function"] = [graph.types[kind].function for kind in frame["type"]]
        frame["source"] = [graph.types[kind].source for kind in frame["type"]]
        frames.append(frame[np.isin(frame["number"], passed)])
    return pandas.concat(frames, ignore_index=True) if frames else pandas.DataFrame()
