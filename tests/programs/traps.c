/* traps: runs with floating-point traps on, like many Fortran codes, through more different iterations than there are
 * clusters. Dies of SIGFPE if libprofile's arithmetic raises one; exits with 3 if a marker or an MPI call changes a
 * floating-point flag or the rounding mode. */
#define _GNU_SOURCE
#include <mpi.h>

#include <libprofile.h>

#include <fenv.h>
#include <stdio.h>
#include <string.h>

static int changed;

static void expect_flags(int flags, const char* after) {
    if (fetestexcept(FE_ALL_EXCEPT) != flags || fegetround() != FE_UPWARD) {
        fprintf(stderr, "traps: flags %#x instead of %#x after %s\n", fetestexcept(FE_ALL_EXCEPT), flags,
                after);
        changed = 3;
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "inexact") == 0)
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
    else
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW);
    fesetround(FE_UPWARD);
    for (int step = 0; step < 200; ++step) {
        feclearexcept(FE_ALL_EXCEPT);
        profile_iteration_begin("step");
        expect_flags(0, "begin of an iteration");
        profile_phase_begin("part");
        for (int i = 0; i < 1 + step % 17 * (step % 5); ++i)
            MPI_Barrier(MPI_COMM_SELF);
        if (step % 2)
            MPI_Barrier(MPI_COMM_WORLD);
        profile_phase_end("part");
        for (volatile long i = 0; i < 2000L * step; ++i) {
        }
        feclearexcept(FE_ALL_EXCEPT);
        profile_iteration_end("step");
        expect_flags(0, "end of an iteration");
    }
    feclearexcept(FE_ALL_EXCEPT);
    fedisableexcept(FE_INEXACT | FE_UNDERFLOW); /* MPICH's own arithmetic at the end is not so exact */
    MPI_Finalize();
    return changed;
}
