/* Threads that compute in tasks while they wait for others: task_waits untied ROUNDS | deep LEVELS. A thread executes untied tasks, parts of which others go on
 * with, or tasks inside each other's waits; then, in a region of its own, plain tasks in the wait at its end. Prints for both in ns how long
 * it took, and the processor time that each of the two threads spent in the work of tasks. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static long spent[2][2];

static long read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000l + now.tv_nsec;
}
static long cpu(void) { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
static void work(int region, long ns) {
    const long begin = cpu();
    while (cpu() - begin < ns) {}
    spent[region][omp_get_thread_num()] += cpu() - begin;
}

static void descend(int levels) {
    if (levels == 0) return work(0, 50000000);
#pragma omp task
    descend(levels - 1);
#pragma omp taskwait
}

static __attribute__((noinline)) void deep(int levels) {
#pragma omp parallel num_threads(2)
#pragma omp single
    for (int i = 0; i < 4; ++i) descend(levels);
}

static __attribute__((noinline)) void untied(int rounds) {
    for (int r = 0; r < rounds; ++r) {
#pragma omp parallel num_threads(2)
#pragma omp single
        for (int i = 0; i < 8; ++i) {
#pragma omp task untied
            {
                work(0, 100000);
#pragma omp taskyield
                work(0, 100000);
#pragma omp taskyield
                work(0, 100000);
            }
        }
    }
}

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const long begin = read_clock(CLOCK_MONOTONIC);
    if (strcmp(argv[1], "deep") == 0)
        deep(atoi(argv[2]));
    else
        untied(atoi(argv[2]));
    const long middle = read_clock(CLOCK_MONOTONIC);
#pragma omp parallel num_threads(2)
    {
        if (omp_get_thread_num() == 1) {
            for (int i = 0; i < 100; ++i) {
#pragma omp task
                work(1, 2000000);
            }
            work(1, 50000000);
        }
    }
    const long took[2] = {middle - begin, read_clock(CLOCK_MONOTONIC) - middle};
    for (int region = 0; region < 2; ++region) printf("%ld %ld %ld\n", took[region], spent[region][0], spent[region][1]);
    return 0;
}
