#!/usr/bin/python3
"""Named regions of every language and functions that a compiler has instrumented: counted exactly, repaired where they do not pair,
left out where a filter says so, and nothing else changes."""

import json
import re

from harness import Skip, expect, expect_equal, main, test
from report_checks import totals

STEPS = ["20", "4000"]  # of small_calls


def rows(report, kind=None):
    """Visits, time and exclusive time of the regions by name (functions: without parameters), over all ranks and threads."""
    found = {}
    for row in report["regions"]["rows"]:
        if kind is None or row["kind"] == kind:
            name = row["name"] if row["kind"] != "function" else re.sub(r"\(.*", "", row["name"])
            found[name] = row
    return found


def visits(report, kind):
    return {name: row["visits"] for name, row in rows(report, kind).items()}


def compiler(job, language):
    found = f"{ {'c': 'mpicc', 'c++': 'mpicxx', 'fortran': 'mpif90'}[language] }.{job.mpi}"
    job.need(found)
    return found


def wrapper(job, language):
    return job.source / "scripts/compilers" / f"libprofile-{ {'c': 'cc', 'c++': 'c++', 'fortran': 'fort'}[language] }"


def instrumented(job, source, name, *flags):
    job.compile(wrapper(job, "c++"), f"--cc={compiler(job, 'c++')}", "-O2", "-g", "-pthread", "-Wno-clobbered", *flags,
                job.source / "tests/programs" / source, "-o", job.folder / name)
    return job.folder / name


@test
def named_regions_are_counted_exactly(job):
    report = job.profile([job.program("regions")])
    expect_equal(visits(report, "region"),
                 {"recursive": 10, "two functions": 2, "left by an exception": 2, "outer": 24, "inner": 72, "output": 6,
                  "never ended": 2}, "visits on two ranks")
    found = rows(report)
    expect(found["inner"]["time"] >= 72e6, "72 visits of at least 1 ms took less")
    outer = found["outer"]
    inside = found["inner"]["time"] + found["output"]["time"]
    expect(outer["time"] >= inside, "a region takes at least as long as those inside")
    # On both ranks: the rest of "outer" are barriers, which are not its own time.
    expect(outer["exclusive_time"] <= outer["time"] - inside, "own time is without what is inside")
    expect_equal(report["regions"]["repairs"], 4, "regions that were not ended, or not begun")


@test
def named_regions_tell_iterations_apart(job):
    report = job.profile([job.program("regions")], options={"LIBPROFILE_EQUIVALENCE": "strong"})
    phase = next(p for p in report["phases"] if p["name"] == "step")
    of_step = phase["cluster_of_iteration"][0]
    classes = [phase["cluster_profiles"][0][c]["class"] for c in of_step]
    expect_equal([c == classes[0] for c in classes], [step % 4 != 3 for step in range(12)], "steps without output")


@test
def named_regions_are_nothing_without_the_library(job):
    result = job.plain([job.program("regions")])
    expect_equal((result.code, result.out, result.err), (0, "12 steps\n", []), "the job")


RECURSIVE = """
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
static void work(void) {
    const long size = 10 * sysconf(_SC_PAGESIZE);
    char* pages = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(pages, size, MADV_NOHUGEPAGE);
    for (long at = 0; at < size; at += sysconf(_SC_PAGESIZE)) ((volatile char*)pages)[at] = 1;
    munmap(pages, size);
    usleep(500);
}
__attribute__((noinline)) static void refine(int depth) {
    profile_region_begin("refine");
    work();
    if (depth != 0) refine(depth - 1);
    if (depth == 2) {
        profile_iteration_begin("inside");
        refine(0);
        profile_iteration_end("inside");
    }
    profile_region_end("refine");
}
__attribute__((noinline)) static void odd(int depth);
__attribute__((noinline)) static void even(int depth) {
    profile_region_begin("even");
    work();
    if (depth != 0) odd(depth - 1);
    profile_region_end("even");
}
static void odd(int depth) {
    profile_region_begin("odd");
    work();
    if (depth != 0) even(depth - 1);
    profile_region_end("odd");
}
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    double refined = 0, other = 0;
    for (int i = 0; i < 10; ++i) {
        const double start = MPI_Wtime();
        refine(4);
        const double middle = MPI_Wtime();
        even(4);
        refined += middle - start;
        other += MPI_Wtime() - middle;
    }
    printf("refine %.0f\\neven %.0f\\n", refined * 1e9, other * 1e9);
    MPI_Finalize();
}
"""


@test
def of_a_recursive_named_region_the_outermost_visits_have_time_and_counters(job):
    """Each depth has a call path of its own; what they have together is what passes between the outermost entry and its exit."""
    job.write("recursive.c", RECURSIVE)
    job.compile(compiler(job, "c"), "-O1", "-g", "-I", job.source / "include", "recursive.c", "-o", "recursive")
    report = job.profile([job.folder / "recursive"], options={"LIBPROFILE_METRICS": "page_faults"})
    found = rows(report, "region")
    # On two ranks: visits, and visits whose work the outermost ones enclose.
    expected = {"refine": (2 * 10 * 6, 2 * 10 * 6), "even": (2 * 10 * 3, 2 * 10 * 5), "odd": (2 * 10 * 2, 2 * 10 * 4)}
    expect_equal({name: row["visits"] for name, row in found.items()}, {name: visits for name, (visits, _) in expected.items()}, "visits")
    taken = {name: sum(int(ns) for ns in re.findall(rf"^{name} (\d+)$", job.last.out, re.M)) for name in ("refine", "even")}
    taken["odd"] = taken["even"]
    for name, (_, works) in expected.items():
        expect(works * 500e3 <= found[name]["time"] <= taken[name], f"{name} has {found[name]['time']} ns; outermost visits took {taken[name]} by the program's clock")
        faults = found[name]["counters"]["page_faults"]
        expect(works * 10 <= faults < works * 11, f"{name} has {faults} page faults; the outermost visits have {works * 10}")
    expect(found["refine"]["exclusive_time"] <= found["refine"]["time"], "own time is a part")


