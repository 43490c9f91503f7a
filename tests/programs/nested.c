/* A loop around a loop and a phase, with its own clock. Usage: nested STEPS [LAST]
 * With LAST it kills itself after LAST steps. Every step makes 2 to 5 sweeps, then solves. Solving is a phase without iterations that gets longer with
 * every step. Prints for each rank and step the sweeps, and the microseconds of the step, of its sweeps and of solving. Both functions use the
 * same wrapper for sums, global_sum(). */
#include <libprofile.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static void compute(double us) {
    const double end = MPI_Wtime() + us * 1e-6;
    while (MPI_Wtime() < end) continue;
}

static __attribute__((noinline)) double global_sum(double mine) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static __attribute__((noinline)) double smooth(void) {
    compute(300);
    return global_sum(1) + 1;
}

static __attribute__((noinline)) double solve(int step) {
    compute(200 + 100 * step);
    return global_sum(2) + 1;
}

int main(int argc, char** argv) {
    int rank;
    const int steps = argc > 1 ? atoi(argv[1]) : 20;
    const int last = argc > 2 ? atoi(argv[2]) : -1;
    double sum = 0;
    double* times = malloc(sizeof(double) * 3 * (size_t)steps);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int step = 0; step < steps; ++step) {
        if (step == last) raise(SIGKILL);
        const double begin = MPI_Wtime();
        profile_iteration_begin("step");
        for (int sweep = 0; sweep < 2 + step % 4; ++sweep) {
            profile_iteration_begin("sweep");
            sum += smooth();
            profile_iteration_end("sweep");
        }
        const double swept = MPI_Wtime();
        profile_phase_begin("solve");
        sum += solve(step);
        profile_phase_end("solve");
        const double solved = MPI_Wtime();
        compute(50);
        profile_iteration_end("step");
        times[3 * step] = MPI_Wtime() - begin;
        times[3 * step + 1] = swept - begin;
        times[3 * step + 2] = solved - swept;
    }
    for (int step = 0; step < steps; ++step)
        printf("%d %d %d %.3f %.3f %.3f\n", rank, step, 2 + step % 4, times[3 * step] * 1e6, times[3 * step + 1] * 1e6, times[3 * step + 2] * 1e6);
    free(times);
    MPI_Finalize();
    return sum < 0;
}
