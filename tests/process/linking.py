#!/usr/bin/python3
"""Programs linked with the library: they still need the MPI library, and are measured at every run.

`placed` is where the library stands on the command line; the compilers are the MPIs' own wrappers, which add their
libraries at the end.
"""

import ast
import platform
import re
import shutil
from pathlib import Path

from harness import Skip, expect, expect_equal, main, test
from report_checks import calls

C_SOURCE = """
#include <mpi.h>
#include <stdio.h>
#include <libprofile.h>
int main(int argc, char** argv) {
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; ++i) {
        MARK(profile_iteration_begin("step");)
        MPI_Barrier(MPI_COMM_WORLD);
        MARK(profile_iteration_end("step");)
    }
    if (rank == 0) printf("linked\\n");
    return MPI_Finalize();
}
"""
FORTRAN_SOURCE = """
program linked
  use mpi
  implicit none
  integer :: ierror, rank, i
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  do i = 1, 5
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end do
  if (rank == 0) print '(a)', 'linked'
  call MPI_Finalize(ierror)
end program
"""
PROBE = "char MPI_Init();\nint main(void) { return MPI_Init(); }\n"  # as autoconf's AC_CHECK_LIB and AC_SEARCH_LIBS
PROBE_WITH_HEADER = "#include <mpi.h>\nint main(int c, char** v) { return MPI_Init(&c, &v); }\n"


def install(job):
    """An installation in a folder of the test. Returns its place."""
    prefix = job.folder / "prefix"
    result = job.run(["cmake", "--install", job.build, "--prefix", prefix], timeout=60)
    expect(result.code == 0, "cmake --install failed")
    for name in ("bin/libprofile", "lib/libprofile.so", "include/libprofile.h", "lib/pkgconfig/libprofile.pc"):
        expect((prefix / name).exists(), f"{name} was not installed")
    return prefix


