// Time that some ranks, or all, spend in some iterations and that others do not: what a detector found, before its cause is known.
// Contract: plain data.
#pragma once

#include "tools/diagnosis/excess_pattern.hpp"
#include "tools/diagnosis/run_model.hpp"

#include <vector>

namespace libprofile::tools {

enum class SuspectKind : std::uint8_t {
    FewRanks,      // longer than the others
    UnevenRanks,   // all differ: there are no others
    MovingRank,    // in most iterations one rank or another
    ScatteredRank, // now and then one rank or another
    AllRanks,      // at the same time
    Communication  // all ranks, in MPI, where none waits for another
};

/// A function that has what grows, by the samples of all iterations.
struct GrowingFunction {
    std::uint32_t node = 0; // of the tree of functions; 0: not known
    double share = 0;       // of the time, without the growth
    double error = 0;       // of the growth: a share of it, a standard deviation
};

struct Suspect {
    SuspectKind kind = SuspectKind::FewRanks;
    ExcessPattern pattern;         // over all its ranks: the largest excess of each iteration
    std::vector<RankExcess> parts; // what would be away without the cause; empty for Communication
    std::vector<std::size_t> rows; // ranks that are to be named, the longest first
    Gain gain;
    GrowingFunction function = {};
};

} // namespace libprofile::tools
