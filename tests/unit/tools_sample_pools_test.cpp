#include "tools/reader/sample_pools.hpp"

#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

namespace libprofile::tools {

namespace {

constexpr auto time_metric = static_cast<std::uint32_t>(Metric::Time), samples = static_cast<std::uint32_t>(Metric::Samples);
constexpr auto counter = static_cast<std::uint32_t>(metric_count);
constexpr std::uint32_t not_sampled = 1, mpi = 2, first_frame = 3;

class SamplePools : public testing::Test {
  protected:
    SamplePools() {
        profile_.paths = {{}, {0, NodeKind::NotSampled}, {0, NodeKind::Mpi, 0}};
        for (std::uint32_t i = 0; i < 6; ++i) profile_.paths.push_back({0, NodeKind::Frame, i});
        profile_.functions = {{"MPI_Allreduce", TimeCategory::MpiColl}};
        nodes_.resize(profile_.paths.size());
        metrics_.resize(cell_metrics);
        std::iota(nodes_.begin(), nodes_.end(), 0u);
        std::iota(metrics_.begin(), metrics_.end(), 0u);
    }
    /// @param computing its exact computing time  @param hits samples by frame, each of `period`
    static Cluster cluster(std::uint64_t computing, const std::vector<std::uint64_t>& hits, std::uint64_t equivalence_class = 0, std::uint64_t period = 1000) {
        Cluster result{1, equivalence_class, {}};
        for (std::uint32_t i = 0; i < hits.size(); ++i) {
            if (hits[i] == 0) continue;
            result.cells.push_back({first_frame + i, time_metric, hits[i] * period});
            result.cells.push_back({first_frame + i, samples, hits[i]});
            computing -= hits[i] * period;
        }
        if (computing != 0) result.cells.insert(result.cells.begin(), {not_sampled, time_metric, computing});
        return result;
    }
    void share_out() { share_out_computing_time({nodes_, metrics_}, uses_of(profile_, nodes_), data_); }
    static std::map<std::uint32_t, std::uint64_t> values(const std::vector<Cell>& cells, std::uint32_t metric = time_metric) {
        std::map<std::uint32_t, std::uint64_t> result;
        for (const Cell& cell : cells)
            if (cell.metric == metric) {
                EXPECT_TRUE(result.emplace(cell.path, cell.value).second) << "twice";
            }
        return result;
    }
    using Values = std::map<std::uint32_t, std::uint64_t>;

    Profile profile_;
    PhaseData data_;
    std::vector<std::uint32_t> nodes_, metrics_;
};

} // namespace

TEST_F(SamplePools, AClusterWithEnoughSamplesIsSharedOutByItsOwn) {
    data_.clusters = {cluster(1000, {6, 4}), cluster(2000, {0, 0, 20})};
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{first_frame, 600}, {first_frame + 1, 400}}));
    EXPECT_EQ(values(data_.clusters[1].cells), (Values{{first_frame + 2, 2000}}));
}

TEST_F(SamplePools, AClusterWithFewSamplesSharesThoseOfItsStructure) {
    data_.clusters = {cluster(1000, {10}, 0), cluster(500, {}, 1), cluster(50, {0, 9}, 1), cluster(100, {0, 0, 9}, 1), cluster(10, {0, 0, 0, 0, 0, 10}, 0)};
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{first_frame, 1000}}));
    for (const std::size_t c : {1u, 2u, 3u}) EXPECT_EQ(values(data_.clusters[c].cells).size(), 2u);
    EXPECT_EQ(values(data_.clusters[1].cells), (Values{{first_frame + 1, 250}, {first_frame + 2, 250}}));
    EXPECT_EQ(values(data_.clusters[2].cells, samples), (Values{{first_frame + 1, 9}})); // hits stay where they were
}

TEST_F(SamplePools, AClusterOfAnotherStructureJoinsTheSmallestPool) {
    data_.clusters = {cluster(1000, {50}, 0), cluster(1000, {0, 11}, 1), cluster(60, {0, 0, 1}, 2)};
    data_.rest = cluster(24, {}).cells;
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{first_frame, 1000}}));
    EXPECT_EQ(values(data_.clusters[2].cells), (Values{{first_frame + 1, 55}, {first_frame + 2, 5}}));
    EXPECT_EQ(values(data_.rest), (Values{{first_frame + 1, 22}, {first_frame + 2, 2}}));
}

TEST_F(SamplePools, OnlyAPhaseWithoutAnySampleIsNotSampled) {
    data_.clusters = {cluster(1000, {}), cluster(7, {})};
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{not_sampled, 1000}}));
    data_.rest = cluster(3, {0, 1}).cells;
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{first_frame + 1, 1000}}));
    EXPECT_EQ(values(data_.rest), (Values{{first_frame + 1, 3}}));
}

TEST_F(SamplePools, TimesOfCallsStayAndCountersAreSharedOutToo) {
    data_.clusters = {cluster(900, {20, 10})};
    data_.clusters[0].cells.push_back({mpi, time_metric, 77});
    data_.clusters[0].cells.push_back({not_sampled, counter, 90});
    data_.clusters[0].cells.push_back({first_frame, counter, 5}); // counted up to a sample
    data_.clusters[0].cells.push_back({mpi, counter, 6});
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells), (Values{{mpi, 77}, {first_frame, 600}, {first_frame + 1, 300}}));
    EXPECT_EQ(values(data_.clusters[0].cells, counter), (Values{{mpi, 6}, {first_frame, 65}, {first_frame + 1, 30}}));
}

