#!/usr/bin/python3
"""MPICH under the names that vendors give it is measured as MPICH: copies of Debian's libraries under those file names and sonames,
with programs that need them by these names."""

import shutil
from pathlib import Path

import count_matrix
import debian_programs
import independent_counter
from harness import Skip, expect, expect_equal, main, test
from report_checks import calls

# Of the library, of its Fortran and of its C++ bindings.
USUAL = ("libmpich.so.12", "libmpichfort.so.12", "libmpichcxx.so.12")
VENDORS = {
    "intel": ("libmpi.so.12", "libmpifort.so.12", "libmpicxx.so.12"),
    "cray": ("libmpi_cray.so.12", "libmpifort_cray.so.12", "libmpicxx_cray.so.12"),
    "cray_gnu": ("libmpi_gnu_123.so.12", "libmpifort_gnu_123.so.12", "libmpicxx_gnu_123.so.12"),
}


class Vendor:
    """A folder with the libraries under a vendor's names, and with programs that find them there."""

    def __init__(self, job, name):
        job.need("patchelf")
        self.job, self.names, self.folder = job, dict(zip(USUAL, VENDORS[name])), job.folder / name
        self.folder.mkdir()
        bindings = job.program("matrix_cxx_bindings"), job.program("calls_f08")
        if not all(program.exists() for program in bindings):
            raise Skip("programs in C++ or Fortran were not built")
        for usual in USUAL:
            found = [path for program in bindings if (path := independent_counter.library_of(job, program, usual))]
            self.add(found[0], self.names[usual])
            self.change("--set-soname", self.names[usual], self.folder / self.names[usual])
        self.library = self.folder / self.names[USUAL[0]]

    def change(self, *command):
        result = self.job.run(["patchelf", *command])
        expect_equal((result.code, result.all_err), (0, ""), "patchelf")

    def add(self, file, name=None):
        """A copy of a program or library that needs the libraries by the vendor's names. Returns its path."""
        copy = self.folder / (name or Path(file).name)
        shutil.copy(file, copy)
        needed = [word for usual, own in self.names.items() for word in ("--replace-needed", usual, own)]
        self.change(*needed, copy)
        self.change("--force-rpath", "--set-rpath", self.folder, copy) # also for what its libraries need
        return copy

    def use(self):
        """From now on, the job's programs are those with the vendor's names."""
        for program in self.job.programs.glob("*.mpich"):
            if program.name.startswith(("matrix_", "life.")):
                self.add(program)
        self.job.programs = self.folder

    def expect_used_by(self, program):
        listing = self.job.run(["ldd", program]).out
        for usual, own in self.names.items():
            expect(usual not in listing, f"{program} still uses {usual}")
        expect(str(self.library) in listing, f"{program} does not use {self.library}")


def expect_logged_counts(job, programs):
    for command, env, unseen in programs:
        count_matrix.compare(job, command, count_matrix.RANKS[job.mpi], env, unseen)


def add_tests(name):
    def some(job):
        vendor = Vendor(job, name)
        vendor.use()
        for program in ("matrix_messages", "matrix_fortran_objects_mpif_h", "matrix_cxx_bindings"):
            vendor.expect_used_by(job.program(program))
        programs = [([count_matrix.matrix_program(job, program)], None, ()) for program in ("messages", "collectives", "callbacks")]
        unseen = count_matrix.FORTRAN_UNSEEN[job.mpi]
        programs += [([count_matrix.matrix_program(job, program)], None, unseen)
                     for program in ("fortran_objects_mpif_h", "fortran_messages_use_mpi", "fortran_collectives_use_mpi_f08")]
        expect_logged_counts(job, [*programs, *count_matrix.logged_cxx_program(job)])

    def all_programs(job):
        Vendor(job, name).use()
        expect_logged_counts(job, [*count_matrix.logged_c_programs(job), *count_matrix.logged_fortran_programs(job)])

    some.__name__ = f"mpich_named_as_of_{name}_is_measured"
    all_programs.__name__ = f"all_functions_of_mpich_named_as_of_{name}_are_counted"
    test(some)
    test(all_programs)


