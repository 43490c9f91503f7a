/* OpenMP constructs with work of known size: openmp MODE [COUNT]. Without MPI unless compiled with -DWITH_MPI. The printed
   result does not depend on the measurement. Work is measured in CPU time of the thread, so the right profile is known.
     regions    COUNT times: two regions that run the same function, called from two call sites, thread t works 4 (t + 1) ms and 8 (t + 1) ms
     empty      COUNT empty regions
     waits      explicit barriers, a worksharing loop, critical sections, a lock, single: one thread works, the others wait
     nested     two levels of regions
     tasks      one thread makes tasks, all do them
     inner_tasks   tasks that make tasks
     copyprivate   one thread has something for the others, which come later
     taskloop   the same by a taskloop
     loops      COUNT times 10,000 passes of a taskloop, each a task, and a child that is forked in one
     teams      regions of 1, 2, 3 and 4 threads in turn, then none for a while
     deep       regions of one thread, 20 inside each other
     schedules  COUNT times: loops of each schedule, and sections, called from stacks of every alignment to 16 bytes
     alone      COUNT times: a region of two threads, then one of one thread, with a barrier, a lock that is free and tasks
     tested     COUNT times: locks are tested while another task has them, before each sort of thing that may come next; then one is waited for
     doubtful   COUNT times: tests of a lock that fail, and after each 2 ms of sleep with nothing that tells of it before a task begins or ends; then
                one that is the last of a thread, which sleeps 100 ms more
     again      the same as tested with a nestable lock that its owner takes again
     coroutine  COUNT times: a region where the master is on its own stack, then one where it is not; each thread works 4 ms in each
     late       1500 iterations without a region, then COUNT with one
     leaves     exit() inside a region, by the master
     hybrid     with MPI: COUNT iterations of a region in which every thread exchanges a message with its counterpart
     locks      with MPI: COUNT passes, without a marker, of 400,000 free locks and one MPI_Allreduce
     unmarked   with MPI: 3000 passes, without a marker, of 0.1 ms and one MPI_Allreduce, then COUNT with a region
   With a third argument `tested` and `again` print what each thread has waited, and how long it has done something else instead, in ns of
   wall time: "thread T lock N barrier M instead K at once L". With SAY_BEYOND in the environment all print at the end what their work took
   beyond what is named here: "beyond N ns". */
#include <omp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <libprofile.h>

static double cpu_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* By how much all work together has taken longer than it was to: a virtual machine that pauses counts as processor time on some hosts. */
static long beyond_ns;
static void say_beyond(void) { printf("beyond %ld ns\n", beyond_ns); }

__attribute__((noinline)) static double work(double ms) {
    double sum = 0, now;
    const double end = cpu_now() + ms * 1e-3;
    do
        for (int i = 1; i < 2000; ++i) sum += 1.0 / i;
    while ((now = cpu_now()) < end);
    __atomic_fetch_add(&beyond_ns, (long)(1e9 * (now - end)), __ATOMIC_RELAXED);
    return sum > 0 ? 1 : 0;
}

__attribute__((noinline)) static double busy_region(double factor) {
    double total = 0;
#pragma omp parallel reduction(+ : total)
    total += work(4 * factor * (omp_get_thread_num() + 1));
    return total;
}

__attribute__((noinline)) static double first_place(void) { return busy_region(1) + 0.5; }
__attribute__((noinline)) static double second_place(void) { return busy_region(2) + 0.25; }

static int mode_regions(int count) {
    double total = 0;
    for (int i = 0; i < count; ++i) {
        profile_iteration_begin("step");
        total += first_place();
        total += second_place();
        profile_iteration_end("step");
    }
    printf("regions %g\n", total);
    return 0;
}

static int mode_empty(int count) {
    for (int i = 0; i < count; ++i) {
#pragma omp parallel
        {
            __asm__ volatile("" ::: "memory");
        }
    }
    printf("empty %d\n", count);
    return 0;
}

