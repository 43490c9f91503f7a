/* A fixed amount of work below DEPTH frames. Prints the thread's processor time in ns; benchmarks/run compares it with and without samples
 * to get the cost of a sample. Usage: sample_cost DEPTH ROUNDS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

static volatile unsigned long keep; /* no tail calls */

NOT_INLINED static unsigned long leaf(unsigned long x) {
    for (int i = 0; i < 2000; ++i) x = x * 6364136223846793005ul + 1442695040888963407ul;
    return x;
}

NOT_INLINED static unsigned long middle(unsigned long x) {
    const unsigned long y = leaf(x) + 1;
    keep = y;
    return y;
}

NOT_INLINED static unsigned long below(int depth, long rounds) {
    unsigned long x = 1;
    if (depth == 0)
        for (long i = 0; i < rounds; ++i) x += middle(x);
    else
        x = below(depth - 1, rounds);
    keep = x;
    return x + 1;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const int depth = argc > 1 ? atoi(argv[1]) : 100;
    const long rounds = argc > 2 ? atol(argv[2]) : 1000000;
    struct timespec begin, end;
    below(depth, 1000);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    below(depth, rounds);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    printf("%.0f\n", (double)(end.tv_sec - begin.tv_sec) * 1e9 + (double)(end.tv_nsec - begin.tv_nsec));
    MPI_Finalize();
    return 0;
}
