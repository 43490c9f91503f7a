/* Parts of passes in test programs without markers: computing, and calls of all ranks. */
#include <mpi.h>
#include <time.h>

#define OWN __attribute__((noinline, noclone, noipa)) static

static int rank, size;
static double value = 1, step_us = 500;
static volatile double sink; /* no tail calls */

OWN void work(double us) {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 50; ++i) sink += i * 0.5;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) * 1e6 + (double)(now.tv_nsec - begin.tv_nsec) / 1e3 < us);
}

OWN void sum(void) {
    double all;
    MPI_Allreduce(&value, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sink = all;
}

OWN void output(void) {
    double all[64];
    MPI_Gather(&value, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    sink = 0;
}
