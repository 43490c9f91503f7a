"""Reads the suite's lists of tests: lines of `program ranks key=value...`, or names of folders that have lists of their own.

README of the suite explains the keys. What concerns only MPICH's own test farm (memory, time limits, expected failures) is
not used here: it is the same with and without libprofile.
"""

from dataclasses import dataclass, field
from pathlib import Path

LISTS = ["testlist", "testlist.dtp"]  # and, if asked for, testlist.cvar: the same programs with every algorithm
ALGORITHMS = "testlist.cvar"


@dataclass
class Program:
    """One line of a list: what to run, and how its success is told."""

    folder: str
    name: str
    ranks: int
    arguments: list = field(default_factory=list)
    environment: list = field(default_factory=list)
    rule: str = ""  # resultTest: the exit code must not be 0, for instance

    @property
    def title(self):
        return " ".join([f"{self.folder}/{self.name}", str(self.ranks), *self.arguments, *self.environment])


def program(folder, line, most_ranks):
    words = line.split()
    ranks = int(words[1]) if len(words) > 1 and words[1].isdigit() else 1
    result = Program(folder, words[0], min(ranks, most_ranks))
    for word in words[2:]:
        key, _, value = word.partition("=")
        if key == "arg":
            result.arguments.append(value)
        elif key == "env":
            result.environment.append(value)
        elif key == "resultTest":
            result.rule = value
    return result


def entries(suite, build, folder, lists):
    """The lines of a folder's lists. Generated lists are in the build folder, the others beside the sources."""
    for name in lists:
        path = next((path for path in (Path(build, folder, name), Path(suite, folder, name)) if path.exists()), None)
        for line in path.read_text().splitlines() if path else []:
            line = line.partition("#")[0].strip()
            if line and not line.startswith("!"):
                yield line


def programs(suite, build, most_ranks, lists=LISTS, folder=""):
    """All programs below a folder, in the order of the lists, each line once."""
    found = {}
    for line in entries(suite, build, folder, lists):
        below = Path(folder, line.split()[0])
        if Path(build, below).is_dir():
            lines = programs(suite, build, most_ranks, lists, str(below))
        else:
            lines = [program(folder, line, most_ranks)]
        for one in lines:
            found.setdefault(one.title, one)
    return list(found.values())
