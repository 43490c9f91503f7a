/* Loses a known part of its time for a known cause. Usage: lost_time CAUSE PERCENT ITERATIONS [delays]
 * An iteration computes about 2 ms of processor time in assemble(), solve() and update(), exchanges messages with the neighbours and ends with an
 * MPI_Allreduce. CAUSE adds PERCENT of the computing time of all iterations together:
 *   none               nothing
 *   steady             rank 1, refine(), always
 *   range              rank 1, refine(), in the fifth and the sixth tenth of the iterations
 *   ramp               rank 1, refine(), more and more
 *   moving             rank (i * 7 / 3) % ranks in iteration i, refine()
 *   two                as range, and the last rank, limit(), every 10th iteration
 *   serial             nothing, but ranks compute one after another
 *   late_sender        nothing, but rank 0 sends after its work, and others receive before theirs
 *   late_root          rank 0, prepare(), before it broadcasts
 *   idle_root          the same, but rank 0 has a little more than that less to compute afterwards: the others wait first, then it waits, in two calls
 *   slow               rank 1, all three functions
 *   pack               rank 1, pack_halo(), which calls MPI_Pack again and again
 *   operation          rank 1, in the program's own operation of MPI_Allreduce, which meet() calls
 *   noise              single iterations of single ranks, anywhere in the three functions
 *   growth             all ranks, refine(), more and more
 *   growth_counts      the same, and messages become as much larger
 *   periodic           all ranks, refine(), every 20th iteration
 *   warm_up            all ranks, refine(), the first 20th of the iterations
 *   io                 rank 0 writes a file and waits for the disk, every 25th iteration
 *   io_all             all ranks do so
 *   sync               rank 0 writes a file of this folder and sleeps until it is on the disk (fsync), every 25th iteration
 *   gather             rank 0 works on what the others send it, in collect(), every 25th iteration; PERCENT is what it would save if each did its own
 *   sleep              rank 1 sleeps in each iteration
 *   messages           nothing, but messages have PERCENT times 100 KiB, which all ranks send at the same time
 *   volume             the neighbours' messages, in the second half of the iterations
 *   transfer           nothing, but ranks of odd number get PERCENT MiB from the rank before; nobody waits for anything else
 *   itself             nothing, but the last rank sends PERCENT MiB to itself
 * Prints the time of the loop in ms. `delays` adds a line: for how many ms each rank had no processor when it was to compute,
 * as the kernel counts. */
#include "neighbours.h"
#include "spin.h"

#include <fcntl.h>
#include <libprofile.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static __attribute__((noinline)) void assemble(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void solve(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void update(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void refine(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void limit(double ns) { work((int64_t)ns); }
static __attribute__((noinline)) void prepare(double ns) { work((int64_t)ns); }

static __attribute__((noinline)) void collect(double ns) { work((int64_t)ns); }

