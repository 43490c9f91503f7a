/* Measures short pieces of code on a busy machine: the median of many short batches hides preemption by other processes. For the programs
 * of this folder; one thread. */
#pragma once

#include <stdlib.h>
#include <time.h>

enum { batch_count = 400 };

/* ns. */
static inline double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int by_size(const void* a, const void* b) {
    const double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

static inline void sort_times(double* times, int count) { qsort(times, (size_t)count, sizeof *times, by_size); }

/* The median of `batch_count` times in any order. */
static inline double median(double* times) {
    sort_times(times, batch_count);
    return times[batch_count / 2];
}

/* ns per call, the mean of one batch. */
static inline double batch(int calls, void (*call)(void)) {
    const double begin = now();
    for (int i = 0; i < calls; ++i) call();
    return (now() - begin) / calls;
}

/* ns per call, the median of all batches. */
static inline double median_of_batches(int calls, void (*call)(void)) {
    double times[batch_count];
    for (int i = 0; i < batch_count; ++i) times[i] = batch(calls, call);
    return median(times);
}
