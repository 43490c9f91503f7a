// How ranks differ from one of them, iteration by iteration: in what they call, and in how long they compute.
// Contract: thread-safe (no state); works on all processors; allocates in proportion to ranks and iterations; throws std::bad_alloc only.
//
// Source: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 3: dissimilarity timeline and
// runtime skew timeline. There they are of single events; here of iterations, without the order of the calls inside.
#pragma once

#include "tools/processes/iteration_structures.hpp"
#include "tools/processes/rank_states.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace libprofile::tools {

/// A row against the reference, by pair of iterations.
struct PairTimeline {
    std::vector<std::uint32_t> here, there; // numbers of iterations, ascending
    std::vector<float> dissimilarity;       // events without a partner, as a share of all of both; NaN: not known
    std::vector<float> unmatched_ns;        // time in events that only the row has, by the mean time of a visit in the iteration's cluster
    std::vector<float> skew;                // ns: computing of the row less that of the reference; NaN: not known
    std::uint64_t alone_here = 0, alone_there = 0;
};

/// @param structures rows as those of `states`
PairTimeline pair_timeline(const EventPaths& events, const IterationStructures& structures, const RankStates& states, std::uint32_t row,
                           std::uint32_t reference);

/// A row against the reference, in all.
struct RankDistance {
    double dissimilarity = 0;                 // mean over the pairs of which it is known; NaN: of none
    double of_different = 0;                  // the same, of those with other events
    std::uint64_t unknown = 0;                // pairs of which it is not known
    std::uint64_t different = 0;              // pairs with other events
    std::optional<std::uint64_t> first_other; // the first of them: number of the row's iteration, from 0
    double unmatched_ns = 0;
    double skew_ns = 0; // sum over the pairs
    std::uint64_t alone_here = 0, alone_there = 0;
};

/// All rows against the reference; by iteration of the reference.
struct RankTimelines {
    std::uint32_t reference = 0;
    std::vector<RankDistance> rows;
    std::vector<float> mean_dissimilarity, most_dissimilarity;
    std::vector<std::uint32_t> most_dissimilar;         // row
    std::vector<double> behind, ahead;                  // ns: the largest and smallest sum of skews of a row up to here; not below and above 0
    std::vector<std::uint32_t> most_behind, most_ahead; // rows
};

RankTimelines rank_timelines(const EventPaths& events, const IterationStructures& structures, const RankStates& states, std::uint32_t reference);

} // namespace libprofile::tools
