/* Programs that sampling must not disturb, and that must not disturb sampling. Without MPI. Each run has one mode:
 *   compute          nothing else
 *   close            closes all files one by one in the middle, opens its own, and watches over them
 *   close_range      the same with one call
 *   wait             computes a little and waits in many ways
 *   fork             a child also computes and ends in its own way
 *   profile          has its own interval timer and handler
 *   loader           asks the loader for symbols
 *   kernel           computes a little and spends four times as long in the kernel
 *   coroutine        computes on its own stack
 *   permitted        says whether the kernel gives it a perf counter
 *   refuse COMMAND   runs a command for which the kernel has none
 * Prints one line; anything wrong is a line, too, and exit code 1. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile double sink;
static volatile int handled;

static void fail(const char* what) {
    printf("sampling: %s (errno %d)\n", what, errno);
    exit(1);
}

static double cpu_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

__attribute__((noinline)) static void compute(double seconds) {
    const double end = cpu_time() + seconds;
    do
        for (int i = 0; i < 1000; ++i) sink += i;
    while (cpu_time() < end);
}

static void close_all(int at_once) {
    compute(0.2);
    if (at_once) {
        if (close_range(3, ~0u, 0) != 0) fail("close_range");
    } else {
        for (int file = 3; file < 65536; ++file) close(file);
    }
    /* Own files on all numbers that others may have used. */
    enum { files = 700 };
    static int file[files];
    for (int i = 0; i < files; ++i)
        if ((file[i] = open(".", O_TMPFILE | O_RDWR, 0600)) < 0 || write(file[i], "own", 3) != 3) fail("open");
    if (file[0] != 3) fail("the first free number is taken");
    const int flags = fcntl(file[0], F_GETFL);
    compute(0.4);
    for (int i = 0; i < files; ++i) {
        struct stat status;
        if (fstat(file[i], &status) != 0 || status.st_size != 3 || lseek(file[i], 0, SEEK_CUR) != 3 ||
            fcntl(file[i], F_GETFL) != flags)
            fail("a file was touched");
    }
    for (int i = 0; i < files; i += 2) close(file[i]);
    compute(0.1);
    for (int i = 1; i < files; i += 2)
        if (close(file[i]) != 0) fail("a file was closed");
}

static void wait_in_many_ways(void) {
    sem_t nothing;
    sem_init(&nothing, 0, 0);
    const struct timespec moment = {0, 20000};
    for (int i = 0; i < 1500; ++i) {
        compute(0.0001);
        if (nanosleep(&moment, NULL) != 0) fail("nanosleep was interrupted");
        if (clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, NULL) != 0) fail("clock_nanosleep was interrupted");
        if (usleep(20) != 0) fail("usleep was interrupted");
        if (ppoll(NULL, 0, &moment, NULL) != 0) fail("poll was interrupted");
        struct timeval little = {0, 20};
        if (select(0, NULL, NULL, NULL, &little) != 0) fail("select was interrupted");
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += until.tv_nsec < 999000000 ? 20000 : 0;
        if (sem_timedwait(&nothing, &until) == 0 || errno != ETIMEDOUT) fail("sem_timedwait was interrupted");
    }
    if (sleep(1) != 0) fail("sleep was interrupted");
    if (poll(NULL, 0, 100) != 0) fail("poll was interrupted");
}

static void fork_child(void) {
    compute(0.1);
    const pid_t child = fork();
    if (child == 0) {
        compute(0.2);
        _exit(close_range(3, ~0u, 0) == 0 ? 9 : 1);
    }
    compute(0.2);
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 9) fail("the child");
    compute(0.2);
}

static void note(int signal) {
    (void)signal;
    ++handled;
}

static void own_profile(void) {
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_RESTART}, found;
    sigaction(SIGPROF, &action, NULL);
    const struct itimerval period = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_PROF, &period, NULL);
    compute(0.5);
    struct itimerval present;
    getitimer(ITIMER_PROF, &present);
    sigaction(SIGPROF, NULL, &found);
    if (found.sa_handler != note || present.it_interval.tv_usec != 10000) fail("handler or timer was changed");
    if (handled < 5) fail("the signals did not arrive");
}

static void ask_loader(void) {
    const double end = cpu_time() + 0.5;
    while (cpu_time() < end)
        for (int i = 0; i < 200; ++i)
            if (dlsym(RTLD_DEFAULT, "a_function_that_nobody_has") != NULL) fail("dlsym");
}

/* In turns that are shorter than any sampling period. */
static void use_kernel(void) {
    static char bytes[1 << 16];
    const int zeros = open("/dev/zero", O_RDONLY);
    double computing = 0, reading = 0;
    while (computing + reading < 0.6) {
        const double begin = cpu_time();
        compute(0.00005);
        const double middle = cpu_time();
        while (cpu_time() < middle + 0.0002)
            for (int i = 0; i < 4; ++i)
                if (read(zeros, bytes, sizeof bytes) != sizeof bytes) fail("read");
        computing += middle - begin;
        reading += cpu_time() - middle;
    }
}

static void compute_aside(void) { compute(0.4); }

static void coroutine(void) {
    static char stack[1 << 16];
    ucontext_t here, there;
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, compute_aside, 0);
    swapcontext(&here, &there);
    compute(0.1);
}

static int is_permitted(void) {
    struct perf_event_attr attributes = {.type = PERF_TYPE_SOFTWARE, .size = sizeof attributes,
        .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 1000000, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1};
    return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0;
}

static void refuse(char** command) {
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(77);
    execvp(command[0], command);
    fail("exec");
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
    const char* answer = "as it should be";
    if (strcmp(mode, "refuse") == 0) refuse(argv + 2);
    if (strcmp(mode, "compute") == 0) compute(0.5);
    if (strcmp(mode, "close") == 0) close_all(0);
    if (strcmp(mode, "close_range") == 0) close_all(1);
    if (strcmp(mode, "wait") == 0) wait_in_many_ways();
    if (strcmp(mode, "fork") == 0) fork_child();
    if (strcmp(mode, "profile") == 0) own_profile();
    if (strcmp(mode, "loader") == 0) ask_loader();
    if (strcmp(mode, "kernel") == 0) use_kernel();
    if (strcmp(mode, "coroutine") == 0) coroutine();
    if (strcmp(mode, "permitted") == 0) answer = is_permitted() ? "yes" : "no";
    printf("sampling: %s\n", answer);
    return 0;
}
