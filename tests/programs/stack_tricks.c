/* Unusual uses of the stack, as a test of unwinding: stack_tricks MODE. No MPI. Prints one line with a result that does not depend on time.
 * The exit code is 1 if anything is wrong. The modes are the functions of the table at the end. */
#define _GNU_SOURCE
#include <alloca.h>
#include <complex.h>
#include <errno.h>
#include <execinfo.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__aarch64__)
#include "arch/aarch64/stack_tricks.h"
#else
#include "arch/x86_64/stack_tricks.h"
#endif

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOT_INLINED __attribute__((noinline, noclone, noipa))

extern char** environ;
static volatile uint64_t keep;

static void fail(const char* what) {
    fprintf(stderr, "stack_tricks: %s\n", what);
    exit(1);
}

static double cpu_time(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static uint64_t mix(uint64_t x) {
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}

/* Some microseconds. */
NOT_INLINED uint64_t spin(unsigned rounds) {
    uint64_t x = rounds + 1;
    for (unsigned i = 0; i < rounds; ++i) x = mix(x);
    return x;
}

/* Works at every level, down and up again. */
NOT_INLINED uint64_t climb(unsigned depth) {
    uint64_t sum = spin(100);
    if (depth != 0) sum += climb(depth - 1);
    sum += spin(50);
    return sum;
}

/* Registers: `fill_registers` works a little, so that its return address may be marked, and returns with a known value in
 * every register that a caller of a local function may rely on (GCC's -fipa-ra), `compare_registers` looks at them. */
int compare_registers(void);

static void registers(void) {
    for (double end = cpu_time() + 1.5; cpu_time() < end;)
        for (int i = 0; i < 20; ++i)
            if (compare_registers() != 0) fail("a register was changed");
}

/* Return values of all classes. */
typedef float Wide __attribute__((vector_size(32)));
struct Mixed {
    long double a;
    double b;
};
struct Two {
    double a;
    int64_t b;
};
NOT_INLINED static double return_double(unsigned n) { return (spin(n), 1.0 + n); }
NOT_INLINED static long double return_extended(unsigned n) { return (spin(n), 2.0L + n); }
NOT_INLINED static long double complex return_complex(unsigned n) { return (spin(n), 3.0L + n + 4.0Li); }
NOT_INLINED static double complex return_double_complex(unsigned n) { return (spin(n), 3.0 + n + 5.0i); }
NOT_INLINED static struct Mixed return_mixed(unsigned n) { return (spin(n), (struct Mixed){5.0L + n, 6.0}); }
NOT_INLINED static struct Two return_two(unsigned n) { return (spin(n), (struct Two){7.0 + n, 8}); }
NOT_INLINED static __int128 return_int128(unsigned n) { return (spin(n), ((__int128)n << 64) + 9); }
NOT_INLINED WIDE static Wide return_wide(unsigned n) {
    spin(n);
    const float x = (float)n;
    return (Wide){x, 1, 2, 3, 4, 5, 6, 7};
}
NOT_INLINED WIDE static int wide_is_right(unsigned n) {
    const Wide wide = return_wide(n);
    return wide[0] == (float)n && wide[3] == 3 && wide[4] == 4 && wide[7] == 7;
}

static void return_values(void) {
    unsigned n = 1000;
    for (double end = cpu_time() + 1.5; cpu_time() < end; n = 1000 + n % 1000) {
        const struct Mixed mixed = return_mixed(n);
        const struct Two two = return_two(n);
        if (return_double(n) != 1.0 + n || return_extended(n) != 2.0L + n || return_complex(n) != 3.0L + n + 4.0Li ||
            return_double_complex(n) != 3.0 + n + 5.0i || mixed.a != 5.0L + n || mixed.b != 6.0 || two.a != 7.0 + n ||
            two.b != 8 || return_int128(n) != ((__int128)n << 64) + 9 || (has_wide() && !wide_is_right(n)))
            fail("a return value was changed");
    }
}

/* Functions that keep a copy of their return address, in tight loops. */
static jmp_buf jump_here;
NOT_INLINED static void jump_back(unsigned depth) {
    if (depth == 0) longjmp(jump_here, 7);
    jump_back(depth - 1);
    keep += 1;
}
NOT_INLINED static int set_and_jump(void) {
    const int value = setjmp(jump_here);
    if (value == 0) jump_back(spin(20) % 4);
    return value;
}
NOT_INLINED static int set_and_return(void) {
    sigjmp_buf here;
    ucontext_t context;
    volatile int again = 0;
    if (sigsetjmp(here, 1) != 0) return 7;
    getcontext(&context);
    if (again++ == 0) setcontext(&context);
    siglongjmp(here, 1);
}

static void setjmp_loops(void) {
    for (double end = cpu_time() + 1.5; cpu_time() < end;)
        for (int i = 0; i < 100; ++i)
            if (set_and_jump() != 7 || set_and_return() != 7) fail("a jump arrived elsewhere");
}

/* Jumps that no library sees. */
static void* unseen[5];
NOT_INLINED static void leave_unseen(unsigned depth) {
    if (depth == 0) {
        spin(3000);
        __builtin_longjmp(unseen, 1);
    }
    leave_unseen(depth - 1);
    keep += 1;
}
NOT_INLINED static unsigned jump_unseen(unsigned depth) {
    if (__builtin_setjmp(unseen) == 0) leave_unseen(depth);
    return depth;
}

static void unseen_jumps(void) {
    unsigned depth = 3;
    for (double end = cpu_time() + 1.0; cpu_time() < end; depth = 3 + (depth * 7 + 1) % 20) {
        const unsigned before = depth;
        if (jump_unseen(depth) != before) fail("a jump arrived elsewhere");
        keep += climb(depth / 2);
    }
}

/* Children. */
static void expect_child(pid_t child, int code) {
    int status = 0;
    while (waitpid(child, &status, __WALL) < 0)
        if (errno != EINTR) fail("no child");
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code) fail("a child ended in another way");
}

