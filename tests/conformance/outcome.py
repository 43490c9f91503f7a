"""What one run of a program came to, reduced to what must be the same with and without libprofile."""

import re
from dataclasses import dataclass

# Addresses, times and process ids differ from run to run; so does the order in which ranks print.
CHANGING = re.compile(r"0x[0-9a-fA-F]+|\d+\.\d+(?:[eE][-+]?\d+)?|\d{4,}")
NO_ERRORS = re.compile(r"^\s*No [Ee]rrors\s*$", re.MULTILINE)
TIME_LIMIT = "time limit"


@dataclass(frozen=True)
class Outcome:
    passed: bool
    ended: str  # the exit code, or TIME_LIMIT
    output: tuple  # the lines of stdout, sorted, without what changes

    def __str__(self):
        return f"{'pass' if self.passed else 'fail'}, {self.ended}"


def passes(rule, code, text):
    """The suite's own rules: a program says that it found no errors, or it must have failed as a whole."""
    no_errors = bool(NO_ERRORS.search(text))
    if rule in ("TestStatus", "TestErrFatal"):
        return code != 0
    if rule == "TestStatusNoErrors":
        return code != 0 and no_errors
    return code == 0 and no_errors


def normalised(text):
    return tuple(sorted(CHANGING.sub("#", line).strip() for line in text.splitlines() if line.strip()))


def outcome(program, code, text):
    """`code` is None when the time limit ended the run; what it printed until then is chance."""
    if code is None:
        return Outcome(False, TIME_LIMIT, ())
    return Outcome(passes(program.rule, code, text), f"exit code {code}", normalised(text))
