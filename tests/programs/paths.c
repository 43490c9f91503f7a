/* paths ITERATIONS PATHS same|apart|part|none: MPI calls on many call paths, the same or different ones on all ranks ("part": different ones
 * on every second rank, "none": no calls except Init and Finalize). Ranks meet only at the end. Each prints the elapsed and the processor
 * time of MPI_Finalize, and its largest memory before and after. */
#include <mpi.h>

#include <libprofile.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { depth = 12 };

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static void call_mpi(void) {
    int sent = 1, received = 0;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request);
    MPI_Send(&sent, 1, MPI_INT, 0, 0, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* The path is three bits per level. */
static int dive(uint64_t path, int level);
#define WAY(n)                                                                                                                       \
    static __attribute__((noinline)) int way_##n(uint64_t path, int level) { return dive(path >> 3, level + 1) + n + level; }
WAY(0) WAY(1) WAY(2) WAY(3) WAY(4) WAY(5) WAY(6) WAY(7)
static int (*const ways[])(uint64_t, int) = {way_0, way_1, way_2, way_3, way_4, way_5, way_6, way_7};
static __attribute__((noinline)) int dive(uint64_t path, int level) {
    if (level < depth) return ways[path & 7](path, level) + 1;
    call_mpi();
    return level;
}

static long memory_kib(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
}

static double now(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    int rank, ranks, sum = 0;
    const int iterations = argc > 1 ? atoi(argv[1]) : 100;
    const uint64_t paths = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;
    const char* mode = argc > 3 ? argv[3] : "same";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int own = strcmp(mode, "apart") == 0 || (strcmp(mode, "part") == 0 && rank % 2 == 1);
    const int calls = strcmp(mode, "none") != 0;
    for (int i = 0; calls && i < iterations; ++i) {
        profile_iteration_begin("step");
        sum += dive(mix((uint64_t)i % paths + (own ? (uint64_t)(rank + 1) * paths : 0)), 0);
        profile_iteration_end("step");
    }
    if (calls) MPI_Barrier(MPI_COMM_WORLD);
    const long before = memory_kib();
    const double begin = now(CLOCK_MONOTONIC), cpu = now(CLOCK_PROCESS_CPUTIME_ID);
    MPI_Finalize();
    printf("rank %d of %d: finalize %.6f s, of the processor %.6f s, memory %ld KiB before, %ld KiB after, %d\n", rank, ranks,
           now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID) - cpu, before, memory_kib(), sum & 1);
    return 0;
}
