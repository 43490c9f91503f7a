/* Functions that know how much processor time they took. Usage: known_shares SECONDS LOG [SPREAD]
 * Two phases, of iterations of about 0.5 ms ("short") and of 20 ms ("long"), each half of the time. Iterations are of three kinds, in blocks: half
 * of them of the first kind, 30 % of the second, the last 20 % of the third. A kind has its own mix of functions and its own exchange with the
 * other rank. SPREAD: standard deviation of a function's time from iteration to iteration, in percent of the time; default 10. Each rank writes
 * LOG.RANK: for each iteration a line with the phase, the kind, and the time of each function in ns, from the thread's processor clock. */
#include "spin.h"

#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUNCTIONS = 5, KINDS = 3 };

static const double shares[KINDS][FUNCTIONS] = {{0.45, 0.3, 0.2, 0.05, 0}, {0.1, 0.15, 0.05, 0.6, 0.1}, {0.02, 0.9, 0, 0.05, 0.03}};
static const double lengths[KINDS] = {1, 1.5, 2};

static __attribute__((noinline)) int64_t alpha(int64_t ns) { return work(ns); }
static __attribute__((noinline)) int64_t beta(int64_t ns) { return work(ns); }
static __attribute__((noinline)) int64_t gamma_ray(int64_t ns) { return work(ns); }
static __attribute__((noinline)) int64_t delta(int64_t ns) { return work(ns); }
static __attribute__((noinline)) int64_t epsilon(int64_t ns) { return work(ns); }
static int64_t (*const functions[FUNCTIONS])(int64_t) = {alpha, beta, gamma_ray, delta, epsilon};

static uint64_t state;

/* Uniform in 0 .. 1: Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003). */
static double uniform(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (double)(state >> 11) / 9007199254740992.0;
}

/* Nearly normal: the sum of twelve. */
static double normal(void) {
    double sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
}

static void exchange(int kind) {
    static char out[64], in[64];
    for (int i = 0; i <= kind; ++i) MPI_Allreduce(out, in, 8, MPI_CHAR, MPI_BOR, MPI_COMM_SELF);
}

static void phase(const char* name, double seconds, double length, double spread, FILE* log) {
    const double mean = length * (0.5 * lengths[0] + 0.3 * lengths[1] + 0.2 * lengths[2]);
    const long iterations = (long)(seconds * 1e9 / mean);
    for (long i = 0; i < iterations; ++i) {
        const int kind = i < iterations * 0.5 ? 0 : i < iterations * 0.8 ? 1 : 2;
        int64_t took[FUNCTIONS];
        profile_iteration_begin(name);
        for (int f = 0; f < FUNCTIONS; ++f) took[f] = functions[f]((int64_t)(length * lengths[kind] * shares[kind][f] * (1 + spread * normal())));
        exchange(kind);
        profile_iteration_end(name);
        fprintf(log, "%s %d", name, kind);
        for (int f = 0; f < FUNCTIONS; ++f) fprintf(log, " %lld", (long long)took[f]);
        fprintf(log, "\n");
    }
}

int main(int argc, char** argv) {
    int rank;
    char path[4096];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3) return 2;
    const double seconds = atof(argv[1]), spread = argc > 3 ? atof(argv[3]) / 100 : 0.1;
    snprintf(path, sizeof path, "%s.%d", argv[2], rank);
    FILE* log = fopen(path, "w");
    if (log == NULL) return 2;
    state = (uint64_t)time(NULL) * 2654435761u + 88172645463325252u + (uint64_t)rank * 7919;
    phase("short", seconds / 2, 5e5, spread, log);
    phase("long", seconds / 2, 2e7, spread, log);
    fclose(log);
    MPI_Finalize();
    return 0;
}
