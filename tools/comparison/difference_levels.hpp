// Where the difference between two runs changes, along their aligned iterations, and what of it is more than chance.
// Contract: thread-safe (no state); allocates in proportion to the series; throws std::bad_alloc only. Deterministic.
//
// Sources: the cuts as in tools/diagnosis/levels.hpp. Intervals: H. R. Kuensch, "The jackknife and the bootstrap for general stationary
// observations", Annals of Statistics 17 (1989): means of series that blocks of the series are put together to, since neighbours are alike.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace libprofile::tools {

/// Both ends included.
struct DifferenceLevel {
    std::size_t first = 0, last = 0;
    double mean = 0;        // of the differences
    double error = 0;       // half of its 95 % interval; NaN: of a single pair it is unknown
    bool is_change = false; // beyond chance, and large enough to be told
    std::size_t length() const { return last - first + 1; }
};

/// Half of the 95 % interval of the differences' mean; NaN for a single one. The largest of several lengths of blocks: if what varies comes in equal
/// distances, blocks of that length do not see it.
double error_of_mean(std::span<const float> differences);

/// Consecutive parts, all together the series. Of parts that are no change none follow each other.
/// @param differences after less before, by pair of iterations
/// @param typical of an iteration before
/// @param least_change share of it: what is less on average is no change
/// @param most_changes neighbours of one sign become one part until there are not more
std::vector<DifferenceLevel> difference_levels(std::span<const float> differences, double typical, double least_change, std::size_t most_changes);

} // namespace libprofile::tools
