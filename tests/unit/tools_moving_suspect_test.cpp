// Work that moves from rank to rank, beside jitter that has single long iterations itself.
#include "tools/diagnosis/moving_suspect.hpp"
#include "tools/diagnosis/pursuit.hpp"

#include <gtest/gtest.h>
#include <random>
#include <utility>

namespace libprofile::test {
namespace {

using namespace libprofile::tools;

/// Ranks with up to six times as much jitter as others, all with a skew. @param amount of work that moves: a share of an iteration
IterationMatrix unequal_ranks(std::size_t ranks, std::size_t n, double amount, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::lognormal_distribution<double> jitter(0, 0.75);
    IterationMatrix matrix(ranks, n);
    std::vector<double> size(ranks);
    for (std::size_t r = 0; r < ranks; ++r) size[r] = 0.003 * (1 + static_cast<double>(r % 6));
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t now = random() % ranks;
        for (std::size_t r = 0; r < ranks; ++r) {
            matrix.at(IterationPart::Local, r, i) = static_cast<float>(1e8 * (1 + size[r] * jitter(random) + (r == now ? amount : 0)));
            matrix.at(IterationPart::CollectiveCalls, r, i) = 1;
        }
    }
    return matrix;
}

TEST(MovingSuspect, RanksWithMuchJitterDoNotHideIt) {
    for (const auto& [ranks, amount] : {std::pair<std::size_t, double>{6, 0.04}, {24, 0.06}, {96, 0.12}})
        for (std::uint64_t seed = 1; seed <= 3; ++seed) {
            const auto suspect = moving_suspect(RunModel(unequal_ranks(ranks, 500, amount, seed)));
            ASSERT_TRUE(suspect.has_value()) << ranks << " ranks, seed " << seed;
            EXPECT_GE(suspect->rows.size() * 10, ranks * 9);
        }
}

TEST(MovingSuspect, JitterAloneIsNone) {
    for (const std::size_t ranks : {2, 6, 24, 96})
        for (std::uint64_t seed = 1; seed <= 10; ++seed)
            EXPECT_FALSE(moving_suspect(RunModel(unequal_ranks(ranks, 500, 0, seed))).has_value()) << ranks << " ranks, seed " << seed;
}

/// Each of two ranks has half of it, which is about as much as a cause has to cost.
TEST(MovingSuspect, TurnsOfTwoRanksAreToldThoughEachAloneCostsHardlyEnough) {
    constexpr std::size_t n = 1200;
    constexpr double amount = 2e6;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        std::mt19937_64 random(seed);
        std::normal_distribution<double> jitter(1e8, 5e5);
        IterationMatrix matrix(2, n);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t r = 0; r < 2; ++r) {
                matrix.at(IterationPart::Local, r, i) = static_cast<float>(jitter(random) + (i * 7 / 3 % 2 == r ? amount : 0));
                matrix.at(IterationPart::CollectiveCalls, r, i) = 1;
            }
        const std::vector<Suspect> suspects = find_suspects(matrix, n * amount / 2);
        ASSERT_EQ(suspects.size(), 1u) << "seed " << seed;
        EXPECT_EQ(suspects[0].kind, SuspectKind::MovingRank) << "seed " << seed;
        EXPECT_EQ(suspects[0].pattern.period, 6u) << "seed " << seed;
        EXPECT_NEAR(suspects[0].gain.value / (n * amount), 1, 0.25) << "seed " << seed;
    }
}

} // namespace
} // namespace libprofile::test
