/* Measures what closing an iteration costs a program whose ranks wait for each other: us per iteration, as the median of all and as the
 * mean of the fastest half. Usage: bulk_synchronous last|turns|equal ITERATIONS
 *   last:  one Allreduce per iteration; the others wait for rank 0, which has twice as much work
 *   turns: two; rank 0 is late at the first, rank 1 at the second
 *   equal: one; all have the same work
 * Each iteration makes a cheap MPI call on each of 1,000 call paths. */
#include "batches.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))
static volatile int keep; /* no tail calls */

/* 1,000 call sites. */
#define CALL MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#define TEN(x) x x x x x x x x x x
NOT_INLINED static void visit(void) {
    int rank;
    TEN(TEN(TEN(CALL)))
    keep = rank;
}

static void compute(double us) {
    const double end = now() + us * 1e3;
    while (now() < end) {
    }
}

static void meet(void) {
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    const char* pattern = argc > 1 ? argv[1] : "last";
    const int iterations = argc > 2 ? atoi(argv[2]) : 2000;
    double* times = malloc((size_t)iterations * sizeof *times);
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < iterations; ++i) {
        MPI_Barrier(MPI_COMM_SELF);
        const double begin = now();
        profile_iteration_begin("step");
        visit();
        if (strcmp(pattern, "turns") == 0) {
            compute(rank == 0 ? 1000 : 300);
            meet();
            compute(rank == 0 ? 300 : 1000);
        } else {
            compute(rank == 0 || strcmp(pattern, "equal") == 0 ? 1000 : 500);
        }
        meet();
        profile_iteration_end("step");
        times[i] = (now() - begin) * 1e-3;
    }
    if (rank == 0) {
        double sum = 0;
        sort_times(times, iterations);
        for (int i = 0; i < iterations / 2; ++i) sum += times[i];
        printf("%s: median %.1f us, fastest half %.1f us\n", pattern, times[iterations / 2], sum / (iterations / 2));
    }
    MPI_Finalize();
    free(times);
    return 0;
}
