// Extreme programs. Each run has one mode and a size:
//   threads N      N threads at the same time, each computes and makes MPI calls
//   paths N        MPI calls on 2^N different call paths
//   iterations N   N iterations of two MPI calls each
//   late N         paths, then two iterations
//   names N        N phases with different names, then two iterations
//   deep N         MPI calls and computing below N frames of recursion
// `seccomp` in front of the mode makes the kernel refuse (EPERM) perf_event_open, timer_create, membarrier and
// process_vm_readv first, as containers do. Prints what it has computed. The exit code is 1 if anything is wrong.
#include <libprofile.h>
#include <mpi.h>

#include <cerrno>
#include <condition_variable>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mutex>
#include <pthread.h>
#include <string>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace {

volatile double sink;

[[noreturn]] void fail(const char* what) {
    std::fprintf(stderr, "extremes: %s\n", what);
    std::exit(1);
}

void compute(double seconds) {
    timespec begin{}, now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 1000; ++i) sink = sink + i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while (static_cast<double>(now.tv_sec - begin.tv_sec) + static_cast<double>(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
}

long ask() {
    int rank = -1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank >= 0 ? 1 : 0;
}

struct Crowd {
    std::mutex mutex;
    std::condition_variable changed;
    long waiting = 0;
    long wanted = 0;
    long calls = 0;
};

/// Computes, then waits for all the others, so that all of them live at the same time.
void* live(void* argument) {
    Crowd& crowd = *static_cast<Crowd*>(argument);
    compute(0.001);
    const long calls = ask() + ask();
    std::unique_lock lock(crowd.mutex);
    crowd.calls += calls;
    if (++crowd.waiting == crowd.wanted) crowd.changed.notify_all();
    crowd.changed.wait(lock, [&crowd] { return crowd.waiting == crowd.wanted; });
    return nullptr;
}

long threads(long count) {
    Crowd crowd;
    crowd.wanted = count;
    std::vector<pthread_t> crew(static_cast<std::size_t>(count));
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    for (pthread_t& thread : crew)
        if (pthread_create(&thread, &small, live, &crowd) != 0) fail("no more threads");
    for (const pthread_t thread : crew) pthread_join(thread, nullptr);
    return crowd.calls;
}

/// Both branches are calls of their own: two paths for each level.
[[gnu::noinline]] long branch(long depth) {
    if (depth == 0) return ask();
    long sum = branch(depth - 1);
    sum += branch(depth - 1);
    return sum;
}

long iterations(long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        profile_iteration_begin("step");
        sum += ask();
        if (i % 3 == 0) sum += ask();
        profile_iteration_end("step");
    }
    return sum;
}

long names(long count) {
    long sum = 0;
    for (long i = 0; i < count; ++i) {
        const std::string name = "phase " + std::to_string(i);
        profile_phase_begin(name.c_str());
        sum += ask();
        profile_phase_end(name.c_str());
    }
    return sum + iterations(2);
}

[[gnu::noinline]] long fall(long depth) {
    long sum = 0;
    if (depth == 0) {
        for (int i = 0; i < 1000; ++i) sum += ask();
        compute(0.3);
    } else {
        sum = fall(depth - 1);
    }
    asm volatile("" : "+r"(sum)); // no tail call
    return sum;
}

struct Fall {
    long depth = 0;
    long sum = 0;
};

void* fall_in_thread(void* argument) {
    auto& fall_of = *static_cast<Fall*>(argument);
    fall_of.sum = fall(fall_of.depth);
    return nullptr;
}

/// On a thread with a stack for it.
long deep(long count) {
    Fall task{count, 0};
    pthread_attr_t large;
    pthread_attr_init(&large);
    pthread_attr_setstacksize(&large, static_cast<std::size_t>(count) * 256 + (1 << 20));
    pthread_t thread;
    if (pthread_create(&thread, &large, fall_in_thread, &task) != 0) fail("no thread");
    pthread_join(thread, nullptr);
    return task.sum;
}

void refuse_system_calls() {
    std::vector<sock_filter> filter;
    filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<__u32>(offsetof(seccomp_data, nr))));
    for (const long call : {SYS_perf_event_open, SYS_timer_create, SYS_membarrier, SYS_process_vm_readv}) {
        filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<__u32>(call), 0, 1));
        filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM));
    }
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        fail("no seccomp");
}

} // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "seccomp") == 0) {
        refuse_system_calls();
        ++argv;
        --argc;
    }
    if (argc != 3) fail("usage: extremes [seccomp] threads|paths|iterations|deep|late|names N");
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided < MPI_THREAD_MULTIPLE) fail("no threads");
    const std::string mode = argv[1];
    const long size = std::strtol(argv[2], nullptr, 10);
    long result = 0;
    if (mode == "threads") result = threads(size);
    else if (mode == "paths") result = branch(size);
    else if (mode == "iterations") result = iterations(size);
    else if (mode == "deep") result = deep(size);
    else if (mode == "late") result = branch(size) + iterations(2);
    else if (mode == "names") result = names(size);
    else fail("no such mode");
    std::printf("extremes: %s %ld: %ld calls\n", mode.c_str(), size, result);
    MPI_Finalize();
    return 0;
}
