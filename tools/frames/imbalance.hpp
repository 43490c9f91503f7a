// How unequally ranks or threads share the nodes of a call tree.
// Contract: thread-safe (no state); allocates its results; works with several threads; throws FrameError, std::bad_alloc.
// Source: Cankur et al., "Chopper" (section 4.1, Algorithm 1). As there, the mean is over all ranks: one that never came to the node
// counts with 0. `present` tells how many did.
#pragma once

#include "tools/frames/place_values.hpp"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace libprofile::tools {

struct ImbalanceChoice {
    bool inclusive = false;
    Over over = Over::Rank;
    double threshold = 0; // nodes whose maximum is below this share of the largest maximum are left out
    bool details = false; // the three arrays below
    bool hatchet = false; // bins are left open, count a rank once, and have all values where all are equal; the maximum exceeds the threshold
};

struct Imbalance {
    static constexpr std::size_t top_places = 5, percentile_count = 5, bin_count = 10;

    std::vector<std::uint32_t> node;          // by falling mean, of equal ones by number; nodes without a value are left out
    std::vector<double> mean, max, imbalance; // imbalance: max / mean; NaN if the mean is 0
    std::vector<std::uint32_t> present;       // ranks (threads) that have the node
    // With details, by node:
    std::vector<std::array<std::uint32_t, top_places>> top;       // positions of the highest; beyond their number: no_place
    std::vector<std::array<double, percentile_count>> percentile; // 0, 25, 50, 75, 100, between two values by their distance
    std::vector<std::array<std::uint32_t, bin_count>> bins;       // of equal width from the lowest to the highest; all equal: all in the first

    static constexpr std::uint32_t no_place = 0xffffffff;
};

/// @throws FrameError when the frame has no such metric, or no places
Imbalance load_imbalance(const Frame& frame, std::string_view metric, const ImbalanceChoice& choice);

} // namespace libprofile::tools
