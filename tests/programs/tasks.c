/* Tasks of OpenMP with a log of their own: tasks [ROUNDS [tied]], without untied ones if the word is there. Prints what each thread did, in
   its order, with times of CLOCK_MONOTONIC in ns:
     THREAD create TASK CREATOR FLAGS TIME      before the task is made; CREATOR 0: an implicit task; FLAGS: letters of u (undeferred), f (final),
                                                t (untied), l (taskloop), ? (whether it is deferred depends on the runtime)
     THREAD depend TASK KIND ADDRESS            of the task whose line comes before
     THREAD begin TASK TIME                     a stretch of its work, at its beginning and its end; nothing waits in between
     THREAD end TASK IS_LAST TIME
     THREAD group_begin TASK TIME               before a taskgroup of the task, and when it is over
     THREAD group_end TASK TIME
     THREAD point TIME                          something else is over
   Thread 0 is the main thread. */
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum What { Create, Depend, Begin, End, GroupBegin, GroupEnd, Point };
static const char* const names[] = {"create", "depend", "begin", "end", "group_begin", "group_end", "point"};
struct Line {
    enum What what;
    int task, creator, is_last;
    const char* word;
    const void* address;
    long at;
};
enum { most_threads = 16, most_lines = 200000 };
static struct Line* lines[most_threads];
static int line_count[most_threads];
static int threads, tasks;
static _Thread_local int me = -1;

static long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000L + t.tv_nsec;
}

__attribute__((noinline)) static struct Line* add(enum What what, int task) {
    if (me < 0) me = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED);
    if (me >= most_threads) abort();
    if (lines[me] == NULL) lines[me] = calloc(most_lines, sizeof(struct Line));
    if (line_count[me] == most_lines) abort();
    struct Line* line = &lines[me][line_count[me]++];
    line->what = what;
    line->task = task;
    line->at = now();
    return line;
}

static int create(int creator, const char* flags) {
    const int task = __atomic_add_fetch(&tasks, 1, __ATOMIC_RELAXED);
    struct Line* line = add(Create, task);
    line->creator = creator;
    line->word = flags;
    return task;
}

static void needs(int task, const char* kind, const void* address) {
    struct Line* line = add(Depend, task);
    line->word = kind;
    line->address = address;
}

static void end(int task, int is_last) {
    struct Line* line = add(End, task);
    line->is_last = is_last;
}

__attribute__((noinline)) static void work(int task) {
    add(Begin, task);
    for (volatile int i = 0; i < 500; ++i) continue;
}

static void nested(int self, int depth) {
    for (int i = 0; i < 3; ++i) {
        const int task = create(self, "");
#pragma omp task firstprivate(task, depth)
        {
            work(task);
            if (depth > 1) {
                end(task, 0);
                nested(task, depth - 1);
                add(Begin, task);
            }
            end(task, 1);
        }
    }
#pragma omp taskwait
    add(Point, self);
}

/* Each of two tasks waits until the other one has begun: they are executed by two threads. */
static void on_two_threads(void) {
    static int begun;
    __atomic_store_n(&begun, 0, __ATOMIC_SEQ_CST);
    for (int i = 0; i < 2; ++i) {
        const int task = create(0, "");
#pragma omp task firstprivate(task)
        {
            add(Begin, task);
            __atomic_add_fetch(&begun, 1, __ATOMIC_SEQ_CST);
            while (__atomic_load_n(&begun, __ATOMIC_SEQ_CST) < 2) sched_yield();
            end(task, 1);
        }
    }
}

static void dependent(void) {
    static double a, b, c[40];
    int task = create(0, "");
    needs(task, "inout", &a); /* compilers make the same of out and inout */
#pragma omp task depend(out : a) firstprivate(task)
    work(task), end(task, 1);
    task = create(0, "");
    needs(task, "in", &a);
    needs(task, "inout", &b);
#pragma omp task depend(in : a) depend(inout : b) firstprivate(task)
    work(task), end(task, 1);
    for (int i = 0; i < 2; ++i) {
        task = create(0, "");
        needs(task, "in", &a);
        needs(task, "mutexinoutset", &b);
#pragma omp task depend(mutexinoutset : b) depend(in : a) firstprivate(task)
        work(task), end(task, 1);
    }
    omp_depend_t object;
#pragma omp depobj(object) depend(inout : c[1])
    task = create(0, "");
    needs(task, "in", &b);
    needs(task, "inout", &c[1]);
#pragma omp task depend(depobj : object) depend(in : b) firstprivate(task)
    work(task), end(task, 1);
    /* More than are passed on at once. */
    task = create(0, "");
    for (int i = 0; i < 20; ++i) needs(task, "in", &c[i]);
    for (int i = 20; i < 40; ++i) needs(task, "inout", &c[i]);
#pragma omp task firstprivate(task) depend(in : c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8], c[9]) \
    depend(in : c[10], c[11], c[12], c[13], c[14], c[15], c[16], c[17], c[18], c[19]) \
    depend(out : c[20], c[21], c[22], c[23], c[24], c[25], c[26], c[27], c[28], c[29]) \
    depend(out : c[30], c[31], c[32], c[33], c[34], c[35], c[36], c[37], c[38], c[39])
    work(task), end(task, 1);
#pragma omp taskwait
#pragma omp depobj(object) destroy
}

