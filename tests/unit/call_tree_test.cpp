#include "libprofile/callpath/call_tree.hpp"
#include "libprofile/callpath/load_map.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace libprofile {

namespace {

class CallTreeTest : public testing::Test {
  protected:
    void SetUp() override {
        load_map.refresh();
        ASSERT_TRUE(tree_.start());
    }
    Arena arena_;
    CallTree tree_{arena_};
};

std::uintptr_t address_of(double (*function)(double)) { return reinterpret_cast<std::uintptr_t>(function); }

} // namespace

TEST_F(CallTreeTest, TheSameChildIsFoundAgain) {
    const NodeId a = tree_.child(0, NodeKind::Mpi, 1, 0);
    EXPECT_EQ(tree_.child(0, NodeKind::Mpi, 1, 0), a);
    EXPECT_NE(tree_.child(0, NodeKind::Mpi, 2, 0), a);
    EXPECT_NE(tree_.child(a, NodeKind::Mpi, 1, 0), a);
}

TEST_F(CallTreeTest, ManyChildrenSurviveTableGrowth) {
    std::vector<NodeId> ids;
    for (std::uint64_t i = 0; i < 20000; ++i) ids.push_back(tree_.child(static_cast<NodeId>(i % 4), NodeKind::Unknown, 0, i));
    for (std::uint64_t i = 0; i < 20000; ++i) ASSERT_EQ(tree_.child(static_cast<NodeId>(i % 4), NodeKind::Unknown, 0, i), ids[i]);
    EXPECT_EQ(tree_.size(), 20000u + tree_.quota() + 1);
}

TEST_F(CallTreeTest, PathHashesDependOnTheWholePath) {
    const NodeId a = tree_.child(0, NodeKind::Mpi, 1, 0);
    const NodeId b = tree_.child(0, NodeKind::Mpi, 2, 0);
    const NodeId below_a = tree_.child(a, NodeKind::Mpi, 3, 0);
    const NodeId below_b = tree_.child(b, NodeKind::Mpi, 3, 0);
    EXPECT_NE(tree_[below_a].path_hash[0], tree_[below_b].path_hash[0]);
    EXPECT_NE(tree_[below_a].path_hash[1], tree_[below_b].path_hash[1]);
}

TEST_F(CallTreeTest, FramesAreStoredAsModuleAndOffset) {
    const NodeId node = tree_.frame(0, address_of(std::cbrt));
    ASSERT_EQ(tree_[node].kind, NodeKind::Frame);
    EXPECT_EQ(load_map[tree_[node].a].bias + tree_[node].b, address_of(std::cbrt));
    EXPECT_GT(load_map[tree_[node].a].build_id_size, 0);
    EXPECT_EQ(tree_.frame(0, address_of(std::cbrt)), node);
    EXPECT_NE(tree_.frame(node, address_of(std::cbrt)), node);
}

TEST_F(CallTreeTest, FramesOutsideEveryModuleKeepTheirAddress) {
    const NodeId node = tree_.frame(0, 0x1000);
    EXPECT_EQ(tree_[node].kind, NodeKind::Unknown);
    EXPECT_EQ(tree_[node].b, 0x1000u);
}

TEST_F(CallTreeTest, OutOfMemoryPathsEndAtTheQuotaNode) {
    memory_quota.limit(memory_quota.used());
    NodeId node = 0;
    std::uint64_t i = 0;
    while (node != tree_.quota() && i < 10000000) node = tree_.child(0, NodeKind::Unknown, 0, 1000000 + i++);
    memory_quota.limit(256ull << 20);
    EXPECT_EQ(node, tree_.quota());
    EXPECT_EQ(tree_.quota_hits(), 1u);
    EXPECT_EQ(tree_.child(node, NodeKind::Unknown, 0, 1), tree_.quota());
    const NodeId function = tree_.child(node, NodeKind::Mpi, 1, 0);
    EXPECT_EQ(tree_[function].parent, tree_.quota());
    EXPECT_EQ(tree_.child(node, NodeKind::Mpi, 1, 0), function);
}

} // namespace libprofile