static int mode_waits(int count) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    int sum = 0;
#pragma omp parallel shared(sum)
    {
        for (int i = 0; i < count; ++i) {
            if (omp_get_thread_num() == 0) work(4);
#pragma omp barrier
#pragma omp for schedule(static, 1)
            for (int k = 0; k < omp_get_num_threads(); ++k) work(k == 0 ? 4 : 0.1);
#pragma omp critical(named)
            {
                work(1);
                ++sum;
            }
            omp_set_lock(&lock);
            work(1);
            ++sum;
            omp_unset_lock(&lock);
#pragma omp single
            {
                work(2);
                ++sum;
            }
        }
    }
    omp_destroy_lock(&lock);
    printf("waits %d\n", sum);
    return 0;
}

static int mode_nested(int count) {
    int sum = 0;
    omp_set_max_active_levels(2);
    for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            sum += (int)work(4);
#pragma omp parallel num_threads(2) reduction(+ : sum)
            sum += 10 * (int)work(4);
        }
    }
    printf("nested %d\n", sum);
    return 0;
}

__attribute__((noinline)) static int one_task(double ms) { return (int)work(ms); }

static int mode_tasks(int count) {
    int sum = 0;
#pragma omp parallel
#pragma omp single
    {
        for (int i = 0; i < count; ++i) {
            int mine = i;
#pragma omp task shared(sum) firstprivate(mine)
            {
                const int done = one_task(2) + mine;
#pragma omp atomic
                sum += done;
            }
        }
#pragma omp taskwait
    }
    printf("tasks %d\n", sum);
    return 0;
}

/* Tasks that make tasks and wait for them, each with 2 ms of work of its own. */
static void make_tree(int tasks) {
    const int left = (tasks - 1) / 2, right = tasks - 1 - left;
#pragma omp task if (left > 0)
    if (left > 0) make_tree(left);
#pragma omp task if (0)
    if (right > 0) make_tree(right);
#pragma omp taskwait
    one_task(2);
}
static int mode_inner_tasks(int count) {
#pragma omp parallel
#pragma omp single
    make_tree(count);
    printf("inner_tasks %d\n", count);
    return 0;
}

/* One thread has something for all, which come 8 ms later. */
static int mode_copyprivate(int count) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    for (int i = 0; i < count; ++i) {
        int mine = i;
        if (omp_get_thread_num() != 0) work(8);
#pragma omp single copyprivate(mine)
        mine = 2 * i;
        sum += mine;
#pragma omp barrier
    }
    printf("copyprivate %d\n", sum);
    return 0;
}

/* More tasks than a stack has room for, and a task in which the process forks. */
static int mode_loops(int count) {
    long sum = 0;
    pid_t child = -1;
    int code = 0;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1) shared(sum)
        for (int i = 0; i < count * 10000; ++i) {
#pragma omp atomic
            sum += i & 7;
        }
#pragma omp taskloop num_tasks(4) if (0) shared(child)
        for (int i = 0; i < 4; ++i)
            if (i == 1) child = fork();
        if (child == 0) _exit(7);
        if (child > 0) waitpid(child, &code, 0);
    }
    printf("loops %ld, a child with exit code %d\n", sum, WIFEXITED(code) ? WEXITSTATUS(code) : -1);
    return 0;
}

struct large {
    int numbers[200];
};