static void loops(void) {
    enum { most = 8 };
    int task[most];
    for (int i = 0; i < most; ++i) task[i] = create(0, "l");
    add(GroupBegin, 0);
#pragma omp taskloop num_tasks(most) shared(task)
    for (int i = 0; i < most; ++i) work(task[i]), end(task[i], 1);
    add(GroupEnd, 0);
    for (int i = 0; i < 5; ++i) task[i] = create(0, "lu");
    add(GroupBegin, 0);
#pragma omp taskloop num_tasks(5) if (0) shared(task)
    for (int i = 0; i < 5; ++i) work(task[i]), end(task[i], 1);
    add(GroupEnd, 0);
    for (int i = 0; i < 3; ++i) task[i] = create(0, "l");
#pragma omp taskloop num_tasks(3) nogroup shared(task)
    for (int i = 0; i < 3; ++i) work(task[i]), end(task[i], 1);
#pragma omp taskwait
    add(Point, 0);
}

static void groups(void) {
    add(GroupBegin, 0);
#pragma omp taskgroup
    {
        for (int i = 0; i < 4; ++i) {
            const int outer = create(0, "");
#pragma omp task firstprivate(outer)
            {
                work(outer);
                const int inner = create(outer, "");
#pragma omp task firstprivate(inner)
                work(inner), end(inner, 1);
                end(outer, 0);
                add(GroupBegin, outer);
#pragma omp taskgroup
                {
                    const int other = create(outer, "");
#pragma omp task firstprivate(other)
                    work(other), end(other, 1);
                }
                add(GroupEnd, outer);
                add(Begin, outer), end(outer, 1);
            }
        }
    }
    add(GroupEnd, 0);
}

static void undeferred(void) {
    const int alone = create(0, "u");
#pragma omp task if (0) firstprivate(alone)
    work(alone), end(alone, 1);
    add(Point, 0);
    const int last = create(0, "f");
#pragma omp task final(1) firstprivate(last)
    {
        work(last);
        end(last, 0);
        const int included = create(last, "uf");
#pragma omp task firstprivate(included)
        work(included), end(included, 1);
        add(Begin, last);
        end(last, 1);
    }
}

static void untied(void) {
    for (int i = 0; i < 6; ++i) {
        const int task = create(0, "t");
#pragma omp task untied firstprivate(task)
        {
            work(task);
            end(task, 0);
            const int inner = create(task, "");
#pragma omp task firstprivate(inner)
            work(inner), end(inner, 1);
#pragma omp taskwait
            work(task);
            end(task, 0);
#pragma omp taskyield
            work(task);
            end(task, 1);
        }
    }
#pragma omp taskwait
    add(Point, 0);
}

/* A task that is a region's master: the region's own tasks are none of its. */
static void regions_in_tasks(void) {
    for (int i = 0; i < 2; ++i) {
        const int outer = create(0, "");
#pragma omp task firstprivate(outer)
        {
            work(outer);
            end(outer, 0);
#pragma omp parallel num_threads(1)
            {
                const int inner = create(0, "?");
#pragma omp task firstprivate(inner)
                work(inner), end(inner, 1);
            }
            const int after = create(outer, "");
#pragma omp task firstprivate(after)
            work(after), end(after, 1);
            add(Begin, outer);
            end(outer, 1);
        }
    }
}

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? atoi(argv[1]) : 1;
    add(Point, 0);
    const int outside = create(0, "u");
#pragma omp task firstprivate(outside)
    work(outside), end(outside, 1);
    for (int round = 0; round < rounds; ++round) {
#pragma omp parallel
        {
            add(Point, 0);
#pragma omp single
            {
                nested(0, 3);
                on_two_threads();
                dependent();
                loops();
                groups();
                undeferred();
                if (argc < 3) untied();
                regions_in_tasks();
            }
            nested(0, 2);
        }
        add(Point, 0);
    }
    for (int t = 0; t < threads; ++t)
        for (const struct Line *line = lines[t], *stop = line + line_count[t]; line != stop; ++line) {
            printf("%d %s", t, names[line->what]);
            if (line->what != Point) printf(" %d", line->task);
            if (line->what == Create) printf(" %d -%s", line->creator, line->word);
            if (line->what == End) printf(" %d", line->is_last);
            if (line->what == Depend)
                printf(" %s %lu\n", line->word, (unsigned long)line->address);
            else
                printf(" %ld\n", line->at);
        }
    return 0;
}
