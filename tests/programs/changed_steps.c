/* A time loop of which a later version is slower, for a known reason. Usage: changed_steps CHANGE PERCENT STEPS
 * A step computes about 2 ms in assemble(), solve() and update(), exchanges messages with the neighbours and ends with an MPI_Allreduce; every 20th
 * writes output. It is a fixed number of operations, so it takes longer where the machine is slower. CHANGE adds about PERCENT of the time of a step:
 *   none        nothing
 *   function    solve(), on all ranks, from the middle of the run on
 *   rank        refine(), on rank 1, in all steps
 *   part        refine(), on rank 1, in the fifth and the sixth tenth of the steps
 *   bytes       longer messages to the neighbours, from the middle of the run on
 *   allreduce   another MPI_Allreduce, of a vector, in all steps
 *   output      output in every 10th step; one takes 20 times PERCENT of a step, as without a change at 5 percent
 *   dropped     nothing, but leaves out PERCENT of the steps, before the middle
 *   inserted    nothing, but makes PERCENT more steps, before the middle
 *   longer      nothing, but makes 1.3 times the steps
 * Prints the time of the loop in ms. A step has the number of bytes of its number, so that it can be told from others. */
#include "neighbours.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile double sink;
static int rank, ranks;

/* Each function has its own loop, as in programs. */
#define COMPUTES(name)                                                                                                                                         \
    static __attribute__((noinline)) void name(double us) {                                                                                                    \
        double x = 1;                                                                                                                                          \
        for (long i = 0; i < (long)(us * 570); ++i) x = x * 1.0000001 + 1e-9;                                                                                  \
        sink = x;                                                                                                                                              \
    }
COMPUTES(assemble)
COMPUTES(solve)
COMPUTES(update)
COMPUTES(refine)
COMPUTES(format_lines)

static __attribute__((noinline)) void norm(int values) {
    static double mine[1 << 18], sum[1 << 18];
    MPI_Allreduce(mine, sum, values, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void write_output(double us) {
    static char line[1 << 12], all[1 << 16];
    format_lines(us);
    MPI_Gather(line, 1 << 12, MPI_CHAR, all, 1 << 12, MPI_CHAR, 0, MPI_COMM_WORLD);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* change = argc > 1 ? argv[1] : "none";
    const double part = argc > 2 ? atof(argv[2]) / 100 : 0;
    const long n = argc > 3 ? atol(argv[3]) : 1000;
    const double us = 2170; /* of no simple ratio to the kernel's ticks (1, 4, 10 ms), on which samples fall: else all of them meet one function */
#define IS(name) (strcmp(change, name) == 0)
    const long some = (long)(part * (double)n);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    for (long i = IS("inserted") ? -some : 0; i < (IS("longer") ? n * 13 / 10 : n); ++i) {
        if (IS("dropped") && i >= n / 3 && i < n / 3 + some) continue;
        const int is_second_half = i >= n / 2;
        profile_iteration_begin("step");
        assemble(0.2 * us);
        if (IS("rank") && rank == 1) refine(part * us);
        if (IS("part") && rank == 1 && i >= n * 4 / 10 && i < n * 6 / 10) refine(part * us);
        solve((IS("function") && is_second_half ? 0.5 + part : 0.5) * us);
        update(0.3 * us);
        const int more = IS("bytes") && is_second_half ? (int)(part * us * 4000) : 0; /* some 4 bytes a ns */
        exchange(1024 + 8 * (int)(i + n) + more, rank, ranks);
        if (IS("allreduce")) norm((int)(part * us * 500)); /* some 4 bytes a ns */
        norm(1);
        if (i % 20 == 19 || (IS("output") && i % 20 == 9)) write_output((IS("output") ? part * 20 : 1) * us);
        profile_iteration_end("step");
    }
    if (rank == 0) printf("%.1f\n", (MPI_Wtime() - begin) * 1e3);
    MPI_Finalize();
    return 0;
}
