/* mortal MODE RANK ITERATIONS FOLDER: a loop of marked iterations that is killed. Each iteration that it has closed is a line
 * in FOLDER/log.<rank>, written by one write(2), with what it did in numbers counted by hand: visits of MPI functions, then sends, bytes sent,
 * receives, bytes received, collective exchanges, bytes out and in. RANK dies (all ranks when it is -1) after ITERATIONS of them, by MODE.
 * MODE quick: thousands of iterations a second. MODE wide: these also send messages from 16,384 call paths, different
 * ones in each iteration, until RANK kills itself.
 * MODE changing: its call paths, phases and loops change all the time: between the iterations it goes through new call paths, new
 * phases and new loops, whose passes are lines in FOLDER/more.<rank>: loop, pass, visits. MODE found: the same without markers, but
 * after every ITERATIONS passes the loop changes; lines of FOLDER/more.<rank> are: loop, pass.
 * MODE full: RANK fills the file system with FOLDER/all/fill, then all end well.
 * MODE handler: like quick; its handler of SIGTERM calls exit(6). MODE unmarked: the same without markers. Its loop runs for a minute, so that signals from outside hit it. */
#define _GNU_SOURCE
#include <mpi.h>

#include <libprofile.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 4096 };
static int rank, ranks, log_file = -1, more_file = -1, marked = 1, is_wide = 0, is_changing = 0;
static char out[MOST], in[MOST];
static struct {
    long visits, sends, sent, receives, received, exchanges, bytes_out, bytes_in;
} now;

static void check(int good) {
    if (!good)
        MPI_Abort(MPI_COMM_WORLD, 99);
}

static void write_to(int file, const char* line) {
    check(write(file, line, strlen(line)) == (ssize_t)strlen(line));
}
static void write_line(const char* line) { write_to(log_file, line); }

static int open_log(const char* folder, const char* name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s.%d", folder, name, rank);
    const int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    check(file >= 0);
    return file;
}

