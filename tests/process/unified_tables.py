"""Call paths are stored once for the whole job, whatever its ranks have in common."""

import struct
from collections import Counter

from harness import expect, expect_equal, main, test
from report_checks import calls

TREE, LOCATION, NODE_MAP = 6, 11, 12
JOB = 0xFFFFFFFF


def headers(job, output):
    """Type, owner and size of each block of the common file."""
    content = (job.folder / output / "profile.lprof").read_bytes()
    at = 32
    while at < len(content):
        magic, kind, stored, raw, _, rank = struct.unpack_from("<IIQQII", content, at)
        expect_equal(magic, 0x4B42504C, f"magic number of the block at {at}")
        yield kind, "job" if rank == JOB else "rank", raw
        at += 32 + (stored + 7) // 8 * 8


def blocks(job, output):
    """How many blocks of each type a rank, or the job, has in the common file."""
    return Counter((kind, owner) for kind, owner, _ in headers(job, output))


def unified(job, command, ranks, most_maps, **more):
    """The report of a job whose ranks all have their call paths in the job's tree."""
    report = job.profile(command, ranks=ranks, **more)
    counts = blocks(job, f"profile.{job.runs}")
    expect_equal(counts[TREE, "job"], 1, "trees of the job")
    expect_equal(counts[TREE, "rank"], 0, "trees of single ranks")
    expect(counts[LOCATION, "rank"] >= ranks, "locations are missing")
    expect(1 <= counts[NODE_MAP, "rank"] <= most_maps, f"{counts[NODE_MAP, 'rank']} node maps, at most {most_maps} expected")
    return report


WITHOUT_SAMPLES = {"LIBPROFILE_SAMPLE": "off"}


@test
def equal_call_paths_are_stored_once(job):
    unified(job, [job.program("paths"), 50, 40, "same"], ranks=4, most_maps=1, options=WITHOUT_SAMPLES)


@test
def different_call_paths_are_one_tree(job):
    """Sums and names are checked in every report."""
    for mode, maps in (("part", 4), ("apart", 5)):
        report = unified(job, [job.program("paths"), 100, 60, mode], ranks=5, most_maps=maps, options=WITHOUT_SAMPLES)
        for rank in range(5):
            made = calls(report, rank)
            expect_equal([made[name] for name in ("MPI_Irecv", "MPI_Send", "MPI_Wait")], [100] * 3, f"calls of rank {rank}, {mode}")


@test
def sampled_call_paths_are_one_tree(job):
    unified(job, [job.example("particles"), 60], ranks=3, most_maps=3, options={"LIBPROFILE_SAMPLE": "10kHz"})


@test
def ranks_without_call_paths_are_in_the_tree(job):
    unified(job, [job.program("paths"), 0, 1, "none"], ranks=3, most_maps=3)


@test
def programs_of_one_job_share_a_tree(job):
    """The ranks of one program have one node map, if its ranks are next to each other in the tree of messages."""
    arguments = [30, 20, "same"]
    options = {"LIBPROFILE_OUTPUT": job.folder / "two", **WITHOUT_SAMPLES}
    result = job.run([*job.launcher(2), *job.preloaded([job.program("paths"), *arguments], options), ":", "-n", "3",
                      *job.preloaded([job.program("paths_unoptimised"), *arguments], options)])
    expect_equal(result.code, 0, "exit code")
    report = job.report("two")
    expect_equal((report["job"]["ranks"], report["job"]["complete"]), (5, True), "ranks and completeness")
    counts = blocks(job, "two")
    expect_equal((counts[TREE, "job"], counts[TREE, "rank"], counts[NODE_MAP, "rank"]), (1, 0, 2), "trees and node maps")
    for rank in range(5):
        expect_equal(calls(report, rank)["MPI_Send"], 30, f"messages of rank {rank}")


@test
def threads_are_in_the_jobs_tree(job):
    unified(job, [job.program("threads")], ranks=2, most_maps=100)


@test
def tables_of_any_size_are_one_tree(job):
    """Also those larger than what MPI sends before the receiver asks for it (64 KiB)."""
    report = unified(job, [job.program("paths"), 1500, 1500, "apart"], ranks=3, most_maps=3, options=WITHOUT_SAMPLES)
    tree = max(size for kind, _, size in headers(job, f"profile.{job.runs}") if kind == TREE)
    expect(tree > 4 * 65536, f"{tree} bytes of call paths are too few for a test of large messages")
    for rank in range(3):
        expect_equal(calls(report, rank)["MPI_Send"], 1500, f"messages of rank {rank}")


def halted(job, how, rank, step, ranks=4):
    """A job of which one rank is halted in a step of the exchange (tests/programs/halted_exchange.c)."""
    halt = {"HALT_HOW": how, "HALT_RANK": rank, "HALT_STEP": step}
    options = {"LD_PRELOAD": f"{job.library}:{job.program('halted_exchange')}", **WITHOUT_SAMPLES, **halt}
    return job.measured([job.program("paths"), 30, 20, "apart"], ranks, options=options, output=f"{how}.{rank}.{step}", timeout=60)


def each_wrote_alone(job, result, folder, ranks=4):
    expect_equal((result.code, len(result.said), len(result.out.splitlines())), (0, 1, ranks), "exit code, lines of ours and of the program")
    expect("could not finish together" in result.said[0], result.said[0])
    report = job.report(folder)
    expect_equal((report["job"]["ranks"], report["job"]["missing_ranks"], report["job"]["complete"]), (ranks, [], False), "ranks, completeness")
    for rank in range(ranks):
        expect_equal(calls(report, rank)["MPI_Send"], 30, f"messages of rank {rank}")


@test
def a_rank_that_stands_still_while_tables_are_exchanged_is_not_waited_for(job):
    for rank, step in ((1, 0), (2, 7)):
        each_wrote_alone(job, halted(job, "pause", rank, step), f"pause.{rank}.{step}")


@test
def an_error_while_tables_are_exchanged_costs_the_common_file_only(job):
    for rank, step in ((3, 2), (0, 9)):
        each_wrote_alone(job, halted(job, "error", rank, step), f"error.{rank}.{step}")


@test
def a_rank_that_dies_while_tables_are_exchanged_ends_the_job(job):
    for rank, step in ((0, 3), (3, 1)):
        result = halted(job, "kill", rank, step)
        expect(result.code != 0, "a killed job must not succeed")


main()
