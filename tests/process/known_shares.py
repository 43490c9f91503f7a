#!/usr/bin/python3
"""Intervals of sampled times against what the program itself measured (tests/programs/known_shares.c; docs/sampling-error.md)."""

import importlib
import json
import random
import sys

from harness import expect, main, test

FUNCTIONS = ("alpha", "beta", "gamma_ray", "delta", "epsilon")


def iterations_of(log, phase):
    """Kind, and ns by function."""
    rows = [line.split() for line in log.read_text().splitlines()]
    return [(int(row[1]), [int(ns) for ns in row[2:]]) for row in rows if row[0] == phase]


def sums(rows):
    return [sum(column) for column in zip(*(times for _, times in rows))]


def selections(job, log):
    """Options of the report, and the true time of each function: the run, the phases, the kinds, and some ranges of 20 iterations."""
    chosen = random.Random(7)
    logs = {(rank, phase): iterations_of(job.folder / f"{log}.{rank}", phase) for rank in (0, 1) for phase in ("short", "long")}
    yield ["--rank", "0,1"], sums([row for rows in logs.values() for row in rows])
    for (rank, phase), rows in logs.items():
        options = ["--rank", str(rank), "--phase", phase]
        yield options, sums(rows)
        for kind in range(3):
            at = [i for i, row in enumerate(rows) if row[0] == kind]
            yield [*options, "--iterations", f"{at[0] + 1}:{at[-1] + 1}"], sums(rows[at[0]:at[-1] + 1])
        for first in chosen.sample(range(len(rows) - 20), 2):
            yield [*options, "--iterations", f"{first + 1}:{first + 20}"], sums(rows[first:first + 20])


def found_in(job, output, options):
    """Time and half of the interval by function."""
    result = job.run([job.tool, "report", output, *options, "--metric", "execution", "--top", "1000", "--format", "json"])
    expect(result.code == 0, "the report failed")
    rows = json.loads(result.out)["call_paths"]
    return {row["name"]: (row["execution_inclusive"], row["error"]) for row in rows if row["name"] in FUNCTIONS and row["depth"] == 2}


def python_agrees(job, output):
    sys.path.insert(0, str(job.build / "python"))
    try:
        libprofile = importlib.import_module("libprofile")
    except ImportError:
        return
    table = libprofile.open(job.folder / output).table(phase="short", ranks=[1])
    errors = table.sampling_error(inclusive=True)
    found = found_in(job, output, ["--rank", "1", "--phase", "short"])
    for n, node in enumerate(table.nodes):
        if node.name in found and table.path(n)[-2:-1] == ["phase"]:
            wanted = found[node.name][1]
            expect(abs(float(errors[n, 0]) - wanted) <= 1, f"interval of {node.name}: {errors[n, 0]} in Python, {wanted} in the report")


def hold_the_truth(job, rate):
    output, log = f"known.{rate}", f"log.{rate}"
    result = job.measured([job.programs / f"known_shares.{job.mpi}", 3, job.folder / log], options={"LIBPROFILE_SAMPLE": rate}, output=output, timeout=120)
    expect(result.code == 0, "the program failed")
    held, missed = 0, []
    for options, truth in selections(job, log):
        found = found_in(job, output, options)
        for name, ns in zip(FUNCTIONS, truth):
            if name not in found:
                continue  # no sample hit it
            time, error = found[name]
            if abs(time - ns) <= error:
                held += 1
            else:
                missed.append(f"{' '.join(options)}: {name} took {ns}, in the report {time} +- {error}")
    cells = held + len(missed)
    expect(cells >= 60, f"only {cells} cells")
    # 95 % on average; the cells of one run are not independent.
    expect(held >= 0.85 * cells, f"{held} of {cells} intervals hold the truth:\n" + "\n".join(missed))
    python_agrees(job, output)


@test
def intervals_hold_the_true_times_of_functions(job):
    hold_the_truth(job, "100Hz")


@test
def intervals_of_automatic_samples_hold_the_true_times(job):
    hold_the_truth(job, "auto")


if __name__ == "__main__":
    main()
