/* Measures tasks of OpenMP in ns, as the smallest mean of a batch and as the median: empty tasks that are made and executed by one thread, with a wait for
 * every 32; the same with two dependences each; undeferred ones; a taskloop's. benchmarks/run compares them with and without libprofile, and with a trace of
 * events. The team has a second thread, since LLVM's runtime defers no task for a team of one; it sleeps, and takes none. Usage: openmp_tasks [BATCHES] */
#include "batches.h"

#include <omp.h>
#include <stdio.h>
#include <unistd.h>

enum { per_batch = 32, most_batches = 100000 };
static double taken[most_batches];

static void print(const char* what, int batches) {
    sort_times(taken, batches);
    printf("%-32s %10.1f %10.1f\n", what, taken[0], taken[batches / 2]);
}

static void deferred(void) {
    for (int i = 0; i < per_batch; ++i) {
#pragma omp task
        __asm__ volatile("" ::: "memory");
    }
#pragma omp taskwait
}

static void dependent(void) {
    static double values[per_batch + 1];
    for (int i = 0; i < per_batch; ++i) {
#pragma omp task depend(in : values[i]) depend(out : values[i + 1])
        __asm__ volatile("" ::"r"(values) : "memory");
    }
#pragma omp taskwait
}

static void undeferred(void) {
    for (int i = 0; i < per_batch; ++i) {
#pragma omp task if (0)
        __asm__ volatile("" ::: "memory");
    }
}

static void loop(void) {
#pragma omp taskloop grainsize(1)
    for (int i = 0; i < per_batch; ++i) __asm__ volatile("" ::: "memory");
}

static void measure(const char* what, void (*pass)(void), int batches) {
    int is_over = 0;
#pragma omp parallel num_threads(2) shared(is_over)
    {
        for (int b = 0; omp_get_thread_num() == 0 && b < batches; ++b) {
            const double begin = now();
            pass();
            taken[b] = (now() - begin) / per_batch;
        }
        if (omp_get_thread_num() == 0) __atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
        while (__atomic_load_n(&is_over, __ATOMIC_ACQUIRE) == 0) usleep(1000);
    }
    print(what, batches);
}

int main(int argc, char** argv) {
    int batches = argc > 1 ? atoi(argv[1]) : 2000;
    if (batches < 1 || batches > most_batches) batches = 2000;
    printf("%-32s %10s %10s\n", "ns per task", "smallest", "median");
    measure("task", deferred, batches);
    measure("task with two dependences", dependent, batches);
    measure("undeferred task", undeferred, batches);
    measure("task of a taskloop", loop, batches);
    return 0;
}
