/* Measures MPI calls as the application sees them: ns per call, median of many short batches (batches.h). benchmarks/run starts it with and
 * without libprofile; the difference is our cost. One rank makes calls that need no partner. The depth is the number of frames below the
 * call. "Cold": since the last call the program has used so much memory and code that the first two caches hold nothing of libprofile, as
 * in a program that computes between its calls. */
#include "batches.h"

#include <mpi.h>
#include <stdio.h>

enum { calls = 20 };

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

/* Comm_rank below one, two or three frames that are new since the last call. There are more callers than libprofile remembers for one call
 * site, so that every call walks the stack up to the first old frame. */
#define NOT_INLINED __attribute__((noinline, noclone, noipa))
static volatile int keep; /* no tail call */
NOT_INLINED static void direct(void) {
    comm_rank();
    keep = 1;
}
#define CALLER(n)                                                                                                                                              \
    NOT_INLINED static void one_##n(void) {                                                                                                                    \
        comm_rank();                                                                                                                                           \
        keep = n;                                                                                                                                              \
    }                                                                                                                                                          \
    NOT_INLINED static void two_##n(void) {                                                                                                                    \
        direct();                                                                                                                                              \
        keep = n;                                                                                                                                              \
    }                                                                                                                                                          \
    NOT_INLINED static void three_##n(void) {                                                                                                                  \
        two_##n();                                                                                                                                             \
        keep = n;                                                                                                                                              \
    }
// clang-format does not understand macro calls without semicolons.
// clang-format off
CALLER(0)
CALLER(1)
CALLER(2)
CALLER(3)
CALLER(4) CALLER(5) CALLER(6) CALLER(7) CALLER(8) CALLER(9) CALLER(10) CALLER(11)
    // clang-format on
    static void (*const one_new_each[])(void) = {one_0, one_1, one_2, one_3, one_4, one_5, one_6, one_7, one_8, one_9, one_10, one_11};
static void (*const two_new_each[])(void) = {two_0, two_1, two_2, two_3, two_4, two_5, two_6, two_7, two_8, two_9, two_10, two_11};
static void (*const three_new_each[])(void) = {three_0, three_1, three_2, three_3, three_4, three_5, three_6, three_7, three_8, three_9, three_10, three_11};
enum { callers = sizeof one_new_each / sizeof one_new_each[0] };

static void one_new(void) {
    for (int i = 0; i < callers; ++i) one_new_each[i]();
}
static void two_new(void) {
    for (int i = 0; i < callers; ++i) two_new_each[i]();
}
static void three_new(void) {
    for (int i = 0; i < callers; ++i) three_new_each[i]();
}

/* Like a program that waits for messages: one call site, no other call. */
static void polls(void) {
    int flag;
    for (int i = 0; i < 1000; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static MPI_Request pending[4];
static void testany(void) {
    int flag, index;
    for (int i = 0; i < 1000; ++i) MPI_Testany(4, pending, &index, &flag, MPI_STATUS_IGNORE);
}

static double at_depth(int depth, int calls, double* times, int count, void (*call)(void)) {
    if (depth == 0) {
        for (int i = 0; i < count; ++i) times[i] = batch(calls, call);
        return 0;
    }
    volatile double result = at_depth(depth - 1, calls, times, count, call); /* no tail call */
    return result;
}

static void measure(const char* name, int depth, int calls, int calls_each, void (*call)(void)) {
    double times[batch_count];
    at_depth(depth, calls, times, batch_count, call);
    printf("%-22s depth %3d  %8.1f ns per call\n", name, depth, median(times) / calls_each);
}

/* All frames are new at every call. */
static void measure_descents(int depth) {
    double times[batch_count];
    for (int i = 0; i < batch_count; ++i) {
        double unused;
        const double begin = now();
        for (int k = 0; k < calls; ++k) at_depth(depth, 1, &unused, 1, comm_rank);
        times[i] = (now() - begin) / calls;
    }
    printf("%-22s depth %3d  %8.1f ns per call\n", "Comm_rank, all new", depth, median(times));
}

/* Data and code beyond the first two levels of caches. */
static void compute(void) {
    static volatile char data[8 << 20];
    for (size_t i = 0; i < sizeof data; i += 64) ++data[i];
    __asm__ volatile(".rept 2048\n\t.p2align 6\n\tnop\n\t.endr");
}

static void measure_cold(const char* name, int calls_each, void (*call)(void)) {
    double times[batch_count];
    for (int i = 0; i < batch_count; ++i) {
        compute();
        now(); /* itself warm */
        times[i] = batch(1, call);
    }
    printf("%-22s depth %3d  %8.1f ns per call\n", name, 1, median(times) / calls_each);
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int depths[] = {5, 30, 100};
    for (int i = 0; i < 3; ++i) measure("Comm_rank", depths[i], calls, 1, comm_rank);
    for (int i = 0; i < 3; ++i) measure("Allreduce (self)", depths[i], calls, 1, allreduce);
    for (int i = 0; i < 3; ++i) measure("Irecv, Isend, Waitall", depths[i], calls, 3, message);
    for (int i = 0; i < 3; ++i) measure("Comm_rank, 1 frame new", depths[i], calls, callers, one_new);
    for (int i = 0; i < 3; ++i) measure("Comm_rank, 2 new", depths[i], calls, callers, two_new);
    for (int i = 0; i < 3; ++i) measure("Comm_rank, 3 new", depths[i], calls, callers, three_new);
    for (int i = 0; i < 3; ++i) measure_descents(depths[i]);
    measure_cold("Comm_rank, cold", 1, comm_rank);
    measure_cold("Allreduce, cold", 1, allreduce);
    measure_cold("Irecv, Isend, W., cold", 3, message);
    measure("Iprobe (miss)", 30, calls, 1, iprobe);
    measure("Iprobe (miss), polling", 30, 1, 1000, polls);
    double out[4];
    for (int i = 0; i < 4; ++i) MPI_Irecv(&out[i], 1, MPI_DOUBLE, 0, 9, MPI_COMM_SELF, &pending[i]);
    measure("Testany(4), polling", 30, 1, 1000, testany);
    for (int i = 0; i < 4; ++i) MPI_Cancel(&pending[i]);
    MPI_Waitall(4, pending, MPI_STATUSES_IGNORE);
    MPI_Finalize();
    return 0;
}
