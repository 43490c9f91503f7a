"""Reads functions.table: which MPI functions are wrapped, in which order, and how they are counted."""

import fnmatch
import re
from dataclasses import dataclass


class TableError(Exception):
    """functions.table, or what an mpi.h makes of it, is wrong; the text names the row."""


@dataclass(frozen=True)
class Function:
    """One wrapped function; its index in Table.functions is the function id."""

    name: str  # "MPI_Send"
    category: str  # a TimeCategory
    trait: str  # one of TRAITS, or ""
    accounting: tuple  # ("Send(count, datatype, dest, comm)", ...) or ("!init",)
    removed_parameters: str  # of functions that mpi.h need not declare; else ""

    @property
    def short(self):
        return self.name.removeprefix("MPI_")

    @property
    def special(self):
        """Name of the function's own body, or None."""
        return self.accounting[0][1:] if self.accounting and self.accounting[0].startswith("!") else None


@dataclass(frozen=True)
class PassRule:
    pattern: str
    reason: str


class Table:
    def __init__(self, functions, pass_rules):
        self.functions = functions
        self.pass_rules = pass_rules
        self.ids = {function.name: index for index, function in enumerate(functions)}

    def is_wrapped(self, name):
        return name in self.ids

    def pass_reason(self, name):
        for rule in self.pass_rules:
            if fnmatch.fnmatchcase(name, rule.pattern):
                return rule.reason
        return None


TRAITS = ("poll", "datatype", "control")

WRAP_ROW = re.compile(
    r"wrap\s+(?P<name>MPI_\w+)(?P<large>\[_c\])?\s+(?P<category>\w+)(?:\s+(?P<trait>" + "|".join(TRAITS) + r"))?\s*"
    r"(?:removed \((?P<removed>.*)\)|(?P<accounting>.*))$"
)
PASS_ROW = re.compile(r"pass\s+(?P<pattern>\S+)\s+(?P<reason>\S.*)$")


def read_table(path):
    functions, rules, seen = [], [], set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            line = line.strip()
            if not line or line.startswith("#"):
                continue
            if wrap := WRAP_ROW.match(line):
                accounting = tuple(part.strip() for part in (wrap["accounting"] or "").split(";") if part.strip())
                wrong = [part for part in accounting if not re.fullmatch(r"!\w+|@?\w+\(.*\)", part)]
                if wrong:
                    raise TableError(f"{path}:{number}: neither a trait nor accounting: {wrong[0]}")
                for suffix in ("", "_c") if wrap["large"] else ("",):
                    name = wrap["name"] + suffix
                    if name in seen:
                        raise TableError(f"{path}:{number}: {name} is listed twice")
                    seen.add(name)
                    functions.append(Function(name, wrap["category"], wrap["trait"] or "", accounting, wrap["removed"] or ""))
            elif row := PASS_ROW.match(line):
                rules.append(PassRule(row["pattern"], row["reason"]))
            else:
                raise TableError(f"{path}:{number}: neither a wrap nor a pass row: {line}")
    table = Table(functions, rules)
    for function in functions:
        if table.pass_reason(function.name):
            raise TableError(f"{path}: {function.name} is both wrapped and passed through")
    return table
