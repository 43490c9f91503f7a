/* Uses of the stack, signals and threads that a measurement library must survive. Each run has one mode:
 *   leave      an error handler leaves MPI calls by longjmp, at several depths
 *   altstack   a signal handler computes on an alternate stack of 8 KiB
 *   masked     blocks all signals, computes, waits for any of them
 *   reset      gives every signal a handler, then the default action, and computes
 *   early      threads that run before MPI_Init
 *   churn      thousands of threads that come and go
 * Prints one line. The exit code is 1 if anything is wrong. */
#define _GNU_SOURCE
#include <errno.h>
#include <libprofile.h>
#include <mpi.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

static volatile double sink;
static volatile int stop_threads, handled;
static jmp_buf left;

static void fail(const char* what) {
    fprintf(stderr, "harsh: %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void compute(double seconds) {
    struct timespec begin, now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 1000; ++i) sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

static void leave_call(MPI_Comm* comm, int* error, ...) {
    (void)comm;
    (void)error;
    longjmp(left, 1);
}

__attribute__((noinline)) static void send_to_nobody(int depth) {
    volatile char frame[4096];
    frame[0] = (char)depth;
    if (depth > 0) {
        send_to_nobody(depth - 1);
    } else {
        char byte = 0;
        MPI_Send(&byte, 1, MPI_CHAR, 9999, 0, MPI_COMM_WORLD);
    }
    frame[1] = frame[0];
}

/* Fills the stack where a left call's data may have been, and makes calls below. */
__attribute__((noinline)) static void fill_stack(int depth) {
    volatile char frame[8192];
    memset((char*)frame, 0x55, sizeof frame);
    if (depth > 0) {
        fill_stack(depth - 1);
    } else {
        int flag;
        for (int i = 0; i < 1000; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        compute(0.1);
    }
    for (size_t i = 0; i < sizeof frame; ++i)
        if (frame[i] != 0x55) fail("the stack was written to");
}

static void leave(void) {
    MPI_Errhandler handler;
    MPI_Comm_create_errhandler(leave_call, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    for (volatile int depth = 0; depth < 6; ++depth) {
        if (setjmp(left) == 0) send_to_nobody(depth);
        fill_stack(8 - depth);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
}

static void compute_in_handler(int signal) {
    (void)signal;
    compute(0.3);
    handled = 1;
}

static void altstack(void) {
    stack_t stack = {.ss_sp = malloc(8192), .ss_size = 8192};
    struct sigaction action = {.sa_handler = compute_in_handler, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    if (!handled) fail("the handler did not run");
    struct sigaction found;
    sigaction(SIGUSR2, NULL, &found);
    if (found.sa_handler != compute_in_handler) fail("the handler was changed");
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
}

static void masked(void) {
    sigset_t all, old, pending;
    const struct timespec moment = {0, 50000000};
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    compute(0.2);
    siginfo_t info;
    if (sigtimedwait(&all, &info, &moment) >= 0 || errno != EAGAIN) fail("a signal came that nobody sent");
    compute(0.1);
    sigpending(&pending);
    for (int s = 1; s < 65; ++s)
        if (sigismember(&pending, s) == 1) fail("a signal is pending that nobody sent");
    sigprocmask(SIG_SETMASK, &old, NULL);
}

static void note(int signal) {
    (void)signal;
    handled = 1;
}

static void reset(void) {
    for (int s = SIGRTMIN; s <= SIGRTMAX; ++s) {
        handled = 0;
        signal(s, note);
        raise(s);
        if (!handled) fail("a handler of the application did not run");
        if (signal(s, SIG_DFL) != note) fail("a handler of the application was not the one it had set");
    }
    compute(0.2);
}

static void* spin(void* nothing) {
    (void)nothing;
    while (!stop_threads) sink += 1;
    return NULL;
}

static void* nothing_much(void* nothing) { return nothing; }

static void churn(void) {
    for (int i = 0; i < 6000; ++i) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, nothing_much, NULL) != 0) fail("pthread_create");
        pthread_join(thread, NULL);
    }
}

/* marking: a handler marks phases and iterations and asks for snapshots, whatever it has interrupted. */
static void mark_in_handler(int signal) {
    (void)signal;
    switch (handled++ % 4) {
    case 0: profile_phase_begin("handler"), profile_phase_end("handler"); break;
    case 1: profile_iteration_begin("handled"), profile_iteration_end("handled"); break;
    case 2: MPI_Pcontrol(2); break;
    default: MPI_Pcontrol(0), MPI_Pcontrol(1); break;
    }
}
static void marking(void) {
    struct sigaction action = {.sa_handler = mark_in_handler, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval often = {{0, 150}, {0, 150}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    char out = 1, in = 0;
    do {
        profile_iteration_begin("step");
        MPI_Sendrecv(&out, 1, MPI_CHAR, 0, 1, &in, 1, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        if (in != out) fail("a message is wrong");
        profile_iteration_end("step");
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (now.tv_sec - begin.tv_sec < 2);
    setitimer(ITIMER_REAL, &never, NULL);
    if (handled < 100) fail("the handler did not run");
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    pthread_t threads[2];
    const int early = strcmp(mode, "early") == 0;
    for (int i = 0; early && i < 2; ++i) pthread_create(&threads[i], NULL, spin, NULL);
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    if (early) {
        compute(0.3);
        stop_threads = 1;
        for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
    }
    if (strcmp(mode, "leave") == 0) leave();
    if (strcmp(mode, "altstack") == 0) altstack();
    if (strcmp(mode, "masked") == 0) masked();
    if (strcmp(mode, "reset") == 0) reset();
    if (strcmp(mode, "churn") == 0) churn();
    if (strcmp(mode, "marking") == 0) marking();
    MPI_Finalize();
    printf("harsh %s: survived\n", mode);
    return 0;
}
