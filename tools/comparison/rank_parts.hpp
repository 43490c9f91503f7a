// Which ranks of two groups of runs are compared with each other: those with the same number; of other numbers of ranks those that make the same calls.
// Contract: thread-safe (no state); allocates in proportion to ranks; throws std::bad_alloc only.
//
// Source of the groups: M. Weber, "Structural Performance Comparison of Parallel Software Applications" (TU Dresden, 2016), chapter 4; here of two runs.
#pragma once

#include "tools/comparison/run.hpp"

#include <cstdint>
#include <vector>

namespace libprofile::tools {

/// Positions among ranks_of() of the runs.
struct RankPart {
    std::vector<std::uint32_t> before, after;
};

/// Of the groups, whose nodes are the same (unify_runs()). Fewer than two parts: nothing tells their ranks apart, or nobody knows.
std::vector<RankPart> rank_parts(const RunGroup& before, const RunGroup& after);

} // namespace libprofile::tools
