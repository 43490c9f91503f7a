"""Judges a program: the same with and without libprofile, or not, or a program that is not the same even without."""

from dataclasses import dataclass

from outcome import TIME_LIMIT

SAME_PASS = "same pass"
SAME_FAIL = "same fail"
DIFFERS = "differs"  # nothing that happened without libprofile happened with it
SUSPECT = "suspect"  # always the same without, not always with
FLAKY = "flaky"  # not always the same without
TOO_LONG = "too long"  # beyond the time limit without libprofile; not run with it
NOT_BUILT = "not built"
VERDICTS = [SAME_PASS, SAME_FAIL, DIFFERS, SUSPECT, FLAKY, TOO_LONG, NOT_BUILT]

REPETITIONS = 3
# libprofile waits this long in MPI_Finalize when MPI loses messages of the ranks that meet there: 30 s until all are there, 180 s to unify call paths.
MEETING = 210


@dataclass
class Comparison:
    program: object
    verdict: str
    plain: list
    measured: list


def judge(plain, measured):
    # How a program fails, and what it prints, may be chance: then only whether it passes or hangs counts.
    chance = len({run.outcome for run in plain}) > 1

    def essence(outcome):
        return (outcome.passed, outcome.ended == TIME_LIMIT) if chance else outcome

    without, with_it = ({essence(run.outcome) for run in runs} for runs in (plain, measured))
    if without == with_it and len(without) == 1:
        return SAME_PASS if plain[0].outcome.passed else SAME_FAIL
    if not without & with_it:
        return DIFFERS
    return SUSPECT if len(without) == 1 else FLAKY


def compare(jobs, program, limit):
    plain = [jobs.run(program, limit, measured=False)]
    if plain[0].outcome.ended == TIME_LIMIT:
        return Comparison(program, TOO_LONG, plain, [])
    # With the library a program may take longer; that is not a difference unless it never ends.
    patience = max(limit, 4 * plain[0].seconds) + MEETING
    measured = [jobs.run(program, patience, measured=True)]
    for _ in range(REPETITIONS):
        if judge(plain, measured) in (SAME_PASS, SAME_FAIL):
            break
        plain.append(jobs.run(program, patience, measured=False))
        measured.append(jobs.run(program, patience, measured=True))
    return Comparison(program, judge(plain, measured), plain, measured)
