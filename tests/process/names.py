#!/usr/bin/python3
"""Functions have the names of their source: inlined ones, Fortran's, OpenMP's; Python's interpreter is one frame in the text."""

import functools
import http.server
import json
import shutil
import threading

from harness import Skip, expect, expect_equal, main, test

FORTRAN = """
module kernels
  implicit none
contains
  pure real(8) function flux(a, b)
    real(8), intent(in) :: a, b
    flux = sqrt(abs(a * b) + 1d0) / (1d0 + abs(a - b))
  end function
  subroutine sweep(u, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: u(n)
    integer :: i
    do i = 2, n
      u(i) = u(i) * 0.5d0 + flux(u(i), u(i - 1))
    end do
  end subroutine
end module
subroutine outside(u, n)
  use kernels
  implicit none
  integer :: n, i
  real(8) :: u(n)
  do i = 1, 3000
    call sweep(u, n)
  end do
end subroutine
program heat
  implicit none
  real(8) :: u(20000)
  u = 1
  call outside(u, 20000)
  print *, sum(u) > 0
end program
"""

OPENMP = """
#include <stdio.h>
static inline __attribute__((always_inline)) double innermost(double x) {
    for (int i = 0; i < 200; ++i)
        x = x * 0.999 + 1 / (x + i);
    return x;
}
int main(void) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 400000; ++i)
        sum += innermost(i);
    printf("%d\\n", sum > 0);
    return 0;
}
"""

GRIND = """
double grind(double x) {
    for (int i = 0; i < 200000; ++i)
        x = x * 0.999 + 1 / (x + i);
    return x;
}
"""

PYTHON = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.grind.restype = ctypes.c_double
library.grind.argtypes = [ctypes.c_double]
def inner(n):
    return sum(library.grind(i) + len([k for k in range(3000)]) for i in range(n))
def outer(n):
    return inner(n)
print(outer(300) > 0)
"""


def run(job, command, output, **options):
    """Measures a process; its JSON report and its text."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    result = job.run([job.tool, "run", "--sample=1kHz", *flags, "--output", output, "--", *command])
    expect_equal(result.code, 0, "exit code")
    report = job.report(output)
    return report, job.run([job.tool, "report", job.folder / output]).out


def paths(report):
    return {path["id"]: path for group in (report, report["threads"]) for phase in group["phases"]
            for path in phase["call_paths"]}


def chains(report):
    """The names from the outermost to every call path with time of its own."""
    known = paths(report)
    result = []
    for path in known.values():
        if sum(path["exclusive"]["time"]) == 0:
            continue
        chain = []
        while path is not None:
            chain.insert(0, (path["kind"], path["name"]))
            path = known[path["parent"]] if path["parent"] is not None else None
        result.append(chain)
    return result


def has_chain(report, *wanted):
    """Some call path has these entries one below the other."""
    size = len(wanted)
    return any(tuple(chain[at : at + size]) == wanted for chain in chains(report) for at in range(len(chain)))


@test
def fortran_functions_have_the_names_of_the_source(job):
    job.need("gfortran")
    job.write("heat.f90", FORTRAN)
    program = job.folder / "heat"
    job.compile("gfortran", "-g", "-O2", "-fno-inline-functions-called-once", "-fno-ipa-icf", "heat.f90", "-o", program)
    report, text = run(job, [program], "profile")
    names = {name for chain in chains(report) for _, name in chain}
    expect(not any(name.endswith("_") or "_MOD_" in name for name in names), f"linker's names: {sorted(names)}")
    expect(any(chain[-1][1] in ("kernels::flux", "kernels::sweep") for chain in chains(report)), f"{chains(report)}")
    expect("heat" in names and "MAIN__" not in names, f"the program's name: {sorted(names)}")
    flux = [path for path in paths(report).values() if path["name"] == "kernels::flux" and path["kind"] == "inlined"]
    expect(flux and all(path["line"] == 7 for path in flux), f"lines of the inlined function: {flux}")
    expect("[inlined] kernels::flux" in text, text)
    # Carried to a machine without the program.
    program.unlink()
    (job.folder / "heat.f90").unlink()
    expect_equal(job.report("profile"), report, "the report without the program")


@test
def regions_of_openmp_have_readable_names(job):
    job.write("region.c", OPENMP)
    job.compile("gcc", "-g", "-O2", "-fopenmp", "region.c", "-o", job.folder / "region")
    report, text = run(job, [job.folder / "region"], "profile")
    expect(has_chain(report, ("frame", "main [omp region 0]"), ("inlined", "innermost")), f"{chains(report)}")
    expect("main [omp region 0]" in text and "[inlined] innermost" in text, text)


