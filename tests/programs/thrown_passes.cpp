// A program without markers that leaves every n-th pass of its time loop by an exception: thrown_passes KIND N PASSES.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <ctime>

namespace {

volatile double sink;

[[gnu::noipa]] void work(double us) {
    timespec begin{}, now{};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do {
        for (int i = 0; i < 50; ++i) sink = sink + i * 0.5;
        clock_gettime(CLOCK_MONOTONIC, &now);
    } while (static_cast<double>(now.tv_sec - begin.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec - begin.tv_nsec) / 1e3 < us);
}

/// Its destructor runs on the way of the exception.
struct Report {
    bool is_told = false;
    ~Report() {
        if (is_told) MPI_Bcast(&is_told, 1, MPI_CXX_BOOL, 0, MPI_COMM_WORLD);
    }
};

[[gnu::noipa]] void advance(bool fails) {
    work(2000);
    double one = 1, all = 0;
    MPI_Allreduce(&one, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (fails) throw 1;
    sink = all;
}
[[gnu::noipa]] void advance_and_report(bool fails) {
    Report report;
    report.is_told = fails;
    advance(fails);
    sink = 1;
}
[[gnu::noipa]] void deep(int depth, bool fails) {
    depth == 0 ? advance(fails) : deep(depth - 1, fails);
    sink = depth;
}
[[gnu::noipa]] void caught_inside(bool fails) {
    try {
        deep(3, fails);
    } catch (int) {
        sink = 2;
    }
}
[[gnu::noipa]] void thrown_again(bool fails) {
    try {
        deep(3, fails);
    } catch (int) {
        throw;
    }
}

template <class Step> [[gnu::always_inline]] inline void loop(int every, int passes, Step step) {
    for (int i = 0; i < passes; ++i) {
        try {
            step(i % every == every - 1);
        } catch (int) {
            sink = 3;
        }
    }
}
[[gnu::noipa]] void caught_here(int every, int passes) { loop(every, passes, advance); }
[[gnu::noipa]] void caught_within(int every, int passes) { loop(every, passes, caught_inside); }
[[gnu::noipa]] void rethrown(int every, int passes) { loop(every, passes, thrown_again); }
[[gnu::noipa]] void with_destructors(int every, int passes) { loop(every, passes, advance_and_report); }

} // namespace

int main(int count, char** arguments) {
    MPI_Init(&count, &arguments);
    const int every = std::atoi(arguments[2]), passes = std::atoi(arguments[3]);
    const auto is = [&](const char* kind) { return std::strcmp(arguments[1], kind) == 0; };
    if (is("caught_here")) caught_here(every, passes);
    if (is("caught_within")) caught_within(every, passes);
    if (is("rethrown")) rethrown(every, passes);
    if (is("with_destructors")) with_destructors(every, passes);
    MPI_Finalize();
}