C_SOURCE = """
#include <libprofile.h>
#include <mpi.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; ++i) {
        profile_region_begin("from C");
        profile_region_end("from C");
    }
    MPI_Finalize();
}
"""
FORTRAN_SOURCE = """
program regions
  use mpi
  use libprofile
  integer :: ierror, i
  call MPI_Init(ierror)
  do i = 1, 6
    call profile_region_begin("from Fortran")
    call profile_region_end("from Fortran  ")
  end do
  call MPI_Finalize(ierror)
end program
"""


@test
def regions_of_c_are_counted(job):
    job.write("regions.c", C_SOURCE)
    job.compile(compiler(job, "c"), "-I", job.source / "include", "regions.c", "-o", "regions_c")
    expect_equal(job.plain([job.folder / "regions_c"]).code, 0, "exit code without the library")
    expect_equal(visits(job.profile([job.folder / "regions_c"]), "region"), {"from C": 10}, "visits")


@test
def regions_of_fortran_are_counted(job):
    job.write("regions.f90", FORTRAN_SOURCE)
    job.compile(compiler(job, "fortran"), job.source / "include/libprofile.f90", "regions.f90", "-o", "regions_f90")
    expect_equal(job.plain([job.folder / "regions_f90"]).code, 0, "exit code without the library")
    expect_equal(visits(job.profile([job.folder / "regions_f90"]), "region"), {"from Fortran": 12}, "visits")


@test
def regions_of_python_are_counted(job):
    script = "import ctypes; l = ctypes.CDLL(None)\nfor i in range(4): l.profile_region_begin(b'from Python'); l.profile_region_end(b'from Python')"
    result = job.run(job.preloaded(["/usr/bin/python3", "-c", script], {"LIBPROFILE_OUTPUT": job.folder / "python"}))
    expect_equal(result.code, 0, "exit code")
    expect_equal(visits(job.report("python"), "region"), {"from Python": 4}, "visits")


@test
def instrumented_functions_are_counted_exactly(job):
    program = instrumented(job, "instrumented.cpp", "instrumented")
    plain = job.plain([program])
    report = job.profile([program])
    expect_equal((job.last.out, job.last.err), (plain.out, plain.err), "output")
    found = visits(report, "function")
    # fibonacci(15) makes 1973 calls. Each branch(n) makes n of leaf().
    leaf = 10 * 1000 + 7 + 5 + 2 * 100 + 3
    expected = {"work::leaf": leaf, "work::branch": 12, "work::fibonacci": 1973, "work::thrower": 35, "work::catcher": 7,
                "work::jumper": 20, "work::lander": 5, "work::in_thread": 2, "work::handler": 3, "main": 1}
    expect_equal({name: found.get(name) for name in expected}, {name: 2 * n for name, n in expected.items()}, "visits on two ranks")
    regions = report["regions"]
    expect_equal(found["work::even"] + found["work::odd"] + regions["too_deep"], 2 * 20001, "visits beyond the depth that is kept")
    expect_equal(regions["left_functions"], 2 * 5 * 4, "functions left by longjmp")
    expect_equal((regions["unmatched_exits"], regions["repairs"], regions["without_memory"]), (0, 0, 0), "losses")
    timed = rows(report, "function")
    wall = sum(totals(report)["time"])
    expect(timed["main"]["time"] <= 1.001 * wall and timed["main"]["time"] > 0.3 * wall, "main() is most of the run")
    expect(timed["work::branch"]["time"] >= timed["work::leaf"]["time"] * 0.9, "callers take as long as what they call")
    own = sum(row["exclusive_time"] for row in timed.values())
    expect(own <= timed["main"]["time"] + timed["work::in_thread"]["time"], "own times are parts of the whole")


SWITCHING = """
#include <libprofile.h>
#include <mpi.h>
__attribute__((noinline)) static void sometimes(volatile int* n) { ++*n; }
int main(int argc, char** argv) {
    volatile int n = 0;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 20; ++step) {
        profile_iteration_begin("step");
        for (int i = 0; i < step % 3; ++i) sometimes(&n);
        MPI_Barrier(MPI_COMM_WORLD);
        profile_iteration_end("step");
    }
    MPI_Finalize();
}
"""


@test
def instrumented_functions_do_not_tell_iterations_apart(job):
    job.write("switching.c", SWITCHING)
    job.compile(wrapper(job, "c"), f"--cc={compiler(job, 'c')}", "-I", job.source / "include", "switching.c", "-o", "switching")
    report = job.profile([job.folder / "switching"], options={"LIBPROFILE_EQUIVALENCE": "strong"})
    phase = next(p for p in report["phases"] if p["name"] == "step")
    expect_equal(phase["classes"], [1, 1], "classes of iterations")
    expect_equal(visits(report, "function"), {"main": 2, "sometimes": 2 * 19}, "visits")
    paths = [path for path in phase["call_paths"] if path["kind"] == "function_region" and path["name"] == "sometimes"]
    expect_equal([path["exclusive"]["visits"] for path in paths], [[19, 19]], "visits in iterations")
    # main() is open in all of them: what it takes there is theirs.
    inside = sum(sum(path["exclusive"]["region_time"]) for path in phase["call_paths"] if path["name"] == "main" and path["kind"] == "function_region")
    expect(0.9 * sum(phase["wall_inclusive_ns"]) <= inside <= sum(phase["wall_inclusive_ns"]), "the time of main() in iterations")


