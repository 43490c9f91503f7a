// threads MODE: an MPI program with threads.
//   messages    THREAD_MULTIPLE: thread t exchanges 100 * (t + 1) messages on its own communicator, in both directions
//   exceptions  threads that throw and catch, between and around MPI calls
//   ends        threads that end by return, pthread_exit and cancellation; all destructors must run
//   elsewhere   MPI is started, used and finalized by a thread that is not the main one
//   short       200 threads, one after the other, with 2 ms of processor time each and no MPI call
//   detached    threads that still run when the program ends
#include <mpi.h>

#include <libprofile.hpp>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

namespace {

int rank = 0;
std::atomic<int> destroyed{0}, caught{0};
constexpr int thread_count = 3;

struct Guard {
    ~Guard() { ++destroyed; }
};

void in_threads(const std::function<void(int)>& work) {
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
        threads.emplace_back(work, t);
    for (std::thread& thread : threads)
        thread.join();
}

void messages() {
    MPI_Comm comms[thread_count];
    for (MPI_Comm& comm : comms)
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    in_threads([&](int t) {
        const int partner = rank ^ 1;
        for (int i = 0; i < 100 * (t + 1); ++i) {
            int out = i, in = -1;
            MPI_Sendrecv(&out, 1, MPI_INT, partner, t, &in, 1, MPI_INT, partner, t, comms[t],
                         MPI_STATUS_IGNORE);
            if (in != i)
                MPI_Abort(MPI_COMM_WORLD, 4);
        }
    });
    for (MPI_Comm& comm : comms)
        MPI_Comm_free(&comm);
}

[[gnu::noinline]] int descend(int depth) {
    const Guard guard;
    if (depth == 0) {
        MPI_Barrier(MPI_COMM_SELF);
        throw std::runtime_error("bottom");
    }
    return descend(depth - 1) + 1;
}

void exceptions() {
    in_threads([](int t) {
        for (int i = 0; i < 4000; ++i)
            try {
                libprofile::phase phase("throwing");
                descend((i + t) % 30);
            } catch (const std::exception&) {
                ++caught;
            }
    });
}

[[gnu::noinline]] void leave(int depth) {
    const Guard guard;
    if (MPI_Barrier(MPI_COMM_SELF) != MPI_SUCCESS)
        return;
    if (depth == 0)
        pthread_exit(nullptr);
    leave(depth - 1);
}

void* exiting(void*) {
    leave(20);
    return nullptr;
}

void* waiting(void* started) {
    const Guard guard;
    *static_cast<std::atomic<bool>*>(started) = true;
    for (;;)
        pause(); // a cancellation point
}

void ends() {
    for (int i = 0; i < 20; ++i) {
        pthread_t first, second;
        std::atomic<bool> started{false};
        pthread_create(&first, nullptr, exiting, nullptr);
        pthread_create(&second, nullptr, waiting, &started);
        while (!started)
            usleep(100);
        pthread_cancel(second);
        void* result = nullptr;
        pthread_join(second, &result);
        caught += result == PTHREAD_CANCELED;
        pthread_join(first, nullptr);
    }
}

void detached() {
    for (int t = 0; t < thread_count; ++t)
        std::thread([] {
            for (;;)
                usleep(1000);
        }).detach();
    usleep(20000);
}

long long cpu_ns() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/// To the error stream: what the threads' own clocks say, which differs from run to run.
void short_ones() {
    long long sum = 0;
    for (int i = 0; i < 200; ++i)
        std::thread([&sum] {
            volatile double x = 0;
            while (cpu_ns() < 2000000)
                for (int k = 0; k < 1000; ++k)
                    x = x + k;
            sum += cpu_ns();
        }).join();
    std::fprintf(stderr, "%lld\n", sum);
}

int run(const std::string& mode) {
    int provided = 0;
    MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE)
        MPI_Abort(MPI_COMM_WORLD, 6);
    if (mode == "messages")
        messages();
    else if (mode == "exceptions")
        exceptions();
    else if (mode == "ends")
        ends();
    else if (mode == "short")
        short_ones();
    else if (mode == "detached")
        detached();
    MPI_Barrier(MPI_COMM_WORLD);
    std::printf("rank %d: destroyed %d, caught %d\n", rank, destroyed.load(), caught.load());
    std::fflush(stdout);
    MPI_Finalize();
    return 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "messages";
    if (mode != "elsewhere")
        return run(mode);
    std::thread([&] { run(mode); }).join();
}