/* One pass a task, few tasks, none that is put off, a reduction, and one that nobody waits for. */
static int mode_taskloop(int count) {
    unsigned long long sum = 0;
    struct large large = {{0}};
    for (int i = 0; i < 200; ++i) large.numbers[i] = i;
#pragma omp parallel
#pragma omp single
    {
#pragma omp taskloop grainsize(1) shared(sum)
        for (int i = 0; i < count / 2; ++i) {
            const int done = one_task(2) + i;
#pragma omp atomic
            sum += (unsigned long long)done;
        }
#pragma omp taskloop num_tasks(7) shared(sum)
        for (unsigned long long i = 0; i < (unsigned long long)(count / 2); ++i) {
            const unsigned long long done = (unsigned long long)one_task(2) + i;
#pragma omp atomic
            sum += done;
        }
#pragma omp taskloop if (0) shared(sum) firstprivate(large)
        for (int i = 20; i > 0; i -= 3) {
            large.numbers[i] += i;
#pragma omp atomic
            sum += (unsigned long long)large.numbers[i];
        }
#pragma omp taskloop reduction(+ : sum)
        for (int i = 0; i < 10; ++i) sum += (unsigned long long)i;
#pragma omp taskloop nogroup shared(sum)
        for (int i = 0; i < 10; ++i) {
#pragma omp atomic
            sum += (unsigned long long)i;
        }
    }
    printf("taskloop %llu\n", sum);
    return 0;
}

static int mode_teams(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        profile_iteration_begin("step");
        const int threads = i % 4 + 1;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
        sum += (int)work(0.5);
        profile_iteration_end("step");
    }
    for (int i = 0; i < 3; ++i) {
        profile_iteration_begin("step");
        work(1);
        profile_iteration_end("step");
    }
    printf("teams %d\n", sum);
    return 0;
}

__attribute__((noinline)) static int deeper(int levels) {
    int sum = 0;
#pragma omp parallel num_threads(1) reduction(+ : sum)
    sum += 1 + (levels > 1 ? deeper(levels - 1) : 0);
    return sum;
}

static int mode_deep(int count) {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += deeper(20);
    printf("deep %d\n", sum);
    return 0;
}

static int mode_alone(int count) {
    omp_lock_t lock;
    omp_init_lock(&lock);
    int sum = 0;
    for (int i = 0; i < count; ++i) {
#pragma omp parallel num_threads(2) reduction(+ : sum)
        sum += (int)work(1);
#pragma omp parallel num_threads(1)
        {
            char room[count]; /* its frame is found by the frame pointer only */
            __asm__ volatile("" ::"r"(room) : "memory");
            omp_set_lock(&lock);
            sum += (int)work(2);
            omp_unset_lock(&lock);
#pragma omp barrier
            for (int k = 0; k < 2; ++k) {
#pragma omp task shared(sum)
                {
                    const int done = one_task(1);
#pragma omp atomic
                    sum += done;
                }
            }
        }
    }
    omp_destroy_lock(&lock);
    printf("alone %d\n", sum);
    return 0;
}

/* Without a reduction, which would make GCC begin the loop inside of the region. */
static int scheduled_sum;
__attribute__((noinline)) static void scheduled(void) {
    const int done = (int)work(0.1);
#pragma omp atomic
    scheduled_sum += done;
}
#define SCHEDULE(name, kind)                                      \
    __attribute__((noinline)) static void schedule_##name(void) { \
        _Pragma(kind) for (int i = 0; i < 4; ++i) scheduled();    \
        __asm__ volatile("" ::: "memory");                        \
    }