@test
def instrumented_programs_run_as_before_without_the_library(job):
    program = instrumented(job, "small_calls.cpp", "small_calls")
    result = job.plain([program, *STEPS])
    job.compile(compiler(job, "c++"), "-O2", job.source / "tests/programs/small_calls.cpp", "-o", job.folder / "uninstrumented")
    expect_equal(result.out, job.plain([job.folder / "uninstrumented", *STEPS]).out, "output")
    expect_equal(result.err, [], "stderr")


def filter_of(job, folder):
    made = job.run([job.tool, "filter", folder, "--target", "1"])
    expect_equal(made.code, 0, "exit code of libprofile filter")
    return job.write("made.filter", made.out)


@test
def the_filter_of_a_first_run_leaves_small_functions_out(job):
    program = instrumented(job, "small_calls.cpp", "small_calls")
    first = job.profile([program, *STEPS])
    out = job.last.out
    before = visits(first, "function")
    made = filter_of(job, job.folder / "profile.1")
    # At run time.
    second = job.profile([program, *STEPS], options={"LIBPROFILE_FILTER": made})
    expect_equal(job.last.out, out, "output")
    left = visits(second, "function")
    expect(sum(left.values()) * 100 < sum(before.values()), f"{sum(left.values())} of {sum(before.values())} visits are left")
    expect("tube::update" in left, "functions that are worth it stay")
    expect(second["regions"]["excluded_functions"] > 5, "excluded functions are counted")
    expect_equal(second["regions"]["unmatched_exits"], 0, "exits without entry")
    # When it is compiled.
    again = instrumented(job, "small_calls.cpp", "again", f"--filter={made}")
    third = job.profile([again, *STEPS])
    expect_equal(job.last.out, out, "output")
    compiled = visits(third, "function")
    expect(sum(compiled.values()) * 100 < sum(before.values()), f"{sum(compiled.values())} of {sum(before.values())} visits are left")
    expect("tube::update" in compiled, "functions that are worth it stay")


@test
def a_filter_by_name_holds_at_run_time(job):
    program = instrumented(job, "instrumented.cpp", "instrumented")
    rules = job.write("names.filter", "# by hand\nexclude function work::*\ninclude function work::br?nch\nexclude function *lander*\n")
    found = visits(job.profile([program], options={"LIBPROFILE_FILTER": rules}), "function")
    expect_equal({name: n for name, n in found.items() if "init" not in name and "GLOBAL" not in name},
                 {"main": 2, "work::branch": 24}, "functions")
    wrong = job.write("wrong.filter", "exclude function work::leaf\nplease exclude main\n")
    found = visits(job.profile([program], options={"LIBPROFILE_FILTER": wrong}), "function")
    expect("work::leaf" not in found and "main" in found, "rules that are understood hold")
    expect(any("line 2 is not understood and left out; the other lines are used" in line for line in job.last.said), "the line that is not understood is named")


def about_filters(job):
    return [line.partition(".filter: ")[2] for line in job.last.complaints if "LIBPROFILE_FILTER=" in line]


@test
def filter_lines_that_fit_nothing_are_named_once(job):
    program = instrumented(job, "instrumented.cpp", "instrumented")
    unfit = "matches no function of the program and its libraries"
    cases = {
        "exclude function work::lief\n": [f"line 1 (work::lief) {unfit}"],
        "exclude function work::leaf\n# by hand\ninclude function lief\nexclude function nosuch*\n":
            ["2 lines match no function of the program and its libraries, the first is line 3 (lief)"],
        # A line that a later one takes over from fits all the same.
        "exclude function work::leaf\nexclude function work::*\n": [],
        "exclude file instrumented.cpp\nexclude compiled work::leaf\n":
            ["no line of it applies at run time (exclude file and exclude compiled are for libprofile-cc)"],
        "exclude compiled work::leaf\nexclude function work::leaf\n": [],
        "exclude at 00ff00ff 0x1000\nexclude function work::leaf\nexclude at 00ff00ff 0x2000\n":
            ["2 lines from line 1 on name functions of a build that is not loaded (make a new file: libprofile filter)"],
        "include file x\nexclude function\nexclude function work::leaf\n": ["line 1 and 1 other are not understood and left out; the other lines are used"],
    }
    for number, (text, said) in enumerate(cases.items()):
        rules = job.write(f"{number}.filter", text)
        job.profile([program], options={"LIBPROFILE_FILTER": rules})
        expect_equal(about_filters(job), said, f"said about {text!r}")
    job.measured([program], options={"LIBPROFILE_FILTER": job.write("quiet.filter", "exclude function nosuch\n"), "LIBPROFILE_QUIET": "1"}, output="quiet")
    expect_equal(job.last.said, [], "said when it is to be quiet")


@test
def names_that_there_is_no_memory_for_are_missed_aloud(job):
    long = "x" * 1000
    functions = "".join(f"void f{n}_{long}(void) {{}}\n" for n in range(2000))
    source = job.write("names.c", "#include <mpi.h>\n" + functions + "int main(void) { return MPI_Init(0, 0) + MPI_Finalize(); }\n")
    job.compile(wrapper(job, "c"), f"--cc={compiler(job, 'c')}", source, "-o", job.folder / "names")
    rules = job.write("some.filter", "exclude function f1_*\n")
    job.profile([job.folder / "names"], options={"LIBPROFILE_FILTER": rules})
    expect_equal(about_filters(job), [], "said with enough memory")
    job.profile([job.folder / "names"], options={"LIBPROFILE_FILTER": rules, "LIBPROFILE_MEMORY": "1M"})
    said = about_filters(job)
    expect(len(said) == 1 and said[0].endswith("there was no memory for the names of some modules; raise LIBPROFILE_MEMORY"), f"said: {said}")


