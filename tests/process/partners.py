#!/usr/bin/python3
"""Partners of messages in the report equal the log that the program wrote itself (tests/programs/partners.c)."""

import json

from harness import expect, expect_equal, main, test


def reported(report, rank):
    """By function, direction and partner: messages and bytes."""
    found = {}
    for row in report["partners"]["rows"]:
        if row["rank"] != rank:
            continue
        sums = [(partner["rank"], partner) for partner in row["partners"]] + [(-1, row["unknown"])]
        expect_equal(row["others"], {"messages": 0, "bytes": 0}, "further partners")
        for partner, amount in sums:
            if amount["messages"] != 0:
                one = found.setdefault((row["function"], row["direction"], partner), [0, 0])
                one[0] += amount["messages"]
                one[1] += amount["bytes"]
    return found


@test
def partners_of_messages_equal_the_programs_log(job):
    ranks = 4
    report = job.profile([job.program("partners"), "20"], ranks)
    expect_equal(report["partners"]["lost"], 0, "lost messages")
    pairs = {"sent": {}, "received": {}}
    for rank in range(ranks):
        log = {(function, direction, partner): [messages, size] for function, direction, partner, messages, size in
               json.loads((job.folder / f"log.{rank}.json").read_text())}
        found = reported(report, rank)
        expect_equal(sorted(found.items()), sorted(log.items()), f"messages of rank {rank}")
        for (function, direction, partner), amount in found.items():
            pair = pairs[direction].setdefault((rank, partner) if direction == "sent" else (partner, rank), [0, 0])
            pair[0] += amount[0]
            pair[1] += amount[1]
    expect_equal(sorted(pairs["received"].items()), sorted(pairs["sent"].items()), "what was received, and what was sent")


@test
def partners_after_the_first_eight_share_a_row_and_are_told(job):
    ranks = 10
    report = job.profile([job.program("partners"), "1"], ranks)
    expect_equal(report["partners"]["lost"], 0, "lost messages")
    shared = 0
    for rank in range(ranks):
        log, sums, named = json.loads((job.folder / f"log.{rank}.json").read_text()), {}, {}
        for function, direction, partner, messages, size in log:
            named[function, direction, partner] = messages, size
            one = sums.setdefault((function, direction, partner < 0), [0, 0])
            one[0], one[1] = one[0] + messages, one[1] + size
        found = {}
        for row in (row for row in report["partners"]["rows"] if row["rank"] == rank):
            expect(len(row["partners"]) == 8 or row["others"]["messages"] == 0, f"others beside {len(row['partners'])} partners")
            shared += row["others"]["messages"]
            for partner in row["partners"]:
                messages, size = named[row["function"], row["direction"], partner["rank"]]
                expect(partner["messages"] <= messages and partner["bytes"] <= size, f"more than rank {rank} had with a partner: {partner}")
            for is_unknown, amounts in ((False, [*row["partners"], row["others"]]), (True, [row["unknown"]])):
                for amount in (amount for amount in amounts if amount["messages"] != 0):
                    one = found.setdefault((row["function"], row["direction"], is_unknown), [0, 0])
                    one[0], one[1] = one[0] + amount["messages"], one[1] + amount["bytes"]
        expect_equal(sorted(found.items()), sorted(sums.items()), f"all messages of rank {rank}")
    expect(shared > 0, "no path has more than eight partners")
    text = job.run([job.tool, "report", job.folder / "profile.1"]).out
    section = text[text.index("Partners of messages"):]
    expect(", others " in section[:section.index("\n\n")], section)


@test
def a_communicator_that_is_freed_during_a_receive_is_not_asked_about(job):
    for is_known in (0, 1):
        command = [job.program("freed_communicator"), is_known]
        plain = job.plain(command)
        measured = job.measured(command, output=f"known{is_known}")
        expect_equal((measured.code, measured.out, measured.err), (plain.code, plain.out, plain.err), "the job with libprofile")
        received = [row for row in job.report(f"known{is_known}")["partners"]["rows"] if (row["rank"], row["function"]) == (0, "MPI_Recv")]
        expect_equal(sum(partner["messages"] for row in received for partner in row["partners"] if partner["rank"] == 1), 5 * is_known, "known messages")
        expect_equal(sum(row["unknown"]["messages"] for row in received), 5 - 5 * is_known, "messages of which it is too late to ask")


if __name__ == "__main__":
    main()