NOT_INLINED static int vfork_and_exec(const char* program) {
    char* const words[] = {(char*)program, NULL};
    const pid_t child = vfork();
    if (child == 0) {
        execve(program, words, environ);
        _exit(3);
    }
    if (child < 0) fail("vfork");
    expect_child(child, 0);
    return 1;
}

static void drop_preload(void) { // the children shall be quick
    unsetenv("LD_PRELOAD");
}

static void vforks(void) {
    drop_preload();
    for (int i = 0; i < 60; ++i) {
        keep += climb(20);
        vfork_and_exec("/bin/true");
        pid_t child = 0;
        char* const words[] = {"true", NULL};
        if (posix_spawn(&child, "/bin/true", NULL, NULL, words, environ) != 0) fail("posix_spawn");
        expect_child(child, 0);
        keep += climb(20);
        if (i % 10 != 0) continue;
        if (system("exit 0") != 0) fail("system");
        FILE* pipe = popen("echo line", "r");
        char line[16] = "";
        if (pipe == NULL || fgets(line, sizeof line, pipe) == NULL || strcmp(line, "line\n") != 0) fail("popen");
        if (pclose(pipe) != 0) fail("pclose");
    }
}

/* The child returns through all frames of its parent and goes on. */
static pid_t main_process;
enum Birth { Fork, RawClone };
NOT_INLINED static pid_t give_birth(unsigned depth, enum Birth birth) {
    spin(500);
    pid_t child = 0;
    if (depth == 0)
        child = birth == Fork ? fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    else
        child = give_birth(depth - 1, birth);
    spin(500);
    return child;
}

NOT_INLINED static void children_of(enum Birth birth, int times) {
    for (int i = 0; i < times; ++i) {
        keep += climb(30);
        const pid_t child = give_birth(10 + i % 20, birth);
        if (child < 0) fail("no child");
        if (child == 0) {
            for (int again = 0; again < 50; ++again) keep += climb(30);
            exit(5); // with all that a normal end does
        }
        keep += climb(10);
        expect_child(child, 5);
    }
}

static void forks(void) { children_of(Fork, 40); }
static void raw_clones(void) { children_of(RawClone, 40); }

