#include "libprofile/clustering/membership.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace libprofile {

namespace {

constexpr std::uint32_t outside = 0x7ffffffeu;

/// Sets of iterations that are joined at random, as a clusterer does it, compared with a plain list.
class Sets {
  public:
    Sets(std::uint32_t block, unsigned seed) : members_(block), random_(seed) {}

    void add(std::uint32_t most) {
        pack();
        if (random_() % 50 == 0) {
            ASSERT_TRUE(members_.add_outside(arena_, outside));
            plain_.push_back(outside);
            return;
        }
        const auto label = static_cast<std::uint32_t>(roots_.size());
        const std::uint32_t root = members_.add(arena_, label);
        ASSERT_NE(root, Membership::none);
        roots_.push_back(root);
        plain_.push_back(label);
        while (roots_.size() > most) join(static_cast<std::uint32_t>(random_() % roots_.size()), static_cast<std::uint32_t>(random_() % roots_.size()));
    }
    void expect_as_in_the_list() {
        ASSERT_EQ(members_.size(), plain_.size());
        for (std::uint32_t i = 0; i < plain_.size(); ++i) ASSERT_EQ(members_.label(i), plain_[i]) << "iteration " << i;
    }
    std::size_t memory() const { return members_.memory(); }

  private:
    void pack() {
        if (!members_.is_block_full()) return;
        ASSERT_TRUE(members_.pack(arena_, static_cast<std::uint32_t>(roots_.size()), [this](std::uint32_t i) -> std::uint32_t& { return roots_[i]; }));
    }
    /// The last set takes the label of the one that is gone.
    void join(std::uint32_t a, std::uint32_t b) {
        if (a == b) return;
        if (a > b) std::swap(a, b);
        roots_[a] = members_.join(roots_[a], roots_[b]);
        const auto last = static_cast<std::uint32_t>(roots_.size() - 1);
        roots_[b] = roots_[last];
        roots_.pop_back();
        members_.relabel(roots_[a], a);
        if (b < roots_.size()) members_.relabel(roots_[b], b);
        for (std::uint32_t& label : plain_) label = label == b ? a : label == last ? b : label;
    }

    Arena arena_;
    Membership members_;
    std::mt19937_64 random_;
    std::vector<std::uint32_t> roots_; // by label
    std::vector<std::uint32_t> plain_; // by iteration
};

} // namespace

TEST(Membership, IterationsAreWhereTheyWereJoinedWhateverIsPacked) {
    memory_quota.limit(std::uint64_t{1} << 40);
    for (const std::uint32_t block : {0u, 1u, 64u, 128u, 1000u})
        for (const std::uint32_t most : {1u, 2u, 7u, 40u}) {
            Sets sets(block, block * 100 + most);
            for (int i = 0; i < 1500; ++i) {
                sets.add(most);
                if (i % 97 == 0) sets.expect_as_in_the_list();
            }
            sets.expect_as_in_the_list();
        }
}

TEST(Membership, TakesLessThanTwoBytesAnIterationWithFewClusters) {
    memory_quota.limit(std::uint64_t{1} << 40);
    Sets sets(Membership::block_for(16), 3);
    for (int i = 0; i < 4000; ++i) sets.add(16);
    std::printf("%.2f bytes an iteration\n", static_cast<double>(sets.memory()) / 4000);
    EXPECT_LT(sets.memory(), 2u * 4000);
}

} // namespace libprofile
