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

/// Memory for shares, which may be used again and again.
struct SharesRoom {
    std::vector<std::uint64_t> shares;
    std::vector<std::uint64_t> remainders;
    std::vector<WideNumber> wide_remainders;
};

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

/// total * weight / sum and its remainder. The divisions of 128 bits are estimated, where that is exact after a step or two.
template <class Number> class Proportion {
  public:
    Proportion(std::uint64_t total, Number sum) : total_(total), sum_(sum), ratio_(static_cast<double>(total) / static_cast<double>(sum)) {
        // The estimate is wrong by less than 2 where shares are below 2^50, and the remainder's sign shows by how much.
        is_estimated_ = sum <= Number{1} << 61 && total < std::uint64_t{1} << 50;
    }
    /// @param weight at most the sum
    std::uint64_t share(std::uint64_t weight, Number& remainder) const {
        const WideNumber product = WideNumber{total_} * weight;
        if (!is_estimated_) {
            remainder = static_cast<Number>(product % sum_);
            return static_cast<std::uint64_t>(product / sum_);
        }
        auto share = static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<double>(weight) * ratio_));
        const auto sum = static_cast<std::int64_t>(sum_);
        auto rest = static_cast<std::int64_t>(static_cast<std::uint64_t>(product) - share * static_cast<std::uint64_t>(sum_));
        for (; rest < 0; rest += sum) --share;
        for (; rest >= sum; rest -= sum) ++share;
        remainder = static_cast<Number>(rest);
        return share;
    }

  private:
    std::uint64_t total_;
    Number sum_;
    double ratio_;
    bool is_estimated_;
};

template <class Number> void proportional_shares(std::uint64_t total, const std::vector<Weight>& weights, Number sum, std::vector<std::uint64_t>& shares,
                                                 std::vector<Number>& remainders) {
    shares.resize(weights.size());
    remainders.resize(weights.size());
    const Proportion proportion(total, sum);
    std::uint64_t left = total;
    for (std::size_t i = 0; i < weights.size(); ++i) left -= shares[i] = proportion.share(weights[i].ns, remainders[i]);
    if (left != 0) round_up(shares, remainders, static_cast<std::size_t>(left), sum);
}

/// The share of each weight, valid until `room` is used again.
/// @param weights some, not all of them 0; of those that are 0 none gets a share
inline const std::vector<std::uint64_t>& proportional_shares(std::uint64_t total, const std::vector<Weight>& weights, SharesRoom& room) {
    WideNumber sum = 0;
    for (const Weight& weight : weights) sum += weight.ns;
    if (sum <= std::numeric_limits<std::uint64_t>::max())
        proportional_shares(total, weights, static_cast<std::uint64_t>(sum), room.shares, room.remainders);
    else
        proportional_shares(total, weights, sum, room.shares, room.wide_remainders);
    return room.shares;
}

inline std::vector<std::uint64_t> proportional_shares(std::uint64_t total, const std::vector<Weight>& weights) {
    SharesRoom room;
    proportional_shares(total, weights, room);
    return std::move(room.shares);
}

} // namespace libprofile::tools