class FileServer:
    """Serves a folder on 127.0.0.1, and keeps what it was asked for."""

    def __init__(self, folder):
        self.asked = []
        asked = self.asked

        class Handler(http.server.SimpleHTTPRequestHandler):
            def log_request(self, *_):
                asked.append(self.path)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@test
def servers_of_debug_files_are_asked_where_the_user_names_some(job):
    """As debuginfod has them: by build-id, over HTTP."""
    if not shutil.which("objcopy"):
        raise Skip("objcopy is not installed")
    job.write("region.c", OPENMP)
    program = job.folder / "region"
    job.compile("gcc", "-g", "-O2", "-fopenmp", "-Wl,--build-id", "region.c", "-o", program)
    build_id = job.run(["readelf", "-n", program]).out.split("Build ID: ")[1].split()[0]
    debug = job.folder / "served" / "buildid" / build_id / "debuginfo"
    debug.parent.mkdir(parents=True)
    expect_equal(job.run(["objcopy", "--only-keep-debug", program, debug]).code, 0, "objcopy")
    expect_equal(job.run(["strip", program]).code, 0, "strip")
    run(job, [program], "named")
    server = FileServer(job.folder / "served")
    direct = {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1", "DEBUGINFOD_CACHE_PATH": job.folder / "cache"}
    report = [job.tool, "report", job.folder / "named"]
    without = job.run(report, env={**direct, "DEBUGINFOD_URLS": ""})
    expect("region.c" not in without.out and not server.asked, f"asked without leave: {server.asked}")
    found = job.run(report, env={**direct, "DEBUGINFOD_URLS": server.url}).out
    if not server.asked:
        raise Skip("libdw here has no debuginfod")
    expect("region.c" in found, f"no name from the server, which was asked for {server.asked}")


@test
def frames_of_the_python_interpreter_are_one_in_the_text(job):
    job.write("grind.c", GRIND)
    job.write("script.py", PYTHON)
    job.compile("gcc", "-g", "-O1", "-shared", "-fPIC", "grind.c", "-o", job.folder / "libgrind.so")
    report, text = run(job, ["/usr/bin/python3", job.folder / "script.py", job.folder / "libgrind.so"], "python", python=0)
    frames = [path for path in paths(report).values() if path["kind"] == "frame"]
    inside = [path for path in frames if path.get("interpreter")]
    expect(any(path["name"] == "grind" and not path.get("interpreter") for path in frames), "grind() is the program's own")
    expect(len(inside) > 5 and all("python" in path["module"] for path in inside), f"{inside[:3]}")
    tree = text[text.index("Call paths") : text.index("Metrics")]
    expect("(Python interpreter)" in tree and "grind" in tree, tree)
    expect("_PyEval" not in tree and "python3" not in tree.replace("  python3", ""), f"folded:\n{tree}")
    full = job.run([job.tool, "report", job.folder / "python", "--full-paths"]).out
    full = full[full.index("Call paths") : full.index("Metrics")]
    expect("(Python interpreter)" not in full, full)


@test
def traces_are_there_when_asked_for(job):
    job.write("region.c", OPENMP)
    job.compile("gcc", "-g", "-O2", "-fopenmp", "region.c", "-o", job.folder / "region")
    command = [job.tool, "report", job.folder / "on", "--format", "json", "--trace"]
    run(job, [job.folder / "region"], "off")
    report, text = run(job, [job.folder / "region"], "on", trace=1, trace_memory="4K")
    expect("traces" not in report and "trace: " in text, text)
    traces = json.loads(job.run(command).out)["traces"]
    expect_equal(len(traces), 1 + len(report["threads"]["locations"]), "traces")
    known = paths(report)
    for trace in traces:
        size = len(trace["time_ns"])
        expect(size <= 256, "a trace of 4 KiB has at most 256 samples")
        expect_equal({len(trace[key]) for key in ("path", "lca_depth", "lca_kind")}, {size}, "lengths")
        expect_equal(trace["time_ns"], sorted(trace["time_ns"]), "order of time")
        expect(all(path in known for path in trace["path"]), "call paths that are not in the report")
        expect(size > 0, "a thread that computed has no samples in its trace")
        expect(trace["lca_kind"][0] == 0, "the first sample has an ancestor")
    kinds = [kind for trace in traces for kind in trace["lca_kind"]]
    expect(kinds.count(0) < 0.1 * len(kinds) + len(traces), f"unknown: {kinds.count(0)} of {len(kinds)}")
    command[2] = job.folder / "off"
    expect_equal(json.loads(job.run(command).out)["traces"], [], "traces that nobody asked for")


if __name__ == "__main__":
    main()
