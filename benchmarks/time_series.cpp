// Measures the analysis of time series (tools/timeseries) on generated traces: processor time and memory. docs/time-series-analysis.md has the results.
//
//   time_series RANKS SAMPLES [loops|no_loops|irregular]
//
// Each rank runs time steps: work on deep call paths that differs between ranks, an inner loop of a solver that ends passes in MPI_Allreduce, an exchange of
// neighbours; every 50th step rank 0 writes while the others wait. `no_loops`: nothing is known of the code. `irregular`: nothing repeats.
#include "tests/unit/tools_timeseries_program.hpp"
#include "tools/timeseries/job_series.hpp"
#include "tools/timeseries/segments.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include <sys/resource.h>

using namespace libprofile;
using namespace libprofile::test;

namespace {

double processor_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

long peak_mib() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

struct Random {
    std::uint64_t state;
    std::uint32_t below(std::uint32_t n) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>((state >> 33) % n);
    }
};

/// Writes the trace of one rank: knows which activations the sample before was in.
class Writer {
  public:
    Writer(MadeUpProgram& program, Trace& trace, std::size_t samples) : program_(program), trace_(trace), samples_(samples) {
        trace.stride = 1;
        trace.samples.reserve(samples);
    }
    bool is_full() const { return trace_.samples.size() >= samples_; }
    /// `n` samples in the function called through these lines, in new activations of all but the first `stay` functions.
    void in(std::initializer_list<std::uint64_t> lines, std::uint32_t n, std::uint32_t stay, const char* mpi = nullptr, Random* random = nullptr) {
        std::uint32_t path = main_;
        for (const std::uint64_t line : lines) path = program_.call(path, line);
        for (std::uint32_t i = 0; i < n && !is_full(); ++i) {
            const std::uint32_t leaf =
                mpi != nullptr ? program_.mpi(path, mpi, TimeCategory::MpiColl) : program_.call(path, 1000 + (random ? random->below(40) : 0));
            const std::uint32_t depth = static_cast<std::uint32_t>(lines.size()) + 1;
            time_ += 4'900'000 + (time_ * 2654435761u >> 7) % 200'000; // 5 ms, and some unrest
            trace_.samples.push_back({time_, leaf,
                                      i == 0           ? stay
                                      : mpi != nullptr ? depth
                                                       : depth + 1,
                                      trace_.samples.empty() ? LcaKind::Unknown : LcaKind::Exact});
        }
    }

  private:
    MadeUpProgram& program_;
    Trace& trace_;
    std::size_t samples_;
    std::uint32_t main_ = program_.call(0, 1);
    std::uint64_t time_ = 0;
};

void write_steps(Writer& to, Random& random, std::uint32_t rank) {
    to.in({5, 6}, 20, 1);
    for (std::uint32_t step = 0; !to.is_full(); ++step) {
        to.in({101, 11, 12, 13, 14}, 2 + random.below(3) + rank % 4, 2, nullptr, &random);
        to.in({101, 11, 12, 15}, 1 + random.below(2), 4, nullptr, &random);
        to.in({102, 21, 22}, 3 + random.below(2), 2, nullptr, &random);
        for (std::uint32_t pass = 0; pass < 6 && !to.is_full(); ++pass) {
            to.in({103, 31, 61}, 1 + random.below(2), pass == 0 ? 2 : 3, nullptr, &random);
            for (const std::uint64_t line : {32, 33, 34}) to.in({103, line}, 1, 3, nullptr, &random);
            to.in({103, 35}, random.below(3), 3, "MPI_Allreduce");
        }
        to.in({104, 41}, 1 + (3 - rank % 4), 2, "MPI_Waitall");
        if (step % 50 == 49) rank == 0 ? to.in({105, 51, 52}, 30, 2, nullptr, &random) : to.in({106}, 30, 2, "MPI_Barrier");
    }
}

void write_irregular(Writer& to, Random& random) {
    while (!to.is_full())
        to.in({5 + random.below(30), 50 + random.below(30), 100 + random.below(30)}, 1 + random.below(3), 1 + random.below(3), nullptr, &random);
}

} // namespace

int main(int argc, char** argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: time_series RANKS SAMPLES [loops|no_loops|irregular]\n");
        return 2;
    }
    const std::uint32_t ranks = static_cast<std::uint32_t>(std::atoi(argv[1]));
    const std::size_t samples = static_cast<std::size_t>(std::atoll(argv[2]));
    const std::string_view what = argc > 3 ? argv[3] : "loops";
    MadeUpProgram program;
    program.loops.loops = {{100, 110}, {30, 35}};
    std::vector<Location> locations(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        locations[rank].rank = rank;
        Random random{rank + 1};
        Writer writer(program, locations[rank].trace, samples);
        if (what == "irregular")
            write_irregular(writer, random);
        else
            write_steps(writer, random, rank);
    }
    SeriesInput input{program.profile, {}, what == "loops" ? &program.loops : nullptr, nullptr};
    for (const Location& location : locations) input.threads.push_back(&location);
    const long before_mib = peak_mib();
    const double before = processor_seconds();
    const TimeSeriesParameters parameters;
    const JobSeries job = job_series(input, parameters);
    const double built = processor_seconds();
    const std::vector<NodeLoss> losses = node_losses(program.profile, job.contexts, job.mean);
    const std::vector<SignificantPath> paths = significant_paths(losses, job.mean.high, parameters);
    const std::vector<Segment> cut = segments(losses, paths, job.mean.high, parameters);
    std::printf("%u ranks x %zu samples, %s: %.2f s user (losses %.2f s), %ld MiB of which traces %ld MiB\n", ranks, samples, argc > 3 ? argv[3] : "loops",
                processor_seconds() - before, processor_seconds() - built, peak_mib(), before_mib);
    std::printf("%zu clusters, %zu nodes in the mean, %zu significant call paths, %zu segments\n", job.clusters.size(), losses.size(), paths.size(),
                cut.size());
    for (const LoopTotals& loop : job.loops)
        std::printf("loop@%llu: %llu runs, %llu accepted, %llu rejected, %llu profiles\n", static_cast<unsigned long long>(job.contexts[loop.context].loop),
                    static_cast<unsigned long long>(loop.runs), static_cast<unsigned long long>(loop.accepted), static_cast<unsigned long long>(loop.rejected),
                    static_cast<unsigned long long>(loop.profiles));
}
