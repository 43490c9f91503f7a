// region_series: a named region whose time differs between iterations. Prints it by the program's own clock: "RANK ITERATION NS".
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}
__attribute__((noinline)) static void spin(long ns) {
    const long end = now() + ns;
    while (now() < end) {}
}
__attribute__((noinline)) static void call(long ns) { spin(ns); }

int main(int argc, char** argv) {
    static long took[120];
    int rank = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 120; ++i) {
        profile_iteration_begin("step");
        const long begin = now();
        profile_region_begin("work");
        call((i * 7919 % 37 + 5) * 20000L);
        profile_region_end("work");
        took[i] = now() - begin;
        MPI_Barrier(MPI_COMM_WORLD);
        profile_iteration_end("step");
    }
    for (int i = 0; i < 120; ++i) printf("%d %d %ld\n", rank, i, took[i]);
    MPI_Finalize();
    return 0;
}