TEST_F(SamplePools, APhaseOfVeryManyClustersUsesItsHeaviestPathsAndNothingIsNegative) {
    profile_.paths.resize(first_frame + 1000, {0, NodeKind::Frame});
    nodes_.resize(profile_.paths.size());
    std::iota(nodes_.begin(), nodes_.end(), 0u);
    for (std::size_t c = 0; c < 5000; ++c) {
        std::vector<std::uint64_t> hits(1000);
        hits[c % 1000] = 1 + (c % 1000 == 7 ? 3 : 0);
        data_.clusters.push_back(cluster(100, hits));
    }
    share_out();
    std::size_t cells = 0;
    Values sums;
    for (const Cluster& c : data_.clusters) {
        for (const auto& [path, time] : values(c.cells)) sums[path] += time;
        cells += c.cells.size();
    }
    EXPECT_LT(cells, 1000000u);
    EXPECT_GT(sums[first_frame + 7], 0u);
    EXPECT_FALSE(sums.contains(not_sampled));
    EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::uint64_t{0}, [](std::uint64_t sum, const auto& one) { return sum + one.second; }), 500000u);
}

TEST_F(SamplePools, SamplesOfUnequalTimesCountAsFewerEqualOnes) {
    Cluster both = cluster(1000000000, {});
    both.cells.push_back({first_frame, time_metric, 100 * 1000000 + 100 * 10000000}); // 100 samples of 1 ms, 100 of 10 ms
    both.cells.push_back({first_frame, samples, 200});
    data_.clusters = {both};
    share_out();
    EXPECT_DOUBLE_EQ(data_.pools.at(0).samples, 200);

    both.cells.push_back({not_sampled, samples, 100 * 1000 * 1000 + std::uint64_t{100} * 10000 * 10000});
    data_.clusters = {both};
    share_out();
    EXPECT_NEAR(data_.pools.at(0).samples, 1.1e6 * 1.1e6 / 1.01e10, 1e-6);
    EXPECT_TRUE(values(data_.clusters[0].cells, samples) == (Values{{first_frame, 200}})); // squares are no samples
}

TEST_F(SamplePools, ManyEqualCountersOfADamagedFileAreSummedFirst) {
    data_.clusters = {cluster(900, {20, 10})};
    for (int i = 0; i < 200000; ++i) data_.clusters[0].cells.push_back({not_sampled, counter, 3});
    share_out();
    EXPECT_EQ(values(data_.clusters[0].cells, counter), (Values{{first_frame, 400000}, {first_frame + 1, 200000}}));
}

TEST_F(SamplePools, SumsOfEveryClusterStayToTheNanosecond) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 300; ++round) {
        data_ = {};
        std::vector<std::uint64_t> computing;
        std::uint64_t all_hits = 0;
        for (std::size_t c = 0; c < 1 + random() % 9; ++c) {
            std::vector<std::uint64_t> hits(6);
            for (std::uint64_t& hit : hits) all_hits += hit = random() % 3 == 0 ? random() % 9 : 0;
            computing.push_back(random() >> (random() % 40 + 24));
            data_.clusters.push_back(cluster(computing.back(), hits, random() % 3, 1 + random() % 10000000));
        }
        share_out();
        for (std::size_t c = 0; c < computing.size(); ++c) {
            const Values times = values(data_.clusters[c].cells);
            std::uint64_t sum = 0;
            for (const auto& [path, time] : times) sum += time;
            ASSERT_EQ(sum, computing[c]);
            ASSERT_EQ(times.contains(not_sampled), all_hits == 0 && computing[c] != 0);
        }
    }
}

TEST_F(SamplePools, SharesOfARunAreThoseOfItsSamplesThoughIterationsAreShort) {
    // 2,000 iterations of 2 ms in 40 clusters, a sample every 10 ms: most clusters have no sample in any single iteration.
    std::mt19937_64 random(9);
    const std::vector<double> truth = {0.69, 0.2, 0.08, 0.03};
    std::discrete_distribution<std::uint32_t> path(truth.begin(), truth.end());
    for (int c = 0; c < 40; ++c) {
        const std::uint64_t iterations = c < 30 ? 1 : 197;
        std::vector<std::uint64_t> hits(4);
        for (std::uint64_t i = 0; i < iterations; ++i)
            if (random() % 5 == 0) ++hits[path(random)];
        data_.clusters.push_back(cluster(iterations * 2000000, hits, 0, 10000000));
    }
    share_out();
    Values sums;
    std::uint64_t all = 0;
    for (const Cluster& c : data_.clusters)
        for (const auto& [p, time] : values(c.cells)) sums[p] += time, all += time;
    EXPECT_EQ(all, (30 + 10 * 197) * 2000000u);
    for (std::uint32_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(static_cast<double>(sums[first_frame + i]) / static_cast<double>(all), truth[i], 0.07);
}

} // namespace libprofile::tools