@test
def the_report_says_what_the_filter_did(job):
    program = instrumented(job, "instrumented.cpp", "instrumented")

    def told(text):
        rules = job.write("some.filter", text)
        job.profile([program], options={"LIBPROFILE_FILTER": rules})
        shown = job.run([job.tool, "report", job.folder / f"profile.{job.runs}", "--width", "1000"])
        expect_equal(shown.code, 0, "exit code of the report")
        return " ".join(line.strip() for line in shown.out.splitlines())

    shown = told("exclude function work::leaf\nexclude function work::branch\n")
    expect("some.filter left out 2 functions of the program and its libraries, instrumented or not" in shown, shown)
    expect("some.filter left out nothing: none of its lines" in told("exclude function work::lief\n"), job.last.out)


@test
def names_that_a_stripped_program_lacks_are_missed_aloud(job):
    program = instrumented(job, "instrumented.cpp", "instrumented")
    job.compile("strip", program)
    rules = job.write("all.filter", "exclude function *\n")
    found = visits(job.profile([program], options={"LIBPROFILE_FILTER": rules}), "function")
    expect(found, "its functions are measured, since nothing says how they are called")
    expect_equal(about_filters(job), ["the program is stripped, so its functions have no names to compare"], "said")
    rules = job.write("leaf.filter", "exclude function work::leaf\n")
    job.profile([program], options={"LIBPROFILE_FILTER": rules})
    expect_equal(about_filters(job), ["line 1 (work::leaf) matches no function of the program and its libraries; "
                                      "the program is stripped, so its functions have no names to compare"], "said")


FORTRAN_MODULE = """
module m
contains
  subroutine work(a)
    real(8) :: a
    a = a + 1
  end subroutine
  subroutine other(a)
    real(8) :: a
    call work(a)
  end subroutine
end module
"""
FORTRAN_PROGRAM = """
subroutine alone(a)
  real(8) :: a
  a = a + 1
end subroutine
program p
  use mpi
  use m
  use libprofile
  integer :: ierr, i
  real(8) :: a
  a = 0
  call MPI_Init(ierr)
  do i = 1, 20000
    call profile_region_begin("r")
    call other(a)
    call alone(a)
    call profile_region_end("r")
  end do
  call MPI_Finalize(ierr)
  print *, int(a)
end program
"""


@test
def filters_know_fortran_procedures(job):
    compile_with = [wrapper(job, "fortran"), f"--cc={compiler(job, 'fortran')}"]
    job.write("m.f90", FORTRAN_MODULE)
    job.write("p.f90", FORTRAN_PROGRAM)
    sources = [job.source / "include/libprofile.f90", "m.f90", "p.f90"]
    job.compile(*compile_with, "-O0", "-g", *sources, "-o", "p")

    def left(program, *lines):
        options = {"LIBPROFILE_FILTER": job.write("some.filter", "\n".join(lines) + "\n")} if lines else {}
        report = job.profile([job.folder / program], options=options)
        expect_equal(about_filters(job), [], "said about the filter")
        return {name for name, n in visits(report, "function").items() if n > 2}

    # What is not there at all: the procedures of the marker module.
    expect_equal(left("p"), {"m::work", "m::other", "alone"}, "measured procedures")
    expect_equal(left("p", "exclude function m::work"), {"m::other", "alone"}, "without one")
    expect_equal(left("p", "exclude function m::*"), {"alone"}, "without a module's")
    expect_equal(left("p", "exclude function alone"), {"m::work", "m::other"}, "without one that is in no module")
    # What libprofile filter writes holds for gfortran.
    made = filter_of(job, job.folder / "profile.1")
    text = made.read_text()
    expect("exclude compiled m::work\n" in text, text)
    job.compile(*compile_with, f"--filter={made}", "-O0", "-g", *sources, "-o", "again")
    expect("m::work" not in left("again"), "a procedure that the filter leaves out when it is compiled")
    job.write("by_hand.filter", "exclude compiled m::work\nexclude compiled ns::Cell::other\nexclude function m::o*\n")
    job.compile(*compile_with, "--filter=by_hand.filter", "-O0", "-g", *sources, "-o", "by_hand")
    expect_equal(left("by_hand"), {"m::other", "alone"}, "names of C++, and patterns that gfortran does not know, leave nothing out")


SUBSTRINGS = """
#include <mpi.h>
#include <stdio.h>
#define N __attribute__((noinline, noclone))
N double at(const double* a, int i) { __asm__ volatile(""); return a[i & 7]; }
N int in(int i) { __asm__ volatile(""); return i; }
N int weigh(int i) { __asm__ volatile(""); return i + 1; }
N double update(const double* a) {
    volatile double s = 0;
    for (int i = 0; i < 200; ++i) s = s + at(a, i) + in(i) + weigh(i);
    for (int i = 0; i < 300000; ++i) s = s + 1;
    return s;
}
int main(int argc, char** argv) {
    double a[8] = {0}, s = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 200; ++i) s += update(a);
    MPI_Finalize();
    printf("%g\\n", s);
    return 0;
}
"""
FORTRAN_SUBSTRINGS = """
module m
contains
  subroutine at(x)
    real(8), intent(inout) :: x
    x = x + 1
  end subroutine
  subroutine update(x)
    real(8), intent(inout) :: x
    integer :: i
    do i = 1, 200
      call at(x)
    end do
    do i = 1, 100000
      x = x + 1d-9 * sin(x)
    end do
  end subroutine
end module
program p
  use mpi
  use m
  real(8) :: x
  integer :: i, ierr
  x = 0
  call MPI_Init(ierr)
  do i = 1, 200
    call update(x)
  end do
  call MPI_Finalize(ierr)
  print *, x
end program
"""


