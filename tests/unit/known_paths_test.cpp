#include "libprofile/callpath/known_paths.hpp"

#include <gtest/gtest.h>

namespace libprofile {

namespace {

class KnownPathsTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(tree_.start()); }

    /// As find_known_path() and remember_path() do for calls that the node of the mark tells apart. Returns whether the path was known.
    bool call_below(NodeId mark) {
        if (!paths_.is_empty()) {
            const std::uint32_t set = paths_.set_of(site_, frame, 0, mark);
            for (std::uint32_t way = 0; way != KnownPathTable::ways; ++way)
                if (paths_.path(set, way).node == mark) return true;
            paths_.miss(mark);
        }
        KnownPath* known = paths_.replace(site_, frame, 0, paths_.missed_at(), tree_, arena_);
        EXPECT_NE(known, nullptr);
        if (known != nullptr) known->node = mark;
        return false;
    }

    /// A call on that path, which is known.
    KnownPath& pass(NodeId mark) {
        const std::uint32_t set = paths_.set_of(site_, frame, 0, mark);
        std::uint32_t way = 0;
        while (way != KnownPathTable::ways - 1 && paths_.path(set, way).node != mark) ++way;
        KnownPath& known = paths_.path(set, way);
        EXPECT_EQ(known.node, mark);
        paths_.pass(set, known);
        return known;
    }

    static constexpr std::uintptr_t frame = 0x7fff00001000;
    const void* site_ = nullptr;
    Arena arena_;
    CallTree tree_{arena_};
    KnownPathTable paths_;
};

TEST_F(KnownPathsTest, OneCallSiteAtOneDepthMayBeReachedFromAHundredPlaces) {
    constexpr NodeId places = 100;
    NodeId parent = 0;
    for (NodeId i = 0; i < places; ++i) parent = tree_.child(parent, NodeKind::Unknown, 0, i + 1);
    const NodeId first = parent - places + 1;
    for (std::uintptr_t address = 0x5500'0000'0000; address < 0x5600'0000'0000; address += 0x1'0c84'f53c) {
        paths_ = {};
        site_ = reinterpret_cast<const void*>(address); // NOLINT(performance-no-int-to-ptr): never read
        // The table grows while it learns: at the latest when a few paths that share a set have pushed each other out that often.
        for (int pass = 0; pass != 8; ++pass)
            for (NodeId i = 0; i < places; ++i) call_below(first + i);
        for (NodeId i = 0; i < places; ++i) EXPECT_TRUE(call_below(first + i)) << "site " << address << ", place " << i;
    }
}

TEST_F(KnownPathsTest, APathExpectsWhatCameAfterItsRepetitions) {
    for (NodeId i = 1; i != 4; ++i) call_below(tree_.child(0, NodeKind::Unknown, 0, i));
    const NodeId first = tree_.child(0, NodeKind::Unknown, 0, 1);
    for (int step = 0; step != 2; ++step) {
        const KnownPath &receive = pass(first), &again = pass(first), &wait = pass(first + 1), &other = pass(first + 2);
        EXPECT_EQ(&receive, &again);
        EXPECT_EQ(receive.next, &wait);
        EXPECT_EQ(wait.next, &other);
        EXPECT_EQ(other.next, &receive);
    }
}

} // namespace

} // namespace libprofile
