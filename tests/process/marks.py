#!/usr/bin/python3
"""Programs that try to break marked return addresses: each must do what it does without libprofile, with marks that are
checked, with marks, and without; and no path that a mark shortened may differ from a full unwind."""

import re

from harness import MOST_SAMPLES, Skip, expect, expect_equal, main, masked, test

MARKS = ("check", "1", "0")


def outcome(result):
    return result.code, masked(result.out), [masked(line) for line in result.err]


def counted(report):
    found = report["call_paths_found"]
    expect_equal(found["paths_wrong"], 0, "paths that differ from a full unwind")
    return found


def survives(job, mode, program="stack_tricks", ended=True, environment=None):
    """A program without MPI. Returns the counters of the checked run; `ended`: it leaves a report."""
    command = [job.programs / program, mode]
    plain = job.run(command, env=environment)
    expected = outcome(plain)
    checked = None
    for marks in MARKS:
        output = f"{mode}.{marks}"
        result = job.run([job.tool, "run", "--output", output, "--", *command],
                         env={**MOST_SAMPLES, "LIBPROFILE_MARKS": marks, **(environment or {})})
        expect_equal(outcome(result), expected, f"{mode} with LIBPROFILE_MARKS={marks}")
        if not ended:
            continue
        found = counted(job.report(output))
        if marks == "check":
            checked = found
        if marks == "0":
            expect_equal(found["marks_placed"], 0, "marks when switched off")
    return checked


def survives_mpi(job, *command, checks=False, options=None):
    """A program of one rank with MPI."""
    plain = job.plain(command, 1)
    for marks in MARKS:
        report = job.profile(command, 1, options={**MOST_SAMPLES, "LIBPROFILE_MARKS": marks, **(options or {})})
        expect_equal(outcome(job.last), outcome(plain), f"the program with LIBPROFILE_MARKS={marks}")
        found = counted(report)
        if marks == "check" and checks:
            expect(found["paths_checked"] > 0, "no path was checked")


@test
def registers_pass_through_the_mark(job):
    found = survives(job, "registers")
    expect(found["returns_through_marks"] > 0 and found["paths_checked"] > 0, "nothing returned through a mark")


@test
def return_values_of_all_classes_pass_through_the_mark(job):
    expect(survives(job, "return_values")["returns_through_marks"] > 0, "nothing returned through a mark")


@test
def functions_that_keep_their_return_address_are_not_marked(job):
    survives(job, "setjmp")


@test
def jumps_that_no_library_sees_switch_marks_off(job):
    found = survives(job, "unseen_jumps")
    expect(found["marks_lost"] <= 1, "marked although a mark was lost")


@test
def children_by_vfork_spawn_system_and_popen_are_as_without(job):
    survives(job, "vforks")
    survives(job, "raw_vforks")
    survives(job, "fork_execs")


@test
def children_return_through_the_mark_and_go_on(job):
    for mode in ("forks", "raw_clones", "forks_of_threads"):
        survives(job, mode)


@test
def coroutines_run_as_without(job):
    survives(job, "coroutines")
    survives(job, "moved_coroutines")


@test
def stacks_switched_by_hand_run_as_without(job):
    expect(survives(job, "switches")["paths_checked"] > 0, "no path was checked")
    survives(job, "inner_switches")


@test
def threads_on_the_stacks_of_others_run_as_without(job):
    survives(job, "visits")


@test
def stacks_copied_away_and_back_run_as_without(job):
    found = survives(job, "copies")
    expect(found["marks_lost"] <= 1, "marked although a mark was lost")


@test
def stack_overflows_can_be_caught_again_and_again(job):
    survives(job, "overflows")


@test
def handlers_that_nest_and_leave_run_as_without(job):
    survives(job, "handlers")


@test
def frames_of_all_shapes_run_as_without(job):
    expect(survives(job, "shapes")["paths_bridged"] > 0, "code without unwind information was not met")


@test
def wrong_unwind_information_changes_no_word(job):
    survives(job, "wrong_descriptions")


@test
def deep_and_tiny_stacks_run_as_without(job):
    survives(job, "deep")
    survives(job, "tiny_stacks")