NOT_INLINED static pid_t fork_and_exec(unsigned depth) {
    const pid_t child = depth == 0 ? fork() : fork_and_exec(depth - 1);
    spin(300);
    return child;
}
static void fork_execs(void) {
    drop_preload();
    for (int i = 0; i < 40; ++i) {
        keep += climb(30);
        const pid_t child = fork_and_exec(i % 20);
        if (child == 0) {
            execl("/bin/true", "true", NULL);
            _exit(3);
        }
        expect_child(child, 0);
    }
}

/* As vfork, by hand: the child shares memory and thread-local storage with its parent. */
static int exec_true(void* nothing) {
    (void)nothing;
    keep += climb(20);
    execl("/bin/true", "true", NULL);
    _exit(3);
}
NOT_INLINED static void clone_and_exec(unsigned depth, char* stack_end) {
    spin(300);
    if (depth == 0) {
        const pid_t child = clone(exec_true, stack_end, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
        if (child < 0) fail("clone");
        expect_child(child, 0);
    } else {
        clone_and_exec(depth - 1, stack_end);
    }
    spin(300);
}
static void raw_vforks(void) {
    drop_preload();
    char* stack = malloc(65536);
    for (int i = 0; i < 60; ++i) {
        keep += climb(20);
        clone_and_exec((unsigned)i % 20, stack + 65536);
    }
    free(stack);
}

static volatile int stop;
static void* climb_until_stopped(void* nothing) {
    while (!stop) keep += climb(25);
    return nothing;
}
static void forks_of_threads(void) {
    pthread_t threads[3];
    for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, climb_until_stopped, NULL);
    children_of(Fork, 25);
    stop = 1;
    for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

/* Coroutines by ucontext, moved between threads. */
enum { coroutines = 4, coroutine_stack = 96 << 10 };
struct Coroutine {
    ucontext_t self, caller;
    unsigned resumed;
    int done;
    uint64_t sum;
    char* stack;
} coroutine[coroutines];

NOT_INLINED static uint64_t yield_below(struct Coroutine* co, unsigned depth) {
    uint64_t sum = spin(300);
    if (depth == 0)
        swapcontext(&co->self, &co->caller);
    else
        sum += yield_below(co, depth - 1);
    return sum + spin(300);
}
static void run_coroutine(int number) {
    struct Coroutine* co = &coroutine[number];
    for (unsigned i = 0; i < 200; ++i) co->sum += yield_below(co, 1 + i % 15);
    co->done = 1; // and on to uc_link
}
NOT_INLINED static void resume_below(struct Coroutine* co, unsigned depth) {
    spin(200);
    if (depth == 0)
        swapcontext(&co->caller, &co->self);
    else
        resume_below(co, depth - 1);
    spin(200);
}
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static void* resume_all(void* first) {
    for (int left = 1; left != 0;) {
        left = 0;
        for (int i = 0; i < coroutines; ++i) {
            struct Coroutine* co = &coroutine[(i + (int)(intptr_t)first) % coroutines];
            pthread_mutex_lock(&turn); // one at a time, by any thread
            if (!co->done) {
                resume_below(co, ++co->resumed % 10);
                left = 1;
            }
            pthread_mutex_unlock(&turn);
        }
    }
    return NULL;
}
static void run_coroutines(int threads) {
    for (int i = 0; i < coroutines; ++i) {
        getcontext(&coroutine[i].self);
        coroutine[i].stack = malloc(coroutine_stack);
        coroutine[i].self.uc_stack.ss_sp = coroutine[i].stack;
        coroutine[i].self.uc_stack.ss_size = coroutine_stack;
        coroutine[i].self.uc_link = &coroutine[i].caller;
        makecontext(&coroutine[i].self, (void (*)(void))run_coroutine, 1, i);
    }
    pthread_t thread[4];
    for (int i = 0; i < threads; ++i) pthread_create(&thread[i], NULL, resume_all, (void*)(intptr_t)i);
    resume_all(NULL);
    for (int i = 0; i < threads; ++i) pthread_join(thread[i], NULL);
    for (int i = 0; i < coroutines; ++i) {
        if (coroutine[i].sum != coroutine[0].sum) fail("coroutines differ");
        free(coroutine[i].stack);
    }
    keep += coroutine[0].sum;
}
static void own_coroutines(void) { run_coroutines(0); }
static void moved_coroutines(void) { run_coroutines(3); }

/* Switching by hand: what no library sees. */
void switch_stacks(void** from, void* to);
static void *worker_point, *main_point;
NOT_INLINED static uint64_t switch_below(unsigned depth, void** from, void** to) {
    uint64_t sum = spin(300);
    if (depth == 0)
        switch_stacks(from, *to);
    else
        sum += switch_below(depth - 1, from, to);
    return sum + spin(300);
}
static void work_by_hand(void) {
    for (unsigned i = 0;; ++i) keep += switch_below(1 + i % 17, &worker_point, &main_point);
}
NOT_INLINED static void switch_by_hand(char* stack_end) {
    worker_point = prepare_stack(stack_end, work_by_hand);
    unsigned i = 0;
    for (double end = cpu_time() + 1.2; cpu_time() < end; ++i) {
        uint64_t want = 0;
        const unsigned depth = i % 13;
        for (unsigned level = 0; level <= depth; ++level) want += 2 * spin(300);
        if (switch_below(depth, &main_point, &worker_point) != want) fail("a sum is wrong");
    }
}
static void switches_by_hand(void) {
    char* stack = malloc(65536);
    switch_by_hand(stack + 65536);
}
/* The other stack lies in a frame of this one. */
static void switches_inside_the_stack(void) {
    char stack[65536];
    memset(stack, 0x55, sizeof stack);
    switch_by_hand(stack + sizeof stack);
    keep += (uint64_t)stack[100];
}

/* The main thread goes on on the stack of another one, which waits on a small one meanwhile. */
static void *parked_point, *host_point, *home_point;
static char* waiting_stack;
static volatile int parked, visited;
static void wait_for_visitor(void) {
    void* left;
    parked = 1;
    while (!visited) sched_yield();
    visited = 0;
    switch_stacks(&left, host_point);
}
NOT_INLINED static uint64_t park_below(unsigned depth) {
    uint64_t sum = spin(300);
    if (depth == 0) {
        for (int i = 0; i < 3000; ++i) sum += spin(300) & 1; // samples
        switch_stacks(&parked_point, prepare_stack(waiting_stack + 65536, wait_for_visitor));
    } else {
        sum += park_below(depth - 1);
    }
    return sum + (uint64_t)compare_registers();
}
static void* be_visited(void* nothing) {
    for (unsigned i = 0; i < 60; ++i) {
        if (park_below(5 + i % 10) == 0) fail("a sum is wrong");
        switch_stacks(&host_point, home_point); // the visitor has returned through these frames, and goes home
    }
    return nothing;
}
static void visits(void) {
    waiting_stack = malloc(65536);
    pthread_t thread;
    pthread_create(&thread, NULL, be_visited, NULL);
    for (int i = 0; i < 60; ++i) {
        keep += climb(10);
        while (!parked) sched_yield();
        parked = 0;
        switch_stacks(&home_point, parked_point);
        visited = 1;
    }
    pthread_join(thread, NULL);
}

/* Coroutines that share one stretch of stack and are copied away while they wait, as Python's greenlets. */
struct Copied {
    void* point;
    char* copy;
    size_t size;
};
static struct Copied copied[3];
static char* shared_base; // the stretch ends here
struct Copied *leaving, *arriving; // asm, too
char copying_stack[65536] __attribute__((aligned(64)));
NOT_INLINED void copy_stacks(void) {
    leaving->size = (size_t)(shared_base - (char*)leaving->point);
    leaving->copy = realloc(leaving->copy, leaving->size);
    memcpy(leaving->copy, leaving->point, leaving->size);
    memcpy(arriving->point, arriving->copy, arriving->size);
}
void switch_copied(struct Copied* from, struct Copied* to);
NOT_INLINED static uint64_t copied_below(int self, unsigned depth) {
    uint64_t sum = spin(3000);
    if (depth == 0)
        switch_copied(&copied[self], &copied[(self + 1) % 3]);
    else
        sum += copied_below(self, depth - 1);
    return sum + spin(3000 + (unsigned)self);
}
NOT_INLINED static uint64_t copied_elsewhere(int self, unsigned depth) { // the same slots, other return addresses
    uint64_t sum = spin(3000);
    if (depth == 0)
        switch_copied(&copied[self], &copied[(self + 1) % 3]);
    else
        sum += copied_elsewhere(self, depth - 1);
    return sum + spin(2000 + (unsigned)self) + 1;
}
static void check_copied(int self, unsigned depth) {
    const int other = self % 2;
    uint64_t want = 0;
    for (unsigned level = 0; level <= depth; ++level)
        want += spin(3000) + (other ? spin(2000 + (unsigned)self) + 1 : spin(3000 + (unsigned)self));
    if ((other ? copied_elsewhere(self, depth) : copied_below(self, depth)) != want) fail("a sum is wrong");
}
/* Saves the caller away as coroutine 0 and goes on as another one, whose outer frames are the same. */
static volatile int born;
NOT_INLINED static void start_copied(int self) {
    born = self;
    switch_copied(&copied[0], &copied[0]);
    if (born == 0) return; // resumed
    born = 0;
    if (self == 1) switch_copied(&copied[1], &copied[0]); // waits until all are there
    for (unsigned i = 0;; ++i) check_copied(self, 3 + i % 9);
}
/* The stretch lies below what must stay, and begins as short as can be: a stretch that two coroutines go on from may hold a mark twice. */
NOT_INLINED static void run_copied(double end) {
    char* room = alloca(4096);
    room[0] = 1;
    shared_base = (char*)(((uintptr_t)room + 63) & ~(uintptr_t)63);
    start_copied(1);
    start_copied(2);
    for (unsigned i = 0; cpu_time() < end; ++i) check_copied(0, 3 + i % 8);
}
static void copies(void) { run_copied(cpu_time() + 1.5); }

/* Stack overflow, caught on another stack, again and again. */
static sigjmp_buf before_overflow;
static void on_overflow(int signal) {
    (void)signal;
    siglongjmp(before_overflow, 1);
}
NOT_INLINED static uint64_t overflow(uint64_t depth) {
    volatile char room[512];
    room[0] = (char)depth;
    const uint64_t below = overflow(depth + 1);
    return below + (uint64_t)room[0];
}
static void use_alternate_stack(void) {
    static char room[65536];
    const stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    sigaltstack(&stack, NULL);
}
static void overflows(void) {
    use_alternate_stack();
    const struct sigaction action = {.sa_handler = on_overflow, .sa_flags = SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
    volatile int caught = 0;
    for (int i = 0; i < 40; ++i) {
        if (sigsetjmp(before_overflow, 1) == 0) keep += overflow(0);
        ++caught;
        keep += climb(20);
    }
    if (caught != 40) fail("an overflow was not caught");
}

/* Handlers inside handlers. */
static volatile int nesting;
NOT_INLINED static void on_nested(int signal) {
    keep += climb(5);
    if (++nesting < 8) raise(signal);
    keep += climb(5);
    --nesting;
}
static void on_leaving(int signal) {
    (void)signal;
    keep += climb(10);
    siglongjmp(before_overflow, 2);
}
NOT_INLINED static void raise_below(unsigned depth, int signal) {
    spin(200);
    if (depth == 0)
        raise(signal);
    else
        raise_below(depth - 1, signal);
    spin(200);
}
static void handlers(void) {
    use_alternate_stack();
    struct sigaction action = {.sa_handler = on_nested, .sa_flags = SA_NODEFER};
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_leaving;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    unsigned i = 0;
    for (double end = cpu_time() + 1.2; cpu_time() < end; ++i) {
        raise_below(i % 20, SIGUSR1);
        if (sigsetjmp(before_overflow, 1) == 0) raise_below(i % 15, SIGUSR2);
        nesting = 0;
    }
}

/* Shapes of frames. */
NOT_INLINED static uint64_t in_variable_array(unsigned size, unsigned depth) {
    volatile char room[size];
    room[0] = (char)size;
    room[size - 1] = 1;
    const uint64_t below = depth == 0 ? spin(200) : in_variable_array(size + 24, depth - 1);
    return below + (uint64_t)room[size - 1];
}
NOT_INLINED static uint64_t in_aligned(unsigned depth) {
    volatile double room[8] __attribute__((aligned(64)));
    if (((uintptr_t)room & 63) != 0) fail("the stack is not aligned");
    room[0] = depth;
    const uint64_t below = depth == 0 ? spin(200) : in_aligned(depth - 1);
    return below + (uint64_t)room[0];
}
static jmp_buf no_return;
NOT_INLINED __attribute__((noreturn)) static void never_returns(unsigned depth) {
    spin(300);
    if (depth == 0) longjmp(no_return, 1);
    never_returns(depth - 1);
}
NOT_INLINED static void ends_in_noreturn(unsigned depth) {
    if (setjmp(no_return) == 0) never_returns(depth);
}
__attribute__((optimize("optimize-sibling-calls"))) NOT_INLINED static uint64_t tail_b(unsigned depth, uint64_t sum);
__attribute__((optimize("optimize-sibling-calls"))) NOT_INLINED static uint64_t tail_a(unsigned depth, uint64_t sum) {
    sum += spin(100);
    return depth == 0 ? sum : tail_b(depth - 1, sum);
}
NOT_INLINED static uint64_t tail_b(unsigned depth, uint64_t sum) {
    sum += spin(110);
    return depth == 0 ? sum : tail_a(depth - 1, sum);
}
/* Without unwind information, in the middle of the stack; once with a frame pointer, once without. */
uint64_t undescribed(uint64_t (*function)(unsigned), unsigned argument);
uint64_t undescribed_frame(uint64_t (*function)(unsigned), unsigned argument);
static uint64_t climb_once(unsigned depth) { return climb(depth); }
static void shapes(void) {
    unsigned i = 0;
    for (double end = cpu_time() + 1.5; cpu_time() < end; ++i) {
        const unsigned depth = i % 12;
        keep += in_variable_array(1 + i % 700, depth) + in_aligned(depth) + tail_a(depth, 1);
        ends_in_noreturn(depth);
        if (undescribed(climb_once, depth) != climb(depth) || undescribed_frame(climb_once, depth) != climb(depth))
            fail("a sum is wrong");
    }
}

/* Unwind information that is wrong: it does not tell of the words that were pushed, one of which looks like a return
 * address. Debuggers and exceptions are lost there, the program is not. */
uint64_t misdescribed(uint64_t (*function)(unsigned), unsigned argument);
static void wrong_descriptions(void) {
    unsigned i = 0;
    for (double end = cpu_time() + 1.2; cpu_time() < end; ++i)
        if (misdescribed(climb_once, i % 12) != climb(i % 12)) fail("a word of the stack was changed");
}

static uint64_t deep_sum;
NOT_INLINED static uint64_t dive(unsigned depth) {
    const uint64_t own = depth % 64 == 0 ? spin(50) : depth;
    return depth == 0 ? own : dive(depth - 1) + own;
}
static void deep(void) {
    for (double end = cpu_time() + 1.2; cpu_time() < end;) {
        const uint64_t sum = dive(20000);
        if (deep_sum != 0 && sum != deep_sum) fail("a sum is wrong");
        deep_sum = sum;
        keep += climb(30);
    }
}

static void* climb_for_a_while(void* nothing) {
    for (int i = 0; i < 3000; ++i) keep += climb(6);
    return nothing;
}
static void tiny_stacks(void) {
    for (int i = 0; i < 6; ++i) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN) != 0) fail("the smallest stack");
        pthread_t threads[4];
        for (int k = 0; k < 4; ++k)
            if (pthread_create(&threads[k], &attributes, climb_for_a_while, NULL) != 0) fail("pthread_create");
        for (int k = 0; k < 4; ++k) pthread_join(threads[k], NULL);
    }
}

