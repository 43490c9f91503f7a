// Divides a whole number in proportion to weights, without a rest.
// Contract: thread-safe (no state); allocates memory in proportion to the weights; throws std::bad_alloc only.
//
// Each share is rounded down, and what is left goes to the largest remainders, of equal ones to the first (the method of Hamilton).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace libprofile::tools {

/// What the samples at a call path stand for, or what it has.
struct Weight {
    std::uint32_t path = 0;
    std::uint64_t ns = 0;
};

using WideNumber = unsigned __int128; // products of times

/// @param left below the number of weights  @param sum above all remainders
template <class Number> void round_up(std::vector<std::uint64_t>& shares, const std::vector<Number>& remainders, std::size_t left, Number sum) {
    constexpr std::size_t buckets = 1024; // so that few have to be put in order
    unsigned shift = 0;
    while (sum >> shift >= buckets) ++shift;
    std::array<std::size_t, buckets> count{};
    for (const Number remainder : remainders) ++count[static_cast<std::size_t>(remainder >> shift)];
    std::size_t last = buckets - 1, needed = left; // the bucket with the smallest one that is rounded up, and how many of it are
    while (needed > count[last]) needed -= count[last--];
    std::vector<Number> candidates;
    candidates.reserve(count[last]);
    for (const Number remainder : remainders)
        if (static_cast<std::size_t>(remainder >> shift) == last) candidates.push_back(remainder);
    const auto smallest = candidates.begin() + static_cast<std::ptrdiff_t>(needed) - 1;
    std::nth_element(candidates.begin(), smallest, candidates.end(), std::greater<>());
    std::size_t equal = needed - static_cast<std::size_t>(std::count_if(candidates.begin(), smallest, [&](Number n) { return n > *smallest; }));
    for (std::size_t i = 0; i < shares.size(); ++i) {
        if (remainders[i] > *smallest)
            ++shares[i];
        else if (remainders[i] == *smallest && equal > 0) {
            ++shares[i];
            --equal;
        }
    }
}

template <class Number> std::vector<std::uint64_t> proportional_shares(std::uint64_t total, const std::vector<Weight>& weights, Number sum) {
    std::vector<std::uint64_t> shares(weights.size());
    std::vector<Number> remainders(weights.size());
    std::uint64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const WideNumber product = WideNumber{total} * weights[i].ns;
        shares[i] = static_cast<std::uint64_t>(product / sum);
        remainders[i] = static_cast<Number>(product % sum);
        left -= shares[i];
    }
    if (left != 0) round_up(shares, remainders, static_cast<std::size_t>(left), sum);
    return shares;
}

/// The share of each weight.
/// @param weights some, not all of them 0; of those that are 0 none gets a share
inline std::vector<std::uint64_t> proportional_shares(std::uint64_t total, const std::vector<Weight>& weights) {
    WideNumber sum = 0;
    for (const Weight& weight : weights) sum += weight.ns;
    if (sum <= std::numeric_limits<std::uint64_t>::max()) return proportional_shares(total, weights, static_cast<std::uint64_t>(sum));
    return proportional_shares(total, weights, sum);
}

} // namespace libprofile::tools
