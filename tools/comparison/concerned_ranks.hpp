// On which ranks a difference between two groups of runs is, and what growing waits wait for.
// Contract: thread-safe (no state); allocates; throws std::bad_alloc only.
#pragma once

#include "tools/comparison/activity.hpp"
#include "tools/comparison/group_comparison.hpp"
#include "tools/comparison/run.hpp"

namespace libprofile::tools {

/// Fills in `ranks`, `ranks_after`, `there`, `is_everywhere`, `waits` and `is_waited_for` of the activities with the largest differences, if it is known
/// which ranks are compared with which (rank_parts.hpp).
/// @param activities those of both groups, whose nodes are the same
void find_concerned_ranks(const RunGroup& before, const RunGroup& after, const Activities& activities, GroupComparison& result);

} // namespace libprofile::tools