@test
def functions_whose_names_hold_those_of_small_ones_stay(job):
    """GCC leaves out each function that has the text in its name: at() takes update() along, in() main()."""
    job.write("sub.c", SUBSTRINGS)
    job.write("sub.f90", FORTRAN_SUBSTRINGS)
    for language, source, kept, clashing, others in (("c", "sub.c", {"main", "update"}, {"at", "in"}, {"weigh"}),
                                                     ("fortran", "sub.f90", {"m::update"}, {"m::at"}, set())):
        compile_with = [wrapper(job, language), f"--cc={compiler(job, language)}", "-O1", "-g", source]
        first, again = f"first_{language}", f"again_{language}"
        job.compile(*compile_with, "-o", first)
        before = visits(job.profile([job.folder / first]), "function")
        made = filter_of(job, job.folder / f"profile.{job.runs}")
        said, text = "\n".join(job.last.said), made.read_text()
        job.compile(*compile_with, f"--filter={made}", "-o", again)
        after = visits(job.profile([job.folder / again]), "function")
        expect(kept | clashing | others <= set(before), f"{language}: the first run has {before}")
        expect(kept <= set(after), f"{language}: what is worth it stays: {after}\n{text}")
        expect(not others & set(after), f"{language}: small ones go: {after}\n{text}")
        expect(f"{len(clashing)} of them only at run time" in said, f"{language}: said: {said}")
        expect_equal(text.count("# only at run time: when compiling, GCC would also leave out"), len(clashing), f"{language}: reasons\n{text}")
        # They are left out when the first program runs with the file.
        left = visits(job.profile([job.folder / first], options={"LIBPROFILE_FILTER": made}), "function")
        expect(kept <= set(left) and not (clashing | others) & set(left), f"{language}: at run time: {left}\n{text}")


SHORT_REGION = """
#include <libprofile.h>
#include <mpi.h>
__attribute__((noinline)) void pack(void) {
    profile_region_begin("short");
    profile_region_end("short");
    __asm__ volatile("");
}
__attribute__((noinline)) void work(void) {
    pack();
    __asm__ volatile("");
}
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 5; ++i) work();
    MPI_Finalize();
    return 0;
}
"""


@test
def regions_without_time_have_their_callers(job):
    job.write("short.c", SHORT_REGION)
    for run, frames in enumerate(("-fomit-frame-pointer", "-fno-omit-frame-pointer"), 1):
        job.compile(compiler(job, "c"), "-O1", frames, "-g", "-I", job.source / "include", "short.c", "-o", "short")
        # Never sampled: the functions have no time of their own.
        job.profile([job.folder / "short"], options={"LIBPROFILE_SAMPLE": "0"})
        for name in ("main", "work", "pack", "short"):
            result = job.run([job.tool, "report", job.folder / f"profile.{run}", "--path", name, "--metric", "visits", "--format", "json"])
            expect_equal(result.code, 0, f"{frames}: exit code of the report with --path {name}")
            rows_of = json.loads(result.out)["call_paths"]
            regions = [row["visits"] for row in rows_of if row["kind"] == "region" and row["name"] == "short"]
            expect_equal(regions, [10], f"{frames}: visits below {name}")


@test
def the_compiler_wrapper_shows_what_a_shell_can_read(job):
    source = job.write("it's one.c", '#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n')
    words = ['-DTEXT="it\'s  $HOME \'\'"', source, "-o", job.folder / "it's"]
    shown = job.run([wrapper(job, "c"), "--cc=gcc", "--show", *words])
    expect_equal(shown.code, 0, "exit code")
    expect_equal(job.run(["sh", "-c", shown.out]).code, 0, f"exit code of {shown.out}")
    expect_equal(job.run([job.folder / "it's"]).out, "it's  $HOME ''\n", "output")


@test
def clang_assembles_as_before(job):
    job.need("clang")
    job.write("empty.s", ".globl empty\nempty: ret\n")
    for flag in ((), ("--xray",)):
        job.compile(wrapper(job, "c"), "--cc=clang", *flag, "-Werror", "-c", "empty.s", "-o", "empty.o")
    # Of C it says as before what it cannot use.
    job.write("one.c", "int one(void) { return 1; }\n")
    expect(job.run([wrapper(job, "c"), "--cc=clang", "-Werror", "-c", "one.c", "-lm"]).code != 0, "an argument of the user's without use")


@test
def the_compiler_wrapper_reads_filters_as_the_library_does(job):
    source = job.write("two.c", "int wanted(int i) { return i; }\nint tiny(int i) { return i; }\n")
    compile_with = [wrapper(job, "c"), "--cc=gcc", "-c", source, "-o", job.folder / "two.o"]
    job.write("bad.filter", "# by hand\nexclude function tiny\nexclude function\nexclud function wanted\ninclude file x\nexclude at zz 12\n"
                            "exclude at 00ff 0x12\n")
    result = job.run([*compile_with, "--filter=bad.filter"])
    expect_equal((result.code, result.said), (0, ["libprofile: libprofile-cc: --filter=bad.filter: line 3 and 3 others are not understood and left out; "
                                                  "the other lines are used"]), "the compilation")
    expect_equal(job.run([*compile_with, "--filter=bad.filter", "--show"]).out.count("exclude-function-list"), 1, "lists of functions")
    # What is to stay must stay: the library leaves the others out.
    job.write("again.filter", "exclude function tiny\ninclude function tiny2\nexclude function wanted\n")
    shown = job.run([*compile_with, "--filter=again.filter", "--show"]).out
    expect("function-list=wanted" in shown and "function-list=tiny" not in shown, shown)
    expect_equal(job.run([wrapper(job, "c"), "-c", source, "--cc", "gcc", "--filter", "again.filter", "--show"]).out,
                 job.run([wrapper(job, "c"), "--cc=gcc", "--filter=again.filter", "-c", source, "--show"]).out, "options with a blank")
    expect_equal(job.run([wrapper(job, "c"), "-c", source, "--filter"]).code, 2, "exit code without a value")
    helped = job.run([wrapper(job, "c++"), "--help"])
    expect(helped.code == 0 and "--filter=FILE" in helped.out, "the wrapper's own help")


