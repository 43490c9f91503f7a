/* Events that the operating system counts, in known numbers.

   counters faults ITERATIONS PAGES     iteration i touches PAGES * (1 + i % 4) fresh pages, then meets the others in a barrier
   counters sleeps ITERATIONS N         iteration i sleeps N * (1 + i % 4) times 1 ms: as many voluntary context switches
   counters threads ITERATIONS PAGES    the same pages by a second thread, which is still there at MPI_Finalize
   counters waits ITERATIONS N          rank 0 sleeps N ms before each barrier, the others wait in it
   counters shares ITERATIONS N         rank 0 computes N ms before each barrier, the others wait in it; for ranks on one processor
   counters dies ITERATIONS PAGES       as faults; then kills itself
   counters unmarked ITERATIONS PAGES   as faults, without markers
   counters regions ITERATIONS PAGES    regions: "whole" around the loop; in iteration i "outer", in that "touch", which touches
                                        PAGES * (1 + i % 4) fresh pages, "still", which touches none, and "again", which is entered inside
                                        of itself, touches PAGES; between them PAGES by nobody's region but "outer", and PAGES while recording is off.
                                        A second thread does the same in iterations of its own, with twice the pages
   counters open ITERATIONS PAGES       as unmarked, with 2 ms of work a pass, all in the region "whole"
   counters paths ITERATIONS N          iteration i calls MPI from N + i % 4 call paths, then enters the region "meeting", which is a barrier that rank 1
                                        waits in. Prints what getrusage says of that region: "rank R minor M in the region"
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

static void regions(const char* name, int iterations, long pages, int is_main) {
    touch(8); // what the stack and the memory of others need once
    profile_region_begin("whole");
    for (int i = 0; i < iterations; ++i) {
        profile_iteration_begin(name);
        profile_region_begin("outer");
        profile_region_begin("touch");
        touch(pages * (1 + i % 4));
        profile_region_end("touch");
        profile_region_begin("still");
        compute(0.2);
        profile_region_end("still");
        touch(pages);
        for (int depth = 0; depth < 3; ++depth) profile_region_begin("again");
        touch(pages);
        for (int depth = 0; depth < 3; ++depth) profile_region_end("again");
        profile_region_end("outer");
        if (is_main) {
            MPI_Pcontrol(0);
            touch(pages);
            MPI_Pcontrol(1);
            MPI_Barrier(MPI_COMM_WORLD);
        }
        profile_iteration_end(name);
    }
    profile_region_end("whole");
}

static long __attribute__((noinline, noclone)) call_from(long depth) {
    int size;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return depth > 1 ? call_from(depth - 1) + size : size;
}

static long faults(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

static void paths(int iterations, long n, int rank) {
    long inside = 0;
    for (int i = 0; i < iterations; ++i) {
        profile_iteration_begin("step");
        sink += (double)call_from(n + i % 4);
        if (rank == 0) usleep(600);
        profile_region_begin("meeting");
        const long before = faults();
        MPI_Barrier(MPI_COMM_WORLD);
        inside += faults() - before;
        profile_region_end("meeting");
        profile_iteration_end("step");
    }
    printf("rank %d minor %ld in the region\n", rank, inside);
}

static void __attribute__((noinline)) in_open_region(int iterations, long pages) {
    profile_region_begin("whole");
    for (int i = 0; i < iterations; ++i) {
        touch(pages);
        compute(2);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    profile_region_end("whole");
}

static int region_iterations;
static void* other_regions(void* pages) {
    regions("other", region_iterations, *(long*)pages, 0);
    return NULL;
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
    if (strcmp(mode, "regions") == 0) {
        long twice = 2 * n;
        region_iterations = iterations;
        regions("step", iterations, n, 1);
        if (pthread_create(&thread, NULL, other_regions, &twice) != 0 || pthread_join(thread, NULL) != 0) return 4;
        MPI_Finalize();
        return 0;
    }
    if (strcmp(mode, "open") == 0) {
        in_open_region(iterations, n);
        MPI_Finalize();
        return 0;
    }
    if (strcmp(mode, "paths") == 0) {
        paths(iterations, n, rank);
        MPI_Finalize();
        return 0;
    }
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
