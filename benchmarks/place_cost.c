/* Measures a pass of the iteration point that LIBPROFILE_ITERATION names, in ns: median of many short batches (batches.h). benchmarks/run starts
 * it without the library, with LIBPROFILE_ITERATION=step, and with LIBPROFILE_ITERATION=marker. "marker" closes the same iterations by markers;
 * "after" is a pass after the end of the measurement. */
#include "batches.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>

enum { calls = 20 };

static volatile int sink;

__attribute__((noinline)) static void step(void) { sink = sink + 1; }

static void marked(void) {
    profile_iteration_begin("step");
    sink = sink + 1;
    profile_iteration_end("step");
}

static void measure(const char* name, void (*function)(void)) { printf("%-10s %10.1f\n", name, median_of_batches(calls, function)); }

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
