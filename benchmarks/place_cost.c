/* What a pass of the place that LIBPROFILE_ITERATION names costs, in ns: median of many short batches, as mpi_calls.c. benchmarks/run starts it
 * without the library, with LIBPROFILE_ITERATION=step, and with LIBPROFILE_ITERATION=marker. "marker" closes the same iterations by markers;
 * "after" is a pass when the measurement is over. */
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 400, calls = 20 };

static volatile int sink;

__attribute__((noinline)) static void step(int i) { sink = sink + i; }

static void marked(int i) {
    profile_iteration_begin("step");
    sink = sink + i;
    profile_iteration_end("step");
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int smaller(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void measure(const char* name, void (*function)(int)) {
    static double times[batches];
    for (int b = 0; b < batches; ++b) {
        const double start = now();
        for (int i = 0; i < calls; ++i) function(i);
        times[b] = (now() - start) / calls;
    }
    qsort(times, batches, sizeof *times, smaller);
    printf("%-10s %10.1f\n", name, times[batches / 2]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    if (argc > 1) /* one of them, so that nothing of the other is left */
        measure("marker", marked);
    else
        measure("place", step);
    MPI_Finalize();
    measure("after", step);
    return 0;
}
