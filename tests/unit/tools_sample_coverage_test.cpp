// Jobs whose functions take known times, sampled at random: 95 % intervals hold the truth in 95 of 100 cells (function x selection).
#include "tools/analysis/sample_strata.hpp"
#include "tools/reader/sample_pools.hpp"

#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

namespace libprofile::tools {

namespace known_shares {

constexpr auto time_metric = static_cast<std::uint32_t>(Metric::Time), samples_metric = static_cast<std::uint32_t>(Metric::Samples);
constexpr std::uint32_t not_sampled = 1, first_frame = 2;
constexpr std::size_t functions = 5;
using Times = std::array<double, functions>; // ns

/// What iterations do: a kind has a call structure of its own, and its functions have these shares.
struct Kind {
    Times shares;
    double length = 1; // of the job's iterations
    double frequency = 1;
};
const std::vector<Kind> kinds = {{{0.45, 0.3, 0.2, 0.05, 0}, 1, 8}, {{0.1, 0.15, 0.05, 0.6, 0.1}, 1.5, 3}, {{0.02, 0.9, 0, 0.05, 0.03}, 3, 1}};

struct SimulatedJob {
    std::size_t ranks = 2;
    std::size_t iterations = 1000;
    double length = 5e6; // ns
    double period = 1e7;
    double spread = 0;                 // standard deviation of a function's time from iteration to iteration, as a part of the time
    bool is_regular = false;           // samples after exact periods
    std::uint32_t varying = functions; // the only function that differs; `functions`: all do
    double dense = 0;                  // so long from the start the period is a tenth; ns
};

/// A rank of a job: the truth, and what the reader makes of its samples.
struct Rank {
    PhaseData data;
    std::vector<Times> truth; // by iteration
};

class SampleCoverage : public testing::Test {
  protected:
    SampleCoverage() {
        profile_.paths = {{}, {0, NodeKind::NotSampled}};
        for (std::uint32_t i = 0; i < functions; ++i) profile_.paths.push_back({0, NodeKind::Frame, i});
        nodes_.resize(profile_.paths.size());
        metrics_.resize(cell_metrics);
        std::iota(nodes_.begin(), nodes_.end(), 0u);
        std::iota(metrics_.begin(), metrics_.end(), 0u);
    }

    Rank rank_of(const SimulatedJob& job) {
        std::vector<double> frequencies;
        for (const Kind& kind : kinds) frequencies.push_back(kind.frequency);
        std::discrete_distribution<std::uint32_t> kind_of(frequencies.begin(), frequencies.end());
        std::normal_distribution<double> normal;
        double now = 0; // of the thread's computing time
        const auto mean = [&] { return now < job.dense ? job.period / 10 : job.period; };
        const auto wait = [&] { return job.is_regular ? mean() : std::exponential_distribution<double>(1 / mean())(random_); };
        struct Hits {
            std::uint64_t samples = 0, ns = 0;
        };
        std::vector<std::map<std::uint32_t, Hits>> hits(kinds.size());
        std::vector<std::uint64_t> squares(kinds.size());
        std::vector<std::uint64_t> computing(kinds.size());
        Rank rank;
        rank.data.clusters.resize(kinds.size());
        double left = job.is_regular ? job.period * std::uniform_real_distribution<double>()(random_) : wait(); // until the next sample
        for (std::size_t i = 0; i < job.iterations; ++i) {
            const std::uint32_t kind = kind_of(random_);
            Times times{};
            std::uint64_t sum = 0;
            for (std::uint32_t f = 0; f < functions; ++f) {
                const double spread = job.varying == functions || job.varying == f ? job.spread : 0;
                times[f] = std::round(job.length * kinds[kind].length * kinds[kind].shares[f] * std::max(0.0, 1 + spread * normal(random_)));
                sum += static_cast<std::uint64_t>(times[f]);
                now += times[f];
                for (left -= times[f]; left < 0; left += wait()) {
                    const auto ns = static_cast<std::uint64_t>(mean());
                    ++hits[kind][f].samples;
                    hits[kind][f].ns += ns;
                    squares[kind] += (ns / 1000) * (ns / 1000);
                }
            }
            rank.truth.push_back(times);
            rank.data.cluster_of_iteration.push_back(kind);
            rank.data.iteration_ns.push_back(sum);
            computing[kind] += sum;
            ++rank.data.clusters[kind].size;
        }
        for (std::uint32_t k = 0; k < kinds.size(); ++k) {
            Cluster& cluster = rank.data.clusters[k];
            cluster.equivalence_class = k;
            for (const auto& [f, hit] : hits[k]) {
                cluster.cells.push_back({first_frame + f, time_metric, hit.ns});
                cluster.cells.push_back({first_frame + f, samples_metric, hit.samples});
                computing[k] -= hit.ns;
            }
            cluster.cells.insert(cluster.cells.begin(), {not_sampled, samples_metric, squares[k]});
            cluster.cells.insert(cluster.cells.begin(), {not_sampled, time_metric, computing[k]});
        }
        share_out_computing_time({nodes_, metrics_}, uses_of(profile_, nodes_), rank.data);
        return rank;
    }

