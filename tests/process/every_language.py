#!/usr/bin/python3
"""C, Fortran and Python programs make a known number of MPI calls: each is seen exactly once."""

from harness import Skip, expect_equal, main, test
from report_checks import calls, sums

EXPECTED = {"MPI_Comm_rank": 1, "MPI_Comm_size": 1, "MPI_Irecv": 5, "MPI_Isend": 5, "MPI_Waitall": 5, "MPI_Sendrecv": 4,
            "MPI_Allreduce": 3, "MPI_Bcast": 1, "MPI_Barrier": 6, "MPI_Finalize": 1}
ONE_SIDE = {0: {"MPI_Send": 1}, 1: {"MPI_Recv": 1}}
SENT = {0: 5 * 12 + 4 * 8 + 28, 1: 5 * 12 + 4 * 8}


def check_traffic(report, rank):
    """Messages of 3, 2 and 7 integers; handles and sentinels of all languages must have been understood."""
    found = sums(report, rank)
    expect_equal(found["p2p_bytes_sent"], SENT[rank], f"rank {rank}: bytes sent")
    expect_equal(found["p2p_bytes_received"], SENT[1 - rank], f"rank {rank}: bytes received")
    expect_equal(found["collective_exchange"], 3, f"rank {rank}: Allreduce calls")
    expect_equal(found["collective_bytes_incoming"], 12 + (40 if rank else 0), f"rank {rank}: collective bytes in")
    expect_equal(found["collective_bytes_outgoing"], 12 + (0 if rank else 40), f"rank {rank}: collective bytes out")


def check_levels(report):
    """The six barriers are a loop marked by MPI_Pcontrol(1000), which no Fortran layer may make a reference of."""
    expect_equal([(p["name"], p["iterations_per_rank"]) for p in report["phases"]],
                 [("", [1, 1]), ("pcontrol-1000", [6, 6])], "phases and their iterations")


def fortran(job, name):
    program = job.program(name)
    if not program.exists():
        raise Skip(f"{program.name} was not built: no Fortran compiler for this MPI")
    report = job.profile([program])
    expect_equal(job.plain([program]).out, "total 3\n", "stdout without libprofile")
    for rank in range(2):
        expected = {**EXPECTED, **ONE_SIDE[rank], "MPI_Init": 1, "MPI_Initialized": 1, "MPI_Pcontrol": 8}
        expect_equal(calls(report, rank), expected, f"calls of rank {rank}")
        check_traffic(report, rank)
    check_levels(report)


@test
def mpif_h_calls_are_seen_exactly_once(job):
    fortran(job, "calls_mpifh")


@test
def use_mpi_calls_are_seen_exactly_once(job):
    fortran(job, "calls_usempi")


@test
def mpi_f08_calls_are_seen_exactly_once(job):
    fortran(job, "calls_f08")


@test
def mpi4py_calls_are_seen_exactly_once(job):
    script = ["/usr/bin/python3", job.source / "tests/programs/calls_mpi4py.py"]
    found = job.run(["/usr/bin/python3", "-c", "import mpi4py, numpy; print(mpi4py.__version__)"])
    if found.code != 0:
        raise Skip("python3-mpi4py and python3-numpy are not installed")
    version = int(found.out.partition(".")[0])
    report = job.profile(script, timeout=120)
    measured = job.last
    plain = job.plain(script, timeout=120)
    expect_equal(sorted(measured.out.splitlines()), sorted(plain.out.splitlines()), "stdout")
    expect_equal(sorted(measured.err), sorted(plain.err), "stderr")
    for rank in range(2):
        # mpi4py makes calls of its own: on datatypes and error handlers, and its Bcast asks for the rank once more, since version 4
        # also for the size. One of the script's calls is rejected by MPI.
        expected = {**EXPECTED, **ONE_SIDE[rank], "MPI_Init_thread": 1, "MPI_Comm_rank": 2, "MPI_Pcontrol": 3}
        expected["MPI_Comm_size"] += version >= 4
        expected["MPI_Send"] = expected.get("MPI_Send", 0) + 1
        found = {}
        for name, visits in calls(report, rank).items():  # from version 4.1 on with large counts, where MPI has them
            found[name.removesuffix("_c")] = found.get(name.removesuffix("_c"), 0) + visits
        expect_equal({name: found.get(name) for name in expected}, expected, f"calls of rank {rank}")
        check_traffic(report, rank)


if __name__ == "__main__":
    main()