@test
def a_toolchain_file_for_this_machine_leaves_nothing_out(job):
    """Some systems have one for their own machines. Only where what is built cannot run, Python's module, packages and compiler wrappers are left out."""
    job.need("cmake", "ninja")
    folders = {}
    for name, options in (("plain", []), ("toolchain", ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={platform.machine()}"])):
        build = job.folder / name
        options += ["-DLIBPROFILE_TESTS=OFF", "-DLIBPROFILE_BENCHMARKS=OFF"]
        result = job.run(["cmake", "-G", "Ninja", "-S", job.source, "-B", build, *options], timeout=120)
        expect_equal(result.code, 0, f"configuration, {name}: {result.err}")
        found = re.search(r"(?m)^LIBPROFILE_OPENMPI_MPICC:.*", (build / "CMakeCache.txt").read_text())
        folders[name] = (sorted(path.parent.relative_to(build).as_posix() for path in build.rglob("cmake_install.cmake")), found and found[0])
    expect_equal(folders["toolchain"], folders["plain"], "folders that are built, and the compiler wrapper")


def ways(job, prefix):
    """Name -> (flags, needs LD_LIBRARY_PATH)."""
    found = {"-L -lprofile": ([f"-I{prefix}/include", f"-L{prefix}/lib", "-lprofile"], True)}
    if shutil.which("pkg-config"):
        result = job.run(["pkg-config", "--cflags", "--libs", "libprofile"],
                         env={"PKG_CONFIG_PATH": prefix / "lib/pkgconfig"})
        expect_equal((result.code, result.all_err), (0, ""), "pkg-config")
        found["pkg-config"] = (result.out.split(), False)
    return found


def needed(job, program):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", job.run(["readelf", "-d", program]).out)


def check_program(job, what, command, needs_path, prefix):
    program = job.folder / "linked"
    program.unlink(missing_ok=True)
    job.compile(*command, "-o", program)
    libraries = needed(job, program)
    mpi = {"openmpi": "libmpi", "mpich": "libmpich"}[job.mpi]
    expect(any(name.startswith(mpi) for name in libraries), f"{what}: {mpi} is not in DT_NEEDED: {libraries}")
    expect("libprofile.so" in libraries, f"{what}: libprofile.so is not in DT_NEEDED: {libraries}")
    job.runs += 1
    settings = [f"LIBPROFILE_OUTPUT={job.folder}/linked.{job.runs}"]
    if needs_path:
        settings.append(f"LD_LIBRARY_PATH={prefix}/lib")
    result = job.run([*job.launcher(2), "env", *settings, program])
    expect_equal((result.code, result.out, result.err), (0, "linked\n", []), f"{what}: the job")
    expect_equal((len(result.exit_lines), result.complaints), (1, []), f"{what}: lines")
    report = job.report(f"linked.{job.runs}")
    for rank in range(2):
        expect_equal(calls(report, rank), {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Barrier": 5, "MPI_Finalize": 1},
                     f"{what}: calls of rank {rank}")


def matrix(job, compiler, source, extra=()):
    if shutil.which(compiler) is None:
        raise Skip(f"{compiler} is not installed")
    prefix = install(job)
    for way, (flags, needs_path) in ways(job, prefix).items():
        for pie in (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"]):
            for placed in ("before", "after"):
                line = [*flags, source] if placed == "before" else [source, *flags]
                check_program(job, f"{way} {placed} the source, {pie[1]}", [compiler, *pie, *extra, *line], needs_path,
                              prefix)


@test
def c_programs_link_run_and_are_measured(job):
    job.write("linked.c", C_SOURCE)
    matrix(job, f"mpicc.{job.mpi}", "linked.c", ["-DMARK(x)=x"])


@test
def c_programs_without_markers_link_run_and_are_measured(job):
    job.write("linked.c", C_SOURCE)
    matrix(job, f"mpicc.{job.mpi}", "linked.c", ["-DMARK(x)=", "-Wl,--as-needed"])


@test
def cxx_programs_link_run_and_are_measured(job):
    job.write("linked.cpp", C_SOURCE)
    matrix(job, f"mpicxx.{job.mpi}", "linked.cpp", ["-DMARK(x)=x", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX"])


@test
def fortran_programs_link_run_and_are_measured(job):
    job.write("linked.f90", FORTRAN_SOURCE)
    matrix(job, f"mpif90.{job.mpi}", "linked.f90")


@test
def configure_probes_do_not_find_mpi_in_our_library(job):
    prefix = install(job)
    job.write("probe.c", PROBE)
    job.write("probe_with_header.c", PROBE_WITH_HEADER)
    include = job.run([f"mpicc.{job.mpi}", "-show"]).out.split()
    include = [word for word in include if word.startswith("-I")]
    for way, (flags, _) in ways(job, prefix).items():
        for source in ("probe.c", "probe_with_header.c"):
            for line in ([source, *flags], [*flags, source]):
                result = job.run(["gcc", "-o", "probe", *include, *line])
                expect(result.code != 0, f"{way}: the probe {source} was linked: MPI_Init was found in libprofile.so")
                expect("undefined reference to `MPI_Init'" in result.all_err, f"{way}: another error than expected")
    job.run(["gcc", "-shared", "-fPIC", "-o", "probe.so", "probe.c"])  # a shared library may leave it undefined
    result = job.run(["gcc", "-o", "probe", "-Wl,--no-as-needed", "-x", "c", "/dev/null", "probe.so", "-L.",
                      f"-L{prefix}/lib", "-lprofile"])
    expect(result.code != 0, "an executable was linked to an MPI plug-in with libprofile.so instead of an MPI library")


@test
def installed_command_finds_its_library(job):
    prefix = install(job)
    moved = job.folder / "moved"
    prefix.rename(moved)
    command = [*job.launcher(2), moved / "bin/libprofile", "run", "--output", "out", "--", job.program("life"), "work"]
    result = job.run(command)
    expect_equal((result.code, result.out, result.err), (0, "life: 2 ranks\n", []), "the job")
    job.tool = moved / "bin/libprofile"
    job.report("out")


@test
def manual_pages_are_sound_and_tell_of_every_option(job):
    prefix = install(job)
    pages = sorted((prefix / "share/man").glob("man*/*"))
    helped = job.run([prefix / "bin/libprofile", "--help"]).out
    commands = re.findall(r"(?m)^  (\w+)  ", helped.split("Commands:")[1])
    expect_equal({page.name for page in pages}, {"libprofile.1", "libprofile-options.7", *(f"libprofile-{name}.1" for name in commands)}, "pages")
    for page in pages:
        text = page.read_text()
        if shutil.which("groff"):
            result = job.run(["groff", "-man", "-Tutf8", "-ww", "-z", page])
            expect_equal((result.code, result.err), (0, []), page.name)
        if page.suffix == ".1" and page.stem != "libprofile":
            said = job.run([prefix / "bin/libprofile", page.stem.split("-")[1], "--help"]).out
            for option in re.findall(r"(?m)^  (--[a-z-]+)", said):
                expect(option.replace("-", "\\-") in text, f"{page.name} lacks {option}")
            expect(all(f".SH {section}\n" in text for section in ("NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO")), text)
    settings = job.run([prefix / "bin/libprofile", "options"]).out
    for name in re.findall(r"(?m)^(LIBPROFILE_\w+)", settings):
        expect(f".BR {name} " in (prefix / "share/man/man7/libprofile-options.7").read_text(), f"libprofile-options.7 lacks {name}")


def completed(job, prefix, *words):
    """What bash offers for the last word."""
    script = (f'source {prefix}/share/bash-completion/completions/libprofile; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
              '_libprofile; printf "%s\\n" "${COMPREPLY[@]}"')
    return job.run(["bash", "-c", script, "bash", "libprofile", *words]).out.split()


@test
def bash_completes_commands_options_and_choices(job):
    prefix = install(job)
    for words, expected in ((("rep",), ["report"]), (("report", "--comp"), ["--compare"]), (("export", "--format", "h"), ["hpctoolkit"]),
                            (("report", "--format", "=", "j"), ["json"]), (("run", "--sample-c"), ["--sample-clock"]),
                            (("run", "--equivalence", ""), ["auto", "strong", "weak", "none"]), (("run", "--output", ""), [])):
        expect_equal(completed(job, prefix, *words), expected, f"libprofile {' '.join(words)}")


@test
def module_files_find_the_installation_wherever_it_is(job):
    prefix = install(job)
    moved = job.folder / "moved"
    prefix.rename(moved)
    readers = [path for path in ("/usr/lib/x86_64-linux-gnu/modulecmd.tcl", "/usr/share/lmod/lmod/libexec/lmod") if Path(path).exists()]
    if not readers:
        raise Skip("neither environment-modules nor lmod is installed")
    for reader in readers:
        script = f'eval "$({reader} bash load libprofile)"; echo "$LIBPROFILE_ROOT"; type -p libprofile; python3 -c "import sys; print(sys.path)"'
        result = job.run(["bash", "-c", script], env={"MODULEPATH": str(moved / "share/modulefiles")})
        root, command, path = result.out.splitlines()
        expect_equal((root, command), (str(moved), str(moved / "bin/libprofile")), f"{reader}: {result}")
        expect(str(moved / "lib/python3") in path, f"{reader}: {path}")


@test
def the_spack_recipe_names_options_that_the_build_has(job):
    recipe = job.source / "packaging/spack/packages/libprofile/package.py"
    tree = ast.parse(recipe.read_text())
    defined = {call.args[0].value for call in ast.walk(tree)
               if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "define" and isinstance(call.args[0], ast.Constant)}
    cache = (job.build / "CMakeCache.txt").read_text()
    expect(len(defined) >= 4, f"options: {defined}")
    for name in defined | {"LIBPROFILE_OPENMPI_MPICC", "LIBPROFILE_MPICH_MPIRUN"}:
        expect(re.search(rf"(?m)^{name}:", cache), f"the build has no option {name}")


@test
def program_without_its_mpi_library_is_told(job):
    """The gold linker binds to our MPI names; without us such a program would not start."""
    job.need("ld.gold")
    job.write("lonely.c", "int MPI_Init(int*, char***); int main(void) { return MPI_Init(0, 0) == 0; }")
    job.compile("gcc", "-fuse-ld=gold", "lonely.c", job.library, f"-Wl,-rpath,{Path(job.library).parent}", "-o", "lonely")
    result = job.run([job.folder / "lonely"])
    expect_equal((result.code, len(result.said)), (0, 1), "exit code (0: MPI_Init failed), lines")
    expect("no MPI library is loaded" in result.said[0], result.said[0])
    expect_equal(job.output_folders(), [], "output folders")


if __name__ == "__main__":
    main()