    struct Count {
        std::size_t covered = 0, cells = 0;
        double percent() const { return 100 * static_cast<double>(covered) / static_cast<double>(cells); }
    };

    /// Of the functions of one selection.
    void judge(const std::vector<SampledSelection>& selections, const Times& truth, Count& count) {
        SampledStrata strata;
        std::map<std::uint32_t, SampledParts> parts;
        for (const SampledSelection& selection : selections)
            strata.add(selection, [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(parts[path], stratum, ns); });
        double all = 0;
        for (const SampleStratum& stratum : strata.list()) all += stratum.ns;
        for (std::uint32_t f = 0; f < functions; ++f) {
            const SampledParts& found = parts[first_frame + f];
            double estimate = 0;
            for (const auto& [stratum, ns] : found) estimate += ns;
            if (truth[f] == 0 && estimate == 0) continue;
            count.covered += std::abs(estimate - truth[f]) <= sampling_error(found, strata.list()) + 1 ? 1 : 0;
            ++count.cells;
        }
    }

    static void add(const Rank& rank, std::size_t first, std::size_t end, Times& to, std::uint32_t kind = kinds.size()) {
        for (std::size_t i = first; i < end; ++i)
            for (std::uint32_t f = 0; f < functions && (kind == kinds.size() || rank.data.cluster_of_iteration[i] == kind); ++f) to[f] += rank.truth[i][f];
    }

    SampledSelection cluster_of(const Rank& rank, std::uint32_t kind) {
        std::vector<IterationRange> ranges; // the iterations of a cluster
        for (std::uint64_t i = 0; i < rank.truth.size(); ++i)
            if (rank.data.cluster_of_iteration[i] == kind) ranges.push_back({i, i});
        return sampled_selection(profile_, rank.data, ranges);
    }

    SampledSelection range_of(const Rank& rank, IterationRange range) { return sampled_selection(profile_, rank.data, std::span(&range, 1)); }

    /// Coverage of the run (all ranks, two phases each), the phase of a rank, its clusters, and 20 iterations of it.
    std::map<std::string, Count> coverage(const SimulatedJob& job, std::size_t runs) {
        std::map<std::string, Count> result;
        for (std::size_t run = 0; run < runs; ++run) {
            std::vector<SampledSelection> whole;
            Times all{};
            for (std::size_t r = 0; r < job.ranks; ++r) {
                const Rank rank = rank_of(job);
                Times phase{};
                add(rank, 0, job.iterations, phase);
                for (std::uint32_t f = 0; f < functions; ++f) all[f] += phase[f];
                whole.push_back(sampled_selection(profile_, rank.data));
                if (r >= 4) continue; // as good as the others
                judge({whole.back()}, phase, result["phase"]);
                for (std::uint32_t k = 0; k < kinds.size(); ++k) {
                    Times cluster{};
                    add(rank, 0, job.iterations, cluster, k);
                    if (rank.data.clusters[k].size != 0) judge({cluster_of(rank, k)}, cluster, result["cluster"]);
                }
                const std::size_t first = random_() % (job.iterations - 20);
                Times range{};
                add(rank, first, first + 20, range);
                judge({range_of(rank, {first, first + 19})}, range, result["range"]);
            }
            judge(whole, all, result["run"]);
        }
        return result;
    }

    void expect_coverage(const std::string& name, const SimulatedJob& job, std::size_t runs, double most = 98, double most_of_range = 98) {
        random_.seed(7);
        std::string line;
        for (const auto& [level, count] : coverage(job, runs)) {
            char text[64];
            std::snprintf(text, sizeof text, " %s %.1f (%zu)", level.c_str(), count.percent(), count.cells);
            line += text;
            EXPECT_GE(count.percent(), 92) << name << ": " << level;
            EXPECT_LE(count.percent(), level == "range" ? most_of_range : most) << name << ": " << level;
        }
        std::printf("%-32s%s\n", name.c_str(), line.c_str());
    }