@test
def a_clang_that_is_not_there_is_named(job):
    mpicxx = compiler(job, "c++")
    source = job.write("one.cpp", "int main() {}\n")
    result = job.run(["env", "OMPI_CXX=no-such-clang++", "MPICH_CXX=no-such-clang++", wrapper(job, "c++"), f"--cc={mpicxx}", "--xray", "-c", source])
    expect_equal(result.code, 2, "exit code")
    expect("--version fails: " in result.all_err and "which" not in result.all_err, result.all_err)


def harsh(job, compiler, mode):
    """Runs tests/programs/harsh_regions.cpp, instrumented by one compiler, and returns its report."""
    compiler, *flags = compiler.split()
    job.need(compiler)
    program = job.folder / compiler
    job.compile(wrapper(job, "c++"), f"--cc={compiler}", *flags, "-O2", "-g", "-w", "-I", job.source / "include",
                job.source / "tests/programs/harsh_regions.cpp", "-o", program)
    plain = job.run([program, mode])
    result = job.run(job.preloaded([program, mode], {"LIBPROFILE_OUTPUT": job.folder / f"{compiler}.{mode}{len(flags)}"}))
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the program")
    return job.report(f"{compiler}.{mode}{len(flags)}")


@test
def functions_go_on_to_end_after_more_were_left_than_are_kept(job):
    for compiler in ["g++", "clang++", "clang++ --xray"]:
        for mode, function in (("throw", "work::catcher"), ("jump", "work::lander")):
            report = harsh(job, compiler, mode)
            found = visits(report, "function")
            regions = report["regions"]
            expect_equal((found["work::after"], found["main"], found["work::leaf"]), (10, 1, 10), f"{compiler}, {mode}: visits")
            expect_equal((regions["left_functions"], regions["unmatched_exits"]), (0, 0), f"{compiler}, {mode}: of those that are kept")
            expect_equal(found[function] + regions["too_deep"], 2001 + 2001 + 1, f"{compiler}, {mode}: visits that are kept and others")


@test
def a_handler_that_jumps_out_of_a_hook_loses_no_time(job):
    for compiler in ["g++", "clang++", "clang++ --xray"]:
        timed = rows(harsh(job, compiler, "handler"), "function")
        for name in ("work::leaf", "work::some"):
            expect(timed[name]["exclusive_time"] <= 1.02 * timed[name]["time"], f"{compiler}: {name} has {timed[name]}")
            expect(timed[name]["visits"] > 10000, f"{compiler}: {name} was visited {timed[name]['visits']} times")


@test
def visits_in_handlers_that_interrupt_libprofile_are_counted_as_lost(job):
    lost = 0
    for compiler in ["g++", "clang++", "clang++ --xray"]:
        report = harsh(job, compiler, "signals")
        regions = report["regions"]
        inside = regions["inside_libprofile"]
        kept = visits(report, "function").get("work::handled", 0) + visits(report, "region").get("in a handler", 0)
        expect_equal(kept + inside, 2 * 300, f"{compiler}: visits that are kept, {kept}, and others")
        expect_equal((regions["unmatched_exits"], regions["left_functions"], regions["repairs"]), (0, 0, 0), f"{compiler}: what does not pair")
        said = [loss["sentence"] for loss in report["losses"]["sentences"] if "inside libprofile" in loss["sentence"]]
        expect_equal([int(sentence.split()[0]) for sentence in said], [inside] if inside else [], f"{compiler}: said in the report")
        lost += inside
    expect(lost > 0, "no handler has interrupted libprofile: nothing was tested")


@test
def regions_without_room_are_counted_as_such(job):
    report = harsh(job, "g++", "names")
    regions = report["regions"]
    expect_equal(sum(visits(report, "region").values()), 4096 + 1024, "visits that have room")
    expect_equal((regions["without_memory"], regions["too_deep"], regions["repairs"]), (100000 - 4096, 100000 - 1024, 0), "others")


@test
def functions_of_no_file_are_counted_once(job):
    for compiler in ("g++", "clang++"):
        report = harsh(job, compiler, "made")
        regions, found = report["regions"], visits(report, "function")
        counted = {name: regions[name] for name in ("without_module", "without_memory", "unmatched_exits", "left_functions")}
        expect_equal(counted, {"without_module": 5 + 7 + 1, "without_memory": 0, "unmatched_exits": 0, "left_functions": 0}, compiler)
        expect_equal((found["main"], found["work::leaf"], found["work::leave_made"]), (1, 5 + 7 + 10, 1), f"{compiler}: visits to others")
        said = [loss["sentence"] for loss in report["losses"]["sentences"]]
        expect_equal([sentence for sentence in said if "visits to" in sentence],
                     ["13 visits to instrumented functions not counted: their code was made at run time, and is in no file"], compiler)


FUNCTIONS_WITH_SLEDS = ["leaf", "branch", "tail", "many", "extended", "mixed", "thrower", "catcher", "jumper", "lander", "deep", "handler", "in_thread"]


def with_sleds(job):
    job.need("clang++", compiler(job, "c++"))
    job.compile("env", "OMPI_CXX=clang++", "MPICH_CXX=clang++", wrapper(job, "c++"), "--xray", f"--cc={compiler(job, 'c++')}", "-O2", "-g", "-pthread",
                job.source / "tests/programs/sleds.cpp", "-o", job.folder / "sleds")
    return job.folder / "sleds"


def counted_by_itself(out):
    return {name: int(n) for name, n in re.findall(r"^(work::\w+) (\d+)$", out, re.M)}


