// Uses its stack in many ways, random but repeatable: soak MODE ROUNDS [SEED].
// Modes: recursion, exceptions, longjmp, threads, mpi, signals, contexts, mixed. Prints a checksum of what it computed.
#include <mpi.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <ucontext.h>
#include <vector>

#pragma GCC diagnostic ignored "-Winfinite-recursion"
#define NOT_INLINED [[gnu::noinline, gnu::noclone, gnu::noipa]]

namespace {

/// All randomness of one thread.
struct Random {
    std::uint64_t state;
    std::uint64_t next() {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return state;
    }
    unsigned below(unsigned limit) { return static_cast<unsigned>((next() >> 33) % limit); }
};

/// Some hundred nanoseconds to some microseconds of arithmetic, with values in vector and x87 registers.
NOT_INLINED double work(Random& random) {
    double sum = 0;
    long double extended = 1;
    const unsigned n = 20 + random.below(400);
    for (unsigned i = 0; i < n; ++i) {
        sum += 1.0 / (1.0 + static_cast<double>((random.next() >> 40) & 1023));
        extended += 1.0L / (i + 1);
    }
    return sum + static_cast<double>(extended);
}

struct Pair {
    long double a;
    double b;
};

enum class Action { Work, Throw, Jump, Mpi, Signal, Switch };

struct Task {
    Random random;
    Action action = Action::Work;
    unsigned depth = 40; // at most
    std::jmp_buf* target = nullptr;
    bool mpi = false;
    double destructors = 0;
};

/// Works in its destructor, also while an exception passes.
struct Guard {
    explicit Guard(Task& owner) : task(owner) {}
    ~Guard() { task.destructors += work(task.random); }
    Task& task;
};

double descend(Task& task, unsigned depth);

NOT_INLINED double through_stack(Task& task, unsigned depth) { return descend(task, depth) + 1; }

NOT_INLINED Pair through_pair(Task& task, unsigned depth) { // returns in st0 and xmm0
    const double below = descend(task, depth);
    return {static_cast<long double>(below) * 0.5L, below * 0.25};
}

NOT_INLINED double through_alloca(Task& task, unsigned depth) { // a frame found by rbp
    const unsigned size = 16 + task.random.below(500);
    auto* room = static_cast<volatile char*>(__builtin_alloca(size));
    room[0] = 1;
    room[size - 1] = 2;
    const double below = descend(task, depth);
    return below + room[0] + room[size - 1];
}

NOT_INLINED double through_aligned(Task& task, unsigned depth) { // a frame that realigns the stack
    alignas(64) volatile double values[8] = {1, 2, 3};
    const double below = descend(task, depth);
    return below + values[0] + values[2];
}

NOT_INLINED double through_guard(Task& task, unsigned depth) { // something to clean up
    const Guard guard(task);
    return descend(task, depth) + 2;
}

NOT_INLINED double through_catch(Task& task, unsigned depth) {
    try {
        const Guard guard(task);
        return descend(task, depth);
    } catch (const std::runtime_error& error) {
        if (task.random.below(3) == 0) throw; // to the next one out
        return static_cast<double>(std::strlen(error.what()));
    }
}

NOT_INLINED double call_mpi(Task& task) {
    int rank = 0, flag = 0, size = 0;
    double in = 2, out = 0;
    switch (task.random.below(5)) {
    case 0: MPI_Comm_rank(MPI_COMM_WORLD, &rank); return rank;
    case 1: MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF); return out;
    case 2:
        for (int i = 0; i < 5; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
        return flag;
    case 3: MPI_Type_size(MPI_DOUBLE, &size); return size;
    default:
        MPI_Request requests[2];
        MPI_Irecv(&out, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &requests[0]);
        MPI_Isend(&in, 1, MPI_DOUBLE, 0, 5, MPI_COMM_SELF, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        return out;
    }
}

NOT_INLINED double bottom(Task& task) {
    const double result = work(task.random);
    switch (task.action) {
    case Action::Throw:
        if (task.random.below(2) == 0) throw std::runtime_error("down here");
        break;
    case Action::Jump:
        if (task.target != nullptr && task.random.below(2) == 0) std::longjmp(*task.target, 1);
        break;
    case Action::Mpi: return result + call_mpi(task);
    case Action::Signal:
        if (task.random.below(4) == 0) raise(SIGUSR1);
        break;
    default: break;
    }
    return result;
}

double descend(Task& task, unsigned depth) {
    if (depth == 0 || task.random.below(12) == 0) return bottom(task);
    double result = 0;
    const unsigned calls = 1 + (task.random.below(8) == 0 ? 1 : 0);
    for (unsigned i = 0; i < calls; ++i) {
        switch (task.random.below(6)) {
        case 0: result += through_stack(task, depth - 1); break;
        case 1: {
            const Pair pair = through_pair(task, depth - 1);
            result += static_cast<double>(pair.a) + pair.b;
            break;
        }
        case 2: result += through_alloca(task, depth - 1); break;
        case 3: result += through_aligned(task, depth - 1); break;
        case 4: result += through_guard(task, depth - 1); break;
        default: result += through_catch(task, depth - 1); break;
        }
        if (task.action == Action::Mpi && task.random.below(3) == 0) result += call_mpi(task);
    }
    return result;
}

/// longjmp out of `descend`: only through frames without destructors (anything else is undefined).
NOT_INLINED double plain(Task& task, unsigned depth) {
    volatile double result = work(task.random);
    if (depth == 0) return bottom(task);
    if (task.random.below(4) == 0) {
        std::jmp_buf here;
        std::jmp_buf* const outer = task.target;
        task.target = &here;
        if (setjmp(here) == 0)
            result = result + plain(task, depth - 1);
        else
            result = result + 3;
        task.target = outer;
    } else {
        result = result + plain(task, depth - 1) + plain(task, depth / 4);
    }
    return result;
}

double one_round(Task& task) {
    if (task.action == Action::Jump) {
        task.target = nullptr;
        return plain(task, 5 + task.random.below(10));
    }
    try {
        return descend(task, 1 + task.random.below(task.depth));
    } catch (const std::runtime_error&) {
        return 7;
    }
}

double run(Action action, unsigned rounds, std::uint64_t seed) {
    Task task;
    task.random.state = seed * 0x9e3779b97f4a7c15u + 1;
    task.action = action;
    double sum = 0;
    for (unsigned i = 0; i < rounds; ++i) sum += one_round(task);
    return sum + task.destructors;
}

// Threads: they end by returning, by pthread_exit from below, or are cancelled.

struct Ending {
    double* sum;
    ~Ending() { *sum += 1; }
};

struct Job {
    Action action;
    unsigned rounds;
    std::uint64_t seed;
    int ending;
    double sum;
};

NOT_INLINED void exit_from_below(Job& job, unsigned depth) {
    const Ending ending{&job.sum};
    if (depth == 0) pthread_exit(nullptr);
    exit_from_below(job, depth - 1);
}

NOT_INLINED void wait_for_cancel(Job& job, unsigned depth) {
    const Ending ending{&job.sum};
    if (depth == 0) {
        Random random{job.seed + 1};
        for (;;) {
            if (work(random) < 0) return;
            pthread_testcancel();
        }
    }
    wait_for_cancel(job, depth - 1);
}

void* run_job(void* data) {
    auto& job = *static_cast<Job*>(data);
    job.sum = run(job.action, job.rounds, job.seed);
    if (job.ending == 1) exit_from_below(job, 20);
    if (job.ending == 2) wait_for_cancel(job, 20);
    return nullptr;
}

double run_threads(unsigned rounds, std::uint64_t seed) {
    double sum = 0;
    constexpr Action actions[] = {Action::Work, Action::Throw, Action::Jump};
    constexpr unsigned at_once = 4;
    const unsigned generations = rounds / 50 + 1;
    for (unsigned g = 0; g < generations; ++g) {
        Job jobs[at_once];
        pthread_t threads[at_once];
        for (unsigned i = 0; i < at_once; ++i) {
            jobs[i] = {actions[(g + i) % 3], 12, seed + g * 16 + i, static_cast<int>((g / 3 + i) % 3), 0};
            if (pthread_create(&threads[i], nullptr, run_job, &jobs[i]) != 0) return -1;
        }
        for (unsigned i = 0; i < at_once; ++i) {
            if (jobs[i].ending == 2) pthread_cancel(threads[i]);
            pthread_join(threads[i], nullptr);
            if (jobs[i].ending != 2) sum += jobs[i].sum; // a cancelled one may have been stopped anywhere
        }
    }
    return sum;
}

// Signals: a handler on the same stack and one on a stack of its own, both of which compute.

double signal_sum = 0;

void on_signal(int) {
    Task task;
    task.random.state = 12345;
    task.depth = 10;
    signal_sum += descend(task, 8);
}

NOT_INLINED double run_signals(unsigned rounds, std::uint64_t seed, bool own_stack) {
    std::vector<char> room(256 << 10);
    stack_t stack{};
    stack.ss_sp = room.data();
    stack.ss_size = room.size();
    struct sigaction action {};
    action.sa_handler = on_signal;
    if (own_stack) {
        sigaltstack(&stack, nullptr);
        action.sa_flags = SA_ONSTACK;
    }
    sigaction(SIGUSR1, &action, nullptr);
    const double sum = run(Action::Signal, rounds, seed);
    if (own_stack) {
        stack.ss_flags = SS_DISABLE;
        sigaltstack(&stack, nullptr);
    }
    return sum + signal_sum;
}

// Contexts: coroutines that work on stacks of their own and give way in the middle.

ucontext_t main_context;
ucontext_t contexts[3];
double context_sum = 0;

NOT_INLINED double give_way(Random& random, int self, unsigned depth) {
    const double own = work(random);
    if (depth == 0) {
        swapcontext(&contexts[self], &main_context);
        return own;
    }
    return give_way(random, self, depth - 1) + own;
}

void coroutine(int self) {
    Random random{static_cast<std::uint64_t>(self) * 77 + 5};
    for (;;) context_sum += give_way(random, self, random.below(12));
}

NOT_INLINED double switch_below(Random& random, unsigned depth) {
    const double own = work(random);
    if (depth == 0) {
        swapcontext(&main_context, &contexts[random.below(3)]);
        return own;
    }
    return switch_below(random, depth - 1) + own;
}

double run_contexts(unsigned rounds, std::uint64_t seed) {
    static std::vector<char> rooms[3];
    for (int i = 0; i < 3; ++i) {
        rooms[i].resize(128 << 10);
        getcontext(&contexts[i]);
        contexts[i].uc_stack.ss_sp = rooms[i].data();
        contexts[i].uc_stack.ss_size = rooms[i].size();
        contexts[i].uc_link = &main_context;
        makecontext(&contexts[i], reinterpret_cast<void (*)()>(coroutine), 1, i);
    }
    Random random{seed + 3};
    double sum = 0;
    for (unsigned i = 0; i < rounds * 4; ++i) sum += switch_below(random, random.below(20));
    return sum + context_sum;
}

} // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const std::string mode = argc > 1 ? argv[1] : "recursion";
    const auto rounds = static_cast<unsigned>(argc > 2 ? std::atoi(argv[2]) : 100);
    const auto seed = static_cast<std::uint64_t>(argc > 3 ? std::atoi(argv[3]) : 1);
    double sum = 0;
    if (mode == "recursion" || mode == "mixed") sum += run(Action::Work, rounds, seed);
    if (mode == "exceptions" || mode == "mixed") sum += run(Action::Throw, rounds, seed);
    if (mode == "longjmp" || mode == "mixed") sum += run(Action::Jump, rounds / 4 + 1, seed);
    if (mode == "threads" || mode == "mixed") sum += run_threads(rounds, seed);
    if (mode == "mpi" || mode == "mixed") sum += run(Action::Mpi, rounds, seed);
    if (mode == "signals" || mode == "mixed") sum += run_signals(rounds, seed, false) + run_signals(rounds, seed, true);
    if (mode == "contexts" || mode == "mixed") sum += run_contexts(rounds, seed);
    std::printf("%s: %.17g\n", mode.c_str(), sum);
    MPI_Finalize();
    return 0;
}
