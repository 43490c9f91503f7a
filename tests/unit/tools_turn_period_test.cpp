// Work that goes around the ranks comes back after a fixed number of iterations; what moves at random does not.
#include "tools/diagnosis/turn_period.hpp"

#include <gtest/gtest.h>
#include <random>
#include <vector>

namespace libprofile::test {
namespace {

using namespace libprofile::tools;

/// Of `wrong` of the iterations jitter makes another rank the longest one.
std::vector<std::size_t> turns(std::size_t n, std::size_t ranks, std::size_t stays, std::size_t stride, double wrong, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::size_t> longest;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is_wrong = std::uniform_real_distribution<double>(0, 1)(random) < wrong;
        longest.push_back(is_wrong ? random() % ranks : i / stays * stride % ranks);
    }
    return longest;
}

TEST(TurnPeriod, IsThatOfTheRanksTurnsBesideJitter) {
    for (const std::size_t ranks : {2, 3, 8, 48})
        for (const std::size_t stays : {1, 2, 5})
            for (std::uint64_t seed = 1; seed <= 5; ++seed)
                EXPECT_EQ(turn_period(turns(600, ranks, stays, 5, 0.3, seed), ranks), ranks * stays) << ranks << " ranks, for " << stays;
}

TEST(TurnPeriod, IsNoneWhereRanksHaveTheirTurnsByChance) {
    std::mt19937_64 random(7);
    for (const std::size_t ranks : {2, 3, 8, 200})
        for (const std::size_t stays : {1, 5, 20})
            for (int run = 0; run < 50; ++run) {
                std::vector<std::size_t> longest;
                for (std::size_t i = 0; i < 600; ++i) longest.push_back(i % stays == 0 ? random() % ranks : longest.back());
                EXPECT_EQ(turn_period(longest, ranks), 0u) << ranks << " ranks, for " << stays;
            }
}

TEST(TurnPeriod, IsNoneOfOneRankOrOfOneRound) {
    EXPECT_EQ(turn_period(std::vector<std::size_t>(600, 3), 8), 0u);
    EXPECT_EQ(turn_period(turns(600, 500, 1, 1, 0, 1), 500), 0u);
    EXPECT_EQ(turn_period(std::vector<std::size_t>(), 8), 0u);
}

} // namespace
} // namespace libprofile::test
