// Threads that send, receive, put and wait at the same time (MPI_THREAD_MULTIPLE), each on a communicator and a window of
// its own. Each keeps a log of its calls; log.RANK.json has one entry per thread: "calls", "sent", "received" (bytes).
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 3;
int rank = 0, partner = 0;

struct Log {
    std::map<std::string, long> calls;
    long sent = 0, received = 0;
};

#define CALL(name, arguments) (++log.calls["MPI_" #name], MPI_##name arguments)

void expect(bool condition, const char* what) {
    if (condition)
        return;
    std::fprintf(stderr, "concurrent: wrong %s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 5);
}

double compute(int turns) {
    volatile double sum = 0;
    for (int i = 0; i < turns; ++i)
        sum = sum + i;
    return sum;
}

void messages(Log& log, MPI_Comm comm, int i) {
    constexpr int most = 64;
    int out[most], in[most] = {};
    const int count = 1 + i % most;
    const long bytes = count * static_cast<long>(sizeof(int));
    for (int& value : out)
        value = i;
    if (rank == 0) {
        CALL(Send, (out, count, MPI_INT, partner, 1, comm));
        CALL(Recv, (in, most, MPI_INT, partner, 1, comm, MPI_STATUS_IGNORE));
    } else {
        CALL(Recv, (in, most, MPI_INT, partner, 1, comm, MPI_STATUS_IGNORE));
        CALL(Send, (out, count, MPI_INT, partner, 1, comm));
    }
    expect(in[count - 1] == i, "message");
    MPI_Request requests[2];
    CALL(Irecv, (in, most, MPI_INT, partner, 2, comm, &requests[0]));
    CALL(Isend, (out, count, MPI_INT, partner, 2, comm, &requests[1]));
    if (i % 3 == 0) {
        CALL(Waitall, (2, requests, MPI_STATUSES_IGNORE));
    } else if (i % 3 == 1) {
        CALL(Wait, (&requests[1], MPI_STATUS_IGNORE));
        CALL(Wait, (&requests[0], MPI_STATUS_IGNORE));
    } else {
        for (MPI_Request& request : requests)
            for (int done = 0; done == 0;)
                CALL(Test, (&request, &done, MPI_STATUS_IGNORE));
    }
    log.sent += 2 * bytes;
    log.received += 2 * bytes;
}

void one_sided(Log& log, MPI_Win window, int i) {
    int value = i, back = -1;
    CALL(Win_lock, (MPI_LOCK_EXCLUSIVE, partner, 0, window));
    CALL(Put, (&value, 1, MPI_INT, partner, 0, 1, MPI_INT, window));
    CALL(Win_flush, (partner, window));
    CALL(Get, (&back, 1, MPI_INT, partner, 0, 1, MPI_INT, window));
    CALL(Win_unlock, (partner, window));
    expect(back == i, "value from the window");
}

void work(int t, MPI_Comm comm, MPI_Win window, Log& log) {
    for (int i = 0; i < 60 * (t + 1); ++i) {
        messages(log, comm, i);
        if (i % 4 == 0)
            one_sided(log, window, i);
        compute(200000);
    }
    int sum = 0;
    CALL(Allreduce, (&rank, &sum, 1, MPI_INT, MPI_SUM, comm));
    expect(sum == 1, "sum");
}

void write(const std::vector<Log>& logs) {
    std::FILE* file = std::fopen(("log." + std::to_string(rank) + ".json").c_str(), "w");
    const char* separator = "[";
    for (const Log& log : logs) {
        std::fprintf(file, "%s{\"sent\": %ld, \"received\": %ld, \"calls\": {", separator, log.sent,
                     log.received);
        const char* comma = "";
        for (const auto& [name, count] : log.calls) {
            std::fprintf(file, "%s\"%s\": %ld", comma, name.c_str(), count);
            comma = ", ";
        }
        std::fprintf(file, "}}");
        separator = ", ";
    }
    std::fprintf(file, "]\n");
    std::fclose(file);
}

} // namespace

int main(int argc, char** argv) {
    int provided = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    expect(provided == MPI_THREAD_MULTIPLE, "thread level");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    partner = 1 - rank;
    MPI_Comm comms[thread_count];
    MPI_Win windows[thread_count];
    int* memory[thread_count];
    for (int t = 0; t < thread_count; ++t) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
        MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, comms[t], &memory[t], &windows[t]);
    }
    std::vector<Log> logs(thread_count);
    std::vector<std::thread> threads;
    for (int t = 0; t < thread_count; ++t)
        threads.emplace_back([&, t] { work(t, comms[t], windows[t], logs[static_cast<std::size_t>(t)]); });
    for (std::thread& thread : threads)
        thread.join();
    for (int t = 0; t < thread_count; ++t) {
        MPI_Win_free(&windows[t]);
        MPI_Comm_free(&comms[t]);
    }
    write(logs);
    MPI_Finalize();
}
