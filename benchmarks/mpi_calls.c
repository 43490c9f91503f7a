/* Cost of MPI calls as the application sees it: ns per call, median of many short batches, so that preemption by other
 * processes does not show. benchmarks/run starts it with and without libprofile; the difference is what we add.
 * One rank; calls that need no partner; depth = frames of the application below the call. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { batches = 400, calls = 20 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int smaller(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static void comm_rank(void) {
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void iprobe(void) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void allreduce(void) {
    double in = 1, out;
    MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
}

static void message(void) { /* 3 calls */
    double in = 1, out;
    MPI_Request requests[2];
    MPI_Irecv(&out, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[0]);
    MPI_Isend(&in, 1, MPI_DOUBLE, 0, 1, MPI_COMM_SELF, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static double batch(void (*call)(void)) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) call();
    return (now() - begin) / calls;
}

static double at_depth(int depth, void (*call)(void)) {
    if (depth == 0) return batch(call);
    volatile double result = at_depth(depth - 1, call); /* no tail call */
    return result;
}

static void measure(const char* name, int depth, int calls_each, void (*call)(void)) {
    double times[batches];
    for (int i = 0; i < batches; ++i) times[i] = at_depth(depth, call) / calls_each;
    qsort(times, batches, sizeof times[0], smaller);
    printf("%-22s depth %3d  %8.1f ns per call\n", name, depth, times[batches / 2]);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int depths[] = {5, 30, 100};
    for (int i = 0; i < 3; ++i) measure("Comm_rank", depths[i], 1, comm_rank);
    for (int i = 0; i < 3; ++i) measure("Iprobe (miss)", depths[i], 1, iprobe);
    for (int i = 0; i < 3; ++i) measure("Allreduce (self)", depths[i], 1, allreduce);
    for (int i = 0; i < 3; ++i) measure("Irecv, Isend, Waitall", depths[i], 3, message);
    MPI_Finalize();
    return 0;
}
