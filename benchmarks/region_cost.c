/* What a named region costs, entry and exit together, in ns: median of many short batches, as mpi_calls.c. benchmarks/run starts it without the
 * library, with it, and with counters (LIBPROFILE_METRICS), which are read at both borders. "inner" lies inside of another. */
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 400, regions = 20 };

static volatile int sink;

static void region(int i) {
    profile_region_begin("region");
    sink = sink + i;
    profile_region_end("region");
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

static void measure(const char* name) {
    static double times[batches];
    for (int b = 0; b < batches; ++b) {
        const double start = now();
        for (int i = 0; i < regions; ++i) region(i);
        times[b] = (now() - start) / regions;
    }
    qsort(times, batches, sizeof *times, smaller);
    printf("%-10s %10.1f\n", name, times[batches / 2]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    measure("region");
    profile_region_begin("outer");
    measure("inner");
    profile_region_end("outer");
    MPI_Finalize();
    return 0;
}
