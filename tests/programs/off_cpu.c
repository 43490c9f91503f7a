/* Time off the processor in known functions: off_cpu LOG REPEATS [unmarked]
 *   nap       sleeps 50 ms and computes
 *   store     writes a file and waits until it is on the disk
 *   contend   wants a lock that another thread holds for 30 ms
 *   touch     takes new memory, page by page
 *   rest      only sleeps, called by pause_between(), which computes before and after
 * Each iteration calls all. Rank 0 writes to LOG for each function: its name, and in ns its wall time, the time it
 * did not run, and the part of that in calls that wait. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <libprofile.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define STEP 30 /* ms of computing between two waits: some samples of any clock */

static volatile double sink;
static long long waited; /* ns in calls that block, by this thread */

static long long ns_of(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

__attribute__((noinline)) static void compute(double ms) {
    const long long end = ns_of(CLOCK_THREAD_CPUTIME_ID) + (long long)(ms * 1e6);
    do
        for (int i = 0; i < 1000; ++i) sink += i;
    while (ns_of(CLOCK_THREAD_CPUTIME_ID) < end);
}

static void sleep_ms(long ms) {
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static void wait_ms(long ms) {
    const long long start = ns_of(CLOCK_MONOTONIC);
    sleep_ms(ms);
    waited += ns_of(CLOCK_MONOTONIC) - start;
}

__attribute__((noinline)) static void nap(void) {
    for (int i = 0; i < 3; ++i) {
        compute(STEP);
        wait_ms(50);
    }
    compute(STEP);
}

static int file;

__attribute__((noinline)) static void store(void) {
    static char block[1 << 20];
    for (int i = 0; i < 3; ++i) {
        compute(STEP);
        memset(block, i, sizeof block);
        for (int b = 0; b < 16; ++b)
            if (pwrite(file, block, sizeof block, b * (long)sizeof block) != sizeof block) exit(2);
        const long long start = ns_of(CLOCK_MONOTONIC), ran = ns_of(CLOCK_THREAD_CPUTIME_ID);
        if (fsync(file) != 0) exit(3);
        waited += ns_of(CLOCK_MONOTONIC) - start - (ns_of(CLOCK_THREAD_CPUTIME_ID) - ran);
    }
    compute(STEP);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int wanted, held, over;

static void* hold(void* unused) {
    while (!over) {
        if (!wanted) {
            sleep_ms(1);
            continue;
        }
        pthread_mutex_lock(&lock);
        held = 1;
        sleep_ms(30);
        wanted = 0;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

__attribute__((noinline)) static void contend(void) {
    for (int i = 0; i < 3; ++i) {
        compute(STEP);
        held = 0;
        wanted = 1;
        while (!held) compute(0.1);
        const long long start = ns_of(CLOCK_MONOTONIC);
        pthread_mutex_lock(&lock);
        waited += ns_of(CLOCK_MONOTONIC) - start;
        pthread_mutex_unlock(&lock);
    }
    compute(STEP);
}

__attribute__((noinline)) static void touch(void) {
    const size_t size = 128u << 20;
    char* memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) exit(4);
    madvise(memory, size, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < size; i += 4096) ((volatile char*)memory)[i] = 1;
    munmap(memory, size);
}

__attribute__((noinline)) static void rest(void) { wait_ms(50); }

__attribute__((noinline)) static void pause_between(void) {
    compute(STEP);
    rest();
    compute(STEP);
    sink += 1; /* no jump to compute() */
}

static struct function {
    const char* name;
    void (*run)(void);
    long long wall, off, waited;
} functions[] = {{"nap", nap, 0, 0, 0}, {"store", store, 0, 0, 0}, {"contend", contend, 0, 0, 0}, {"touch", touch, 0, 0, 0},
                 {"pause_between", pause_between, 0, 0, 0}};
enum { count = sizeof functions / sizeof *functions };

static void run(struct function* function) {
    const long long wall = ns_of(CLOCK_MONOTONIC), cpu = ns_of(CLOCK_THREAD_CPUTIME_ID);
    waited = 0;
    function->run();
    const long long ran = ns_of(CLOCK_THREAD_CPUTIME_ID) - cpu, passed = ns_of(CLOCK_MONOTONIC) - wall;
    function->wall += passed;
    function->off += passed - ran;
    function->waited += waited;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int is_marked = argc < 4;
    char name[64];
    snprintf(name, sizeof name, "off_cpu.%d.tmp", rank);
    file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0) return 1;
    unlink(name);
    pthread_t holder;
    pthread_create(&holder, NULL, hold, NULL);
    for (int i = 0; i < atoi(argv[2]); ++i) {
        if (is_marked) profile_iteration_begin("step");
        for (int f = 0; f < count; ++f) run(&functions[f]);
        int all = 0;
        MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (is_marked) profile_iteration_end("step");
    }
    over = 1;
    pthread_join(holder, NULL);
    if (rank == 0) {
        FILE* log = fopen(argv[1], "w");
        for (int f = 0; f < count; ++f) fprintf(log, "%s %lld %lld %lld\n", functions[f].name, functions[f].wall, functions[f].off, functions[f].waited);
        fclose(log);
    }
    MPI_Finalize();
    return 0;
}