SCHEDULE(static, "omp parallel for schedule(static)")
SCHEDULE(dynamic, "omp parallel for schedule(dynamic)")
SCHEDULE(ordered_dynamic, "omp parallel for schedule(monotonic : dynamic)")
SCHEDULE(guided, "omp parallel for schedule(guided)")
SCHEDULE(ordered_guided, "omp parallel for schedule(monotonic : guided)")
SCHEDULE(runtime, "omp parallel for schedule(runtime)")
SCHEDULE(ordered_runtime, "omp parallel for schedule(monotonic : runtime)")
__attribute__((noinline)) static void schedule_sections(void) {
#pragma omp parallel sections
    {
#pragma omp section
        scheduled();
#pragma omp section
        scheduled();
    }
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static int mode_schedules(int count) {
    for (int i = 0; i < 4 * count; ++i) {
        char room[16 * (i % 4 + 1)];
        __asm__ volatile("" ::"r"(room) : "memory");
        schedule_static();
        schedule_dynamic();
        schedule_ordered_dynamic();
        schedule_guided();
        schedule_ordered_guided();
        schedule_runtime();
        schedule_ordered_runtime();
        schedule_sections();
    }
    printf("schedules %d\n", scheduled_sum);
    return 0;
}

static double wall_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* What two threads have waited for, and done instead, in ns. */
static struct {
    double lock, barrier, instead, at_once;
    char room[64]; /* of one cache line each */
} waited[2];

static void say_waits(void) {
    for (int t = 0; t < 2; ++t)
        printf("thread %d lock %.0f barrier %.0f instead %.0f at once %.0f\n", t, waited[t].lock, waited[t].barrier, waited[t].instead, waited[t].at_once);
}

__attribute__((noinline)) static int instead_of_it(int thread) {
    const double begin = wall_now();
    profile_region_begin("instead");
    const int done = (int)work(4);
    profile_region_end("instead");
    waited[thread].instead += wall_now() - begin;
    return done;
}

__attribute__((noinline)) static int at_once(void) {
    const int done = (int)work(4);
    __asm__ volatile("" ::: "memory"); /* no tail call */
    return done;
}

/* One thread has the lock for 4 ms after the other has come near it. */
static int other_has_come;
static void wait_for_other(int i) {
    while (__atomic_load_n(&other_has_come, __ATOMIC_ACQUIRE) != i + 1) usleep(50);
}
static void come(int i) { __atomic_store_n(&other_has_come, i + 1, __ATOMIC_RELEASE); }

static void wait_at_barrier(int thread) {
    const double begin = wall_now();
#pragma omp barrier
    waited[thread].barrier += wall_now() - begin;
}

static int mode_tested(int count) {
    omp_lock_t held, lock;
    omp_init_lock(&held);
    omp_init_lock(&lock);
    int refused = 0, sum = 0;
    omp_set_lock(&held);
    for (int i = 0; i < count; ++i) {
        profile_iteration_begin("step");
        refused += !omp_test_lock(&held); /* before a region */
#pragma omp parallel num_threads(2) reduction(+ : refused, sum)
        {
            const int me = omp_get_thread_num(), owner = i % 2;
            if (me == owner) omp_set_lock(&lock);
#pragma omp barrier
            refused += !omp_test_lock(&held); /* before computing */
            if (me == owner) {
                wait_for_other(i);
                sum += (int)work(4);
                omp_unset_lock(&lock);
            } else {
                const double computing = wall_now();
                sum += at_once();
                waited[me].at_once += wall_now() - computing;
                refused += !omp_test_lock(&held); /* before a named region */
                sum += instead_of_it(me);
                refused += !omp_test_lock(&held); /* before another lock */
                come(i);
                const double begin = wall_now();
                omp_set_lock(&lock);
                waited[me].lock += wall_now() - begin;
                omp_unset_lock(&lock);
                sum += (int)work(4);
            }
            refused += !omp_test_lock(&held); /* before a barrier */
            wait_at_barrier(me);
            refused += !omp_test_lock(&held); /* at the end of the region */
        }
#ifdef WITH_MPI
        refused += !omp_test_lock(&held); /* before a call of MPI */
        MPI_Barrier(MPI_COMM_WORLD);
#endif
        refused += !omp_test_lock(&held); /* before a marker */
        profile_iteration_end("step");
    }
    omp_unset_lock(&held);
    omp_destroy_lock(&held);
    omp_destroy_lock(&lock);
    printf("tested %d %d\n", refused, sum);
    return 0;
}

static void sleep_ms(long ms) {
    const struct timespec t = {0, ms * 1000000};
    nanosleep(&t, NULL);
}

static omp_lock_t doubtful_lock;
static void* test_and_end(void* refused) {
    *(int*)refused = !omp_test_lock(&doubtful_lock);
    sleep_ms(100);
    return NULL;
}

static int mode_doubtful(int count) {
    int refused = 0, of_the_thread = 0;
    omp_init_lock(&doubtful_lock);
    omp_set_lock(&doubtful_lock);
    for (int i = 0; i < count; ++i) {
        refused += !omp_test_lock(&doubtful_lock);
        sleep_ms(2);
#pragma omp task if (0) /* begins right behind that */
        sleep_ms(0);
#pragma omp parallel num_threads(2)
#pragma omp single
        {
#pragma omp task shared(refused)
            {
                const int is_refused = !omp_test_lock(&doubtful_lock);
                sleep_ms(2);
#pragma omp atomic
                refused += is_refused;
            } /* ends right behind that */
#pragma omp taskwait
        }
    }
    pthread_t thread;
    pthread_create(&thread, NULL, test_and_end, &of_the_thread);
    pthread_join(thread, NULL);
    omp_unset_lock(&doubtful_lock);
    omp_destroy_lock(&doubtful_lock);
    printf("doubtful %d %d\n", refused, of_the_thread);
    return 0;
}

static int mode_again(int count) {
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
    int sum = 0;
    for (int i = 0; i < count; ++i) {
        profile_iteration_begin("step");
        for (int k = 0; k < 2; ++k) omp_set_nest_lock(&lock);
        sum += omp_test_nest_lock(&lock) == 3;
        for (int k = 0; k < 3; ++k) omp_unset_nest_lock(&lock);
#pragma omp parallel num_threads(2) reduction(+ : sum)
        {
            const int me = omp_get_thread_num(), owner = i % 2;
            if (me == owner) {
                omp_set_nest_lock(&lock);
                omp_set_nest_lock(&lock);
            }
#pragma omp barrier
            if (me == owner) {
                wait_for_other(i);
                sum += (int)work(4);
                omp_unset_nest_lock(&lock);
                omp_unset_nest_lock(&lock);
            } else {
                sum += omp_test_nest_lock(&lock) == 0;
                sum += instead_of_it(me);
                come(i);
                const double begin = wall_now();
                omp_set_nest_lock(&lock);
                waited[me].lock += wall_now() - begin;
                omp_set_nest_lock(&lock);
                omp_unset_nest_lock(&lock);
                omp_unset_nest_lock(&lock);
                sum += (int)work(4);
            }
            wait_at_barrier(me);
        }
        profile_iteration_end("step");
    }
    omp_destroy_nest_lock(&lock);
    printf("again %d\n", sum);
    return 0;
}

static ucontext_t outside, coroutine;
static int coroutine_sum = 0;

__attribute__((noinline)) static void region_of_the_coroutine(void) {
    int sum = 0;
#pragma omp parallel reduction(+ : sum)
    sum += (int)work(4);
    coroutine_sum += sum;
}

static void run_coroutine(void) {
    for (;;) {
        region_of_the_coroutine();
        swapcontext(&coroutine, &outside);
    }
}

static int mode_coroutine(int count) {
    static char stack[1 << 20];
    static int sum; // getcontext() returns once only, which the compiler does not know
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = stack;
    coroutine.uc_stack.ss_size = sizeof stack;
    makecontext(&coroutine, run_coroutine, 0);
    for (int i = 0; i < count; ++i) {
#pragma omp parallel reduction(+ : sum)
        sum += (int)work(4);
        swapcontext(&outside, &coroutine);
    }
    printf("coroutine %d %d\n", sum, coroutine_sum);
    return 0;
}

static int mode_late(int count) {
    int sum = 0;
    for (int i = 0; i < 1500 + count; ++i) {
        profile_iteration_begin("step");
        if (i >= 1500) {
#pragma omp parallel reduction(+ : sum)
            sum += (int)work(0.5);
        }
        profile_iteration_end("step");
    }
    printf("late %d\n", sum);
    return 0;
}

static int mode_leaves(void) {
#pragma omp parallel
    {
        work(5);
#pragma omp barrier
#pragma omp master
        {
            printf("leaves\n");
            fflush(stdout);
            exit(7);
        }
        work(20);
    }
    return 0;
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "regions";
    const int count = argc > 2 ? atoi(argv[2]) : 10;
    int result = 1;
    if (getenv("SAY_BEYOND") != NULL) atexit(say_beyond);
#ifdef WITH_MPI
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
#endif
    if (strcmp(mode, "regions") == 0) result = mode_regions(count);
    if (strcmp(mode, "empty") == 0) result = mode_empty(count);
    if (strcmp(mode, "waits") == 0) result = mode_waits(count);
    if (strcmp(mode, "nested") == 0) result = mode_nested(count);
    if (strcmp(mode, "tasks") == 0) result = mode_tasks(count);
    if (strcmp(mode, "inner_tasks") == 0) result = mode_inner_tasks(count);
    if (strcmp(mode, "copyprivate") == 0) result = mode_copyprivate(count);
    if (strcmp(mode, "taskloop") == 0) result = mode_taskloop(count);
    if (strcmp(mode, "loops") == 0) result = mode_loops(count);
    if (strcmp(mode, "teams") == 0) result = mode_teams(count);
    if (strcmp(mode, "deep") == 0) result = mode_deep(count);
    if (strcmp(mode, "schedules") == 0) result = mode_schedules(count);
    if (strcmp(mode, "alone") == 0) result = mode_alone(count);
    if (strcmp(mode, "tested") == 0) result = mode_tested(count);
    if (strcmp(mode, "doubtful") == 0) result = mode_doubtful(count);
    if (strcmp(mode, "again") == 0) result = mode_again(count);
    if (argc > 3) say_waits();
    if (strcmp(mode, "coroutine") == 0) result = mode_coroutine(count);
    if (strcmp(mode, "late") == 0) result = mode_late(count);
    if (strcmp(mode, "leaves") == 0) result = mode_leaves();
#ifdef WITH_MPI
    if (strcmp(mode, "hybrid") == 0) {
        int rank = 0, ranks = 1, sum = 0;
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        MPI_Comm_size(MPI_COMM_WORLD, &ranks);
        for (int i = 0; i < count; ++i) {
            profile_iteration_begin("step");
#pragma omp parallel reduction(+ : sum)
            {
                const int thread = omp_get_thread_num(), other = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
                int got = 0;
                sum += (int)work(1 + rank);
                if (provided == MPI_THREAD_MULTIPLE || omp_get_num_threads() == 1) /* every thread with its counterpart */
                    MPI_Sendrecv(&i, 1, MPI_INT, other, thread, &got, 1, MPI_INT, from, thread, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                sum += got;
            }
            MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            sum %= 1000;
            profile_iteration_end("step");
        }
        if (rank == 0) printf("hybrid %d\n", sum);
        result = 0;
    }
    if (strcmp(mode, "locks") == 0) { /* no markers */
        omp_lock_t lock;
        double sum = 0, all = 0;
        omp_init_lock(&lock);
        for (int i = 0; i < count; ++i) {
            for (int k = 0; k < 400000; ++k) {
                omp_set_lock(&lock);
                sum += 1;
                omp_unset_lock(&lock);
            }
            MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        }
        omp_destroy_lock(&lock);
        printf("locks %g\n", all);
        result = 0;
    }
    if (strcmp(mode, "unmarked") == 0) {
        int sum = 0;
        for (int i = 0; i < 3000 + count; ++i) {
            int done = (int)work(0.1);
            if (i >= 3000) {
#pragma omp parallel reduction(+ : done)
                done += (int)work(0.5);
            }
            MPI_Allreduce(&done, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        }
        printf("unmarked %d\n", sum);
        result = 0;
    }
    MPI_Finalize();
#endif
    return result;
}