@test
def the_first_backtrace_is_complete(job):
    """While the C library loads its unwinder there is time for samples; a mark of theirs must not end what is looked at. One of 30 did."""
    program = job.programs / "stack_tricks"
    for _ in range(120):
        job.runs += 1
        options = {"LIBPROFILE_MPI": "no", "LIBPROFILE_SAMPLE": 10000, "LIBPROFILE_OUTPUT": job.folder / f"profile.{job.runs}"}
        result = job.run(job.preloaded([program, "first_trace"], options))
        expect_equal((result.code, result.out, result.complaints), (0, "first_trace: survived\n", []), "the program")


@test
def an_unwinder_that_asks_for_loaded_objects_finds_itself(job):
    """As libgcc_s before GCC 13 does, which the C library opens for the first backtrace(). It ends the program if it is not there."""
    unwinder = job.write("unwinder.c", """
#define _GNU_SOURCE
#include <link.h>
#include <stdlib.h>
static int look(struct dl_phdr_info* object, size_t size, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i)
        if (object->dlpi_phdr[i].p_type == PT_LOAD)
            *(int*)found |= (ElfW(Addr))&look - object->dlpi_addr - object->dlpi_phdr[i].p_vaddr < object->dlpi_phdr[i].p_memsz;
    return 0;
}
int _Unwind_Backtrace(void* visit, void* data) {
    int found = 0;
    dl_iterate_phdr(look, &found);
    if (!found) abort();
    return 0;
}
void _Unwind_ForcedUnwind(void) {}
void _Unwind_GetCFA(void) {}
void _Unwind_GetIP(void) {}
void _Unwind_Resume(void) {}
void __gcc_personality_v0(void) {}
""")
    program = job.write("looks.c", """
#include <execinfo.h>
int main(void) {
    void* frames[9];
    backtrace(frames, 9);
    return 5;
}
""")
    job.compile("cc", "-fPIC", "-shared", "-w", unwinder, "-o", job.folder / "libgcc_s.so.1")
    job.compile("cc", program, "-o", job.folder / "looks")
    options = {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": job.folder / "profile", "LD_LIBRARY_PATH": job.folder}
    result = job.run(job.preloaded([job.folder / "looks"], options))
    expect_equal((result.code, result.err, len(result.exit_lines)), (5, [], 1), "the program")


@test
def backtraces_are_complete(job):
    survives(job, "traces")
    survives(job, "traces", "unwinds")


@test
def threads_that_take_over_from_others_have_their_own_state(job):
    survives(job, "large_stacks")


@test
def asynchronous_cancellation_ends_threads(job):
    survives(job, "cancellations")


@test
def aborts_end_as_without(job):
    survives(job, "aborts", ended=False)


@test
def destructors_run_in_order_through_the_mark(job):
    for mode in ("destructors", "rethrows", "nested", "between_threads"):
        # At high rates each of thousands of threads would have a sample, and so a location.
        rate = {"LIBPROFILE_SAMPLE": "250Hz"} if mode == "between_threads" else None
        found = survives(job, mode, "unwinds", environment=rate)
        expect(found["marks_placed"] > 0, "nothing was marked")


@test
def threads_end_through_the_mark(job):
    survives(job, "thread_ends", "unwinds")


@test
def linked_in_unwinders_are_left_alone(job):
    """Not interposed: a backtrace ends at the mark, but it ends."""
    for mode in ("destructors", "rethrows", "nested", "linked_traces"):
        survives(job, mode, "unwinds_static")


@test
def uncaught_exceptions_end_as_without(job):
    for mode in ("uncaught", "stopped", "uncaught_in_thread"):
        for program in ("unwinds", "unwinds_static"):
            survives(job, mode, program, ended=False)


def host_in_fortran(job):
    job.need("gfortran")
    library = job.programs / "plugin_unwinds"
    job.compile("gfortran", "-O1", "-g", job.source / "tests/programs/ends_badly.f90", "-o", "ends_badly", library)
    return job.folder / "ends_badly"


@test
def exceptions_below_hosts_in_c_fortran_and_python_keep_their_unwinder(job):
    plugin = job.programs / "plugin_unwinds"
    script = job.write("host.py", f"import ctypes\nctypes.CDLL('{plugin}').unwinds_run()\n")
    hosts = {"c": [job.programs / "plugin_host", plugin, "global"], "python": ["/usr/bin/python3", script]}
    hosts["c"] = [job.programs / "plugin_host", plugin]
    hosts["fortran"] = [host_in_fortran(job), "throw"]
    for name, command in hosts.items():
        plain = job.run(command)
        expect_equal(plain.code, 0, f"exit code of {name} without libprofile")
        for marks in MARKS:
            output = f"{name}.{marks}"
            result = job.run(["env", "LD_DEBUG=bindings", f"LD_DEBUG_OUTPUT={job.folder}/bindings.{name}", job.tool, "run",
                              "--output", output, "--", *command], env={**MOST_SAMPLES, "LIBPROFILE_MARKS": marks})
            expect_equal(outcome(result), outcome(plain), f"{name} with LIBPROFILE_MARKS={marks}")
            counted(job.report(output))
        bound = []
        for file in job.folder.glob(f"bindings.{name}.*"):
            bound += re.findall(r"binding file \S*libstdc\+\+\S* \[0\] to (\S+) \[0\]: \w+ symbol `_Unwind_RaiseException'",
                                file.read_text(errors="replace"))
        expect(bound and all("libgcc_s" in library for library in bound), f"{name}: bound to {bound}")


@test
def backtraces_of_fortran_errors_are_as_without(job):
    program = host_in_fortran(job)
    plain = job.run([program])
    for marks in MARKS:
        result = job.run([job.tool, "run", "--output", marks, "--", program],
                         env={**MOST_SAMPLES, "LIBPROFILE_MARKS": marks})
        expect_equal(outcome(result), outcome(plain), f"the program with LIBPROFILE_MARKS={marks}")


@test
def debuggers_show_the_marked_frame(job):
    """And nothing beyond it, which docs/limits.md tells; without marks they show main."""
    job.need("gdb")
    shown = {}
    for marks in ("0", "1"):
        result = job.run(["gdb", "-batch", "-nx", "-ex", f"set environment LD_PRELOAD {job.library}",
                          "-ex", f"set environment LIBPROFILE_MARKS {marks}", "-ex", "set environment LIBPROFILE_MPI no",
                          "-ex", f"set environment LIBPROFILE_OUTPUT {job.folder}/gdb.{marks}",
                          "-ex", "set environment LIBPROFILE_RATE 10000", "-ex", "set debuginfod enabled off",
                          "-ex", "handle all nostop noprint pass", "-ex", "handle SIGABRT stop print nopass",
                          "-ex", "run", "-ex", "bt", "-ex", "kill", "--args", job.programs / "stack_tricks", "aborts"])
        if "#0" not in result.out:
            raise Skip("gdb cannot run programs here")
        shown[marks] = re.findall(r"^#\d+ .*", result.out, re.MULTILINE)
    expect(any(" main " in frame for frame in shown["0"]), f"without marks main is not shown: {shown['0']}")
    whole = any(" main " in frame for frame in shown["1"])
    expect(whole or any("libprofile_mark" in frame for frame in shown["1"]), f"with marks: {shown['1']}")


@test
def greenlets_run_as_without(job):
    script = job.write("greenlets.py", """
import greenlet
def work(n):
    return sum(i * i for i in range(n)) if n < 300 else work(n - 1)
def run(number):
    total = 0
    for i in range(300):
        total += work(300 + (i + number) % 20)
        main.switch(total)
main = greenlet.getcurrent()
all = [greenlet.greenlet(run) for _ in range(5)]
print([g.switch(i) for i, g in enumerate(all)])
for _ in range(250):
    last = [g.switch() for g in all]
print(last)
""")
    command = ["/usr/bin/python3", script]
    plain = job.run(command)
    if plain.code != 0:
        raise Skip("Python's greenlet is not installed")
    for marks in MARKS:
        result = job.run([job.tool, "run", "--output", marks, "--", *command], env={**MOST_SAMPLES, "LIBPROFILE_MARKS": marks})
        expect_equal(outcome(result), outcome(plain), f"greenlets with LIBPROFILE_MARKS={marks}")
        counted(job.report(marks))


@test
def exceptions_and_jumps_out_of_mpi_callbacks_run_as_without(job):
    survives_mpi(job, job.program("mpi_tricks"), "callbacks", checks=True)


@test
def functions_that_end_by_a_jump_hand_the_mark_on(job):
    survives_mpi(job, job.program("tail_calls"), 20000, checks=True)


@test
def handlers_that_call_mpi_may_interrupt_anything(job):
    survives_mpi(job, job.program("mpi_tricks"), "handlers", checks=True)


@test
def plugins_may_come_and_go(job):
    survives_mpi(job, job.program("mpi_tricks"), "plugins", job.programs / "plugin_climbs_1", job.programs / "plugin_climbs_2",
                 checks=True)


REPLACED = """
#include <time.h>
#define JOINED(a, b) a##b
#define NAME(a, b) JOINED(a, b)
static volatile unsigned long x;
__attribute__((noipa)) static void NAME(spin_, NUMBER)(unsigned n) {
    volatile char room[ROOM];
    for (room[0] = 1; n != 0; --n) x = x * 5 + (unsigned char)room[0];
}
__attribute__((noipa)) static void NAME(climb_, NUMBER)(unsigned depth) {
    volatile char room[ROOM];
    room[0] = 1;
    if (depth == 0)
        NAME(spin_, NUMBER)(2000);
    else
        NAME(climb_, NUMBER)(depth - 1);
    x += (unsigned char)room[0];
}
void climb(double seconds) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    for (double end = now.tv_sec + now.tv_nsec * 1e-9 + seconds; now.tv_sec + now.tv_nsec * 1e-9 < end; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now))
        for (unsigned i = 0; i < 20; ++i) NAME(climb_, NUMBER)(i);
}
"""
OTHER_LOADER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
void (*closed)(void);
int dlclose(void* handle) {
    const int result = ((int (*)(void*))dlsym(RTLD_NEXT, "dlclose"))(handle);
    if (closed) closed();
    return result;
}
static int see_none(struct dl_phdr_info* object, size_t size, void* data) { return object == 0 || size == 0 || data != 0; }
void* open_and_look(const char* file) {
    void* library = ((void* (*)(const char*, int))dlsym(RTLD_NEXT, "dlopen"))(file, RTLD_NOW);
    dl_iterate_phdr(see_none, 0);
    return library;
}
int close_unseen(void* handle) { return ((int (*)(void*))dlsym(RTLD_NEXT, "dlclose"))(handle); }
"""
REPLACES = """
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
extern void (*closed)(void);
void* open_and_look(const char* file);
int close_unseen(void* handle);
static pthread_t thread;
static sem_t is_closed, goes_on;
static int rounds = 20;
static void wait_after_close(void) {
    if (!pthread_equal(pthread_self(), thread)) return;
    sem_post(&is_closed);
    sem_wait(&goes_on);
}
static void (*found_in(void* plugin))(double) {
    void (*climb)(double) = plugin ? (void (*)(double))dlsym(plugin, "climb") : 0;
    if (!climb) exit(1);
    return climb;
}
__attribute__((noipa)) static void* run_1(void* plugin) {
    found_in(plugin)(0.03);
    return (char*)found_in(plugin);
}
__attribute__((noipa)) static void* run_2(void* plugin) {
    found_in(plugin)(0.03);
    return (char*)found_in(plugin);
}
static void* place;
static void* second_thread(void* unused) {
    for (int i = 0; i < rounds; ++i) {
        void* plugin = dlopen("./plugin_2.so", RTLD_NOW);
        place = run_2(plugin);
        dlclose(plugin);
    }
    return unused;
}
int main(int argc, char** argv) {
    int replaced = 0;
    if (argc == 1) { /* while another thread is about to return from dlclose() */
        sem_init(&is_closed, 0, 0);
        sem_init(&goes_on, 0, 0);
        closed = wait_after_close;
        pthread_create(&thread, 0, second_thread, 0);
        for (int i = 0; i < rounds; ++i) {
            sem_wait(&is_closed);
            void* plugin = dlopen("./plugin_1.so", RTLD_NOW);
            replaced += run_1(plugin) == place;
            dlclose(plugin);
            sem_post(&goes_on);
        }
        pthread_join(thread, 0);
    } else { /* by functions of another tool, as UCX has them */
        for (int i = 0; i < rounds; ++i) {
            void* plugin = open_and_look("./plugin_2.so");
            place = run_2(plugin);
            close_unseen(plugin);
            plugin = open_and_look("./plugin_1.so");
            replaced += run_1(plugin) == place;
            close_unseen(plugin);
        }
    }
    return replaced > rounds / 2 && argv[0] ? 0 : 9;
}
"""


def in_the_place_of_another(job, *arguments):
    """Plug-ins take turns at one address, with frames of different sizes."""
    source, loader, host = job.write("plugin.c", REPLACED), job.write("loader.c", OTHER_LOADER), job.write("host.c", REPLACES)
    for number, room in ((1, 1400), (2, 600)):
        job.compile("cc", "-O1", "-fPIC", "-shared", f"-DNUMBER={number}", f"-DROOM={room}", source, "-o", job.folder / f"plugin_{number}.so")
    job.compile("cc", "-O1", "-fPIC", "-shared", loader, "-o", job.folder / "libloader.so", "-ldl")
    job.compile("cc", "-O1", host, "-o", job.folder / "replaces", job.folder / "libloader.so", "-pthread", "-ldl")
    command = [job.folder / "replaces", *arguments]
    if (code := job.run(command).code) == 9:
        raise Skip("the kernel has chosen other addresses")
    expect_equal(code, 0, "exit code without libprofile")
    for environment in ({}, LOADER_COPY):
        output = f"replaces.{len(environment)}"
        result = job.run([job.tool, "run", "--output", output, "--", *command], env={**MOST_SAMPLES, **environment, "LIBPROFILE_MARKS": "check"})
        expect_equal((result.code, result.err), (0, []), "the program")
        report = job.report(output)
        counted(report)
        paths = {path["id"]: path for phase in report["phases"] for path in phase["call_paths"]}
        times = {True: 0, False: 0}
        for path in paths.values():
            names, outer = [path["name"]], paths.get(path["parent"])
            while outer is not None:
                names, outer = [outer["name"], *names], paths.get(outer["parent"])
            if (plugins := {name[-1] for name in names if name.startswith(("climb_", "spin_"))}):
                times[plugins == {name[-1] for name in names if name.startswith("run_")}] += sum(path["exclusive"]["time"])
        expect(times[True] > 1e8 and times[False] == 0, f"ns in right and in wrong paths: {times}")


@test
def a_plugin_in_the_place_of_one_that_another_thread_is_closing_has_its_own_paths(job):
    in_the_place_of_another(job)


@test
def a_plugin_in_the_place_of_one_that_another_tool_has_closed_has_its_own_paths(job):
    in_the_place_of_another(job, "unseen")


@test
def every_instruction_of_the_stub_may_be_interrupted(job):
    survives_mpi(job, job.program("mpi_tricks"), "stepping")


LOADER_COPY = {"LIBPROFILE_TEST_LOADER_COPY": "1"}


@test
def paths_are_right_without_the_loaders_own_search(job):
    """As with a glibc before 2.35."""
    for mode in ("registers", "setjmp", "forks_of_threads", "handlers", "wrong_descriptions", "deep"):
        survives(job, mode, environment=LOADER_COPY)
    expect(survives(job, "shapes", environment=LOADER_COPY)["paths_bridged"] > 0, "code without unwind information was not met")
    for mode in ("destructors", "rethrows", "thread_ends", "traces"):
        expect(survives(job, mode, "unwinds", environment=LOADER_COPY)["marks_placed"] > 0, "nothing was marked")
    script = job.write("host.py", f"import ctypes\nctypes.CDLL('{job.programs / 'plugin_unwinds'}').unwinds_run()\n")
    command = ["/usr/bin/python3", script]
    plain = job.run(command)
    for marks in MARKS:
        result = job.run([job.tool, "run", "--output", f"python.{marks}", "--", *command],
                         env={**MOST_SAMPLES, **LOADER_COPY, "LIBPROFILE_MARKS": marks})
        expect_equal(outcome(result), outcome(plain), f"Python with LIBPROFILE_MARKS={marks}")
        counted(job.report(f"python.{marks}"))


@test
def plugins_may_come_and_go_without_the_loaders_own_search(job):
    survives_mpi(job, job.program("mpi_tricks"), "plugins", job.programs / "plugin_climbs_1", job.programs / "plugin_climbs_2",
                 checks=True, options=LOADER_COPY)
    survives_mpi(job, job.program("soak"), "mixed", SOAK_ROUNDS["mixed"], 7, checks=True, options=LOADER_COPY)


SOAK_ROUNDS = {"recursion": 6000, "exceptions": 4000, "longjmp": 4000, "threads": 600, "mpi": 500, "signals": 2000,
               "contexts": 6000, "mixed": 250}


def soaks(job, mode):
    survives_mpi(job, job.program("soak"), mode, SOAK_ROUNDS[mode], 7, checks=mode in ("recursion", "mpi", "mixed"))


def add_soak(mode, name):
    def soak(job):
        soaks(job, mode)
    soak.__name__ = name
    test(soak)


for mode in SOAK_ROUNDS:
    add_soak(mode, f"soak_{mode}_{'is'}_followed_exactly")


if __name__ == "__main__":
    main()
