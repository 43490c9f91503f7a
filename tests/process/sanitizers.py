#!/usr/bin/python3
"""Programs that a preloaded library cannot measure, or that want to come first: they run as without libprofile, and one line says what there is
to say. Linked statically, with musl, with the sanitizers of GCC and Clang."""

import shutil

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls

SOURCE = """
    #include <pthread.h>
    #include <stdio.h>
    #include <stdlib.h>
    static long sum;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    static void* work(void* argument) {
        for (int i = 0; i < 20000; ++i) {
            pthread_mutex_lock(&mutex);
            ++sum;
            pthread_mutex_unlock(&mutex);
        }
        return argument;
    }
    int main(void) {
        pthread_t threads[3];
        for (int i = 0; i < 3; ++i)
            pthread_create(threads + i, NULL, work, NULL);
        for (int i = 0; i < 3; ++i)
            pthread_join(threads[i], NULL);
        char* text = malloc(100);
        snprintf(text, 100, "sum %ld\\n", sum);
        fputs(text, stdout);
        free(text);
        return 5;
    }
"""
END = (5, "sum 60000\n", [])


def compiled(job, name, compiler, *flags):
    if shutil.which(compiler) is None:
        raise Skip(f"{compiler} is not installed")
    job.write("program.c", SOURCE)
    made = job.run([compiler, "-g", "-O1", *flags, "program.c", "-pthread", "-o", name], timeout=120)
    if "libclang_rt" in made.all_err:
        raise Skip("clang's run-time libraries are not installed")
    expect_equal(made.code, 0, "compilation")
    plain = job.run([job.folder / name])
    expect_equal((plain.code, plain.out, plain.err), END, f"{name} without libprofile")
    return job.folder / name


def run(job, program):
    result = job.run([job.tool, "run", "--mpi", "no", "--output", f"{program.name}.out", "--", program])
    expect_equal((result.code, result.out, result.err), END, f"libprofile run -- {program.name}")
    return result


def expect_named(job, program, *words):
    result = run(job, program)
    expect_equal(len(result.said), 1, "lines")
    for word in (str(program), *words, "cannot be measured", "running it without measurement"):
        expect(word in result.said[0], f"{word!r} is not in {result.said[0]!r}")
    expect(not (job.folder / f"{program.name}.out").exists(), "there is an output folder")


def expect_measured(job, result, output):
    expect_equal((len(result.exit_lines), result.complaints), (1, []), f"lines: {result.said}")
    report = job.report(output)
    expect_equal(report["job"]["complete"], True, "completeness")


@test
def programs_linked_statically_run_and_are_named(job):
    for name, flag in {"static": "-static", "static_pie": "-static-pie"}.items():
        program = compiled(job, name, "gcc", flag)
        result = job.run(job.preloaded([program]))
        expect_equal((result.code, result.out, result.all_err), (*END[:2], ""), f"{name}, preloaded")
        expect_named(job, program, "statically linked")


@test
def programs_with_musl_run_and_are_named(job):
    expect_named(job, compiled(job, "musl", "musl-gcc"), "musl", "glibc")


@test
def programs_with_memory_sanitizer_run_and_are_named(job):
    expect_named(job, compiled(job, "memory", "clang", "-fsanitize=memory"), "MemorySanitizer", "-fsanitize=memory")


@test
def programs_with_sanitizers_of_gcc_are_measured(job):
    for sanitizer in ("address", "undefined", "leak", "thread"):
        program = compiled(job, sanitizer, "gcc", f"-fsanitize={sanitizer}")
        expect_measured(job, run(job, program), f"{sanitizer}.out")


@test
def programs_with_sanitizers_of_clang_are_measured(job):
    for sanitizer in ("address", "undefined", "thread"):
        program = compiled(job, sanitizer, "clang", f"-fsanitize={sanitizer}")
        expect_measured(job, run(job, program), f"{sanitizer}.out")
        result = job.run(job.preloaded([program], {"LIBPROFILE_MPI": "no", "LIBPROFILE_OUTPUT": f"{sanitizer}.preloaded"}))
        expect_equal((result.code, result.out, result.err), END, f"{sanitizer}, preloaded")
        expect_measured(job, result, f"{sanitizer}.preloaded")


@test
def children_of_programs_with_address_sanitizer_are_not_checked(job):
    """Perl leaves memory to the system, which AddressSanitizer's library would take for leaks."""
    job.write("parent.c", """
        #include <stdlib.h>
        int main(int count, char** words) {
            int child = count > 1 ? system(words[1]) >> 8 : 5;
            return system("echo \\"[$LD_PRELOAD]\\"; exec perl -e 'exit 6'") >> 8 == 6 && child == 5 ? 3 : 1;
        }
    """)
    checked = compiled(job, "checked_child", "gcc", "-fsanitize=address")
    expect_equal(job.run(["gcc", "-g", "-fsanitize=address", "parent.c", "-o", "parent"]).code, 0, "compilation")
    for output, env, words, printed in (("plain", {}, [checked], END[1] + "[]\n"), ("preloaded", {"LD_PRELOAD": "libm.so.6"}, [], "[libm.so.6]\n")):
        result = job.run([job.tool, "run", "--mpi", "no", "--output", output, "--", job.folder / "parent", *words], env=env)
        expect_equal((result.code, result.out, result.err), (3, printed, []), f"libprofile run -- parent, {output}")
        expect_measured(job, result, output)


@test
def mpi_programs_with_address_sanitizer_are_measured(job):
    source = job.source / "tests/programs/life.c"
    job.compile(f"mpicc.{job.mpi}", "-fsanitize=address", "-g", "-O1", f"-I{job.source}/include", source, "-o", "life")
    settings = ["env", "ASAN_OPTIONS=detect_leaks=0"] # MPI has some
    plain = job.plain([*settings, job.folder / "life", "work"])
    result = job.run([*job.launcher(2), *settings, job.tool, "run", "--output", "out", "--", job.folder / "life", "work"])
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the job")
    expect_measured(job, result, "out")
    expect_equal(calls(job.report("out"), 1)["MPI_Allreduce"], 10, "calls")


if __name__ == "__main__":
    main()