/* Looks at the stack. The frames of main and below are of interest; their number and order must be as it is. */
NOT_INLINED static int trace_below(unsigned depth) {
    spin(500);
    int count = 0;
    if (depth == 0) {
        void* frames[100];
        count = backtrace(frames, 100);
        for (int i = 0; i + 1 < count; ++i)
            if (frames[i] == frames[i + 1] && depth != 0) fail("a frame twice");
    } else {
        count = trace_below(depth - 1);
    }
    spin(500);
    return count;
}
/* The first look loads the unwinder. */
static void first_trace(void) {
    const int first = trace_below(0);
    if (trace_below(0) != first) fail("the first backtrace has another length");
}
static void traces(void) {
    const int base = trace_below(0);
    unsigned i = 0;
    for (double end = cpu_time() + 1.2; cpu_time() < end; ++i)
        if (trace_below(i % 40) != base + (int)(i % 40)) fail("a backtrace has another length");
}

/* Threads that come and go, with stacks too large to be kept for the next one. */
static void* nothing_much(void* nothing) { return nothing; }
static void large_stacks(void) {
    for (int i = 0; i < 30; ++i) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstacksize(&attributes, (size_t)64 << 20);
        pthread_t thread;
        if (pthread_create(&thread, &attributes, nothing_much, NULL) != 0) fail("pthread_create");
        pthread_join(thread, NULL);
        if (pthread_create(&thread, NULL, climb_for_a_while, NULL) != 0) fail("pthread_create");
        pthread_join(thread, NULL);
    }
}

