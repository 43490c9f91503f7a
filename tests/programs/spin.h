/* Work of a known length, by the thread's processor clock. */
#pragma once

#include <stdint.h>
#include <time.h>

static int64_t processor_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static volatile double sink;

/* A few microseconds of work between two readings of the clock, so that nearly all samples hit the function itself. Returns what it took. */
static inline __attribute__((always_inline)) int64_t work(int64_t ns) {
    const int64_t begin = processor_time();
    if (ns <= 0) return 0;
    int64_t now;
    do {
        double x = 1;
        for (int i = 0; i < 1500; ++i) x = x * 1.0000001 + 1e-9;
        sink = x;
        now = processor_time();
    } while (now - begin < ns);
    return now - begin;
}
