/* Measures a named region, entry and exit together, in ns: median of many short batches (batches.h). benchmarks/run starts it without the
 * library, with it, and with counters (LIBPROFILE_METRICS), which are read at entry and exit. "inner" is inside another region. */
#include "batches.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>

enum { regions = 20 };

static volatile int sink;

static void region(void) {
    profile_region_begin("region");
    sink = sink + 1;
    profile_region_end("region");
}

static void measure(const char* name) { printf("%-10s %10.1f\n", name, median_of_batches(regions, region)); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    measure("region");
    profile_region_begin("outer");
    measure("inner");
    profile_region_end("outer");
    MPI_Finalize();
    return 0;
}
