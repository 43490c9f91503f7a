/* Measures OpenMP constructs in ns, as the smallest mean of a batch and as the median: empty parallel regions of 1 and of 2 threads, barriers,
 * and critical sections without contention. After the EPCC OpenMP micro-benchmarks (Bull, EWOMP 1999). benchmarks/run compares it with and
 * without libprofile. Usage: openmp_regions [BATCHES] */
#include "batches.h"

#include <omp.h>
#include <stdio.h>

enum { per_batch = 50, most_batches = 100000 };
static double taken[most_batches];

static void print(const char* what, int batches) {
    sort_times(taken, batches);
    printf("%-32s %10.1f %10.1f\n", what, taken[0], taken[batches / 2]);
}

static void regions(const char* what, int threads, int batches) {
    for (int b = 0; b < batches; ++b) {
        const double begin = omp_get_wtime();
        for (int i = 0; i < per_batch; ++i) {
#pragma omp parallel num_threads(threads)
            __asm__ volatile("" ::: "memory");
        }
        taken[b] = (omp_get_wtime() - begin) / per_batch * 1e9;
    }
    print(what, batches);
}

static void barriers(int threads, int batches) {
#pragma omp parallel num_threads(threads)
    for (int b = 0; b < batches; ++b) {
        const double begin = omp_get_wtime();
        for (int i = 0; i < per_batch; ++i) {
#pragma omp barrier
        }
        if (omp_get_thread_num() == 0) taken[b] = (omp_get_wtime() - begin) / per_batch * 1e9;
    }
    print(threads == 1 ? "barrier, 1 thread" : "barrier, 2 threads", batches);
}

static void criticals(int batches) {
    for (int b = 0; b < batches; ++b) {
        const double begin = omp_get_wtime();
        for (int i = 0; i < per_batch; ++i) {
#pragma omp critical
            __asm__ volatile("" ::: "memory");
        }
        taken[b] = (omp_get_wtime() - begin) / per_batch * 1e9;
    }
    print("critical section", batches);
}

int main(int argc, char** argv) {
    int batches = argc > 1 ? atoi(argv[1]) : 200;
    if (batches < 1 || batches > most_batches) batches = 200;
    printf("%-32s %10s %10s\n", "ns per construct", "smallest", "median");
    regions("parallel region, 1 thread", 1, batches);
    regions("parallel region, 2 threads", 2, batches);
    barriers(1, batches);
    barriers(2, batches);
    criticals(batches);
    return 0;
}
