#include "libprofile/metrics/accumulator.hpp"

#include <gtest/gtest.h>

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
    const std::uint64_t limit_ = memory_quota.limit();
    Arena arena_;
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
    row(7).is_event = true;
    rows_.clear();
    EXPECT_EQ(row(7)[Metric::Time], 0u);
    EXPECT_FALSE(row(7).is_event);
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