/* Asynchronous cancellation: at any instruction. */
static void* climb_asynchronously(void* nothing) {
    int old;
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    for (;;) keep += climb(3);
    return nothing;
}
static void cancellations(void) {
    for (int i = 0; i < 150; ++i) {
        pthread_t thread;
        void* result = NULL;
        if (pthread_create(&thread, NULL, climb_asynchronously, NULL) != 0) fail("pthread_create");
        const struct timespec moment = {0, 5000000 + i * 1237};
        nanosleep(&moment, NULL);
        pthread_cancel(thread);
        pthread_join(thread, &result);
        if (result != PTHREAD_CANCELED) fail("not cancelled");
    }
}

/* Functions that are called at the beginning and end of others (-finstrument-functions): the call sites they are told. */
static void* entered[64];
static int level, other_sites;
NOT_INLINED static void on_enter(void* site) { entered[level++] = site; }
NOT_INLINED static void on_exit_from(void* site) {
    if (entered[--level] != site) ++other_sites;
}
NOT_INLINED static uint64_t instrumented(unsigned depth) {
    on_enter(__builtin_return_address(0));
    uint64_t sum = spin(300);
    if (depth != 0) sum += instrumented(depth - 1);
    sum += spin(300);
    on_exit_from(__builtin_return_address(0));
    return sum;
}
static void instrumentation(void) {
    unsigned i = 0;
    for (double end = cpu_time() + 1.0; cpu_time() < end; ++i) keep += instrumented(i % 30);
    if (level != 0) fail("entries and exits do not match");
    // `other_sites` of them were told the address of the mark: docs/limits.md.
}

