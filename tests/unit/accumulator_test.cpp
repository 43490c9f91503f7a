#include "libprofile/metrics/accumulator.hpp"

#include <gtest/gtest.h>
#include <random>

namespace libprofile {

namespace {

class AccumulatorTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(tree_.start()); }
    void TearDown() override { memory_quota.limit(limit_); }
    void make_nodes(NodeId last) {
        while (tree_.size() <= last) ASSERT_NE(tree_.child(0, NodeKind::Unknown, 0, tree_.size()), tree_.quota());
    }
    Row& row(NodeId node) {
        make_nodes(node);
        return rows_.row(node, tree_, arena_);
    }
    std::uint64_t total_time() {
        std::uint64_t sum = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) sum += rows_[i][Metric::Time];
        return sum;
    }
    const std::uint64_t limit_ = memory_quota.limit();
    Arena arena_;
    Pool pool_{arena_};
    CallTree tree_{arena_};
    Accumulator rows_;
};

} // namespace

TEST_F(AccumulatorTest, RowsStayInPlaceUntilClear) {
    Row* first = &row(3);
    for (NodeId node = 10; node < 5000; ++node) row(node);
    EXPECT_EQ(&row(3), first);
    EXPECT_EQ(rows_.size(), 4991u);
    rows_.clear();
    EXPECT_EQ(rows_.size(), 0u);
    EXPECT_EQ(row(42)[Metric::Visits], 0u);
    EXPECT_EQ(row(42).node, 42u);
}

TEST_F(AccumulatorTest, ClearedRowsHoldNothingOfTheLastIteration) {
    row(7)[Metric::Time] = 99;
    row(7).weight = 5;
    row(7).is_event = true;
    rows_.clear();
    EXPECT_EQ(row(7)[Metric::Time], 0u);
    EXPECT_EQ(row(7).weight, 0u);
    EXPECT_FALSE(row(7).is_event);
}

TEST_F(AccumulatorTest, SharesAddUpToTheNanosecond) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 200; ++round) {
        rows_.clear();
        const std::size_t n = 1 + random() % 50;
        for (NodeId node = 1; node <= n; ++node) row(node).weight = random() % 20000000;
        row(1).weight += 1;
        const std::uint64_t total = random() % 10000000000;
        ASSERT_TRUE(share_out_compute_time(rows_, total, pool_));
        ASSERT_EQ(total_time(), total);
    }
}

TEST_F(AccumulatorTest, SharesAreProportionalToWithinOneNanosecond) {
    row(1).weight = 1;
    row(2).weight = 2;
    row(3).weight = 4;
    ASSERT_TRUE(share_out_compute_time(rows_, 1000, pool_));
    EXPECT_NEAR(static_cast<double>(row(1)[Metric::Time]), 1000.0 / 7, 1);
    EXPECT_NEAR(static_cast<double>(row(2)[Metric::Time]), 2000.0 / 7, 1);
    EXPECT_NEAR(static_cast<double>(row(3)[Metric::Time]), 4000.0 / 7, 1);
}

TEST_F(AccumulatorTest, WithoutMemoryMpiFunctionsStayApart) {
    ASSERT_TRUE(rows_.reserve(tree_, arena_));
    memory_quota.limit(memory_quota.used());
    std::uint64_t visits = 0;
    for (std::uint64_t path = 0; path < 20000; ++path)
        for (std::uint32_t function = 0; function < 3; ++function, ++visits)
            ++rows_.row(tree_.child(tree_.child(0, NodeKind::Unknown, 0, path), NodeKind::Mpi, function, 0), tree_, arena_)[Metric::Visits];
    EXPECT_GT(tree_.quota_hits(), 0u);
    std::uint64_t counted = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        counted += rows_[i][Metric::Visits];
        EXPECT_EQ(tree_[rows_[i].node].kind, NodeKind::Mpi);
    }
    EXPECT_EQ(counted, visits);
    for (std::uint32_t function = 0; function < 3; ++function) {
        const Row* folded = rows_.find(tree_.folded(NodeKind::Mpi, function));
        ASSERT_NE(folded, nullptr);
        EXPECT_GT((*folded)[Metric::Visits], 10000u);
    }
}

TEST_F(AccumulatorTest, NothingIsSharedWithoutSamples) {
    row(1)[Metric::Visits] = 1;
    EXPECT_FALSE(share_out_compute_time(rows_, 1000, pool_));
    EXPECT_EQ(total_time(), 0u);
}

TEST_F(AccumulatorTest, WithoutMemoryValuesAreSummedNotLost) {
    make_nodes(200000);
    row(tree_.quota());
    memory_quota.limit(memory_quota.used());
    for (NodeId node = 1000; node < 200000; ++node) ++row(node)[Metric::Visits];
    memory_quota.limit(256ull << 20);
    std::uint64_t visits = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) visits += rows_[i][Metric::Visits];
    EXPECT_EQ(visits, 199000u);
}

TEST_F(AccumulatorTest, CountersAreSharedOutExactlyByWeight) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 200; ++round) {
        rows_.clear();
        std::uint64_t weights = 0;
        for (NodeId node = 1; node <= 40; ++node) {
            Row& own = row(node);
            own.weight = random() % 3 == 0 ? 0 : random() % 20000000;
            weights += own.weight;
        }
        std::uint64_t totals[most_counters] = {};
        for (std::uint64_t& total : totals) total = random() >> random() % 64;
        ASSERT_EQ(share_out_counters(rows_, totals), weights != 0);
        std::uint64_t sums[most_counters] = {};
        for (std::size_t i = 0; i < rows_.size(); ++i)
            for (std::size_t c = 0; c < most_counters; ++c) {
                const std::uint64_t value = rows_[i].values[metric_count + c];
                sums[c] += value;
                const auto share = static_cast<std::uint64_t>(static_cast<unsigned __int128>(totals[c]) * rows_[i].weight / weights);
                EXPECT_LE(value > share ? value - share : share - value, 1u);
                if (value != 0) {
                    EXPECT_NE(rows_[i].present() >> (metric_count + c) & 1, 0u);
                }
            }
        for (std::size_t c = 0; c < most_counters; ++c) EXPECT_EQ(sums[c], totals[c]);
    }
}

TEST_F(AccumulatorTest, ARowThatBeginsAgainHasNoCounters) {
    Row& used = row(5);
    used.counter(0) = 3;
    used.counter(most_counters - 1) = 4;
    used[Metric::FileCollBytesWritten] = 5;
    used.begin_again(6);
    for (const std::uint64_t value : used.values) EXPECT_EQ(value, 0u);
    EXPECT_EQ(used.present(), 0u);
}

} // namespace libprofile
