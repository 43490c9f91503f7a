// Sharing out a whole number: exact sums, and the shares that the definition gives, also with sums beyond 64 bits.
#include "tools/reader/proportional_shares.hpp"

#include <gtest/gtest.h>
#include <numeric>
#include <random>

namespace libprofile::tools {
namespace {

TEST(ProportionalShares, AreThoseOfTheLargestRemaindersAndAddUp) {
    std::mt19937_64 random(5);
    for (int round = 0; round < 3000; ++round) {
        const unsigned bits = 1 + random() % 64;
        std::vector<Weight> weights(1 + random() % 300);
        for (Weight& weight : weights) weight.ns = 1 + (random() >> (64 - bits)) % ~std::uint64_t{0};
        const std::uint64_t total = random() >> random() % 64;
        WideNumber sum = 0;
        for (const Weight& weight : weights) sum += weight.ns;
        std::vector<std::uint64_t> expected(weights.size());
        std::uint64_t left = total;
        for (std::size_t i = 0; i < weights.size(); ++i) left -= expected[i] = static_cast<std::uint64_t>(WideNumber{total} * weights[i].ns / sum);
        std::vector<std::size_t> order(weights.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return WideNumber{total} * weights[a].ns % sum > WideNumber{total} * weights[b].ns % sum; });
        for (std::size_t i = 0; i < left; ++i) ++expected[order[i]];
        ASSERT_EQ(proportional_shares(total, weights), expected);
        ASSERT_EQ(std::accumulate(expected.begin(), expected.end(), std::uint64_t{0}), total);
    }
}

} // namespace
} // namespace libprofile::tools
