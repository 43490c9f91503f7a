/* pcontrol MODE: programs that control the measurement by MPI_Pcontrol, without any header of libprofile. */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <sys/resource.h>
#include <unistd.h>

enum { OFF = 0, ON = 1, CHECKPOINT = 2, STEPS = 1000, INNER = 1001, EMPTY = 1002 };

static int rank, ranks;
static volatile double sink;

/* About a millisecond of computing. */
static void compute(void) {
    for (int i = 0; i < 300000; ++i)
        sink += i * 1e-9;
}

static void sum_up(int times) {
    for (int i = 0; i < times; ++i) {
        int one = 1, sum = 0;
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        if (sum != ranks)
            MPI_Abort(MPI_COMM_WORLD, 9);
    }
}

/* 3 Allreduce while on, 5 Barrier and 40 Send or Recv while off; all levels that mean nothing. */
static void phases_off_and_on(void) {
    sum_up(1);
    MPI_Pcontrol(OFF);
    MPI_Pcontrol(OFF);
    for (int i = 0; i < 5; ++i) {
        MPI_Barrier(MPI_COMM_WORLD);
        compute();
    }
    for (int i = 0; i < 40; ++i) {
        if (rank % 2 == 0)
            MPI_Send(&i, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&i, 1, MPI_INT, rank - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    usleep(50000);
    MPI_Pcontrol(ON);
    MPI_Pcontrol(ON);
    sum_up(2);
    const int meaningless[] = {-1, -2, 3, 500, 999, -999, 7, -17};
    for (unsigned i = 0; i < sizeof meaningless / sizeof *meaningless; ++i)
        MPI_Pcontrol(meaningless[i]);
}

/* 30 iterations of one Allreduce: 10 on, 10 off, 10 half on, half off. */
static void iterations(void) {
    for (int step = 0; step < 30; ++step) {
        if (step == 10)
            MPI_Pcontrol(OFF);
        MPI_Pcontrol(STEPS);
        if (step == 20)
            MPI_Pcontrol(ON);
        compute();
        if (step > 20 && step % 2)
            MPI_Pcontrol(OFF);
        sum_up(1);
        if (step > 20 && step % 2)
            MPI_Pcontrol(ON);
    }
    MPI_Pcontrol(-STEPS);
}

static void loops(void) {
    volatile int passes = 3; /* the loop must not be unrolled: each copy has a call path of its own */
    for (int step = 0; step < 12; ++step) {
        MPI_Pcontrol(STEPS);
        for (int k = 0; k < passes; ++k) {
            MPI_Pcontrol(INNER);
            sum_up(1);
        }
        MPI_Pcontrol(-INNER);
        for (int k = 0; k < 0; ++k)
            MPI_Pcontrol(EMPTY);
        MPI_Pcontrol(-EMPTY);
        sum_up(1);
    }
    MPI_Pcontrol(-STEPS);
}

/* 20,000 iterations of different sizes. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Prints how long the second tenth and the last one took. */
static void many_iterations(int iterations) {
    static double from[64], to[64];
    double begin = 0;
    for (int i = 0; i < iterations; ++i) {
        const int tenth = iterations / 10;
        if (i == tenth || i == 9 * tenth) begin = now();
        MPI_Pcontrol(STEPS);
        MPI_Allreduce(from, to, 1 + (int)((i * 7919u) % 64), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (i % 3 == 0) MPI_Bcast(from, 1 + (int)((i * 104729u) % 64), MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (i == 2 * tenth - 1 || i == 10 * tenth - 1) printf("%.4f\n", now() - begin);
    }
    MPI_Pcontrol(-STEPS);
}

/* 8 whole iterations and part of the 9th before the checkpoint, then as many that are in none. */
static void checkpoint(const char* end) {
    for (int step = 0; step < 17; ++step) {
        MPI_Pcontrol(STEPS);
        compute();
        sum_up(1);
        if (step == 4 || step == 8)
            MPI_Pcontrol(CHECKPOINT);
    }
    MPI_Pcontrol(-STEPS);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, "abort") == 0)
        MPI_Abort(MPI_COMM_WORLD, 5);
    if (strcmp(end, "exit") == 0)
        exit(0);
}

/* Requests that are made on one side of a switch and completed on the other; and made again, as sends. */
static void requests(void) {
    const int partner = rank ^ 1;
    int in = 0, out = rank;
    MPI_Request receive, send, persistent, persistent_send;
    MPI_Pcontrol(OFF);
    MPI_Send_init(&out, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &persistent_send);
    MPI_Recv_init(&in, 1, MPI_INT, partner, 1, MPI_COMM_WORLD, &persistent);
    MPI_Irecv(&in, 1, MPI_INT, partner, 0, MPI_COMM_WORLD, &receive);
    MPI_Pcontrol(ON);
    MPI_Send(&out, 1, MPI_INT, partner, 0, MPI_COMM_WORLD);
    MPI_Wait(&receive, MPI_STATUS_IGNORE); /* counted: 4 bytes */
    for (int i = 0; i < 3; ++i) {          /* counted: 3 x 4 bytes */
        MPI_Start(&persistent);
        MPI_Start(&persistent_send);
        MPI_Wait(&persistent_send, MPI_STATUS_IGNORE);
        MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 50; ++i) { /* not counted */
        MPI_Irecv(&in, 1, MPI_INT, partner, 2, MPI_COMM_WORLD, &receive);
        MPI_Pcontrol(OFF);
        MPI_Send(&out, 1, MPI_INT, partner, 2, MPI_COMM_WORLD);
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
        MPI_Pcontrol(ON);
        /* a send, whatever its handle was before */
        MPI_Isend(&out, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, &send);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Pcontrol(OFF);
        MPI_Recv(&in, 1, MPI_INT, partner, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Pcontrol(ON);
    }
    MPI_Request_free(&persistent);
    MPI_Request_free(&persistent_send);
}

/* No file can grow any more while the checkpoints are written. */
static void no_room(void) {
    struct rlimit before, none;
    getrlimit(RLIMIT_FSIZE, &before);
    none = before;
    none.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &none);
    for (int i = 0; i < 5; ++i)
        MPI_Pcontrol(CHECKPOINT);
    setrlimit(RLIMIT_FSIZE, &before);
}

static volatile int stop, turn;

static void* computing_thread(void* unused) {
    (void)unused;
    while (!stop)
        compute();
    return NULL;
}

/* The first calls of a thread that has not heard of the pause yet. */
static void* calling_thread(void* unused) {
    (void)unused;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    __atomic_store_n(&turn, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != 2)
        usleep(1000);
    for (int i = 0; i < 10; ++i)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    usleep(100000);
    __atomic_store_n(&turn, 3, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != 4)
        usleep(1000);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return NULL;
}

static void await(int value) {
    while (__atomic_load_n(&turn, __ATOMIC_SEQ_CST) != value)
        usleep(1000);
}

/* Samples come by processor time, of which a busy machine may give little. */
static void await_processor_time(pthread_t thread, double seconds) {
    clockid_t clock;
    struct timespec begin, now;
    pthread_getcpuclockid(thread, &clock);
    clock_gettime(clock, &begin);
    do {
        usleep(1000);
        clock_gettime(clock, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

static void threads(void) {
    pthread_t computes, calls;
    pthread_create(&computes, NULL, computing_thread, NULL);
    pthread_create(&calls, NULL, calling_thread, NULL);
    await(1);
    await_processor_time(computes, 0.15); /* one without a sample is not in the report */
    MPI_Pcontrol(OFF);
    __atomic_store_n(&turn, 2, __ATOMIC_SEQ_CST);
    await(3);
    await_processor_time(computes, 0.15);
    MPI_Pcontrol(CHECKPOINT);
    MPI_Pcontrol(ON);
    __atomic_store_n(&turn, 4, __ATOMIC_SEQ_CST);
    stop = 1;
    pthread_join(calls, NULL);
    pthread_join(computes, NULL);
}

static int in_callback(MPI_Comm comm, int key, void* value, void* state) {
    (void)comm, (void)key, (void)value, (void)state;
    MPI_Pcontrol(OFF);
    MPI_Pcontrol(STEPS);
    MPI_Pcontrol(CHECKPOINT);
    return MPI_SUCCESS;
}

static void callback(void) {
    int key;
    MPI_Comm copy;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, in_callback, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_set_attr(copy, key, NULL);
    MPI_Comm_free(&copy);
    MPI_Comm_free_keyval(&key);
    sum_up(3);
}

int main(int argc, char** argv) {
    const char* mode = argc > 1 ? argv[1] : "";
#define IS(name) (strcmp(mode, name) == 0)
    if (IS("early")) {
        MPI_Pcontrol(CHECKPOINT);
        MPI_Pcontrol(OFF);
        MPI_Pcontrol(STEPS);
    }
    int provided;
    if (IS("threads"))
        MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    else
        MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (IS("switch"))
        phases_off_and_on();
    if (IS("iterations"))
        iterations();
    else if (IS("many_iterations"))
        many_iterations(argc > 2 ? atoi(argv[2]) : 20000);
    if (IS("loops"))
        loops();
    if (IS("checkpoint"))
        checkpoint(argc > 2 ? argv[2] : "");
    if (IS("no_room"))
        no_room();
    if (IS("requests"))
        requests();
    if (IS("threads"))
        threads();
    if (IS("callback"))
        callback();
    if (IS("started_off")) {
        sum_up(4);
        MPI_Pcontrol(ON);
        sum_up(3);
    }
    if (IS("off_at_end") || IS("early") || IS("late")) {
        sum_up(3);
        MPI_Pcontrol(OFF);
        sum_up(4);
        usleep(20000);
    }
    if (rank == 0) {
        printf("pcontrol: %d ranks\n", ranks);
        fflush(stdout);
    }
    MPI_Finalize();
    if (IS("late"))
        for (int level = -1; level < 3; ++level)
            MPI_Pcontrol(level);
    return 0;
}