for vendor_name in VENDORS:
    add_tests(vendor_name)


@test
def ends_of_programs_are_those_with_the_usual_name(job):
    """Which rank's end the launcher tells, and whether last words arrive, is chance on a busy machine, without libprofile, too: a pair is repeated."""
    programs = job.programs
    life = job.program("life")
    for name in VENDORS:
        Vendor(job, name).use()
        for arguments in (("work",), ("exit", "1"), ("abort", "1")):
            what = f"{name}, life {' '.join(arguments)}"
            for attempt in range(3):
                output = f"{name}.{arguments[0]}.{attempt}"
                plain = job.plain([life, *arguments])
                result = job.measured([job.program("life"), *arguments], output=output)
                ends = [(one.code, one.out, len(one.err)) for one in (result, plain)]
                if ends[0] == ends[1]:
                    break
            expect_equal(ends[0], ends[1], what)
            expect_equal(calls(job.report(output), 0).get("MPI_Init"), 1, f"{what}: calls of MPI_Init")
        job.programs = programs


@test
def debian_programs_with_vendor_names_are_measured(job):
    """Unmodified but for the names of the libraries that they need; counted by an independent counter."""
    job.need("NPmpich2")
    xdlu = debian_programs.xdlu(job, 2)
    scalapack = independent_counter.library_of(job, xdlu[0], "libscalapack")
    netpipe = ["-u", "4096", "-n", "20", "-o", "/dev/null"]
    for name in VENDORS:
        vendor = Vendor(job, name)
        vendor.add(scalapack)
        counters = [independent_counter.build_counter(job, "c", vendor.library)]
        for program, arguments, least in ((shutil.which("NPmpich2"), netpipe, 100), (xdlu[0], [], 10000)):
            copy = vendor.add(program)
            vendor.expect_used_by(copy)
            independent_counter.compare(job, [copy, *arguments], counters, least=least)


@test
def a_vendors_library_in_the_place_of_the_usual_one_is_measured(job):
    """As sites swap libraries of one ABI: the program is untouched, and the search path leads from its name to the vendor's file."""
    job.need("NPmpich2")
    for name in VENDORS:
        vendor = Vendor(job, name)
        (vendor.folder / USUAL[0]).symlink_to(vendor.library)
        counters = [independent_counter.build_counter(job, "c", vendor.library)]
        found = [f"LD_LIBRARY_PATH={vendor.folder}", shutil.which("NPmpich2")] # for the env that starts it
        expect(str(vendor.folder) in job.run(["env", found[0], "ldd", found[1]]).out, "the vendor's library is not found")
        independent_counter.compare(job, [*found, "-u", "4096", "-n", "20", "-o", "/dev/null"], counters)


@test
def libprofile_run_and_programs_linked_with_it_know_vendor_names(job):
    own = Path(job.library).parent
    includes = [word for word in job.run(["mpicc.mpich", "-show"]).out.split() if word.startswith("-I")]
    for name in VENDORS:
        vendor = Vendor(job, name)
        program = vendor.folder / "linked"
        line = [f"-I{job.source}/include", job.source / "tests/programs/life.c", f"-L{own}", "-lprofile", vendor.library]
        job.compile("gcc", "-O1", *includes, *line, f"-Wl,-rpath,{own}:{vendor.folder}", "-o", program)
        vendor.expect_used_by(program)
        for way, command in {"linked": [program, "work"], "run": [job.tool, "run", "--", vendor.add(job.program("life")), "work"]}.items():
            output = f"{name}.{way}"
            result = job.run([*job.launcher(2), "env", f"LIBPROFILE_OUTPUT={job.folder / output}", *command])
            expect_equal((result.code, result.out, result.err, result.complaints), (0, "life: 2 ranks\n", [], []), f"{output}: the job")
            expect_equal(calls(job.report(output), 1)["MPI_Allreduce"], 10, f"{output}: calls")


