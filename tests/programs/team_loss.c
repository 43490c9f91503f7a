/* Loses a known part of its time because threads of a team wait for each other. Usage: team_loss KIND ROUNDS
 * In each round two threads work for 1.2 ms each, by their processor clock:
 *   critical   0.9 ms of it in a critical section
 *   single     and one of them works 0.8 ms more in a single construct, whichever comes first
 *   turns      one works 0.8 ms longer than that, the other 0.8 ms less: in even rounds thread 0, in odd rounds thread 1
 *   unequal    thread 1 works 0.6 ms longer, thread 0 0.6 ms less
 * KIND_removed is the same work without the cause: no critical section, and equal parts.
 * Prints the time of the rounds in ms. */
#include "spin.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static __attribute__((noinline)) void locked(int rounds) {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(2)
        for (int part = 0; part < 6; ++part) {
            work(50000);
#pragma omp critical
            work(150000);
        }
    }
}

static __attribute__((noinline)) void unlocked(int rounds) {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(2)
        for (int part = 0; part < 6; ++part) {
            work(50000);
            work(150000);
        }
    }
}

/* `own` in thread 0, `other` in thread 1; `in_turn`: exchanged in every other round. */
static __attribute__((noinline)) void shared(int rounds, int64_t own, int64_t other, int in_turn) {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(2)
    work((omp_get_thread_num() == 0) != (in_turn && i % 2) ? own : other);
    }
}

static __attribute__((noinline)) void singles(int rounds) {
    for (int i = 0; i < rounds; ++i) {
#pragma omp parallel num_threads(2)
        {
            work(1200000);
#pragma omp barrier
#pragma omp single
            work(800000);
        }
    }
}

int main(int argc, char** argv) {
    const char* kind = argc > 1 ? argv[1] : "critical";
    const int rounds = argc > 2 ? atoi(argv[2]) : 1000;
#define IS(name) (strcmp(kind, name) == 0)
    shared(1, 1000, 1000, 0); /* makes the team */
    const double begin = now_ms();
    if (IS("critical")) locked(rounds);
    if (IS("critical_removed")) unlocked(rounds);
    if (IS("single")) singles(rounds);
    if (IS("single_removed")) shared(rounds, 1600000, 1600000, 0);
    if (IS("turns")) shared(rounds, 2000000, 400000, 1);
    if (IS("turns_removed") || IS("unequal_removed")) shared(rounds, 1200000, 1200000, 0);
    if (IS("unequal")) shared(rounds, 600000, 1800000, 0);
    printf("%.1f\n", now_ms() - begin);
    return 0;
}
