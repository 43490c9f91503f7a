// How the iterations of a phase change over time: whether they get longer or shorter, and which are slow.
// Contract: thread-safe (no state); allocates its results; throws std::bad_alloc only.
#pragma once

#include "tools/reader/model.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

/// The iterations of one phase, the slowest rank of each. Where ranks have different numbers of iterations, those of equal number may be others: then
/// the iterations of the rank that has most.
struct Trend {
    static constexpr std::uint64_t fewest = 20;     // iterations that can show one
    static constexpr double least_change = 0.05;    // a share
    static constexpr double least_deviations = 2.5; // chance has more once in 80 times if iterations are independent
    static constexpr double least_over_usual = 4;   // times the usual change from one part to the next

    std::uint32_t phase = 0;
    std::uint64_t iterations = 0;
    double typical = 0;                // ns: median
    std::uint64_t compared = 0;        // so many at the beginning and at the end: a tenth, at least 10; 0: too few iterations
    double early = 0;                  // ns: mean of the middle half of the first of these
    double late = 0;                   // and of the last
    bool changes = false;              // by least_change, and beyond chance
    std::vector<std::uint64_t> slow;   // longer than 1.5 times the typical one, counted from 0; empty where that is usual (a quarter)
    std::uint64_t period = 0;          // every period-th is slow; 0 if irregular
    double slow_share = 0;             // of all iterations' time: what the slow ones take more than typical ones
    std::vector<double> times;         // ns, by iteration
    std::optional<std::uint32_t> rank; // whose, if of one rank only

    /// From the first iterations to the last, as a share of the first.
    double change() const { return early == 0 ? 0 : late / early - 1; }
};

/// @param times ns, by iteration; at least one
Trend trend_of(std::vector<double> times);

/// The phases with iterations, the one with most time first; frames of others last.
/// @param locations main threads (null for a rank without data)
std::vector<Trend> trends(const Profile& profile, const std::vector<const Location*>& locations);

} // namespace libprofile::tools
