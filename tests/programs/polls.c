/* Polls for messages in several ways. Prints how often, and where the time went by its own clock. Only rank 0 polls.
 *   tight: nothing but MPI_Iprobe, for a while      apart: MPI_Test with computing in between
 *   interrupted: the same, while a signal handler calls MPI every 50 us, at any place, also between two instructions of libprofile;
 *     less often where signals take so long that fewer than half of the polls are left
 *   mixed: MPI_Testany that occasionally finds a message from its own rank, at two call sites
 *   between: MPI_Test between pieces of work that use the stack, from one call site: those that find a message, too
 *   callers: MPI_Testany and MPI_Testsome from one call site in one frame, for three callers by chance, of which one is left by longjmp; prints a line of each
 *   copies: two ranks; MPI_Test of large messages, with computing in between: the test that finds a message copies it */
#include <mpi.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void compute(double seconds) {
    for (const double end = now() + seconds; now() < end;) {
    }
}

static long tight(double seconds) {
    long calls = 0;
    int flag = 0;
    for (const double end = now() + seconds; now() < end;)
        for (int i = 0; i < 1000; ++i, ++calls)
            MPI_Iprobe(MPI_ANY_SOURCE, 3, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return calls;
}

static void ask_rank(int signal) {
    int rank;
    (void)signal;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static long polls_with_a_signal_every(int us, double seconds) {
    const struct itimerval every = {{0, us}, {0, us}}, never = {{0, 0}, {0, 0}};
    signal(SIGALRM, ask_rank);
    setitimer(ITIMER_REAL, &every, NULL);
    const long calls = tight(seconds);
    setitimer(ITIMER_REAL, &never, NULL);
    return calls;
}

static long interrupted(double seconds) {
    const double trial = 0.05;
    const long alone = tight(trial);
    long calls = alone;
    int us = 50;
    for (; us < 10000; us *= 2) {
        const long left = polls_with_a_signal_every(us, trial);
        calls += left;
        if (2 * left >= alone) break;
    }
    return calls + polls_with_a_signal_every(us, seconds);
}

static double inside; /* seconds in MPI_Test */

static long apart(int times) {
    int flag = 0;
    double in = 0, out = 1;
    MPI_Request request;
    MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 4, MPI_COMM_SELF, &request);
    for (int i = 0; i < times; ++i) {
        const double begin = now();
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        inside += now() - begin;
        compute(0.001);
    }
    MPI_Send(&out, 1, MPI_DOUBLE, 0, 4, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return times;
}

static long mixed(int messages, long* found) {
    long calls = 0;
    for (int m = 0; m < messages; ++m) {
        MPI_Request requests[2];
        double in[2], out = m;
        int flag = 0, index;
        for (int r = 0; r < 2; ++r) MPI_Irecv(&in[r], 1, MPI_DOUBLE, 0, 5 + r, MPI_COMM_SELF, &requests[r]);
        for (int i = 0; i < m % 40; ++i, ++calls) {
            if (m % 2)
                MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
            else
                MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
        }
        for (int r = 0; r < 2; ++r) MPI_Send(&out, 1, MPI_DOUBLE, 0, 5 + r, MPI_COMM_SELF);
        for (int done = 0; done < 2; ++calls) {
            MPI_Testany(2, requests, &index, &flag, MPI_STATUS_IGNORE);
            if (flag && index != MPI_UNDEFINED) ++done, ++*found;
        }
    }
    return calls;
}

/* What it leaves on the stack looks like numbers, not like addresses. */
__attribute__((noinline)) static double piece_of_work(int n) {
    double line[64];
    for (int k = 0; k < 64; ++k) line[k] = n + k + 1.5;
    for (int k = 1; k < 64; ++k) line[k] += 0.5 * line[k - 1];
    double sum = 0;
    for (int k = 0; k < 64; ++k) sum += line[k];
    return sum;
}

static long between(int messages, long* found) {
    static volatile double sum;
    long calls = 0;
    for (int m = 0; m < messages; ++m) {
        double in, out = m;
        MPI_Request request;
        MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF, &request);
        for (int i = 0, flag = 0; !flag; ++i, ++calls) {
            sum += piece_of_work(i);
            if (i == m % 60) MPI_Send(&out, 1, MPI_DOUBLE, 0, 7, MPI_COMM_SELF);
            sum += piece_of_work(i);
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        }
        ++*found;
    }
    return calls;
}

enum { some_functions = 2, some_callers = 3 };
static MPI_Request never_done;
static long made[some_callers][some_functions];
static unsigned random_state = 1;

static unsigned random_below(unsigned n) {
    random_state = random_state * 1664525u + 1013904223u;
    return (unsigned)((unsigned long)(random_state >> 8) * n >> 24);
}

/* Computes first, longer than a period of 2,000 samples a second, so that samples hit in two activations that follow each other. */
__attribute__((noinline)) static void ask(int caller, jmp_buf* out) {
    int (*const polls[some_functions])(int, MPI_Request*, int*, int*, MPI_Status*) = {MPI_Testany, MPI_Testsome};
    compute(1e-6 * random_below(1500));
    for (unsigned block = random_below(4); block != 0; --block) {
        const unsigned function = random_below(some_functions), times = random_below(300);
        int a, b;
        for (unsigned i = 0; i < times; ++i) polls[function](1, &never_done, &a, &b, MPI_STATUSES_IGNORE);
        made[caller][function] += times;
    }
    if (out != NULL) longjmp(*out, 1);
}

static volatile int alive; /* written after the call, so that no caller ends in a jump */

__attribute__((noinline)) static void steady_caller(void) {
    ask(0, NULL);
    alive = 1;
}

__attribute__((noinline)) static void other_caller(void) { /* of the same frame */
    ask(1, NULL);
    alive = 2;
}

__attribute__((noinline)) static void jumping_caller(void) {
    jmp_buf out;
    if (setjmp(out) == 0) ask(2, &out);
    alive = 3;
}

static long callers(int turns) {
    void (*const some[some_callers])(void) = {steady_caller, other_caller, jumping_caller};
    const char* const names[some_callers] = {"steady_caller", "other_caller", "jumping_caller"};
    double in, out = 1;
    MPI_Irecv(&in, 1, MPI_DOUBLE, 0, 8, MPI_COMM_SELF, &never_done);
    for (int turn = 0; turn < turns; ++turn) some[random_below(some_callers)]();
    MPI_Send(&out, 1, MPI_DOUBLE, 0, 8, MPI_COMM_SELF);
    MPI_Wait(&never_done, MPI_STATUS_IGNORE);
    for (int i = 0; i < some_callers; ++i) printf("%s: %ld MPI_Testany, %ld MPI_Testsome\n", names[i], made[i][0], made[i][1]);
    return 0;
}

static long copies(int messages, long* found) {
    enum { size = 4 << 20 };
    static char buffer[size];
    int rank;
    long calls = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int m = 0; m < messages; ++m) {
        if (rank == 0) {
            MPI_Send(buffer, size, MPI_CHAR, 1, 6, MPI_COMM_WORLD);
            continue;
        }
        MPI_Request request;
        MPI_Irecv(buffer, size, MPI_CHAR, 0, 6, MPI_COMM_WORLD, &request);
        for (int flag = 0; !flag; ++calls) {
            compute(0.00002);
            const double begin = now();
            MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
            inside += now() - begin;
        }
        ++*found;
    }
    return calls;
}

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const char* mode = argc > 1 ? argv[1] : "tight";
    long calls = 0, found = 0;
    const double begin = now();
    if (strcmp(mode, "tight") == 0) calls = tight(0.5);
    if (strcmp(mode, "interrupted") == 0) calls = interrupted(0.7);
    if (strcmp(mode, "apart") == 0) calls = apart(200);
    if (strcmp(mode, "mixed") == 0) calls = mixed(2000, &found);
    if (strcmp(mode, "between") == 0) calls = between(2000, &found);
    if (strcmp(mode, "callers") == 0) calls = callers(1200);
    if (strcmp(mode, "copies") == 0) calls = copies(200, &found);
    if (inside == 0) inside = now() - begin;
    if (strcmp(mode, "copies") != 0 || calls != 0) printf("%ld calls, %ld messages, %.6f s\n", calls, found, inside);
    MPI_Finalize();
    return 0;
}