static __attribute__((noinline)) void write_results(double ns) {
    static char block[4096];
    struct timespec at, now;
    clock_gettime(CLOCK_MONOTONIC, &at);
    FILE* file = tmpfile();
    do { /* for so long */
        if (file != NULL) {
            fwrite(block, 1, sizeof block, file);
            fflush(file);
            if (ftell(file) > 4 << 20) rewind(file);
        }
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while ((now.tv_sec - at.tv_sec) * 1e9 + (double)(now.tv_nsec - at.tv_nsec) < ns);
    if (file != NULL) fclose(file);
}

static double wall_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

static __attribute__((noinline)) void write_to_disk(double ns) {
    static char block[1 << 16];
    const double begin = wall_ns();
    const int file = open("on_disk", O_CREAT | O_WRONLY | O_TRUNC, 0600);
    do { /* for so long */
        if (pwrite(file, block, sizeof block, 0) != sizeof block || fsync(file) != 0) break;
    } while (wall_ns() - begin < ns);
    close(file);
}

static uint64_t state = 88172645463325252u; /* the same on all ranks */

static uint64_t next(void) { /* Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003) */
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static int rank, ranks;

static int scheduled = -1; /* the kernel's counts, if wanted */

static double delay_ns(void) { /* since this process began; Documentation/scheduler/sched-stats.rst */
    char text[96];
    double running = 0, waiting = 0;
    const ssize_t length = scheduled < 0 ? 0 : pread(scheduled, text, sizeof text - 1, 0);
    if (length <= 0) return 0;
    text[length] = 0;
    return sscanf(text, "%lf %lf", &running, &waiting) == 2 ? waiting : 0;
}

static void print_delays(double ms) {
    double* all = malloc(sizeof(double) * (size_t)ranks);
    MPI_Gather(&ms, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    for (int r = 0; rank == 0 && r < ranks; ++r) printf("%.1f%c", all[r], r + 1 < ranks ? ' ' : '\n');
    free(all);
}

static double operation_ns;

static void sum_slowly(void* in, void* inout, int* count, MPI_Datatype* type) {
    (void)type;
    for (int i = 0; i < *count; ++i) ((double*)inout)[i] += ((double*)in)[i];
    work((int64_t)operation_ns);
}

static __attribute__((noinline)) void meet(MPI_Op op) {
    double mine = 1, sum;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, op, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void pack_halo(double ns) {
    static char in[1 << 15], out[1 << 16];
    const int64_t begin = processor_time();
    while (processor_time() - begin < ns) {
        int place = 0;
        MPI_Pack(in, sizeof in, MPI_CHAR, out, sizeof out, &place, MPI_COMM_WORLD);
    }
}

static void compute(double ns, double factor) {
    assemble(0.2 * ns * factor);
    solve(0.5 * ns * factor);
    update(0.3 * ns * factor);
}

/* From one rank to another, which both are there, or to itself. */
static __attribute__((noinline)) void transfer(int bytes, int to_itself) {
    static char *out, *in;
    if (out == NULL) out = calloc(1, (size_t)bytes), in = calloc(1, (size_t)bytes);
    if (to_itself) {
        MPI_Request request;
        MPI_Irecv(in, bytes, MPI_CHAR, rank, 3, MPI_COMM_WORLD, &request);
        MPI_Send(out, bytes, MPI_CHAR, rank, 3, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else if (rank % 2 != 0) {
        MPI_Recv(in, bytes, MPI_CHAR, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (rank + 1 < ranks) {
        MPI_Send(out, bytes, MPI_CHAR, rank + 1, 3, MPI_COMM_WORLD);
    }
}

/* How many bytes take the neighbours so long, the same on all ranks. */
static int bytes_that_take(double ns) {
    for (double bytes = 4096;; bytes *= 1.2) {
        double least = 1e9;
        for (int k = 0; k < 9; ++k) {
            MPI_Barrier(MPI_COMM_WORLD);
            const double begin = MPI_Wtime();
            exchange((int)bytes, rank, ranks);
            const double taken = MPI_Wtime() - begin;
            if (taken < least) least = taken;
        }
        MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (least * 1e9 >= ns || bytes > 1 << 30) return (int)bytes;
    }
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const char* cause = argc > 1 ? argv[1] : "none";
    const double part = argc > 2 ? atof(argv[2]) / 100 : 0;
    const long n = argc > 3 ? atol(argv[3]) : 1000;
    const double ns = 2.17e6; /* of no simple ratio to the kernel's ticks (1, 4, 10 ms), on which samples fall: else all of them meet one function */
#define IS(name) (strcmp(cause, name) == 0)
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0); /* sleeps for as long as asked */
    MPI_Op op = MPI_SUM;
    if (IS("operation")) MPI_Op_create(sum_slowly, 1, &op);
    if (rank == 1) operation_ns = part * ns;
    MPI_Barrier(MPI_COMM_WORLD);
    double delayed = 0;
    const int more_bytes = IS("volume") ? bytes_that_take(part * ns * 2) : 0;
    if (argc > 4) scheduled = open("/proc/self/schedstat", O_RDONLY);
    const double begin = MPI_Wtime();
    for (long i = 0; i < n; ++i) {
        const int in_range = i >= n * 4 / 10 && i < n * 6 / 10;
        const uint64_t random = next();
        int bytes = 1024;
        double factor = 1;
        delayed -= delay_ns();
        profile_iteration_begin("step");
        if (IS("steady") && rank == 1) refine(part * ns);
        if ((IS("range") || IS("two")) && rank == 1 && in_range) refine(part * ns * 5);
        if (IS("two") && rank == ranks - 1 && i % 10 == 3) limit(part * ns * 10);
        if (IS("ramp") && rank == 1) refine(part * ns * 2 * (double)i / (double)n);
        if (IS("moving") && rank == i * 7 / 3 % ranks) refine(part * ns);
        if (IS("growth_counts")) bytes = (int)(1024 * (1 + 8 * (double)i / (double)n));
        if (IS("growth") || IS("growth_counts")) refine(part * ns * 2 * (double)i / (double)n);
        if (IS("periodic") && i % 20 == 7) refine(part * ns * 20);
        if (IS("warm_up") && i < n / 20) refine(part * ns * 20);
        if ((IS("io_all") || (IS("io") && rank == 0)) && i % 25 == 12) write_results(part * ns * 25);
        if (IS("sync") && rank == 0 && i % 25 == 12) write_to_disk(part * ns * 25);
        if (IS("sleep") && rank == 1) usleep((useconds_t)(part * ns / 1000));
        if (IS("pack") && rank == 1) pack_halo(part * ns);
        if (IS("slow") && rank == 1) factor = 1 + part;
        if (IS("noise") && random % 40 == 0 && rank == (int)(random / 64 % (uint64_t)ranks)) factor = 1 + part * 40;
        if (IS("volume") && i >= n / 2) bytes = more_bytes;
        if (IS("messages")) bytes = (int)(part * 100) * 100 * 1024;
        if (IS("late_root") || IS("idle_root")) {
            double value = 0;
            if (IS("idle_root") && rank == 0) factor = 1 - 1.2 * part;
            if (rank == 0) prepare(part * ns);
            MPI_Bcast(&value, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        }
        if (IS("serial")) {
            char token = 0;
            if (rank > 0) MPI_Recv(&token, 1, MPI_CHAR, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            compute(ns, 1);
            if (rank < ranks - 1) MPI_Send(&token, 1, MPI_CHAR, rank + 1, 1, MPI_COMM_WORLD);
        } else if (IS("late_sender")) {
            char message = 0;
            if (rank == 0) refine(part * ns);
            for (int other = 1; rank == 0 && other < ranks; ++other) MPI_Send(&message, 1, MPI_CHAR, other, 1, MPI_COMM_WORLD);
            if (rank > 0) MPI_Recv(&message, 1, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank > 0) refine(part * ns);
            compute(ns, 1);
        } else if (IS("idle_root")) {
            compute(ns / 2, factor);
            meet(op);
            compute(ns / 2, factor);
        } else {
            compute(ns, factor);
        }
        if (IS("transfer") || (IS("itself") && rank == ranks - 1)) transfer((int)(part * 100) << 20, IS("itself"));
        if (IS("gather") && i % 25 == 12 && ranks > 1) {
            enum { part_bytes = 1 << 20 };
            static char field[part_bytes];
            if (rank != 0) MPI_Send(field, part_bytes, MPI_CHAR, 0, 2, MPI_COMM_WORLD);
            for (int other = 1; rank == 0 && other < ranks; ++other)
                MPI_Recv(field, part_bytes, MPI_CHAR, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            if (rank == 0) collect(part * ns * 25 * ranks / (ranks - 1));
        }
        delayed += delay_ns();
        if (ranks > 1) exchange(bytes, rank, ranks);
        meet(op);
        profile_iteration_end("step");
    }
    if (rank == 0) printf("%.1f\n", (MPI_Wtime() - begin) * 1e3);
    if (argc > 4) print_delays(delayed / 1e6);
    MPI_Finalize();
    return 0;
}
