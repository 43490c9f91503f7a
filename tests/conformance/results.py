"""The result as a table for people and as JSON for programs."""

import collections
import json

from compare import DIFFERS, FLAKY, NOT_BUILT, SUSPECT, VERDICTS


def described(run):
    return {"passed": run.outcome.passed, "ended": run.outcome.ended, "seconds": round(run.seconds, 2),
            "said": run.said, "report": run.report}


def as_json(comparisons):
    rows = []
    for one in comparisons:
        row = {"program": one.program.title, "folder": one.program.folder, "verdict": one.verdict,
               "plain": [described(run) for run in one.plain], "measured": [described(run) for run in one.measured]}
        if one.verdict in (DIFFERS, SUSPECT, FLAKY):
            for side, runs in (("plain", one.plain), ("measured", one.measured)):
                for entry, run in zip(row[side], runs):
                    entry["output"] = run.outcome.output
                    entry["errors"] = run.errors[-4000:]
        rows.append(row)
    return json.dumps(rows, indent=1)


def table(comparisons):
    """Programs by top folder and verdict; only verdicts that occur have a column."""
    counts = collections.defaultdict(collections.Counter)
    for one in comparisons:
        for row in (one.program.folder.split("/")[0], "all"):
            counts[row][one.verdict] += 1
    columns = [verdict for verdict in VERDICTS if counts["all"][verdict]]
    lines = ["| folder | " + " | ".join(columns) + " | all |", "|---" * (len(columns) + 2) + "|"]
    for row in [*sorted(set(counts) - {"all"}), "all"]:
        cells = [str(counts[row][verdict] or "") for verdict in columns]
        lines.append(f"| {row} | " + " | ".join(cells) + f" | {sum(counts[row].values())} |")
    return "\n".join(lines)


def outcomes(runs):
    return ", ".join(f"{count} x ({what})" for what, count in collections.Counter(str(r.outcome) for r in runs).items())


def findings(comparisons):
    """What somebody has to look at."""
    lines = []
    for verdict in (DIFFERS, SUSPECT, FLAKY):
        for one in comparisons:
            if one.verdict == verdict:
                lines.append(f"{verdict}: {one.program.title}\n    without: {outcomes(one.plain)}\n"
                             f"    with:    {outcomes(one.measured)}")
    for one in comparisons:
        for run in one.measured:
            if run.report:
                lines.append(f"report: {one.program.title}: {run.report}")
    return "\n".join(lines)


def remarks(comparisons):
    """What libprofile said besides its exit line, and how many programs it said it to."""
    said = collections.Counter()
    for one in comparisons:
        lines = {line for run in one.measured for line in run.said if "(next: libprofile report" not in line}
        said.update("".join("#" if c.isdigit() else c for c in line) for line in lines)
    return "\n".join(f"{count:5} {line}" for line, count in said.most_common())


def summary(comparisons):
    built = [one for one in comparisons if one.verdict != NOT_BUILT]
    parts = [f"{len(built)} programs run", table(comparisons), findings(comparisons), remarks(comparisons)]
    return "\n\n".join(part for part in parts if part) + "\n"
