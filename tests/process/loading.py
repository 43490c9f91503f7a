#!/usr/bin/python3
"""Ways in which programs are loaded: plug-ins, immediate binding."""

import re

from harness import expect, expect_equal, main, test
from report_checks import calls

EXPECTED = {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Allreduce": 7, "MPI_Finalize": 1}


def check_plugin_report(report):
    for rank in range(2):
        expect_equal(calls(report, rank), EXPECTED, f"calls of rank {rank}")


@test
def mpi_in_a_plugin_opened_locally_is_measured(job):
    command = [job.programs / "plugin_host", job.program("plugin_mpi")]
    report = job.profile(command)
    expect_equal((job.last.out, job.last.err), ("plugin: 1\n", []), "output")
    check_plugin_report(report)


@test
def immediate_binding_changes_nothing(job):
    plugin = [job.programs / "plugin_host", job.program("plugin_mpi")]
    check_plugin_report(job.profile(["env", "LD_BIND_NOW=1", *plugin]))
    report = job.profile(["env", "LD_BIND_NOW=1", job.program("life"), "work"])
    expect_equal(calls(report, 1)["MPI_Allreduce"], 10, "calls")
    result = job.run(["env", "LD_BIND_NOW=1", f"LD_PRELOAD={job.library}", "/bin/true"])
    expect_equal((result.code, result.all_err), (0, ""), "a program without MPI")


@test
def exceptions_of_a_plugin_keep_their_unwinder(job):
    """A preloaded library that pulls in libunwind would replace libgcc_s's unwinder in C programs with C++ plug-ins."""
    command = [job.programs / "plugin_host", job.programs / "plugin_throws"]
    for start in (job.preloaded([]), [job.tool, "run", "--"]):
        result = job.run(["env", "LD_DEBUG=bindings", f"LD_DEBUG_OUTPUT={job.folder}/bindings", *start, *command])
        expect_equal((result.code, result.out), (0, "plugin: thrown\n"), "the process")
    bound = []
    for file in job.folder.glob("bindings.*"):
        bound += re.findall(r"binding file \S*libstdc\+\+\S* \[0\] to (\S+) \[0\]: \w+ symbol `_Unwind_RaiseException'",
                            file.read_text(errors="replace"))
    expect(len(bound) >= 2, f"no bindings found: {bound}")
    expect(all("libgcc_s" in library for library in bound), f"bound to another unwinder: {bound}")


@test
def library_needs_nothing_but_libc(job):
    listing = job.run(["readelf", "-d", job.library]).out
    libraries = re.findall(r"\(NEEDED\).*\[(.*)\]", listing)
    strange = [name for name in libraries if not name.startswith(("libc.so", "libm.so", "libdl.", "ld-linux", "libpthread"))]
    expect_equal(strange, [], "libraries that every measured process would have to load")


if __name__ == "__main__":
    main()
