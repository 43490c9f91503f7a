"""Readers of the formats of `libprofile export`, written from the published descriptions of the formats.

Each module has read(place), which checks the structure and returns a Reading. They share no code with the exports.
"""


class Reading:
    """What an export holds: totals of the metrics (times in ns, as integers), by place where the format has places."""

    def __init__(self):
        self.totals = {}      # metric: sum of the exclusive values
        self.by_rank = {}     # rank: {metric: sum}; empty where the format sums over ranks
        self.by_function = {} # (metric, rank, function): sum; "(no call path)" is what lies at the root itself
        self.names = set()    # of functions
        self.lines = {}       # function: (file, line), where known

    def add(self, metric, value, rank=None, function=None):
        self.totals[metric] = self.totals.get(metric, 0) + value
        if rank is not None:
            of_rank = self.by_rank.setdefault(rank, {})
            of_rank[metric] = of_rank.get(metric, 0) + value
        if function is not None and value != 0:
            key = metric, rank, function
            self.by_function[key] = self.by_function.get(key, 0) + value


def expect(condition, message):
    if not condition:
        raise AssertionError(message)


def nanoseconds(seconds):
    """A double holds times of up to 100 days in s to the nanosecond."""
    return round(seconds * 1e9)
