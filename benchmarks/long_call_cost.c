/* What libprofile adds after an MPI call of 150 us, from the end of the work in it until it has returned, below ten functions. With LIBPROFILE_TRACE=1 and
 * samples that are less far apart, the call is kept in the trace. */
#include "batches.h"

#include <mpi.h>
#include <stdio.h>

static double worked_until;

static void work(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
    const double begin = now();
    do worked_until = now();
    while (worked_until - begin < 150000);
}

/* Returns ns. */
static __attribute__((noinline)) double call_below(int functions, MPI_Op operation) {
    if (functions != 0) {
        const double ns = call_below(functions - 1, operation);
        __asm__ volatile(""); /* no tail call */
        return ns;
    }
    int one = 1, sum = 0;
    MPI_Reduce_local(&one, &sum, 1, MPI_INT, operation);
    return now() - worked_until;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Op operation;
    MPI_Op_create(work, 1, &operation);
    double medians[batch_count], calls[batch_count];
    for (int batch = 0; batch < 20; ++batch) {
        for (int i = 0; i < batch_count; ++i) calls[i] = call_below(10, operation);
        medians[batch] = median(calls);
    }
    sort_times(medians, 20);
    printf("%-40s %8.0f ns\n", "return from a call of 150 us", medians[0]);
    MPI_Op_free(&operation);
    MPI_Finalize();
    return 0;
}
