// Ranks compared by their traces of samples (LIBPROFILE_TRACE), where the order of calls is not known.
// Contract: plain data; compare_by_samples() is thread-safe (no state), works on all processors, takes up to 0.3 s of a processor for each rank, and throws
// std::bad_alloc only.
//
// Samples of the main threads count that hit the program's own functions, and files written by MPI. How long a rank waits in MPI depends on the others, and
// how often it calls MPI is counted exactly, so those do not count.
#pragma once

#include "tools/reader/model.hpp"
#include "tools/structure/sampled_difference.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace libprofile::tools {

inline constexpr std::size_t most_sampled_ranks = 256;

/// Samples of one rank without a partner on the other one of a pair.
struct SampledPart {
    std::uint64_t samples = 0; // that count
    UnmatchedSamples unmatched;
    std::string function; // `unmatched.path`; empty: there is none
};

struct SampledRank {
    std::uint32_t row = 0;
    SampledPart here, reference;

    bool is_told() const { return here.unmatched.is_told || reference.unmatched.is_told; }
    /// Beyond chance.
    double excess() const;
};

struct SampledRanks {
    std::uint32_t reference = 0;
    std::vector<SampledRank> ranks;  // the others, in the order of rows
    std::vector<std::uint32_t> few;  // rows with too few samples
    std::vector<std::uint32_t> left; // rows that were not compared: there are too many
    bool has_trace = false;          // of any row

    bool is_known() const { return !ranks.empty(); }
};

/// @param locations rows; those of other threads than the main ones are passed over
/// @param order rows, the most important first: the first one with enough samples is the reference, and at most `most_sampled_ranks` are compared
SampledRanks compare_by_samples(const Profile& profile, const std::vector<const Location*>& locations, const std::vector<std::uint32_t>& order);

} // namespace libprofile::tools
