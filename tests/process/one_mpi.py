#!/usr/bin/python3
"""A library built for one MPI measures that one; programs of the other run as without it, and one line says why."""

from harness import LAUNCHERS, expect, expect_equal, main, test
from report_checks import calls

NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}


def build_for(job, mpi):
    """Configures and builds the runtime only."""
    job.need("cmake", "ninja")
    build = job.folder / "build"
    options = [f"-DLIBPROFILE_MPI={mpi}", "-DLIBPROFILE_TESTS=OFF", "-DLIBPROFILE_BENCHMARKS=OFF", "-DCMAKE_BUILD_TYPE=Debug"]
    result = job.run(["cmake", "-G", "Ninja", "-S", job.source, "-B", build, *options], timeout=120)
    expect_equal(result.code, 0, "configuration")
    expect(f"MPI libraries: {mpi}\n" in result.out, "configured for another MPI, too")
    expect_equal(job.run(["ninja", "-C", build, "profile"], timeout=560).code, 0, "build")
    return build / "libprofile" / "libprofile.so"


@test
def library_built_for_one_mpi_measures_it_and_names_the_other(job):
    job.library = build_for(job, job.mpi)
    report = job.profile([job.program("life"), "work"])
    expect_equal(job.last.complaints, [], "complaints")
    expect_equal(calls(report, 1)["MPI_Allreduce"], 10, "calls")

    (job.mpi,) = set(LAUNCHERS) - {job.mpi}
    command = [job.program("life"), "work"]
    plain, result = job.plain(command), job.measured(command)
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the other MPI's job")
    expect_equal(len(result.said), 1, "lines")
    expect(f"the program uses {NAMES[job.mpi]}" in result.said[0] and "was not built" in result.said[0], result.said[0])
    expect_equal(job.output_folders(), [], "output folders")


if __name__ == "__main__":
    main()