static void aborts(void) {
    keep += climb(30);
    for (int i = 0; i < 300; ++i) keep += climb(10);
    abort();
}

static const struct {
    const char* name;
    void (*run)(void);
} modes[] = {
    {"registers", registers}, {"return_values", return_values}, {"setjmp", setjmp_loops}, {"unseen_jumps", unseen_jumps},
    {"vforks", vforks}, {"forks", forks}, {"raw_clones", raw_clones}, {"fork_execs", fork_execs}, {"raw_vforks", raw_vforks},
    {"forks_of_threads", forks_of_threads}, {"coroutines", own_coroutines}, {"moved_coroutines", moved_coroutines},
    {"switches", switches_by_hand}, {"inner_switches", switches_inside_the_stack}, {"visits", visits}, {"copies", copies},
    {"overflows", overflows}, {"handlers", handlers}, {"shapes", shapes}, {"wrong_descriptions", wrong_descriptions},
    {"deep", deep}, {"tiny_stacks", tiny_stacks}, {"traces", traces}, {"first_trace", first_trace}, {"large_stacks", large_stacks},
    {"cancellations", cancellations}, {"instrumentation", instrumentation}, {"aborts", aborts},
};

int main(int argc, char** argv) {
    main_process = getpid();
    for (size_t i = 0; i < sizeof modes / sizeof *modes; ++i)
        if (argc > 1 && strcmp(argv[1], modes[i].name) == 0) {
            modes[i].run();
            printf("%s: survived\n", argv[1]);
            return 0;
        }
    fail("no such mode");
}