@test
def functions_with_sleds_are_counted_exactly(job):
    program = with_sleds(job)
    plain = job.plain([program])
    report = job.profile([program])
    expect_equal((job.last.out, job.last.err), (plain.out, plain.err), "output")
    found = visits(report, "function")
    known = counted_by_itself(plain.out)
    expect(len(known) >= len(FUNCTIONS_WITH_SLEDS), f"{known}")
    expect_equal({name: found.get(name) for name in known}, {name: 2 * n for name, n in known.items()}, "visits on two ranks")
    expect_equal(found["main"], 2, "visits to main()")
    regions = report["regions"]
    # Each exception leaves five throwers and the catchers of the depths 1 and 2; that of depth 0 has ended with a jump to the first thrower.
    expect_equal(regions["left_functions"], 2 * (14 * (5 + 2) + 5 * 4), "functions left by exceptions and jumps")
    expect_equal((regions["unmatched_exits"], regions["repairs"], regions["without_memory"], regions["too_deep"]), (0, 0, 0, 0), "losses")
    timed = rows(report, "function")
    own = sum(row["exclusive_time"] for row in timed.values())
    expect(own <= timed["main"]["time"] + timed["work::in_thread"]["time"], "own times are parts of the whole")
    expect(timed["work::branch"]["time"] >= 0.9 * timed["work::leaf"]["time"] * 10000 / known["work::leaf"], "callers take as long as what they call")


@test
def only_sleds_that_the_filter_leaves_lead_to_us(job):
    program = with_sleds(job)
    rules = job.write("sleds.filter", "exclude function *\ninclude function work::deep\ninclude function work::catcher\n")
    plain = job.plain([program, "look"])
    expect("leads on: \n" in plain.out, plain.out)
    report = job.profile([program, "look"], options={"LIBPROFILE_FILTER": rules})
    expect_equal(job.last.out, plain.out.replace("leads on: ", "leads on:  deep"), "output")
    known = counted_by_itself(plain.out)
    expect_equal(visits(report, "function"), {name: 2 * known[name] for name in ("work::deep", "work::catcher")}, "visits")
    job.profile([program, "look"])
    expect_equal(job.last.out, plain.out.replace("leads on: ", "leads on:  leaf branch deep"), "output without a filter")


@test
def the_filter_of_a_first_run_leaves_sleds_out(job):
    program = with_sleds(job)
    first = job.profile([program, "look"])
    made = filter_of(job, job.folder / "profile.1")
    second = job.profile([program, "look"], options={"LIBPROFILE_FILTER": made})
    expect("leads on:" in job.last.out and " leaf" not in job.last.out, job.last.out)
    expect("work::leaf" in visits(first, "function") and "work::leaf" not in visits(second, "function"), "leaf() is short and often called")


@test
def iterations_have_their_own_times_of_named_regions(job):
    """More different iterations than clusters: none of them has a mean."""
    job.compile(wrapper(job, "c"), f"--cc={compiler(job, 'c')}", "-O2", "-I", job.source / "include", job.source / "tests/programs/region_series.c",
                "-o", job.folder / "series")
    job.profile([job.folder / "series"])
    known = {}
    for rank, iteration, ns in re.findall(r"^(\d+) (\d+) (\d+)$", job.last.out, re.M):
        known[int(rank), int(iteration)] = int(ns)
    expect_equal(len(known), 240, "iterations of two ranks")

    def chosen(path, iteration):
        result = job.run([job.tool, "report", job.folder / "profile.1", "--path", path, "--metric", "region_time", "--iterations",
                          f"{iteration + 1}:{iteration + 1}", "--format", "json"])
        expect_equal(result.code, 0, "exit code of the report")
        return json.loads(result.out)

    for iteration in (1, 17, 40, 77, 101, 119):
        ranks = {row["rank"]: row["region_time"] for row in chosen("work", iteration)["ranks"]}
        for rank in range(2):
            # The program's clock is read outside of the region: a few us, more on a machine that is slow, or an interruption.
            least, most = known[rank, iteration] - 50000, known[rank, iteration]
            expect(least <= ranks[rank] <= most or known[rank, iteration] > 2e6, f"rank {rank}, iteration {iteration}: {ranks[rank]}, not {known[rank, iteration]}")
    # Functions inside of each other: what the inner one takes is there once.
    paths = {row["name"]: row for row in chosen("call", 40)["call_paths"] if row["kind"] == "function_region"}
    expect_equal(paths["call"]["region_time_inclusive"], paths["call"]["region_time"], "the time of call() and of what it calls")
    expect(paths["spin"]["region_time"] <= paths["call"]["region_time"], "a part of it")


