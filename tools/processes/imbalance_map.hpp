// Which rank computes longer than the others, in which iterations.
// Contract: thread-safe (no state); allocates in proportion to ranks and iterations; throws std::bad_alloc only.
//
// The value of a cell is the time that a rank computes in an iteration, without MPI and waiting, less that of the median rank in the same iteration. So
// a drift that all ranks have does not hide a rank, and waiting, which is what others do, does not look like work.
// Source: M. Weber (TU Dresden, 2016), chapter 5: runtime imbalances of segments. Segments are iterations. Without iterations a segment is an entry of
// the function that dominates the time, of which the mean over a rank's entries is known.
#pragma once

#include "tools/processes/rank_states.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

struct ImbalanceMap {
    std::vector<const Location*> locations; // by row
    std::uint64_t first = 0;                // the number of the first iteration, from 0
    std::size_t iterations = 0;             // columns
    std::vector<float> median;              // ns by iteration
    std::vector<float> deviation;           // ns by row, then iteration; NaN: the rank did not make it, or its computing is not known
    std::string function;                   // without iterations: what the only column is an entry of; "": one is the whole run
    std::vector<double> entries;            // of it, by row

    float at(std::size_t row, std::size_t iteration) const { return deviation[row * iterations + iteration]; }
};

ImbalanceMap imbalance_map(const RankStates& states);

/// For a profile without iterations. Of an entry the time without MPI and regions inside is known; without a processor it goes on.
ImbalanceMap imbalance_of_entries(const Profile& profile, const std::vector<const Location*>& locations);

/// A rank that computes longer in iterations that follow each other.
struct HotCell {
    std::uint32_t row = 0;
    std::uint64_t first = 0, last = 0; // numbers of iterations, from 0
    double excess = 0;                 // ns in all, over the median rank
    double median = 0;                 // ns in all: of the median rank
};

/// The `most` heaviest of those that cost the rank 0.2 % of what the median rank computes in all. Where a cell ends is decided by sums: it is one of the
/// parts of a row whose deviations, less 3 % of the median each, have the largest sum. Source: W. L. Ruzzo and M. Tompa, "A linear time algorithm for
/// finding all maximal scoring subsequences", ISMB 1999.
std::vector<HotCell> hot_cells(const ImbalanceMap& map, std::size_t most);

} // namespace libprofile::tools