/* To itself: waits for nobody. */
static void to_itself(int bytes) {
    MPI_Sendrecv(out, bytes, MPI_CHAR, rank, 1, in, bytes, MPI_CHAR, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ++now.visits;
    ++now.sends;
    now.sent += bytes;
    ++now.receives;
    now.received += bytes;
}

static void with_all(int bytes) {
    MPI_Allreduce(out, in, bytes, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    ++now.visits;
    ++now.exchanges;
    now.bytes_out += bytes;
    now.bytes_in += bytes;
}

/* The same message from another place in the program: call paths that appear late. */
__attribute__((noinline)) static void rarely(int bytes) {
    to_itself(bytes);
    __asm__ volatile("" ::: "memory");
}

/* From the place in the program that `bits` names. */
__attribute__((noinline)) static void wide(int bytes, unsigned bits, int depth) {
    if (depth == 0)
        to_itself(bytes);
    else if (bits & 1)
        wide(bytes, bits >> 1, depth - 1);
    else {
        wide(bytes, bits >> 1, depth - 1);
        __asm__ volatile("nop"); /* or the compiler makes one call of the two */
    }
    __asm__ volatile("" ::: "memory");
}

/* Between two iterations: three passes of a loop that was never there. */
static void new_loop(long number) {
    char name[64], line[200];
    snprintf(name, sizeof name, "solve %ld", number);
    for (int pass = 0; pass < 3; ++pass) {
        memset(&now, 0, sizeof now);
        profile_iteration_begin(name);
        for (int k = 0; k <= pass; ++k)
            wide(7, (unsigned)(number * 61 + pass), 14);
        profile_iteration_end(name);
        snprintf(line, sizeof line, "%s %d %ld\n", name, pass, now.visits);
        write_to(more_file, line);
    }
}

static void new_phase(const char* what, long number, int calls) {
    char name[64];
    snprintf(name, sizeof name, "%s %ld", what, number);
    profile_phase_begin(name);
    for (int k = 0; k < calls; ++k)
        wide(5, (unsigned)(number * 41), 14);
    profile_phase_end(name);
}

/* There are 1,000 phases at most. */
static void change(long i) {
    wide(3, (unsigned)(i * 53), 14);
    if (i % 5 == 2 && i < 1500)
        new_phase("output", i / 5, 2);
    if (i % 7 == 3 && i < 1500)
        new_loop(i / 7);
}

static void iteration(long i, int quick) {
    if (is_changing)
        change(i);
    memset(&now, 0, sizeof now);
    if (marked)
        profile_iteration_begin("step");
    for (int k = 0; k < is_wide * (1 + (int)(i % 37)); ++k)
        wide(1 + k, (unsigned)(i * 97 + k * 31), 14);
    for (int k = 0; k < 1 + (int)(i % 3); ++k)
        to_itself(1 + (int)((i * 7919) % 1000));
    if (i % 50 == 49)
        rarely(11);
    if (is_changing) {
        wide(9, (unsigned)(i * 17), 14);
        if (i % 11 == 4 && i < 1500)
            new_phase("part", i / 11, 0);
    }
    if (marked) {
        profile_phase_begin("inner");
        profile_phase_end("inner");
    }
    if (!quick) {
        if (i % 4 == 0)
            with_all(1 + (int)(i % 100));
        usleep(10000);
    }
    if (marked)
        profile_iteration_end("step");
    char line[200];
    snprintf(line, sizeof line, "%ld %ld %ld %ld %ld %ld %ld %ld %ld\n", i, now.visits, now.sends, now.sent, now.receives, now.received,
             now.exchanges, now.bytes_out, now.bytes_in);
    write_line(line);
}

/* Passes that nobody marks, from places that change. */
static void pass_of(int loop, long i) {
    with_all(1 + (int)(i % 100));
    wide(5, (unsigned)(i / 20 * 29), 14);
    to_itself(1);
    usleep(10000);
    char line[64];
    snprintf(line, sizeof line, "%d %ld\n", loop, i);
    write_to(more_file, line);
}

__attribute__((noinline)) static void relax(int loop, long passes) {
    for (long i = 0; i < passes; ++i)
        pass_of(loop, i);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void advance(int loop, long passes) {
    for (long i = 0; i < passes; ++i)
        pass_of(loop, i);
    to_itself(2);
}

static int never_returns(MPI_Comm comm, int key, void* value, void* state) {
    (void)comm, (void)key, (void)value, (void)state;
    for (;;)
        pause();
    return MPI_SUCCESS;
}

/* A child with the parent's memory: what it marks is its own affair. */
static void children(void) {
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 10; ++i) {
            profile_iteration_begin("step");
            profile_iteration_end("step");
        }
        exit(3);
    }
    int status = 0;
    check(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

static void out_of_memory(void) {
    const struct rlimit limit = {64 << 20, 64 << 20}; /* less than what is mapped already */
    setrlimit(RLIMIT_AS, &limit);
    for (int i = 0; i < 10; ++i) /* goes on for a while */
        iteration(-1 - i, 1);
    for (;;) {
        volatile char* memory = malloc(1 << 20);
        if (memory == NULL)
            abort();
        memory[0] = 1;
    }
}

static void fill(const char* folder) {
    char name[256];
    snprintf(name, sizeof name, "%s/all/fill", folder);
    const int file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    check(file >= 0);
    while (write(file, out, sizeof out) > 0)
        ;
    close(file);
}

static void die(const char* mode) {
#define IS(name) (strcmp(mode, name) == 0)
    if (IS("abort"))
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (IS("error"))
        MPI_Send(out, 1, MPI_CHAR, ranks + 3, 0, MPI_COMM_WORLD);
    if (IS("exit"))
        exit(7);
    if (IS("_exit"))
        _exit(8);
    if (IS("segv"))
        *(volatile int*)8 = 0;
    if (IS("kill") || IS("wide"))
        raise(SIGKILL);
    if (IS("oom"))
        out_of_memory();
    if (IS("fork"))
        children();
}

static void leave(int number) {
    if (gettid() == getpid())
        exit(6);
    tgkill(getpid(), getpid(), number); /* MPI has threads; while one of them exits, main would go on */
}

int main(int argc, char** argv) {
    if (argc < 5)
        return 2;
    const char* mode = argv[1];
    const int chosen = atoi(argv[2]);
    const long most = atol(argv[3]);
    is_wide = IS("wide");
    if (IS("handler"))
        signal(SIGTERM, leave);
    const int quick = IS("quick") || IS("handler") || is_wide;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int dies = chosen < 0 || chosen == rank;
    char line[64];
    log_file = open_log(argv[4], "log");
    is_changing = IS("changing");
    if (is_changing || IS("found"))
        more_file = open_log(argv[4], "more");
    snprintf(line, sizeof line, "pid %d\n", (int)getpid());
    write_line(line);
    int key = 0;
    if (IS("hang")) {
        MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, never_returns, &key, NULL);
        MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL);
    }
    if (IS("found")) {
        relax(0, most);
        advance(1, most);
        MPI_Finalize();
        return 0;
    }
    struct timespec begin, t;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    marked = !IS("unmarked");
    const int outside = IS("outside") || is_changing || IS("quick") || IS("handler") || !marked;
    for (long i = 0;; ++i) {
        clock_gettime(CLOCK_MONOTONIC, &t);
        if (t.tv_sec - begin.tv_sec > 60)
            break;
        if (!outside && i == most) {
            if (dies)
                die(mode);
            if (IS("full")) {
                if (dies)
                    fill(argv[4]);
                MPI_Barrier(MPI_COMM_WORLD);
            }
            if (IS("hang") || IS("full"))
                break;
        }
        if (IS("fork") && dies && i == most + 10)
            raise(SIGKILL);
        iteration(i, quick);
    }
    MPI_Finalize();
    return 0;
}
