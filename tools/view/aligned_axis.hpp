// The axis of two aligned runs, as the page draws it: pairs of iterations and those without a partner, in their order, in a bounded number of points.
// Contract: thread-safe (no state); allocates in proportion to pairs and points; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/over_time.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Iterations of a run: from the first one (included) to the end (excluded), counted from 0.
struct IterationSpan {
    std::uint64_t first = 0, end = 0;
    std::uint64_t size() const { return end - first; }
};

/// What lies in some places of the axis that follow each other.
struct AxisPoint {
    std::uint64_t pairs = 0, alone_before = 0, alone_after = 0;
    double ns_before = 0, ns_after = 0;               // sums over its pairs
    double least_before = 0, most_before = 0;         // ns of a pair; 0 without pairs
    double least_after = 0, most_after = 0;           // the same
    double least_difference = 0, most_difference = 0; // after less before, of a pair
};

/// A place is a pair or an iteration without a partner. Between two pairs, those of the first run come first.
struct AlignedAxis {
    std::uint64_t places = 0;
    std::uint64_t window = 1; // places of a point; the last one may have fewer
    std::vector<AxisPoint> points;
    std::vector<std::uint64_t> place_of_pair;
};

/// @param pairs ascending in both runs
/// @param before iterations that are on the axis; all those of the pairs are among them
/// @param most_points at least 1
AlignedAxis aligned_axis(const std::vector<AlignedPair>& pairs, IterationSpan before, IterationSpan after, std::size_t most_points);

} // namespace libprofile::tools
