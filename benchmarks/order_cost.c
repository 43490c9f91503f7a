/* Measures what the order of events costs (LIBPROFILE_ORDER): ns per MPI call inside iterations, and ns per pair of markers around iterations of 0 to
 * 1,000 calls; medians over many iterations (batches.h). benchmarks/run starts it with and without; the difference is the cost. With an argument it
 * only makes so many iterations of 10 calls, to count instructions. */
#include "batches.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>

static void calls(int count) {
    int rank, size;
    for (int i = 0; i < count; i += 2) {
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &size);
    }
}

static void measure(int count) {
    double in_calls[batch_count], in_markers[batch_count];
    for (int i = 0; i < batch_count; ++i) {
        const double begin = now();
        profile_iteration_begin("step");
        const double first = now();
        calls(count);
        const double last = now();
        profile_iteration_end("step");
        in_calls[i] = count == 0 ? 0 : (last - first) / count;
        in_markers[i] = now() - last + first - begin;
    }
    printf("%5d calls %8.1f ns per call %8.0f ns per iteration\n", count, median(in_calls), median(in_markers));
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    for (long left = argc > 1 ? atol(argv[1]) : 0; left > 0; --left) {
        profile_iteration_begin("step");
        calls(argc > 2 ? atoi(argv[2]) : 10);
        profile_iteration_end("step");
    }
    const int counts[] = {1000, 100, 10, 0};
    for (int i = 0; argc == 1 && i < 4; ++i) measure(counts[i]);
    MPI_Finalize();
    return 0;
}
