/* What the operating system counts, in numbers that are known.

   counters faults ITERATIONS PAGES     iteration i touches PAGES * (1 + i % 4) fresh pages, then meets the others in a barrier
   counters sleeps ITERATIONS N         iteration i sleeps N * (1 + i % 4) times 1 ms: as many voluntary context switches
   counters threads ITERATIONS PAGES    the same pages by a second thread, which is still there at MPI_Finalize
   counters waits ITERATIONS N          rank 0 sleeps N ms before each barrier, the others wait in it
   counters shares ITERATIONS N         rank 0 computes N ms before each barrier, the others wait in it; for ranks on one processor
   counters dies ITERATIONS PAGES       as faults; then kills itself
   counters unmarked ITERATIONS PAGES   as faults, without markers
   Prints what getrusage says of the loop, per rank: "rank R minor M voluntary V". */
#define _GNU_SOURCE
#include <libprofile.h>

#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static volatile double sink;

static void compute(double ms) {
    struct timespec start, now;
    clock_gettime(CLOCK_MONOTONIC, &start);
    do {
        for (int i = 0; i < 1000; ++i) sink += i;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((double)(now.tv_sec - start.tv_sec) * 1e3 + (double)(now.tv_nsec - start.tv_nsec) / 1e6 < ms);
}

static void __attribute__((noinline)) touch(long pages) {
    const size_t bytes = (size_t)pages * 4096;
    char* memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(3);
    madvise(memory, bytes, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
    munmap(memory, bytes);
}

static void nap(long ms) {
    const struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static long wanted;
static sem_t go, done;
static void* work(void* unused) {
    for (;;) {
        while (sem_wait(&go) != 0) {
        }
        touch(wanted);
        sem_post(&done);
    }
    return unused;
}

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    const char* mode = argv[1];
    const int iterations = atoi(argv[2]);
    const long n = atol(argv[3]);
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pthread_t thread;
    if (strcmp(mode, "threads") == 0) {
        sem_init(&go, 0, 0);
        sem_init(&done, 0, 0);
        pthread_create(&thread, NULL, work, NULL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    struct rusage before, after;
    getrusage(RUSAGE_THREAD, &before);
    for (int i = 0; i < iterations; ++i) {
        if (strcmp(mode, "unmarked") != 0) profile_iteration_begin("step");
        if (strcmp(mode, "faults") == 0 || strcmp(mode, "unmarked") == 0 || strcmp(mode, "dies") == 0) {
            touch(n * (1 + i % 4));
            compute(0.2);
        } else if (strcmp(mode, "sleeps") == 0) {
            for (long k = 0; k < n * (1 + i % 4); ++k) nap(1);
        } else if (strcmp(mode, "threads") == 0) {
            wanted = n * (1 + i % 4);
            sem_post(&go);
            while (sem_wait(&done) != 0) {
            }
        } else if (rank == 0 && strcmp(mode, "shares") == 0) {
            compute((double)n);
        } else if (rank == 0) {
            nap(n);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (strcmp(mode, "unmarked") != 0) profile_iteration_end("step");
    }
    if (strcmp(mode, "dies") == 0) kill(getpid(), SIGKILL);
    getrusage(RUSAGE_THREAD, &after);
    printf("rank %d minor %ld voluntary %ld\n", rank, after.ru_minflt - before.ru_minflt, after.ru_nvcsw - before.ru_nvcsw);
    MPI_Finalize();
    return 0;
}