SLED_PLUGIN = """
static volatile int sink;
__attribute__((noinline)) static int inner(int x) { return sink = x; }
int outer(int x) { return inner(x) + inner(x + 1); }
"""
SLED_HOST = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
    int sum = 0;
    MPI_Init(&argc, &argv);
    for (int i = 0; i < 40; ++i) {
        void* plugin = dlopen(argv[1], RTLD_NOW);
        int (*outer)(int) = plugin ? (int (*)(int))dlsym(plugin, "outer") : 0;
        if (!outer) return 3;
        MPI_Barrier(MPI_COMM_WORLD);
        for (int j = 0; j < 10; ++j) sum += outer(j);
        dlclose(plugin);
    }
    MPI_Finalize();
    printf("%d\\n", sum);
    return 0;
}
"""


@test
def sleds_of_plugins_that_come_and_go_lead_to_us(job):
    job.need("clang", compiler(job, "c"))
    job.write("plugin.c", SLED_PLUGIN)
    job.write("host.c", SLED_HOST)
    clang = ["env", "OMPI_CC=clang", "MPICH_CC=clang"]
    job.compile(*clang, wrapper(job, "c"), "--xray", "--cc=clang", "-O2", "-g", "-fPIC", "-shared", "plugin.c", "-o", "plugin.so")
    job.compile(*clang, compiler(job, "c"), "-O2", "host.c", "-o", "host", "-ldl")
    command = [job.folder / "host", job.folder / "plugin.so"]
    plain = job.plain(command)
    report = job.profile(command)
    expect_equal(job.last.out, plain.out, "output")
    found = visits(report, "function")
    # The plugin is seen at the barrier, and each time that it comes again.
    expect_equal(found, {"outer": 2 * 400, "inner": 2 * 800}, "visits")
    expect_equal(report["regions"]["unmatched_exits"], 0, "exits without entry")


@test
def the_compiler_wrapper_keeps_exit_codes_and_arguments(job):
    source = job.write("with blank.c", '#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n')
    job.compile(wrapper(job, "c"), "--cc=gcc", '-DTEXT="a  b $HOME"', source, "-o", job.folder / "with blank")
    expect_equal(job.run([job.folder / "with blank"]).out, "a  b $HOME\n", "output")
    bad = job.write("bad.c", "int main(void) { return undeclared; }\n")
    expect_equal(job.run([wrapper(job, "c"), "--cc=gcc", bad]).code, job.run(["gcc", bad]).code, "exit code")
    expect_equal(job.run([wrapper(job, "c"), "--cc=/nowhere/cc", bad]).code, 127, "exit code without a compiler")
    expect_equal(job.run([wrapper(job, "c"), "--cc=gcc", "--filter=nowhere", bad]).code, 2, "exit code without the filter")
    expect_equal(job.run([wrapper(job, "c"), "--cc=gcc", "--xray", source]).code, 2, "exit code of --xray without Clang")


@test
def kokkos_kernels_are_regions(job):
    job.compile("g++", "-O1", "-g", job.source / "tests/programs/kokkos_like.cpp", "-o", job.folder / "kokkos_like", "-ldl")
    plain = job.run([job.folder / "kokkos_like"])
    result = job.run([job.folder / "kokkos_like"], env={"KOKKOS_TOOLS_LIBS": job.library, "LIBPROFILE_OUTPUT": job.folder / "kokkos"})
    expect_equal((result.code, result.out), (plain.code, plain.out), "the program")
    report = job.report("kokkos")
    expect_equal({name: row["visits"] for name, row in rows(report).items()},
                 {"parallel_for axpy": 10, "parallel_reduce dot": 10, "parallel_scan offsets": 1, "Kokkos region time step": 10,
                  "Kokkos section halo": 3, "deep_copy HostSpace to CudaSpace": 2, "fence wait": 1}, "visits")
    expect_equal(report["regions"]["repairs"], 0, "repairs")


@test
def kokkos_sections_that_are_made_anew_lose_no_visit(job):
    job.compile("g++", "-O1", "-g", job.source / "tests/programs/kokkos_like.cpp", "-o", job.folder / "kokkos_like", "-ldl")
    env = {"KOKKOS_TOOLS_LIBS": job.library, "LIBPROFILE_OUTPUT": job.folder / "kokkos"}
    expect_equal(job.run([job.folder / "kokkos_like", "sections"], env=env).code, 0, "exit code")
    report = job.report("kokkos")
    found = visits(report, "Kokkos section")
    expect_equal(found["Kokkos section step"], 5000, "visits to the section that is made in each step")
    # The program has 7 other names. What finds no place is not lost without a word.
    places = 4096 - 1 - 7
    expect_equal(sum(found.values()), 5000 + 3 + places, "visits to sections that have a place")
    expect_equal(report["regions"]["without_memory"], 5000 - places, "others")
    said = [loss["sentence"] for loss in report["losses"]["sentences"] if "to regions not counted" in loss["sentence"]]
    expect_equal(said, [f"{5000 - places} visits to regions not counted: nested too deep, no memory, or more than 4096 names"], "said")
    expect_equal(report["regions"]["repairs"], 0, "repairs")


KOKKOS_WITH_MPI = """
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    void* tool = dlopen(getenv("KOKKOS_TOOLS_LIBS"), RTLD_NOW | RTLD_GLOBAL);
    if (!tool) return 1;
    void (*init)(int, uint64_t, uint32_t, void*) = (void (*)(int, uint64_t, uint32_t, void*))dlsym(tool, "kokkosp_init_library");
    void (*push)(const char*) = (void (*)(const char*))dlsym(tool, "kokkosp_push_profile_region");
    void (*pop)(void) = (void (*)(void))dlsym(tool, "kokkosp_pop_profile_region");
    init(0, 20211015, 0, 0);
    push("step");
    MPI_Barrier(MPI_COMM_WORLD);
    pop();
    MPI_Finalize();
    return 0;
}
"""


@test
def mpi_jobs_with_kokkos_alone_are_told_how_to_be_measured(job):
    job.write("kokkos.c", KOKKOS_WITH_MPI)
    job.compile(compiler(job, "c"), "kokkos.c", "-o", "kokkos", "-ldl")
    command = [job.folder / "kokkos"]
    tool = f"KOKKOS_TOOLS_LIBS={job.library}"
    result = job.plain(["env", tool, f"LIBPROFILE_OUTPUT={job.folder / 'alone'}", *command])
    expect_equal((result.code, result.out, result.err), (0, "", []), "the program")
    expect_equal(len(result.said), 1, "lines that say that there is no profile")
    expect("so there is no profile; start the program with `libprofile run --`" in result.said[0], "how to be measured")
    # And that is so.
    result = job.plain(["env", tool, f"LIBPROFILE_OUTPUT={job.folder / 'launched'}", job.tool, "run", "--", *command])
    expect_equal(result.code, 0, "exit code under libprofile run")
    expect_equal(visits(job.report("launched"), "Kokkos region"), {"Kokkos region step": 2}, "visits")


if __name__ == "__main__":
    main()
