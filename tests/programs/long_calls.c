/* Calls MPI for known times, with and without samples in them. Usage: long_calls ROUNDS FOLDER
 * In a round each rank computes 3 ms, reduces with an operation that sleeps 20 ms (a call without samples), and then rank 1 computes 15 ms more, for
 * which the others wait in MPI_Barrier. Each rank writes FOLDER/log.RANK: a line per such call with its begin and its end in ns. */
#include "spin.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void slow_operation(void* in, void* inout, int* length, MPI_Datatype* type) {
    (void)in, (void)inout, (void)length, (void)type;
    const struct timespec ms20 = {0, 20000000};
    nanosleep(&ms20, NULL);
}

static __attribute__((noinline)) void compute(int ms) { work(ms * 1000000); }

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int rounds = argc > 1 ? atoi(argv[1]) : 20;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Op operation;
    MPI_Op_create(slow_operation, 1, &operation);
    char name[4096];
    snprintf(name, sizeof name, "%s/log.%d", argc > 2 ? argv[2] : ".", rank);
    FILE* log = fopen(name, "w");
    if (log == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int i = 0; i < rounds; ++i) {
        profile_iteration_begin("round");
        compute(3);
        int one = 1, sum = 0;
        const long long begin = now();
        MPI_Reduce_local(&one, &sum, 1, MPI_INT, operation);
        const long long end = now();
        fprintf(log, "MPI_Reduce_local %lld %lld\n", begin, end);
        if (rank == 1) compute(15);
        const long long waits = now();
        MPI_Barrier(MPI_COMM_WORLD);
        fprintf(log, "MPI_Barrier %lld %lld\n", waits, now());
        fflush(log);
        profile_iteration_end("round");
    }
    fclose(log);
    MPI_Op_free(&operation);
    MPI_Finalize();
    return 0;
}
