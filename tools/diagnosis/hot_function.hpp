// The function that has most of what is more in one part of a run than in another.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/diagnosis/iteration_sums.hpp"

#include <cstdint>

namespace libprofile::tools {

/// The innermost function that has most of what is more here, with all that it calls outside MPI; ns per iteration and rank.
struct HotFunction {
    std::uint32_t node = 0; // of the tree; 0: none, it is spread over many
    double here = 0;
    double there = 0;
    double error = 0;         // of the difference, by samples
    double usual = 0;         // of all functions there
    bool is_of_ranks = false; // there: the other ranks, and both in all iterations
    double difference() const { return here - there; }
    /// Not if nearly all of the time is in it anyway, or the difference may be by chance.
    bool tells() const {
        constexpr double everything = 0.9;
        return node != 0 && there <= everything * usual && difference() > error;
    }
};

/// @param excess ns an iteration, that is looked for
/// @param usual ns an iteration, of all functions there
HotFunction find_hot_function(const NamedSpots& names, const IterationSums& here, const IterationSums& there, double excess, double usual);

} // namespace libprofile::tools