    Profile profile_;
    std::vector<std::uint32_t> nodes_, metrics_;
    std::mt19937_64 random_;
};

TEST_F(SampleCoverage, OfIterationsThatAreAlike) {
    expect_coverage("2 ranks, 0.2 ms", {2, 20000, 2e5}, 100);
    expect_coverage("4 ranks, 5 ms", {4, 1000, 5e6}, 100);
    expect_coverage("2 ranks, 50 ms", {2, 300, 5e7}, 100);
    // Most kinds have fewer samples on a rank than a pool needs.
    expect_coverage("64 ranks, 0.5 ms", {64, 4000, 5e5}, 25, 99);
    expect_coverage("64 ranks, 50 ms", {64, 100, 5e7}, 40);
}

/// It is not known which functions differ, so intervals of ranges are wider than needed for most.
TEST_F(SampleCoverage, OfIterationsThatDifferWithinTheirKind) {
    for (const double spread : {0.1, 0.5}) {
        expect_coverage("spread, 2 ranks, 0.2 ms", {2, 20000, 2e5, 1e7, spread}, 60, 98.5, 100);
        expect_coverage("spread, 4 ranks, 5 ms", {4, 1000, 5e6, 1e7, spread}, 60, 98.5, 100);
        expect_coverage("spread, 2 ranks, 50 ms", {2, 300, 5e7, 1e7, spread}, 60, 98.5, 100);
    }
    for (const std::uint32_t f : {0, 3}) {
        expect_coverage("one varies, 2 ranks, 0.2 ms", {2, 20000, 2e5, 1e7, 0.5, false, f}, 60, 98.5, 100);
        expect_coverage("one varies, 2 ranks, 50 ms", {2, 300, 5e7, 1e7, 0.5, false, f}, 60, 98.5, 100);
    }
}

/// As with LIBPROFILE_SAMPLE=auto: half of the samples are from the first tenth of the time, and stand for a tenth of the others' time.
TEST_F(SampleCoverage, OfSamplesThatAreDenserAtFirst) {
    expect_coverage("dense, 2 ranks, 0.2 ms", {2, 20000, 2e5, 1e7, 0, false, functions, 5e8}, 100);
    expect_coverage("dense, 4 ranks, 5 ms", {4, 1000, 5e6, 1e7, 0, false, functions, 6e8}, 100);
    expect_coverage("dense, 2 ranks, 50 ms", {2, 300, 5e7, 1e7, 0, false, functions, 2e9}, 100);
}

/// They are spread more evenly than random ones, and intervals are those of random ones.
TEST_F(SampleCoverage, OfSamplesAfterExactPeriodsIsNotLess) {
    expect_coverage("regular, 2 ranks, 0.2 ms", {2, 20000, 2e5, 1e7 + 12345, 0.1, true}, 60, 100, 100);
    expect_coverage("regular, 2 ranks, 50 ms", {2, 300, 5e7, 1e7 + 12345, 0.1, true}, 60, 100, 100);
}

/// It is one selection, like all iterations of a phase that has some.
TEST_F(SampleCoverage, OfAPhaseWithoutIterationsIsThatOfTheWhole) {
    PhaseData data;
    data.rest = {{not_sampled, time_metric, 40},
                 {first_frame, time_metric, 300},
                 {first_frame, samples_metric, 30},
                 {first_frame + 1, time_metric, 100},
                 {first_frame + 1, samples_metric, 10}};
    share_out_computing_time({nodes_, metrics_}, uses_of(profile_, nodes_), data);
    const IterationRange all;
    SampledStrata strata;
    std::map<std::uint32_t, SampledParts> parts;
    strata.add(sampled_selection(profile_, data, std::span(&all, 1)),
               [&](std::uint32_t path, std::uint32_t stratum, double ns) { add_part(parts[path], stratum, ns); });
    ASSERT_EQ(parts.size(), 2u);
    EXPECT_DOUBLE_EQ(parts[first_frame].front().second, 330);
    EXPECT_GT(sampling_error(parts[first_frame], strata.list()), 40);
    EXPECT_LT(sampling_error(parts[first_frame], strata.list()), 80);
}

} // namespace known_shares

} // namespace libprofile::tools