LONG_INTEGERS = """
    #include <mpi.h>
    void mpi_barrier_(long* comm, long* error) { *error = MPI_Barrier(MPI_Comm_f2c((MPI_Fint)*comm)); }
    void mpi_comm_rank_(int* comm, int* rank, int* error);
    void mpi_comm_rank_8_(long* comm, long* rank, long* error) {
        int own_comm = (int)*comm, own_rank, own_error;
        mpi_comm_rank_(&own_comm, &own_rank, &own_error);
        *rank = own_rank, *error = own_error;
    }
"""
WITH_LONG_INTEGERS = """
    #include <mpi.h>
    void mpi_barrier_(long* comm, long* error);
    void mpi_comm_rank_8_(long* comm, long* rank, long* error);
    int main(int argc, char** argv) {
        MPI_Init(&argc, &argv);
        long comm = MPI_Comm_c2f(MPI_COMM_WORLD), rank = 0, error = 0;
        mpi_comm_rank_8_(&comm, &rank, &error);
        for (int i = 0; i < 7; ++i)
            mpi_barrier_(&comm, &error);
        return MPI_Finalize();
    }
"""


@test
def calls_through_a_layer_for_long_integers_are_the_programs(job):
    """A stand-in for Intel's libmpi_ilp64: each call is seen once, whether it leads to the C or to the Fortran function."""
    vendor = Vendor(job, "intel")
    job.write("layer.c", LONG_INTEGERS)
    job.write("program.c", WITH_LONG_INTEGERS)
    job.compile("mpicc.mpich", "-fPIC", "-shared", "-Wl,-soname,libmpi_ilp64.so.4", "layer.c", "-lmpichfort", "-o", "libmpi_ilp64.so.4")
    job.compile("mpicc.mpich", "program.c", "-L.", "-l:libmpi_ilp64.so.4", "-o", "program")
    vendor.add(job.folder / "libmpi_ilp64.so.4")
    report = job.profile([vendor.add(job.folder / "program")])
    for rank in range(2):
        expect_equal(calls(report, rank), {"MPI_Init": 1, "MPI_Comm_rank": 1, "MPI_Barrier": 7, "MPI_Finalize": 1}, f"calls of rank {rank}")
    frames = {path["name"] for phase in report["phases"] for path in phase["call_paths"]}
    expect_equal((any("main" in name for name in frames), [name for name in frames if "mpi_" in name]), (True, []), "functions of the layer in call paths")


@test
def a_library_with_another_abi_is_named_and_the_job_runs_unmeasured(job):
    library = job.folder / "libmpi_other.so"
    code = """#include <string.h>
        int PMPI_Init(int* n, char*** v) { return 0; }
        int PMPI_Finalize(void) { return 0; }
        int PMPI_Get_library_version(char* v, int* n) { strcpy(v, "Other MPI 1.0\\n"); *n = 14; return 0; }
        int MPI_Init(int*, char***) __attribute__((alias("PMPI_Init")));
        int MPI_Finalize(void) __attribute__((alias("PMPI_Finalize")));
        int MPI_Get_library_version(char*, int*) __attribute__((alias("PMPI_Get_library_version")));
    """
    job.compile("cc", "-shared", "-fPIC", "-w", job.write("other.c", code), f"-Wl,-soname,{library.name}", "-o", library)
    program = job.folder / "program"
    main_c = '#include <stdio.h>\nint main(void) { MPI_Init(0, 0); MPI_Finalize(); puts("done"); return 3; }\n'
    job.compile("cc", "-w", job.write("program.c", main_c), library, f"-Wl,-rpath,{job.folder}", "-o", program)
    plain, result = job.plain([program]), job.measured([program])
    expect_equal((result.code, result.out, result.err), (plain.code, plain.out, plain.err), "the job")
    expect_equal((plain.code, len(result.said)), (3, 1), "exit code, lines")
    expect("none of the ABIs of Open MPI, MPICH and the standard" in result.said[0], result.said[0])
    expect(str(library) in result.said[0] and result.said[0].endswith("Other MPI 1.0"), result.said[0])
    expect_equal(job.output_folders(), [], "output folders")


if __name__ == "__main__":
    main()
